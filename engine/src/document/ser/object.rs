//! Arrays and objects whose number of items is known for certain only at their end, and whose fields come in any order.

use std::ops::Range;

use serde::ser::{self, Serialize};

use super::encoder::Encoder;
use super::sort::{FEW, sort_fields};
use crate::document::cbor::encode;
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
    pub(super) encoder: &'e mut Encoder<'a>,
    pending: Pending,
    /// The name of the last field, as it is encoded.
    last_name: Range<usize>,
    in_order: bool,
    /// Where the first few fields begin.
    starts: [usize; FEW],
}

impl<'e, 'a> ObjectEncoder<'e, 'a> {
    /// Begins an object of `announced` fields, with `around` levels about it that end when it does.
    #[inline]
    pub(super) fn begin(encoder: &'e mut Encoder<'a>, announced: usize, around: usize) -> Result<Self> {
        let pending = Pending::begin(encoder, encode::OBJECT, announced, around)?;
        Ok(ObjectEncoder { encoder, pending, last_name: 0..0, in_order: true, starts: [0; FEW] })
    }

    #[inline]
    pub(super) fn name(&mut self, name: &str) {
        let start = self.encoder.out.len();
        encode::text(self.encoder.out, name);
        self.note_name(start..self.encoder.out.len());
    }

    /// A field begins whose name stands there.
    fn note_name(&mut self, name: Range<usize>) {
        if let Some(start) = self.starts.get_mut(self.pending.count) {
            *start = name.start;
        }
        // Before the first field there is an empty range, which is less than any name.
        let is_longer = name.len() > self.last_name.len();
        if !is_longer {
            let out = &*self.encoder.out;
            self.in_order &= out[self.last_name.clone()] < out[name.clone()];
        }
        self.last_name = name;
        self.pending.count += 1;
    }

    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<()> {
        self.name(name);
        value.serialize(&mut *self.encoder)
    }

    #[inline]
    pub(super) fn finish(self) -> Result<()> {
        if !self.in_order {
            sort_fields(self.encoder.out, self.pending.head.end, self.pending.count, &self.starts)?;
        }
        self.pending.end(self.encoder);
        Ok(())
    }
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
