//! Versions that were superseded while a snapshot still needs them: by address, no data is copied.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::document::Key;
use crate::format::LogAddress;
use crate::index::{Birth, Entry, KeyRange, State};

#[derive(Debug, Clone, Copy)]
struct Version {
    entry: Entry,
    birth: Birth,
    /// Where the record stands that superseded it. A state above that does not hold this version.
    until: LogAddress,
}

impl Version {
    fn is_in(&self, state: State) -> bool {
        // Both ends count: without the birth, a reader older than the document would be given it.
        self.birth.is_within(state) && state.address <= self.until
    }
}

/// The table of retained versions, in key order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Retained {
    versions: BTreeMap<(u32, Key), Vec<Version>>,
    count: usize,
}

impl Retained {
    /// Keeps `entry`, which the record at `until` supersedes.
    pub(crate) fn keep(&mut self, collection: u32, key: Key, entry: Entry, birth: Birth, until: LogAddress) {
        let versions = self.versions.entry((collection, key)).or_default();
        assert!(
            versions.last().is_none_or(|last| last.until < until),
            "versions are superseded in log order"
        );
        versions.push(Version { entry, birth, until });
        self.count += 1;
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Appends the superseded versions in `range` that `state` holds, in key order.
    pub(crate) fn range(&self, collection: u32, range: &KeyRange, state: State, out: &mut Vec<(Key, Entry)>) {
        if range.is_empty() || self.count == 0 {
            return;
        }
        // Every key of the collection lies between its least possible key and the collection after.
        let from = match &range.from {
            Bound::Unbounded => Bound::Included((collection, Key::Int(i64::MIN))),
            Bound::Included(key) => Bound::Included((collection, key.clone())),
            Bound::Excluded(key) => Bound::Excluded((collection, key.clone())),
        };
        let to = match &range.to {
            Bound::Unbounded => match collection.checked_add(1) {
                Some(next) => Bound::Excluded((next, Key::Int(i64::MIN))),
                None => Bound::Unbounded,
            },
            Bound::Included(key) => Bound::Included((collection, key.clone())),
            Bound::Excluded(key) => Bound::Excluded((collection, key.clone())),
        };
        for ((_, key), versions) in self.versions.range((from, to)) {
            if let Some(version) = versions.iter().find(|version| version.is_in(state)) {
                out.push((key.clone(), version.entry));
            }
        }
    }

    /// Drops every version that none of `states` holds.
    pub(crate) fn purge(&mut self, states: &[State]) {
        self.versions.retain(|_, versions| {
            versions.retain(|version| states.iter().any(|state| version.is_in(*state)));
            !versions.is_empty()
        });
        self.count = self.versions.values().map(Vec::len).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Lsn;

    fn state(address: u64) -> State {
        State { lsn: Lsn(address), address: LogAddress(address) }
    }

    fn entry(address: u64) -> Entry {
        Entry::new(LogAddress(address), false)
    }

    #[test]
    fn a_state_between_birth_and_end_holds_the_version_and_no_other_does() {
        let mut retained = Retained::default();
        let key = Key::Int(1);
        retained.keep(1, key.clone(), entry(10), Birth::At(LogAddress(10)), LogAddress(30));
        retained.keep(1, key.clone(), entry(30), Birth::At(LogAddress(30)), LogAddress(50));
        let found = |address| {
            let mut found = Vec::new();
            retained.range(1, &KeyRange::all(), state(address), &mut found);
            assert!(found.len() <= 1, "a state holds one version of a key");
            found.first().map(|(_, entry)| entry.address().0)
        };
        assert_eq!([10, 11, 30, 31, 50, 51].map(found), [None, Some(10), Some(10), Some(30), Some(30), None]);
        let mut other = Vec::new();
        retained.range(2, &KeyRange::all(), state(20), &mut other);
        assert_eq!(other, [], "another collection");
    }

    #[test]
    fn a_version_stays_while_any_state_holds_it() {
        let mut retained = Retained::default();
        retained.keep(1, Key::Int(1), entry(10), Birth::At(LogAddress(10)), LogAddress(30));
        retained.keep(1, Key::Int(2), entry(20), Birth::At(LogAddress(20)), LogAddress(40));
        retained.purge(&[state(35)]);
        assert_eq!(retained.count(), 1);
        retained.purge(&[]);
        assert_eq!(retained.count(), 0);
    }
}
