//! The visible end of the log, the commits that wait to become visible, and the snapshots that hold an older state.

use std::collections::VecDeque;

use crate::document::{Key, KeyRef};
use crate::format::{LogAddress, Lsn};
use crate::index::{Documents, Entry, KeyRange, State};
use crate::seeded::{self, Bug};
#[cfg(feature = "testing")]
use crate::sync::Arc;
use crate::sync::race::{self, Race, weakened};
use crate::sync::{AtomicBool, AtomicU64, Instant, Mutex, MutexGuard, Ordering, lock};

use super::Pending;
use super::lengths::Lengths;
use super::live::{Live, LiveSnapshots};
use super::retained::{Reached, Retained};

/// What readers may see. The writer applies a commit to the index under one lock, which it never holds across I/O, and
/// publishes it under the same lock, then or later; readers that meet nothing unusual take no lock at all.
#[derive(Debug)]
pub(crate) struct Visibility {
    /// Everything below is visible. Changed under the lock; read without.
    address: AtomicU64,
    /// A commit is being applied, is pending, or versions are retained: so a miss in the index proves nothing.
    pub(super) unsettled: AtomicBool,
    /// How often pending commits were taken back. The index had them, and looks as if it never had: so a look that found nothing
    /// visible proves nothing if this has changed meanwhile.
    pub(super) take_backs: AtomicU64,
    /// How many snapshots were ended while they could be read through.
    ends: AtomicU64,
    pub(super) inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
pub(super) struct Inner {
    pub(super) visible: State,
    snapshots: LiveSnapshots,
    next_snapshot: u64,
    pub(super) retained: Retained,
    pub(super) lengths: Lengths,
    /// Applied to the index and not visible yet, in LSN order.
    pub(super) pending: VecDeque<Pending>,
    /// A commit is applied in part, and has given way since.
    pub(super) is_half_applied: bool,
}

impl Inner {
    pub(super) fn newest_snapshot(&self) -> Option<(u64, State)> {
        self.snapshots.newest()
    }

    pub(super) fn is_settled(&self) -> bool {
        !self.is_half_applied && self.pending.is_empty() && self.retained.count() == 0
    }

    /// The states that somebody may look at, now or once a pending commit is visible.
    fn states(&self) -> Vec<State> {
        let snapshots = self.snapshots.iter().map(|live| live.state);
        let pending = self.pending.iter().map(Pending::state);
        snapshots.chain(std::iter::once(self.visible)).chain(pending).collect()
    }
}

/// Versions that are let go, or changes that are applied, at a time: so nobody waits long for the lock.
pub(crate) const AT_ONCE: usize = 512;

impl Visibility {
    pub(crate) fn new(visible: State) -> Self {
        Visibility {
            address: AtomicU64::new(visible.address.0),
            unsettled: AtomicBool::new(false),
            take_backs: AtomicU64::new(0),
            ends: AtomicU64::new(0),
            inner: Mutex::new(Inner { visible, next_snapshot: 1, ..Inner::default() }),
        }
    }

    /// A copy whose pending commits speak of the documents that `copy_of` gives for each.
    #[cfg(feature = "testing")]
    pub(crate) fn fork(&self, copy_of: &mut dyn FnMut(&Arc<Documents>) -> Arc<Documents>) -> Self {
        let inner = lock(&self.inner);
        Visibility {
            address: AtomicU64::new(inner.visible.address.0),
            unsettled: AtomicBool::new(self.unsettled.load(Ordering::Relaxed)),
            take_backs: AtomicU64::new(self.take_backs()),
            ends: AtomicU64::new(self.ends()),
            inner: Mutex::new(Inner {
                visible: inner.visible,
                snapshots: inner.snapshots.clone(),
                next_snapshot: inner.next_snapshot,
                retained: inner.retained.clone(),
                lengths: inner.lengths.clone(),
                pending: inner.pending.iter().map(|pending| pending.fork(copy_of)).collect(),
                is_half_applied: inner.is_half_applied,
            }),
        }
    }

