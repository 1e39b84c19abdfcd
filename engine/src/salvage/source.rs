//! The file that is salvaged: read whatever can be read of it, with a superblock that is found or guessed.

use std::io;

use crate::error::{Corruption, Error, Result};
use crate::format::superblock::{SLOT_LEN, SLOT_OFFSETS, Slot, Superblock, parse_slot};
use crate::format::{Geometry, Lsn};
use crate::recovery::{self, Opened, OtherSlot};
use crate::storage::{FailStop, Storage};
use crate::sync::{Arc, AtomicU64, Ordering};

use super::guess;

/// What is known of the file before anything in it is looked for.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) storage: FailStop,
    pub(super) slot: Superblock,
    /// Whether neither slot was valid, so that the superblock is put together from what else the file says.
    pub(super) is_guessed: bool,
    pub(super) file_len: u64,
    /// What is wrong with the slots.
    problems: Vec<Corruption>,
    /// Of one that is not valid beside one that is.
    other: OtherSlot,
    disk: Arc<Forgiving>,
}

impl Source {
    pub(super) fn open(storage: impl Storage + 'static) -> Result<Source> {
        let disk = Arc::new(Forgiving::new(storage));
        let storage = FailStop::new(Box::new(Arc::clone(&disk)));
        let file_len = storage.len()?;
        let other = match recovery::open_slots(&storage, Geometry::default()) {
            Ok(Opened::Unfinished) => return Err(Error::Incomplete),
            Ok(Opened::Store { other, .. }) => other,
            Err(other @ (Error::NewerFormat { .. } | Error::OlderFormat { .. })) => return Err(other),
            Err(_) => OtherSlot::Invalid,
        };
        let (mut valid, mut problems): (Vec<Superblock>, Vec<Corruption>) = (Vec::new(), Vec::new());
        for (index, offset) in SLOT_OFFSETS.into_iter().enumerate() {
            let mut bytes = [0; SLOT_LEN];
            storage.read_full(offset, &mut bytes)?;
            match parse_slot(&bytes, index) {
                Slot::Valid(slot) => valid.push(*slot),
                Slot::Refused(Error::Corrupt(corruption)) => problems.push(corruption),
                Slot::Refused(error) => return Err(error),
                Slot::Blank | Slot::Foreign | Slot::Torn => problems
                    .push(Corruption::new(offset, "F-3.3", "a superblock slot is not valid").comparing(1, 0)),
            }
        }
        let is_guessed = valid.is_empty();
        if let [a, b] = valid.as_slice()
            && let Err(Error::Corrupt(of_two_stores)) = recovery::same_creation(a, b)
        {
            problems.push(of_two_stores);
            // The segments tell which of the two is a stranger's.
            let like = guess::superblock(&storage, file_len)?;
            valid.retain(|slot| slot.of_another_creation(&like).is_none());
        }
        let slot = match valid.into_iter().max_by_key(|slot| slot.generation) {
            Some(slot) => slot,
            None => guess::superblock(&storage, file_len)?,
        };
        Ok(Source { storage, slot, is_guessed, file_len, problems, other, disk })
    }

    /// What is wrong with the slots of a store whose log ends with the commit `last`.
    pub(super) fn slot_problems(&self, last: Lsn) -> Vec<Corruption> {
        if self.other.is_damaged(last) { self.problems.clone() } else { Vec::new() }
    }

    /// Whether the file is shorter than it once was.
    pub(super) fn is_cut(&self) -> bool {
        self.file_len < self.slot.file_len
    }

    /// The file once more, for who wants one of his own.
    pub(super) fn another(&self) -> FailStop {
        FailStop::new(Box::new(Arc::clone(&self.disk)))
    }

    /// How many bytes the disk refused to read so far.
    pub(super) fn unreadable_bytes(&self) -> u64 {
        self.disk.unreadable_bytes()
    }

    /// Reads `len` bytes from `at` on; fewer where the file ends.
    pub(super) fn read(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        self.storage.read_up_to(at, len)
    }

    /// The whole segment at a physical index, or what the file has of it.
    pub(super) fn segment(&self, physical: u32) -> Result<Vec<u8>> {
        let geometry = self.slot.geometry;
        self.read(geometry.segment_offset(physical), geometry.segment_bytes() as usize)
    }
}

/// A file whose disk may refuse to read parts of it: those read as zeros, which no checksum vouches for. Nothing is ever written.
#[derive(Debug)]
pub(crate) struct Forgiving {
    inner: Box<dyn Storage>,
    unreadable: AtomicU64,
}

impl Forgiving {
    pub(crate) fn new(storage: impl Storage + 'static) -> Forgiving {
        Forgiving { inner: Box::new(storage), unreadable: AtomicU64::new(0) }
    }

    /// How many bytes the disk refused to read so far.
    pub(crate) fn unreadable_bytes(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }
}

/// Disks lose sectors of at least so many bytes.
const UNREADABLE_LEN: u64 = 512;

impl Storage for Forgiving {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        match self.inner.read_at(offset, out) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {}
            read => return read,
        }
        // The first sector by itself: what is behind it is asked for next.
        let len = self.inner.len()?.saturating_sub(offset);
        let len = len.min(UNREADABLE_LEN - offset % UNREADABLE_LEN).min(out.len() as u64) as usize;
        match self.inner.read_at(offset, &mut out[..len]) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                out[..len].fill(0);
                self.unreadable.fetch_add(len as u64, Ordering::Relaxed);
                Ok(len)
            }
            read => read,
        }
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
