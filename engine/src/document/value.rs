//! `Value`, what a field can hold, and `Document`, the fields: each is made of the other.

use std::fmt;

use super::Text;

/// What a field of a document can hold.
///
/// Two values are equal when their encoded bytes are: `1` and `1.0` differ, as do `0.0` and `-0.0`, and NaN equals itself. The
/// *order* of values, in which `1` and `1.0` stand at the same place, is [`order_cmp`](Self::order_cmp): a preorder that does
/// not agree with this equality, and so is not `Ord`.
///
/// ```
/// use holotype::Value;
///
/// assert_ne!(Value::from(1), Value::from(1.0));
/// assert!(Value::from(1).order_cmp(&Value::from(1.0)).is_eq());
/// assert_eq!(Value::from(f64::NAN), Value::from(-f64::NAN));
/// ```
#[derive(Debug, Clone, Default)]
pub enum Value {
    /// Nothing is known, or nothing is there.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number of 64 signed bits.
    Int(i64),
    /// A number of IEEE 754 binary64.
    Float(f64),
    /// UTF-8 text.
    Text(Text),
    /// Bytes that are not text.
    Bytes(Vec<u8>),
    /// Values, one behind the other.
    Array(Vec<Value>),
    /// Values under names.
    Object(Document),
}

/// A finite map from text to [`Value`]: what a collection holds under a key.
///
/// Fields stand in the order of their encoded names: shorter names first, names of one length bytewise.
///
/// ```
/// use holotype::{Document, doc};
///
/// let mut bird = doc! { "name": "Wren", "seen": [{ "where": "hedge" }] };
/// bird.insert("count", 2);
/// assert_eq!(bird.pointer("/seen/0/where").and_then(|place| place.as_str()), Some("hedge"));
/// assert_eq!(Document::decode(&bird.encode())?, bird);
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// In name order, with no name twice.
    pub(super) entries: Vec<(Text, Value)>,
}

// A tree is mostly values: each word more would cost every field.
const _: () = assert!(size_of::<Value>() <= 32);

/// The type of a value, in the order in which values of different types stand (ints and floats stand together).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// [`Value::Null`]
    Null,
    /// [`Value::Bool`]
    Bool,
    /// [`Value::Int`]
    Int,
    /// [`Value::Float`]
    Float,
    /// [`Value::Text`]
    Text,
    /// [`Value::Bytes`]
    Bytes,
    /// [`Value::Array`]
    Array,
    /// [`Value::Object`]
    Object,
}

impl Kind {
    /// The type's name in a sentence, such as `"text"`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "bool",
            Kind::Int => "int",
            Kind::Float => "float",
            Kind::Text => "text",
            Kind::Bytes => "bytes",
            Kind::Array => "array",
            Kind::Object => "object",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Value {
    /// The type of the value.
    pub fn kind(&self) -> Kind {
        match self {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) => Kind::Int,
            Value::Float(_) => Kind::Float,
            Value::Text(_) => Kind::Text,
            Value::Bytes(_) => Kind::Bytes,
            Value::Array(_) => Kind::Array,
            Value::Object(_) => Kind::Object,
        }
    }

    /// Whether this is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The bool, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The int, if this is one. A float is none, whatever its value.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The float, or the int if a float can hold it exactly.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Float(value) => Some(*value),
            Value::Int(value) => exact_f64(*value),
            _ => None,
        }
    }

    /// The text, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Text(value) => Some(value),
            _ => None,
        }
    }

    /// The bytes, if this is a byte string.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Bytes(value) => Some(value),
            _ => None,
        }
    }

    /// The items, if this is an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The field `name`, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object()?.get(name)
    }

    /// The fields, if this is an object.
    pub fn as_object(&self) -> Option<&Document> {
        match self {
            Value::Object(fields) => Some(fields),
            _ => None,
        }
    }
}

/// `int` as a float, if that loses nothing.
pub(super) fn exact_f64(int: i64) -> Option<f64> {
    let float = int as f64;
    // Through i128, since i64::MAX rounds up to 2^63, which `as i64` would bring back down to i64::MAX.
    (float as i128 == i128::from(int)).then_some(float)
}

// spec: V-2.1.
impl PartialEq for Value {
    //= spec/values.md#v-2-1-equal-values
    //# Two values MUST have the same encoded bytes exactly when they are equal.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => a == b,
            (Value::Object(a), Value::Object(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}
