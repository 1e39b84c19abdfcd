//! How a command ends: exit codes, and what is said about a failure.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use holotype::{Error, Key};

use crate::advice::Advice;
use crate::wait;

/// The exit codes, which scripts rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, and everything held.
    Done = 0,
    /// A check failed, or something was not found.
    No = 1,
    /// The command line or an input is wrong.
    Usage = 2,
    /// The store cannot be opened.
    CannotOpen = 3,
    /// The store is damaged.
    Damaged = 4,
    /// The disk or a stream refused to read or write.
    Io = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// Why a command was not done: an exit code, a message that says what and where, and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: Option<String>,
    advice: Option<Advice>,
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message.into())
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(Exit::No, message.into())
    }

    /// There is no document under the key.
    pub(crate) fn no_document(key: &Key, collection: &str) -> Self {
        Self::not_found(format!("no document has the key {key} in {collection:?}"))
    }

    /// Reading the stream called `name` failed.
    pub(crate) fn read(name: &str, error: impl Display) -> Self {
        Self::new(Exit::Io, format!("cannot read {name}: {error}"))
    }

    /// Writing the file at `path`, which is no store, failed.
    pub(crate) fn write(path: &Path, error: &io::Error) -> Self {
        Self::new(Exit::Io, format!("cannot write {}: {error}", path.display()))
    }

    /// Writing to standard output failed. A reader that has seen enough, such as `head`, is nothing to complain about.
    pub(crate) fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure { exit: Exit::Done, message: None, advice: None };
        }
        Self::new(Exit::Io, format!("cannot write to standard output: {error}"))
    }

    /// What the engine said about the store at `path`. The advice is the command line's own: the engine's is for programs.
    pub(crate) fn store(path: &Path, error: &Error) -> Self {
        let condition = error.condition();
        let message = match error {
            Error::Locked { .. } | Error::NotFound { .. } | Error::CannotOpen { .. } => condition.to_string(),
            _ => format!("{}: {condition}", path.display()),
        };
        Failure { advice: advice(path, error), ..Self::new(exit_of(error), message) }
    }

    /// As [`store`](Self::store), of a store that is to be copied or compacted: there would be nothing in a new one, and the disk of
    /// the copy, or the compaction itself, wants room.
    pub(crate) fn source(path: &Path, error: &Error) -> Self {
        let failure = Self::store(path, error);
        match failure.advice {
            Some(Advice::CreateStore) => failure.advise(Advice::CheckPath),
            Some(Advice::FreeOrCompact) => failure.advise(Advice::FreeSpace),
            _ => failure,
        }
    }

    fn new(exit: Exit, message: String) -> Self {
        Failure { exit, message: Some(message), advice: None }
    }

    /// The same failure, with what to do about it.
    #[must_use]
    pub(crate) fn advise(self, advice: Advice) -> Self {
        Failure { advice: Some(advice), ..self }
    }

    /// The same failure, with what it left behind.
    #[must_use]
    pub(crate) fn and(mut self, aftermath: &str) -> Self {
        if let Some(message) = &mut self.message {
            message.push_str("; ");
            message.push_str(aftermath);
        }
        self
    }

    /// The same failure, of telling what was done to a store.
    #[must_use]
    pub(crate) fn committed(self) -> Self {
        self.and("the changes are committed")
    }

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    pub(crate) fn message(&self) -> Option<String> {
        self.message.as_ref().map(|message| match self.advice {
            Some(advice) => format!("{message}; {advice}"),
            None => message.clone(),
        })
    }
}

