//! JSON Pointer: the examples of RFC 6901, what is no pointer, and decoded values beside encoded ones.

use proptest::collection::vec;
use proptest::prelude::*;

use super::strategies::{texts, values};
use crate::document::{JsonMode, JsonPointer, Kind, PathFault, RawDocument, Value};
use crate::error::Error;
use crate::{Document, doc};

/// The document of RFC 6901, section 5.
fn rfc6901() -> Document {
    let text =
        r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#;
    Document::from_json(text).expect("the RFC's example is JSON")
}

fn pointer(text: &str) -> JsonPointer {
    JsonPointer::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Pointer, the same as a fragment of a URI, and the JSON that it leads to: RFC 6901, sections 5 and 6.
const EXAMPLES: [(&str, &str, &str); 11] = [
    ("/foo", "#/foo", r#"["bar","baz"]"#),
    ("/foo/0", "#/foo/0", r#""bar""#),
    ("/", "#/", "0"),
    ("/a~1b", "#/a~1b", "1"),
    ("/c%d", "#/c%25d", "2"),
    ("/e^f", "#/e%5Ef", "3"),
    ("/g|h", "#/g%7Ch", "4"),
    ("/i\\j", "#/i%5Cj", "5"),
    ("/k\"l", "#/k%22l", "6"),
    ("/ ", "#/%20", "7"),
    ("/m~0n", "#/m~0n", "8"),
];

#[test]
fn the_examples_of_rfc_6901_lead_where_it_says() {
    let document = rfc6901();
    let bytes = document.encode();
    for (text, fragment, expected) in EXAMPLES {
        let pointer = pointer(text);
        assert_eq!(pointer.to_string(), text);
        assert_eq!(pointer.to_fragment(), fragment);
        assert_eq!(JsonPointer::parse_fragment(fragment).expect("a fragment"), pointer);
        let found = document.pointer(text).map(|value| value.to_json(JsonMode::Relaxed));
        assert_eq!(found.as_deref(), Some(expected), "{text}");
        let raw = RawDocument::from_verified(&bytes).pointer(text).expect("there over bytes too");
        assert_eq!(raw.to_value().expect("a value").to_json(JsonMode::Relaxed), expected, "{text}");
    }
    let whole = Value::from(document);
    let raw = RawDocument::from_verified(&bytes);
    assert_eq!(raw.pointer("").map(|value| value.to_value().expect("a value")).as_ref(), Some(&whole));
    assert_eq!((whole.pointer(""), pointer("").resolve(&whole).ok()), (Some(&whole), Some(&whole)));
    assert_eq!(JsonPointer::root().to_fragment(), "#");
    assert!(JsonPointer::parse_fragment("#").expect("the whole").is_root());
}

//= spec/values.md#v-6-2-form
//= type=test
//# A pointer that does not begin with `/` and is not empty, or in which `~` is followed by neither `0` nor
//# `1`, MUST be refused with the byte at which it goes wrong.
#[test]
fn what_is_no_pointer_is_refused_with_its_place() {
    for (text, place) in
        [("a", 0), ("a/b", 0), ("/~", 1), ("/a~2", 2), ("/a/b~", 4), ("/é~/x", 3), ("/~0~", 3)]
    {
        match JsonPointer::parse(text) {
            Err(Error::InvalidPointer { at, .. }) => assert_eq!(at, place, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
        let document =
            doc! { "": 1, "a": { "b": { "": 1 }, "": 1 }, "~": 1, "a~2": 1, "b~": 1, "é~": { "x": 1 } };
        assert_eq!(document.pointer(text), None, "{text}");
        assert!(RawDocument::from_verified(&document.encode()).pointer(text).is_none(), "{text}");
    }
    for (fragment, place) in
        [("", 0), ("/a", 0), ("#/%", 2), ("#/a%2", 3), ("#/%zz", 2), ("#/a b", 3), ("#/%ff", 1)]
    {
        match JsonPointer::parse_fragment(fragment) {
            Err(Error::InvalidPointer { at, .. }) => assert_eq!(at, place, "{fragment}"),
            other => panic!("{fragment}: {other:?}"),
        }
    }
}

//= spec/values.md#v-6-3-step
//= type=test
//# In an array, a token MUST lead nowhere unless it is the shortest decimal form of an index below the length.
//= spec/values.md#v-6-4-leading-nowhere
//= type=test
//# A call that asks why a pointer leads nowhere MUST be answered with the pointer up to the step that
//# fails, and with what that step met.
#[test]
fn a_pointer_that_leads_nowhere_says_where_and_why() {
    let document = doc! { "a": [1, { "b": "text" }], "0": 5 };
    let (bytes, whole) = (document.encode(), Value::from(document));
    let raw = RawDocument::from_verified(&bytes);
    let index = PathFault::NotAnIndex;
    for (text, way, why) in [
        ("/c", "/c", PathFault::NoField),
        ("/a/2", "/a/2", PathFault::BeyondEnd { len: 2 }),
        ("/a/18446744073709551615", "/a/18446744073709551615", PathFault::BeyondEnd { len: 2 }),
        ("/a/-", "/a/-", index),
        ("/a/00", "/a/00", index),
        ("/a/01", "/a/01", index),
        ("/a/-1", "/a/-1", index),
        ("/a/+1", "/a/+1", index),
        ("/a/1e0", "/a/1e0", index),
        ("/a/", "/a/", index),
        ("/a/18446744073709551616", "/a/18446744073709551616", index),
        ("/a/1/b/x/y", "/a/1/b/x", PathFault::Scalar { found: Kind::Text }),
        ("/0/0", "/0/0", PathFault::Scalar { found: Kind::Int }),
    ] {
        let pointer = pointer(text);
        let root = raw.value().expect("a document is a value");
        for answer in [pointer.resolve(&whole).map(drop), pointer.resolve_raw(root).map(drop)] {
            match answer {
                Err(Error::NoSuchPlace { path, fault }) => {
                    assert_eq!((path.as_str(), fault), (way, why), "{text}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(whole.pointer(text).is_none() && raw.pointer(text).is_none());
    }
}

/// Each place in `value`, with the pointer to it.
fn places(value: &Value, here: &JsonPointer, out: &mut Vec<(JsonPointer, Value)>) {
    out.push((here.clone(), value.clone()));
    match value {
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(at, item)| places(item, &here.clone().child(at.to_string()), out));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| places(field, &here.clone().child(name), out));
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn a_pointer_is_read_back_as_it_was_written(tokens in vec(prop_oneof![texts(), "[~/01]{0,6}"], 0..6)) {
        let pointer = JsonPointer::from_tokens(tokens);
        prop_assert_eq!(&JsonPointer::parse(&pointer.to_string()).unwrap(), &pointer);
        prop_assert_eq!(&JsonPointer::parse_fragment(&pointer.to_fragment()).unwrap(), &pointer);
    }

    #[test]
    fn each_place_is_found_by_its_pointer_decoded_and_encoded(value in values()) {
        let document = super::holding(value);
        let bytes = document.encode();
        let whole = Value::from(document.clone());
        let mut all = Vec::new();
        places(&whole, &JsonPointer::root(), &mut all);
        for (pointer, expected) in all {
            let text = pointer.to_string();
            prop_assert_eq!(whole.pointer(&text), Some(&expected));
            prop_assert_eq!(pointer.resolve(&whole).unwrap(), &expected);
            let raw = RawDocument::from_verified(&bytes).pointer(&text).unwrap();
            prop_assert_eq!(&raw.to_value().unwrap(), &expected);
            if !pointer.is_root() {
                prop_assert_eq!(document.pointer(&text), Some(&expected));
            }
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[/~01#%a-fé]{0,12}") {
        if let Ok(pointer) = JsonPointer::parse(&text) {
            prop_assert_eq!(pointer.to_string(), text.clone());
        }
        let _ = JsonPointer::parse_fragment(&text);
    }
}
