//! serde, straight to and from the bytes, and through other formats.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::strategies::{damaged, documents, keys, values};
use crate::doc;
use crate::document::{Document, Key, Text, Value, from_bytes, to_bytes};
use crate::error::Error;

fn encode<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut out = Vec::new();
    to_bytes(value, &mut out).expect("it has a form as a document");
    out
}

fn serde_message<T: std::fmt::Debug>(result: crate::Result<T>) -> String {
    match result {
        Err(Error::Serde { message }) => message,
        other => panic!("{other:?}"),
    }
}

fn refusal<T: Serialize>(value: T) -> String {
    let mut out = vec![7];
    let message = serde_message(to_bytes(&value, &mut out));
    assert_eq!(out, [7], "nothing is left behind by a refusal");
    message
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Bird {
    zebra: bool,
    name: String,
    id: i64,
    weight: f64,
    tags: Vec<String>,
    ring: Option<u32>,
    seen: Sighting,
    initial: char,
    pair: (i8, u8),
    unit: (),
    wrapped: Wrapped,
    counts: BTreeMap<u16, i32>,
    song: Song,
    calls: Vec<Song>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Sighting {
    place: String,
    at: f32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Wrapped(i64);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Song {
    None,
    Pitch(f64),
    Notes(u8, u8),
    Named { name: String, long: bool },
}

fn wren() -> Bird {
    Bird {
        zebra: false,
        name: "Wren".to_owned(),
        id: 7,
        weight: 9.0,
        tags: vec!["small".to_owned(), "brown".to_owned()],
        ring: None,
        seen: Sighting { place: "hedge".to_owned(), at: 0.5 },
        initial: 'W',
        pair: (-1, 255),
        unit: (),
        wrapped: Wrapped(3),
        counts: [(10, 1), (9, -1)].into(),
        song: Song::Named { name: "trill".to_owned(), long: true },
        calls: vec![Song::None, Song::Pitch(4000.5), Song::Notes(1, 2)],
    }
}

fn wren_document() -> Document {
    doc! {
        "zebra": false,
        "name": "Wren",
        "id": 7,
        "weight": 9.0,
        "tags": ["small", "brown"],
        "ring": null,
        "seen": { "place": "hedge", "at": 0.5 },
        "initial": "W",
        "pair": [-1, 255],
        "unit": null,
        "wrapped": 3,
        "counts": { "10": 1, "9": -1 },
        "song": { "Named": { "name": "trill", "long": true } },
        "calls": ["None", { "Pitch": 4000.5 }, { "Notes": [1, 2] }],
    }
}

#[test]
fn a_type_has_the_bytes_of_the_document_that_it_stands_for() {
    assert_eq!(Document::decode(&encode(&wren())).expect("deterministic"), wren_document());
    assert_eq!(encode(&wren()), wren_document().encode());
}

#[test]
fn a_type_comes_back_from_its_bytes() {
    assert_eq!(from_bytes::<Bird>(&encode(&wren())).expect("a bird"), wren());
}

#[test]
fn text_and_bytes_can_be_borrowed() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Borrowed<'a> {
        name: &'a str,
        #[serde(borrow)]
        tags: Vec<&'a str>,
        raw: &'a [u8],
    }
    let bytes = doc! { "name": "Wren", "tags": ["a"], "raw": vec![1u8, 2], "other": [{ "x": 1 }] }.encode();
    let borrowed: Borrowed<'_> = from_bytes(&bytes).expect("borrowed");
    assert_eq!(borrowed, Borrowed { name: "Wren", tags: vec!["a"], raw: &[1, 2] });
    assert!(bytes.as_ptr_range().contains(&borrowed.name.as_ptr()));
}

#[test]
fn structs_of_more_fields_than_few_are_sorted_too() {
    let many: Vec<(String, i64)> = (0..100).map(|n| (format!("field {}", 99 - n), n)).collect();
    let map: HashMap<String, i64> = many.iter().cloned().collect();
    let document: Document = many.into_iter().collect();
    assert_eq!(encode(&map), document.encode());
}

#[test]
fn sequences_and_maps_of_unknown_length_get_the_right_head() {
    struct Lazy(usize);
    impl Serialize for Lazy {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::{SerializeMap, SerializeSeq};
            struct Items(usize);
            impl Serialize for Items {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    let mut seq = serializer.serialize_seq(None)?;
                    (0..self.0).try_for_each(|n| seq.serialize_element(&n))?;
                    seq.end()
                }
            }
            let mut map = serializer.serialize_map(None)?;
            for n in (0..self.0).rev() {
                map.serialize_entry(&format!("{n:03}"), &Items(n))?;
            }
            map.end()
        }
    }
    for count in [0, 1, 23, 24, 300] {
        let items = |n: i64| (0..n).collect::<Value>();
        let document: Document = (0..count).map(|n| (format!("{n:03}"), items(n))).collect();
        assert_eq!(encode(&Lazy(count as usize)), document.encode(), "{count}");
    }
}

