//! The bytes of a disk in pages that copies share until one of them changes a page.

use std::ops::Range;

use crate::sync::{Arc, OnceLock};

pub(super) const PAGE_LEN: usize = 4096;

#[derive(Debug)]
pub(super) struct Page {
    bytes: [u8; PAGE_LEN],
    /// Computed when first asked for; forgotten at each change.
    hash: OnceLock<u64>,
}

impl Page {
    pub(super) fn new(bytes: [u8; PAGE_LEN]) -> Self {
        Page { bytes, hash: OnceLock::new() }
    }

    pub(super) fn bytes(&self) -> &[u8; PAGE_LEN] {
        &self.bytes
    }

    pub(super) fn hash(&self) -> u64 {
        *self.hash.get_or_init(|| super::hash::hash(&self.bytes))
    }
}

/// A page is cloned in order to be changed, so the hash does not come along.
impl Clone for Page {
    fn clone(&self) -> Self {
        Page::new(self.bytes)
    }
}

/// Pages from offset 0 on. What was never written reads as zeros.
#[derive(Debug, Clone)]
pub(super) struct Pages {
    pages: Vec<Arc<Page>>,
    zero: Arc<Page>,
}

impl Pages {
    pub(super) fn new() -> Self {
        Pages { pages: Vec::new(), zero: Arc::new(Page::new([0; PAGE_LEN])) }
    }

    pub(super) fn get(&self, index: usize) -> &Arc<Page> {
        self.pages.get(index).unwrap_or(&self.zero)
    }

    /// Pages that were written, by index.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Arc<Page>)> {
        self.pages.iter().enumerate()
    }

    pub(super) fn get_mut(&mut self, index: usize) -> &mut [u8; PAGE_LEN] {
        if index >= self.pages.len() {
            self.pages.resize(index + 1, Arc::clone(&self.zero));
        }
        let page = Arc::make_mut(&mut self.pages[index]);
        page.hash.take();
        &mut page.bytes
    }

    pub(super) fn read(&self, offset: u64, out: &mut [u8]) {
        let mut done = 0;
        for (page, range) in pieces(offset, out.len()) {
            let len = range.len();
            out[done..done + len].copy_from_slice(&self.get(page).bytes[range]);
            done += len;
        }
    }

    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) {
        let mut done = 0;
        for (page, range) in pieces(offset, bytes.len()) {
            let len = range.len();
            self.get_mut(page)[range].copy_from_slice(&bytes[done..done + len]);
            done += len;
        }
    }

    /// Makes everything from `len` on zeros.
    pub(super) fn cut(&mut self, len: u64) {
        let (page, within) = ((len / PAGE_LEN as u64) as usize, (len % PAGE_LEN as u64) as usize);
        self.pages.truncate(if within == 0 { page } else { page + 1 });
        if self.pages.get(page).is_some_and(|page| page.bytes[within..].iter().any(|byte| *byte != 0)) {
            self.get_mut(page)[within..].fill(0);
        }
    }
}

/// The range of `len` bytes from `offset` on, split at the ends of pages: the page's index, and the place in it.
pub(super) fn pieces(offset: u64, len: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let end = offset + len as u64;
    let mut at = offset;
    std::iter::from_fn(move || {
        if at == end {
            return None;
        }
        let start = (at % PAGE_LEN as u64) as usize;
        let piece = (end - at).min((PAGE_LEN - start) as u64) as usize;
        let page = (at / PAGE_LEN as u64) as usize;
        at += piece as u64;
        Some((page, start..start + piece))
    })
}
