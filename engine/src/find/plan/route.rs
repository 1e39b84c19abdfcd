//! A way to the documents of a query.

use std::ops::Range;

use super::bounded::fan_out_of;
use crate::index::KeyRange;
use crate::indexed::IndexStats;

/// What a caller says about the way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// By the index of this name, whatever it costs.
    Index(String),
    /// By no index.
    Scan,
}

/// A way to the documents of a query, by indexes `I`.
#[derive(Debug)]
pub(in crate::find) enum Route<I> {
    /// By a walk over the keys that the filter can admit.
    Keys,
    /// By what lies in these ranges.
    Ranges(Vec<Part<I>>),
    /// One after the other, in the order of an index.
    Order(InOrder<I>),
}

impl<I: IndexStats> Route<I> {
    /// The same route, but entries that stand in the order of the answers are read one after the other, and not gathered
    /// first. The answers are in the order of keys, in its reverse, or in any.
    pub(in crate::find) fn one_by_one(self, reverse: bool, in_any_order: bool) -> Self {
        match self {
            Route::Ranges(mut parts) if matches!(parts.as_slice(), [part] if part.is_in_order(in_any_order)) =>
            {
                let part = parts.remove(0);
                Route::Order(InOrder { part, reverse, fixed: Vec::new(), components: 0, gathers: false })
            }
            other => other,
        }
    }

    /// Whether every document that it leads to is an answer.
    pub(in crate::find) fn is_exact(&self) -> bool {
        match self {
            Route::Keys => false,
            Route::Ranges(parts) => parts.iter().all(|part| part.is_exact),
            Route::Order(order) => order.part.is_exact,
        }
    }
}

/// Groups as the entries of an index have them, one group after the other.
#[derive(Debug, Clone)]
pub(in crate::find) struct ByEntries<I> {
    pub(in crate::find) part: Part<I>,
    /// Which components tell groups apart. Those before have one place in all entries of the ranges.
    pub(in crate::find) components: Range<usize>,
    /// Which component each aggregate is of.
    pub(in crate::find) aggregates: Vec<usize>,
    /// Whether only the values are asked for, and not which documents give them.
    pub(in crate::find) is_loose: bool,
}

/// Where an index has the least value of its first path, or the greatest.
#[derive(Debug, Clone)]
pub(in crate::find) struct IndexEnd<I> {
    pub(in crate::find) index: I,
    pub(in crate::find) is_greatest: bool,
}

/// Some ranges of one index.
#[derive(Debug, Clone)]
pub(in crate::find) struct Part<I> {
    pub(in crate::find) index: I,
    pub(in crate::find) ranges: Vec<KeyRange>,
    /// Whether every document of these entries is an answer.
    pub(in crate::find) is_exact: bool,
    /// Whether all of them have one tuple, and so stand in the order of the keys of their documents, one for each.
    pub(in crate::find) is_in_key_order: bool,
    /// Whether the entries have all that is asked of their documents.
    pub(in crate::find) covers: bool,
    /// How many entries there are, or more than so many.
    pub(in crate::find) entries: u64,
    pub(in crate::find) is_counted: bool,
}

impl<I: IndexStats> Part<I> {
    /// Whether no document has several of the entries.
    pub(in crate::find) fn is_one_each(&self) -> bool {
        fan_out_of(self.index.definition()).is_none()
    }

    /// Whether there is one entry for each document, in the order of keys; with `in_any_order`, in whatever order, in a few ranges.
    pub(super) fn is_in_order(&self, in_any_order: bool) -> bool {
        let are_few = (1..=WALKS_MAX).contains(&self.ranges.len());
        self.is_in_key_order || in_any_order && are_few && self.is_one_each()
    }
}

/// So many ranges are walked over at once, as of one state. The entries of more are gathered.
const WALKS_MAX: usize = 64;

/// A range of an index, in its order or in the reverse; or several, in any order.
#[derive(Debug, Clone)]
pub(in crate::find) struct InOrder<I> {
    pub(in crate::find) part: Part<I>,
    pub(in crate::find) reverse: bool,
    /// What all entries begin with that can be wanted.
    pub(in crate::find) fixed: Vec<u8>,
    /// Documents whose first so many components are the same are put in the order of their keys.
    pub(in crate::find) components: usize,
    /// Whether the index has them in another order.
    pub(in crate::find) gathers: bool,
}
