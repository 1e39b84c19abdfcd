//! Versions that were superseded while somebody still needs them: by address, no data is copied.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::document::{Key, KeyRef};
use crate::format::LogAddress;
use crate::index::{Entry, KeyRange, State};

use super::waiting::{Superseded, Version, Waiting};

/// A version in the table: whoever has this decides how long it stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RetainedVersion {
    collection: u32,
    key: Key,
    until: LogAddress,
}

/// The superseded versions that somebody still needs.
///
/// What a commit supersedes waits until the commit is visible. What snapshots need beyond that is in a table, in key order, and each version
/// on the list of the newest snapshot that needs it. When a snapshot goes, only its own list is looked at: a version moves on to the next
/// older snapshot that needs it, or goes. (The dead lists of ZFS.)
#[derive(Debug, Clone, Default)]
pub(crate) struct Retained {
    waiting: Waiting,
    versions: BTreeMap<(u32, Key), Vec<Version>>,
    count: usize,
    lists: BTreeMap<u64, Vec<RetainedVersion>>,
}

/// How far a walk over all versions came. What waits comes first: it may go into the table meanwhile, and nothing goes the other way.
#[derive(Debug, Clone)]
pub(crate) enum Reached {
    /// The version of this number is next.
    Waiting(u64),
    /// The versions of this key were the last.
    Key(u32, Key),
}

impl Retained {
    /// Has a version wait for the commit that supersedes it.
    pub(super) fn wait(&mut self, collection: u32, key: Key, version: Version) {
        self.waiting.push(collection, key, version);
    }

    /// The commit is visible that supersedes the first version that waits: keeps it for the newest of `snapshots` that needs it.
    ///
    /// A snapshot that is newer than what supersedes the version does not need it; so `snapshots` are older than that.
    pub(super) fn end_first_wait(&mut self, newest: Option<(u64, State)>) {
        let first = self.waiting.pop_front();
        let Superseded { collection, key, version, .. } = first.expect("as many wait as commits superseded");
        if let Some((id, state)) = newest.filter(|(_, state)| version.is_in(*state)) {
            self.keep(collection, key, version, (id, state));
        }
    }

    /// The commit is taken back that supersedes the last version that waits.
    pub(super) fn take_back_last(&mut self) {
        let last = self.waiting.pop_back();
        assert!(last.is_some(), "as many wait as commits superseded");
    }

    /// Keeps a version for the newest snapshot that needs it.
    pub(super) fn keep(&mut self, collection: u32, key: Key, version: Version, newest: (u64, State)) {
        let versions = self.versions.entry((collection, key.clone())).or_default();
        assert!(
            versions.last().is_none_or(|last| last.until < version.until),
            "versions are superseded in log order"
        );
        let retained = RetainedVersion { collection, key, until: version.until };
        versions.push(version);
        self.count += 1;
        self.lists.entry(newest.0).or_default().push(retained);
    }

    /// Puts a version on the list of the newest of `snapshots` that needs it; where none does, lets it go.
    pub(super) fn pass_on(&mut self, retained: RetainedVersion, newest: Option<(u64, State)>) {
        match newest {
            Some((id, state)) if self.version(&retained).is_in(state) => {
                self.lists.entry(id).or_default().push(retained);
            }
            _ => self.let_go(retained),
        }
    }

    fn version(&self, retained: &RetainedVersion) -> &Version {
        let versions = self.versions.get(&(retained.collection, retained.key.clone()));
        let version =
            versions.and_then(|versions| versions.iter().find(|version| version.until == retained.until));
        version.expect("what is held is in the table")
    }

    /// Takes a version out of the table.
    fn let_go(&mut self, retained: RetainedVersion) {
        let key = (retained.collection, retained.key);
        let versions = self.versions.get_mut(&key).expect("what is held is in the table");
        let at = versions.iter().position(|version| version.until == retained.until);
        versions.remove(at.expect("what is held is in the table"));
        if versions.is_empty() {
            self.versions.remove(&key);
        }
        self.count -= 1;
    }

    /// Takes up to `limit` versions off the list of a snapshot that has gone.
    pub(super) fn take_from(&mut self, snapshot: u64, limit: usize) -> Vec<RetainedVersion> {
        let Some(list) = self.lists.get_mut(&snapshot) else { return Vec::new() };
        let taken = list.split_off(list.len().saturating_sub(limit));
        if list.is_empty() {
            self.lists.remove(&snapshot);
        }
        taken
    }

    /// How many versions there are, those that wait among them.
    pub(super) fn count(&self) -> usize {
        self.waiting.len() + self.count
    }

    /// The superseded version of `key` that `state` holds.
    pub(super) fn find(&self, collection: u32, key: KeyRef<'_>, state: State) -> Option<Entry> {
        let kept = || {
            let versions = self.versions.get(&(collection, key.to_key()))?;
            versions.iter().find(|version| version.is_in(state)).map(|version| version.entry)
        };
        let waiting = self.waiting.find(collection, key, state);
        waiting.or_else(|| if self.count == 0 { None } else { kept() })
    }

