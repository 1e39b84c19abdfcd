//! One step from a value to a value within it: over decoded values and over encoded bytes alike.

use crate::document::{Kind, RawValue, Value};

/// A value that can be walked into.
pub(crate) trait Node: Copy {
    /// The type of the value.
    fn kind(self) -> Kind;
    /// The field `name`, if this is an object that has it.
    fn field(self, name: &str) -> Option<Self>;
    /// The item at `index`, if this is an array that has it.
    fn item(self, index: usize) -> Option<Self>;
    /// The number of items or fields; 0 for scalars.
    fn count(self) -> usize;
}

impl Node for &Value {
    fn kind(self) -> Kind {
        Value::kind(self)
    }

    fn field(self, name: &str) -> Option<Self> {
        self.as_object()?.get(name)
    }

    fn item(self, index: usize) -> Option<Self> {
        self.as_array()?.get(index)
    }

    fn count(self) -> usize {
        match self {
            Value::Array(items) => items.len(),
            Value::Object(fields) => fields.len(),
            _ => 0,
        }
    }
}

impl Node for RawValue<'_> {
    fn kind(self) -> Kind {
        RawValue::kind(&self)
    }

    fn field(self, name: &str) -> Option<Self> {
        RawValue::field(&self, name)
    }

    fn item(self, index: usize) -> Option<Self> {
        self.items()?.nth(index)
    }

    fn count(self) -> usize {
        RawValue::count(&self)
    }
}
