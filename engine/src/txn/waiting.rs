//! What commits supersede that are not visible yet.

use std::collections::VecDeque;

use hashbrown::HashTable;

use crate::document::{Key, KeyRef};
use crate::format::LogAddress;
use crate::index::{Birth, Entry, KeyHash, State};

#[derive(Debug, Clone, Copy)]
pub(super) struct Version {
    pub(super) entry: Entry,
    pub(super) birth: Birth,
    /// Where the record stands that superseded it. A state above that does not hold this version.
    pub(super) until: LogAddress,
}

impl Version {
    pub(super) fn is_in(&self, state: State) -> bool {
        // Both ends count: without the birth, a reader older than the document would be given it.
        self.birth.is_within(state) && state.address <= self.until
    }
}

/// The versions that commits supersede which are not visible yet, in the order of the log: everyone needs them until these are visible.
///
/// Most go before anybody has looked, so one costs no more than its place at the end of a queue and in a table of hashes.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting {
    versions: VecDeque<Superseded>,
    /// How many have gone from the front. The number of a version is how many had come before it.
    gone: u64,
    /// The numbers, by the hash of the key.
    numbers: HashTable<u64>,
    hash: Option<KeyHash>,
}

/// A version that a commit supersedes.
#[derive(Debug, Clone)]
pub(super) struct Superseded {
    pub(super) collection: u32,
    pub(super) key: Key,
    pub(super) version: Version,
    hash: u64,
}

impl Waiting {
    pub(super) fn len(&self) -> usize {
        self.versions.len()
    }

    pub(super) fn push(&mut self, collection: u32, key: Key, version: Version) {
        assert!(
            self.versions.back().is_none_or(|last| last.version.until <= version.until),
            "versions are superseded in log order"
        );
        let hash = self.hash.get_or_insert_default().of(collection, key.as_ref());
        let number = self.gone + self.versions.len() as u64;
        let Waiting { versions, gone, numbers, .. } = self;
        versions.push_back(Superseded { collection, key, version, hash });
        numbers.insert_unique(hash, number, |other| versions[(other - *gone) as usize].hash);
    }

    /// Takes out the first, whose commit is visible.
    pub(super) fn pop_front(&mut self) -> Option<Superseded> {
        let first = self.versions.pop_front()?;
        self.forget(first.hash, self.gone);
        self.gone += 1;
        Some(first)
    }

    /// Takes out the last, whose commit is taken back.
    pub(super) fn pop_back(&mut self) -> Option<Superseded> {
        let last = self.versions.pop_back()?;
        self.forget(last.hash, self.gone + self.versions.len() as u64);
        Some(last)
    }

    fn forget(&mut self, hash: u64, number: u64) {
        match self.numbers.find_entry(hash, |other| *other == number) {
            Ok(found) => drop(found.remove()),
            Err(_) => unreachable!("each version that waits has its number in the table"),
        }
    }

    /// The version of `key` that `state` holds.
    pub(super) fn find(&self, collection: u32, key: KeyRef<'_>, state: State) -> Option<Entry> {
        if self.versions.is_empty() {
            return None;
        }
        let hash = self.hash.as_ref()?.of(collection, key);
        let superseded = |number: &u64| &self.versions[(number - self.gone) as usize];
        let is_it = |number: &u64| {
            let found = superseded(number);
            found.collection == collection && found.key.as_ref() == key && found.version.is_in(state)
        };
        self.numbers.find(hash, is_it).map(|number| superseded(number).version.entry)
    }

    /// Shows the next `limit` versions from number `from` on. Returns the number to go on from; none at the end.
    pub(super) fn visit(&self, from: u64, limit: usize, mut see: impl FnMut(&Superseded)) -> Option<u64> {
        let first = from.saturating_sub(self.gone) as usize;
        let versions = self.versions.range(first.min(self.versions.len())..).take(limit);
        let seen = versions.map(&mut see).count();
        (seen > 0).then(|| self.gone + (first + seen) as u64)
    }
}