#[test]
fn what_has_no_form_as_a_document_is_refused() {
    assert_eq!(refusal(1), "a document is a struct or a map, not int");
    assert_eq!(refusal(vec![1]), "a document is a struct or a map, not array");
    assert_eq!(refusal(None::<Document>), "a document is a struct or a map, not null");
    assert_eq!(
        refusal(BTreeMap::from([("a", u64::MAX)])),
        "18446744073709551615 is beyond the largest int, 9223372036854775807"
    );
    assert_eq!(refusal(BTreeMap::from([("a", 1i128)])), "i128 is not supported");
    assert_eq!(refusal(BTreeMap::from([(vec![1], 1)])), "a sequence cannot be a field name");
    assert_eq!(refusal(BTreeMap::from([((), 1)])), "null cannot be a field name");
    assert_eq!(encode(&BTreeMap::from([("a", i64::MAX as u64)])), doc! { "a": i64::MAX }.encode());
}

#[test]
fn a_name_that_comes_twice_is_refused() {
    #[derive(Serialize)]
    struct Twice {
        a: i32,
        #[serde(rename = "b")]
        first: i32,
        #[serde(flatten)]
        rest: BTreeMap<&'static str, i32>,
    }
    let twice = Twice { a: 1, first: 2, rest: [("b", 3)].into() };
    assert_eq!(refusal(twice), "the field \"b\" comes twice");
}

#[test]
fn what_is_of_another_type_is_refused_with_what_was_found() {
    #[derive(Debug, Deserialize)]
    struct Number {
        #[expect(dead_code, reason = "only whether it can be read matters")]
        n: u8,
    }
    let message = |document: Document| serde_message(from_bytes::<Number>(&document.encode()));
    assert_eq!(message(doc! { "n": 256 }), "invalid value: integer `256`, expected u8");
    assert_eq!(message(doc! { "n": -1 }), "invalid value: integer `-1`, expected u8");
    assert_eq!(message(doc! { "n": "1" }), "invalid type: string \"1\", expected u8");
    assert_eq!(message(doc! { "n": 1.0 }), "invalid type: floating point `1.0`, expected u8");
    assert_eq!(message(doc! { "m": 1 }), "missing field `n`");
    let tuple = from_bytes::<BTreeMap<String, (i32, i32)>>(&doc! { "t": [1, 2, 3] }.encode());
    assert_eq!(serde_message(tuple), "invalid length 3, expected 2");
    let song = |document: Document| serde_message(from_bytes::<BTreeMap<String, Song>>(&document.encode()));
    assert_eq!(
        song(doc! { "s": 1 }),
        "invalid type: integer `1`, expected a variant's name, or an object of one field"
    );
    assert_eq!(song(doc! { "s": "Pitch" }), "invalid type: unit variant, expected a variant with content");
    assert_eq!(
        song(doc! { "s": "Rap" }),
        "unknown variant `Rap`, expected one of `None`, `Pitch`, `Notes`, `Named`"
    );
}

#[test]
fn numbers_are_read_as_the_type_asks() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Numbers {
        a: f64,
        b: f32,
        c: u64,
        d: Option<i8>,
    }
    let bytes = doc! { "a": 3, "b": 0.5, "c": i64::MAX, "d": -128 }.encode();
    let numbers: Numbers = from_bytes(&bytes).expect("numbers");
    assert_eq!(numbers, Numbers { a: 3.0, b: 0.5, c: i64::MAX as u64, d: Some(-128) });
}

