//! Bytes that end with the process: for stores that need no disk, and for measuring the engine without one.

use std::fmt;
use std::io;

use super::Storage;
use crate::sync::{RwLock, read, write};

const PAGE_LEN: usize = 16 << 10;

static ZEROS: [u8; PAGE_LEN] = [0; PAGE_LEN];

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
    /// A page may be shorter than its place: what it lacks reads as zeros, so zeros at its end take no memory. No page goes beyond
    /// `len`.
    pages: Vec<Vec<u8>>,
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
            if let Some(page) = self.pages.get_mut(page) {
                page.truncate(tail.start);
            }
        }
        self.len = len;
        Ok(())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let len = self.len.saturating_sub(offset).min(out.len() as u64) as usize;
        let (page, range) = within(offset, len)?;
        let page = self.pages.get(page).map_or(&[][..], |page| page.get(range.start..).unwrap_or_default());
        let out = &mut out[..range.len()];
        let (there, beyond) = out.split_at_mut(page.len().min(out.len()));
        there.copy_from_slice(&page[..there.len()]);
        beyond.fill(0);
        Ok(out.len())
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let (page, range) = within(offset, bytes.len())?;
        let len = range.len();
        let end = offset.checked_add(len as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, Vec::new);
        }
        let page = &mut self.pages[page];
        let at = range.start.min(page.len());
        let (there, beyond) = bytes[..len].split_at((page.len() - at).min(len));
        page[at..][..there.len()].copy_from_slice(there);
        if beyond != &ZEROS[..beyond.len()] {
            page.reserve_exact(PAGE_LEN - page.len());
            page.resize(range.start + there.len(), 0);
            page.extend_from_slice(beyond);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_as_a_plain_run_of_bytes_would() {
        let (storage, mut plain) = (MemoryStorage::new(), Vec::new());
        let mut state = 7u64;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % bound
        };
        for _ in 0..2_000 {
            let (at, len) = (below(3 * PAGE_LEN), below(2 * PAGE_LEN));
            if below(4) == 0 {
                storage.set_len(at as u64).expect("memory refuses nothing");
                plain.resize(at, 0);
            } else {
                let bytes = vec![below(3) as u8; len];
                assert_eq!(storage.write_at(at as u64, &bytes).expect("memory refuses nothing"), len);
                if len > 0 {
                    plain.resize(plain.len().max(at + len), 0);
                    plain[at..at + len].copy_from_slice(&bytes);
                }
            }
            let mut found = vec![9; plain.len() + 1];
            assert_eq!(storage.read_at(0, &mut found).expect("memory refuses nothing"), plain.len());
            assert_eq!(found[..plain.len()], plain[..]);
        }
    }

    #[test]
    fn zeros_take_no_memory() {
        let storage = MemoryStorage::new();
        storage.write_at(0, &ZEROS).expect("memory refuses nothing");
        storage.write_at(PAGE_LEN as u64 + 5, b"a").expect("memory refuses nothing");
        let file = read(&storage.file);
        assert_eq!((file.pages[0].capacity(), file.pages[1].len()), (0, 6));
    }
}
