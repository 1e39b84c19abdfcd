//! Changes over a document's bytes beside the same changes over the decoded document.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::document::tests::strategies::{documents, floats, ints, texts, values};
use crate::document::{Document, JsonMode, JsonPointer, RawDocument, Value};
use crate::error::{Error, Result};
use crate::update::{Changes, JsonPatch, Operation, Update};

/// The pointers to all places in `value`.
fn places(value: &Value, here: &JsonPointer, out: &mut Vec<JsonPointer>) {
    out.push(here.clone());
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

/// How a place is chosen: one that is there, and perhaps a step on from it.
fn ways() -> impl Strategy<Value = (Index, Option<String>)> {
    let step = prop_oneof![texts(), "[0-3]", Just("-".to_owned()), Just("01".to_owned())];
    (any::<Index>(), prop::option::weighted(0.5, step))
}

/// Operations on places of `document`, most of which are there.
fn patches(document: &Document) -> impl Strategy<Value = JsonPatch> + use<> {
    let mut all = Vec::new();
    places(&Value::Object(document.clone()), &JsonPointer::root(), &mut all);
    let operation = (0u8..6, ways(), ways(), values()).prop_map(move |(op, path, from, value)| {
        let pointer = |(index, step): (Index, Option<String>)| match step {
            Some(step) => all[index.index(all.len())].clone().child(step),
            None => all[index.index(all.len())].clone(),
        };
        let (path, from) = (pointer(path), pointer(from));
        match op {
            0 => Operation::Add { path, value },
            1 => Operation::Remove { path },
            2 => Operation::Replace { path, value },
            3 => Operation::Move { from, path },
            4 => Operation::Copy { from, path },
            _ => Operation::Test { path, value },
        }
    });
    vec(operation, 1..6).prop_map(JsonPatch::from_iter)
}

/// A merge patch that has some of the names of `document`.
fn merges(document: Document) -> impl Strategy<Value = Document> {
    let changed = vec((any::<Index>(), prop_oneof![Just(Value::Null), values()]), 0..4);
    (documents(), changed).prop_map(move |(mut patch, changed)| {
        for (index, value) in changed.into_iter().filter(|_| !document.is_empty()) {
            let name = document.keys().nth(index.index(document.len())).expect("it has so many");
            let inner = document.get(name).and_then(Value::as_object).and_then(|inner| inner.keys().next());
            let value = inner.map_or(value.clone(), |inner| Value::Object(Document::from([(inner, value)])));
            patch.insert(name, value);
        }
        patch
    })
}

/// A path to a place, as RFC 9535 writes it; indexes from either end.
fn path_to(pointer: &JsonPointer, document: &Document, from_end: bool) -> String {
    let mut path = String::from("$");
    let mut node = Value::Object(document.clone());
    for token in pointer.tokens() {
        let next = node.pointer(&JsonPointer::from_tokens([token]).to_string()).cloned();
        match node.as_array() {
            Some(items)
                if token.parse::<i64>().is_ok_and(|index| (0..items.len() as i64).contains(&index)) =>
            {
                let index = token.parse::<i64>().expect("it was just parsed");
                path += &format!("[{}]", if from_end { index - items.len() as i64 } else { index });
            }
            _ => path += &format!("[{}]", Value::from(token).to_json(JsonMode::Relaxed)),
        }
        node = next.unwrap_or_default();
    }
    path
}

/// Changes at places of `document`, most of which are there.
fn updates(document: &Document) -> impl Strategy<Value = Update> + use<> {
    let document = document.clone();
    let mut all = Vec::new();
    places(&Value::Object(document.clone()), &JsonPointer::root(), &mut all);
    let change = (0u8..16, ways(), any::<bool>(), values(), ints(), floats());
    vec(change, 1..6).prop_map(move |changes| {
        changes.into_iter().fold(
            Update::new(),
            |update, (change, (index, step), from_end, value, int, float)| {
                let place = all[index.index(all.len())].clone();
                let place = step.map_or(place.clone(), |step| place.child(step));
                let path = path_to(&place, &document, from_end);
                match change {
                    0 => update.set(&path, value),
                    1 => update.unset(&path),
                    2 => update.rename(&path, "aa"),
                    3 => update.inc(&path, int),
                    4 => update.inc(&path, float),
                    5 => update.mul(&path, int),
                    6 => update.min(&path, value),
                    7 => update.max(&path, value),
                    8 => update.push_keep_last(&path, [value, int.into()], (int & 3) as usize),
                    9 => update.pop(&path),
                    10 => update.pop_first(&path),
                    11 => update.pull(&path, value),
                    12 => update.add_to_set(&path, value),
                    13 => update.each(&format!("{path}.*"), Update::new().set("$", value)),
                    14 => update.each(&format!("{path}..*"), Update::new().add_to_set("$.new", int)),
                    _ => update.each(&format!("$..[?@ == {path}]"), Update::new().unset("$")),
                }
            },
        )
    })
}

fn same(changes: &Changes<'_>, bytes: &[u8]) -> Result<Vec<u8>> {
    let document = RawDocument::from_verified(bytes);
    let (copied, decoded) = (changes.copy(document), changes.decode(document));
    match (copied, decoded) {
        (Ok(copied), Ok(decoded)) => {
            assert_eq!(copied, decoded);
            crate::document::validate(&copied).expect("the bytes are a document");
            Ok(copied)
        }
        (Err(Error::Update(copied)), Err(Error::Update(decoded))) => {
            assert_eq!(copied, decoded);
            Err(Error::Update(copied))
        }
        (copied, decoded) => panic!("{copied:?} beside {decoded:?}"),
    }
}

proptest! {
    #[test]
    fn a_patch_over_bytes_is_the_patch_over_the_decoded_document(
        (document, patch) in documents().prop_flat_map(|document| (Just(document.clone()), patches(&document)))
    ) {
        let result = same(&Changes::from(&patch), &document.encode());
        let value = patch.apply(&Value::Object(document));
        match (result, value) {
            (Ok(bytes), Ok(Value::Object(expected))) => prop_assert_eq!(Document::decode(&bytes).unwrap(), expected),
            (Err(_), Err(_)) => {}
            // The value is one, the document is none.
            (Err(Error::Update(_)), Ok(other)) => prop_assert!(other.as_object().is_none()),
            (bytes, value) => prop_assert!(false, "{bytes:?} beside {value:?}"),
        }
    }

    #[test]
    fn an_update_over_bytes_is_the_update_over_the_decoded_document(
        (document, update) in documents().prop_flat_map(|document| (Just(document.clone()), updates(&document)))
    ) {
        let _ = same(&Changes::from(&update), &document.encode());
    }

    #[test]
    fn a_merge_over_bytes_is_the_merge_over_the_decoded_document(
        (document, patch) in documents().prop_flat_map(|document| (Just(document.clone()), merges(document)))
    ) {
        let bytes = same(&Changes::merge(&patch), &document.encode()).unwrap();
        let merged = crate::update::merge(&Value::Object(document), &Value::Object(patch)).unwrap();
        prop_assert_eq!(Value::Object(Document::decode(&bytes).unwrap()), merged);
    }
}

#[test]
fn heads_grow_and_shrink_where_a_count_passes_a_width() {
    for count in [23, 24, 255, 256] {
        let items = Value::Array(vec![Value::from(1); count]);
        let fields: Document = (0..count).map(|n| (format!("{n}"), 0)).collect();
        let document = Document::from([("a", items), ("o", Value::Object(fields))]);
        let patch = JsonPatch::parse(
            r#"[{"op":"add","path":"/a/-","value":2},{"op":"add","path":"/o/new","value":2},
                {"op":"remove","path":"/a/0"},{"op":"remove","path":"/o/0"},{"op":"remove","path":"/a/0"},{"op":"remove","path":"/o/1"}]"#,
        )
        .unwrap();
        let bytes = same(&Changes::from(&patch), &document.encode()).unwrap();
        let after = Document::decode(&bytes).unwrap();
        assert_eq!(after.get("a").and_then(Value::as_array).map(<[Value]>::len), Some(count - 1));
        assert_eq!(after.get("o").and_then(Value::as_object).map(Document::len), Some(count - 1));
    }
}
