//! A failed operation, before it is said which one it was.

use super::fault::{UpdateError, UpdateFault};
use crate::error::Error;

/// Why an operation failed, before it is said which one it was.
#[derive(Debug)]
pub(super) enum Failed {
    /// It has all that it needs.
    Error(Error),
    Fault(UpdateFault),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed::Error(error)
    }
}

impl From<UpdateFault> for Failed {
    fn from(fault: UpdateFault) -> Self {
        Failed::Fault(fault)
    }
}

impl Failed {
    //= spec/update.md#u-2-2-errors
    //# The error of an operation that fails MUST name the number of the operation from 0, its path, and what was
    //# there instead.
    /// The error of operation number `operation`, with no key yet.
    #[cold]
    pub(super) fn at(self, operation: usize, name: &'static str, path: impl FnOnce() -> String) -> Error {
        match self {
            Failed::Error(error) => error,
            Failed::Fault(fault) => {
                Error::Update(Box::new(UpdateError { key: None, operation, name, path: path(), fault }))
            }
        }
    }
}
