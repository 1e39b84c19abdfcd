//! Keys: what a document is found by.

use std::borrow::Cow;
use std::fmt;

use super::{Kind, Text, Value};

/// A document's key: an int, text or bytes. Ints come before text, text before bytes; ints are ordered as numbers, text and
/// bytes bytewise.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// An int: what [`Collection::insert`](crate::Collection::insert) gives out.
    Int(i64),
    /// UTF-8 of at most [`KEY_LEN_MAX`](super::KEY_LEN_MAX) bytes.
    Text(Text),
    /// At most [`KEY_LEN_MAX`](super::KEY_LEN_MAX) bytes.
    Bytes(Box<[u8]>),
}

//= spec/values.md#v-3-8-order-of-keys
//# Keys MUST be ordered as the values that they are: ints by number, then texts, then byte strings.
/// A key that is borrowed from somewhere. Ordered as [`Key`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyRef<'a> {
    /// An int.
    Int(i64),
    /// UTF-8.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
}

impl Key {
    /// The same key, borrowed.
    #[inline]
    pub fn as_ref(&self) -> KeyRef<'_> {
        match self {
            Key::Int(int) => KeyRef::Int(*int),
            Key::Text(text) => KeyRef::Text(text),
            Key::Bytes(bytes) => KeyRef::Bytes(bytes),
        }
    }
}

impl<'a> KeyRef<'a> {
    /// The same key, owned.
    pub fn to_key(self) -> Key {
        match self {
            KeyRef::Int(int) => Key::Int(int),
            KeyRef::Text(text) => Key::Text(text.into()),
            KeyRef::Bytes(bytes) => Key::Bytes(bytes.into()),
        }
    }

    /// The length that [`KEY_LEN_MAX`](super::KEY_LEN_MAX) bounds: bytes of text or of a byte string, 0 for an int.
    pub fn payload_len(self) -> usize {
        match self {
            KeyRef::Int(_) => 0,
            KeyRef::Text(text) => text.len(),
            KeyRef::Bytes(bytes) => bytes.len(),
        }
    }
}

/// As a person reads it: `1`, `"a"`, `0xff`.
impl fmt::Display for KeyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyRef::Int(int) => write!(f, "{int}"),
            KeyRef::Text(text) => write!(f, "{text:?}"),
            KeyRef::Bytes(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

/// As a person reads it: `1`, `"a"`, `0xff`.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

/// What can be looked up as a key: ints that fit into an `i64`, text and bytes, owned or borrowed.
pub trait AsKey {
    /// The key that this stands for.
    fn as_key(&self) -> KeyRef<'_>;
}

macro_rules! keys {
    ($variant:ident of $given:ident => $part:expr; $($type:ty),+) => {$(
        impl AsKey for $type {
            #[inline]
            fn as_key(&self) -> KeyRef<'_> {
                let $given = self;
                KeyRef::$variant($part)
            }
        }

        impl From<$type> for Key {
            fn from(key: $type) -> Self {
                key.as_key().to_key()
            }
        }
    )+};
}

keys!(Int of int => *int; i64);
keys!(Int of int => i64::from(*int); i8, i16, i32, u8, u16, u32);
keys!(Text of text => text.as_ref(); String, Box<str>, Cow<'_, str>);
keys!(Bytes of bytes => bytes.as_ref(); Vec<u8>);

impl AsKey for str {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Text(self)
    }
}

impl AsKey for Text {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Text(self)
    }
}

impl AsKey for [u8] {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Bytes(self)
    }
}

impl<const N: usize> AsKey for [u8; N] {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Bytes(self)
    }
}

impl AsKey for Key {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        self.as_ref()
    }
}

impl AsKey for KeyRef<'_> {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        *self
    }
}

impl<T: AsKey + ?Sized> AsKey for &T {
    #[inline]
    fn as_key(&self) -> KeyRef<'_> {
        (**self).as_key()
    }
}

impl From<Text> for Key {
    fn from(text: Text) -> Self {
        Key::Text(text)
    }
}

impl From<Box<[u8]>> for Key {
    fn from(bytes: Box<[u8]>) -> Self {
        Key::Bytes(bytes)
    }
}

impl<const N: usize> From<[u8; N]> for Key {
    fn from(bytes: [u8; N]) -> Self {
        Key::Bytes(bytes.into())
    }
}

impl From<KeyRef<'_>> for Key {
    fn from(key: KeyRef<'_>) -> Self {
        key.to_key()
    }
}

/// From whatever a borrowed key can be looked up by.
impl<T: AsKey + ?Sized> From<&T> for Key {
    fn from(key: &T) -> Self {
        key.as_key().to_key()
    }
}

/// Back with the type of a value that is no key.
impl TryFrom<Value> for Key {
    type Error = Kind;

    fn try_from(value: Value) -> Result<Self, Kind> {
        match value {
            Value::Int(int) => Ok(Key::Int(int)),
            Value::Text(text) => Ok(Key::Text(text)),
            Value::Bytes(bytes) => Ok(Key::Bytes(bytes.into())),
            other => Err(other.kind()),
        }
    }
}
