//! Bytes that end with the process: for stores that need no disk, and for measuring the engine without one.

use std::fmt;
use std::io;

use super::Storage;
use crate::sync::{RwLock, read, write};

const PAGE_LEN: usize = 16 << 10;

type Page = Box<[u8; PAGE_LEN]>;

/// A file in memory. Nothing of it outlives the value: put it in an [`Arc`](std::sync::Arc) to open it again.
///
/// ```
/// use holotype::storage::{MemoryStorage, Storage};
///
/// let storage = MemoryStorage::new();
/// storage.write_at(2, b"ab")?;
/// let mut bytes = [9; 8];
/// assert_eq!(storage.read_at(0, &mut bytes)?, 4);
/// assert_eq!(bytes[..4], [0, 0, b'a', b'b']);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryStorage {
    file: RwLock<File>,
}

#[derive(Default)]
struct File {
    len: u64,
    /// A page that was never written is not there, and reads as zeros. Bytes beyond `len` are zeros.
    pages: Vec<Option<Page>>,
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("len", &self.len).finish_non_exhaustive()
    }
}

impl MemoryStorage {
    /// An empty file.
    pub fn new() -> Self {
        Self::default()
    }
}

/// The part of the page at `offset` that a call of `len` bytes may use: the page's index, and where in it.
fn within(offset: u64, len: usize) -> io::Result<(usize, std::ops::Range<usize>)> {
    let page = usize::try_from(offset / PAGE_LEN as u64).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let start = (offset % PAGE_LEN as u64) as usize;
    Ok((page, start..PAGE_LEN.min(start.saturating_add(len))))
}

impl File {
    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let (page, tail) = within(len, PAGE_LEN)?;
        if len < self.len {
            // What lies beyond the end is forgotten now, so that a later extension reads as zeros.
            self.pages.truncate(page + 1);
            if let Some(Some(page)) = self.pages.get_mut(page) {
                page[tail].fill(0);
            }
        }
        self.len = len;
        Ok(())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let len = self.len.saturating_sub(offset).min(out.len() as u64) as usize;
        let (page, range) = within(offset, len)?;
        let out = &mut out[..range.len()];
        match self.pages.get(page) {
            Some(Some(page)) => out.copy_from_slice(&page[range]),
            _ => out.fill(0),
        }
        Ok(out.len())
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let (page, range) = within(offset, bytes.len())?;
        let len = range.len();
        let end = offset.checked_add(len as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        self.pages[page].get_or_insert_with(|| Box::new([0; PAGE_LEN]))[range].copy_from_slice(&bytes[..len]);
        self.len = self.len.max(end);
        Ok(len)
    }
}

impl Storage for MemoryStorage {
    fn len(&self) -> io::Result<u64> {
        Ok(read(&self.file).len)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        write(&self.file).set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let file = read(&self.file);
        let mut done = 0;
        while done < out.len() {
            match file.read(offset.saturating_add(done as u64), &mut out[done..])? {
                0 => break,
                len => done += len,
            }
        }
        Ok(done)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let mut file = write(&self.file);
        let mut done = 0;
        while done < bytes.len() {
            done += file.write(offset.saturating_add(done as u64), &bytes[done..])?;
        }
        Ok(done)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
