//! Maps: objects whose names come as values of any type.

use serde::ser::{self, Impossible, Serialize};

use super::encoder::error;
use super::object::ObjectEncoder;
use crate::error::{Error, Result};

/// An object whose names come as values of any type.
pub(super) struct MapEncoder<'e, 'a>(pub(super) ObjectEncoder<'e, 'a>);

impl ser::SerializeMap for MapEncoder<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<()> {
        name.serialize(NameEncoder(&mut self.0))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        value.serialize(&mut *self.0.encoder)
    }

    fn end(self) -> Result<()> {
        self.0.finish()
    }
}

/// Writes the name of a field: text, or what is plainly written as text.
struct NameEncoder<'o, 'e, 'a>(&'o mut ObjectEncoder<'e, 'a>);

impl NameEncoder<'_, '_, '_> {
    fn refuse<T>(kind: &str) -> Result<T> {
        Err(error(format!("{kind} cannot be a field name")))
    }
}

macro_rules! names_by_display {
    ($($method:ident($type:ty)),+) => {$(
        fn $method(self, name: $type) -> Result<()> {
            self.0.name(&name.to_string());
            Ok(())
        }
    )+};
}

impl ser::Serializer for NameEncoder<'_, '_, '_> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Impossible<(), Error>;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Impossible<(), Error>;
    type SerializeStruct = Impossible<(), Error>;
    type SerializeStructVariant = Impossible<(), Error>;

    names_by_display!(
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_char(char)
    );

    #[inline]
    fn serialize_str(self, name: &str) -> Result<()> {
        self.0.name(name);
        Ok(())
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<()> {
        self.serialize_str(variant)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, name: &T) -> Result<()> {
        name.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, name: &T) -> Result<()> {
        name.serialize(self)
    }

    fn serialize_f32(self, _name: f32) -> Result<()> {
        Self::refuse("a float")
    }

    fn serialize_f64(self, _name: f64) -> Result<()> {
        Self::refuse("a float")
    }

    fn serialize_bytes(self, _name: &[u8]) -> Result<()> {
        Self::refuse("a byte string")
    }

    fn serialize_none(self) -> Result<()> {
        Self::refuse("`None`")
    }

    fn serialize_unit(self) -> Result<()> {
        Self::refuse("null")
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<()> {
        Self::refuse("null")
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<()> {
        Self::refuse("a variant with content")
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Self::SerializeSeq> {
        Self::refuse("a sequence")
    }

    fn serialize_tuple(self, _len: usize) -> Result<Self::SerializeTuple> {
        Self::refuse("a tuple")
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Self::SerializeTupleStruct> {
        Self::refuse("a tuple")
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeTupleVariant> {
        Self::refuse("a variant with content")
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Self::SerializeMap> {
        Self::refuse("a map")
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Self::SerializeStruct> {
        Self::refuse("a struct")
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeStructVariant> {
        Self::refuse("a variant with content")
    }
}
