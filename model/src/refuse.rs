//! When a call is refused (spec: S-2, S-3).

use std::collections::BTreeSet;

use crate::encoded::document_len;
use crate::limits::Limits;
use crate::op::Op;
use crate::outcome::Refusal;
use crate::state::State;
use crate::value::document_depth;

/// Every reason to refuse `op`, which is not inside another one, in `state`. A store may give any one of them (spec: S-2.2).
pub(crate) fn refusals(state: &State, op: &Op, limits: &Limits) -> BTreeSet<Refusal> {
    let mut reasons = BTreeSet::new();
    refuse_for_names(state, op, limits, &mut reasons);
    refuse_for_sizes(op, limits, &mut reasons);
    refuse_for_ids(state, op, &mut reasons);
    if let Op::InsertWithKey { collection, key, .. } = op
        && state.find(collection, key).is_some()
    {
        reasons.insert(Refusal::KeyExists);
    }
    reasons
}

fn refuse_for_names(state: &State, op: &Op, limits: &Limits, reasons: &mut BTreeSet<Refusal>) {
    let invalid = |name: &str| name.is_empty() || name.len() > limits.name_len || name.starts_with('$');
    let unknown = |name: &str| state.collection(name).is_none();
    let refusal = match op {
        // spec: S-3.1
        Op::Insert { collection, .. }
        | Op::InsertMany { collection, .. }
        | Op::Put { collection, .. }
        | Op::PutMany { collection, .. }
        | Op::InsertWithKey { collection, .. }
        | Op::CreateCollection { collection, .. } => invalid(collection).then_some(Refusal::InvalidName),
        // spec: S-3.8
        Op::RenameCollection { collection, to, .. } => {
            let taken = !unknown(collection) && !unknown(to);
            (invalid(to) || taken).then_some(Refusal::InvalidName)
        }
        // spec: S-3.3
        Op::Replace { collection, .. }
        | Op::Delete { collection, .. }
        | Op::ReplaceIf { collection, .. }
        | Op::DeleteIf { collection, .. }
        | Op::Get { collection, .. }
        | Op::Contains { collection, .. }
        | Op::Len { collection }
        | Op::Keys { collection, .. }
        | Op::Scan { collection, .. }
        | Op::ScanPrefix { collection, .. } => unknown(collection).then_some(Refusal::UnknownCollection),
        Op::DropCollection { .. } | Op::ClearCollection { .. } | Op::Collections => None,
        Op::Flush | Op::Checkpoint | Op::Clean | Op::Verify => None,
        Op::Begin | Op::Savepoint | Op::RollbackTo { .. } | Op::Commit { .. } | Op::Rollback => None,
        Op::TakeSnapshot | Op::Release { .. } => None,
        Op::Inside(_) | Op::Through { .. } => unreachable!("what is inside has been taken out"),
    };
    reasons.extend(refusal);
}

fn refuse_for_sizes(op: &Op, limits: &Limits, reasons: &mut BTreeSet<Refusal>) {
    if op.is_write() && op.keys().iter().any(|key| key.len() > limits.key_len) {
        reasons.insert(Refusal::KeyTooLong); // spec: S-2.3
    }
    for document in op.documents() {
        if document_len(document) > limits.document_len {
            reasons.insert(Refusal::DocumentTooLarge); // spec: S-2.4
        }
        if document_depth(document) > limits.depth {
            reasons.insert(Refusal::TooDeep); // spec: S-2.5
        }
    }
}

fn refuse_for_ids(state: &State, op: &Op, reasons: &mut BTreeSet<Refusal>) {
    let Some(name) = op.collection() else { return };
    let there = state.collection(name);
    let ids_asked_for = match op {
        Op::Insert { .. } => 1,
        Op::InsertMany { documents, .. } => documents.len() as i64,
        _ => 0,
    };
    if there.is_some_and(|collection| collection.largest_id.checked_add(ids_asked_for).is_none()) {
        reasons.insert(Refusal::IdsExhausted); // spec: S-4.4
    }
    let begins_a_collection = match op {
        Op::ClearCollection { .. } => there.is_some(),
        Op::CreateCollection { .. } => there.is_none(),
        Op::Insert { .. }
        | Op::InsertMany { .. }
        | Op::Put { .. }
        | Op::PutMany { .. }
        | Op::InsertWithKey { .. } => there.is_none() && !op.documents().is_empty(),
        _ => false,
    };
    if begins_a_collection && state.last_collection_id() == u32::MAX {
        reasons.insert(Refusal::LimitReached); // spec: S-3.5
    }
}
