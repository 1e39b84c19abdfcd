//! Reading what a run holds of a group: numbers and values, one behind the other.

use crate::document::{RawDocument, RawValue, Value};
use crate::error::{Error, Result};
use crate::query::GivenValue;

/// What is left of the bytes.
#[derive(Debug)]
pub(super) struct Part<'b>(pub(super) &'b [u8]);

/// The error for bytes that no query wrote.
pub(super) fn foreign() -> Error {
    Error::Decode { at: 0, what: "the file of a query holds something else" }
}

impl<'b> Part<'b> {
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk().ok_or_else(foreign)?;
        self.0 = rest;
        Ok(*array)
    }

    /// What [`put_value`] wrote: the encoding, and the value over it.
    pub(super) fn value(&mut self) -> Result<Option<(&'b [u8], RawValue<'b>)>> {
        let [there] = self.array()?;
        if there == 0 {
            return Ok(None);
        }
        let value = at(self.0)?;
        let encoded = value.encoded()?;
        self.0 = &self.0[encoded.len()..];
        Ok(Some((encoded, value)))
    }
}

/// Appends a value, as [`put_value`] does its encoding.
pub(super) fn put_given(value: &GivenValue<'_, '_>, out: &mut Vec<u8>) -> Result<()> {
    put_value(Some(&[]), out);
    value.encode(out)
}

/// Appends an encoded value, or that there is none.
pub(super) fn put_value(encoded: Option<&[u8]>, out: &mut Vec<u8>) {
    out.push(u8::from(encoded.is_some()));
    out.extend_from_slice(encoded.unwrap_or_default());
}

pub(super) fn decoded(encoded: &[u8]) -> Result<Value> {
    at(encoded)?.to_value()
}

fn at(bytes: &[u8]) -> Result<RawValue<'_>> {
    RawDocument::from_verified(bytes).value().ok_or_else(foreign)
}
