//! Arrays and objects whose number of items is known for certain only at their end, and whose fields come in any order.

use std::ops::Range;

use serde::ser::{self, Impossible, Serialize};

use super::{Encoder, error};
use crate::document::cbor::encode;
use crate::document::cbor::head::Reader;
use crate::error::{Error, Result};

/// The head of an array or object that is being written.
struct Pending {
    major: u8,
    /// Where the head stands.
    head: Range<usize>,
    /// What the head says now.
    announced: usize,
    count: usize,
    /// Levels to go up at the end: the array or object, and the object around a variant's content.
    levels: usize,
}

impl Pending {
    #[inline]
    fn begin(encoder: &mut Encoder<'_>, major: u8, announced: usize, around: usize) -> Result<Self> {
        encoder.descend()?;
        let start = encoder.out.len();
        encode::head(encoder.out, major, announced as u64);
        Ok(Pending { major, head: start..encoder.out.len(), announced, count: 0, levels: 1 + around })
    }

    #[inline]
    fn end(self, encoder: &mut Encoder<'_>) {
        encoder.level -= self.levels;
        if self.count != self.announced {
            let mut head = Vec::with_capacity(9);
            encode::head(&mut head, self.major, self.count as u64);
            encoder.out.splice(self.head, head);
        }
    }
}

/// An array that is being written.
pub(super) struct ArrayEncoder<'e, 'a> {
    encoder: &'e mut Encoder<'a>,
    pending: Pending,
}

impl<'e, 'a> ArrayEncoder<'e, 'a> {
    /// Begins an array of `announced` items, with `around` levels about it that end when it does.
    pub(super) fn begin(encoder: &'e mut Encoder<'a>, announced: usize, around: usize) -> Result<Self> {
        let pending = Pending::begin(encoder, encode::ARRAY, announced, around)?;
        Ok(ArrayEncoder { encoder, pending })
    }

    fn item<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<()> {
        self.pending.count += 1;
        item.serialize(&mut *self.encoder)
    }

    fn finish(self) {
        self.pending.end(self.encoder);
    }
}

/// An object that is being written.
pub(super) struct ObjectEncoder<'e, 'a> {
    encoder: &'e mut Encoder<'a>,
    pending: Pending,
    /// The encoded name of the last field.
    last_name: Range<usize>,
    in_order: bool,
}

impl<'e, 'a> ObjectEncoder<'e, 'a> {
    /// Begins an object of `announced` fields, with `around` levels about it that end when it does.
    #[inline]
    pub(super) fn begin(encoder: &'e mut Encoder<'a>, announced: usize, around: usize) -> Result<Self> {
        let pending = Pending::begin(encoder, encode::OBJECT, announced, around)?;
        Ok(ObjectEncoder { encoder, pending, last_name: 0..0, in_order: true })
    }

    #[inline]
    fn name(&mut self, name: &str) {
        let start = self.encoder.out.len();
        encode::text(self.encoder.out, name);
        let name = start..self.encoder.out.len();
        let out = &*self.encoder.out;
        // The bytes of the first name are above the empty range that stands for none.
        self.in_order &= out[self.last_name.clone()] < out[name.clone()];
        self.last_name = name;
        self.pending.count += 1;
    }

    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<()> {
        self.name(name);
        value.serialize(&mut *self.encoder)
    }

    #[inline]
    fn finish(self) -> Result<()> {
        if !self.in_order {
            sort_fields(self.encoder.out, self.pending.head.end, self.pending.count)?;
        }
        self.pending.end(self.encoder);
        Ok(())
    }
}

/// Where a field stands, counted from the first.
#[derive(Debug, Clone, Copy, Default)]
struct Field {
    start: usize,
    name_end: usize,
    end: usize,
}

/// Structs of more fields than this need an allocation to be sorted.
const FEW: usize = 32;

/// Puts the `count` fields that stand in `out` from `first` on into the order of their encoded names.
///
/// Structs declare their fields in an order of their own, so this is on the path of most writes.
#[cold]
fn sort_fields(out: &mut Vec<u8>, first: usize, count: usize) -> Result<()> {
    let (mut few, mut many);
    let fields = if count <= FEW {
        few = [Field::default(); FEW];
        &mut few[..count]
    } else {
        many = vec![Field::default(); count];
        &mut many[..]
    };
    let encoded = &out[first..];
    let mut reader = Reader::new(encoded);
    for field in fields.iter_mut() {
        field.start = reader.position();
        reader.skip()?;
        field.name_end = reader.position();
        reader.skip()?;
        field.end = reader.position();
    }
    let name = |field: &Field| &encoded[field.start..field.name_end];
    fields.sort_unstable_by(|a, b| name(a).cmp(name(b)));
    if let Some(twice) = fields.windows(2).find(|pair| name(&pair[0]) == name(&pair[1])) {
        let name = Reader::new(name(&twice[0])).name()?;
        return Err(error(format!("the field {name:?} comes twice")));
    }
    // The sorted copy is made behind the fields and moved over them: `out` is used again and again, so this allocates
    // only while it grows.
    let end = out.len();
    for field in fields.iter() {
        out.extend_from_within(first + field.start..first + field.end);
    }
    out.copy_within(end.., first);
    out.truncate(end);
    Ok(())
}

macro_rules! array_traits {
    ($($trait:ident::$method:ident),+) => {$(
        impl ser::$trait for ArrayEncoder<'_, '_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<()> {
                self.item(item)
            }

            fn end(self) -> Result<()> {
                self.finish();
                Ok(())
            }
        }
    )+};
}

array_traits!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! object_traits {
    ($($trait:ident),+) => {$(
        impl ser::$trait for ObjectEncoder<'_, '_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
                self.field(name, value)
            }

            #[inline]
            fn end(self) -> Result<()> {
                self.finish()
            }
        }
    )+};
}

object_traits!(SerializeStruct, SerializeStructVariant);

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
