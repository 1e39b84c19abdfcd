//! Documents over their bytes: a field is found by stepping over those before it; nothing is decoded, nothing allocated.

use std::fmt;

use serde::Deserialize;

use super::cbor::decode;
use super::cbor::head::{Head, Reader};
use super::node::{Scalar, View};
use super::value::exact_f64;
use super::{Document, Kind, Value, de};
use crate::error::Result;

/// A document as its bytes.
///
/// Over bytes that are no document, what is asked for is `None`, ends early or is an error; never a panic.
///
/// ```
/// use holotype::doc;
/// use holotype::document::RawDocument;
///
/// let bytes = doc! { "name": "Wren", "seen": [{ "where": "hedge" }] }.encode();
/// let bird = RawDocument::from_bytes(&bytes)?;
/// assert_eq!(bird.pointer("/seen/0/where").and_then(|place| place.as_str()), Some("hedge"));
/// assert!(bird.pointer("/seen/1").is_none());
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RawDocument<'a> {
    bytes: &'a [u8],
}

impl<'a> RawDocument<'a> {
    /// The document that `bytes` hold, which are known to hold one: they were checked before, or written by this crate.
    #[inline]
    pub fn from_verified(bytes: &'a [u8]) -> Self {
        RawDocument { bytes }
    }

    /// The document that `bytes` hold, checked first.
    ///
    /// # Errors
    /// As [`validate`](super::validate).
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self> {
        super::validate(bytes)?;
        Ok(RawDocument { bytes })
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The field `name`.
    #[inline]
    pub fn get(&self, name: &str) -> Option<RawValue<'a>> {
        field(self.bytes, name)
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.iter().left
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The fields, in the order in which they are encoded.
    pub fn iter(&self) -> RawFields<'a> {
        let none = RawFields { reader: Reader::new(&[]), left: 0 };
        self.value().and_then(|value| value.fields()).unwrap_or(none)
    }

    /// The document, decoded.
    ///
    /// # Errors
    /// As [`Document::decode`].
    pub fn to_document(&self) -> Result<Document> {
        Document::decode(self.bytes)
    }

    /// The document as a type of the caller's, which may borrow from the bytes.
    ///
    /// # Errors
    /// As [`from_bytes`](super::from_bytes).
    pub fn to_type<T: Deserialize<'a>>(&self) -> Result<T> {
        super::from_bytes(self.bytes)
    }

    /// The document as the value that it is; `None` where the bytes begin with none.
    #[inline]
    pub(crate) fn value(&self) -> Option<RawValue<'a>> {
        RawValue::at(Reader::new(self.bytes))
    }
}

impl fmt::Debug for RawDocument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<'a> IntoIterator for RawDocument<'a> {
    type Item = (&'a str, RawValue<'a>);
    type IntoIter = RawFields<'a>;

    fn into_iter(self) -> RawFields<'a> {
        self.iter()
    }
}

/// A value within a document's bytes. As cheap to copy as a slice.
#[derive(Clone, Copy)]
pub struct RawValue<'a> {
    head: Head,
    /// From the head on: the value, and then whatever comes behind it.
    bytes: &'a [u8],
}

impl<'a> RawValue<'a> {
    /// The value that the reader is at.
    #[inline]
    pub(crate) fn at(mut reader: Reader<'a>) -> Option<Self> {
        let bytes = reader.rest();
        let head = reader.head().ok()?;
        Some(RawValue { head, bytes })
    }

