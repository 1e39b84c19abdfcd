//! How many documents a collection had in states that somebody still looks at.

use std::collections::BTreeMap;

use crate::format::LogAddress;
use crate::index::{Documents, State};

#[derive(Debug, Clone, Copy)]
struct Length {
    from: LogAddress,
    until: LogAddress,
    len: u64,
}

impl Length {
    fn is_in(&self, state: State) -> bool {
        self.from <= state.address && state.address < self.until
    }
}

/// Counts of the past, by collection; at most one for each snapshot and collection.
#[derive(Debug, Clone, Default)]
pub(super) struct Lengths {
    past: BTreeMap<u32, Vec<Length>>,
}

impl Lengths {
    /// Makes `len` the collection's count from the commit that ends at `from` on; keeps the one before where `newest`, the state of
    /// the newest snapshot, still has it.
    pub(super) fn set(&mut self, documents: &Documents, len: u64, from: LogAddress, newest: Option<State>) {
        let (before, since) = documents.len_since();
        if before == len {
            return;
        }
        if newest.is_some_and(|state| state.address >= since) {
            let past = Length { from: since, until: from, len: before };
            self.past.entry(documents.id).or_default().push(past);
        }
        documents.set_len(len, from);
    }

    /// The collection's count in `state`.
    pub(super) fn at(&self, documents: &Documents, state: State) -> u64 {
        let (len, since) = documents.len_since();
        if since <= state.address {
            return len;
        }
        let past = self.past.get(&documents.id).into_iter().flatten();
        let found = past.clone().find(|past| past.is_in(state));
        // Nothing is kept from before the oldest snapshot; and a snapshot that was ended is told so by its reader.
        found.map_or(len, |past| past.len)
    }

    /// Forgets what the state of a snapshot that has gone was the last to have. A count holds for a stretch of states, so of the other
    /// snapshots only the neighbours need be asked, the next older and the next newer one.
    pub(super) fn release(&mut self, gone: State, neighbours: impl FnOnce() -> [Option<State>; 2]) {
        if self.past.is_empty() {
            return;
        }
        let neighbours = neighbours();
        self.past.retain(|_, past| {
            past.retain(|past| {
                !past.is_in(gone) || neighbours.iter().flatten().any(|state| past.is_in(*state))
            });
            !past.is_empty()
        });
    }

    /// How many counts of the past are kept.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.past.values().map(Vec::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Lsn;
    use crate::index::Layout;

    fn state(address: u64) -> State {
        State { lsn: Lsn(address), address: LogAddress(address) }
    }

    #[test]
    fn a_count_stays_until_the_last_snapshot_that_has_it_goes() {
        let documents = Documents::new(1, Layout::new(4));
        let mut lengths = Lengths::default();
        lengths.set(&documents, 1, LogAddress(10), None);
        // Two snapshots of one count, then one of the next.
        lengths.set(&documents, 2, LogAddress(30), Some(state(20)));
        lengths.set(&documents, 3, LogAddress(50), Some(state(40)));
        assert_eq!([10, 20, 30, 40, 50].map(|at| lengths.at(&documents, state(at))), [1, 1, 2, 2, 3]);
        lengths.release(state(20), || [Some(state(10)), Some(state(40))]);
        assert_eq!((lengths.kept(), lengths.at(&documents, state(10))), (2, 1));
        lengths.release(state(10), || [None, Some(state(40))]);
        assert_eq!((lengths.kept(), lengths.at(&documents, state(40))), (1, 2));
        lengths.release(state(40), || [None, None]);
        assert_eq!(lengths.kept(), 0);
    }
}
