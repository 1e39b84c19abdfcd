//! Every manifest is what `spec/vectors/schema.json` says: a stranger reads them by it.
//!
//! The validator knows the words of JSON Schema that the schema uses, and stops at any other, so that none is passed over.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/vectors")
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut parser = serde_json::Deserializer::from_str(&text);
    parser.disable_recursion_limit();
    Value::deserialize(&mut parser).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The manifests of every version; the list of its files beside them is none.
fn manifests() -> Vec<PathBuf> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let versions = entries(&folder()).into_iter().filter(|path| path.is_dir());
    let files = versions.flat_map(|version| entries(&version));
    files
        .filter(|path| path.extension().is_some_and(|kind| kind == "json") && !path.ends_with("index.json"))
        .collect()
}

/// What is wrong with `value`, and where; nothing when it is as `schema` says.
fn fault(root: &Value, schema: &Value, value: &Value, place: &str) -> Option<String> {
    let words = schema.as_object().expect("a schema is an object");
    words.iter().find_map(|(word, wanted)| by_word(root, (schema, word, wanted), value, place))
}

fn by_word(
    root: &Value,
    (schema, word, wanted): (&Value, &str, &Value),
    value: &Value,
    place: &str,
) -> Option<String> {
    let wrong = |what: String| Some(format!("{place}: {what}"));
    let len = value.as_array().map_or(0, Vec::len) as u64;
    match word {
        "$schema" | "title" | "description" | "$defs" => None,
        "$ref" => {
            let pointer = wanted.as_str().unwrap().strip_prefix('#').expect("within the schema");
            fault(root, root.pointer(pointer).expect("it is there"), value, place)
        }
        "type" => {
            let is_it = match wanted.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "integer" => value.is_i64() || value.is_u64(),
                "boolean" => value.is_boolean(),
                "null" => value.is_null(),
                other => panic!("no type is called {other}"),
            };
            if is_it { None } else { wrong(format!("no {wanted}")) }
        }
        "const" if value != wanted => wrong(format!("not {wanted}")),
        "enum" if !wanted.as_array().unwrap().contains(value) => wrong(format!("none of {wanted}")),
        "const" | "enum" => None,
        "minimum" if value.as_i64() < wanted.as_i64() => wrong(format!("below {wanted}")),
        "minItems" if len < wanted.as_u64().unwrap() => wrong(format!("fewer than {wanted}")),
        "maxItems" if len > wanted.as_u64().unwrap() => wrong(format!("more than {wanted}")),
        "minimum" | "minItems" | "maxItems" => None,
        "pattern" if !matches(wanted.as_str().unwrap(), value.as_str().unwrap_or_default()) => {
            wrong(format!("{value} is not {wanted}"))
        }
        "pattern" => None,
        "required" => {
            let missing =
                wanted.as_array().unwrap().iter().find(|name| value.get(name.as_str().unwrap()).is_none());
            missing.and_then(|name| wrong(format!("no {name}")))
        }
        "properties" => wanted.as_object().unwrap().iter().find_map(|(name, schema)| {
            value.get(name).and_then(|field| fault(root, schema, field, &format!("{place}.{name}")))
        }),
        "additionalProperties" => {
            let known = schema.get("properties").and_then(Value::as_object);
            let fields = value.as_object().into_iter().flatten();
            let mut others = fields.filter(|(name, _)| known.is_none_or(|known| !known.contains_key(*name)));
            others.find_map(|(name, field)| match wanted {
                Value::Bool(true) => None,
                Value::Bool(false) => wrong(format!("{name} is not known")),
                schema => fault(root, schema, field, &format!("{place}.{name}")),
            })
        }
        "items" => value
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
            .find_map(|(index, item)| fault(root, wanted, item, &format!("{place}[{index}]"))),
        "prefixItems" => wanted.as_array().unwrap().iter().enumerate().find_map(|(index, schema)| {
            value.get(index).and_then(|item| fault(root, schema, item, &format!("{place}[{index}]")))
        }),
        "oneOf" => {
            let faults: Vec<_> = wanted
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|schema| fault(root, schema, value, place))
                .collect();
            let held = wanted.as_array().unwrap().len() - faults.len();
            if held == 1 { None } else { wrong(format!("{held} of the forms hold: {faults:?}")) }
        }
        other => panic!("{place}: the validator does not know {other:?}"),
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    let hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let two_numbers = |text: &str| text.split_once('.').is_some_and(|(a, b)| digits(a) && digits(b));
    match pattern {
        "^([0-9a-f]{2})*$" => text.len().is_multiple_of(2) && text.chars().all(hex),
        "^[0-9a-f]{16}$" => text.len() == 16 && text.chars().all(hex),
        "^[0-9]+$" => digits(text),
        "^[0-9]+\\.[0-9]+$" => two_numbers(text),
        "^[A-Z]-[0-9]+\\.[0-9]+$" => text.split_once('-').is_some_and(|(page, rest)| {
            page.len() == 1 && page.as_bytes()[0].is_ascii_uppercase() && two_numbers(rest)
        }),
        other => panic!("the validator does not know the pattern {other:?}"),
    }
}

#[test]
fn every_manifest_is_what_the_schema_says() {
    let schema = read(&folder().join("schema.json"));
    let manifests = manifests();
    assert!(manifests.len() >= 15, "{manifests:?}");
    for path in manifests {
        assert_eq!(fault(&schema, &schema, &read(&path), ""), None, "{}", path.display());
    }
}

#[test]
fn a_manifest_that_is_something_else_is_told() {
    let schema = read(&folder().join("schema.json"));
    let good = read(&folder().join("3.0/keys.json"));
    let changed: [(&str, Value); 6] = [
        ("/format", "1".into()),
        ("/cases/0/id", 0.into()),
        ("/cases/0/result", "maybe".into()),
        ("/cases/0/clauses", Value::Array(Vec::new())),
        ("/cases/0/request/bytes", "0".into()),
        ("/cases/0/expect/0", serde_json::json!({ "state": "a", "value": "00" })),
    ];
    for (pointer, new) in changed {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).expect("it is there") = new;
        assert!(fault(&schema, &schema, &bad, "").is_some(), "{pointer}");
    }
    let mut bad = good;
    bad["more"] = Value::Null;
    assert!(fault(&schema, &schema, &bad, "").is_some());
}
