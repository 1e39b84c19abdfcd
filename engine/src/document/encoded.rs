//! Documents and keys as bytes, each in its one form. spec: E-3, E-4.

use super::cbor::head::{Head, Reader};
use super::cbor::{decode, encode};
use super::limits::check_len;
use super::{DEPTH_MAX, Document, KEY_LEN_MAX, KeyRef};
use crate::error::{Error, Result};

impl Document {
    /// The document's deterministic CBOR. The limits on length and depth are not looked at here:
    /// [`encode_into`](Self::encode_into) does.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        encode::document(&mut out, self, usize::MAX).expect("no document in memory is that deep");
        out
    }

    /// Appends the document's deterministic CBOR to `out`, which stays as it was on an error.
    ///
    /// # Errors
    /// `TooDeep`, `DocumentTooLarge`.
    #[inline]
    pub fn encode_into(&self, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let encoded = encode::document(out, self, DEPTH_MAX).map_err(Error::from);
        let checked = encoded.and_then(|()| check_len(out.len() - start));
        if checked.is_err() {
            out.truncate(start);
        }
        checked
    }

    /// The document that `bytes` encode.
    ///
    /// # Errors
    /// `Decode` for anything but the bytes that [`encode`](Self::encode) gives for some document; `TooDeep`,
    /// `DocumentTooLarge`.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        check_len(bytes.len())?;
        Ok(decode::document(bytes)?)
    }
}

impl<'a> KeyRef<'a> {
    //= spec/values.md#v-4-1-key-length
    //# A text or byte string that is a key MUST NOT have more than 1,024 bytes.
    //= spec/values.md#v-4-4-beyond-a-limit
    //# A store MUST refuse a key or a document that is beyond a limit with an error that names the limit,
    //# whether it comes from a caller, from JSON or from bytes.
    //= spec/semantics.md#s-2-3-key-limit
    //# A write that names a text or bytes key of more than 1,024 bytes of payload MUST be refused as
    //# `KeyTooLong`.
    /// Whether a store takes a key of this length.
    ///
    /// # Errors
    /// `KeyTooLong`.
    #[inline]
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
        let (key, len) = Self::decode_long(bytes)?;
        key.check_len()?;
        Ok((key, len))
    }

    /// As [`decode`](Self::decode), however long the key is: an entry of an index is stored as a byte string that may be longer than a key.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), but for `KeyTooLong`.
    #[inline]
    pub(crate) fn decode_long(bytes: &'a [u8]) -> Result<(Self, usize)> {
        let mut reader = Reader::new(bytes);
        let key = match reader.head()? {
            Head::Int(int) => KeyRef::Int(int),
            Head::Text(len) => KeyRef::Text(reader.text(len)?),
            Head::Bytes(len) => KeyRef::Bytes(reader.take(len)?),
            _ => return Err(Error::Decode { at: 0, what: "a key is an int, text or bytes" }),
        };
        Ok((key, reader.position()))
    }
}
