//! When a call is refused (spec: S-2, S-3).

use std::collections::{BTreeMap, BTreeSet};

use crate::effect::effect;
use crate::encoded::document_len;
use crate::index::{Definition, DefinitionText, breaks_uniqueness, entries_of, key_bytes};
use crate::key::Key;
use crate::limits::Limits;
use crate::op::{OnConflict, Op};
use crate::outcome::Refusal;
use crate::state::{Change, Collection, Index, State};
use crate::update::{admitted, in_the_way, updated};
use crate::value::{Document, document_depth};

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
    if let Op::InsertOnConflict { collection, key, document, on_conflict: OnConflict::Update(by), .. } = op
        && let Some((_, stored)) = in_the_way(state, collection, (key, document), limits).first()
    {
        reasons.extend(updated(&stored.document, by, limits).err());
    }
    if let Op::UpdateMany { collection, filter, by, .. } = op {
        let all = admitted(state, collection, filter).into_iter();
        reasons.extend(all.filter_map(|(_, stored)| updated(&stored.document, by, limits).err()));
    }
    refuse_for_indexes(state, op, limits, &mut reasons);
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
    let invalid = |name: &str| !is_name(name, limits);
    let unknown = |name: &str| state.collection(name).is_none();
    if let Op::IndexScan { collection, index, range, .. }
    | Op::IndexDocuments { collection, index, range, .. }
    | Op::IndexCount { collection, index, range } = op
        && let Some(there) = state.collection(collection)
    {
        let after = match op {
            Op::IndexScan { after, .. } | Op::IndexDocuments { after, .. } => after.as_ref(),
            _ => None,
        };
        //= spec/index.md#i-6-2-states
        //# An index that the state does not have MUST be refused as `UnknownIndex`.
        reasons.extend(match there.indexes.get(index) {
            None => Some(Refusal::UnknownIndex),
            Some(index) => {
                let definition = &index.definition;
                let fits = range.fits(definition) && after.is_none_or(|place| place.fits(definition));
                (!fits).then_some(Refusal::InvalidIndex)
            }
        });
    }
    let refusal = match op {
        Op::Insert { collection, .. }
        | Op::InsertMany { collection, .. }
        | Op::Put { collection, .. }
        | Op::PutMany { collection, .. }
        | Op::InsertWithKey { collection, .. }
        | Op::InsertOnConflict { collection, .. }
        | Op::CreateIndex { collection, .. }
        | Op::ReplaceIndex { collection, .. }
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
        | Op::ScanPrefix { collection, .. }
        | Op::DropIndex { collection, .. }
        | Op::RenameIndex { collection, .. }
        | Op::Indexes { collection }
        | Op::IndexScan { collection, .. }
        | Op::IndexDocuments { collection, .. }
        | Op::IndexCount { collection, .. } => unknown(collection).then_some(Refusal::UnknownCollection),
        Op::DropCollection { .. } | Op::ClearCollection { .. } | Op::Collections => None,
        Op::Flush | Op::Checkpoint | Op::Clean | Op::Compact | Op::Verify => None,
        Op::Begin | Op::Savepoint | Op::RollbackTo { .. } | Op::Commit { .. } | Op::Rollback => None,
        Op::TakeSnapshot | Op::Release { .. } => None,
        Op::Inside(_) | Op::Through { .. } => unreachable!("what is inside has been taken out"),
    };
    reasons.extend(refusal);
}

/// Whether a collection or an index could have this name (spec: S-3.1, I-1.1).
fn is_name(name: &str, limits: &Limits) -> bool {
    !name.is_empty() && name.len() <= limits.name_len && !name.starts_with('$')
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
    let begins = |begins: bool| u32::from(begins);
    let ids_taken = match op {
        // spec: I-4.8
        Op::ClearCollection { .. } => there.map_or(0, |there| 1 + there.indexes.len() as u32),
        Op::CreateIndex { .. } | Op::ReplaceIndex { .. } => begins(there.is_none()) + 1,
        Op::CreateCollection { .. } => begins(there.is_none()),
        Op::Insert { .. }
        | Op::InsertMany { .. }
        | Op::Put { .. }
        | Op::PutMany { .. }
        | Op::InsertWithKey { .. }
        | Op::InsertOnConflict { .. } => begins(there.is_none() && !op.documents().is_empty()),
        _ => 0,
    };
    if state.last_collection_id().checked_add(ids_taken).is_none() {
        reasons.insert(Refusal::LimitReached); // spec: S-3.5
    }
}

