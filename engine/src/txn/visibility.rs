//! The visible end of the log, and the snapshots that hold an older one.

use std::collections::BTreeMap;

use crate::document::Key;
use crate::format::{LogAddress, Lsn};
use crate::index::{Birth, Entry, KeyRange, State};
use crate::seeded::{self, Bug};
use crate::sync::{Arc, AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, lock};

use super::Retained;

/// What readers may see. The writer applies a commit to the index and publishes it under one lock, which it never holds
/// across I/O; readers that meet nothing unusual take no lock at all.
#[derive(Debug)]
pub(crate) struct Visibility {
    /// Everything below is visible. Changed under the lock; read without.
    address: AtomicU64,
    /// A commit is being applied, or versions are retained: so a miss in the index proves nothing.
    unsettled: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Debug, Clone)]
struct Inner {
    visible: State,
    snapshots: BTreeMap<u64, State>,
    next_snapshot: u64,
    retained: Retained,
}

impl Visibility {
    pub(crate) fn new(visible: State) -> Self {
        Visibility {
            address: AtomicU64::new(visible.address.0),
            unsettled: AtomicBool::new(false),
            inner: Mutex::new(Inner {
                visible,
                snapshots: BTreeMap::new(),
                next_snapshot: 1,
                retained: Retained::default(),
            }),
        }
    }

    #[cfg(feature = "testing")]
    pub(crate) fn fork(&self) -> Self {
        let inner = lock(&self.inner).clone();
        Visibility {
            address: AtomicU64::new(inner.visible.address.0),
            unsettled: AtomicBool::new(self.unsettled.load(Ordering::Relaxed)),
            inner: Mutex::new(inner),
        }
    }

    pub(crate) fn visible(&self) -> State {
        lock(&self.inner).visible
    }

    /// Takes the newest entry of one key from `newest` as of the visible state, which may move on meanwhile.
    ///
    /// An entry below the visible end is visible. Anything else (an entry at or above it, or none while a commit is
    /// being applied or versions are retained) is settled under the lock, where nothing moves.
    pub(crate) fn see(&self, newest: impl Fn() -> Option<Entry>) -> Option<Entry> {
        let visible = self.address.load(Ordering::Acquire);
        let entry = newest();
        match entry {
            Some(entry) if entry.address().0 < visible => Some(entry),
            None if !self.unsettled.load(Ordering::Acquire) => None,
            // A commit is published under the lock right after it is applied: so here the newest is the visible one.
            _ => {
                let _settled = lock(&self.inner);
                newest()
            }
        }
    }

    /// What `look` sees in the visible state, while no commit is half applied.
    pub(crate) fn settled<R>(&self, look: impl FnOnce(State) -> R) -> R {
        let settled = lock(&self.inner);
        look(settled.visible)
    }

    /// The superseded versions of a key range that `state` holds.
    pub(crate) fn retained(
        &self,
        state: State,
        collection: u32,
        range: &KeyRange,
        out: &mut Vec<(Key, Entry)>,
    ) {
        lock(&self.inner).retained.range(collection, range, state, out);
    }

    /// Begins to apply a commit; dropped without [`Applying::publish`], nothing was made visible.
    pub(crate) fn apply(&self) -> Applying<'_> {
        let inner = lock(&self.inner);
        self.unsettled.store(true, Ordering::Release);
        Applying { visibility: self, inner }
    }

    /// Holds the visible state for as long as the returned value lives.
    pub(crate) fn register(self: &Arc<Self>) -> Registered {
        let mut inner = lock(&self.inner);
        let id = inner.next_snapshot;
        inner.next_snapshot += 1;
        let state = inner.visible;
        inner.snapshots.insert(id, state);
        drop(inner);
        Registered { visibility: Arc::clone(self), id, state }
    }

    /// How many snapshots live, and how many versions are kept for them.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let inner = lock(&self.inner);
        (inner.snapshots.len(), inner.retained.count())
    }

    fn release(&self, id: u64) {
        let mut inner = lock(&self.inner);
        inner.snapshots.remove(&id);
        if inner.retained.count() > 0 {
            let states: Vec<_> = inner.snapshots.values().copied().collect();
            inner.retained.purge(&states);
            self.unsettled.store(inner.retained.count() > 0, Ordering::Release);
        }
    }
}