    pub(crate) fn visible(&self) -> State {
        lock(&self.inner).visible
    }

    /// Takes the newest entry of one key from `newest` as of the visible state, which may move on meanwhile.
    ///
    /// An entry below the visible end is visible. Anything else (an entry at or above it, or none while commits are
    /// pending or versions retained) is settled under the lock, where nothing moves.
    pub(crate) fn see(
        &self,
        collection: u32,
        key: KeyRef<'_>,
        newest: impl Fn() -> Option<Entry>,
    ) -> Option<Entry> {
        let take_backs = self.take_backs();
        let visible = self.address.load(Ordering::Acquire);
        match newest() {
            Some(entry) if entry.address().0 < visible => Some(entry),
            None if !self.is_unsettled() && self.take_backs() == take_backs => None,
            _ => self.settle(collection, key, newest),
        }
    }

    #[cold]
    fn settle(&self, collection: u32, key: KeyRef<'_>, newest: impl Fn() -> Option<Entry>) -> Option<Entry> {
        let inner = lock(&self.inner);
        match newest() {
            Some(entry) if entry.address() < inner.visible.address => Some(entry),
            _ => inner.retained.find(collection, key, inner.visible),
        }
    }

    /// Whether a miss in the index may hide a version that is retained.
    pub(crate) fn is_unsettled(&self) -> bool {
        self.unsettled.load(Ordering::Acquire)
    }

    /// How often pending commits were taken back.
    pub(crate) fn take_backs(&self) -> u64 {
        if race::is_on(Race::TakeBacksUnseen) { 0 } else { self.take_backs.load(Ordering::Acquire) }
    }

    /// The superseded version of `key` that `state`, which a snapshot holds, has.
    pub(crate) fn retained_version(&self, state: State, collection: u32, key: KeyRef<'_>) -> Option<Entry> {
        lock(&self.inner).retained.find(collection, key, state)
    }

    /// How many documents a collection has in the visible state.
    ///
    /// A count and the commit that it holds since become known before that commit becomes visible. Where the commit is visible after the
    /// look, the count was right at a moment in between: when it was looked at, or when the commit became visible.
    pub(crate) fn len(&self, documents: &Documents) -> u64 {
        let (len, since) = documents.len_since();
        if since.0 <= self.address.load(Ordering::Acquire) || race::is_on(Race::LenSeenEarly) {
            return len;
        }
        self.settled_len(documents)
    }

    #[cold]
    fn settled_len(&self, documents: &Documents) -> u64 {
        let _settled = lock(&self.inner);
        documents.len()
    }

    /// What `look` sees in the visible state, while no commit is half applied.
    pub(crate) fn settled<R>(&self, look: impl FnOnce(State) -> R) -> R {
        let settled = lock(&self.inner);
        look(settled.visible)
    }

    /// The superseded versions of a key range that `state` holds, in any order. One may come twice.
    pub(crate) fn retained(
        &self,
        state: State,
        collection: u32,
        range: &KeyRange,
        out: &mut Vec<(Key, Entry)>,
    ) {
        // Asked behind the look in the index: what that did not have any more was retained before it gave it up.
        let mut next = self.is_unsettled().then_some(0);
        while let Some(from) = next {
            next = lock(&self.inner).retained.range((from, AT_ONCE), collection, range, state, out);
        }
    }

    /// How many documents `state`, which a snapshot holds, has in a collection.
    pub(crate) fn len_at(&self, documents: &Documents, state: State) -> u64 {
        lock(&self.inner).lengths.at(documents, state)
    }

    /// The lock, for who is about to change the index: a miss in it proves nothing from now on.
    pub(super) fn lock_for_change(&self) -> MutexGuard<'_, Inner> {
        let inner = lock(&self.inner);
        if !race::is_on(Race::UnsettledLate) {
            self.unsettled.store(true, Ordering::Release);
        }
        inner
    }

