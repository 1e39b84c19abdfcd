//! What a store can be asked to do.

use crate::index::{DefinitionText, Place, TupleRange};
use crate::key::{Key, KeyRange, Prefix};
use crate::update::By;
use crate::value::Document;

/// What a commit has survived once its call returned (spec: S-6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// Nothing yet.
    Buffered,
    /// The end of the process.
    Written,
    /// A power cut.
    Synced,
}

/// What an insert does where other documents are in the way (spec: U-6.5).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OnConflict {
    /// They stay as they are.
    Skip,
    /// The given one takes the place of them all.
    Replace,
    /// The first of them is changed.
    Update(By),
}

/// One call.
#[expect(missing_docs, reason = "the fields are the words of the variants' own sentences")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Op {
    /// Puts the document under the next id; answers `Key`.
    Insert { collection: String, document: Document, durability: Durability },
    /// Puts the documents under the next ids, in one commit; answers `Keys`.
    InsertMany { collection: String, documents: Vec<Document>, durability: Durability },
    /// Puts the document under the key; answers `Done`.
    Put { collection: String, key: Key, document: Document, durability: Durability },
    /// Puts each document under its key, in one commit; answers the `Count` of those given.
    PutMany { collection: String, entries: Vec<(Key, Document)>, durability: Durability },
    /// Puts the document under the key, which must have none; answers `Done`.
    InsertWithKey { collection: String, key: Key, document: Document, durability: Durability },
    /// Puts the document if the key has one already; answers by `Bool` whether it had.
    Replace { collection: String, key: Key, document: Document, durability: Durability },
    /// Changes the key's document, if it has one; answers `Updated`.
    Update { collection: String, key: Key, by: By, durability: Durability },
    /// Puts the document under the key, or does what is said where others are in the way; answers `Updated`.
    InsertOnConflict {
        collection: String,
        key: Key,
        document: Document,
        on_conflict: OnConflict,
        durability: Durability,
    },
    /// Changes each document that the filter admits; answers `Updated`.
    UpdateMany { collection: String, filter: String, by: By, durability: Durability },
    /// Takes each document that the filter admits away; answers `Updated`.
    DeleteMany { collection: String, filter: String, durability: Durability },
    /// Takes the key's document away; answers by `Bool` whether it had one.
    Delete { collection: String, key: Key, durability: Durability },
    /// Puts the document if the version of the key's document is the one that this client saw last; answers `Done`.
    ReplaceIf { collection: String, key: Key, document: Document, durability: Durability },
    /// Takes the key's document away if its version is the one that this client saw last; answers `Done`.
    DeleteIf { collection: String, key: Key, durability: Durability },
    /// Creates the collection; answers by `Bool` whether it was not there.
    CreateCollection { collection: String, durability: Durability },
    /// Takes the collection away with all it holds; answers by `Bool` whether it was there.
    DropCollection { collection: String, durability: Durability },
    /// Takes all documents out of the collection; answers by `Bool` whether it was there.
    ClearCollection { collection: String, durability: Durability },
    /// Gives the collection another name; answers by `Bool` whether it was there.
    RenameCollection { collection: String, to: String, durability: Durability },
    /// Answers the key's `Document`.
    Get { collection: String, key: Key },
    /// Answers by `Bool` whether the key has a document.
    Contains { collection: String, key: Key },
    /// Answers the `Count` of documents.
    Len { collection: String },
    /// Answers the `Keys` of the range.
    Keys { collection: String, range: KeyRange, reverse: bool, limit: Option<usize> },
    /// Answers the `Entries` of the range.
    Scan { collection: String, range: KeyRange, reverse: bool, limit: Option<usize> },
    /// Answers the `Entries` whose keys begin so.
    ScanPrefix { collection: String, prefix: Prefix, reverse: bool, limit: Option<usize> },
    /// Answers the `Names` of all collections.
    Collections,
    /// Creates the index, and its collection where there is none; answers by `Bool` whether it was not there.
    CreateIndex { collection: String, index: String, definition: DefinitionText, durability: Durability },
    /// Creates the index in the place of one of its name; answers by `Bool` whether it was not there.
    ReplaceIndex { collection: String, index: String, definition: DefinitionText, durability: Durability },
    /// Takes the index away; answers by `Bool` whether it was there.
    DropIndex { collection: String, index: String, durability: Durability },
    /// Gives the index another name; answers by `Bool` whether it was there.
    RenameIndex { collection: String, index: String, to: String, durability: Durability },
    /// Answers the `Indexes` of the collection.
    Indexes { collection: String },
    /// Answers the `IndexEntries` of the range, behind the place if there is one.
    IndexScan {
        collection: String,
        index: String,
        range: TupleRange,
        after: Option<Place>,
        reverse: bool,
        limit: Option<usize>,
    },
    /// Answers the `IndexDocuments` of the range, behind the place if there is one.
    IndexDocuments {
        collection: String,
        index: String,
        range: TupleRange,
        after: Option<Place>,
        reverse: bool,
        limit: Option<usize>,
    },
    /// Answers the `Count` of entries in the range.
    IndexCount { collection: String, index: String, range: TupleRange },
    /// Begins a write transaction, of which there is one at a time; answers `Done`.
    Begin,
    /// Does a plain operation within the transaction. The class of a write is of no account here: [`Op::Commit`] has one.
    Inside(Box<Op>),
    /// Marks a place in the transaction to go back to; answers the `Count` of those marked before that are still there.
    Savepoint,
    /// Undoes what the transaction did after that savepoint; answers `Done`.
    RollbackTo { savepoint: usize },
    /// Ends the transaction, and makes one commit of all that it changed; answers `Done`.
    Commit { durability: Durability },
    /// Ends the transaction as if it had never been; answers `Done`.
    Rollback,
    /// Holds on to the state that readers see; answers the `Count` of snapshots taken before since the store was opened,
    /// which is the snapshot's number.
    TakeSnapshot,
    /// Does a plain read on the state that the snapshot holds.
    Through { snapshot: u64, op: Box<Op> },
    /// Lets go of the snapshot; answers `Done`.
    Release { snapshot: u64 },
    /// Makes every commit before it durable; answers `Done`.
    Flush,
    /// Saves the index so that the next opening starts later; answers `Done`.
    Checkpoint,
    /// Takes a step towards freeing what dead documents occupy; answers `Done`.
    Clean,
    /// Takes all such steps, as far as an open transaction lets them be taken; answers `Done`.
    Compact,
    /// Walks the whole store; answers `Done` when nothing is damaged.
    Verify,
}

