//! Values, documents and keys: what a store holds, and how it looks as bytes and as JSON.
//!
//! A [`Document`] is a finite map from text to [`Value`]; a [`Key`] names it in its collection. `spec/values.md` says what they
//! are, when they are equal and how they are ordered; `spec/encoding.md` how each looks as bytes.
//!
//! | to | use |
//! |---|---|
//! | write a document down | [`doc!`](crate::doc), [`Document::insert`], [`Document::from_json`] |
//! | store a type of your own | [`to_bytes`], [`from_bytes`]: serde, straight to and from the bytes |
//! | read one field of many | [`RawDocument::get`]: no decoding of the rest, no allocation |
//! | read a value within others | [`RawDocument::pointer`]: the same, by a JSON Pointer |
//! | check bytes from elsewhere | [`validate`] |
//! | learn why a pointer leads nowhere | [`JsonPointer::resolve`] |
//! | compare any two values | [`Value::order_cmp`], or their [`order_key`]s bytewise |
//!
//! The room is pure: bytes and values in, bytes and values out. Equal documents have equal bytes, whichever way they were made.

pub(crate) mod bytes;
pub(crate) mod cbor;
mod convert;
mod encoded;
mod key;
pub(crate) mod limits;
pub(crate) mod map;
pub(crate) mod node;
mod nodes;
pub(crate) mod order;
pub(crate) mod pointer;
mod raw;
mod serde_impls;
mod text;
mod value;

mod de;
mod macros;
mod ser;

pub mod json;
pub mod order_key;

#[cfg(test)]
pub(crate) mod tests;

pub use cbor::validate;
pub use de::from_bytes;
pub use json::JsonMode;
pub use key::{AsKey, Key, KeyRef};
pub use limits::{DEPTH_MAX, DOCUMENT_LEN_MAX, KEY_LEN_MAX};
pub use map::Fields;
pub use pointer::{JsonPointer, PathFault};
pub use raw::{RawDocument, RawFields, RawItems, RawValue};
pub use ser::to_bytes;
pub use text::Text;
pub use value::{Document, Kind, Value};

#[doc(hidden)]
pub use macros::value_from;
