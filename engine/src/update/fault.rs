//! Why a patch, a merge or an update cannot be applied.

use std::fmt;

use crate::document::{Key, Kind, PathFault, Value};
use crate::error::Advice;

/// The operation of a patch or an update that failed. Nothing was changed.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateError {
    /// The document's key, where the call was made on a collection.
    pub key: Option<Key>,
    /// The number of the operation, from 0.
    pub operation: usize,
    /// What it is, as `"add"` or `"inc"`.
    pub name: &'static str,
    /// Its path, as written.
    pub path: String,
    /// Why it failed.
    pub fault: UpdateFault,
}

/// Why an operation of a patch or an update failed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum UpdateFault {
    /// The path, or the `from` of a patch, leads nowhere.
    NoSuchPlace {
        /// The way up to the step that leads nowhere.
        at: String,
        /// What that step met.
        fault: PathFault,
    },
    /// A `test` found another value.
    TestFailed {
        /// The value of the test.
        expected: Value,
        /// The value in the document.
        found: Value,
    },
    /// A `move` to a place within the value that it moves.
    IntoItself {
        /// Where the value was to be taken from.
        from: String,
    },
    /// The value has another type than the operation needs.
    WrongKind {
        /// Its type.
        found: Kind,
        /// What the operation needs.
        needs: &'static str,
    },
    /// The int that would result is beyond 64 signed bits.
    Overflow {
        /// The int in the document.
        found: i64,
        /// The int of the operation.
        with: i64,
    },
    /// The whole value would be removed.
    NothingLeft,
    /// The path ends in an index or in the whole value, and a field was to be renamed.
    NoFieldToRename,
    /// A change of an `each` failed.
    InNode {
        /// The place of the value that was to be changed, from the value to which the `each` was applied.
        at: String,
        /// The change, its path from there, and why it failed.
        error: Box<UpdateError>,
    },
    /// The document would no longer be an object.
    NoDocument {
        /// The type that it would have.
        found: Kind,
    },
}

impl fmt::Display for UpdateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(key) = &self.key {
            write!(f, "document {key}: ")?;
        }
        self.reason(f)?;
        f.write_str("; nothing was changed")
    }
}

impl UpdateError {
    fn reason(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UpdateError { operation, name, path, fault, .. } = self;
        write!(f, "operation {operation}, {name} at {path:?}: {fault}")
    }
}

impl fmt::Display for UpdateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UpdateFault::NoSuchPlace { at, fault } => write!(f, "nothing is at {at:?}: {fault}"),
            UpdateFault::TestFailed { expected, found } => {
                write!(f, "{expected} was expected, and {found} is there")
            }
            UpdateFault::IntoItself { from } => write!(f, "{from:?} cannot be moved into itself"),
            UpdateFault::WrongKind { found, needs } => {
                write!(f, "it needs {needs}, and a value of type {found} is there")
            }
            UpdateFault::Overflow { found, with } => {
                write!(f, "the result of {found} and {with} is beyond 64 bits")
            }
            UpdateFault::NothingLeft => {
                write!(f, "a document cannot be removed from itself; {}", Advice::DeleteByKey)
            }
            UpdateFault::NoFieldToRename => f.write_str("only a field of an object has a name to change"),
            UpdateFault::InNode { at, error } => {
                write!(f, "in the value at {at:?}, ")?;
                error.reason(f)
            }
            UpdateFault::NoDocument { found } => {
                write!(f, "a document is an object, and it would be of type {found}")
            }
        }
    }
}