fn refuse_for_indexes(state: &State, op: &Op, limits: &Limits, reasons: &mut BTreeSet<Refusal>) {
    match op {
        Op::CreateIndex { collection, index, definition, .. }
        | Op::ReplaceIndex { collection, index, definition, .. } => {
            let there = state.collection(collection);
            let replaces = matches!(op, Op::ReplaceIndex { .. });
            reasons.extend(refuse_definition(there, index, definition, replaces, limits));
        }
        Op::RenameIndex { collection, index, to, .. } => {
            let indexes = state.collection(collection).map(|collection| &collection.indexes);
            let is_taken = |indexes: &BTreeMap<String, Index>| {
                index != to && indexes.contains_key(index) && indexes.contains_key(to)
            };
            reasons.extend((!is_name(to, limits)).then_some(Refusal::InvalidIndex));
            reasons.extend(indexes.is_some_and(is_taken).then_some(Refusal::IndexExists));
        }
        // What is refused for another reason leaves no state that could break anything.
        _ if op.is_write() && reasons.is_empty() => {
            let is_indexed = |name| state.collection(name).is_some_and(|there| !there.indexes.is_empty());
            if let Some(collection) = op.collection().filter(|name| is_indexed(name)) {
                refuse_for_entries(state, collection, op, limits, reasons);
            }
        }
        _ => {}
    }
}

//= spec/index.md#i-1-4-limits-of-definitions
//# A creation beyond them MUST be refused as `LimitReached`.
//= spec/index.md#i-4-1-create
//# One with another definition MUST be refused as `IndexExists`.
//= spec/index.md#i-4-2-create-unique
//# Creating a unique index over documents that break I-3.1 MUST be refused as `UniqueViolations`, which has up to 100 of the places that are taken twice, and change nothing.
/// The reasons not to create an index in a collection, if there is one. One that the documents do not fit is refused as a write
/// of them would be.
fn refuse_definition(
    there: Option<&Collection>,
    name: &str,
    text: &DefinitionText,
    replaces: bool,
    limits: &Limits,
) -> BTreeSet<Refusal> {
    let mut reasons = BTreeSet::new();
    let Some(definition) = Definition::parse(text).filter(|_| is_name(name, limits)) else {
        return BTreeSet::from([Refusal::InvalidIndex]);
    };
    let Some(there) = there else { return reasons };
    match there.indexes.get(name) {
        Some(before) if before.definition == definition => return reasons,
        Some(_) if !replaces => drop(reasons.insert(Refusal::IndexExists)),
        None if there.indexes.len() == limits.indexes => drop(reasons.insert(Refusal::LimitReached)),
        _ => {}
    }
    if breaks_uniqueness(&definition, there.documents()) {
        reasons.insert(Refusal::UniqueViolations);
    }
    reasons
        .extend(there.documents().filter_map(|(key, document)| misfit(&definition, key, document, limits)));
    reasons
}

//= spec/index.md#i-3-2-after-the-call
//# A write call that would leave a state that breaks I-3.1 MUST be refused as `UniqueViolation`, which names the index, the values, and the key of the other document.
/// The reasons not to write documents into a collection that has indexes.
fn refuse_for_entries(state: &State, name: &str, op: &Op, limits: &Limits, reasons: &mut BTreeSet<Refusal>) {
    if let Op::InsertOnConflict { key, document, .. } = op
        && state.find(name, key).is_none()
    {
        // spec: U-6.5. Whatever is in the way.
        let indexes = state.collection(name).into_iter().flat_map(|collection| collection.indexes.values());
        reasons.extend(indexes.filter_map(|index| misfit(&index.definition, key, document, limits)));
    }
    let (changes, _) = effect(state, op, limits);
    // Without documents there is nothing new that could break a rule.
    if !changes.iter().any(|change| matches!(change, Change::Put { .. })) {
        return;
    }
    let mut after = state.clone();
    changes.iter().for_each(|change| after.apply(change));
    let Some(after) = after.collection(name) else { return };
    for Index { definition, .. } in after.indexes.values() {
        for change in &changes {
            if let Change::Put { key, document, .. } = change {
                reasons.extend(misfit(definition, key, document, limits));
            }
        }
        if breaks_uniqueness(definition, after.documents()) {
            reasons.insert(Refusal::UniqueViolation);
        }
    }
}

//= spec/index.md#i-2-6-long-tuples
//# In a collection with an index, a write under a key that does not fit into an entry beside the longest tuple MUST be refused as `KeyTooLong`.
//= spec/index.md#i-2-7-number-of-entries
//# A write of a document that gives an index more than 1,048,576 entries MUST be refused as `LimitReached`.
/// Why a document cannot be in a collection with an index of this definition.
fn misfit(definition: &Definition, key: &Key, document: &Document, limits: &Limits) -> Option<Refusal> {
    if key_bytes(key).len() > limits.indexed_key_len() {
        return Some(Refusal::KeyTooLong);
    }
    let entries = entries_of(definition, key, document, limits.tuple_len());
    (entries.len() > limits.document_entries).then_some(Refusal::LimitReached)
}