    /// A number if the index has what `state` has and nothing else; none otherwise. What a caller reads of the
    /// index between two answers of one number is of that state.
    pub(crate) fn settled_in(&self, state: State) -> Option<u64> {
        let inner = lock(&self.inner);
        (inner.visible == state && inner.is_settled()).then(|| self.take_backs())
    }

    /// How many commits wait to become visible.
    pub(crate) fn pending(&self) -> usize {
        lock(&self.inner).pending.len()
    }

    /// Whether a commit waits to become visible. Only the writer, who alone makes commits pending, may rely on the answer.
    pub(crate) fn has_pending(&self) -> bool {
        self.is_unsettled() && !lock(&self.inner).pending.is_empty()
    }

    //= spec/semantics.md#s-1-3-one-at-a-time
    //# A store MUST behave as if each call took effect at one moment between its start and its return, in the
    //# order of the commits.
    //= spec/transactions.md#t-4-2-durable-before-visible
    //# A commit of a weaker class MUST NOT be visible before the commits in front of it are.
    /// Makes visible, in LSN order, every pending commit that `durable` lets through. Whether one of them changed the catalog. Only the
    /// writer calls it.
    pub(crate) fn publish_pending(&self, durable: Lsn) -> bool {
        let mut changed_catalog = false;
        let mut inner = lock(&self.inner);
        while inner.pending.front().is_some_and(|pending| pending.may_be_seen(durable)) {
            let pending = inner.pending.pop_front().expect("just seen");
            changed_catalog |= pending.batch.changes_catalog();
            let newest = inner.newest_snapshot().map(|(_, state)| state);
            for touched in &pending.batch.collections {
                inner.lengths.set(&touched.documents, touched.len_after(), pending.batch.end, newest);
            }
            self.show(&mut inner, pending.state());
            // What it superseded is needed by older snapshots at most: not by those that are taken from here on.
            let next_snapshot = inner.next_snapshot;
            let mut superseded = pending.superseded;
            if inner.snapshots.len() == 0 && inner.retained.count() == superseded {
                // Nobody needs any of the versions, which are given back once the lock is.
                let gone = std::mem::take(&mut inner.retained);
                drop(inner);
                drop(gone);
                inner = lock(&self.inner);
                continue;
            }
            loop {
                for _ in 0..superseded.min(AT_ONCE) {
                    let older = inner.snapshots.before(next_snapshot);
                    inner.retained.end_first_wait(older);
                }
                superseded = superseded.saturating_sub(AT_ONCE);
                if superseded == 0 {
                    break;
                }
                drop(inner);
                inner = lock(&self.inner);
            }
        }
        let settled = inner.is_settled();
        self.unsettled.store(!settled, Ordering::Release);
        changed_catalog
    }

    /// The states that somebody may look at, now or once a pending commit is visible.
    pub(crate) fn states(&self) -> Vec<State> {
        lock(&self.inner).states()
    }

    //= spec/transactions.md#t-1-2-the-visible-state
    //# The visible state MUST NOT go back while a store is open.
    pub(super) fn show(&self, inner: &mut Inner, state: State) {
        assert!(state.address >= inner.visible.address, "the visible end only grows");
        inner.visible = state;
        self.address.store(state.address.0, weakened(Race::VisibleRelaxed, Ordering::Release));
    }

    //= spec/transactions.md#t-3-2-nobody-waits
    //# A snapshot MUST NOT keep a writer or another reader waiting, however long it lives; nor they it.
    /// Holds the visible state under the id that is returned, until that is released; `taken` says when that began, if its age matters to
    /// anyone. The number is that of [`ends`](Self::ends).
    pub(super) fn register(&self, taken: Option<Instant>) -> (u64, State, u64) {
        // One critical section with publication: nothing is let go between the look and the entry.
        let mut inner = lock(&self.inner);
        let id = inner.next_snapshot;
        inner.next_snapshot += 1;
        let state = inner.visible;
        inner.snapshots.add(Live { id, state, taken });
        (id, state, self.ends())
    }

