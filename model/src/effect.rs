//! What a call that is not refused changes and answers (spec: S-3, S-4, T-2.10).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::index::Definition;
use crate::key::Key;
use crate::limits::Limits;
use crate::op::{OnConflict, Op};
use crate::outcome::Outcome;
use crate::read::answer;
use crate::state::{Change, State};
use crate::update::{By, admitted, in_the_way, updated};
use crate::value::Document;

//= spec/semantics.md#s-4-8-insert-with-a-key
//# An insert with a key MUST be refused as `KeyExists` when the key has a document, and else put the
//# document.
/// The changes that `op` makes to `state`, none if it makes no commit, and its answer.
pub(crate) fn effect(state: &State, op: &Op, limits: &Limits) -> (Vec<Change>, Outcome) {
    let has = |collection: &str, key| state.find(collection, key).is_some();
    match op {
        // spec: S-4.1
        Op::Insert { collection, document, .. } => {
            let key = Key::Int(largest_id(state, collection) + 1);
            (puts(state, collection, [(key.clone(), document.clone())]), Outcome::Key(key))
        }
        // spec: S-4.5
        Op::InsertMany { collection, documents, .. } => {
            let largest_id = largest_id(state, collection);
            let keys: Vec<Key> = (1..=documents.len() as i64).map(|i| Key::Int(largest_id + i)).collect();
            (
                puts(state, collection, keys.iter().cloned().zip(documents.iter().cloned())),
                Outcome::Keys(keys),
            )
        }
        // spec: S-4.6
        Op::Put { collection, key, document, .. } | Op::InsertWithKey { collection, key, document, .. } => {
            (puts(state, collection, [(key.clone(), document.clone())]), Outcome::Done)
        }
        // spec: S-4.7
        Op::PutMany { collection, entries, .. } => {
            let last: BTreeMap<Key, Document> = entries.iter().cloned().collect();
            (puts(state, collection, last), Outcome::Count(entries.len() as u64))
        }
        // spec: S-4.9
        Op::Replace { collection, key, document, .. } => if_so(has(collection, key), || Change::Put {
            collection: collection.clone(),
            key: key.clone(),
            document: Arc::new(document.clone()),
        }),
        // spec: S-4.10
        Op::Delete { collection, key, .. } => if_so(has(collection, key), || Change::Delete {
            collection: collection.clone(),
            key: key.clone(),
        }),
        // spec: U-6
        Op::Update { collection, key, by, .. } => update(state, collection, key, by, limits),
        Op::InsertOnConflict { collection, key, document, on_conflict, .. } => {
            insert_on_conflict(state, collection, (key, document), on_conflict, limits)
        }
        // spec: U-7
        Op::UpdateMany { collection, filter, by, .. } => {
            let after = |document: &Document| {
                Some(updated(document, by, limits).expect("what cannot be changed is refused"))
            };
            many(state, collection, filter, &after)
        }
        Op::DeleteMany { collection, filter, .. } => many(state, collection, filter, &|_| None),
        // spec: T-2.10
        Op::ReplaceIf { collection, key, document, .. } => {
            (puts(state, collection, [(key.clone(), document.clone())]), Outcome::Done)
        }
        Op::DeleteIf { collection, key, .. } => {
            (vec![Change::Delete { collection: collection.clone(), key: key.clone() }], Outcome::Done)
        }
        Op::CreateCollection { .. }
        | Op::DropCollection { .. }
        | Op::ClearCollection { .. }
        | Op::RenameCollection { .. } => catalog_effect(state, op),
        Op::CreateIndex { .. } | Op::ReplaceIndex { .. } | Op::DropIndex { .. } | Op::RenameIndex { .. } => {
            index_effect(state, op)
        }
        _ => (Vec::new(), answer(state, op, limits)),
    }
}

