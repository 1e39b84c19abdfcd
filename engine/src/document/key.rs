//! Keys: what a document is found by.

use std::borrow::Cow;
use std::fmt;

use super::cbor::encode;
use super::cbor::head::{Head, Reader};
use super::{KEY_LEN_MAX, Kind, Text, Value};
use crate::error::{Error, Result};

/// A document's key: an int, text or bytes. Ints come before text, text before bytes; ints are ordered as numbers, text and
/// bytes bytewise.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// An int: what [`Collection::insert`](crate::Collection::insert) gives out.
    Int(i64),
    /// UTF-8 of at most [`KEY_LEN_MAX`] bytes.
    Text(Text),
    /// At most [`KEY_LEN_MAX`] bytes.
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

    /// The length that [`KEY_LEN_MAX`] bounds: bytes of text or of a byte string, 0 for an int.
    pub fn payload_len(self) -> usize {
        match self {
            KeyRef::Int(_) => 0,
            KeyRef::Text(text) => text.len(),
            KeyRef::Bytes(bytes) => bytes.len(),
        }
    }

    //= spec/values.md#v-4-1-key-length
    //# A text or byte string that is a key MUST NOT have more than 1,024 bytes.
    //= spec/values.md#v-4-4-beyond-a-limit
    //# A store MUST refuse a key or a document that is beyond a limit with an error that names the limit,
    //# whether it comes from a caller, from JSON or from bytes.
    /// Whether a store takes a key of this length.
    ///
    /// # Errors
    /// `KeyTooLong`.
    pub fn check_len(self) -> Result<()> {
        match self.payload_len() {
            len if len > KEY_LEN_MAX => Err(Error::KeyTooLong { len, max: KEY_LEN_MAX }),
            _ => Ok(()),
        }
    }

    /// Appends the key's CBOR.
    #[inline]
    pub fn encode_into(self, out: &mut Vec<u8>) {
        match self {
            KeyRef::Int(int) => encode::int(out, int),
            KeyRef::Text(text) => encode::text(out, text),
            KeyRef::Bytes(bytes) => encode::bytes(out, bytes),
        }
    }

    /// How many bytes [`encode_into`](Self::encode_into) appends.
    #[inline]
    pub fn encoded_len(self) -> usize {
        match self {
            KeyRef::Int(int) => encode::head_len(encode::int_argument(int)),
            KeyRef::Text(text) => encode::head_len(text.len() as u64) + text.len(),
            KeyRef::Bytes(bytes) => encode::head_len(bytes.len() as u64) + bytes.len(),
        }
    }

    /// How many bytes the key's CBOR takes, if `bytes` begin with it: what [`decode`](Self::decode) would find, without decoding.
    #[inline]
    pub fn len_at(self, bytes: &[u8]) -> Option<usize> {
        let (major, argument, payload) = match self {
            KeyRef::Int(int @ 0..) => (encode::UNSIGNED, int as u64, None),
            KeyRef::Int(int) => (encode::NEGATIVE, encode::int_argument(int), None),
            KeyRef::Text(text) => (encode::TEXT, text.len() as u64, Some(text.as_bytes())),
            KeyRef::Bytes(payload) => (encode::BYTES, payload.len() as u64, Some(payload)),
        };
        if !encode::has_head(bytes, major, argument) {
            return None;
        }
        let head_len = encode::head_len(argument);
        match payload {
            Some(payload) => bytes[head_len..].starts_with(payload).then_some(head_len + payload.len()),
            None => Some(head_len),
        }
    }

    //= spec/encoding.md#e-4-1-stored-key
    //# A reader MUST refuse a key that is not an int, a text or a byte string.
    /// The key at the start of `bytes`, and how many bytes it takes.
    ///
    /// # Errors
    /// `Decode` for what is no deterministic CBOR, or of another type; `KeyTooLong`.
    #[inline]
    pub fn decode(bytes: &'a [u8]) -> Result<(Self, usize)> {
        let mut reader = Reader::new(bytes);
        let key = match reader.head()? {
            Head::Int(int) => KeyRef::Int(int),
            Head::Text(len) => KeyRef::Text(reader.text(len)?),
            Head::Bytes(len) => KeyRef::Bytes(reader.take(len)?),
            _ => return Err(Error::Decode { at: 0, what: "a key is an int, text or bytes" }),
        };
        key.check_len()?;
        Ok((key, reader.position()))
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
