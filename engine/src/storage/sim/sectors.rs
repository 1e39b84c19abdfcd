//! What a power cut may find in a sector, kept only for sectors where that is not one thing.
//!
//! The unit is what tears: a sector, or a page of 4 KiB where the level says so. It is called a sector either way.

use std::ops::Range;

use super::content::{PAGE_LEN, Page};
use crate::sync::Arc;

/// Bytes that a sector had, or may have: those at the sector's place in `page`.
#[derive(Debug, Clone)]
pub(super) struct Version {
    /// The change that gave it these bytes; 0 if that was before the last sync.
    pub(super) change: u64,
    pub(super) page: Arc<Page>,
}

/// Where the bytes that reads see are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Cache {
    /// Nowhere: the sector holds one of its versions, and nobody has looked which.
    Unread,
    /// In the disk's pages, on their way to the medium.
    Dirty,
    /// In the disk's pages, but after a failed sync the cache believes them clean: they never reach the medium.
    Stuck,
}

/// A sector of which more than one thing may persist.
#[derive(Debug, Clone)]
pub(super) struct Sector {
    /// Different bytes, oldest first. What reads see now is not among them.
    pub(super) versions: Vec<Version>,
    /// How many of them, from the first on, the medium may hold if nothing since the last sync has reached it: one, or
    /// more if an earlier crash left that open and it was overwritten unread.
    pub(super) durable: usize,
    pub(super) cache: Cache,
    /// The change that gave it the bytes that reads see.
    pub(super) last_change: u64,
}

impl Sector {
    /// Drops every version with the bytes of an earlier one.
    pub(super) fn merge_equal(&mut self, place: &Range<usize>) {
        let mut kept: Vec<Version> = Vec::with_capacity(self.versions.len());
        let mut durable = 0;
        for (index, version) in self.versions.drain(..).enumerate() {
            if !holds(&kept, &version.page, place) {
                kept.push(version);
                durable += usize::from(index < self.durable);
            }
        }
        self.versions = kept;
        self.durable = durable;
    }
}

/// Whether one of `versions` has the bytes that `page` has at `place`.
pub(super) fn holds(versions: &[Version], page: &Page, place: &Range<usize>) -> bool {
    versions.iter().any(|version| version.page.bytes()[place.clone()] == page.bytes()[place.clone()])
}

/// The sectors of a disk that may hold more than one thing, in order.
#[derive(Debug, Clone)]
pub(super) struct Sectors {
    /// Bytes in a sector: a power of two, at most a page.
    len: usize,
    table: Vec<(u64, Arc<Sector>)>,
}

impl Sectors {
    pub(super) fn new(len: usize) -> Self {
        assert!(len.is_power_of_two(), "a sector's length is a power of two");
        assert!((16..=PAGE_LEN).contains(&len), "a sector has 16 to {PAGE_LEN} bytes");
        Sectors { len, table: Vec::new() }
    }

    pub(super) fn sector_len(&self) -> u64 {
        self.len as u64
    }

    /// The page that a sector lies in, and where.
    pub(super) fn place(&self, sector: u64) -> (usize, Range<usize>) {
        let offset = sector * self.len as u64;
        let start = (offset % PAGE_LEN as u64) as usize;
        ((offset / PAGE_LEN as u64) as usize, start..start + self.len)
    }

    /// The sectors that `len` bytes from `offset` on touch.
    pub(super) fn touched(&self, offset: u64, len: usize) -> Range<u64> {
        let unit = self.len as u64;
        offset / unit..(offset + len as u64).div_ceil(unit)
    }

    fn position(&self, sector: u64) -> Result<usize, usize> {
        self.table.binary_search_by_key(&sector, |(sector, _)| *sector)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Sector)> {
        self.table.iter().map(|(number, sector)| (*number, &**sector))
    }

    /// Those among `sectors`.
    pub(super) fn within(&self, sectors: Range<u64>) -> impl Iterator<Item = (u64, &Sector)> {
        let from = self.table.partition_point(|(number, _)| *number < sectors.start);
        self.table[from..]
            .iter()
            .take_while(move |(number, _)| *number < sectors.end)
            .map(|(number, sector)| (*number, &**sector))
    }

    /// The first of `sectors` that nobody has read since the crash.
    pub(super) fn first_unread(&self, sectors: Range<u64>) -> Option<u64> {
        self.within(sectors).find(|(_, sector)| sector.cache == Cache::Unread).map(|(number, _)| number)
    }

    pub(super) fn get(&self, sector: u64) -> Option<&Sector> {
        self.position(sector).ok().map(|at| &*self.table[at].1)
    }

    pub(super) fn get_mut(&mut self, sector: u64) -> Option<&mut Sector> {
        self.position(sector).ok().map(|at| Arc::make_mut(&mut self.table[at].1))
    }

    pub(super) fn insert(&mut self, number: u64, sector: Sector) {
        match self.position(number) {
            Ok(at) => self.table[at].1 = Arc::new(sector),
            Err(at) => self.table.insert(at, (number, Arc::new(sector))),
        }
    }

    pub(super) fn remove(&mut self, sector: u64) {
        if let Ok(at) = self.position(sector) {
            self.table.remove(at);
        }
    }

    /// Forgets the sectors from `first` on.
    pub(super) fn truncate(&mut self, first: u64) {
        let at = self.table.partition_point(|(number, _)| *number < first);
        self.table.truncate(at);
    }

    /// Takes all out, to put back what is to stay.
    pub(super) fn take(&mut self) -> Vec<(u64, Arc<Sector>)> {
        std::mem::take(&mut self.table)
    }

    /// Puts one behind all that are there.
    pub(super) fn push(&mut self, number: u64, sector: Arc<Sector>) {
        assert!(self.table.last().is_none_or(|(last, _)| *last < number), "sectors are pushed in order");
        self.table.push((number, sector));
    }
}
