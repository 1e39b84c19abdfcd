//! One error type for all modules. Each variant carries what a person needs as fields; its message is the
//! condition, and what to do about it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::sync::{Arc, Duration};

mod advice;
mod message;
pub(crate) use advice::Advice;

/// What every fallible call of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The number of a clause in `spec/`, such as `R-4.2`: the sentence that the bytes break.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Clause(pub &'static str);

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The bytes at `at` break a clause of the specification. `Db::verify` lists what else is affected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corruption {
    /// Offset in the file, in bytes.
    pub at: u64,
    /// The clause that is broken.
    pub clause: Clause,
    /// What is wrong, in a few words.
    pub what: &'static str,
    /// What the clause asks for: a checksum, a length or an LSN, as `what` says.
    pub expected: u64,
    /// What the file holds.
    pub found: u64,
}

impl Corruption {
    /// A clause that is broken at an offset in the file. The two values are 0 unless [`comparing`](Self::comparing) names them.
    pub(crate) const fn new(at: u64, clause: &'static str, what: &'static str) -> Self {
        Corruption { at, clause: Clause(clause), what, expected: 0, found: 0 }
    }

    /// The value that the clause asks for, and the one that the file holds.
    pub(crate) const fn comparing(self, expected: u64, found: u64) -> Self {
        Corruption { expected, found, ..self }
    }
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} at offset {} (expected {:#x}, found {:#x}; clause {})",
            self.what, self.at, self.expected, self.found, self.clause
        )
    }
}

