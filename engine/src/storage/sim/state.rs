//! What calls do to a disk that has power.

use super::content::{Pages, pieces};
use super::decisions::Decisions;
use super::faults::Faults;
use super::length::Length;
use super::level::Level;
use super::sectors::{Cache, Sector, Sectors, Version, holds};
use crate::sync::Arc;

/// The name of the file in its directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Name {
    Durable,
    /// Made, and the directory not synced since: a crash may take it, and the file with it.
    Pending,
    /// A crash came between, and nobody has looked.
    Unsettled,
}

#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) level: Level,
    /// In bytes. What tears may be larger: `sectors` has that.
    pub(super) sector: u32,
    pub(super) pages: Pages,
    pub(super) sectors: Sectors,
    pub(super) length: Length,
    /// Whether a length persists as it was set or not at all.
    pub(super) whole_lengths: bool,
    pub(super) name: Name,
    /// Changes are numbered from 1 on.
    pub(super) changes: u64,
    /// The last change that a sync covered.
    pub(super) synced: u64,
    /// After a crash at the level of prefixes: nobody has looked how far the prefix goes.
    pub(super) prefix_unsettled: bool,
    pub(super) capacity: Option<u64>,
    /// A sync has failed, and only the next one will say so.
    pub(super) late_failure: bool,
    /// States that the ones settled on, or left behind unread, stood for.
    pub(super) settled_states: f64,
    pub(super) decisions: Decisions,
    pub(super) faults: Faults,
}

impl State {
    pub(super) fn new(sector: u32, level: Level) -> Self {
        State {
            level,
            sector,
            pages: Pages::new(),
            sectors: Sectors::new(level.tear_len(sector)),
            length: Length::new(0),
            whole_lengths: false,
            name: Name::Pending,
            changes: 0,
            synced: 0,
            prefix_unsettled: false,
            capacity: None,
            late_failure: false,
            settled_states: 1.0,
            decisions: Decisions::path(Vec::new()),
            faults: Faults::default(),
        }
    }

    pub(super) fn len(&mut self) -> u64 {
        self.settle_length();
        self.length.current
    }

    pub(super) fn set_len(&mut self, len: u64) {
        self.settle_length();
        self.changes += 1;
        self.clear_between(self.length.current, len);
        self.length.set(self.changes, len);
    }

    pub(super) fn read(&mut self, offset: u64, out: &mut [u8]) -> usize {
        let len = self.readable(offset, out.len());
        while let Some(sector) = self.sectors.first_unread(self.sectors.touched(offset, len)) {
            self.settle_sector(sector);
        }
        self.pages.read(offset, &mut out[..len]);
        len
    }

    /// How many of `len` bytes from `offset` on the file has.
    pub(super) fn readable(&mut self, offset: u64, len: usize) -> usize {
        if offset.saturating_add(len as u64) > self.length.least() {
            self.settle_length();
        } else {
            return len;
        }
        self.length.current.saturating_sub(offset).min(len as u64) as usize
    }

    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let end = offset + bytes.len() as u64;
        if end > self.length.least() {
            self.settle_length();
        }
        self.changes += 1;
        if self.length.unsettled.is_none() {
            self.clear_between(self.length.current, offset);
        }
        self.change(offset, bytes);
        if self.length.unsettled.is_none() && end > self.length.current {
            self.length.set(self.changes, end);
        }
    }

    /// Zeros where the file is about to grow over what was cut off and not yet forgotten: that is a change like others,
    /// of which a crash may lose any part.
    fn clear_between(&mut self, from: u64, to: u64) {
        let to = to.min(self.length.furthest());
        if from < to {
            self.change(from, &vec![0; (to - from) as usize]);
        }
    }

    /// Puts the bytes where reads see them, and keeps of each sector what it may have instead after a crash.
    fn change(&mut self, offset: u64, bytes: &[u8]) {
        self.settle_edges(offset, bytes.len());
        let mut done = 0;
        for (page, range) in pieces(offset, bytes.len()) {
            let old = Arc::clone(self.pages.get(page));
            let piece = &bytes[done..done + range.len()];
            if old.bytes()[range.clone()] != *piece {
                self.pages.get_mut(page)[range.clone()].copy_from_slice(piece);
            }
            for sector in self.sectors.touched(offset + done as u64, range.len()) {
                self.remember(sector, &old);
            }
            done += range.len();
        }
    }

    /// A write to a part of a sector needs the rest, and so to know which it is.
    fn settle_edges(&mut self, offset: u64, len: usize) {
        let (end, unit) = (offset + len as u64, self.sectors.sector_len());
        for (edge, is_cut) in [(offset, !offset.is_multiple_of(unit)), (end - 1, !end.is_multiple_of(unit))] {
            let sector = edge / unit;
            if is_cut && self.sectors.first_unread(sector..sector + 1).is_some() {
                self.settle_sector(sector);
            }
        }
    }

    /// Notes that a sector, whose bytes were those in the page `old`, now has those in the disk's pages.
    fn remember(&mut self, number: u64, old: &Arc<super::content::Page>) {
        let (page, place) = self.sectors.place(number);
        let is_same = old.bytes()[place.clone()] == self.pages.get(page).bytes()[place.clone()];
        let (level, change) = (self.level, self.changes);
        match self.sectors.get_mut(number) {
            None if is_same => {}
            None => {
                let versions = vec![Version { change: 0, page: Arc::clone(old) }];
                self.sectors.insert(
                    number,
                    Sector { versions, durable: 1, cache: Cache::Dirty, last_change: change },
                );
            }
            Some(sector) => {
                if sector.cache == Cache::Dirty && !is_same {
                    // What one change did before it was done is no version. Else, a prefix needs to know every one; at the
                    // other levels equal bytes are one.
                    let is_news = level == Level::Prefix || !holds(&sector.versions, old, &place);
                    if sector.last_change < change && is_news {
                        sector.versions.push(Version { change: sector.last_change, page: Arc::clone(old) });
                    }
                    sector.last_change = change;
                } else if sector.cache != Cache::Dirty {
                    sector.cache = Cache::Dirty;
                    sector.last_change = change;
                }
            }
        }
    }

    /// Puts a version of a sector where reads see it.
    pub(super) fn install(&mut self, sector: u64, version: &Version) {
        let (page, place) = self.sectors.place(sector);
        let bytes = &version.page.bytes()[place.clone()];
        if self.pages.get(page).bytes()[place.clone()] != *bytes {
            self.pages.get_mut(page)[place].copy_from_slice(bytes);
        }
    }

    /// Forgets for good what lies beyond the end of the file.
    pub(super) fn cut(&mut self, len: u64) {
        let unit = self.sectors.sector_len();
        self.pages.cut(len);
        self.sectors.truncate(len.div_ceil(unit));
        let tail = len / unit;
        if len.is_multiple_of(unit) || self.sectors.get(tail).is_none() {
            return;
        }
        let (_, place) = self.sectors.place(tail);
        let within = place.start + (len % unit) as usize;
        let sector = self.sectors.get_mut(tail).expect("it was there above");
        for version in &mut sector.versions {
            let mut bytes = *version.page.bytes();
            bytes[within..place.end].fill(0);
            version.page = Arc::new(super::content::Page::new(bytes));
        }
        sector.merge_equal(&place);
        self.settle_if_one(tail);
    }
}
