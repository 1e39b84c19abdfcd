//! Entries of many documents in order: a tree takes them so several times as fast as in the order of documents.

#![expect(clippy::big_endian_bytes, reason = "big-endian bytes compare as the numbers do")]

use std::ops::Range;

use crate::document::bytes::{head, shared_len};

/// Entries that are gathered in any order, sorted, and handed out in that order.
#[derive(Debug, Default)]
pub(crate) struct Run {
    bytes: Vec<u8>,
    places: Vec<EntryPlace>,
    /// How many were handed out.
    taken: usize,
    is_sorted: bool,
}

/// Where an entry stands, and its head: eight of its bytes as a number that is ordered as they are.
#[derive(Debug, Clone, Copy)]
struct EntryPlace {
    head: u64,
    start: usize,
    len: u32,
}

impl EntryPlace {
    fn range(self) -> Range<usize> {
        self.start..self.start + self.len as usize
    }
}

impl Run {
    /// Bytes of memory that it takes, but for what sorting takes meanwhile.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.len() + self.places.len() * size_of::<EntryPlace>()
    }

    /// How many entries are yet to be handed out.
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.taken
    }

    /// Whether entries are handed out, and none are gathered.
    pub(crate) fn is_sorted(&self) -> bool {
        self.is_sorted
    }

    /// Gathers an entry.
    pub(crate) fn push(&mut self, entry: &[u8]) {
        self.places.push(EntryPlace { head: 0, start: self.bytes.len(), len: entry.len() as u32 });
        self.bytes.extend_from_slice(entry);
    }

    /// Gathers those of `other` too, which has none then, and the memory that it had.
    pub(crate) fn append(&mut self, other: &mut Run) {
        let behind = self.bytes.len();
        self.bytes.append(&mut other.bytes);
        self.places
            .extend(other.places.drain(..).map(|place| EntryPlace { start: behind + place.start, ..place }));
    }

    /// Puts the entries in order, and their bytes: who takes them finds each behind the one before.
    pub(crate) fn sort(&mut self) {
        let bytes = &self.bytes;
        // What all begin with tells none from another.
        let first = self.places.first().map_or(&[][..], |first| &bytes[first.range()]);
        let alike = |shared: usize, place: &EntryPlace| shared_len(&first[..shared], &bytes[place.range()]);
        let shared = self.places.iter().fold(first.len(), alike);
        for place in &mut self.places {
            place.head = u64::from_be_bytes(head(&bytes[place.range()][shared..]));
        }
        self.places.sort_unstable_by(|one, other| {
            let by_bytes = || bytes[one.range()].cmp(&bytes[other.range()]);
            one.head.cmp(&other.head).then_with(by_bytes)
        });
        let mut sorted = Vec::with_capacity(bytes.len());
        for place in &mut self.places {
            let start = sorted.len();
            sorted.extend_from_slice(&bytes[place.range()]);
            place.start = start;
        }
        self.bytes = sorted;
        self.is_sorted = true;
    }

    /// Hands out up to so many of the entries that come next.
    pub(crate) fn take(&mut self, count: usize) -> impl Iterator<Item = &[u8]> {
        let from = self.taken;
        self.taken = from + count.min(self.len());
        self.places[from..self.taken].iter().map(|place| &self.bytes[place.range()])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn entries_are_handed_out_in_their_order(
            beginning in prop::collection::vec(0_u8..4, 0..10),
            ends in prop::collection::vec(prop::collection::vec(0_u8..3, 0..12), 0..60),
            at_once in 1_usize..10,
        ) {
            let mut entries: Vec<_> = ends.iter().map(|end| [&beginning[..], end].concat()).collect();
            let (mut gathered, mut run) = (Run::default(), Run::default());
            for _ in 0..2 {
                for entries in entries.chunks(at_once) {
                    entries.iter().for_each(|entry| gathered.push(entry));
                    run.append(&mut gathered);
                }
                run.sort();
                entries.sort();
                let mut found = Vec::new();
                while run.len() > 0 {
                    found.extend(run.take(at_once).map(<[u8]>::to_vec));
                }
                prop_assert_eq!(&found, &entries);
                run = Run::default();
            }
        }
    }
}