fn exit_of(error: &Error) -> Exit {
    match error {
        Error::EarlierBackup { cause } | Error::BulkLoad { cause, .. } => exit_of(cause),
        Error::NotHolotype { .. }
        | Error::NewerFormat { .. }
        | Error::OlderFormat { .. }
        | Error::Locked { .. }
        | Error::Incomplete
        | Error::NotFound { .. }
        | Error::CannotOpen { .. } => Exit::CannotOpen,
        // A stored document that is not one was damaged before its checksum was computed.
        Error::Corrupt(_) | Error::Decode { .. } => Exit::Damaged,
        Error::UnknownCollection { .. }
        | Error::UnknownIndex { .. }
        | Error::IndexExists { .. }
        | Error::UniqueViolation { .. }
        | Error::UniqueViolations { .. }
        | Error::KeyExists { .. }
        | Error::VersionMismatch { .. }
        | Error::NotOne { .. }
        | Error::SumOverflow { .. }
        | Error::Update(_) => Exit::No,
        Error::InvalidOption { .. }
        | Error::Serde { .. }
        | Error::Json { .. }
        | Error::KeyTooLong { .. }
        | Error::DocumentTooLarge { .. }
        | Error::TooDeep { .. }
        | Error::InvalidName { .. }
        | Error::InvalidIndex { .. }
        | Error::Query { .. }
        | Error::QueryTooDeep { .. }
        | Error::PatternTooLarge { .. }
        | Error::Parameter { .. }
        | Error::InvalidCursor { .. }
        | Error::InvalidQuery { .. }
        | Error::IndexCannotServe { .. }
        | Error::InvalidPath { .. }
        | Error::InvalidPatch { .. }
        | Error::InvalidPointer { .. }
        | Error::IdsExhausted
        | Error::LimitReached { .. }
        | Error::TransactionTooLarge { .. } => Exit::Usage,
        // I/O, a full disk, a handle that stopped writing; and what a later engine may say.
        _ => Exit::Io,
    }
}

/// What to do about an error of the store at `path`.
fn advice(path: &Path, error: &Error) -> Option<Advice> {
    Some(match error {
        // Not the file itself, but the directory that it was to be created in.
        Error::NotFound { path: missing } if missing != path => Advice::MakeDirectory,
        Error::NotFound { .. } if path.is_symlink() => Advice::NameTarget,
        Error::NotFound { .. } => Advice::CreateStore,
        // What is to be made, and is there.
        Error::CannotOpen { what: "it exists already", .. } => Advice::NameNewFile,
        Error::NotHolotype { .. } => Advice::UseAnotherName,
        Error::Incomplete => Advice::CreateAnew,
        Error::NewerFormat { .. } => Advice::UseItsVersion,
        Error::OlderFormat { .. } => Advice::ExportThere,
        Error::Locked { .. } if wait::is_set() => Advice::WaitLonger,
        Error::Locked { .. } => Advice::WaitUntilClosed,
        Error::EarlierBackup { .. } => Advice::BackUpWhole,
        Error::Corrupt(_) | Error::Decode { .. } => Advice::VerifyAndSalvage,
        Error::StorageFull { .. } => Advice::FreeOrCompact,
        Error::UnknownCollection { .. } => Advice::ListCollections,
        Error::UnknownIndex { .. } => Advice::ListIndexes,
        Error::IndexCannotServe { .. } => Advice::LeaveOutIndex,
        Error::IdsExhausted => Advice::GiveKeys,
        Error::LimitReached { .. } if error.advice().is_some() => Advice::MakeBatches,
        Error::TransactionTooLarge { .. } => Advice::MakeBatches,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_has_seen_enough_is_no_failure() {
        let failure = Failure::output(&io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((failure.exit(), failure.message()), (Exit::Done, None));
    }

    #[test]
    fn a_full_standard_output_is_a_failure_that_says_so() {
        let failure = Failure::output(&io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(failure.exit(), Exit::Io);
        assert!(failure.message().expect("there is one").starts_with("cannot write to standard output"));
    }

    #[test]
    fn a_message_names_the_store_once() {
        let path = Path::new("notes.holo");
        let locked = Failure::store(path, &Error::Locked { path: path.to_owned() });
        assert_eq!(locked.message().expect("there is one").matches("notes.holo").count(), 1);
        let newer = Failure::store(path, &Error::NewerFormat { major: 9, minor: 0, unknown_features: 0 });
        assert_eq!(newer.message().expect("there is one").matches("notes.holo").count(), 1);
    }
}
