//! One number for what a disk holds and may hold, the same in every run and on every machine.

use std::ops::Range;

use super::content::Pages;
use super::hash::{self, START, mix};
use super::level::Level;
use super::sectors::Sector;
use super::state::State;

/// Pages of zeros count as absent, whether they are there or not.
fn pages(hash: u64, pages: &Pages) -> u64 {
    let zero = pages.get(usize::MAX).hash();
    pages
        .iter()
        .filter(|(_, page)| page.hash() != zero)
        .fold(hash, |hash, (index, page)| mix(mix(hash, index as u64), page.hash()))
}

impl State {
    /// Two disks with the same one read alike and crash alike. How they came to be, what their calls counted and who
    /// decides for them is not part of it.
    pub(super) fn fingerprint(&self) -> u64 {
        let unsettled = self.length.unsettled.as_deref().unwrap_or_default();
        let mut hash = pages(START, &self.pages);
        for word in [self.name as u64, u64::from(self.prefix_unsettled), u64::from(self.late_failure)]
            .into_iter()
            .chain(self.length.all())
            .chain([u64::MAX])
            .chain(unsettled.iter().copied())
        {
            hash = mix(hash, word);
        }
        hash = self.sectors.iter().fold(hash, |hash, (number, sector)| self.sector(hash, number, sector));
        if self.level == Level::Prefix { mix(hash, self.changes - self.synced) } else { hash }
    }

    fn sector(&self, hash: u64, number: u64, sector: &Sector) -> u64 {
        let (_, place) = self.sectors.place(number);
        let mut hash = mix(mix(mix(hash, number), sector.cache as u64), sector.durable as u64);
        for version in &sector.versions {
            hash = mix(hash, hash::hash(&version.page.bytes()[place.clone()]));
            hash = mix(hash, self.order_of(version.change));
        }
        mix(hash, self.order_of(sector.last_change))
    }

    /// One number for what these bytes are and may be, and for how long the file is. It settles nothing.
    pub(super) fn fingerprint_within(&self, places: &[Range<u64>]) -> u64 {
        let unsettled = self.length.unsettled.as_deref().unwrap_or_default();
        let hash = unsettled.iter().fold(mix(START, self.length.current), |hash, len| mix(hash, *len));
        let mut bytes = Vec::new();
        places.iter().fold(hash, |hash, place| {
            bytes.resize((place.end - place.start) as usize, 0);
            self.pages.read(place.start, &mut bytes);
            let hash = mix(mix(hash, place.start), hash::hash(&bytes));
            let sectors = self.sectors.within(self.sectors.touched(place.start, bytes.len()));
            sectors.fold(hash, |hash, (number, sector)| self.sector(hash, number, sector))
        })
    }

    /// A change's number since the last sync, where a crash goes by that.
    fn order_of(&self, change: u64) -> u64 {
        if self.level == Level::Prefix { change.saturating_sub(self.synced) } else { 0 }
    }
}
