//! The state of a store, and the changes that lead from one to the next (spec: S-1).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::index::{Definition, Entry, Shown, entries};
use crate::key::Key;
use crate::limits::Limits;
use crate::value::Document;

/// Everything that a store shows, as plain data: what a [`Subject`](crate::Subject) hands over to be compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Dump {
    /// The documents, by collection and key.
    pub documents: BTreeMap<String, BTreeMap<Key, Document>>,
    /// The indexes, by collection and name.
    pub indexes: BTreeMap<(String, String), DumpedIndex>,
}

/// All that an index shows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DumpedIndex {
    /// What it is of.
    pub definition: Definition,
    /// Its entries, in order.
    pub entries: Vec<Shown>,
}

/// One change to the state. A commit is a sequence of them.
#[expect(missing_docs, reason = "the fields are the words of the variants' own sentences")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Change {
    /// The collection begins.
    Create { collection: String },
    /// The collection ends, and its documents with it.
    Drop { collection: String },
    /// The collection's documents end.
    Clear { collection: String },
    /// The collection goes by another name.
    Rename { collection: String, to: String },
    /// The key leads to the document.
    Put { collection: String, key: Key, document: Arc<Document> },
    /// The key leads to nothing.
    Delete { collection: String, key: Key },
    /// The index begins.
    CreateIndex { collection: String, index: String, definition: Definition },
    /// The index ends.
    DropIndex { collection: String, index: String },
    /// The index goes by another name.
    RenameIndex { collection: String, index: String, to: String },
}

/// A document in one state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stored {
    /// The document.
    pub document: Arc<Document>,
    /// The commit that put it (spec: T-2.10). A number that tells one commit from another, and no more than that.
    pub version: u64,
}

/// A collection in one state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Collection {
    /// The number that no other collection of this store ever has.
    pub id: u32,
    /// The largest int key ever put here, or 0 (spec: S-4.2).
    pub largest_id: i64,
    /// The documents.
    pub documents: BTreeMap<Key, Stored>,
    /// The indexes. Their entries are computed from the documents.
    pub indexes: BTreeMap<String, Index>,
}

/// An index in one state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Index {
    /// The number that no other index or collection of this store ever has.
    pub id: u32,
    /// What it is of.
    pub definition: Definition,
}

/// The state after some commit. A clone shares every collection until one of the two changes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct State {
    collections: BTreeMap<String, Arc<Collection>>,
    last_collection_id: u32,
    /// The version of the documents that the last commit put, or 0.
    last_version: u64,
}

impl State {
    /// The collection of this name.
    pub fn collection(&self, name: &str) -> Option<&Collection> {
        self.collections.get(name).map(Arc::as_ref)
    }

    /// What the key leads to.
    pub fn find(&self, name: &str, key: &Key) -> Option<&Stored> {
        self.collection(name)?.documents.get(key)
    }

