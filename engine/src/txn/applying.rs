//! A commit on its way into the index.

use crate::document::KeyRef;
use crate::fold::Retain;
use crate::format::{LogAddress, Lsn};
use crate::index::{Birth, Documents, Entry, State};
use crate::seeded::{self, Bug};
use crate::sync::race::{self, Race};
use crate::sync::{MutexGuard, Ordering, lock};

use super::Pending;
use super::visibility::{Inner, Visibility};
use super::waiting::Version;

impl Visibility {
    /// Begins to apply a commit; dropped without [`Applying::publish`] or [`Applying::pend`], nothing was made visible.
    pub(crate) fn apply(&self) -> Applying<'_> {
        Applying { visibility: self, inner: self.lock_for_change(), superseded: None }
    }

    /// Takes the pending commits above `written` out, the newest first, and has `undo` take back what each did.
    pub(crate) fn take_back(
        &self,
        written: Lsn,
        mut undo: impl FnMut(&Pending, &mut Applying<'_>),
    ) -> Vec<Pending> {
        let mut undoing = Applying { visibility: self, inner: lock(&self.inner), superseded: None };
        let mut taken = Vec::new();
        while undoing.inner.pending.back().is_some_and(|pending| pending.batch.lsn > written) {
            let pending = undoing.inner.pending.pop_back().expect("just seen");
            undoing.superseded = Some(pending.superseded);
            undo(&pending, &mut undoing);
            assert_eq!(undoing.superseded, Some(0), "as many are given up as it superseded");
            taken.push(pending);
        }
        // The index is as it was by now, and who sees this finds it so. Before a miss proves something again.
        if !taken.is_empty() {
            self.take_backs.fetch_add(1, Ordering::Release);
        }
        let settled = undoing.inner.is_settled();
        self.unsettled.store(!settled, Ordering::Release);
        taken
    }
}

/// A commit between its first change to the index and the moment that decides when it becomes visible; or one that is taken back.
#[derive(Debug)]
pub(crate) struct Applying<'a> {
    visibility: &'a Visibility,
    inner: MutexGuard<'a, Inner>,
    /// How many versions a commit that stays pending supersedes; none for one that is published at once.
    superseded: Option<usize>,
}

impl<'a> Applying<'a> {
    /// From here on, everything that is superseded stays until the commit is published: until then, it is visible.
    pub(crate) fn hold(&mut self) {
        self.superseded.get_or_insert_default();
    }

    /// Lets others have the lock for a moment, who see nothing of what was applied so far.
    pub(crate) fn give_way(self) -> Self {
        let Applying { visibility, mut inner, superseded } = self;
        assert!(superseded.is_some(), "a commit that is published at once is applied at once");
        inner.is_half_applied = true;
        drop(inner);
        Applying { visibility, inner: visibility.lock_for_change(), superseded }
    }

    /// The seeded bug of a commit that is seen before it is whole.
    pub(crate) fn show_early(&mut self, state: State) {
        self.visibility.show(&mut self.inner, state);
    }

    //= spec/semantics.md#s-1-4-all-or-nothing
    //# A store MUST NOT show a state that holds a part of a commit, to any reader, at any time, or after any
    //# crash.
    //= spec/transactions.md#t-1-3-whole-commits
    //# A reader MUST see all changes of a commit, or none.
    /// Makes the commit visible, which leaves the collections in `lens` with these counts.
    pub(crate) fn publish<'d>(mut self, state: State, lens: impl Iterator<Item = (&'d Documents, u64)>) {
        assert!(
            self.superseded.is_none() && self.inner.pending.is_empty(),
            "commits become visible in their order"
        );
        let inner = &mut *self.inner;
        let newest = inner.newest_snapshot().map(|(_, state)| state);
        for (documents, len) in lens {
            inner.lengths.set(documents, len, state.address, newest);
        }
        self.visibility.show(inner, state);
        let settled = inner.is_settled();
        self.visibility.unsettled.store(!settled, Ordering::Release);
    }

    /// Leaves the commit applied and unseen.
    pub(crate) fn pend(mut self, mut pending: Pending) {
        pending.superseded = self.superseded.expect("what a pending commit supersedes waits");
        let last = self.inner.pending.back().map_or(self.inner.visible, Pending::state);
        assert!(pending.state().address > last.address, "commits wait in their order");
        self.inner.pending.push_back(pending);
        self.inner.is_half_applied = false;
        if race::is_on(Race::UnsettledLate) {
            self.visibility.unsettled.store(true, Ordering::Release);
        }
    }
}

impl Retain for Applying<'_> {
    fn retain(&mut self, collection: u32, key: KeyRef<'_>, entry: Entry, birth: Birth, until: LogAddress) {
        if seeded::is_on(Bug::VersionsNotRetained) {
            return;
        }
        let (inner, version) = (&mut *self.inner, Version { entry, birth, until });
        if let Some(superseded) = &mut self.superseded {
            *superseded += 1;
            inner.retained.wait(collection, key.to_key(), version);
        } else if let Some(newest) = inner.newest_snapshot()
            && version.is_in(newest.1)
        {
            inner.retained.keep(collection, key.to_key(), version, newest);
        }
    }

    fn release(&mut self) {
        if let Some(superseded) =
            self.superseded.as_mut().filter(|_| !seeded::is_on(Bug::VersionsNotRetained))
        {
            *superseded -= 1;
            self.inner.retained.take_back_last();
        }
    }
}
