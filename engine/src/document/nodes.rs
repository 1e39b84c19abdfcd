//! Decoded values, and values over their bytes, as nodes.

use super::Kind;
use super::node::{Node, Scalar, View};
use super::raw::{RawFields, RawItems, RawValue};
use super::value::Value;

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

    #[inline(always)]
    fn view(&self) -> View<'v, Self> {
        RawValue::view(self)
    }

    #[inline]
    fn kind(&self) -> Kind {
        RawValue::kind(self)
    }

    #[inline]
    fn member(&self, name: &str) -> Option<Self> {
        self.get(name)
    }

    #[inline]
    fn item(&self, index: usize) -> Option<Self> {
        self.items()?.nth(index)
    }
}
