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
        let found = past.clone().find(|past| past.from <= state.address && state.address < past.until);
        // Nothing is kept from before the oldest snapshot; and a snapshot that was ended is told so by its reader.
        found.map_or(len, |past| past.len)
    }

    /// Forgets what none of `states` has.
    pub(super) fn purge(&mut self, states: &[State]) {
        self.past.retain(|_, past| {
            past.retain(|past| {
                states.iter().any(|state| past.from <= state.address && state.address < past.until)
            });
            !past.is_empty()
        });
    }
}
