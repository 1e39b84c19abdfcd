//! Versions that were superseded while somebody still needs them: by address, no data is copied.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::document::{Key, KeyRef};
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

/// A version in the table: whoever has this decides how long it stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    collection: u32,
    key: Key,
    until: LogAddress,
}

/// The table of retained versions, in key order.
///
/// Each version is on the list of the newest snapshot that needs it, or on that of the pending commit that supersedes it. When a
/// snapshot goes, only its own list is looked at: a version moves on to the next older snapshot that needs it, or goes. (The dead
/// lists of ZFS.)
#[derive(Debug, Clone, Default)]
pub(crate) struct Retained {
    versions: BTreeMap<(u32, Key), Vec<Version>>,
    count: usize,
    lists: BTreeMap<u64, Vec<Held>>,
}

impl Retained {
    /// Keeps `entry`, which the record at `until` supersedes.
    pub(super) fn keep(
        &mut self,
        collection: u32,
        key: Key,
        entry: Entry,
        birth: Birth,
        until: LogAddress,
    ) -> Held {
        let versions = self.versions.entry((collection, key.clone())).or_default();
        assert!(
            versions.last().is_none_or(|last| last.until < until),
            "versions are superseded in log order"
        );
        versions.push(Version { entry, birth, until });
        self.count += 1;
        Held { collection, key, until }
    }

    /// Puts a version on the list of the newest of `snapshots` that needs it; where none does, lets it go.
    ///
    /// A snapshot that is newer than what supersedes the version does not need it; so `snapshots` are older than that.
    pub(super) fn pass_on(&mut self, held: Held, newest: Option<(u64, State)>) {
        match newest {
            Some((id, state)) if self.version(&held).is_in(state) => {
                self.lists.entry(id).or_default().push(held);
            }
            _ => self.let_go(held),
        }
    }

    fn version(&self, held: &Held) -> &Version {
        let versions = self.versions.get(&(held.collection, held.key.clone()));
        let version =
            versions.and_then(|versions| versions.iter().find(|version| version.until == held.until));
        version.expect("what is held is in the table")
    }

    /// Takes a version out of the table.
    pub(super) fn let_go(&mut self, held: Held) {
        let key = (held.collection, held.key);
        let versions = self.versions.get_mut(&key).expect("what is held is in the table");
        let at = versions.iter().position(|version| version.until == held.until);
        versions.remove(at.expect("what is held is in the table"));
        if versions.is_empty() {
            self.versions.remove(&key);
        }
        self.count -= 1;
    }

    /// Takes up to `limit` versions off the list of a snapshot that has gone.
    pub(super) fn take_from(&mut self, snapshot: u64, limit: usize) -> Vec<Held> {
        let Some(list) = self.lists.get_mut(&snapshot) else { return Vec::new() };
        let taken = list.split_off(list.len().saturating_sub(limit));
        if list.is_empty() {
            self.lists.remove(&snapshot);
        }
        taken
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The superseded version of `key` that `state` holds.
    pub(super) fn find(&self, collection: u32, key: KeyRef<'_>, state: State) -> Option<Entry> {
        if self.count == 0 {
            return None;
        }
        let versions = self.versions.get(&(collection, key.to_key()))?;
        versions.iter().find(|version| version.is_in(state)).map(|version| version.entry)
    }

    /// Appends the superseded versions in `range` that `state` holds, in key order.
    pub(super) fn range(&self, collection: u32, range: &KeyRange, state: State, out: &mut Vec<(Key, Entry)>) {
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

    /// Appends all versions of the next `limit` keys behind `after`. Returns the last of these keys; none at the end of the table.
    pub(super) fn entries(
        &self,
        after: Option<&(u32, Key)>,
        limit: usize,
        out: &mut Vec<Entry>,
    ) -> Option<(u32, Key)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut last = None;
        for (key, versions) in self.versions.range::<(u32, Key), _>((from, Bound::Unbounded)).take(limit) {
            out.extend(versions.iter().map(|version| version.entry));
            last = Some(key);
        }
        last.cloned()
    }

    /// Appends the addresses of the versions that `state` holds among the next `limit` keys behind `after`. Returns the last of these keys;
    /// none at the end of the table.
    pub(super) fn addresses(
        &self,
        state: State,
        after: Option<&(u32, Key)>,
        limit: usize,
        out: &mut Vec<LogAddress>,
    ) -> Option<(u32, Key)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut last = None;
        for (key, versions) in self.versions.range::<(u32, Key), _>((from, Bound::Unbounded)).take(limit) {
            let held = versions.iter().filter(|version| version.is_in(state));
            out.extend(held.map(|version| version.entry.address()));
            last = Some(key);
        }
        last.cloned()
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

    fn keep(retained: &mut Retained, key: i64, born: u64, until: u64) -> Held {
        let birth = Birth::At(LogAddress(born));
        retained.keep(1, Key::Int(key), entry(born), birth, LogAddress(until))
    }

    #[test]
    fn a_state_between_birth_and_end_holds_the_version_and_no_other_does() {
        let mut retained = Retained::default();
        keep(&mut retained, 1, 10, 30);
        keep(&mut retained, 1, 30, 50);
        let found = |address| {
            let mut found = Vec::new();
            retained.range(1, &KeyRange::all(), state(address), &mut found);
            assert!(found.len() <= 1, "a state holds one version of a key");
            let found = found.first().map(|(_, entry)| *entry);
            assert_eq!(found, retained.find(1, KeyRef::Int(1), state(address)));
            found.map(|entry| entry.address().0)
        };
        assert_eq!([10, 11, 30, 31, 50, 51].map(found), [None, Some(10), Some(10), Some(30), Some(30), None]);
        let mut other = Vec::new();
        retained.range(2, &KeyRange::all(), state(20), &mut other);
        assert_eq!(other, [], "another collection");
    }

    #[test]
    fn a_version_moves_on_to_the_next_older_snapshot_that_needs_it_and_then_goes() {
        let mut retained = Retained::default();
        let both = keep(&mut retained, 1, 10, 60);
        let newer = keep(&mut retained, 2, 40, 70);
        let none = keep(&mut retained, 3, 55, 80);
        for held in [both, newer, none] {
            retained.pass_on(held, Some((2, state(50))));
        }
        assert_eq!(retained.count(), 2, "nobody needs what is born and superseded behind every snapshot");
        for held in retained.take_from(2, 10) {
            retained.pass_on(held, Some((1, state(20))));
        }
        assert_eq!(retained.count(), 1, "the older snapshot never saw what came after it");
        for held in retained.take_from(1, 10) {
            retained.pass_on(held, None);
        }
        assert_eq!(retained.count(), 0);
        assert_eq!(retained.take_from(1, 10), []);
    }
}
