//! Mistakes that an update could make: each is told from what is right.
#![cfg(feature = "seeded")]

use std::panic::catch_unwind;

use holotype::document::{RawDocument, json};
use holotype::seeded::{Bug, switch_on};
use holotype::update::{self, JsonPatch};
use holotype::{Db, Document, Update, Value, doc};

fn value(text: &str) -> Value {
    json::parse_value(text.as_bytes()).unwrap()
}

fn patched(doc: &str, patch: &str) -> Option<Value> {
    JsonPatch::parse(patch).unwrap().apply(&value(doc)).ok()
}

fn a_failing_patch_leaves_the_document() {
    let birds = Db::in_memory().collection("birds");
    birds.put("wren", doc! { "a": 1 }).unwrap();
    let patch = r#"[{"op":"add","path":"/b","value":2},{"op":"remove","path":"/c"}]"#;
    let _ = birds.patch("wren", &JsonPatch::parse(patch).unwrap());
    assert_eq!(birds.get("wren").unwrap().unwrap().to_document().unwrap(), doc! { "a": 1 });
}

fn ints_are_added_exactly() {
    let after = Update::new().inc("$", 1).apply(&Value::from(9_007_199_254_740_993i64)).unwrap();
    assert_eq!(after, Value::from(9_007_199_254_740_994i64));
}

fn a_move_into_itself_is_told_as_such() {
    let patch = JsonPatch::parse(r#"[{"op":"move","from":"/a","path":"/a/b"}]"#).unwrap();
    let error = patch.apply(&value(r#"{"a":{}}"#)).unwrap_err();
    assert!(error.to_string().contains("into itself"), "{error}");
}

fn a_test_takes_one_for_one() {
    assert!(patched(r#"{"a":1}"#, r#"[{"op":"test","path":"/a","value":1.0}]"#).is_some());
}

fn a_merge_creates_no_null() {
    let merged = update::merge(&value("{}"), &value(r#"{"a":{"b":null}}"#)).unwrap();
    assert_eq!(merged, value(r#"{"a":{}}"#));
}

fn a_cap_keeps_the_last() {
    let after = Update::new().push_keep_last("$", [3], 2).apply(&value("[1,2]")).unwrap();
    assert_eq!(after, value("[2,3]"));
}

fn a_pull_takes_one_for_one() {
    assert_eq!(Update::new().pull("$", 1.0).apply(&value("[1,2]")).unwrap(), value("[2]"));
}

fn a_field_over_bytes_is_counted() {
    let bytes = doc! { "a": 1 }.encode();
    let changes = update::Changes::from(Update::new().set("$.b", 2));
    let after = changes.apply(RawDocument::from_verified(&bytes)).unwrap();
    assert_eq!(Document::decode(&after).unwrap(), doc! { "a": 1, "b": 2 });
}

fn an_equal_document_keeps_its_version() {
    let birds = Db::in_memory().collection("birds");
    birds.put("wren", doc! { "a": 1 }).unwrap();
    let version = birds.get("wren").unwrap().unwrap().version();
    birds.update("wren", Update::new().set("$.a", 1)).unwrap();
    assert_eq!(birds.get("wren").unwrap().unwrap().version(), version);
}

fn another_version_is_not_changed() {
    let birds = Db::in_memory().collection("birds");
    birds.put("wren", doc! { "a": 1 }).unwrap();
    assert!(birds.update_if("wren", 1, Update::new().set("$.a", 2)).is_err());
}

#[test]
fn every_seeded_mistake_of_an_update_is_caught() {
    let checks: [(Bug, fn()); 10] = [
        (Bug::PatchAppliedHalf, a_failing_patch_leaves_the_document),
        (Bug::IncThroughFloat, ints_are_added_exactly),
        (Bug::MovedIntoItself, a_move_into_itself_is_told_as_such),
        (Bug::TestByEquality, a_test_takes_one_for_one),
        (Bug::NullMerged, a_merge_creates_no_null),
        (Bug::CapKeepsTheFirst, a_cap_keeps_the_last),
        (Bug::PullByEquality, a_pull_takes_one_for_one),
        (Bug::CountOfFieldsKept, a_field_over_bytes_is_counted),
        (Bug::EqualWritten, an_equal_document_keeps_its_version),
        (Bug::VersionOfUpdateIgnored, another_version_is_not_changed),
    ];
    for (bug, check) in checks {
        check();
        switch_on(Some(bug));
        let caught = catch_unwind(check);
        switch_on(None);
        assert!(caught.is_err(), "{bug:?} turns no check red");
    }
}
