//! What a call answers.

use crate::index::{Definition, Shown};
use crate::key::Key;
use crate::value::Document;

/// The answer to an [`Op`](crate::Op).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It was done, and there is nothing more to say.
    Done,
    /// The key that the store chose.
    Key(Key),
    /// The keys that the store chose, or found.
    Keys(Vec<Key>),
    /// The document of the key, if it has one.
    Document(Option<Document>),
    /// Yes or no: what it means is said at each operation.
    Bool(bool),
    /// How many documents there were to change, and how many are others now.
    Updated {
        /// How many there were.
        matched: u64,
        /// How many of them are others, or gone.
        changed: u64,
    },
    /// How many.
    Count(u64),
    /// Keys with their documents, in the order asked for.
    Entries(Vec<(Key, Document)>),
    /// Names of collections, in bytewise order.
    Names(Vec<String>),
    /// Names of indexes, in bytewise order, with their definitions.
    Indexes(Vec<(String, Definition)>),
    /// Entries of an index, in the order asked for.
    IndexEntries(Vec<Shown>),
    /// The same, each with its document.
    IndexDocuments(Vec<(Shown, Document)>),
    /// The semantics do not allow it; the state is as before.
    Refused(Refusal),
    /// It was in flight when something broke: a crash decides whether its commit is there.
    Unknown,
    /// Something broke, and the state is certainly as before.
    Failed(Failure),
}

/// Why the semantics do not allow a call. The model foretells these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// A collection cannot have this name, or another one has it.
    InvalidName,
    /// No collection has this name.
    UnknownCollection,
    /// The key has a document already.
    KeyExists,
    /// The key is over the limit.
    KeyTooLong,
    /// The encoded document is over the limit.
    DocumentTooLarge,
    /// The document nests too deep.
    TooDeep,
    /// The collection has given out the largest integer.
    IdsExhausted,
    /// The store has given out the last id, the collection has as many indexes as it can have, or a document has too many
    /// entries.
    LimitReached,
    /// The index cannot have this name or definition, or has fewer paths than there are values asked for.
    InvalidIndex,
    /// The collection has no index of this name.
    UnknownIndex,
    /// The collection has an index of this name, and it is another one.
    IndexExists,
    /// Another document has the values that a unique index would have twice.
    UniqueViolation,
    /// The documents have values twice that a unique index would have once.
    UniqueViolations,
    /// A write transaction is open, and this is a write beside it.
    Busy,
    /// The document cannot be changed so.
    UpdateFails,
    /// The document is not the one that the client saw last.
    VersionMismatch,
    /// No write transaction is open.
    NoTransaction,
    /// The transaction has no such savepoint, or has gone back to one before it.
    UnknownSavepoint,
    /// The snapshot was never taken, or is released.
    UnknownSnapshot,
}

/// What broke. The model cannot foretell these: they come from the world.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Failure {
    /// There is no room.
    StorageFull,
    /// An earlier outcome is unknown, so the store writes no more.
    Poisoned,
    /// Bytes that were once durable are damaged; the text says where.
    Corrupt(String),
    /// Anything else, in the store's own words.
    Other(String),
}
