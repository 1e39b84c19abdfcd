//! What an error says: the condition, and what to do about it.

use std::fmt;

use super::{Advice, Error};
use crate::document::{KEY_LEN_MAX, Value};

/// Said where a person may have meant that there is no value.
const NULL_IS_A_VALUE: &str = " (null counts as a value here, and a missing field does not)";

impl Error {
    /// What is the case, without advice: for a program that has its own to give. The `Display` of an error appends the
    /// engine's advice.
    pub fn condition(&self) -> impl fmt::Display + '_ {
        Condition(self)
    }

    /// What to do about it, where the condition does not tell by itself.
    pub fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Error::NotHolotype { .. } => Advice::CheckPath.text(),
            Error::NewerFormat { .. } => Advice::UseItsVersion.text(),
            Error::OlderFormat { .. } => Advice::ExportThere.text(),
            Error::Locked { .. } => Advice::CloseElsewhere.text(),
            Error::Incomplete => Advice::CreateAnew.text(),
            Error::StorageFull { .. } => Advice::FreeSpace.text(),
            Error::Poisoned { .. } => Advice::Reopen.text(),
            Error::ReadOnly => Advice::OpenForWriting.text(),
            Error::WriterBusy { .. } => Advice::WaitOrWriteWithin.text(),
            Error::SnapshotTooOld { .. } => Advice::TakeNewSnapshot.text(),
            Error::TransactionTooLarge { .. } => Advice::CommitInParts.text(),
            Error::VersionMismatch { .. } => Advice::ReadAgain.text(),
            Error::LsnGone { .. } => Advice::ResumeAtOldest.text(),
            Error::LsnUnknown { .. } => Advice::BeginFromSnapshot.text(),
            Error::IdsExhausted => Advice::GiveKeys.text(),
            Error::KeyTooLong { max, .. } if *max < KEY_LEN_MAX => Advice::LongerSegments.text(),
            Error::IndexCannotServe { .. } => Advice::LeaveHintOut.text(),
            Error::LimitReached { what } if *what == Error::PARTS_OF_A_COMMIT => Advice::WriteLess.text(),
            Error::BulkLoad { cause, .. } => return cause.advice(),
            // A backup of the whole store needs no earlier one, and what helps the file is said of the cause.
            Error::EarlierBackup { .. }
            | Error::NotFound { .. }
            | Error::CannotOpen { .. }
            | Error::InvalidOption { .. }
            | Error::Io { .. }
            | Error::Corrupt(_)
            | Error::Closed
            | Error::UnknownSavepoint
            | Error::Decode { .. }
            | Error::Serde { .. }
            // The JSON reader puts its advice into `what`, behind the place.
            | Error::Json { .. }
            | Error::KeyTooLong { .. }
            | Error::DocumentTooLarge { .. }
            | Error::TooDeep { .. }
            | Error::InvalidPointer { .. }
            | Error::InvalidPath { .. }
            | Error::NoSuchPlace { .. }
            | Error::InvalidPatch { .. }
            | Error::Update(_)
            // As the JSON reader does, the query parser puts what to write instead into `what`.
            | Error::Query { .. }
            | Error::QueryTooDeep { .. }
            | Error::PatternTooLarge { .. }
            | Error::Parameter { .. }
            | Error::InvalidCursor { .. }
            | Error::InvalidQuery { .. }
            | Error::NotOne { .. }
            | Error::QueryMemory { .. }
            | Error::Cancelled { .. }
            | Error::DeadlinePassed { .. }
            | Error::SumOverflow { .. }
            | Error::UnknownCollection { .. }
            | Error::InvalidName { .. }
            | Error::InvalidIndex { .. }
            | Error::UnknownIndex { .. }
            | Error::IndexExists { .. }
            | Error::UniqueViolation { .. }
            | Error::UniqueViolations { .. }
            | Error::KeyExists { .. }
            | Error::LimitReached { .. } => return None,
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.advice() {
            Some(advice) => write!(f, "{}; {advice}", Condition(self)),
            None => write!(f, "{}", Condition(self)),
        }
    }
}

struct Condition<'a>(&'a Error);

