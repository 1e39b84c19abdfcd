//! A file in memory that counts what is read of it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use holotype::storage::{MemoryStorage, Storage};

/// Clones are the same file.
#[derive(Debug, Clone, Default)]
pub(super) struct Metered {
    file: Arc<MemoryStorage>,
    read: Arc<AtomicU64>,
}

impl Metered {
    /// How many bytes `work` reads of it.
    pub(super) fn read_by<R>(&self, work: impl FnOnce() -> Result<R, String>) -> Result<u64, String> {
        let before = self.read.load(Ordering::Relaxed);
        work()?;
        Ok(self.read.load(Ordering::Relaxed) - before)
    }
}

impl Storage for Metered {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(offset, out)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.file.sync_directory()
    }
}
