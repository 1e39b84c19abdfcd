//! `doc!`: a document written down in the code.

use super::Value;

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
/// assert_eq!(bird.pointer("/seen/0/count").and_then(|count| count.as_i64()), Some(2));
/// ```
#[macro_export]
macro_rules! doc {
    () => {
        $crate::document::Document::new()
    };
    ($($fields:tt)*) => {{
        // As many fields as top-level commas, and one: what is in brackets is one token here.
        let commas = [$($crate::__doc_is_comma!($fields)),*].into_iter().sum::<usize>();
        let mut document = $crate::document::Document::with_capacity(commas + 1);
        $crate::__doc_fields!(document; $($fields)*);
        document
    }};
}

/// 1 for a comma, 0 for any other token.
#[doc(hidden)]
#[macro_export]
macro_rules! __doc_is_comma {
    (,) => {
        1
    };
    ($other:tt) => {
        0
    };
}

/// Takes one field off the front at a time.
#[doc(hidden)]
#[macro_export]
macro_rules! __doc_fields {
    ($document:ident;) => {};
    ($document:ident; $name:tt : null $(, $($rest:tt)*)?) => {
        $document.insert($name, $crate::document::Value::Null);
        $crate::__doc_fields!($document; $($($rest)*)?);
    };
    ($document:ident; $name:tt : [$($items:tt)*] $(, $($rest:tt)*)?) => {
        $document.insert($name, $crate::__doc_array!([] $($items)*));
        $crate::__doc_fields!($document; $($($rest)*)?);
    };
    ($document:ident; $name:tt : {$($fields:tt)*} $(, $($rest:tt)*)?) => {
        $document.insert($name, $crate::doc!($($fields)*));
        $crate::__doc_fields!($document; $($($rest)*)?);
    };
    ($document:ident; $name:tt : $value:expr $(, $($rest:tt)*)?) => {
        $document.insert($name, $crate::document::value_from($value));
        $crate::__doc_fields!($document; $($($rest)*)?);
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

/// What `doc!` calls for an expression, so that no trait need be in scope where it is used.
#[doc(hidden)]
pub fn value_from(value: impl Into<Value>) -> Value {
    value.into()
}
