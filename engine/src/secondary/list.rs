//! The entries of one document, in one piece of memory that serves many documents.

use std::cmp::Ordering;

use super::limits::ENTRIES_MAX;
use crate::error::{Error, Result};

/// Beyond this many bytes, memory is given back when the list is cleared.
const KEPT_BYTES: usize = 256 << 10;
/// So many entries are made before the first look for entries that come twice.
const FIRST_LOOK: usize = 4096;

/// Sorted, distinct entries.
#[derive(Debug, Default)]
pub(crate) struct EntryList {
    bytes: Vec<u8>,
    /// Sorted and distinct once [`finish`](Self::finish) was called.
    spans: Vec<Span>,
    /// How many entries there are at the next look for entries that come twice.
    next_look: usize,
    /// What the bytes that are kept are written to when others go.
    spare: Vec<u8>,
    pub(super) scratch: Scratch,
}

/// Parts of the entries to come.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The order key of the document's key.
    pub(super) key: Vec<u8>,
    /// The marks of a tuple's numbers.
    pub(super) marks: Vec<u8>,
}

/// Where an entry stands in the list's bytes.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
}

impl Span {
    fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start..self.end]
    }
}

/// What one of two lists has and the other has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Difference<'a> {
    /// Only the list that was asked has the entry.
    Here(&'a [u8]),
    /// Only the other list has it.
    There(&'a [u8]),
}

impl EntryList {
    /// Takes all entries out.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.spans.clear();
        self.spans.shrink_to(KEPT_BYTES / size_of::<Span>());
        self.spare = Vec::new();
        self.next_look = FIRST_LOOK;
    }

    /// How many entries there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Whether the entry is one of these.
    pub(crate) fn has(&self, entry: &[u8]) -> bool {
        self.spans.binary_search_by(|span| span.of(&self.bytes).cmp(entry)).is_ok()
    }

    /// The entries, in their order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + DoubleEndedIterator {
        self.spans.iter().map(|span| span.of(&self.bytes))
    }

    /// The entries that one of the lists has alone, in their order.
    pub(crate) fn diff<'a>(&'a self, other: &'a EntryList) -> impl Iterator<Item = Difference<'a>> {
        let (mut here, mut there) = (self.iter().peekable(), other.iter().peekable());
        std::iter::from_fn(move || {
            loop {
                let order = match (here.peek(), there.peek()) {
                    (Some(a), Some(b)) => a.cmp(b),
                    (Some(_), None) => Ordering::Less,
                    (None, _) => Ordering::Greater,
                };
                match order {
                    Ordering::Less => return here.next().map(Difference::Here),
                    Ordering::Greater => return there.next().map(Difference::There),
                    Ordering::Equal => _ = (here.next(), there.next()),
                }
            }
        })
    }

    /// Appends what `write` writes as an entry.
    ///
    /// # Errors
    /// `LimitReached`.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>, &mut Scratch)) -> Result<()> {
        let start = self.bytes.len();
        write(&mut self.bytes, &mut self.scratch);
        self.spans.push(Span { start, end: self.bytes.len() });
        if self.spans.len() < self.next_look {
            return Ok(());
        }
        // An array of many equal items gives few entries: they must not take memory until the last one is made.
        self.finish()?;
        self.compact();
        self.next_look = FIRST_LOOK.max(2 * self.spans.len());
        Ok(())
    }

    //= spec/index.md#i-2-7-number-of-entries
    //# A write of a document that gives an index more than 1,048,576 entries MUST be refused as `LimitReached`.
    /// Sorts the entries, and leaves one of those that are equal.
    ///
    /// # Errors
    /// `LimitReached`.
    pub(super) fn finish(&mut self) -> Result<()> {
        let bytes = &self.bytes;
        self.spans.sort_unstable_by(|a, b| a.of(bytes).cmp(b.of(bytes)));
        self.spans.dedup_by(|a, b| a.of(bytes) == b.of(bytes));
        if self.spans.len() > ENTRIES_MAX {
            return Err(Error::LimitReached { what: "entries that one document gives an index" });
        }
        Ok(())
    }

    /// Gives up the bytes that no entry has.
    fn compact(&mut self) {
        self.spare.clear();
        for span in &mut self.spans {
            let start = self.spare.len();
            self.spare.extend_from_slice(span.of(&self.bytes));
            *span = Span { start, end: self.spare.len() };
        }
        std::mem::swap(&mut self.bytes, &mut self.spare);
    }
}
