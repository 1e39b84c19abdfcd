//! What a read of an index answers (spec: I-6).

use std::cmp::Ordering;
use std::ops::Bound;

use super::definition::Definition;
use super::entry::{Entry, Tuple, compare};
use crate::value::Value;

/// The tuples that a read is of. A list of values has no more than the index has paths.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TupleRange {
    /// Those between two ends. An end stands for all tuples that begin with it.
    Between {
        /// The end that comes first in the order of the index.
        from: Bound<Tuple>,
        /// The end that comes last.
        to: Bound<Tuple>,
    },
    /// Those that begin with these values, and have in the next component a text that begins so.
    Prefix {
        /// The values before the text.
        values: Tuple,
        /// What the text begins with.
        text: String,
    },
}

impl TupleRange {
    /// Every tuple.
    pub const ALL: TupleRange = TupleRange::Between { from: Bound::Unbounded, to: Bound::Unbounded };

    /// The tuples that begin with these values.
    pub fn get(values: Tuple) -> Self {
        TupleRange::Between { from: Bound::Included(values.clone()), to: Bound::Included(values) }
    }

    // spec: I-6.1
    /// Whether the index has a path for each value.
    pub(crate) fn fits(&self, definition: &Definition) -> bool {
        let paths = definition.paths.len();
        let fits = |end: &Bound<Tuple>| match end {
            Bound::Included(end) | Bound::Excluded(end) => end.len() <= paths,
            Bound::Unbounded => true,
        };
        match self {
            TupleRange::Between { from, to } => fits(from) && fits(to),
            TupleRange::Prefix { values, .. } => values.len() < paths,
        }
    }

    // spec: I-6.1
    fn contains(&self, definition: &Definition, tuple: &[Option<Value>]) -> bool {
        let order = |end: &Tuple| compare(definition, tuple, end);
        match self {
            TupleRange::Between { from, to } => {
                let above = match from {
                    Bound::Included(from) => order(from).is_ge(),
                    Bound::Excluded(from) => order(from).is_gt(),
                    Bound::Unbounded => true,
                };
                let below = match to {
                    Bound::Included(to) => order(to).is_le(),
                    Bound::Excluded(to) => order(to).is_lt(),
                    Bound::Unbounded => true,
                };
                above && below
            }
            TupleRange::Prefix { values, text } => {
                let next = tuple.get(values.len());
                order(values).is_eq()
                    && matches!(next, Some(Some(Value::Text(found))) if found.starts_with(text))
            }
        }
    }
}

//= spec/index.md#i-6-5-going-on
//# A read that goes on after a place MUST answer the entries behind it, whether or not the entry of that place is still there.
/// Of all entries, in order, those of the range behind the place, in the direction and to the number asked for.
pub(crate) fn walk(
    definition: &Definition,
    entries: Vec<Entry>,
    range: &TupleRange,
    after: Option<&Entry>,
    reverse: bool,
    limit: Option<usize>,
) -> Vec<Entry> {
    let behind = if reverse { Ordering::Less } else { Ordering::Greater };
    let wanted = |entry: &Entry| {
        range.contains(definition, &entry.tuple)
            && after.is_none_or(|after| entry.order_cmp(after, definition) == behind)
    };
    let mut entries: Vec<Entry> = entries.into_iter().filter(wanted).collect();
    if reverse {
        entries.reverse();
    }
    entries.truncate(limit.unwrap_or(usize::MAX));
    entries
}
