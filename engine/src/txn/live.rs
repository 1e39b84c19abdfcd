//! The snapshots that are held, by id: the order in which they were taken, and so that of their states.

use std::collections::VecDeque;

use crate::index::State;
use crate::sync::Instant;

#[derive(Debug, Clone)]
pub(super) struct Live {
    pub(super) id: u64,
    pub(super) state: State,
    /// When, by the clock of whoever took it; none for a snapshot of the store's own, which has no age.
    pub(super) taken: Option<Instant>,
}

/// Mostly there are few, and what is taken last goes first or what is taken first does: so it is a queue, searched by halves, and neither
/// takes memory of its own.
#[derive(Debug, Default, Clone)]
pub(super) struct LiveSnapshots(VecDeque<Live>);

impl LiveSnapshots {
    /// Adds one whose id is above all others.
    pub(super) fn add(&mut self, live: Live) {
        assert!(self.0.back().is_none_or(|last| last.id < live.id), "ids are given in order");
        self.0.push_back(live);
    }

    fn place_of(&self, id: u64) -> Result<usize, usize> {
        self.0.binary_search_by_key(&id, |live| live.id)
    }

    pub(super) fn get(&self, id: u64) -> Option<&Live> {
        self.place_of(id).ok().map(|at| &self.0[at])
    }

    pub(super) fn remove(&mut self, id: u64) -> Option<Live> {
        if self.0.back()?.id == id {
            return self.0.pop_back();
        }
        self.place_of(id).ok().and_then(|at| self.0.remove(at))
    }

    /// The newest of those older than `id`.
    pub(super) fn before(&self, id: u64) -> Option<(u64, State)> {
        let at = self.place_of(id).unwrap_or_else(|at| at);
        self.0.get(at.checked_sub(1)?).map(|live| (live.id, live.state))
    }

    /// The oldest of those newer than `id`.
    pub(super) fn after(&self, id: u64) -> Option<(u64, State)> {
        let at = self.place_of(id).map_or_else(|at| at, |at| at + 1);
        self.0.get(at).map(|live| (live.id, live.state))
    }

    pub(super) fn newest(&self) -> Option<(u64, State)> {
        self.0.back().map(|live| (live.id, live.state))
    }

    pub(super) fn oldest(&self) -> Option<State> {
        self.0.front().map(|live| live.state)
    }

    /// From the oldest on.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Live> {
        self.0.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{LogAddress, Lsn};

    fn state(address: u64) -> State {
        State { lsn: Lsn(address), address: LogAddress(address) }
    }

    fn with(ids: &[u64]) -> LiveSnapshots {
        let mut all = LiveSnapshots::default();
        for id in ids {
            all.add(Live { id: *id, state: state(10 * id), taken: None });
        }
        all
    }

    #[test]
    fn a_snapshot_has_its_neighbours_whether_it_is_there_or_has_gone() {
        let mut all = with(&[1, 3, 7]);
        let neighbours =
            |all: &LiveSnapshots, id| [all.before(id), all.after(id)].map(|found| found.map(|(id, _)| id));
        for id in 0..9 {
            let before = [1, 3, 7].into_iter().rfind(|other| *other < id);
            let after = [1, 3, 7].into_iter().find(|other| *other > id);
            assert_eq!(neighbours(&all, id), [before, after], "of {id}");
            let itself = [1, 3, 7].contains(&id).then_some(state(10 * id));
            assert_eq!(all.get(id).map(|live| live.state), itself, "of {id}");
        }
        assert_eq!(all.remove(3).map(|live| live.state), Some(state(30)));
        assert!(all.remove(3).is_none() && all.get(3).is_none());
        assert_eq!(with(&[1, 7]).remove(7).map(|live| live.state), Some(state(70)), "the last one");
        assert!(with(&[]).remove(7).is_none());
        assert_eq!(neighbours(&all, 3), [Some(1), Some(7)]);
        assert_eq!((all.newest(), all.oldest(), all.len()), (Some((7, state(70))), Some(state(10)), 2));
    }

    #[test]
    fn without_snapshots_there_is_no_neighbour() {
        let none = with(&[]);
        assert_eq!((none.before(5), none.after(5), none.newest(), none.oldest()), (None, None, None, None));
    }
}