#[test]
fn enums_of_every_tagging_go_round() {
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "type")]
    enum Internal {
        A { x: i32 },
        B,
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "t", content = "c")]
    enum Adjacent {
        A(i32),
        B { y: String },
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        Int(i64),
        Text(String),
        List(Vec<Untagged>),
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct All {
        i: Vec<Internal>,
        a: Vec<Adjacent>,
        u: Untagged,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    }
    let all = All {
        i: vec![Internal::A { x: 1 }, Internal::B],
        a: vec![Adjacent::A(2), Adjacent::B { y: "y".to_owned() }],
        u: Untagged::List(vec![Untagged::Int(1), Untagged::Text("t".to_owned())]),
        rest: [("extra".to_owned(), Value::Null), ("bytes".to_owned(), Value::Bytes(vec![1]))].into(),
    };
    assert_eq!(from_bytes::<All>(&encode(&all)).expect("all"), all);
}

#[test]
fn documents_can_stand_in_other_types_and_other_formats() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Envelope {
        key: Key,
        body: Document,
        note: Text,
    }
    let envelope = Envelope { key: "k".into(), body: doc! { "a": [1, 1.5, null] }, note: "n".into() };
    let json = serde_json::to_string(&envelope).expect("JSON");
    assert_eq!(json, r#"{"key":"k","body":{"a":[1,1.5,null]},"note":"n"}"#);
    assert_eq!(serde_json::from_str::<Envelope>(&json).expect("an envelope"), envelope);
    assert_eq!(from_bytes::<Envelope>(&encode(&envelope)).expect("an envelope"), envelope);
    assert!(serde_json::from_str::<Document>(r#"{"a":1,"a":2}"#).is_err(), "a name that comes twice");
    assert!(serde_json::from_str::<Value>("18446744073709551615").is_err(), "an int beyond 64 signed bits");
    assert!(serde_json::from_str::<Key>("1.5").is_err(), "a float is no key");
    let value: serde_json::Value = from_bytes(&wren_document().encode()).expect("a tree of another crate");
    assert_eq!(
        serde_json::to_string(&value).expect("JSON"),
        serde_json::to_string(&serde_json::to_value(wren_document()).expect("a tree")).expect("JSON")
    );
}

proptest! {
    #[test]
    fn documents_have_the_same_bytes_by_serde(document in documents()) {
        let bytes = document.encode();
        prop_assert_eq!(&encode(&document), &bytes);
        prop_assert_eq!(&from_bytes::<Document>(&bytes).expect("decodes"), &document);
    }

    #[test]
    fn fields_in_any_order_have_the_same_bytes(document in documents(), rotate in 0usize..8) {
        struct Shuffled(Vec<(Text, Value)>);
        impl Serialize for Shuffled {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
            }
        }
        let mut fields: Vec<_> = document.clone().into_iter().collect();
        if !fields.is_empty() {
            let middle = rotate % fields.len();
            fields.rotate_left(middle);
        }
        prop_assert_eq!(encode(&Shuffled(fields)), document.encode());
    }

    #[test]
    fn values_and_keys_go_round_in_a_document(value in values(), key in keys()) {
        let pair: BTreeMap<String, (Value, Key)> = [("v".to_owned(), (value, key))].into();
        prop_assert_eq!(from_bytes::<BTreeMap<String, (Value, Key)>>(&encode(&pair)).expect("decodes"), pair);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in damaged()) {
        let _ = from_bytes::<Bird>(&bytes);
        let _ = from_bytes::<serde::de::IgnoredAny>(&bytes);
        if let (Ok(by_serde), Ok(decoded)) = (from_bytes::<Document>(&bytes), Document::decode(&bytes)) {
            prop_assert_eq!(by_serde, decoded);
        }
    }

    #[test]
    fn whatever_the_decoder_takes_serde_takes(bytes in damaged()) {
        if let Ok(decoded) = Document::decode(&bytes) {
            prop_assert_eq!(from_bytes::<Document>(&bytes).expect("a document"), decoded);
        }
    }
}
