//! Losing power, and settling what it left: one decision for each thing that somebody looks at.

use std::collections::BTreeSet;

use super::content::{PAGE_LEN, Page};
use super::decisions::{What, splitmix};
use super::level::Level;
use super::sectors::{Cache, Sector, Version};
use super::state::{Name, State};
use crate::sync::Arc;

impl State {
    /// The power goes, and comes back. What follows sees a file that nobody has looked at yet.
    pub(super) fn crash(&mut self) {
        self.late_failure = false;
        self.faults.power_returns();
        // spec: M-2.4
        if self.name == Name::Pending {
            self.name = Name::Unsettled;
        }
        if self.level == Level::Prefix {
            // Nothing can have changed since an earlier crash that is not settled yet: any call settles it.
            self.prefix_unsettled |= self.changes > self.synced;
        } else {
            self.unsettle_sectors();
            self.unsettle_length();
            self.synced = self.changes;
        }
        let unread: Vec<u64> = self.sectors.iter().map(|(number, _)| number).collect();
        self.decisions.begin_crash(&unread);
    }

    // spec: M-2.2
    fn unsettle_sectors(&mut self) {
        if self.level == Level::Garbage {
            self.note_grown_range();
        }
        for (number, sector) in self.sectors.take() {
            if sector.cache == Cache::Unread {
                self.sectors.push(number, sector);
                continue;
            }
            let (page, place) = self.sectors.place(number);
            let mut sector = Arc::unwrap_or_clone(sector);
            if sector.cache == Cache::Dirty {
                if self.level == Level::Garbage {
                    sector.versions.push(Version { change: sector.last_change, page: garbage(page) });
                }
                let page = Arc::clone(self.pages.get(page));
                sector.versions.push(Version { change: sector.last_change, page });
            } else {
                sector.versions.truncate(sector.durable);
            }
            sector.durable = sector.versions.len();
            sector.cache = Cache::Unread;
            sector.merge_equal(&place);
            if sector.versions.len() == 1 {
                self.install(number, &sector.versions[0]);
            } else {
                // Nobody sees these bytes any more; equal disks are to have equal fingerprints.
                self.pages.get_mut(page)[place].fill(0);
                self.sectors.push(number, Arc::new(sector));
            }
        }
    }

    /// Sectors that the file grew by and nobody wrote to: they may hold whatever the medium held there.
    fn note_grown_range(&mut self) {
        let oldest = self.length.all().next().expect("there is a current length");
        let unit = self.sectors.sector_len();
        for number in oldest.div_ceil(unit)..self.length.furthest().div_ceil(unit) {
            if self.sectors.get(number).is_none() {
                let (page, _) = self.sectors.place(number);
                let versions = vec![
                    Version { change: 0, page: Arc::clone(self.pages.get(page)) },
                    Version { change: 0, page: garbage(page) },
                ];
                self.sectors
                    .insert(number, Sector { versions, durable: 2, cache: Cache::Unread, last_change: 0 });
            }
        }
    }

    // spec: M-2.3
    fn unsettle_length(&mut self) {
        if self.length.unsettled.is_some() || self.length.is_synced() {
            return;
        }
        let candidates = self.length.candidates(self.sectors.sector_len(), self.whole_lengths);
        assert!(candidates.len() > 1, "a length that was changed may be lost");
        self.length.unsettled = Some(candidates.into());
    }

    /// Settles whether the file is there, and how far its prefix goes: before any call.
    pub(super) fn settle_before_use(&mut self) {
        if self.name == Name::Unsettled {
            self.settle_name();
        }
        if self.prefix_unsettled {
            self.settle_prefix();
        }
    }

    fn settle_name(&mut self) {
        if self.decisions.decide(2, What::Name, false) == 1 {
            self.name = Name::Durable;
            return;
        }
        // The file that is created next needs its directory synced again.
        self.name = Name::Pending;
        self.prefix_unsettled = false;
        self.synced = self.changes;
        self.length.settle(0);
        self.cut(0);
    }

    fn settle_prefix(&mut self) {
        let alternatives =
            u32::try_from(self.changes - self.synced + 1).expect("changes between two syncs are few");
        let kept = self.decisions.decide(alternatives, What::Prefix, false);
        self.keep_prefix(u64::from(kept));
    }

