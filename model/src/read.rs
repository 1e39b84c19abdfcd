//! What a read answers (spec: S-3.9, S-5).

use crate::key::Key;
use crate::op::Op;
use crate::outcome::Outcome;
use crate::state::{Collection, State, Stored};
use crate::value::Document;

//= spec/semantics.md#s-5-7-keys-alone
//# A scan of keys MUST answer the keys that a scan with the same arguments answers, without the documents.
//= spec/semantics.md#s-7-5-maintenance
//# Verifying, writing a checkpoint and cleaning MUST NOT change the state.
/// The answer to an operation that makes no commit and is not refused.
pub(crate) fn answer(state: &State, op: &Op) -> Outcome {
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
        _ => Outcome::Done,
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
