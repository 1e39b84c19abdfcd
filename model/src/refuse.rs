//! When a call is refused (spec: S-2, S-3).

use std::collections::BTreeSet;

use crate::encoded::document_len;
use crate::limits::Limits;
use crate::op::Op;
use crate::outcome::Refusal;
use crate::state::State;
use crate::update::{admitted, updated};
use crate::value::document_depth;

//= spec/semantics.md#s-2-2-one-of-the-reasons
//# Where several reasons to refuse a call hold, a store MUST report one of them.
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
    if let Op::Update { collection, key, by, .. } = op
        && let Some(stored) = state.find(collection, key)
    {
        reasons.extend(updated(&stored.document, by, limits).err());
    }
    if let Op::UpdateMany { collection, filter, by, .. } = op {
        let all = admitted(state, collection, filter).into_iter();
        reasons.extend(all.filter_map(|(_, stored)| updated(&stored.document, by, limits).err()));
    }
    reasons
}

//= spec/semantics.md#s-3-1-names
//# A creation of, a rename to, an insert or a put into any other name MUST be refused as `InvalidName`.
//= spec/semantics.md#s-3-3-unknown-collection
//# A read of a name that no collection has, a replace or a delete in one MUST be refused as
//# `UnknownCollection`.
//= spec/semantics.md#s-3-8-rename
//# A rename to a name that a collection has already MUST be refused as `InvalidName`.
fn refuse_for_names(state: &State, op: &Op, limits: &Limits, reasons: &mut BTreeSet<Refusal>) {
    let invalid = |name: &str| name.is_empty() || name.len() > limits.name_len || name.starts_with('$');
    let unknown = |name: &str| state.collection(name).is_none();
    let refusal = match op {
        Op::Insert { collection, .. }
        | Op::InsertMany { collection, .. }
        | Op::Put { collection, .. }
        | Op::PutMany { collection, .. }
        | Op::InsertWithKey { collection, .. }
        | Op::CreateCollection { collection, .. } => invalid(collection).then_some(Refusal::InvalidName),
        Op::RenameCollection { collection, to, .. } => {
            let taken = !unknown(collection) && !unknown(to);
            (invalid(to) || taken).then_some(Refusal::InvalidName)
        }
        Op::Replace { collection, .. }
        | Op::Delete { collection, .. }
        | Op::ReplaceIf { collection, .. }
        | Op::Update { collection, .. }
        | Op::UpdateMany { collection, .. }
        | Op::DeleteMany { collection, .. }
        | Op::DeleteIf { collection, .. }
        | Op::Get { collection, .. }
        | Op::Contains { collection, .. }
        | Op::Len { collection }
        | Op::Keys { collection, .. }
        | Op::Scan { collection, .. }
        | Op::ScanPrefix { collection, .. } => unknown(collection).then_some(Refusal::UnknownCollection),
        Op::DropCollection { .. } | Op::ClearCollection { .. } | Op::Collections => None,
        Op::Flush | Op::Checkpoint | Op::Clean | Op::Compact | Op::Verify => None,
        Op::Begin | Op::Savepoint | Op::RollbackTo { .. } | Op::Commit { .. } | Op::Rollback => None,
        Op::TakeSnapshot | Op::Release { .. } => None,
        Op::Inside(_) | Op::Through { .. } => unreachable!("what is inside has been taken out"),
    };
    reasons.extend(refusal);
}

//= spec/semantics.md#s-2-3-key-limit
//# A write that names a text or bytes key of more than 1,024 bytes of payload MUST be refused as
//# `KeyTooLong`.
//= spec/semantics.md#s-2-4-document-limit
//# A write of a document whose encoded form is longer than 67,108,864 bytes MUST be refused as
//# `DocumentTooLarge`.
//= spec/semantics.md#s-2-5-depth-limit
//# A write of a document in which arrays and objects nest deeper than 128 levels, the document being level 1,
//# MUST be refused as `TooDeep`.
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

//= spec/semantics.md#s-3-5-collection-ids
//# When no id is left, the call MUST be refused as `LimitReached`.
//= spec/semantics.md#s-4-4-ids-run-out
//# An insert that needs an id above 9,223,372,036,854,775,807 MUST be refused as `IdsExhausted`.
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