//= spec/update.md#u-6-1-one-commit
//# The document that a call reads and the one that it writes MUST follow each other in the order of commits,
//# with no other change of that document between them.
//= spec/update.md#u-6-2-equal
//# A document that the changes leave equal MUST NOT be written.
fn update(state: &State, name: &str, key: &Key, by: &By, limits: &Limits) -> (Vec<Change>, Outcome) {
    let Some(stored) = state.find(name, key) else {
        return (Vec::new(), Outcome::Updated { matched: 0, changed: 0 });
    };
    let after = updated(&stored.document, by, limits).expect("what cannot be changed is refused");
    let changed = after != *stored.document;
    let changes = if changed { puts(state, name, [(key.clone(), after)]) } else { Vec::new() };
    (changes, Outcome::Updated { matched: 1, changed: changed.into() })
}

//= spec/update.md#u-6-5-insert-on-conflict
//# An insert on conflict MUST put the given document when none is in the way. Otherwise it MUST leave all
//# documents as they are, put the given one in the place of all that are in the way, or update the first of
//# them, as was asked.
fn insert_on_conflict(
    state: &State,
    name: &str,
    (key, document): (&Key, &Document),
    on_conflict: &OnConflict,
    limits: &Limits,
) -> (Vec<Change>, Outcome) {
    let in_the_way = in_the_way(state, name, (key, document), limits);
    let put = || puts(state, name, [(key.clone(), document.clone())]);
    let Some((first, _)) = in_the_way.first() else {
        return (put(), Outcome::Updated { matched: 0, changed: 1 });
    };
    let changes = match on_conflict {
        OnConflict::Skip => Vec::new(),
        OnConflict::Update(by) => return update(state, name, first, by, limits),
        // spec: U-6.2
        OnConflict::Replace if state.find(name, key).is_some_and(|stored| *stored.document == *document) => {
            Vec::new()
        }
        OnConflict::Replace => {
            let others = in_the_way.iter().map(|(other, _)| other).filter(|other| *other != key);
            let delete = |other: &Key| Change::Delete { collection: name.to_owned(), key: other.clone() };
            others.map(delete).chain(put()).collect()
        }
    };
    let changed = u64::from(!changes.is_empty());
    (changes, Outcome::Updated { matched: 1, changed })
}

//= spec/update.md#u-7-1-many-documents
//# The filter MUST be evaluated on the state before the call, and each document that it admits be changed once.
//= spec/update.md#u-7-1-many-documents
//# All changes of a call MUST become one commit, or part of one transaction.
/// What becomes of each document that the filter admits, if anything.
fn many(
    state: &State,
    name: &str,
    filter: &str,
    after: &dyn Fn(&Document) -> Option<Document>,
) -> (Vec<Change>, Outcome) {
    let all = admitted(state, name, filter);
    let matched = all.len() as u64;
    let mut changes = Vec::new();
    for (key, stored) in all {
        match after(&stored.document) {
            Some(after) if after == *stored.document => {}
            Some(after) => changes.extend(puts(state, name, [(key, after)])),
            None => changes.push(Change::Delete { collection: name.to_owned(), key }),
        }
    }
    let changed = changes.len() as u64;
    (changes, Outcome::Updated { matched, changed })
}

//= spec/semantics.md#s-3-6-drop
//# Dropping a collection MUST remove its name, its documents and its largest id in one commit, and answer
//# whether there was one.
//= spec/semantics.md#s-3-7-clear
//# Clearing a collection MUST remove all its documents in one commit, keep its name and its largest id, and
//# answer whether there was such a collection.
//= spec/semantics.md#s-3-8-rename
//# Renaming a collection MUST move its documents and its largest id to the new name in one commit, and answer
//# whether there was such a collection.
fn catalog_effect(state: &State, op: &Op) -> (Vec<Change>, Outcome) {
    let is_there = |name: &String| state.collection(name).is_some();
    match op {
        // spec: S-3.4
        Op::CreateCollection { collection, .. } => {
            if_so(!is_there(collection), || Change::Create { collection: collection.clone() })
        }
        Op::DropCollection { collection, .. } => {
            if_so(is_there(collection), || Change::Drop { collection: collection.clone() })
        }
        Op::ClearCollection { collection, .. } => {
            if_so(is_there(collection), || Change::Clear { collection: collection.clone() })
        }
        Op::RenameCollection { collection, to, .. } => {
            if_so(is_there(collection), || Change::Rename { collection: collection.clone(), to: to.clone() })
        }
        _ => unreachable!("no other operation changes the catalog"),
    }
}

