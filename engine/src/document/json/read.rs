//! Whole JSON texts: a document, a value, an entry.

use super::lexer::Position;
use super::parse::Parser;
use crate::document::{DEPTH_MAX, Document, Key, Value};
use crate::error::Result;

/// The document that a JSON text holds.
///
/// # Errors
/// `Json` with line and column: syntax, a name that comes twice, a number out of range, bytes that are not UTF-8; `TooDeep`.
pub fn parse_document(text: &[u8]) -> Result<Document> {
    Document::from_json_at(text, Position::START)
}

/// The value that a JSON text holds.
///
/// # Errors
/// As [`parse_document`].
pub fn parse_value(text: &[u8]) -> Result<Value> {
    Value::from_json_at(text, Position::START)
}

/// The value that a JSON text holds, where that is a patch: values of documents may stand two levels down.
pub(crate) fn parse_patch(text: &[u8]) -> Result<Value> {
    let mut parser = Parser::new(text, Position::START, DEPTH_MAX + 2)?;
    let value = parser.value()?;
    parser.end()?;
    Ok(value)
}

//= spec/encoding.md#e-6-12-entries
//# A reader MUST refuse an entry of which a field is missing, or that has others.
//= spec/encoding.md#e-6-12-entries
//# An entry is no document, so a reader MUST refuse an entry inside of a `$literal`.
/// The key and the document that a JSON text holds, as [`write_entry`](super::write_entry) wrote them: `{"key":1,"doc":{"a":true}}`.
///
/// # Errors
/// As [`parse_document`]; `Json` where the two are not there, or are not alone.
pub fn parse_entry(text: &[u8]) -> Result<(Key, Document)> {
    <(Key, Document)>::from_json_at(text, Position::START)
}

/// What one JSON text of a stream can hold: a [`Document`], a [`Value`], or a key and a document as [`parse_entry`] reads them.
pub trait FromJson: Sized + sealed::Sealed {
    /// The value of a text that stands at `place` of a longer one.
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "called by this crate alone")]
    fn from_json_at(text: &[u8], place: Position) -> Result<Self>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::document::Document {}
    impl Sealed for crate::document::Value {}
    impl Sealed for (crate::document::Key, crate::document::Document) {}
}

#[expect(private_interfaces, reason = "called by this crate alone")]
impl FromJson for Value {
    fn from_json_at(text: &[u8], place: Position) -> Result<Self> {
        // A document in a value is a level below one that stands alone.
        let mut parser = Parser::new(text, place, DEPTH_MAX)?;
        let value = parser.value()?;
        parser.end()?;
        Ok(value)
    }
}

#[expect(private_interfaces, reason = "called by this crate alone")]
impl FromJson for Document {
    fn from_json_at(text: &[u8], place: Position) -> Result<Self> {
        let mut parser = Parser::new(text, place, DEPTH_MAX)?;
        let document = parser.document()?;
        parser.end()?;
        Ok(document)
    }
}

#[expect(private_interfaces, reason = "called by this crate alone")]
impl FromJson for (Key, Document) {
    fn from_json_at(text: &[u8], place: Position) -> Result<Self> {
        // One level more: the entry's own.
        let mut parser = Parser::new(text, place, DEPTH_MAX + 1)?;
        let start = parser.position();
        let mut entry = parser.plain_object()?;
        parser.end()?;
        let (key, document) = (entry.remove("key"), entry.remove("doc"));
        let (Some(key), Some(Value::Object(document)), true) = (key, document, entry.is_empty()) else {
            return Err(
                parser.error(start, "an entry is an object of two fields, `key` and the object `doc`")
            );
        };
        let key = Key::try_from(key)
            .map_err(|kind| parser.error(start, format!("a key is an int, text or bytes, not {kind}")))?;
        Ok((key, document))
    }
}

impl Document {
    /// The document that a JSON text holds.
    ///
    /// # Errors
    /// `Json` with line and column; `TooDeep`, `DocumentTooLarge`.
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        parse_document(text.as_ref())
    }
}
