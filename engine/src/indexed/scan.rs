//! The entries of a range of an index, and their documents (spec: I-6).

use std::cmp::Ordering;
use std::fmt;
use std::ops::Bound;

use crate::doc_ref::DocRef;
use crate::document::{Key, Value};
use crate::error::{Corruption, Error, Result};
use crate::index::KeyRange;
use crate::secondary::{Beginning, EntryLimits, IndexDefinition, Tuple};
use crate::seeded::{self, Bug};

use super::bounds::Range;
use super::view::{EntryWalk, IndexView};

/// One entry of an index: the values that a document gives, and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    values: Option<Tuple>,
    key: Key,
    bytes: Vec<u8>,
}

impl IndexEntry {
    //= spec/index.md#i-2-5-exactness
    //# An entry MUST give back the values of its tuple, equal to those of the document.
    /// The value of each path, equal to that of the document; `None` is nothing. Empty where the values together are too long for an entry:
    /// [`is_long`](Self::is_long) says so, and the document has them.
    pub fn values(&self) -> &[Option<Value>] {
        self.values.as_deref().unwrap_or_default()
    }

    /// Whether the values are too long for an entry.
    pub fn is_long(&self) -> bool {
        self.values.is_none()
    }

    /// The key of the document.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The place of the entry in the order of its index: [`IndexScan::after`] goes on from it. It stays
    /// valid for as long as there is an index of this definition, whatever is written meanwhile.
    pub fn place(&self) -> &[u8] {
        &self.bytes
    }
}

/// The entries of a range of an index, in order. Holds a snapshot while it lives, or sees its transaction as it was when the scan began.
pub struct IndexScan<I: IndexView> {
    walk: I::Entries,
    admits: Admits,
    over: bool,
}

/// What tells the entries of long tuples that lie in a range from those that do not.
#[derive(Debug)]
struct Admits {
    limits: EntryLimits,
    asked: Range,
    /// What the entries begin with that bytes alone do not tell.
    cuts: Vec<Vec<u8>>,
}

impl<I: IndexView> fmt::Debug for IndexScan<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexScan").field("index", &self.walk.definition().name()).finish_non_exhaustive()
    }
}

impl<I: IndexView> IndexScan<I> {
    /// Begins over what was asked.
    pub(super) fn begin(index: I, asked: Range) -> Result<Self> {
        let (definition, limits) = (index.definition(), index.limits());
        let mut cuts = Vec::new();
        let mut beginning = |values: &Tuple, text: Option<&str>| {
            let beginning = definition.beginning(values, text, limits)?;
            if beginning.cut {
                cuts.push(beginning.bytes.clone());
            }
            Ok(beginning)
        };
        let range = match &asked {
            Range::Like(values, text) => KeyRange::bytes_prefix(beginning(values, text.as_deref())?.bytes),
            Range::Between(from, to) => {
                let from = bound(from, |values| beginning(values, None))?;
                between(from, bound(to, |values| beginning(values, None))?)
            }
        };
        let walk = index.walk(range);
        Ok(IndexScan { walk, admits: Admits { limits, asked, cuts }, over: false })
    }

    /// What is left of the scan, from its other end.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.walk.reverse();
        self
    }

    //= spec/index.md#i-6-5-going-on
    //# A read that goes on after a place MUST answer the entries behind it, whether or not the entry of that place
    //# is still there.
    /// What is left of the scan behind a place that [`IndexEntry::place`] gave: in front of it where the scan is [`reversed`](Self::reversed).
    ///
    /// # Errors
    /// `InvalidIndex` for what is no place of this index.
    pub fn after(mut self, place: &[u8]) -> Result<Self> {
        let definition = self.walk.definition();
        definition.parse(place, self.admits.limits).map_err(|what| Error::InvalidIndex {
            index: definition.name().to_owned(),
            what: format!("the place to go on from is none of this index: {what}"),
        })?;
        if !seeded::is_on(Bug::PlaceIgnored) {
            self.walk.go_behind(&Key::Bytes(place.into()));
        }
        Ok(self)
    }

    /// The documents of the entries, once for each entry.
    pub fn documents(self) -> IndexDocuments<I> {
        IndexDocuments(self)
    }

    /// The keys of the entries' documents, once for each entry. What else an entry says is not looked at.
    pub fn keys(self) -> IndexKeys<I> {
        IndexKeys(self)
    }

    pub(super) fn count_rest(mut self) -> Result<u64> {
        if self.admits.cuts.is_empty()
            && let Some(left) = self.walk.count_left(u64::MAX)?
        {
            return Ok(left);
        }
        let mut count = 0;
        while self.advance()? {
            count += 1;
        }
        Ok(count)
    }

    /// Goes on to the next entry of the range. Whether there is one.
    fn advance(&mut self) -> Result<bool> {
        while self.walk.advance()? {
            if self.admits.is_told_by(&self.walk) || self.admits.entry(&self.walk)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The entry that the walk came to.
    fn entry(&self) -> Result<IndexEntry> {
        let bytes = self.walk.entry().to_vec();
        let parsed = self.walk.definition().parse(&bytes, self.admits.limits).map_err(broken)?;
        Ok(IndexEntry { values: parsed.tuple, key: parsed.key, bytes })
    }

    fn key(&self) -> Result<Key> {
        let found = self.walk.definition().key_of(self.walk.entry(), self.admits.limits);
        found.map(|(key, _)| key).map_err(broken)
    }

    fn document(&self) -> Result<DocRef> {
        let found = self.walk.document(self.key()?.as_ref())?;
        found.ok_or_else(|| broken("an entry of a document that is not there"))
    }

    fn step<T>(&mut self, told: impl FnOnce(&Self) -> Result<T>) -> Option<Result<T>> {
        if self.over {
            return None;
        }
        let advanced = self.advance();
        let found = advanced.map_or_else(|error| Some(Err(error)), |has_next| has_next.then(|| told(self)));
        self.over = !matches!(found, Some(Ok(_)));
        found
    }
}

impl<I: IndexView> Iterator for IndexScan<I> {
    type Item = Result<IndexEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(Self::entry)
    }
}