    //= spec/semantics.md#s-3-9-list-of-names
    //# The list of collections MUST hold each name once, in bytewise order, empty collections included.
    /// The names of all collections, in bytewise order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.collections.keys().map(String::as_str)
    }

    /// The largest id given out to a collection or an index, or 0.
    pub fn last_collection_id(&self) -> u32 {
        self.last_collection_id
    }

    /// All that a reader can find, in a store of these limits.
    pub fn dump(&self, limits: &Limits) -> Dump {
        let documents = |collection: &Collection| {
            let documents = collection.documents().map(|(key, document)| (key.clone(), document.clone()));
            documents.collect()
        };
        let collections = self.collections.iter();
        let documents = collections.map(|(name, collection)| (name.clone(), documents(collection))).collect();
        Dump { documents, indexes: self.dump_indexes(limits) }
    }

    fn dump_indexes(&self, limits: &Limits) -> BTreeMap<(String, String), DumpedIndex> {
        let of_collection = |(name, collection): (&String, &Arc<Collection>)| {
            let dumped = |(index, Index { definition, .. }): (&String, &Index)| {
                let entries = collection.entries(definition, limits).iter().map(Entry::shown).collect();
                let dumped = DumpedIndex { definition: definition.clone(), entries };
                ((name.clone(), index.clone()), dumped)
            };
            collection.indexes.iter().map(dumped).collect::<Vec<_>>()
        };
        self.collections.iter().flat_map(of_collection).collect()
    }

    /// Whether `dump` is all that a reader can find here.
    pub fn shows(&self, dump: &Dump, limits: &Limits) -> bool {
        let same = |ours: &Collection, theirs: &BTreeMap<Key, Document>| ours.documents().eq(theirs);
        self.collections.len() == dump.documents.len()
            && self
                .collections
                .iter()
                .zip(&dump.documents)
                .all(|((name, ours), (theirs_name, theirs))| name == theirs_name && same(ours, theirs))
            && self.dump_indexes(limits) == dump.indexes
    }

    /// Makes all changes of one commit.
    ///
    /// # Panics
    ///
    /// Where a change does not fit the state.
    pub fn commit(&mut self, changes: &[Change]) {
        changes.iter().for_each(|change| self.apply(change));
        self.last_version += 1;
    }

    /// Makes one change of a commit that is not over yet.
    ///
    /// # Panics
    ///
    /// Where the change does not fit the state, such as a put into a collection that is not there.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Create { collection } => {
                let id = self.next_collection_id();
                let (documents, indexes) = (BTreeMap::new(), BTreeMap::new());
                let begun = Collection { id, largest_id: 0, documents, indexes };
                let before = self.collections.insert(collection.clone(), Arc::new(begun));
                assert!(before.is_none(), "a collection is created where there is none");
            }
            Change::Drop { collection } => {
                let dropped = self.collections.remove(collection);
                assert!(dropped.is_some(), "a collection that is dropped is there");
            }
            Change::Clear { collection } => {
                let id = self.next_collection_id();
                let cleared = self.change(collection);
                cleared.id = id;
                cleared.documents.clear();
                self.renew_indexes(collection);
            }
            Change::Rename { collection, to } => {
                let renamed =
                    self.collections.remove(collection).expect("a collection that is renamed is there");
                let before = self.collections.insert(to.clone(), renamed);
                assert!(before.is_none(), "a collection is renamed to a name that is free");
            }
            Change::Put { collection, key, document } => {
                let stored = Stored { document: Arc::clone(document), version: self.last_version + 1 };
                self.change(collection).put(key, stored);
            }
            Change::Delete { collection, key } => {
                let deleted = self.change(collection).documents.remove(key);
                assert!(deleted.is_some(), "a document that is deleted is there");
            }
            Change::CreateIndex { collection, index, definition } => {
                let begun = Index { id: self.next_collection_id(), definition: definition.clone() };
                let before = self.change(collection).indexes.insert(index.clone(), begun);
                assert!(before.is_none(), "an index is created where there is none");
            }
            Change::DropIndex { collection, index } => {
                let dropped = self.change(collection).indexes.remove(index);
                assert!(dropped.is_some(), "an index that is dropped is there");
            }
            Change::RenameIndex { collection, index, to } => {
                let indexes = &mut self.change(collection).indexes;
                let renamed = indexes.remove(index).expect("an index that is renamed is there");
                let before = indexes.insert(to.clone(), renamed);
                assert!(before.is_none(), "an index is renamed to a name that is free");
            }
        }
    }

    // spec: I-4.8
    /// Gives the indexes of a collection that is cleared new ids, in the order of the ids that they had.
    fn renew_indexes(&mut self, collection: &str) {
        let indexes = &self.change(collection).indexes;
        let mut names: Vec<String> = indexes.keys().cloned().collect();
        names.sort_by_key(|name| indexes[name].id);
        for name in names {
            let id = self.next_collection_id();
            self.change(collection).indexes.get_mut(&name).expect("it is one of them").id = id;
        }
    }

    /// Gives out the versions anew, by the order in which their documents stand. Which documents came by one commit is all
    /// that versions say once nobody remembers one; and histories that are alike in that are then equal.
    pub(crate) fn renumber_versions(&mut self) {
        let mut renumbered = BTreeMap::new();
        for collection in self.collections.values_mut() {
            for stored in Arc::make_mut(collection).documents.values_mut() {
                let next = renumbered.len() as u64 + 1;
                stored.version = *renumbered.entry(stored.version).or_insert(next);
            }
        }
        self.last_version = renumbered.len() as u64;
    }

    // spec: S-3.5. Ids only grow, so none comes twice.
    //= spec/format.md#f-7-2-ids-and-names
    //# A writer MUST NOT give a collection id twice in the life of a store.
    //= spec/semantics.md#s-3-5-collection-ids
    //# A store MUST NOT give out the id of a collection that any commit in its order gave out.
    fn next_collection_id(&mut self) -> u32 {
        self.last_collection_id = self.last_collection_id.checked_add(1).expect("refused when no id is left");
        self.last_collection_id
    }

    fn change(&mut self, name: &str) -> &mut Collection {
        Arc::make_mut(self.collections.get_mut(name).expect("a collection that changes is there"))
    }
}

impl Collection {
    /// The documents, by key.
    pub fn documents(&self) -> impl Iterator<Item = (&Key, &Document)> {
        self.documents.iter().map(|(key, stored)| (key, stored.document.as_ref()))
    }

