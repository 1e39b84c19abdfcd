//! A store in memory whose queries have a place for what they cannot hold, as one on a disk has.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Db, Options};

use crate::story::say;

/// Clones are the same file.
#[derive(Debug, Clone, Default)]
pub(super) struct WithScratch {
    file: Arc<MemoryStorage>,
    /// How many scratch files were asked for.
    asked: Arc<AtomicU64>,
}

impl WithScratch {
    pub(super) fn open(&self) -> Result<Db, String> {
        Db::open_on(self.clone(), &Options::new()).map_err(say)
    }

    pub(super) fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Storage for WithScratch {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn scratch(&self) -> io::Result<Option<Box<dyn Storage>>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Box::new(MemoryStorage::new())))
    }
}