    /// How many snapshots were ended.
    #[inline]
    pub(super) fn ends(&self) -> u64 {
        self.ends.load(Ordering::Acquire)
    }

    /// Whether a snapshot is neither ended nor released.
    pub(super) fn is_held(&self, id: u64) -> bool {
        lock(&self.inner).snapshots.get(id).is_some()
    }

    /// The snapshot `id` of the store that this is a copy of.
    #[cfg(feature = "testing")]
    pub(super) fn registered(&self, id: u64) -> Option<(State, u64)> {
        Some((lock(&self.inner).snapshots.get(id)?.state, self.ends()))
    }

    /// The snapshots that have an age, the oldest first: id, when it was taken, state.
    pub(crate) fn aged(&self) -> Vec<(u64, Instant, State)> {
        let inner = lock(&self.inner);
        inner.snapshots.iter().filter_map(|live| Some((live.id, live.taken?, live.state))).collect()
    }

    /// Whether a snapshot holds a state from before `address`.
    pub(crate) fn is_held_below(&self, address: LogAddress) -> bool {
        lock(&self.inner).snapshots.oldest().is_some_and(|state| state.address <= address)
    }

    /// The superseded versions behind `reached` that anybody needs, some at a time. Returns how far that came; none at the end.
    pub(crate) fn retained_entries(
        &self,
        reached: Option<&Reached>,
        out: &mut Vec<Entry>,
    ) -> Option<Reached> {
        lock(&self.inner).retained.visit(reached, AT_ONCE, |version| out.push(version.entry))
    }

    /// How many snapshots live, and how many versions are kept for them.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let inner = lock(&self.inner);
        (inner.snapshots.len(), inner.retained.count())
    }

    /// The addresses of the superseded versions that keep their place for `state`, which a snapshot holds.
    pub(crate) fn pinned(&self, state: State) -> Vec<LogAddress> {
        let (mut pinned, mut reached) = (Vec::new(), None);
        loop {
            // What comes and goes between two looks is a matter of when one asks.
            reached = lock(&self.inner).retained.visit(reached.as_ref(), AT_ONCE, |version| {
                pinned.extend(version.is_in(state).then(|| version.entry.address()));
            });
            if reached.is_none() {
                return pinned;
            }
        }
    }

    /// Ends a snapshot, which every read through it is told from now on.
    pub(crate) fn end(&self, id: u64) {
        self.let_go(id, !seeded::is_on(Bug::EndedSnapshotAnswers));
    }

    /// Lets a snapshot go, and what nobody else needs, a few versions at a time. `is_told` says whether it may still be read through.
    pub(super) fn let_go(&self, id: u64, is_told: bool) {
        let mut inner = lock(&self.inner);
        let Some(live) = inner.snapshots.remove(id) else { return };
        if is_told {
            // Before anything is let go: whoever misses what was let go meanwhile sees this.
            self.ends.fetch_add(1, Ordering::Release);
        }
        let Inner { snapshots, lengths, .. } = &mut *inner;
        let neighbours = || [snapshots.before(id), snapshots.after(id)].map(|found| Some(found?.1));
        lengths.release(live.state, neighbours);
        loop {
            let taken = inner.retained.take_from(id, AT_ONCE);
            let is_last = taken.len() < AT_ONCE;
            for held in taken {
                let older = inner.snapshots.before(id);
                inner.retained.pass_on(held, older);
            }
            let settled = inner.is_settled();
            self.unsettled.store(!settled, weakened(Race::UnsettledRelaxed, Ordering::Release));
            if is_last {
                return;
            }
            drop(inner);
            inner = lock(&self.inner);
        }
    }
}