/// A commit between its first change to the index and its publication.
#[derive(Debug)]
pub(crate) struct Applying<'a> {
    visibility: &'a Visibility,
    inner: MutexGuard<'a, Inner>,
}

impl Applying<'_> {
    /// Whether a version that this commit supersedes must be kept.
    pub(crate) fn must_retain(&self) -> bool {
        !self.inner.snapshots.is_empty() && !seeded::is_on(Bug::VersionsNotRetained)
    }

    /// The states that live snapshots hold.
    pub(crate) fn states(&self) -> Vec<State> {
        self.inner.snapshots.values().copied().collect()
    }

    /// Keeps a version for the snapshots that hold it. Called before the index gives it up.
    pub(crate) fn retain(
        &mut self,
        collection: u32,
        key: Key,
        entry: Entry,
        birth: Birth,
        until: LogAddress,
    ) {
        if self.inner.snapshots.values().any(|state| birth.is_within(*state)) {
            self.inner.retained.keep(collection, key, entry, birth, until);
        }
    }

    /// Makes the commit visible.
    pub(crate) fn publish(mut self, lsn: Lsn, address: LogAddress) {
        assert!(address >= self.inner.visible.address, "the visible end only grows");
        self.inner.visible = State { lsn, address };
        self.visibility.address.store(address.0, Ordering::Release);
        self.visibility.unsettled.store(self.inner.retained.count() > 0, Ordering::Release);
    }
}

/// A live snapshot: its state stays readable until this is dropped.
#[derive(Debug)]
pub(crate) struct Registered {
    visibility: Arc<Visibility>,
    id: u64,
    state: State,
}

impl Registered {
    pub(crate) fn state(&self) -> State {
        self.state
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.visibility.release(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn at(address: u64) -> State {
        State { lsn: Lsn(address), address: LogAddress(address) }
    }

    fn entry(address: u64) -> Entry {
        Entry::new(LogAddress(address), false)
    }

    #[test]
    fn a_snapshot_keeps_the_version_that_a_later_commit_replaces() {
        let visibility = Arc::new(Visibility::new(at(20)));
        let old = visibility.register();
        let mut applying = visibility.apply();
        applying.retain(1, Key::Int(7), entry(10), Birth::At(LogAddress(10)), LogAddress(24));
        applying.publish(Lsn(30), LogAddress(30));
        let seen = |state| {
            let mut found = Vec::new();
            visibility.retained(state, 1, &KeyRange::all(), &mut found);
            found
        };
        assert_eq!(seen(old.state()), [(Key::Int(7), entry(10))]);
        assert_eq!(seen(visibility.visible()), [], "the new state has the new version, in the index");
        drop(old);
        assert_eq!(visibility.counts(), (0, 0));
    }

    #[test]
    fn a_reader_waits_for_the_commit_that_it_meets_half_applied() {
        let visibility = Visibility::new(at(20));
        let asked = Cell::new(0);
        let applying = visibility.apply();
        // The entry is newer than the visible end, so the reader must not return it yet.
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| visibility.see(|| Some(entry(24))));
            std::thread::yield_now();
            assert!(!reader.is_finished());
            applying.publish(Lsn(30), LogAddress(30));
            assert_eq!(reader.join().expect("no panic"), Some(entry(24)));
        });
        assert_eq!(
            visibility.see(|| {
                asked.set(asked.get() + 1);
                None
            }),
            None
        );
        assert_eq!(asked.get(), 1, "a settled miss costs one look and no lock");
    }
}
