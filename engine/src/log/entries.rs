//! Changes of index entries that come with a commit. They are not logged (spec: I-8.1): who replays the log makes them anew.

use crate::error::Result;
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
        let mut order: Vec<usize> = (0..self.made.len()).collect();
        // Stable: of one entry's changes the last one stays the last.
        order.sort_by(|one, other| self.place(*one).cmp(&self.place(*other)));
        let is_last = |(at, number): (usize, &usize)| {
            order.get(at + 1).is_none_or(|next| self.place(*next) != self.place(*number))
        };
        self.last =
            order.iter().enumerate().filter(|item| is_last((item.0, item.1))).map(|(_, n)| *n).collect();
        self.found.clear();
    }

    fn place(&self, number: usize) -> (usize, &[u8]) {
        (self.made[number].target, self.get(number).entry)
    }

    /// How many changes are left once they are settled.
    pub(crate) fn settled_len(&self) -> usize {
        self.last.len()
    }

    /// One of those.
    pub(crate) fn settled(&self, at: usize) -> EntryChange<'_> {
        self.get(self.last[at])
    }

    /// Notes what `look` finds of each of those.
    pub(crate) fn find(&mut self, look: impl Fn(EntryChange<'_>) -> Result<Option<Entry>>) -> Result<()> {
        for at in 0..self.last.len() {
            let found = look(self.settled(at))?;
            self.found.push(found);
        }
        Ok(())
    }

    /// The targets, to be replaced by their copies.
    #[cfg(feature = "testing")]
    pub(crate) fn targets_mut(&mut self) -> &mut [Target] {
        &mut self.targets
    }
}