    /// The bytes from the value on, to the end of the document.
    pub(crate) fn bytes_from(&self) -> &'a [u8] {
        self.bytes
    }

    /// How many bytes there are from the value to the end of the document: they tell its values apart.
    pub(crate) fn bytes_left(&self) -> usize {
        self.bytes.len()
    }

    /// A reader that is behind the head.
    #[inline]
    fn content(&self) -> Reader<'a> {
        let mut reader = Reader::new(self.bytes);
        reader.head().expect("the head was read when the value was made");
        reader
    }

    /// The type of the value.
    pub fn kind(&self) -> Kind {
        self.head.kind()
    }

    /// The content of a scalar, or the parts. Text is not checked to be UTF-8.
    #[inline(always)]
    pub(super) fn view(&self) -> View<'a, Self> {
        // The length in a head was held against the bytes when the head was read, so `take` does not fail.
        let payload = |len| self.content().take(len).unwrap_or_default();
        View::Scalar(match self.head {
            Head::Null => Scalar::Null,
            Head::Bool(value) => Scalar::Bool(value),
            Head::Int(value) => Scalar::Int(value),
            Head::Float(value) => Scalar::Float(value),
            Head::Text(len) => Scalar::Text(payload(len)),
            Head::Bytes(len) => Scalar::Bytes(payload(len)),
            Head::Array(left) => return View::Array(left, RawItems { reader: self.content(), left }),
            Head::Object(left) => return View::Object(left, RawFields { reader: self.content(), left }),
        })
    }

    /// Whether this is null.
    pub fn is_null(&self) -> bool {
        matches!(self.head, Head::Null)
    }

    /// The bool, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.head {
            Head::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The int, if this is one. A float is none, whatever its value.
    #[inline]
    pub fn as_i64(&self) -> Option<i64> {
        match self.head {
            Head::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The float, or the int if a float can hold it exactly.
    #[inline]
    pub fn as_f64(&self) -> Option<f64> {
        match self.head {
            Head::Float(value) => Some(value),
            Head::Int(value) => exact_f64(value),
            _ => None,
        }
    }

    /// The text, if this is one.
    #[inline]
    pub fn as_str(&self) -> Option<&'a str> {
        match self.head {
            Head::Text(len) => self.content().text(len).ok(),
            _ => None,
        }
    }

    /// The bytes, if this is a byte string.
    pub fn as_bytes(&self) -> Option<&'a [u8]> {
        match self.head {
            Head::Bytes(len) => self.content().take(len).ok(),
            _ => None,
        }
    }

    /// The items, if this is an array.
    pub fn items(&self) -> Option<RawItems<'a>> {
        match self.head {
            Head::Array(left) => Some(RawItems { reader: self.content(), left }),
            _ => None,
        }
    }

    /// The fields, if this is an object.
    pub fn fields(&self) -> Option<RawFields<'a>> {
        match self.head {
            Head::Object(left) => Some(RawFields { reader: self.content(), left }),
            _ => None,
        }
    }

    /// The field `name`, if this is an object that has it.
    #[inline]
    pub fn get(&self, name: &str) -> Option<RawValue<'a>> {
        field(self.bytes, name)
    }

    /// The value, decoded.
    ///
    /// # Errors
    /// `Decode`, `TooDeep`: as [`Document::decode`]; places count from the start of the value.
    pub fn to_value(&self) -> Result<Value> {
        Ok(decode::value(&mut Reader::new(self.bytes), 0)?)
    }

    /// The value as a type of the caller's, which may borrow from the bytes.
    ///
    /// # Errors
    /// `Serde` where the value is not of that type; `Decode`.
    pub fn to_type<T: Deserialize<'a>>(&self) -> Result<T> {
        T::deserialize(&mut de::decoder::Decoder::new(Reader::new(self.bytes)))
    }

    /// The encoded value alone. Costs a walk over it.
    ///
    /// # Errors
    /// `Decode`, if its end cannot be found.
    pub fn encoded(&self) -> Result<&'a [u8]> {
        let mut reader = Reader::new(self.bytes);
        reader.skip()?;
        Ok(&self.bytes[..reader.position()])
    }
}

/// The field `name` of the object that `bytes` begin with.
fn field<'a>(bytes: &'a [u8], name: &str) -> Option<RawValue<'a>> {
    let mut reader = Reader::new(bytes);
    match reader.head().ok()? {
        Head::Object(mut count) => reader.find(name.as_bytes(), &mut count).ok()?.then_some(())?,
        _ => return None,
    }
    RawValue::at(reader)
}

impl fmt::Debug for RawValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_value() {
            Ok(value) => value.fmt(f),
            Err(error) => write!(f, "<{error}>"),
        }
    }
}

/// The fields of an object within a document's bytes. Ends early where the bytes are no CBOR.
#[derive(Debug, Clone)]
pub struct RawFields<'a> {
    reader: Reader<'a>,
    left: usize,
}

impl<'a> Iterator for RawFields<'a> {
    type Item = (&'a str, RawValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let field = self.read();
        if field.is_none() {
            self.left = 0;
        }
        field
    }
}

impl<'a> RawFields<'a> {
    fn read(&mut self) -> Option<(&'a str, RawValue<'a>)> {
        let name = self.reader.name().ok()?;
        let value = RawValue::at(self.reader)?;
        self.reader.skip().ok()?;
        Some((name, value))
    }
}

impl std::iter::FusedIterator for RawFields<'_> {}

/// The items of an array within a document's bytes. Ends early where the bytes are no CBOR.
#[derive(Debug, Clone)]
pub struct RawItems<'a> {
    reader: Reader<'a>,
    left: usize,
}

impl<'a> Iterator for RawItems<'a> {
    type Item = RawValue<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let item = RawValue::at(self.reader);
        if item.is_none() || self.reader.skip().is_err() {
            self.left = 0;
            return None;
        }
        item
    }
}

impl std::iter::FusedIterator for RawItems<'_> {}
