//! serde to deterministic CBOR, with no tree in between.
//!
//! | Rust | value |
//! |---|---|
//! | bool, ints that fit into an `i64`, floats, `char`, `str` | bool, int, float, text |
//! | what calls `serialize_bytes` | bytes |
//! | `None`, `()`, a unit struct | null |
//! | `Some(x)`, a newtype of `x` | `x` |
//! | sequences, tuples | array |
//! | structs, maps | object; names that are ints, bools or `char`s become text |
//! | enums | text for a unit variant, else an object of one field: variant to content |

mod encoder;
mod name;
mod object;
mod sort;

use serde::ser::{self, Serialize};

use self::encoder::{Encoder, error};
use self::name::MapEncoder;
use self::object::{ArrayEncoder, ObjectEncoder};
use super::cbor::encode;
use super::cbor::head::Reader;
use super::{Kind, limits};
use crate::error::{Error, Result};

/// Appends `value` to `out` as a document's deterministic CBOR: the bytes that [`Document::encode`](super::Document::encode)
/// would give for the same fields. `out` stays as it was on an error.
///
/// ```
/// use holotype::{Document, doc, document};
///
/// #[derive(serde::Serialize)]
/// struct Bird { name: &'static str, eggs: u8 }
///
/// let mut bytes = Vec::new();
/// document::to_bytes(&Bird { name: "Wren", eggs: 6 }, &mut bytes)?;
/// assert_eq!(Document::decode(&bytes)?, doc! { "name": "Wren", "eggs": 6 });
/// # Ok::<(), holotype::Error>(())
/// ```
///
/// # Errors
/// `Serde` for what is no object, for ints beyond 64 signed bits, for a name that comes twice, for names that are no text; `TooDeep`,
/// `DocumentTooLarge`.
pub fn to_bytes<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    let encoded = value.serialize(&mut Encoder { out, level: 0 });
    let checked = encoded.and_then(|()| check_document(&out[start..]));
    if checked.is_err() {
        out.truncate(start);
    }
    checked
}

fn check_document(bytes: &[u8]) -> Result<()> {
    match Reader::new(bytes).head()?.kind() {
        Kind::Object => limits::check_len(bytes.len()),
        kind => Err(error(format!("a document is a struct or a map, not {kind}"))),
    }
}

macro_rules! scalars {
    ($($method:ident($type:ty) => $encode:ident;)+) => {$(
        #[inline]
        fn $method(self, value: $type) -> Result<()> {
            encode::$encode(self.out, value.into());
            Ok(())
        }
    )+};
}

impl<'e, 'a> ser::Serializer for &'e mut Encoder<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = ArrayEncoder<'e, 'a>;
    type SerializeTuple = ArrayEncoder<'e, 'a>;
    type SerializeTupleStruct = ArrayEncoder<'e, 'a>;
    type SerializeTupleVariant = ArrayEncoder<'e, 'a>;
    type SerializeMap = MapEncoder<'e, 'a>;
    type SerializeStruct = ObjectEncoder<'e, 'a>;
    type SerializeStructVariant = ObjectEncoder<'e, 'a>;

    scalars! {
        serialize_bool(bool) => bool;
        serialize_i8(i8) => int;
        serialize_i16(i16) => int;
        serialize_i32(i32) => int;
        serialize_i64(i64) => int;
        serialize_u8(u8) => int;
        serialize_u16(u16) => int;
        serialize_u32(u32) => int;
        serialize_f32(f32) => float;
        serialize_f64(f64) => float;
    }

    fn serialize_u64(self, value: u64) -> Result<()> {
        self.unsigned(value)
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<()> {
        encode::text(self.out, value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<()> {
        encode::bytes(self.out, value);
        Ok(())
    }

    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        encode::null(self.out);
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<()> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        self.begin_variant(variant)?;
        value.serialize(&mut *self)?;
        self.level -= 1;
        Ok(())
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<ArrayEncoder<'e, 'a>> {
        ArrayEncoder::begin(self, len.unwrap_or(0), 0)
    }

    fn serialize_tuple(self, len: usize) -> Result<ArrayEncoder<'e, 'a>> {
        ArrayEncoder::begin(self, len, 0)
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<ArrayEncoder<'e, 'a>> {
        ArrayEncoder::begin(self, len, 0)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<ArrayEncoder<'e, 'a>> {
        self.begin_variant(variant)?;
        ArrayEncoder::begin(self, len, 1)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<MapEncoder<'e, 'a>> {
        ObjectEncoder::begin(self, len.unwrap_or(0), 0).map(MapEncoder)
    }

    #[inline]
    fn serialize_struct(self, _name: &'static str, len: usize) -> Result<ObjectEncoder<'e, 'a>> {
        ObjectEncoder::begin(self, len, 0)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<ObjectEncoder<'e, 'a>> {
        self.begin_variant(variant)?;
        ObjectEncoder::begin(self, len, 1)
    }
}