    /// Keeps the first `kept` changes since the last sync, and loses the rest.
    pub(super) fn keep_prefix(&mut self, kept: u64) {
        let last = self.synced + kept;
        for (number, sector) in self.sectors.take() {
            let version = match sector.cache {
                Cache::Dirty if sector.last_change <= last => None,
                Cache::Dirty => sector.versions.iter().rev().find(|version| version.change <= last),
                Cache::Stuck | Cache::Unread => sector.versions.first(),
            };
            if let Some(version) = version {
                self.install(number, version);
            }
        }
        let len = self.length.after(last);
        self.length.settle(len);
        self.cut(len);
        self.prefix_unsettled = false;
        self.synced = self.changes;
    }

    //= spec/media.md#m-2-3-length
    //# After a crash the length MUST be one that the file had since the last successful sync, that one
    //# included, or, where the file grew in between, a whole number of sectors between two of these.
    pub(super) fn settle_length(&mut self) {
        let Some(candidates) = self.length.unsettled.clone() else { return };
        let alternatives = u32::try_from(candidates.len()).expect("a simulated file has few sectors");
        let choice = self.decisions.decide(alternatives, What::Length, true);
        let len = candidates[choice as usize];
        self.length.settle(len);
        self.cut(len);
    }

    //= spec/media.md#m-2-2-sectors
    //# After a crash it MUST hold one of these values, whole.
    /// Settles what an unread sector holds, once for all (spec: M-2.5).
    pub(super) fn settle_sector(&mut self, number: u64) {
        let sector = self.sectors.get(number).expect("the caller found it unread");
        assert!(sector.cache == Cache::Unread, "a sector is settled once");
        let alternatives = sector.versions.len() as u32;
        let is_last = self.is_of_last_change(sector);
        let choice = self.decisions.decide(alternatives, What::Sector(number), is_last);
        self.narrow(number, &[choice as usize]);
    }

    pub(super) fn is_of_last_change(&self, sector: &Sector) -> bool {
        sector.last_change == self.synced
    }

    //= spec/media.md#m-2-5-settled-once
    //# A read after the crash MUST NOT return a value that an earlier read since that crash contradicts,
    //# unless a write lies between.
    /// Leaves an unread sector only these of its versions.
    pub(super) fn narrow(&mut self, number: u64, kept: &[usize]) {
        let sector = self.sectors.get_mut(number).expect("the caller found it unread");
        sector.versions = kept.iter().map(|index| sector.versions[*index].clone()).collect();
        sector.durable = kept.len();
        self.settle_if_one(number);
    }

    /// An unread sector that can hold but one thing holds that.
    pub(super) fn settle_if_one(&mut self, number: u64) {
        let sector = self.sectors.get(number).expect("the caller has changed it");
        if sector.cache == Cache::Unread && sector.versions.len() == 1 {
            let version = sector.versions[0].clone();
            self.sectors.remove(number);
            self.install(number, &version);
        }
    }

    /// Settles everything, as a reader of the whole file would.
    pub(super) fn settle_all(&mut self) {
        self.settle_before_use();
        self.settle_length();
        while let Some(sector) = self.sectors.first_unread(0..u64::MAX) {
            self.settle_sector(sector);
        }
    }

    /// How many states of the medium this disk stands for: those among which nobody has chosen.
    pub(super) fn states(&self) -> f64 {
        let contents = if self.prefix_unsettled {
            (self.changes - self.synced + 1) as f64
        } else {
            match &self.length.unsettled {
                Some(lens) => lens.iter().map(|len| self.states_below(*len)).sum(),
                None => self.states_below(u64::MAX),
            }
        };
        let lost = if self.name == Name::Unsettled { 1.0 } else { 0.0 };
        self.settled_states * (contents + lost)
    }

    /// What the sectors of a file of `len` bytes may hold between them. Of the last one the file may have a part only, in
    /// which its versions need not differ.
    fn states_below(&self, len: u64) -> f64 {
        let unit = self.sectors.sector_len();
        let counts = self.sectors.within(0..len.div_ceil(unit)).map(|(number, sector)| {
            let part = (len - number * unit).min(unit);
            if part == unit {
                return sector.durable as f64;
            }
            let (_, place) = self.sectors.place(number);
            let part = part as usize;
            let versions = sector.versions[..sector.durable].iter();
            let parts: BTreeSet<_> =
                versions.map(|version| &version.page.bytes()[place.start..place.start + part]).collect();
            parts.len() as f64
        });
        counts.product()
    }
}

/// What a page of a medium holds that nobody has written since it was made: the same at each crash.
fn garbage(index: usize) -> Arc<Page> {
    let mut bytes = [0; PAGE_LEN];
    for (word, out) in bytes.chunks_exact_mut(8).enumerate() {
        out.copy_from_slice(&splitmix((index * PAGE_LEN / 8 + word) as u64).to_le_bytes());
    }
    Arc::new(Page::new(bytes))
}
