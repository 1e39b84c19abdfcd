//! A file in memory that counts what is asked of it.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use holotype::storage::{MemoryStorage, Storage};

/// Clones are the same file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Metered {
    file: Arc<MemoryStorage>,
    counts: Arc<Counts>,
    /// The disk has room for one write less than that; for all of them at 0.
    writes_left: Arc<AtomicU64>,
    do_reads_fail: Arc<AtomicBool>,
    do_syncs_fail: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct Counts {
    reads: AtomicU64,
    read_bytes: AtomicU64,
    writes: AtomicU64,
    written_bytes: AtomicU64,
    syncs: AtomicU64,
    lens: AtomicU64,
    directory_syncs: AtomicU64,
    read_places: AtomicU64,
    written_places: AtomicU64,
    written_contents: AtomicU64,
}

/// What was asked of a file until now.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked {
    pub(crate) reads: u64,
    pub(crate) read_bytes: u64,
    pub(crate) writes: u64,
    pub(crate) written_bytes: u64,
    pub(crate) syncs: u64,
    /// How often its length was set.
    pub(crate) lens: u64,
    pub(crate) directory_syncs: u64,
    /// Sums of where was read and written, so that the same number of bytes elsewhere is told apart.
    pub(crate) read_places: u64,
    pub(crate) written_places: u64,
    /// A sum of what was written: other bytes at the same places have another one.
    pub(crate) written_contents: u64,
}

impl Metered {
    pub(crate) fn asked(&self) -> Asked {
        let counts = &self.counts;
        let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Asked {
            reads: now(&counts.reads),
            read_bytes: now(&counts.read_bytes),
            writes: now(&counts.writes),
            written_bytes: now(&counts.written_bytes),
            syncs: now(&counts.syncs),
            lens: now(&counts.lens),
            directory_syncs: now(&counts.directory_syncs),
            read_places: now(&counts.read_places),
            written_places: now(&counts.written_places),
            written_contents: now(&counts.written_contents),
        }
    }

    /// Counts what was asked of another file before as asked of this one.
    pub(crate) fn count_on_from(&self, asked: Asked) {
        let more = |count: &AtomicU64, by: u64| count.fetch_add(by, Ordering::Relaxed);
        more(&self.counts.reads, asked.reads);
        more(&self.counts.read_bytes, asked.read_bytes);
        more(&self.counts.writes, asked.writes);
        more(&self.counts.written_bytes, asked.written_bytes);
        more(&self.counts.syncs, asked.syncs);
        more(&self.counts.lens, asked.lens);
        more(&self.counts.directory_syncs, asked.directory_syncs);
        more(&self.counts.read_places, asked.read_places);
        more(&self.counts.written_places, asked.written_places);
        more(&self.counts.written_contents, asked.written_contents);
    }

    /// Another file of the same bytes, of which nothing was asked yet.
    pub(crate) fn copy(&self) -> io::Result<Self> {
        let mut bytes = vec![0; self.file.len()? as usize];
        self.file.read_at(0, &mut bytes)?;
        let copy = Metered::default();
        copy.file.write_at(0, &bytes)?;
        Ok(copy)
    }

    /// The file has the bytes of `other` from now on, and its length.
    pub(crate) fn become_as(&self, other: &Metered) -> io::Result<()> {
        let mut bytes = vec![0; other.file.len()? as usize];
        other.file.read_at(0, &mut bytes)?;
        self.file.set_len(bytes.len() as u64)?;
        self.file.write_at(0, &bytes)?;
        Ok(())
    }

    /// The file has the bytes of `other` from now on in this range.
    pub(crate) fn take_range(&self, other: &Metered, range: Range<u64>) -> io::Result<()> {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        let read = other.file.read_at(range.start, &mut bytes)?;
        self.file.write_at(range.start, &bytes[..read])?;
        Ok(())
    }

    /// Flips every second bit of the byte at `offset`.
    pub(crate) fn damage(&self, offset: u64) -> io::Result<()> {
        let mut byte = [0];
        self.file.read_at(offset, &mut byte)?;
        self.file.write_at(offset, &[byte[0] ^ 0x55])?;
        Ok(())
    }

    /// The disk is full after so many writes, until it is mended.
    pub(crate) fn fill_after(&self, writes: u64) {
        self.writes_left.store(writes + 1, Ordering::Relaxed);
    }

    /// Every read fails from now on.
    pub(crate) fn fail_reads(&self) {
        self.do_reads_fail.store(true, Ordering::Relaxed);
    }

    /// Every sync fails from now on.
    pub(crate) fn fail_syncs(&self) {
        self.do_syncs_fail.store(true, Ordering::Relaxed);
    }

    /// The disk has room again, and nothing fails.
    pub(crate) fn mend(&self) {
        self.writes_left.store(0, Ordering::Relaxed);
        self.do_reads_fail.store(false, Ordering::Relaxed);
        self.do_syncs_fail.store(false, Ordering::Relaxed);
    }

    fn take_room(&self) -> io::Result<()> {
        match self.writes_left.load(Ordering::Relaxed) {
            0 => return Ok(()),
            1 => return Err(io::ErrorKind::StorageFull.into()),
            left => self.writes_left.store(left - 1, Ordering::Relaxed),
        }
        Ok(())
    }

    /// How many bytes `work` reads of it.
    pub(crate) fn read_by<R>(&self, work: impl FnOnce() -> Result<R, String>) -> Result<u64, String> {
        let before = self.asked().read_bytes;
        work()?;
        Ok(self.asked().read_bytes - before)
    }
}

fn count(calls: &AtomicU64, bytes: &AtomicU64, done: usize) {
    calls.fetch_add(1, Ordering::Relaxed);
    bytes.fetch_add(done as u64, Ordering::Relaxed);
}

/// A number that other bytes change.
fn sum_of(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let words =
        words.iter().map(|word| u64::from_le_bytes(*word)).chain(rest.iter().map(|byte| u64::from(*byte)));
    words.fold(0, |sum: u64, word| (sum ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23))
}

impl Storage for Metered {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.counts.lens.fetch_add(1, Ordering::Relaxed);
        self.file.set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        if self.do_reads_fail.load(Ordering::Relaxed) {
            return Err(io::Error::other("the disk does not answer"));
        }
        let read = self.file.read_at(offset, out)?;
        count(&self.counts.reads, &self.counts.read_bytes, read);
        self.counts.read_places.fetch_add(offset, Ordering::Relaxed);
        Ok(read)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.take_room()?;
        let written = self.file.write_at(offset, bytes)?;
        count(&self.counts.writes, &self.counts.written_bytes, written);
        self.counts.written_places.fetch_add(offset, Ordering::Relaxed);
        self.counts.written_contents.fetch_add(sum_of(&bytes[..written]), Ordering::Relaxed);
        Ok(written)
    }

    fn sync(&self) -> io::Result<()> {
        self.counts.syncs.fetch_add(1, Ordering::Relaxed);
        if self.do_syncs_fail.load(Ordering::Relaxed) {
            return Err(io::Error::other("the disk keeps nothing"));
        }
        self.file.sync()
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.counts.directory_syncs.fetch_add(1, Ordering::Relaxed);
        self.file.sync_directory()
    }
}
