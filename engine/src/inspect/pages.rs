//! The pages of a checkpoint segment.

use crate::format::page::{PAGE_HEADER_LEN, PAGE_LEN_MAX, Page, PageFault, PageHeader};
use crate::format::{Lineage, Lsn, round_up_8};

use super::budget::Budget;

/// A page whose checksum holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageView {
    /// Where it begins in its segment.
    pub offset: u32,
    /// Its length in bytes.
    pub len: u32,
    /// Its checksum.
    pub crc: u32,
    /// Its header.
    pub header: PageHeader,
}

/// The pages of the checkpoint at `lsn` in the bytes of a segment, from `start` on.
pub(super) fn find(bytes: &[u8], lineage: &Lineage, lsn: Lsn, start: u32) -> Vec<PageView> {
    let mut pages = Vec::new();
    let mut budget = Budget::of(bytes);
    let mut at = start;
    while at as usize + PAGE_HEADER_LEN <= bytes.len() {
        let rest = &bytes[at as usize..];
        let number = Page::claimed_number(rest).expect("a header is there");
        // Zeros have no length that a page can have, so that what is not written costs nothing.
        match Page::parse(rest, lineage, lsn, number) {
            Ok(page) => {
                let len = page.page_len() as u32;
                pages.push(PageView { offset: at, len, crc: page.crc(), header: *page.header() });
                at = round_up_8(at + len);
            }
            Err(PageFault::Crc { .. }) if !budget.spend(PAGE_LEN_MAX) => break,
            Err(_) => at += 8,
        }
    }
    pages
}