    /// What an index of this definition holds, in order.
    pub(crate) fn entries(&self, definition: &Definition, limits: &Limits) -> Vec<Entry> {
        entries(definition, self.documents(), limits.tuple_len())
    }

    //= spec/semantics.md#s-4-2-largest-id
    //# A put under an int key above the largest id MUST make that key the largest id, whichever call puts.
    fn put(&mut self, key: &Key, stored: Stored) {
        if let Key::Int(int) = key {
            // spec: S-4.2. Whoever puts it, an int key is an id.
            self.largest_id = self.largest_id.max(*int);
        }
        self.documents.insert(key.clone(), stored);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn created(name: &str) -> Change {
        Change::Create { collection: name.into() }
    }

    fn put(name: &str, key: i64) -> Change {
        Change::Put { collection: name.into(), key: Key::Int(key), document: Arc::default() }
    }

    fn state(changes: &[Change]) -> State {
        let mut state = State::default();
        changes.iter().for_each(|change| state.apply(change));
        state
    }

    //= spec/format.md#f-7-2-ids-and-names
    //= type=test
    //# A writer MUST NOT give a collection id twice in the life of a store.
    //= spec/semantics.md#s-3-5-collection-ids
    //= type=test
    //# A store MUST NOT give out the id of a collection that any commit in its order gave out.
    #[test]
    fn a_collection_id_never_comes_twice() {
        let dropped = Change::Drop { collection: "a".into() };
        let cleared = Change::Clear { collection: "a".into() };
        let state = state(&[created("a"), dropped, created("a"), cleared, created("b")]);
        assert_eq!(state.collection("a").map(|a| a.id), Some(3));
        assert_eq!(state.collection("b").map(|b| b.id), Some(4));
    }

    //= spec/semantics.md#s-4-2-largest-id
    //= type=test
    //# A store MUST NOT lower the largest id of a collection: not by a delete, a clear, a rename, cleaning, a
    //# crash or reopening.
    #[test]
    fn the_largest_id_outlives_delete_clear_and_rename_but_not_drop() {
        // spec: S-3.6
        let deleted = Change::Delete { collection: "a".into(), key: Key::Int(7) };
        let cleared = Change::Clear { collection: "a".into() };
        let renamed = Change::Rename { collection: "a".into(), to: "b".into() };
        let mut state = state(&[created("a"), put("a", 7), deleted, put("a", 2), cleared, renamed]);
        assert_eq!(state.collection("b").map(|b| b.largest_id), Some(7));
        state.apply(&Change::Drop { collection: "b".into() });
        state.apply(&created("b"));
        assert_eq!(state.collection("b").map(|b| b.largest_id), Some(0));
    }

    #[test]
    fn a_state_shows_its_own_dump_and_no_other() {
        let state = state(&[created("a"), put("a", 1), created("empty")]);
        let limits = Limits::default();
        let dump = state.dump(&limits);
        assert!(state.shows(&dump, &limits));
        let a = &dump.documents["a"];
        for other in [
            BTreeMap::new(),
            BTreeMap::from([("a".into(), BTreeMap::new()), ("empty".into(), BTreeMap::new())]),
            BTreeMap::from([("a".into(), a.clone())]),
            BTreeMap::from([("a".into(), a.clone()), ("other".into(), BTreeMap::new())]),
        ] {
            let other = Dump { documents: other, ..Dump::default() };
            assert!(!state.shows(&other, &limits), "{other:?}");
        }
    }

    #[test]
    fn renumbered_versions_still_tell_which_documents_came_by_one_commit() {
        let mut state = State::default();
        state.commit(&[created("a"), put("a", 1), put("a", 3)]);
        state.commit(&[put("a", 2)]);
        state.commit(&[put("a", 1)]);
        let versions =
            |state: &State| [1, 2, 3].map(|key| state.find("a", &Key::Int(key)).map(|s| s.version));
        assert_eq!(versions(&state), [Some(3), Some(2), Some(1)]);
        state.renumber_versions();
        assert_eq!(versions(&state), [Some(1), Some(2), Some(3)]);
        state.commit(&[put("a", 1), put("a", 2)]);
        state.renumber_versions();
        assert_eq!(versions(&state), [Some(1), Some(1), Some(2)]);
    }

    #[test]
    fn a_clone_does_not_see_what_the_other_changes() {
        let mut state = state(&[created("a")]);
        let before = state.clone();
        state.apply(&put("a", 1));
        assert_eq!(before.collection("a").map(|a| a.documents.len()), Some(0));
    }
}
