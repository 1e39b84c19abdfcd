//! `doc!`: a document written down in the code.

use super::{Document, Text, Value};

/// A [`Document`](crate::Document) written down as JSON is, with any expression that converts into a
/// [`Value`](crate::Value) in the place of a value. A name is a literal, or an expression in parentheses. Where a name comes
/// twice, the later field stays.
///
/// ```
/// use holotype::doc;
///
/// let place = "hedge";
/// let bird = doc! {
///     "name": "Wren",
///     "seen": [{ "where": place, "count": 1 + 1 }],
///     "eaten by": null,
/// };
/// assert_eq!(bird.get_path("seen.0.count").and_then(|count| count.as_i64()), Some(2));
/// ```
#[macro_export]
macro_rules! doc {
    ($($fields:tt)*) => {
        $crate::__doc_fields!([] $($fields)*)
    };
}

/// Moves one field at a time from the back, as it was written, into the brackets in front, as a name and a value.
#[doc(hidden)]
#[macro_export]
macro_rules! __doc_fields {
    ([$($done:expr),*]) => {
        $crate::document::document_from([$($done),*])
    };
    ([$($done:expr),*] $name:tt : null $(, $($rest:tt)*)?) => {
        $crate::__doc_fields!(
            [$($done,)* $crate::document::field_from($name, $crate::document::Value::Null)] $($($rest)*)?
        )
    };
    ([$($done:expr),*] $name:tt : [$($items:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__doc_fields!(
            [$($done,)* $crate::document::field_from($name, $crate::__doc_array!([] $($items)*))] $($($rest)*)?
        )
    };
    ([$($done:expr),*] $name:tt : {$($fields:tt)*} $(, $($rest:tt)*)?) => {
        $crate::__doc_fields!(
            [$($done,)* $crate::document::field_from($name, $crate::doc!($($fields)*))] $($($rest)*)?
        )
    };
    ([$($done:expr),*] $name:tt : $value:expr $(, $($rest:tt)*)?) => {
        $crate::__doc_fields!([$($done,)* $crate::document::field_from($name, $value)] $($($rest)*)?)
    };
}

/// Moves one item at a time from the back, as it was written, into the brackets in front, as a value.
#[doc(hidden)]
#[macro_export]
macro_rules! __doc_array {
    ([$($done:expr),*]) => {
        $crate::document::Value::Array(::std::vec![$($done),*])
    };
    ([$($done:expr),*] null $(, $($rest:tt)*)?) => {
        $crate::__doc_array!([$($done,)* $crate::document::Value::Null] $($($rest)*)?)
    };
    ([$($done:expr),*] [$($items:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__doc_array!([$($done,)* $crate::__doc_array!([] $($items)*)] $($($rest)*)?)
    };
    ([$($done:expr),*] {$($fields:tt)*} $(, $($rest:tt)*)?) => {
        $crate::__doc_array!([$($done,)* $crate::document::Value::Object($crate::doc!($($fields)*))] $($($rest)*)?)
    };
    ([$($done:expr),*] $value:expr $(, $($rest:tt)*)?) => {
        $crate::__doc_array!([$($done,)* $crate::document::value_from($value)] $($($rest)*)?)
    };
}

// What the macros call, so that no trait need be in scope where they are used.

#[doc(hidden)]
pub fn value_from(value: impl Into<Value>) -> Value {
    value.into()
}

#[doc(hidden)]
pub fn field_from(name: impl Into<Text>, value: impl Into<Value>) -> (Text, Value) {
    (name.into(), value.into())
}

#[doc(hidden)]
pub fn document_from<const N: usize>(fields: [(Text, Value); N]) -> Document {
    fields.into()
}
