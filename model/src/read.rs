//! What a read answers (spec: S-3.9, S-5).

use crate::index::{Entry, Place, TupleRange, walk as walk_entries};
use crate::key::Key;
use crate::limits::Limits;
use crate::op::Op;
use crate::outcome::Outcome;
use crate::state::{Collection, State, Stored};
use crate::value::Document;

//= spec/semantics.md#s-5-7-keys-alone
//# A scan of keys MUST answer the keys that a scan with the same arguments answers, without the documents.
//= spec/semantics.md#s-7-5-maintenance
//# Verifying, writing a checkpoint and cleaning MUST NOT change the state.
/// The answer to an operation that makes no commit and is not refused.
pub(crate) fn answer(state: &State, op: &Op, limits: &Limits) -> Outcome {
    let of = |name: &str| state.collection(name).expect("a read of an unknown collection is refused");
    match op {
        // spec: S-5.1
        Op::Get { collection, key } => Outcome::Document(
            of(collection).documents.get(key).map(|stored| Document::clone(&stored.document)),
        ),
        Op::Contains { collection, key } => Outcome::Bool(of(collection).documents.contains_key(key)),
        // spec: S-5.2
        Op::Len { collection } => Outcome::Count(of(collection).documents.len() as u64),
        Op::Keys { collection, range, reverse, limit } => {
            let entries = walk(of(collection), |key| range.contains(key), *reverse, *limit);
            Outcome::Keys(entries.into_iter().map(|(key, _)| key).collect())
        }
        // spec: S-5.4
        Op::Scan { collection, range, reverse, limit } => {
            Outcome::Entries(walk(of(collection), |key| range.contains(key), *reverse, *limit))
        }
        // spec: S-5.5
        Op::ScanPrefix { collection, prefix, reverse, limit } => {
            Outcome::Entries(walk(of(collection), |key| prefix.begins(key), *reverse, *limit))
        }
        // spec: S-3.9
        Op::Collections => Outcome::Names(state.names().map(str::to_owned).collect()),
        // spec: I-4.6
        Op::Indexes { collection } => {
            let indexes = of(collection).indexes.iter();
            Outcome::Indexes(indexes.map(|(name, index)| (name.clone(), index.definition.clone())).collect())
        }
        Op::IndexScan { collection, index, range, after, reverse, limit } => {
            let entries = IndexRead { range, after: after.as_ref(), reverse: *reverse, limit: *limit }
                .entries(of(collection), index, limits);
            Outcome::IndexEntries(entries.iter().map(Entry::shown).collect())
        }
        Op::IndexDocuments { collection, index, range, after, reverse, limit } => {
            let entries = IndexRead { range, after: after.as_ref(), reverse: *reverse, limit: *limit }
                .entries(of(collection), index, limits);
            //= spec/index.md#i-6-3-documents
            //# Where documents are asked for, the answer MUST have the document of each entry's key in the same state, once for each entry.
            let document = |key: &Key| Document::clone(&of(collection).documents[key].document);
            let entries = entries.iter().map(|entry| (entry.shown(), document(&entry.key)));
            Outcome::IndexDocuments(entries.collect())
        }
        // spec: I-6.4
        Op::IndexCount { collection, index, range } => {
            let read = IndexRead { range, after: None, reverse: false, limit: None };
            Outcome::Count(read.entries(of(collection), index, limits).len() as u64)
        }
        _ => Outcome::Done,
    }
}

/// Which entries of an index are asked for.
struct IndexRead<'a> {
    range: &'a TupleRange,
    after: Option<&'a Place>,
    reverse: bool,
    limit: Option<usize>,
}

impl IndexRead<'_> {
    //= spec/index.md#i-6-2-states
    //# A read through an index MUST answer from one state, and answer what I-2.3 says of it: the newest one, that of a snapshot, or that of a transaction with its own changes.
    fn entries(&self, collection: &Collection, index: &str, limits: &Limits) -> Vec<Entry> {
        let definition = &collection.indexes[index].definition;
        let after = self.after.cloned();
        let after = after.map(|Place { tuple, key }| Entry::new(definition, tuple, key, limits.tuple_len()));
        let all = collection.entries(definition, limits);
        walk_entries(definition, all, self.range, after.as_ref(), self.reverse, self.limit)
    }
}

//= spec/semantics.md#s-5-3-order-of-a-scan
//# A scan MUST answer the keys and documents of one state in the order of the keys, ascending, or descending
//# when asked to.
//= spec/semantics.md#s-5-6-limit
//# A scan with a limit MUST answer the first entries in the direction asked for, at most as many as the
//# limit.
/// The entries whose keys are wanted, in the direction and to the number asked for (spec: S-5.3, S-5.6).
fn walk(
    collection: &Collection,
    wanted: impl Fn(&Key) -> bool,
    reverse: bool,
    limit: Option<usize>,
) -> Vec<(Key, Document)> {
    let wanted = |(key, _): &(&Key, &Stored)| wanted(key);
    let copy = |(key, stored): (&Key, &Stored)| (key.clone(), Document::clone(&stored.document));
    let limit = limit.unwrap_or(usize::MAX);
    let entries = collection.documents.iter().filter(wanted);
    if reverse {
        entries.rev().take(limit).map(copy).collect()
    } else {
        entries.take(limit).map(copy).collect()
    }
}
