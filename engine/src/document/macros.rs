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
/// assert_eq!(bird.get_path("seen.0.count").and_then(|count| count.as_i64()), Some(2));
/// ```
#[macro_export]
macro_rules! doc {
    ($($fields:tt)*) => {{
        #[allow(unused_mut, reason = "an empty document takes no fields")]
        let mut document = $crate::document::Document::new();
        $crate::__doc_fields!(document; $($fields)*);
        document
    }};
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
        $document.insert($name, $crate::__doc_array!($($items)*));
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

#[doc(hidden)]
#[macro_export]
macro_rules! __doc_array {
    ($($items:tt)*) => {{
        #[allow(unused_mut, reason = "an empty array takes no items")]
        let mut items = ::std::vec::Vec::<$crate::document::Value>::new();
        $crate::__doc_items!(items; $($items)*);
        $crate::document::Value::Array(items)
    }};
}

/// Takes one item off the front at a time.
#[doc(hidden)]
#[macro_export]
macro_rules! __doc_items {
    ($items:ident;) => {};
    ($items:ident; null $(, $($rest:tt)*)?) => {
        $items.push($crate::document::Value::Null);
        $crate::__doc_items!($items; $($($rest)*)?);
    };
    ($items:ident; [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $items.push($crate::__doc_array!($($inner)*));
        $crate::__doc_items!($items; $($($rest)*)?);
    };
    ($items:ident; {$($fields:tt)*} $(, $($rest:tt)*)?) => {
        $items.push($crate::document::Value::Object($crate::doc!($($fields)*)));
        $crate::__doc_items!($items; $($($rest)*)?);
    };
    ($items:ident; $value:expr $(, $($rest:tt)*)?) => {
        $items.push($crate::document::value_from($value));
        $crate::__doc_items!($items; $($($rest)*)?);
    };
}

/// What `doc!` calls for an expression, so that no trait need be in scope where it is used.
#[doc(hidden)]
pub fn value_from(value: impl Into<Value>) -> Value {
    value.into()
}
