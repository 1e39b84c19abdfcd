//! From a document to its entries. spec: I-2, I-7.1.

use super::definition::{IndexDefinition, IndexPath};
use super::limits::EntryLimits;
use super::list::EntryList;
use super::parse::{NOTHING, Tuple};
use super::plan::Part;
use crate::document::node::Node;
use crate::document::{KeyRef, RawDocument, RawValue, order_key};
use crate::error::{Error, Result};
use crate::query::lead;
use crate::seeded::{self, Bug};

const NO_DOCUMENT: &str = "bytes that are no document";

impl IndexDefinition {
    //= spec/index.md#i-2-8-partial-indexes
    //# A partial index MUST have no entry of a document that its filter does not admit.
    //= spec/index.md#i-7-1-entry-bytes
    //# The bytewise order of two entries of an index MUST be their order (I-2.4).
    //= spec/index.md#i-2-4-order-of-entries
    //# Entries MUST be ordered by their tuples, the first component that does not stand at the same place deciding;
    //# then by their keys; then by the *marks* of the numbers in their tuples.
    /// Makes `out` the entries of the document under the key.
    ///
    /// # Errors
    /// `KeyTooLong`; `LimitReached` for more than 1,048,576 entries; `Decode`.
    pub(crate) fn entries(
        &self,
        document: RawDocument<'_>,
        key: KeyRef<'_>,
        limits: EntryLimits,
        out: &mut EntryList,
    ) -> Result<()> {
        out.clear();
        out.scratch.key.clear();
        limits.encode_key(key, &mut out.scratch.key)?;
        if !self.admits(document)? {
            return Ok(());
        }
        let document = document.value().ok_or(Error::Decode { at: 0, what: NO_DOCUMENT })?;
        self.plan.each_tuple(document, &mut |tuple| {
            let is_left_out = self.sparse && !seeded::is_on(Bug::SparseIgnored);
            if is_left_out && tuple.iter().all(Option::is_none) {
                return Ok(());
            }
            out.push(|bytes, scratch| {
                scratch.marks.clear();
                let end = bytes.len().saturating_add(limits.tuple);
                for (path, value) in self.paths.iter().zip(tuple) {
                    if bytes.len() > end {
                        break;
                    }
                    let each_mark = &mut |mark| scratch.marks.push(mark);
                    match value {
                        Some(Part::Made(value)) => {
                            put_component(Some(&value), path.descending, end, bytes, each_mark);
                        }
                        Some(Part::Node(node)) => {
                            put_component(Some(node), path.descending, end, bytes, each_mark);
                        }
                        None => put_component(None::<&RawValue<'_>>, path.descending, end, bytes, each_mark),
                    }
                }
                let is_long = bytes.len() > end;
                bytes.truncate(end);
                bytes.extend_from_slice(&scratch.key);
                if !is_long && !seeded::is_on(Bug::MarksForgotten) {
                    let len = scratch.marks.iter().rposition(|&mark| mark != 0).map_or(0, |last| last + 1);
                    bytes.extend_from_slice(&scratch.marks[..len]);
                }
            })
        })?;
        out.finish()
    }

    /// Whether one document has the entries that the other has under the same key, as far as the bytes tell to which the names and positions
    /// lead that paths begin with.
    pub(crate) fn sees_the_same(&self, one: RawDocument<'_>, other: RawDocument<'_>) -> bool {
        let Some((one, other)) = one.value().zip(other.value()) else { return false };
        let is_same = |path: &IndexPath| {
            let steps = path.path.segments();
            let alone = steps.iter().take_while(|step| step.singular().is_some()).count();
            match [one, other].map(|document| lead(&steps[..alone], document)) {
                [Some(one), Some(other)] => {
                    matches!((one.encoded(), other.encoded()), (Ok(one), Ok(other)) if one == other)
                }
                [one, other] => one.is_none() && other.is_none(),
            }
        };
        self.filter.is_none() && self.paths.iter().all(is_same)
    }

    /// Whether the index is of the document.
    ///
    /// # Errors
    /// None, since a filter of an index has neither parameters nor patterns.
    pub(crate) fn admits(&self, document: RawDocument<'_>) -> Result<bool> {
        match &self.filter {
            Some(filter) if !seeded::is_on(Bug::PartialOfAll) => filter.matches(document),
            _ => Ok(true),
        }
    }

    /// The tuples of a document that have entries, whole and as its values are, in the order of entries and each once. For
    /// tuples that are long (I-2.6).
    ///
    /// # Errors
    /// As [`entries`](Self::entries).
    pub(crate) fn tuples(&self, document: RawDocument<'_>) -> Result<Vec<Tuple>> {
        let mut whole = EntryList::default();
        self.entries(document, KeyRef::Int(0), EntryLimits::NONE, &mut whole)?;
        let tuples = whole.iter().map(|entry| {
            let entry = self.parse(entry, EntryLimits::NONE).map_err(|what| Error::Decode { at: 0, what })?;
            Ok(entry.tuple.expect("without a limit no tuple is long"))
        });
        tuples.collect()
    }

    /// Of the tuples of a document, those that are long, begin with what an entry holds of them, and have a value for each path.
    ///
    /// # Errors
    /// As [`entries`](Self::entries).
    pub(crate) fn long_tuples(
        &self,
        document: RawDocument<'_>,
        beginning: &[u8],
        limits: EntryLimits,
    ) -> Result<Vec<Tuple>> {
        let begins = |tuple: &[_]| {
            let own = self.beginning(tuple, None, limits);
            own.is_ok_and(|own| own.cut && own.bytes == beginning)
        };
        let mut tuples = self.tuples(document)?;
        // Nothing may lie behind the cut.
        tuples.retain(|tuple| tuple.iter().all(Option::is_some) && begins(tuple));
        Ok(tuples)
    }
}

/// Appends the bytes of a component, of which those up to the length `end` of `out` are wanted.
pub(super) fn put_component<'v>(
    value: Option<&impl Node<'v>>,
    descending: bool,
    end: usize,
    out: &mut Vec<u8>,
    each_mark: &mut impl FnMut(u8),
) {
    let start = out.len();
    match value {
        None => out.push(NOTHING),
        Some(value) => order_key::encode_within(value, end, out, each_mark),
    }
    invert_if(descending, &mut out[start..]);
}

/// Inverts all bits of a component whose path is descending.
pub(super) fn invert_if(descending: bool, component: &mut [u8]) {
    if descending {
        component.iter_mut().for_each(|byte| *byte = !*byte);
    }
}