//= spec/index.md#i-4-1-create
//# Creating an index MUST make the definition part of the state, in a commit of its own, with the entries of the documents of that state.
//= spec/index.md#i-4-4-drop-and-rename
//# Dropping an index MUST remove it in one commit, and answer whether there was one.
//= spec/index.md#i-4-4-drop-and-rename
//# Renaming one MUST change its name alone, and answer whether there was one; a name that another index of the collection has is
//# refused as `IndexExists`.
fn index_effect(state: &State, op: &Op) -> (Vec<Change>, Outcome) {
    let (Some(collection), Some(index)) = (op.collection(), op.index()) else {
        unreachable!("{op} names an index")
    };
    let before = state.collection(collection).and_then(|collection| collection.indexes.get(index));
    let (collection, index) = (collection.to_owned(), index.to_owned());
    match op {
        Op::CreateIndex { definition, .. } | Op::ReplaceIndex { definition, .. } => {
            let definition = Definition::parse(definition).expect("what is no definition is refused");
            if before.is_some_and(|before| before.definition == definition) {
                return (Vec::new(), Outcome::Bool(false));
            }
            let mut changes = Vec::new();
            if state.collection(&collection).is_none() {
                changes.push(Change::Create { collection: collection.clone() });
            }
            if before.is_some() {
                changes.push(Change::DropIndex { collection: collection.clone(), index: index.clone() });
            }
            changes.push(Change::CreateIndex { collection, index, definition });
            (changes, Outcome::Bool(true))
        }
        Op::DropIndex { .. } => if_so(before.is_some(), || Change::DropIndex { collection, index }),
        // spec: S-1.5. To be renamed to its own name changes nothing.
        Op::RenameIndex { to, .. } if *to == index => (Vec::new(), Outcome::Bool(before.is_some())),
        Op::RenameIndex { to, .. } => {
            if_so(before.is_some(), || Change::RenameIndex { collection, index, to: to.clone() })
        }
        _ => unreachable!("no other operation changes an index"),
    }
}

//= spec/semantics.md#s-4-9-replace
//# A replace MUST put the document when the key has one, and else change nothing; it answers whether the key
//# had one.
/// One change if `condition` holds, and the condition as the answer.
fn if_so(condition: bool, change: impl FnOnce() -> Change) -> (Vec<Change>, Outcome) {
    (condition.then(change).into_iter().collect(), Outcome::Bool(condition))
}

//= spec/semantics.md#s-3-2-the-first-write-creates
//# A write into a name that no collection has MUST create the collection in the same commit, unless the write
//# can only change what is there (replace, delete, S-3.3).
/// Puts, after the creation of the collection where there is none (spec: S-3.2).
fn puts(state: &State, name: &str, entries: impl IntoIterator<Item = (Key, Document)>) -> Vec<Change> {
    let puts = entries.into_iter().map(|(key, document)| Change::Put {
        collection: name.to_owned(),
        key,
        document: Arc::new(document),
    });
    let mut changes: Vec<Change> = puts.collect();
    if state.collection(name).is_none() && !changes.is_empty() {
        changes.insert(0, Change::Create { collection: name.to_owned() });
    }
    changes
}

fn largest_id(state: &State, name: &str) -> i64 {
    state.collection(name).map_or(0, |collection| collection.largest_id)
}
