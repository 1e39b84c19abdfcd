//! The file of a store, as its checkpoints and its log are read from it.

use crate::error::{Corruption, Result};
use crate::format::checkpoint::{Checkpoint, IndexSource};
use crate::format::superblock::{CheckpointRef, Superblock};
use crate::storage::FailStop;

/// The file of a store, and one of its slots, which says how it is laid out. The checkpoints that it names may be gone once the store is
/// open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct File<'a> {
    pub(crate) storage: &'a FailStop,
    pub(crate) slot: &'a Superblock,
    pub(crate) len: u64,
}

impl<'a> File<'a> {
    /// The file as long as it is now.
    pub(crate) fn new(storage: &'a FailStop, slot: &'a Superblock) -> Result<Self> {
        Ok(File { storage, slot, len: storage.len()? })
    }

    /// Reads the root of a checkpoint.
    pub(crate) fn checkpoint(&self, reference: &CheckpointRef) -> Result<Checkpoint<'_, Self>> {
        Checkpoint::open(self, self.slot.geometry, &self.slot.lineage, reference)
    }
}

impl IndexSource for File<'_> {
    fn file_len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> Result<()> {
        let have = self.storage.read_full(at, out)?;
        if have < out.len() {
            let what = "the file ends within a checkpoint";
            return Err(Corruption::new(at + have as u64, "F-8.12", what).into());
        }
        Ok(())
    }
}