/// Why a call did not do what it was asked to do.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub enum Error {
    // Opening.
    /// The file does not begin as a Holotype file does, in either superblock slot.
    NotHolotype {
        /// What was found instead.
        found: &'static str,
    },
    /// The file was made by a newer version, or uses a feature that this one does not know.
    NewerFormat {
        /// Major version in the file.
        major: u16,
        /// Minor version in the file.
        minor: u16,
        /// Feature bits that this version does not know.
        unknown_features: u64,
    },
    /// The file was made by an older version, in a format that this one does not read.
    OlderFormat {
        /// Major version in the file.
        major: u16,
        /// Minor version in the file.
        minor: u16,
    },
    /// Another process holds the file.
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file is an unfinished creation: nothing was stored in it yet.
    Incomplete,
    /// There is no such file, and the options do not ask to create one.
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// The path cannot be opened as a file.
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// Why not: a directory, permissions, exists already.
        what: &'static str,
    },
    /// An option is out of range, or contradicts the file.
    InvalidOption {
        /// The option.
        option: &'static str,
        /// What is asked of it.
        requirement: &'static str,
    },

    // The disk.
    /// The operating system refused a call.
    Io {
        /// What was being done, as "write at offset 16384".
        operation: String,
        /// What the operating system said.
        source: Arc<io::Error>,
    },
    /// No room on the disk, or the quota is used up. Nothing is lost; reads go on, and writes work again once
    /// there is room.
    StorageFull {
        /// What was being done.
        operation: String,
    },
    /// An earlier write or sync failed, so this handle writes no more. Reads go on; reopening recovers.
    Poisoned {
        /// The failure that came first.
        cause: String,
    },
    /// Bytes that were once durable are damaged.
    Corrupt(Corruption),
    /// The store was opened for reading only.
    ReadOnly,
    /// The store was closed.
    Closed,

    // Other callers.
    /// Somebody else's transaction was open for longer than [`Options::write_wait`](crate::Options::write_wait), or it is this very
    /// thread's own.
    WriterBusy {
        /// The thread that writes.
        holder: String,
        /// How long its transaction has been open.
        held_for: Duration,
    },
    /// The snapshot was ended: it was older than [`Options::snapshot_max_age`](crate::Options::snapshot_max_age).
    SnapshotTooOld {
        /// The commit whose state it held.
        lsn: u64,
    },
    /// The changes of the transaction take too much memory. It goes on without the one that was refused.
    TransactionTooLarge {
        /// What they would take, in bytes.
        len: usize,
        /// The limit in bytes, [`Options::transaction_bytes`](crate::Options::transaction_bytes).
        max: usize,
    },
    /// A bulk load stopped on its way. What it had committed stays.
    BulkLoad {
        /// How many documents are in place.
        loaded: u64,
        /// What stopped it.
        cause: Box<Error>,
    },
    /// The savepoint is of another transaction, or behind one that was gone back to.
    UnknownSavepoint,
    /// The document is not the version that the caller has seen.
    VersionMismatch {
        /// The version asked for.
        expected: u64,
        /// The version that is there; 0 for one that the transaction has put itself, none where there is no document.
        found: Option<u64>,
    },
    /// Part of the log behind this LSN is no longer in place.
    LsnGone {
        /// The LSN asked for.
        lsn: u64,
        /// The oldest that a feed can begin with.
        oldest: u64,
    },
    /// The earlier backup that [`Db::backup_from`](crate::Db::backup_from) was to go on from cannot be read.
    EarlierBackup {
        /// Why it cannot be read.
        cause: Box<Error>,
    },
    /// No commit has this LSN: it was never given, or a crash took it back.
    LsnUnknown {
        /// The LSN asked for.
        lsn: u64,
    },

    // Documents and keys.
    /// The bytes are not one deterministic CBOR document.
    Decode {
        /// Offset in the bytes given.
        at: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// A Rust value has no form as a document, or a document none as that Rust type.
    Serde {
        /// What serde or the type said.
        message: String,
    },
    /// Text is not the JSON that was asked for.
    Json {
        /// Line, from 1.
        line: u64,
        /// Column in bytes, from 1.
        column: u64,
        /// What is wrong.
        what: String,
    },
    /// The key is longer than a key may be, or than one may be in segments of this length, where a
    /// collection with indexes has less room for it
    /// ([`Options::segment_bytes`](crate::Options::segment_bytes)).
    KeyTooLong {
        /// Its length in bytes.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// The document is larger than a document may be, or than one with this key may be in segments of this length
    /// ([`Options::segment_bytes`](crate::Options::segment_bytes)).
    DocumentTooLarge {
        /// Its encoded length in bytes.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// Arrays and objects nest deeper than the limit.
    TooDeep {
        /// The limit in levels, the document being level 1.
        max: usize,
    },

    // Ways into documents.
    /// The text is no JSON Pointer.
    InvalidPointer {
        /// The text.
        pointer: String,
        /// Where it goes wrong, in bytes from its start.
        at: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// The text is no path of a change: a query of RFC 9535, which leads to one place but for that of `each`.
    InvalidPath {
        /// The text.
        path: String,
        /// Where it goes wrong, in bytes from its start.
        at: usize,
        /// What is wrong.
        what: String,
    },
    /// A pointer or path leads to no value.
    NoSuchPlace {
        /// The way up to the step that leads nowhere.
        path: String,
        /// Why it does not.
        fault: crate::document::PathFault,
    },

    /// The value is no JSON Patch.
    InvalidPatch {
        /// The number of the operation that is wrong, from 0; `None` where the patch itself is no array.
        operation: Option<usize>,
        /// Its field that is missing or wrong; empty where it is no object.
        field: &'static str,
        /// What is wrong.
        what: String,
    },
    /// A patch or an update cannot be applied. Nothing was changed.
    Update(Box<crate::update::UpdateError>),

    // Queries.
    /// The text is no valid query.
    Query {
        /// Where it goes wrong, in bytes from the start of the text.
        offset: usize,
        /// What was expected, what was found, and what to write instead where there is something.
        what: String,
    },
    /// Brackets, parentheses or calls nest deeper than the limit.
    QueryTooDeep {
        /// Where the limit is passed, in bytes from the start of the text.
        offset: usize,
        /// The limit in levels.
        max: usize,
    },
    /// A regular expression is larger than one may be, once compiled, or repeats more often.
    PatternTooLarge {
        /// The regular expression.
        pattern: String,
    },

    /// A parameter of a filter has no value, or one was given that the filter does not have.
    Parameter {
        /// Its name, as `arg` has it.
        name: String,
        /// What is wrong.
        what: &'static str,
    },

    /// A cursor cannot be gone on from.
    InvalidCursor {
        /// Why not.
        what: &'static str,
    },
    /// Parts of a query do not go together.
    InvalidQuery {
        /// Which, and what is asked of them.
        what: &'static str,
    },
    /// A query was to answer one document.
    NotOne {
        /// How many there are: none, or 2 for more than one.
        found: u64,
    },
    /// A query takes more memory than it may, and has nowhere to put the rest.
    QueryMemory {
        /// The limit in bytes.
        max: usize,
    },
    /// The caller ended the query.
    Cancelled {
        /// Documents that were looked at by then.
        scanned: u64,
    },
    /// The query's deadline passed.
    DeadlinePassed {
        /// Documents that were looked at by then.
        scanned: u64,
    },

    /// The sum of ints is no int of 64 bits.
    SumOverflow {
        /// What was summed.
        expression: String,
    },

    // Collections.
    /// No collection has this name.
    UnknownCollection {
        /// The name asked for.
        name: String,
    },
    /// A collection cannot have this name.
    InvalidName {
        /// The name.
        name: String,
        /// What is wrong with it.
        what: &'static str,
    },

    // Indexes.
    /// A definition that no index can have, or a range that its index cannot have.
    InvalidIndex {
        /// The name of the index.
        index: String,
        /// What is wrong.
        what: String,
    },
    /// The collection has no index of this name.
    UnknownIndex {
        /// The collection.
        collection: String,
        /// The name asked for.
        index: String,
    },
    /// A query cannot be answered by the index that its hint names.
    IndexCannotServe {
        /// The name of the index.
        index: String,
        /// Why not.
        what: &'static str,
    },
    /// The collection has an index of this name already, with another definition.
    IndexExists {
        /// The collection.
        collection: String,
        /// The name.
        index: String,
    },
    /// Another document has the values already of which a unique index has each once.
    UniqueViolation {
        /// The index.
        index: String,
        /// The values, one for each path of the index.
        values: Vec<crate::document::Value>,
        /// The key of the document that has them.
        key: crate::document::Key,
    },
    /// A unique index cannot be made: documents have the same values.
    UniqueViolations {
        /// The index.
        index: String,
        /// Up to 100 values that more than one document has, each with the keys of two that have them.
        violations: Vec<(Vec<crate::document::Value>, crate::document::Key, crate::document::Key)>,
    },

    /// The key is taken.
    KeyExists {
        /// The key.
        key: crate::document::Key,
    },
    /// The collection has had the largest integer as a key, so no id is left.
    IdsExhausted,
    /// A limit of the file itself is reached.
    LimitReached {
        /// Which limit.
        what: &'static str,
    },
}

impl From<Corruption> for Error {
    fn from(corruption: Corruption) -> Self {
        Error::Corrupt(corruption)
    }
}

impl Error {
    /// The limit that a commit of too many parts reaches.
    pub(crate) const PARTS_OF_A_COMMIT: &'static str = "parts of one commit";

    /// The damage that this tells of; an error that tells of something else stays one.
    pub(crate) fn into_damage(self) -> Result<Corruption> {
        if let Error::Corrupt(damage) = self { Ok(damage) } else { Err(self) }
    }

    /// What went wrong with the earlier backup. A backup of another store is not unreadable, and the call is at fault.
    pub(crate) fn of_earlier_backup(self) -> Error {
        match self {
            Error::InvalidOption { .. } => self,
            cause => Error::EarlierBackup { cause: Box::new(cause) },
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            Error::BulkLoad { cause, .. } | Error::EarlierBackup { cause } => Some(cause),
            _ => None,
        }
    }
}