impl Op {
    /// The class of the commit that this makes, or none if it never makes one.
    pub fn durability(&self) -> Option<Durability> {
        match self {
            Op::Insert { durability, .. }
            | Op::InsertMany { durability, .. }
            | Op::Put { durability, .. }
            | Op::PutMany { durability, .. }
            | Op::InsertWithKey { durability, .. }
            | Op::Replace { durability, .. }
            | Op::Delete { durability, .. }
            | Op::ReplaceIf { durability, .. }
            | Op::Update { durability, .. }
            | Op::InsertOnConflict { durability, .. }
            | Op::UpdateMany { durability, .. }
            | Op::DeleteMany { durability, .. }
            | Op::DeleteIf { durability, .. }
            | Op::CreateCollection { durability, .. }
            | Op::DropCollection { durability, .. }
            | Op::ClearCollection { durability, .. }
            | Op::RenameCollection { durability, .. }
            | Op::CreateIndex { durability, .. }
            | Op::ReplaceIndex { durability, .. }
            | Op::DropIndex { durability, .. }
            | Op::RenameIndex { durability, .. }
            | Op::Commit { durability } => Some(*durability),
            _ => None,
        }
    }

    /// The same in another class, where it has one.
    pub fn with_durability(&self, class: Durability) -> Op {
        let mut op = self.clone();
        match &mut op {
            Op::Insert { durability, .. }
            | Op::InsertMany { durability, .. }
            | Op::Put { durability, .. }
            | Op::PutMany { durability, .. }
            | Op::InsertWithKey { durability, .. }
            | Op::Replace { durability, .. }
            | Op::Delete { durability, .. }
            | Op::ReplaceIf { durability, .. }
            | Op::Update { durability, .. }
            | Op::InsertOnConflict { durability, .. }
            | Op::UpdateMany { durability, .. }
            | Op::DeleteMany { durability, .. }
            | Op::DeleteIf { durability, .. }
            | Op::CreateCollection { durability, .. }
            | Op::DropCollection { durability, .. }
            | Op::ClearCollection { durability, .. }
            | Op::RenameCollection { durability, .. }
            | Op::CreateIndex { durability, .. }
            | Op::ReplaceIndex { durability, .. }
            | Op::DropIndex { durability, .. }
            | Op::RenameIndex { durability, .. }
            | Op::Commit { durability } => *durability = class,
            _ => {}
        }
        op
    }

    /// Whether this may make a commit.
    pub fn is_write(&self) -> bool {
        self.durability().is_some()
    }

    /// Whether this is a read of one state, such as a snapshot answers.
    pub fn is_plain_read(&self) -> bool {
        matches!(
            self,
            Op::Get { .. }
                | Op::Contains { .. }
                | Op::Len { .. }
                | Op::Keys { .. }
                | Op::Scan { .. }
                | Op::ScanPrefix { .. }
                | Op::Collections
                | Op::Indexes { .. }
                | Op::IndexScan { .. }
                | Op::IndexDocuments { .. }
                | Op::IndexCount { .. }
        )
    }

    /// Whether this is a read or a write of one state, such as a transaction does.
    pub fn is_plain(&self) -> bool {
        let is_by_itself = self.defines_index() || matches!(self, Op::Commit { .. });
        self.is_plain_read() || (self.is_write() && !is_by_itself)
    }

