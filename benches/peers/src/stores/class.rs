//! What a write has survived when the call returns. Stores are compared within a class.

use super::Commits;

/// A class of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Nothing: it is in the memory of the process.
    Kept,
    /// The end of the process.
    Written,
    /// A power cut.
    Durable,
}

impl Class {
    pub const ALL: [Class; 3] = [Class::Kept, Class::Written, Class::Durable];

    pub fn name(self) -> &'static str {
        match self {
            Class::Kept => "kept in memory",
            Class::Written => "handed to the system",
            Class::Durable => "durable",
        }
    }

    /// How stores of the class are opened.
    pub fn commits(self) -> Commits {
        if self == Class::Durable { Commits::Durable } else { Commits::Unsynced }
    }
}

/// As [`each_store`](super::each_store), those that have the class.
macro_rules! each_of {
    ($class:expr, $then:ident) => {
        match $class {
            $crate::stores::Class::Kept => {
                $crate::stores::each_kept!($then);
            }
            $crate::stores::Class::Written => {
                $crate::stores::each_written!($then);
            }
            $crate::stores::Class::Durable => {
                $crate::stores::each_durable!($then);
            }
        }
    };
}

pub(crate) use each_of;
