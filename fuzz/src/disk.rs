//! A file in memory for one input after the other.

use std::cell::RefCell;
use std::io;
use std::sync::{PoisonError, RwLock};

use holotype::storage::Storage;

/// Buffers that are kept for the next files, and how long one may be: an input has three files at a time, and seldom a long one.
const KEPT: usize = 4;
const KEPT_LEN_MAX: usize = 2 << 20;

thread_local! {
    static BUFFERS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A file in memory whose buffer served another file before: a target that opens thousands of files a second would else spend its time on
/// asking the system for memory, and on giving it back.
#[derive(Debug)]
pub(crate) struct Disk {
    file: RwLock<File>,
}

#[derive(Debug)]
struct File {
    len: u64,
    /// As far as anything was written; what lies beyond, up to `len`, is zeros. Never longer than `len`.
    bytes: Vec<u8>,
}

impl Disk {
    pub(crate) fn with(bytes: &[u8]) -> Self {
        let mut buffer = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
        buffer.extend_from_slice(bytes);
        Disk { file: RwLock::new(File { len: bytes.len() as u64, bytes: buffer }) }
    }

    /// Whether the file is these bytes.
    pub(crate) fn is(&self, bytes: &[u8]) -> bool {
        let file = self.file.read().unwrap_or_else(PoisonError::into_inner);
        let written = file.bytes.len();
        file.len == bytes.len() as u64
            && file.bytes == bytes[..written]
            && bytes[written..].iter().all(|byte| *byte == 0)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = std::mem::take(&mut file.bytes);
        buffer.clear();
        BUFFERS.with_borrow_mut(|buffers| {
            if buffers.len() < KEPT && buffer.capacity() <= KEPT_LEN_MAX {
                buffers.push(buffer);
            }
        });
    }
}

impl Storage for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.read().unwrap_or_else(PoisonError::into_inner).len)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut file = self.file.write().unwrap_or_else(PoisonError::into_inner);
        file.bytes.truncate(usize::try_from(len).unwrap_or(usize::MAX));
        file.len = len;
        Ok(())
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let file = self.file.read().unwrap_or_else(PoisonError::into_inner);
        let len = file.len.saturating_sub(offset).min(out.len() as u64) as usize;
        let from = usize::try_from(offset).map_or(file.bytes.len(), |from| from.min(file.bytes.len()));
        let written = &file.bytes[from..file.bytes.len().min(from + len)];
        out[..written.len()].copy_from_slice(written);
        out[written.len()..len].fill(0);
        Ok(len)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let mut file = self.file.write().unwrap_or_else(PoisonError::into_inner);
        let at = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        if file.bytes.len() < at {
            file.bytes.resize(at, 0);
        }
        let over = bytes.len().min(file.bytes.len() - at);
        file.bytes[at..at + over].copy_from_slice(&bytes[..over]);
        file.bytes.extend_from_slice(&bytes[over..]);
        file.len = file.len.max(file.bytes.len() as u64);
        Ok(bytes.len())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use holotype::storage::MemoryStorage;

    use super::*;

    /// What a storage holds.
    fn contents(storage: &impl Storage) -> Vec<u8> {
        let mut bytes = vec![1; storage.len().expect("memory refuses nothing") as usize + 10];
        let len = storage.read_at(0, &mut bytes).expect("memory refuses nothing");
        assert!(bytes[len..].iter().all(|byte| *byte == 1), "nothing is read beyond the end");
        bytes.truncate(len);
        bytes
    }

    #[test]
    fn a_file_holds_nothing_of_the_one_whose_buffer_it_has() {
        drop(Disk::with(&[7; 100]));
        let disk = Disk::with(&[1, 2]);
        assert!(disk.is(&[1, 2]));
        disk.set_len(6).expect("memory refuses nothing");
        assert_eq!(contents(&disk), [1, 2, 0, 0, 0, 0]);
        disk.write_at(8, &[3]).expect("memory refuses nothing");
        assert!(disk.is(&[1, 2, 0, 0, 0, 0, 0, 0, 3]));
    }

    #[test]
    fn it_is_what_any_file_in_memory_is() {
        let (disk, other) = (Disk::with(&[]), MemoryStorage::new());
        for step in 0..400_u64 {
            let (at, len) = (step * 37 % 90, step * 11 % 70);
            for storage in [&disk as &dyn Storage, &other] {
                if step % 3 == 0 {
                    storage.set_len(at).expect("memory refuses nothing");
                } else {
                    let bytes = vec![step as u8; len as usize];
                    storage.write_at(at, &bytes).expect("memory refuses nothing");
                }
            }
            let bytes = contents(&other);
            assert_eq!(contents(&disk), bytes, "after step {step}");
            assert!(disk.is(&bytes));
            let mut part = [2; 9];
            let have = disk.read_at(at, &mut part).expect("memory refuses nothing");
            assert_eq!(part[..have], bytes[bytes.len().min(at as usize)..][..have]);
            if let Some(last) = bytes.len().checked_sub(1) {
                assert!(!disk.is(&bytes[..last]), "a file that is longer is another");
            }
        }
    }
}
