//! Where a reader of typed values is, and how deep.

use serde::de;

use crate::document::DEPTH_MAX;
use crate::document::cbor::head::{Head, Reader};
use crate::error::{Error, Result};

impl de::Error for Error {
    #[cold]
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Error::Serde { message: message.to_string() }
    }
}

/// Reads values one behind the other, and knows how deep it is in them.
pub(in crate::document) struct Decoder<'de> {
    pub(super) reader: Reader<'de>,
    pub(super) level: usize,
}

impl<'de> Decoder<'de> {
    #[inline]
    pub(in crate::document) fn new(reader: Reader<'de>) -> Self {
        Decoder { reader, level: 0 }
    }

    /// The head of what comes next, left unread.
    #[inline]
    pub(super) fn peek(&self) -> Result<Head> {
        Ok({ self.reader }.head()?)
    }

    #[inline]
    pub(super) fn descend(&mut self) -> Result<()> {
        if self.level == DEPTH_MAX {
            return Err(Error::TooDeep { max: DEPTH_MAX });
        }
        self.level += 1;
        Ok(())
    }

    /// Leaves an array or object of `count` things, of which the visitor left `left` unread: then it is of another type.
    #[inline]
    pub(super) fn ascend(&mut self, left: usize, count: usize) -> Result<()> {
        self.level -= 1;
        match left {
            0 => Ok(()),
            _ => Err(de::Error::invalid_length(count, &format!("{}", count - left).as_str())),
        }
    }
}
