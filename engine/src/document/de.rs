//! serde from deterministic CBOR, with no tree in between. Text and bytes can be borrowed from the document.
//!
//! A field that the type does not ask for is stepped over by the heads of its items. Where the type asks for a float, an int is
//! taken as well; where it asks for an `Option`, null is `None`.

pub(super) mod decoder;
mod parts;

use serde::de::{self, Deserialize, Unexpected, Visitor};

use self::decoder::Decoder;
use self::parts::{Fields, Items, Variant};
use super::cbor::head::{Head, Reader};
use super::limits::check_len;
use crate::error::{Error, Result};

/// The value of type `T` that an encoded document stands for.
///
/// ```
/// use holotype::{doc, document};
///
/// #[derive(serde::Deserialize)]
/// struct Bird<'a> { name: &'a str, eggs: Option<u8> }
///
/// let bytes = doc! { "name": "Wren", "colour": "brown" }.encode();
/// let bird: Bird<'_> = document::from_bytes(&bytes)?;
/// assert_eq!((bird.name, bird.eggs), ("Wren", None));
/// # Ok::<(), holotype::Error>(())
/// ```
///
/// # Errors
/// `Serde` where the document is not of that type; `Decode` where the bytes are no document, as far as the type asks for them;
/// `TooDeep`, `DocumentTooLarge`.
#[inline]
pub fn from_bytes<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T> {
    check_len(bytes.len())?;
    let reader = Reader::new(bytes);
    if !matches!({ reader }.head()?, Head::Object(_)) {
        return Err(reader.fault("a document is an object").into());
    }
    let mut decoder = Decoder::new(reader);
    let value = T::deserialize(&mut decoder)?;
    if !decoder.reader.rest().is_empty() {
        return Err(decoder.reader.fault("bytes follow the document").into());
    }
    Ok(value)
}

impl<'de> Decoder<'de> {
    /// Gives the visitor the item whose head was read, whatever it is.
    #[inline]
    fn visit<V: Visitor<'de>>(&mut self, head: Head, visitor: V) -> Result<V::Value> {
        match head {
            Head::Null => visitor.visit_unit(),
            Head::Bool(value) => visitor.visit_bool(value),
            Head::Int(value) => visitor.visit_i64(value),
            Head::Float(value) => visitor.visit_f64(value),
            Head::Text(len) => visitor.visit_borrowed_str(self.reader.text(len)?),
            Head::Bytes(len) => visitor.visit_borrowed_bytes(self.reader.take(len)?),
            Head::Array(count) => self.visit_array(count, visitor),
            Head::Object(count) => self.visit_object(count, visitor),
        }
    }

    #[inline]
    fn visit_array<V: Visitor<'de>>(&mut self, count: usize, visitor: V) -> Result<V::Value> {
        self.descend()?;
        let mut items = Items { decoder: self, left: count };
        let value = visitor.visit_seq(&mut items)?;
        let left = items.left;
        self.ascend(left, count)?;
        Ok(value)
    }

    #[inline]
    fn visit_object<V: Visitor<'de>>(&mut self, count: usize, visitor: V) -> Result<V::Value> {
        self.descend()?;
        let mut fields = Fields { decoder: self, left: count };
        let value = visitor.visit_map(&mut fields)?;
        let left = fields.left;
        self.ascend(left, count)?;
        Ok(value)
    }
}

/// A head that no visitor of the asked type will take, as serde names it.
fn unexpected(head: Head) -> Unexpected<'static> {
    match head {
        Head::Null => Unexpected::Unit,
        Head::Bool(value) => Unexpected::Bool(value),
        Head::Int(value) => Unexpected::Signed(value),
        Head::Float(value) => Unexpected::Float(value),
        Head::Text(_) => Unexpected::Other("text"),
        Head::Bytes(_) => Unexpected::Other("bytes"),
        Head::Array(_) => Unexpected::Seq,
        Head::Object(_) => Unexpected::Map,
    }
}

