//! `doc!`.

use crate::doc;
use crate::document::{Document, Value};

#[test]
fn every_kind_of_value_can_be_written_down() {
    const NAME: &str = "const";
    let (text, list) = (String::from("owned"), vec![1, 2]);
    let document = doc! {
        "null": null, "yes": true, "int": -1, "float": 1.5, "text": "x",
        "empty": {}, "none": [], "array": [1, "a", null, [], [2, null], { "k": { "deep": [null] } }, 1 + 1,],
        "call": text.to_uppercase(), "list": list.clone(), "index": [1, 2, 3][1], "option": None::<i32>,
        "bytes": b"ab", (text.as_str()): 1, NAME: 2,
        "inner": doc! { "a": 1 },
    };
    assert_eq!(document.len(), 16);
    assert_eq!(document.get("array").and_then(Value::as_array).map(<[Value]>::len), Some(7));
    assert_eq!(document.pointer("/array/5/k/deep/0"), Some(&Value::Null));
    assert_eq!(document.get("call"), Some(&"OWNED".into()));
    assert_eq!(document.get("list"), Some(&Value::from(list)));
    assert_eq!(document.get("index"), Some(&2.into()));
    assert_eq!(document.get("option"), Some(&Value::Null));
    assert_eq!(document.get("bytes"), Some(&Value::Bytes(b"ab".to_vec())));
    assert_eq!(document.get("owned"), Some(&1.into()));
    assert_eq!(document.get("const"), Some(&2.into()));
    assert_eq!(document.pointer("/inner/a"), Some(&1.into()));
}

#[test]
fn nothing_makes_an_empty_document() {
    assert_eq!(doc! {}, Document::new());
}