impl fmt::Display for Condition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Error::NotHolotype { found } => {
                write!(f, "not a Holotype file: {found}")
            }
            Error::NewerFormat { major, minor, unknown_features } => {
                write!(f, "the file has format {major}.{minor} (unknown feature bits {unknown_features:#x})")
            }
            Error::OlderFormat { major, minor } => {
                write!(f, "the file has format {major}.{minor}, which this version does not read any more")
            }
            Error::Locked { path } => {
                write!(f, "{} is open already, here or in another process", path.display())
            }
            Error::Incomplete => {
                f.write_str("the file is an unfinished creation, and nothing was stored in it yet")
            }
            Error::NotFound { path } => write!(f, "{} does not exist", path.display()),
            Error::CannotOpen { path, what } => write!(f, "{} cannot be opened: {what}", path.display()),
            Error::InvalidOption { option, requirement } => write!(f, "option {option}: {requirement}"),
            Error::Io { operation, source } => write!(f, "{operation} failed: {source}"),
            Error::StorageFull { operation } => {
                write!(f, "no room for the {operation}, and nothing is lost")
            }
            Error::Poisoned { cause } => {
                write!(f, "this handle stopped writing after: {cause}")
            }
            Error::Corrupt(corruption) => write!(f, "the file is damaged: {corruption}"),
            Error::ReadOnly => f.write_str("the store is open for reading only"),
            Error::Closed => f.write_str("the store is closed"),
            Error::WriterBusy { holder, held_for } => {
                write!(f, "{holder} has had a write transaction open for {held_for:?}")
            }
            Error::SnapshotTooOld { lsn } => {
                write!(f, "the snapshot of commit {lsn:#x} passed its age limit")
            }
            Error::TransactionTooLarge { len, max } => {
                write!(f, "the transaction's changes would take {len} bytes and the limit is {max}")
            }
            Error::BulkLoad { loaded, cause } => {
                write!(
                    f,
                    "the bulk load stopped after {loaded} documents, which are in place: {}",
                    cause.condition()
                )
            }
            Error::EarlierBackup { cause } => {
                write!(f, "the earlier backup cannot be read: {}", cause.condition())
            }
            Error::UnknownSavepoint => f.write_str(
                "the savepoint is not one of this transaction, or lies behind one that was gone back to",
            ),
            Error::VersionMismatch { expected, found: Some(found) } => {
                write!(f, "the document has version {found:#x}, not {expected:#x}")
            }
            Error::VersionMismatch { expected, found: None } => {
                write!(f, "there is no document, and so none of version {expected:#x}")
            }
            Error::LsnGone { lsn, oldest } => write!(
                f,
                "the log behind LSN {lsn:#x} is no longer whole; the oldest position that can be resumed is {oldest:#x}"
            ),
            Error::LsnUnknown { lsn } => {
                write!(f, "no commit of this store has LSN {lsn:#x}: a crash may have taken it back")
            }
            Error::Decode { at, what } => write!(f, "not a deterministic CBOR document: {what} at byte {at}"),
            Error::Serde { message } => write!(f, "no conversion between the type and a document: {message}"),
            Error::Json { line, column, what } => write!(f, "line {line}, column {column}: {what}"),
            Error::KeyTooLong { len, max } if *max < KEY_LEN_MAX => {
                write!(f, "the key has {len} bytes; the limit is {max} in segments so short")
            }
            Error::KeyTooLong { len, max } => write!(f, "the key has {len} bytes; the limit is {max}"),
            Error::DocumentTooLarge { len, max } => {
                write!(f, "the document has {len} encoded bytes; the limit is {max}")
            }
            Error::TooDeep { max } => write!(f, "arrays and objects nest deeper than {max} levels"),
            Error::InvalidPointer { pointer, at, what } => {
                write!(f, "{pointer:?} is no JSON Pointer: {what}, at byte {at}")
            }
            Error::InvalidPath { path, at, what } => write!(f, "{path:?} is no path: {what}, at byte {at}"),
            Error::NoSuchPlace { path, fault } => write!(f, "nothing is at {path:?}: {fault}"),
            Error::InvalidPatch { operation: None, what, .. } => f.write_str(what),
            Error::InvalidPatch { operation: Some(number), field, what } => {
                let space = if field.is_empty() { "" } else { " " };
                write!(f, "operation {number}{space}{field}: {what}")
            }
            Error::Update(error) => error.fmt(f),
            Error::Query { offset, what } => write!(f, "invalid query at byte {offset}: {what}"),
            Error::QueryTooDeep { offset, max } => {
                write!(f, "the query nests deeper than {max} levels, at byte {offset}")
            }
            Error::PatternTooLarge { pattern } => {
                write!(f, "the regular expression {pattern:?} is too large, or repeats too often")
            }
            Error::Parameter { name, what } => write!(f, "the parameter {name:?} {what}"),
            Error::InvalidCursor { what } => write!(f, "the query cannot go on from this cursor: {what}"),
            Error::InvalidQuery { what } => write!(f, "the query cannot be run: {what}"),
            Error::NotOne { found: 0 } => f.write_str("one document was due, and there is none"),
            Error::NotOne { .. } => f.write_str("one document was due, and there are more"),
            Error::QueryMemory { max } => {
                write!(f, "the query takes more than its {max} bytes of memory (sort_memory)")
            }
            Error::Cancelled { scanned } => write!(f, "the query was ended after {scanned} documents"),
            Error::DeadlinePassed { scanned } => {
                write!(f, "the query's deadline passed after {scanned} documents")
            }
            Error::SumOverflow { expression } => {
                write!(f, "the sum of {expression} is beyond the ints of 64 bits")
            }
            Error::UnknownCollection { name } => write!(f, "there is no collection named {name:?}"),
            Error::InvalidName { name, what } => write!(f, "{name:?} cannot name a collection: {what}"),
            Error::InvalidIndex { index, what } => write!(f, "index {index:?}: {what}"),
            Error::UnknownIndex { collection, index } => {
                write!(f, "the collection {collection:?} has no index named {index:?}")
            }
            Error::IndexCannotServe { index, what } => {
                write!(f, "the index {index:?} cannot answer this query: {what}")
            }
            Error::IndexExists { collection, index } => write!(
                f,
                "the collection {collection:?} has an index named {index:?} already, with another definition"
            ),
            Error::UniqueViolation { index, values, key } => {
                write!(
                    f,
                    "the unique index {index:?} would have {} twice, once of the document {key}",
                    List(values)
                )?;
                if values.iter().any(Value::is_null) { f.write_str(NULL_IS_A_VALUE) } else { Ok(()) }
            }
            Error::UniqueViolations { index, violations } => {
                write!(
                    f,
                    "the unique index {index:?} cannot be made, since documents have the same values:"
                )?;
                for (number, (values, one, other)) in violations.iter().enumerate() {
                    let comma = if number == 0 { "" } else { "," };
                    write!(f, "{comma} {} of {one} and {other}", List(values))?;
                }
                let has_null = violations.iter().any(|(values, ..)| values.iter().any(Value::is_null));
                if has_null { f.write_str(NULL_IS_A_VALUE) } else { Ok(()) }
            }
            Error::KeyExists { key } => write!(f, "key {key} is taken"),
            Error::IdsExhausted => {
                f.write_str("no id is left: the collection has had the largest integer as a key")
            }
            Error::LimitReached { what } => write!(f, "limit reached: {what}"),
        }
    }
}

/// Values behind one another, as JSON has them.
struct List<'a>(&'a [Value]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (number, value) in self.0.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(f, "{comma}{value}")?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use crate::document::{Key, Value};
    use crate::error::Error;

    #[test]
    fn a_unique_violation_names_the_values_and_the_documents() {
        let (index, text) = (String::from("by mail"), Value::from("a"));
        let one = Error::UniqueViolation {
            index: index.clone(),
            values: vec![text.clone(), 1.into()],
            key: Key::from("k"),
        };
        let said = "the unique index \"by mail\" would have [\"a\", 1] twice, once of the document \"k\"";
        assert_eq!(one.to_string(), said);
        let violations = vec![(vec![text], 1.into(), 2.into()), (vec![Value::Null], 3.into(), "k".into())];
        let many = Error::UniqueViolations { index, violations };
        assert_eq!(
            many.to_string(),
            "the unique index \"by mail\" cannot be made, since documents have the same values: [\"a\"] of 1 and 2, \
             [null] of 3 and \"k\" (null counts as a value here, and a missing field does not)"
        );
    }

    #[test]
    fn an_error_is_small_beside_what_calls_answer() {
        assert!(size_of::<Error>() <= 96, "{} bytes", size_of::<Error>());
    }
}
