//! Values and documents, with the equality of `spec/values.md`.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// An object at the top: what a key leads to.
pub type Document = BTreeMap<String, Value>;

/// Anything that a field can hold.
///
/// Equality is that of the encoded bytes: `1` and `1.0` differ, `0.0` and `-0.0` differ, NaN equals NaN. The order, in which
/// the first two pairs are equal, is [`Value::order_cmp`].
#[derive(Debug, Clone)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number of 64 bits.
    Int(i64),
    /// A binary floating-point number of 64 bits.
    Float(f64),
    /// Unicode text.
    Text(String),
    /// A string of bytes.
    Bytes(Vec<u8>),
    /// Values in a row.
    Array(Vec<Value>),
    /// Values by name.
    Object(Document),
}

impl Value {
    /// How many levels of arrays and objects this is: 0 for a scalar, 1 for an empty array or one of scalars.
    pub fn depth(&self) -> usize {
        match self {
            Value::Array(items) => 1 + items.iter().map(Value::depth).max().unwrap_or(0),
            Value::Object(fields) => document_depth(fields),
            _ => 0,
        }
    }
}

/// How many levels of arrays and objects a document is, itself the first.
pub(crate) fn document_depth(document: &Document) -> usize {
    1 + document.values().map(Value::depth).max().unwrap_or(0)
}

//= spec/values.md#v-1-3-float
//# A store MUST NOT tell NaNs of different sign or payload apart.
/// One bit pattern per encoded float: NaN has one encoding, and -0.0 keeps its own.
fn float_identity(float: f64) -> u64 {
    if float.is_nan() { f64::NAN.to_bits() } else { float.to_bits() }
}

impl PartialEq for Value {
    //= spec/values.md#v-2-1-equal-values
    //# Two values MUST have the same encoded bytes exactly when they are equal.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => float_identity(*a) == float_identity(*b),
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => a == b,
            (Value::Object(a), Value::Object(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        std::mem::discriminant(self).hash(hasher);
        match self {
            Value::Null => {}
            Value::Bool(bool) => bool.hash(hasher),
            Value::Int(int) => int.hash(hasher),
            Value::Float(float) => float_identity(*float).hash(hasher),
            Value::Text(text) => text.hash(hasher),
            Value::Bytes(bytes) => bytes.hash(hasher),
            Value::Array(items) => items.hash(hasher),
            Value::Object(fields) => fields.hash(hasher),
        }
    }
}

impl From<bool> for Value {
    fn from(bool: bool) -> Self {
        Value::Bool(bool)
    }
}

impl From<i64> for Value {
    fn from(int: i64) -> Self {
        Value::Int(int)
    }
}

impl From<f64> for Value {
    fn from(float: f64) -> Self {
        Value::Float(float)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Value::Bytes(bytes)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Value::Array(items)
    }
}

impl From<Document> for Value {
    fn from(fields: Document) -> Self {
        Value::Object(fields)
    }
}

#[cfg(test)]
mod tests {
    use std::hash::DefaultHasher;

    use super::*;

    fn hash(value: &Value) -> u64 {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        hasher.finish()
    }

    //= spec/values.md#v-2-1-equal-values
    //= type=test
    //# Two values MUST have the same encoded bytes exactly when they are equal.
    #[test]
    fn equality_is_that_of_the_encoded_bytes() {
        assert_ne!(Value::Int(1), Value::Float(1.0));
        assert_ne!(Value::Float(0.0), Value::Float(-0.0));
        assert_ne!(Value::from("a"), Value::Bytes(b"a".to_vec()));
        assert_eq!(Value::Float(2.5), Value::Float(2.5));
    }

    //= spec/values.md#v-1-3-float
    //= type=test
    //# A store MUST NOT tell NaNs of different sign or payload apart.
    #[test]
    fn every_nan_is_the_one_nan() {
        let other = Value::Float(f64::from_bits(f64::NAN.to_bits() | 1));
        assert_eq!(Value::Float(f64::NAN), other);
        assert_eq!(hash(&Value::Float(f64::NAN)), hash(&other));
        assert_eq!(Value::Float(-f64::NAN), other);
    }

    #[test]
    fn depth_counts_arrays_and_objects_the_document_being_level_one() {
        let flat = Document::from([("a".to_owned(), Value::Int(1))]);
        assert_eq!(document_depth(&Document::new()), 1);
        assert_eq!(document_depth(&flat), 1);
        let nested = Document::from([("a".to_owned(), Value::Array(vec![Value::Object(flat)]))]);
        assert_eq!(document_depth(&nested), 3);
    }
}
