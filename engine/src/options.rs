//! How a store is opened, and how durable a commit is.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::format::{Geometry, SEGMENT_BYTES_DEFAULT};
use crate::index::Layout;

/// What a commit has survived once the call that made it returns.
///
/// The classes are ordered: a commit of a weaker class before one of a stronger class is as durable as that one, since the
/// log is a prefix at every moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Durability {
    /// In memory. It is written out when enough has gathered, and durable after [`Db::flush`](crate::Db::flush).
    Buffered,
    /// Handed to the operating system: it survives a kill of the process, not a power cut.
    Written,
    /// On the disk: it survives a power cut.
    #[default]
    Synced,
}

/// Who does what is due without being asked, such as making `Buffered` commits durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// A thread of the store's own, started when there is something for it to do.
    #[default]
    Thread,
    /// The caller: nothing happens but in calls.
    Manual,
}

/// How to open a store. Begin with [`Options::new`].
///
/// ```
/// use holotype::{Db, Durability, Options};
///
/// let directory = tempfile::tempdir()?;
/// let options = Options::new().create(true).durability(Durability::Written);
/// let db = Db::open_with(directory.path().join("notes.holo"), &options)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Options {
    pub(crate) create: bool,
    pub(crate) read_only: bool,
    pub(crate) durability: Durability,
    pub(crate) cache_bytes: Option<usize>,
    pub(crate) index_bytes: Option<u64>,
    pub(crate) flush_bytes: usize,
    pub(crate) flush_interval: Duration,
    pub(crate) background: Background,
    pub(crate) write_wait: Option<Duration>,
    pub(crate) snapshot_max_age: Option<Duration>,
    pub(crate) transaction_bytes: usize,
    pub(crate) segment_bytes: u32,
    pub(crate) sector: u32,
    pub(crate) max_file_bytes: Option<u64>,
    pub(crate) checkpoint_bytes: u64,
    pub(crate) verify_index: bool,
    pub(crate) seed: Option<u64>,
    pub(crate) check: Check,
}

/// Knobs that only the checks turn, so that rare things come soon and cheap things stay so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Check {
    pub(crate) count_max: u32,
    pub(crate) read_unit: usize,
    pub(crate) page_shift: u32,
    /// How many documents a step of the building of an index goes through.
    pub(crate) build_at_once: usize,
    /// So many bytes of entries are gathered before they are sorted and entered.
    pub(crate) build_run_bytes: usize,
}