impl<I: IndexView> std::iter::FusedIterator for IndexScan<I> {}

/// The keys of the entries of a range of an index, in the order of entries.
#[derive(Debug)]
pub struct IndexKeys<I: IndexView>(IndexScan<I>);

impl<I: IndexView> Iterator for IndexKeys<I> {
    type Item = Result<Key>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.step(IndexScan::key)
    }
}

impl<I: IndexView> std::iter::FusedIterator for IndexKeys<I> {}

/// The documents of the entries of a range of an index, in the order of entries.
#[derive(Debug)]
pub struct IndexDocuments<I: IndexView>(IndexScan<I>);

impl<I: IndexView> IndexDocuments<I> {
    /// What is left, from its other end.
    #[must_use]
    pub fn reversed(self) -> Self {
        IndexDocuments(self.0.reversed())
    }
}

impl<I: IndexView> Iterator for IndexDocuments<I> {
    type Item = Result<DocRef>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.step(IndexScan::document)
    }
}

impl<I: IndexView> std::iter::FusedIterator for IndexDocuments<I> {}

impl Admits {
    /// Whether the bytes of the entry at hand tell by themselves that it lies in the range.
    fn is_told_by(&self, walk: &impl EntryWalk) -> bool {
        !self.cuts.iter().any(|cut| walk.entry().starts_with(cut))
    }

    //= spec/index.md#i-2-6-long-tuples
    //# Two long tuples are compared by the documents that they come from.
    /// Whether a tuple of the document of the entry at hand that begins as that does lies in the range.
    fn entry(&self, walk: &impl EntryWalk) -> Result<bool> {
        let (definition, entry) = (walk.definition(), walk.entry());
        let parsed = definition.parse(entry, self.limits).map_err(broken)?;
        let Some(document) = walk.document(parsed.key.as_ref())? else { return Ok(false) };
        let own = &entry[..parsed.tuple_len];
        for tuple in definition.tuples(document.raw())? {
            let is_own = definition.beginning(&tuple, None, self.limits)?.bytes == own;
            if is_own && self.has(definition, &tuple) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has(&self, definition: &IndexDefinition, tuple: &Tuple) -> bool {
        let cmp = |end: &Tuple| definition.cmp_tuples(&tuple[..end.len().min(tuple.len())], end);
        let (from, to) = match &self.asked {
            Range::Between(from, to) => (from, to),
            Range::Like(values, None) => return cmp(values).is_eq(),
            Range::Like(values, Some(text)) => {
                let begins = |value: &Value| value.as_str().is_some_and(|value| value.starts_with(&**text));
                return cmp(values).is_eq() && tuple[values.len()].as_ref().is_some_and(begins);
            }
        };
        let is_inside = |end: &Bound<Tuple>, inside: Ordering| match end {
            Bound::Unbounded => true,
            Bound::Included(end) => cmp(end) != inside.reverse(),
            Bound::Excluded(end) => cmp(end) == inside,
        };
        is_inside(from, Ordering::Greater) && is_inside(to, Ordering::Less)
    }
}

/// An end of a range as what entries begin with there.
pub(crate) fn bound(
    end: &Bound<Tuple>,
    mut beginning: impl FnMut(&Tuple) -> Result<Beginning>,
) -> Result<Bound<Beginning>> {
    Ok(match end {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(values) => Bound::Included(beginning(values)?),
        Bound::Excluded(values) => Bound::Excluded(beginning(values)?),
    })
}

//= spec/index.md#i-6-1-ranges
//# An end of a range is a list of values, no more than the index has paths, and is inclusive or exclusive.
/// The keys between two ends: each stands for all entries that begin so. An end that is cut is taken in, and its entries are looked at.
pub(crate) fn between(from: Bound<Beginning>, to: Bound<Beginning>) -> KeyRange {
    let behind = KeyRange::behind_bytes;
    let from = match from {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Excluded(end) if !end.cut => match behind(&end.bytes) {
            Bound::Excluded(next) | Bound::Included(next) => Bound::Included(next),
            // Nothing is behind all bytes.
            Bound::Unbounded => return KeyRange::none(),
        },
        Bound::Included(end) | Bound::Excluded(end) => Bound::Included(Key::Bytes(end.bytes.into())),
    };
    let to = match to {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Excluded(end) if !end.cut => Bound::Excluded(Key::Bytes(end.bytes.into())),
        Bound::Included(end) | Bound::Excluded(end) => behind(&end.bytes),
    };
    KeyRange { from, to }
}

/// An entry that cannot be.
pub(crate) fn broken(what: &'static str) -> Error {
    Corruption::new(0, "I-7.2", what).into()
}
