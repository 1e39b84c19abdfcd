//! Values and documents in memory.

use crate::doc;
use crate::document::{Document, Kind, Text, Value};

//= spec/encoding.md#e-2-6-shortest-float
//= type=test
//# A float MUST NOT be written as an int, whatever its value.
// spec: V-2.1
#[test]
fn an_int_is_not_the_float_of_the_same_value() {
    assert_ne!(Value::Int(1), Value::Float(1.0));
    assert_ne!(Value::Float(0.0), Value::Float(-0.0));
    assert_eq!(Value::Float(f64::NAN), Value::Float(-f64::NAN));
    assert_ne!(Value::from("a"), Value::from(b"a"));
}

#[test]
fn a_value_takes_four_words_at_most() {
    assert!(size_of::<Value>() <= 32);
    assert_eq!(size_of::<Text>(), 24);
}

#[test]
fn each_accessor_gives_its_own_type_and_no_other() {
    let values = [
        Value::Null,
        true.into(),
        7.into(),
        7.5.into(),
        "text".into(),
        vec![1u8].into(),
        vec![1, 2].into(),
        doc! { "a": 1 }.into(),
    ];
    let kinds =
        [Kind::Null, Kind::Bool, Kind::Int, Kind::Float, Kind::Text, Kind::Bytes, Kind::Array, Kind::Object];
    for (value, kind) in values.iter().zip(kinds) {
        assert_eq!(value.kind(), kind);
        assert_eq!(value.is_null(), kind == Kind::Null);
        assert_eq!(value.as_bool().is_some(), kind == Kind::Bool);
        assert_eq!(value.as_i64().is_some(), kind == Kind::Int);
        assert_eq!(value.as_f64().is_some(), kind == Kind::Float || kind == Kind::Int);
        assert_eq!(value.as_str().is_some(), kind == Kind::Text);
        assert_eq!(value.as_bytes().is_some(), kind == Kind::Bytes);
        assert_eq!(value.as_array().is_some(), kind == Kind::Array);
        assert_eq!(value.as_object().is_some(), kind == Kind::Object);
    }
}

#[test]
fn an_int_is_a_float_only_where_nothing_is_lost() {
    assert_eq!(Value::from(1i64 << 53).as_f64(), Some(9_007_199_254_740_992.0));
    assert_eq!(Value::from((1i64 << 53) + 1).as_f64(), None);
    assert_eq!(Value::from(i64::MIN).as_f64(), Some(-9_223_372_036_854_775_808.0));
    assert_eq!(Value::from(i64::MAX).as_f64(), None);
}

#[test]
fn insert_returns_what_it_replaced_and_remove_what_it_took() {
    let mut document = Document::new();
    assert_eq!(document.insert("a", 1), None);
    assert_eq!(document.insert("a", "one"), Some(Value::Int(1)));
    assert_eq!(document.len(), 1);
    assert_eq!(document.remove("a"), Some("one".into()));
    assert_eq!(document.remove("a"), None);
    assert!(document.is_empty());
}

// spec: V-1.7
#[test]
fn of_fields_with_one_name_the_last_stays() {
    let document: Document = [("b", 1), ("a", 2), ("b", 3), ("b", 4)].into();
    assert_eq!(document, doc! { "a": 2, "b": 4 });
    assert_eq!(doc! { "a": 1, "a": 2 }, doc! { "a": 2 });
}

#[test]
fn documents_print_as_json() {
    let document = doc! { "name": "Wren", "weight": 9.0, "ring": null };
    assert_eq!(document.to_string(), r#"{"name":"Wren","ring":null,"weight":9.0}"#);
    assert_eq!(format!("{document:?}"), r#"{"name": Text("Wren"), "ring": Null, "weight": Float(9.0)}"#);
}
