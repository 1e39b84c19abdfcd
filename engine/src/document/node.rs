//! One view of values for what reads them alike, whether decoded or over their bytes.

use super::raw::{RawFields, RawItems, RawValue};
use super::value::Value;

/// A value that can be walked: `&Value`, or a [`RawValue`] within encoded bytes.
pub(crate) trait Node<'v>: Clone {
    /// The items of an array, in order.
    type Items: Iterator<Item = Self>;
    /// The fields of an object, in name order.
    type Fields: Iterator<Item = (&'v str, Self)>;

    /// The value, with the content of a scalar and the parts of any other.
    fn view(&self) -> View<'v, Self>;

    /// The field `name`, if this is an object that has it.
    fn member(&self, name: &str) -> Option<Self>;

    /// The item at `index`, if this is an array that has it.
    fn item(&self, index: usize) -> Option<Self>;
}

/// What a [`Node`] holds.
pub(crate) enum View<'v, N: Node<'v>> {
    Scalar(Scalar<'v>),
    /// With the count of items.
    Array(usize, N::Items),
    /// With the count of fields.
    Object(usize, N::Fields),
}

/// A value without parts. Text is its UTF-8 bytes: they decide equality and order (spec: V-3.4).
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scalar<'v> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'v [u8]),
    Bytes(&'v [u8]),
}

impl<'v> Node<'v> for &'v Value {
    type Items = std::slice::Iter<'v, Value>;
    type Fields = super::Fields<'v>;

    fn view(&self) -> View<'v, Self> {
        View::Scalar(match *self {
            Value::Null => Scalar::Null,
            Value::Bool(bool) => Scalar::Bool(*bool),
            Value::Int(int) => Scalar::Int(*int),
            Value::Float(float) => Scalar::Float(*float),
            Value::Text(text) => Scalar::Text(text.as_bytes()),
            Value::Bytes(bytes) => Scalar::Bytes(bytes),
            Value::Array(items) => return View::Array(items.len(), items.iter()),
            Value::Object(fields) => return View::Object(fields.len(), fields.iter()),
        })
    }

    fn member(&self, name: &str) -> Option<Self> {
        self.as_object()?.get(name)
    }

    fn item(&self, index: usize) -> Option<Self> {
        self.as_array()?.get(index)
    }
}

impl<'v> Node<'v> for RawValue<'v> {
    type Items = RawItems<'v>;
    type Fields = RawFields<'v>;

    #[inline]
    fn view(&self) -> View<'v, Self> {
        RawValue::view(self)
    }

    #[inline]
    fn member(&self, name: &str) -> Option<Self> {
        self.field(name)
    }

    #[inline]
    fn item(&self, index: usize) -> Option<Self> {
        self.items()?.nth(index)
    }
}