impl Default for Check {
    fn default() -> Self {
        Check {
            count_max: u32::MAX,
            read_unit: 256 << 10,
            page_shift: 12,
            build_at_once: 256,
            build_run_bytes: 64 << 20,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Options {
    /// The defaults: create the store if there is none, `Synced`, segments of 128 KiB, sectors of 512 bytes.
    pub fn new() -> Self {
        Options {
            create: true,
            read_only: false,
            durability: Durability::Synced,
            cache_bytes: None,
            index_bytes: None,
            flush_bytes: 256 << 10,
            flush_interval: Duration::from_millis(100),
            background: Background::Thread,
            write_wait: None,
            snapshot_max_age: None,
            transaction_bytes: 1 << 30,
            segment_bytes: SEGMENT_BYTES_DEFAULT,
            sector: 512,
            max_file_bytes: None,
            checkpoint_bytes: 16 << 20,
            verify_index: false,
            seed: None,
            check: Check::default(),
        }
    }

    /// Whether to create the store where there is none. The default is to.
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Opens for reading only: nothing is written, any number of readers share the file, and no writer has it meanwhile.
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// How durable a commit is when the call that makes it does not say. `Synced` by default.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Bytes of file blocks, and of long documents that were read more than once, to keep in memory. By default a quarter of
    /// the memory that the process may use, and at least 64 MiB. The index is not part of it.
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = Some(bytes);
        self
    }

    /// About how many bytes the index may take in memory. What it takes beyond that and can be read again from the file is given up, and is
    /// read again when a call needs it: leaves of names, of byte strings and of the entries of indexes, those first that were read first.
    /// What changed since the checkpoint before the newest stays, and so do all int keys. So a checkpoint is taken at the latest when the log
    /// since the last one has a quarter of this, but not before [`checkpoint_bytes`](Self::checkpoint_bytes): for a small bound lower that too.
    /// With [`Background::Thread`](crate::Background::Thread), writers wait for a checkpoint, or take it themselves, once that log is twice as
    /// long.
    /// A leaf for which there is no room is read beside the index each time, but for bytes of leaves that are asked for again.
    /// What is too much goes when no thread is in a call, of which [`verify`](crate::Db::verify) is one, and entries of indexes only when no
    /// snapshot is older. By default all that was read is kept.
    pub fn index_bytes(mut self, bytes: u64) -> Self {
        self.index_bytes = Some(bytes);
        self
    }

    /// How indexes are laid out in memory.
    pub(crate) fn layout(&self) -> Layout {
        Layout { page_shift: self.check.page_shift, gives_up: self.index_bytes.is_some() }
    }

    /// `Buffered` commits are written out when this many bytes have gathered. 256 KiB by default.
    pub fn flush_bytes(mut self, bytes: usize) -> Self {
        self.flush_bytes = bytes;
        self
    }

    /// `Buffered` commits are durable after this long at the latest, if a thread sees to it ([`Background::Thread`]). 100 ms by default.
    pub fn flush_interval(mut self, interval: Duration) -> Self {
        self.flush_interval = interval;
        self
    }

    /// Who makes `Buffered` commits durable in time. A thread of the store's own by default.
    pub fn background(mut self, background: Background) -> Self {
        self.background = background;
        self
    }

    /// How long a writer waits for a transaction of another thread to end, before it is refused as
    /// [`WriterBusy`](crate::Error::WriterBusy). For ever by default.
    pub fn write_wait(mut self, longest: Duration) -> Self {
        self.write_wait = Some(longest);
        self
    }

    /// Snapshots older than this are ended, so that they do not keep superseded documents for ever: reads through them say
    /// [`SnapshotTooOld`](crate::Error::SnapshotTooOld). By default they live for as long as they are held.
    pub fn snapshot_max_age(mut self, age: Duration) -> Self {
        self.snapshot_max_age = Some(age);
        self
    }

    /// The changes of one transaction take at most this much memory. 1 GiB by default.
    pub fn transaction_bytes(mut self, bytes: usize) -> Self {
        self.transaction_bytes = bytes;
        self
    }

    /// Length of a segment, fixed when a store is created: a power of two from 512 bytes to 64 MiB and at least 8 sectors.
    /// It limits how long a document may be: 64 MiB with segments of 64 KiB or more, and 758,632 bytes with segments of 4 KiB under a key of one byte
    /// ([`DocumentTooLarge`](crate::Error::DocumentTooLarge) says the limit).
    pub fn segment_bytes(mut self, bytes: u32) -> Self {
        self.segment_bytes = bytes;
        self
    }

    /// The unit in which a write to the device may tear, fixed when a store is created: 512 bytes by default, 4,096 for devices
    /// that write no less at once, 64 for checks.
    pub fn sector(mut self, bytes: u32) -> Self {
        self.sector = bytes;
        self
    }

    /// The file never grows beyond this: a commit that would need more is refused with
    /// [`StorageFull`](crate::Error::StorageFull). A small file then has no 4 MiB beside what is live while it is written to.
    pub fn max_file_bytes(mut self, bytes: u64) -> Self {
        self.max_file_bytes = Some(bytes);
        self
    }

    /// A checkpoint is taken once the log behind the last one has this many bytes, and four times as many as the checkpoint itself: so opening
    /// after a crash reads no more than that. 16 MiB by default.
    pub fn checkpoint_bytes(mut self, bytes: u64) -> Self {
        self.checkpoint_bytes = bytes;
        self
    }

    //= spec/recovery.md#r-5-7-leaves-on-demand
    //# A reader SHOULD let its user ask for all to be read at opening, as R-5.2 says.
    /// Reads and verifies the whole index at opening. By default its parts are read when they are first needed, so that opening takes no
    /// longer for a large store, and damage of a part is met by the calls that need it
    /// ([`Corrupt`](crate::Error::Corrupt)); a damaged part that the older checkpoint and the log still tell of is made anew either way.
    pub fn verify_index(mut self, whole: bool) -> Self {
        self.verify_index = whole;
        self
    }

    /// Makes everything random that a new store gets (its ids) follow from `seed`, so that two runs make the same file.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// A tiny geometry in which segments end, files grow and counts run out within a few operations: sectors of 64 bytes,
    /// segments of 512 unless told otherwise later.
    #[cfg(feature = "testing")]
    pub fn tiny() -> Self {
        let mut options = Options::new().sector(64).segment_bytes(512).cache_bytes(1 << 20).seed(1);
        options.background = Background::Manual;
        options.check = Check {
            count_max: u32::MAX,
            read_unit: 64,
            page_shift: 4,
            build_at_once: 2,
            build_run_bytes: 256,
        };
        options
    }

    /// Lets an incarnation give this many LSNs only, so that its end is met.
    #[cfg(feature = "testing")]
    pub fn count_max(mut self, count: u32) -> Self {
        self.check.count_max = count.max(4);
        self
    }

    /// Recovery reads at most this many bytes at a time: one sector lets a simulated disk decide no more than it must.
    #[cfg(feature = "testing")]
    pub fn read_unit(mut self, bytes: usize) -> Self {
        self.check.read_unit = bytes.max(1);
        self
    }

    pub(crate) fn geometry(&self) -> Result<Geometry> {
        Geometry::new(self.sector, self.segment_bytes)
    }

    pub(crate) fn validate(&self) -> Result<()> {
        self.geometry()?;
        if self.read_only && self.max_file_bytes.is_some() {
            return Err(Error::InvalidOption {
                option: "max_file_bytes",
                requirement: "must not be given for a store opened for reading only, which does not grow",
            });
        }
        Ok(())
    }
}