    /// Appends superseded versions in `range` that `state` holds: of those that wait, the next `limit` from number `from` on, and behind
    /// the last of these all that are kept. Returns the number to go on from; none at the end.
    pub(super) fn range(
        &self,
        (from, limit): (u64, usize),
        collection: u32,
        range: &KeyRange,
        state: State,
        out: &mut Vec<(Key, Entry)>,
    ) -> Option<u64> {
        if range.is_empty() || self.count() == 0 {
            return None;
        }
        let next = self.waiting.visit(from, limit, |found| {
            if found.collection == collection && found.version.is_in(state) && range.contains(&found.key) {
                out.push((found.key.clone(), found.version.entry));
            }
        });
        if next.is_some() {
            return next;
        }
        // Every key of the collection lies between its least possible key and the collection after.
        let place = |key: &Key| (collection, key.clone());
        let from = match range.from.as_ref().map(place) {
            Bound::Unbounded => Bound::Included((collection, Key::Int(i64::MIN))),
            from => from,
        };
        let to = match range.to.as_ref().map(place) {
            Bound::Unbounded => match collection.checked_add(1) {
                Some(next) => Bound::Excluded((next, Key::Int(i64::MIN))),
                None => Bound::Unbounded,
            },
            to => to,
        };
        for ((_, key), versions) in self.versions.range((from, to)) {
            if let Some(version) = versions.iter().find(|version| version.is_in(state)) {
                out.push((key.clone(), version.entry));
            }
        }
        None
    }

    /// Shows versions behind `reached`: so many that wait, or all of so many keys. Returns how far that came; none at the end.
    pub(super) fn visit(
        &self,
        reached: Option<&Reached>,
        limit: usize,
        mut see: impl FnMut(&Version),
    ) -> Option<Reached> {
        let last = match reached {
            Some(Reached::Key(collection, key)) => Some((*collection, key.clone())),
            Some(Reached::Waiting(_)) | None => {
                let from = if let Some(Reached::Waiting(number)) = reached { *number } else { 0 };
                let next = self.waiting.visit(from, limit, |found| see(&found.version));
                if let Some(next) = next {
                    return Some(Reached::Waiting(next));
                }
                None
            }
        };
        let from = last.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut last = None;
        for (key, versions) in self.versions.range::<(u32, Key), _>((from, Bound::Unbounded)).take(limit) {
            versions.iter().for_each(&mut see);
            last = Some(key);
        }
        last.map(|(collection, key)| Reached::Key(*collection, key.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Lsn;
    use crate::index::Birth;

    fn state(address: u64) -> State {
        State { lsn: Lsn(address), address: LogAddress(address) }
    }

    fn entry(address: u64) -> Entry {
        Entry::new(LogAddress(address), false)
    }

    fn wait(retained: &mut Retained, key: i64, born: u64, until: u64) {
        let birth = Birth::At(LogAddress(born));
        retained.wait(1, Key::Int(key), Version { entry: entry(born), birth, until: LogAddress(until) });
    }

    /// The versions of a range, and of the key 1, that states hold: at these addresses.
    fn seen(retained: &Retained, states: [u64; 6]) -> [Option<u64>; 6] {
        states.map(|address| {
            let (mut found, mut next) = (Vec::new(), Some(0));
            while let Some(from) = next {
                next = retained.range((from, 1), 1, &KeyRange::all(), state(address), &mut found);
            }
            assert!(found.len() <= 1, "a state holds one version of a key");
            let found = found.first().map(|(_, entry)| *entry);
            assert_eq!(found, retained.find(1, KeyRef::Int(1), state(address)));
            let mut other = Vec::new();
            retained.range((0, 10), 2, &KeyRange::all(), state(address), &mut other);
            assert_eq!((other, retained.find(2, KeyRef::Int(1), state(address))), (vec![], None));
            found.map(|entry| entry.address().0)
        })
    }

    #[test]
    fn a_state_between_birth_and_end_holds_the_version_and_no_other_does() {
        let (states, held) = ([10, 11, 30, 31, 50, 51], [None, Some(10), Some(10), Some(30), Some(30), None]);
        let mut retained = Retained::default();
        wait(&mut retained, 1, 10, 30);
        wait(&mut retained, 1, 30, 50);
        assert_eq!(seen(&retained, states), held, "both wait");
        retained.end_first_wait(Some((1, state(30))));
        assert_eq!(seen(&retained, states), held, "one waits, one is kept");
        retained.end_first_wait(Some((2, state(50))));
        assert_eq!(seen(&retained, states), held, "both are kept");
        wait(&mut retained, 1, 50, 70);
        retained.take_back_last();
        assert_eq!(seen(&retained, states), held, "as if it had never waited");
    }

    #[test]
    fn a_walk_meets_every_version_whatever_goes_into_the_table_meanwhile() {
        let mut retained = Retained::default();
        (0..5).for_each(|key| wait(&mut retained, key, 10, 30));
        let (mut met, mut reached) = (Vec::new(), None);
        loop {
            reached = retained.visit(reached.as_ref(), 2, |version| met.push(version.entry.address().0));
            if reached.is_none() {
                break;
            }
            if met.len() == 2 {
                (0..5).for_each(|_| retained.end_first_wait(Some((1, state(20)))));
            }
        }
        assert_eq!(met.len(), 2 + 5, "those that it had met wait no more and are met again");
    }

    #[test]
    fn a_version_moves_on_to_the_next_older_snapshot_that_needs_it_and_then_goes() {
        let mut retained = Retained::default();
        wait(&mut retained, 1, 10, 60);
        wait(&mut retained, 2, 40, 70);
        wait(&mut retained, 3, 55, 80);
        (0..3).for_each(|_| retained.end_first_wait(Some((2, state(50)))));
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
