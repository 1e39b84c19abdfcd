//! The disk under a store, in the calls that stores know.

use std::io;

use holotype::storage::Storage;
use holotype::storage::sim::SimDisk;

use crate::witness::Witness;

/// A file on a disk that loses power. Clones are the same file. It begins empty, and its name is durable from the start.
///
/// A store whose power is gone finds that every call fails: its handles may be dropped at any time later.
#[derive(Debug, Clone)]
pub struct Disk {
    witness: Witness,
}

impl Disk {
    pub(super) fn recording(disk: SimDisk) -> Self {
        Disk { witness: Witness::recording(disk) }
    }

    pub(super) fn witness(&self) -> &Witness {
        &self.witness
    }

    /// The same as the trait that Holotype opens its own stores on, with its short reads and writes.
    pub fn storage(&self) -> Witness {
        self.witness.clone()
    }

    /// The length of the file.
    ///
    /// # Errors
    /// When the power is gone; here and below.
    pub fn len(&self) -> io::Result<u64> {
        Storage::len(&self.witness)
    }

    /// Whether the file has no bytes.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Cuts the file, or extends it with zeros.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn set_len(&self, len: u64) -> io::Result<()> {
        self.witness.set_len(len)
    }

    /// Fills `out` with what lies at `offset`, as every write before has left it, synced or not.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] where the file ends before that.
    pub fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < out.len() {
            match self.witness.read_at(offset + done as u64, &mut out[done..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => done += read,
            }
        }
        Ok(())
    }

    /// Writes the bytes to `offset`, and extends the file where it must. A power cut may leave any of the sectors, old or new.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn write_all_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            done += self.witness.write_at(offset + done as u64, &bytes[done..])?;
        }
        Ok(())
    }

    /// Makes every write before, and the length, survive a power cut.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn sync(&self) -> io::Result<()> {
        self.witness.sync()
    }
}
