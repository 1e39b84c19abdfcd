//! Why a way into a value leads nowhere.

use std::fmt;

use crate::document::Kind;

/// Why a pointer or a path leads to no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathFault {
    /// The object has no field of this name.
    NoField,
    /// The array ends before this index.
    BeyondEnd {
        /// How many items it has.
        len: usize,
    },
    /// The value is an array, and the step is no index of one.
    NotAnIndex,
    /// The value is an object, and the step is an index.
    NotAName,
    /// The value is neither an object nor an array.
    Scalar {
        /// Its type.
        found: Kind,
    },
}

impl fmt::Display for PathFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathFault::NoField => f.write_str("the object has no such field"),
            PathFault::BeyondEnd { len } => write!(f, "the array has {len} items"),
            PathFault::NotAnIndex => f.write_str("the value is an array, and this is no index"),
            PathFault::NotAName => f.write_str("the value is an object, and this is no name"),
            PathFault::Scalar { found } => write!(f, "the value around it is of type {found}"),
        }
    }
}
