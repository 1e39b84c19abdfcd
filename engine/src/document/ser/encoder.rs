//! What is written so far, and the levels around what comes next.

use serde::ser;

use crate::document::DEPTH_MAX;
use crate::document::cbor::encode;
use crate::error::{Error, Result};

/// Writes values one behind the other, and knows how deep it is in them.
pub(super) struct Encoder<'a> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) level: usize,
}

impl Encoder<'_> {
    /// Enters an array or object.
    #[inline]
    pub(super) fn descend(&mut self) -> Result<()> {
        if self.level == DEPTH_MAX {
            return Err(Error::TooDeep { max: DEPTH_MAX });
        }
        self.level += 1;
        Ok(())
    }

    /// Begins the object of one field that holds a variant's content.
    pub(super) fn begin_variant(&mut self, variant: &str) -> Result<()> {
        self.descend()?;
        encode::head(self.out, encode::OBJECT, 1);
        encode::text(self.out, variant);
        Ok(())
    }

    pub(super) fn unsigned(&mut self, value: u64) -> Result<()> {
        let int = i64::try_from(value)
            .map_err(|_| error(format!("{value} is beyond the largest int, {}", i64::MAX)))?;
        encode::int(self.out, int);
        Ok(())
    }
}

pub(super) fn error(message: String) -> Error {
    Error::Serde { message }
}

impl ser::Error for Error {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        error(message.to_string())
    }
}
