//! A file in memory that counts what is asked of it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use holotype::storage::{MemoryStorage, Storage};

/// Clones are the same file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Metered {
    file: Arc<MemoryStorage>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    reads: AtomicU64,
    read_bytes: AtomicU64,
    writes: AtomicU64,
    written_bytes: AtomicU64,
    syncs: AtomicU64,
    lens: AtomicU64,
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
}

impl Metered {
    pub(crate) fn asked(&self) -> Asked {
        let Counts { reads, read_bytes, writes, written_bytes, syncs, lens } = &*self.counts;
        Asked {
            reads: reads.load(Ordering::Relaxed),
            read_bytes: read_bytes.load(Ordering::Relaxed),
            writes: writes.load(Ordering::Relaxed),
            written_bytes: written_bytes.load(Ordering::Relaxed),
            syncs: syncs.load(Ordering::Relaxed),
            lens: lens.load(Ordering::Relaxed),
        }
    }

    /// Another file of the same bytes, of which nothing was asked yet.
    pub(crate) fn copy(&self) -> io::Result<Self> {
        let mut bytes = vec![0; self.file.len()? as usize];
        self.file.read_at(0, &mut bytes)?;
        let copy = Metered::default();
        copy.file.write_at(0, &bytes)?;
        Ok(copy)
    }

    /// Flips every second bit of the byte at `offset`.
    pub(crate) fn damage(&self, offset: u64) -> io::Result<()> {
        let mut byte = [0];
        self.file.read_at(offset, &mut byte)?;
        self.file.write_at(offset, &[byte[0] ^ 0x55])?;
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

impl Storage for Metered {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.counts.lens.fetch_add(1, Ordering::Relaxed);
        self.file.set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(offset, out)?;
        count(&self.counts.reads, &self.counts.read_bytes, read);
        Ok(read)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write_at(offset, bytes)?;
        count(&self.counts.writes, &self.counts.written_bytes, written);
        Ok(written)
    }

    fn sync(&self) -> io::Result<()> {
        self.counts.syncs.fetch_add(1, Ordering::Relaxed);
        self.file.sync()
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.file.sync_directory()
    }
}
