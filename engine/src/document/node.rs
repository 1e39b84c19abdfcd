//! One view of values for what reads them alike, whether decoded or over their bytes.

use super::Kind;

/// A value that can be walked: `&Value`, or a `RawValue` within encoded bytes.
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

    /// The type of the value.
    fn kind(&self) -> Kind {
        match self.view() {
            View::Scalar(scalar) => scalar.kind(),
            View::Array(..) => Kind::Array,
            View::Object(..) => Kind::Object,
        }
    }

    /// The number of items or fields; 0 for scalars.
    fn count(&self) -> usize {
        match self.view() {
            View::Scalar(_) => 0,
            View::Array(count, _) | View::Object(count, _) => count,
        }
    }
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

impl Scalar<'_> {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Scalar::Null => Kind::Null,
            Scalar::Bool(_) => Kind::Bool,
            Scalar::Int(_) => Kind::Int,
            Scalar::Float(_) => Kind::Float,
            Scalar::Text(_) => Kind::Text,
            Scalar::Bytes(_) => Kind::Bytes,
        }
    }
}
