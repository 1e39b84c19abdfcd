//! The arms without a store: the least that the system must do.

use std::fs::File;
use std::os::unix::fs::FileExt;

use tempfile::NamedTempFile;

use crate::{Arm, Result};

/// A sector: the least that a disk writes, and what a commit of one small document takes.
const SECTOR: usize = 512;

/// What a record of a small document takes in the log.
const RECORD: usize = 128;

/// Writes one piece of a file behind the other.
pub(crate) struct Bare {
    file: NamedTempFile,
    next: u64,
    piece: Vec<u8>,
    is_synced: bool,
}

impl Bare {
    /// Overwrites a sector and waits until the disk has it, `calls` times.
    pub(crate) fn synced(calls: usize) -> Result<Self> {
        Self::new(calls, SECTOR, true)
    }

    /// Hands the bytes of a record to the system, `calls` times.
    pub(crate) fn written(calls: usize) -> Result<Self> {
        Self::new(calls, RECORD, false)
    }

    /// The file is filled with zeros first, as a segment of the store is: so no call lengthens it.
    fn new(calls: usize, piece: usize, is_synced: bool) -> Result<Self> {
        let file = NamedTempFile::new()?;
        file.as_file().write_all_at(&vec![0; calls * piece], 0)?;
        file.as_file().sync_all()?;
        Ok(Bare { file, next: 0, piece: vec![1; piece], is_synced })
    }

    fn file(&self) -> &File {
        self.file.as_file()
    }
}

impl Arm for Bare {
    fn call(&mut self) -> Result<()> {
        self.file().write_all_at(&self.piece, self.next)?;
        self.next += self.piece.len() as u64;
        if self.is_synced {
            self.file().sync_data()?;
        }
        Ok(())
    }
}