    // spec: I-4.7
    /// Whether this creates, replaces, drops or renames an index: always a commit of its own.
    pub fn defines_index(&self) -> bool {
        matches!(
            self,
            Op::CreateIndex { .. } | Op::ReplaceIndex { .. } | Op::DropIndex { .. } | Op::RenameIndex { .. }
        )
    }

    /// The index that this names.
    pub fn index(&self) -> Option<&str> {
        match self.plain() {
            Op::CreateIndex { index, .. }
            | Op::ReplaceIndex { index, .. }
            | Op::DropIndex { index, .. }
            | Op::RenameIndex { index, .. }
            | Op::IndexScan { index, .. }
            | Op::IndexDocuments { index, .. }
            | Op::IndexCount { index, .. } => Some(index),
            _ => None,
        }
    }

    /// The operation itself, where this is one inside a transaction or through a snapshot.
    pub fn plain(&self) -> &Op {
        match self {
            Op::Inside(op) | Op::Through { op, .. } => op,
            op => op,
        }
    }

    /// The documents that this would store.
    pub fn documents(&self) -> Vec<&Document> {
        match self.plain() {
            Op::Insert { document, .. }
            | Op::Put { document, .. }
            | Op::InsertWithKey { document, .. }
            | Op::Replace { document, .. }
            | Op::ReplaceIf { document, .. }
            | Op::InsertOnConflict { document, .. } => vec![document],
            Op::InsertMany { documents, .. } => documents.iter().collect(),
            Op::PutMany { entries, .. } => entries.iter().map(|(_, document)| document).collect(),
            _ => Vec::new(),
        }
    }

    /// The same documents, to be changed.
    pub fn documents_mut(&mut self) -> Vec<&mut Document> {
        match self {
            Op::Inside(op) | Op::Through { op, .. } => op.documents_mut(),
            Op::Insert { document, .. }
            | Op::Put { document, .. }
            | Op::InsertWithKey { document, .. }
            | Op::Replace { document, .. }
            | Op::ReplaceIf { document, .. }
            | Op::InsertOnConflict { document, .. } => vec![document],
            Op::InsertMany { documents, .. } => documents.iter_mut().collect(),
            Op::PutMany { entries, .. } => entries.iter_mut().map(|(_, document)| document).collect(),
            _ => Vec::new(),
        }
    }

    /// The keys that this names.
    pub fn keys(&self) -> Vec<&Key> {
        match self.plain() {
            Op::Put { key, .. }
            | Op::InsertWithKey { key, .. }
            | Op::Replace { key, .. }
            | Op::Delete { key, .. }
            | Op::ReplaceIf { key, .. }
            | Op::Update { key, .. }
            | Op::InsertOnConflict { key, .. }
            | Op::DeleteIf { key, .. }
            | Op::Get { key, .. }
            | Op::Contains { key, .. } => vec![key],
            Op::PutMany { entries, .. } => entries.iter().map(|(key, _)| key).collect(),
            _ => Vec::new(),
        }
    }

    /// The collection that this is about.
    pub fn collection(&self) -> Option<&str> {
        match self.plain() {
            Op::Insert { collection, .. }
            | Op::InsertMany { collection, .. }
            | Op::Put { collection, .. }
            | Op::PutMany { collection, .. }
            | Op::InsertWithKey { collection, .. }
            | Op::Replace { collection, .. }
            | Op::Delete { collection, .. }
            | Op::ReplaceIf { collection, .. }
            | Op::Update { collection, .. }
            | Op::InsertOnConflict { collection, .. }
            | Op::UpdateMany { collection, .. }
            | Op::DeleteMany { collection, .. }
            | Op::DeleteIf { collection, .. }
            | Op::CreateCollection { collection, .. }
            | Op::DropCollection { collection, .. }
            | Op::ClearCollection { collection, .. }
            | Op::RenameCollection { collection, .. }
            | Op::Get { collection, .. }
            | Op::Contains { collection, .. }
            | Op::Len { collection }
            | Op::Keys { collection, .. }
            | Op::Scan { collection, .. }
            | Op::ScanPrefix { collection, .. }
            | Op::CreateIndex { collection, .. }
            | Op::ReplaceIndex { collection, .. }
            | Op::DropIndex { collection, .. }
            | Op::RenameIndex { collection, .. }
            | Op::Indexes { collection }
            | Op::IndexScan { collection, .. }
            | Op::IndexDocuments { collection, .. }
            | Op::IndexCount { collection, .. } => Some(collection),
            Op::Collections | Op::Flush | Op::Checkpoint | Op::Clean | Op::Compact | Op::Verify => None,
            Op::Begin | Op::Savepoint | Op::RollbackTo { .. } | Op::Commit { .. } | Op::Rollback => None,
            Op::TakeSnapshot | Op::Release { .. } => None,
            Op::Inside(_) | Op::Through { .. } => None,
        }
    }
}
