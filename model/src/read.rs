//! What a read answers (spec: S-3.9, S-5).

use crate::key::Key;
use crate::op::Op;
use crate::outcome::Outcome;
use crate::state::{Collection, State, Stored};
use crate::value::Document;

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
        // spec: S-5.7
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
        // spec: S-7.5
        _ => Outcome::Done,
    }
}

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
