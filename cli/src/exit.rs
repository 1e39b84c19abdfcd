//! How a command ends: exit codes, and what is said about a failure.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use holotype::Error;

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

/// Why a command was not done: an exit code, and a message that says what, where, and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: Option<String>,
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Failure { exit: Exit::Usage, message: Some(message.into()) }
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Failure { exit: Exit::No, message: Some(message.into()) }
    }

    /// Reading the stream called `name` failed.
    pub(crate) fn read(name: &str, error: impl Display) -> Self {
        Failure { exit: Exit::Io, message: Some(format!("cannot read {name}: {error}")) }
    }

    /// Writing the file at `path`, which is no store, failed.
    pub(crate) fn write(path: &Path, error: &io::Error) -> Self {
        Failure { exit: Exit::Io, message: Some(format!("cannot write {}: {error}", path.display())) }
    }

    /// Writing to standard output failed. A reader that has seen enough, such as `head`, is nothing to complain about.
    pub(crate) fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure { exit: Exit::Done, message: None };
        }
        Failure { exit: Exit::Io, message: Some(format!("cannot write to standard output: {error}")) }
    }

    /// What the engine said about the store at `path`.
    pub(crate) fn store(path: &Path, error: &Error) -> Self {
        let message = match error {
            Error::Locked { .. } | Error::NotFound { .. } | Error::CannotOpen { .. } => error.to_string(),
            _ => format!("{}: {error}", path.display()),
        };
        let message = match advice(error) {
            Some(advice) => format!("{message}; {advice}"),
            None => message,
        };
        Failure { exit: exit_of(error), message: Some(message) }
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

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    pub(crate) fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }
}

fn exit_of(error: &Error) -> Exit {
    match error {
        Error::NotHolotype { .. }
        | Error::NewerFormat { .. }
        | Error::Locked { .. }
        | Error::Incomplete
        | Error::NotFound { .. }
        | Error::CannotOpen { .. } => Exit::CannotOpen,
        // A stored document that is not one was damaged before its checksum was computed.
        Error::Corrupt(_) | Error::Decode { .. } => Exit::Damaged,
        Error::UnknownCollection { .. } | Error::KeyExists { .. } => Exit::No,
        Error::InvalidOption { .. }
        | Error::Serde { .. }
        | Error::Json { .. }
        | Error::KeyTooLong { .. }
        | Error::DocumentTooLarge { .. }
        | Error::TooDeep { .. }
        | Error::InvalidName { .. }
        | Error::IdsExhausted
        | Error::LimitReached { .. } => Exit::Usage,
        // I/O, a full disk, a handle that stopped writing; and what a later engine may say.
        _ => Exit::Io,
    }
}

/// What to do, where the engine's message does not say it.
fn advice(error: &Error) -> Option<&'static str> {
    match error {
        Error::NotFound { .. } => Some("`import` and `put` create a store, the other commands need one"),
        Error::Incomplete => Some("`import` and `put` do; nothing was stored in it yet"),
        Error::Corrupt(_) => {
            Some("`holotype verify --deep` lists all that is wrong; keep a copy of the file")
        }
        Error::UnknownCollection { .. } => Some("`holotype stats` lists the collections"),
        _ => None,
    }
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
