//! Changes of index entries that come with a commit. They are not logged (spec: I-8.1): who replays the log makes them anew.

#![expect(clippy::big_endian_bytes, reason = "big-endian bytes compare as the numbers do")]

use std::cmp::Ordering;

use crate::document::bytes::head;
use crate::index::{Entry, Target};
use crate::sync::Arc;

/// The changes of entries of one batch, in the order in which its calls made them.
#[derive(Debug, Clone, Default)]
pub(crate) struct EntryChanges {
    targets: Vec<Target>,
    made: Vec<Made>,
    /// The entries, one behind the other.
    bytes: Vec<u8>,
    /// The last change of each entry, in the order of indexes and of entries in them; set when the commit is placed.
    last: Vec<usize>,
    /// What its index has of each of these, before the commit.
    pub(crate) found: Vec<Option<Entry>>,
}

/// One entry that is there from now on, or not any more.
#[derive(Debug, Clone, Copy)]
struct Made {
    /// Which of the targets.
    target: usize,
    start: usize,
    is_there: bool,
    /// The change of a document that it comes with, and the batch's collection of that.
    change: usize,
    collection: u32,
}

/// A change of an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryChange<'a> {
    pub(crate) target: &'a Target,
    pub(crate) entry: &'a [u8],
    pub(crate) is_there: bool,
    /// The number of the batch's collection that the index belongs to.
    pub(crate) collection: u32,
}

/// What tells where the change of that number stands among all of them.
#[derive(Debug, Clone, Copy)]
struct Place {
    target: usize,
    /// The first bytes of the entry as a number: two of them mostly differ there.
    head: u128,
    number: usize,
}

impl EntryChanges {
    pub(crate) fn len(&self) -> usize {
        self.made.len()
    }

    pub(crate) fn clear(&mut self) {
        if !self.targets.is_empty() {
            self.targets.clear();
            self.made.clear();
            self.bytes.clear();
            self.last.clear();
            self.found.clear();
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.len() + self.made.len() * size_of::<Made>()
    }

    /// Appends what change number `change` makes of an entry.
    pub(crate) fn push(&mut self, change: usize, of: EntryChange<'_>) {
        let is_it = |known: &Target| Arc::ptr_eq(&known.entries, &of.target.entries);
        let target = self.targets.iter().rposition(is_it).unwrap_or_else(|| {
            self.targets.push(of.target.clone());
            self.targets.len() - 1
        });
        let EntryChange { entry, is_there, collection, .. } = of;
        self.made.push(Made { target, start: self.bytes.len(), is_there, change, collection });
        self.bytes.extend_from_slice(entry);
    }

    /// The change of that number.
    pub(crate) fn get(&self, number: usize) -> EntryChange<'_> {
        let Made { target, start, is_there, collection, .. } = self.made[number];
        let end = self.made.get(number + 1).map_or(self.bytes.len(), |next| next.start);
        EntryChange { target: &self.targets[target], entry: &self.bytes[start..end], is_there, collection }
    }

    /// How many of them come with the first so many changes of documents.
    pub(crate) fn count_before(&self, changes: usize) -> usize {
        self.made.partition_point(|made| made.change < changes)
    }

    /// Forgets all but the first so many.
    pub(crate) fn truncate(&mut self, len: usize) {
        if let Some(first) = self.made.get(len) {
            self.bytes.truncate(first.start);
            self.made.truncate(len);
        }
    }

    /// No change comes any more: what is left of them is the last one of each entry.
    pub(crate) fn settle(&mut self) {
        if self.made.is_empty() {
            return;
        }
        let mut order: Vec<Place> = (0..self.made.len()).map(|number| self.place(number)).collect();
        // Stable: of one entry's changes the last one stays the last.
        order.sort_by(|one, other| self.cmp(one, other));
        let is_last = |at: &usize| {
            let next = order.get(at + 1);
            next.is_none_or(|next| self.cmp(&order[*at], next) != Ordering::Equal)
        };
        self.last = (0..order.len()).filter(is_last).map(|at| order[at].number).collect();
        self.found.clear();
    }

    fn place(&self, number: usize) -> Place {
        let EntryChange { entry, .. } = self.get(number);
        Place { target: self.made[number].target, head: u128::from_be_bytes(head(entry)), number }
    }

    /// The order of indexes, and of entries in them.
    fn cmp(&self, one: &Place, other: &Place) -> Ordering {
        let heads = (one.target, one.head).cmp(&(other.target, other.head));
        heads.then_with(|| self.get(one.number).entry.cmp(self.get(other.number).entry))
    }

    /// How many changes are left once they are settled.
    pub(crate) fn settled_len(&self) -> usize {
        self.last.len()
    }

    /// One of those.
    pub(crate) fn settled(&self, at: usize) -> EntryChange<'_> {
        self.get(self.last[at])
    }

    /// The entries of those, in their order: up to so many at a time, of one index.
    pub(crate) fn by_index(
        &self,
        most: usize,
    ) -> impl Iterator<Item = (&Target, impl Iterator<Item = &[u8]> + Clone)> {
        let is_same = |one: &usize, other: &usize| self.made[*one].target == self.made[*other].target;
        self.last.chunk_by(is_same).flat_map(move |of_one| of_one.chunks(most)).map(|some| {
            let entries = some.iter().map(|number| self.get(*number).entry);
            (&self.targets[self.made[some[0]].target], entries)
        })
    }

    /// The targets, to be replaced by their copies.
    #[cfg(feature = "testing")]
    pub(crate) fn targets_mut(&mut self) -> &mut [Target] {
        &mut self.targets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::definition::StoredDefinition;
    use crate::index::{Documents, Layout};
    use crate::secondary::IndexDefinition;

    #[test]
    fn the_last_change_of_each_entry_is_left_in_the_order_of_indexes_and_entries() {
        let targets = [1, 2].map(|id| Target {
            definition: Arc::new(StoredDefinition::new(IndexDefinition::new("a", ["$.a"]).expect("a path"))),
            entries: Arc::new(Documents::new(id, Layout::new(4))),
            building: None,
        });
        let long = [b'x'; 20];
        // Some begin with the same 16 bytes, or differ in zeros behind their end.
        let made: [(usize, &[u8], bool); 9] = [
            (0, &long, true),
            (0, b"a\0", true),
            (1, b"", true),
            (0, &long[..17], true),
            (0, b"a", true),
            (0, &long, false),
            (1, b"a", false),
            (0, b"a\0\0", false),
            (1, b"a", true),
        ];
        let mut changes = EntryChanges::default();
        for (number, (target, entry, is_there)) in made.into_iter().enumerate() {
            let target = &targets[target];
            changes.push(number, EntryChange { target, entry, is_there, collection: 0 });
        }
        changes.settle();
        let settled: Vec<_> = (0..changes.settled_len()).map(|at| changes.settled(at)).collect();
        let left: Vec<_> = settled.iter().map(|of| (of.target.entries.id, of.entry, of.is_there)).collect();
        let expected: [(u32, &[u8], bool); 7] = [
            (1, b"a", true),
            (1, b"a\0", true),
            (1, b"a\0\0", false),
            (1, &long[..17], true),
            (1, &long, false),
            (2, b"", true),
            (2, b"a", true),
        ];
        assert_eq!(left, expected);
        let parts: Vec<_> =
            changes.by_index(3).map(|(target, entries)| (target.entries.id, entries.count())).collect();
        assert_eq!(parts, [(1, 3), (1, 2), (2, 2)]);
    }
}