/// The typed methods go the short way where the item is of the asked type, and leave the complaint to the visitor where not.
macro_rules! typed {
    ($($method:ident($($ignored:ident: $type:ty),*) takes $pattern:pat => |$decoder:ident, $visitor:ident| $short:expr;)+) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, $($ignored: $type,)* $visitor: V) -> Result<V::Value> {
            let $decoder = self;
            match $decoder.reader.head()? {
                $pattern => $short,
                head => $decoder.visit(head, $visitor),
            }
        }
    )+};
}

impl<'de> de::Deserializer<'de> for &mut Decoder<'de> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let head = self.reader.head()?;
        self.visit(head, visitor)
    }

    typed! {
        deserialize_bool() takes Head::Bool(value) => |decoder, visitor| visitor.visit_bool(value);
        deserialize_i8() takes Head::Int(value) => |decoder, visitor| visitor.visit_i64(value);
        deserialize_i16() takes Head::Int(value) => |decoder, visitor| visitor.visit_i64(value);
        deserialize_i32() takes Head::Int(value) => |decoder, visitor| visitor.visit_i64(value);
        deserialize_i64() takes Head::Int(value) => |decoder, visitor| visitor.visit_i64(value);
        deserialize_u8() takes Head::Int(value) => |decoder, visitor| visitor.visit_i64(value);
        deserialize_u16() takes Head::Int(value) => |decoder, visitor| visitor.visit_i64(value);
        deserialize_u32() takes Head::Int(value) => |decoder, visitor| visitor.visit_i64(value);
        deserialize_u64() takes Head::Int(value) => |decoder, visitor| visitor.visit_i64(value);
        deserialize_f32() takes Head::Float(value) => |decoder, visitor| visitor.visit_f64(value);
        deserialize_f64() takes Head::Float(value) => |decoder, visitor| visitor.visit_f64(value);
        deserialize_char() takes Head::Text(len) => |decoder, visitor| visitor.visit_borrowed_str(decoder.reader.text(len)?);
        deserialize_str() takes Head::Text(len) => |decoder, visitor| visitor.visit_borrowed_str(decoder.reader.text(len)?);
        deserialize_string() takes Head::Text(len) => |decoder, visitor| visitor.visit_borrowed_str(decoder.reader.text(len)?);
        deserialize_identifier() takes Head::Text(len) => |decoder, visitor| visitor.visit_borrowed_str(decoder.reader.text(len)?);
        deserialize_bytes() takes Head::Bytes(len) => |decoder, visitor| visitor.visit_borrowed_bytes(decoder.reader.take(len)?);
        deserialize_byte_buf() takes Head::Bytes(len) => |decoder, visitor| visitor.visit_borrowed_bytes(decoder.reader.take(len)?);
        deserialize_unit() takes Head::Null => |decoder, visitor| visitor.visit_unit();
        deserialize_unit_struct(_name: &'static str) takes Head::Null => |decoder, visitor| visitor.visit_unit();
        deserialize_seq() takes Head::Array(count) => |decoder, visitor| decoder.visit_array(count, visitor);
        deserialize_tuple(_len: usize) takes Head::Array(count) => |decoder, visitor| decoder.visit_array(count, visitor);
        deserialize_tuple_struct(_name: &'static str, _len: usize) takes Head::Array(count) => |decoder, visitor| decoder.visit_array(count, visitor);
        deserialize_map() takes Head::Object(count) => |decoder, visitor| decoder.visit_object(count, visitor);
        deserialize_struct(_name: &'static str, _fields: &'static [&'static str]) takes Head::Object(count) => |decoder, visitor| decoder.visit_object(count, visitor);
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.peek()? == Head::Null {
            self.reader.head()?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.peek()? {
            Head::Text(_) => visitor.visit_enum(Variant { decoder: self, has_content: false }),
            Head::Object(1) => {
                self.reader.head()?;
                self.descend()?;
                let value = visitor.visit_enum(Variant { decoder: self, has_content: true })?;
                self.level -= 1;
                Ok(value)
            }
            head => {
                Err(de::Error::invalid_type(unexpected(head), &"a variant's name, or an object of one field"))
            }
        }
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.reader.skip()?;
        visitor.visit_unit()
    }
}
