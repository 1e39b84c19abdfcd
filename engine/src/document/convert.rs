//! From Rust's types to `Value`. Only conversions that lose nothing: a `u64` may be too large, so it has none.
//!
//! `u8` has none either, so that `Vec<u8>` can mean bytes where a vector of any other type means an array.

use std::borrow::Cow;

use super::{Document, Key, KeyRef, Text, Value};

macro_rules! from_each {
    ($variant:ident: $($from:ty),+) => {$(
        impl From<$from> for Value {
            #[inline]
            fn from(value: $from) -> Self {
                Value::$variant(value.into())
            }
        }
    )+};
}

from_each!(Bool: bool);
from_each!(Int: i8, i16, i32, i64, u16, u32);
from_each!(Float: f32, f64);
from_each!(Text: &str, String, &String, Text, &Text, char, Cow<'_, str>);
from_each!(Bytes: Vec<u8>, &[u8], Box<[u8]>);
from_each!(Object: Document);

impl<const N: usize> From<[u8; N]> for Value {
    fn from(bytes: [u8; N]) -> Self {
        Value::Bytes(bytes.into())
    }
}

impl<const N: usize> From<&[u8; N]> for Value {
    fn from(bytes: &[u8; N]) -> Self {
        Value::Bytes(bytes.into())
    }
}

impl From<()> for Value {
    fn from((): ()) -> Self {
        Value::Null
    }
}

impl From<&Value> for Value {
    fn from(value: &Value) -> Self {
        value.clone()
    }
}

impl From<&Document> for Value {
    fn from(document: &Document) -> Self {
        Value::Object(document.clone())
    }
}

impl From<KeyRef<'_>> for Value {
    fn from(key: KeyRef<'_>) -> Self {
        match key {
            KeyRef::Int(int) => Value::Int(int),
            KeyRef::Text(text) => Value::Text(text.into()),
            KeyRef::Bytes(bytes) => Value::Bytes(bytes.into()),
        }
    }
}

impl From<Key> for Value {
    fn from(key: Key) -> Self {
        match key {
            Key::Int(int) => Value::Int(int),
            Key::Text(text) => Value::Text(text),
            Key::Bytes(bytes) => Value::Bytes(bytes.into()),
        }
    }
}

/// `None` is null.
impl<V> From<Option<V>> for Value
where
    Value: From<V>,
{
    fn from(value: Option<V>) -> Self {
        value.map_or(Value::Null, Value::from)
    }
}

impl<V> From<Vec<V>> for Value
where
    Value: From<V>,
{
    fn from(items: Vec<V>) -> Self {
        items.into_iter().collect()
    }
}

impl<V, const N: usize> From<[V; N]> for Value
where
    Value: From<V>,
{
    fn from(items: [V; N]) -> Self {
        items.into_iter().collect()
    }
}

impl<V> FromIterator<V> for Value
where
    Value: From<V>,
{
    fn from_iter<I: IntoIterator<Item = V>>(items: I) -> Self {
        Value::Array(items.into_iter().map(Value::from).collect())
    }
}
