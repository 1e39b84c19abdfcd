use super::super::catalog::{CatalogChange, MapFault};
use super::hex;
use crate::document::{Document, Value};
use proptest::prelude::*;

fn notes(id: u32) -> CatalogChange {
    CatalogChange::Create { id, name: "notes".to_owned() }
}

/// The map of [`notes`] with one more key.
fn notes_with(key: &str, value: impl Into<Value>) -> Vec<u8> {
    let mut map = Document::decode(&notes(1).encode()).expect("a map");
    map.insert(key, value);
    map.encode()
}

// spec: F-7.1
#[test]
fn changes_are_deterministic_cbor_maps() {
    let name = "64 6e616d65 65 6e6f746573";
    for (change, digits) in [
        (notes(1), format!("a3 62 6964 01 62 6f70 66 637265617465 {name}")),
        (CatalogChange::Drop { id: 24 }, "a2 62 6964 1818 62 6f70 64 64726f70".to_owned()),
        (
            CatalogChange::Clear { id: 1, new: 256 },
            "a3 62 6964 01 62 6f70 65 636c656172 63 6e6577 190100".to_owned(),
        ),
        (
            CatalogChange::Rename { id: 2, name: "notes".to_owned() },
            format!("a3 62 6964 02 62 6f70 66 72656e616d65 {name}"),
        ),
    ] {
        assert_eq!(change.encode(), hex(&digits), "{change:?}");
        assert_eq!(CatalogChange::decode(&hex(&digits)), Ok(change));
    }
}

//= spec/format.md#f-7-3-unknown-keys
//= type=test
//# A reader MUST refuse the file when the map has an array `required` that names a key it does not know.
#[test]
fn a_required_key_that_this_version_does_not_know_is_refused() {
    let required = |keys: &[&str]| {
        let keys: Vec<Value> = keys.iter().map(|&key| Value::from(key)).collect();
        CatalogChange::decode(&notes_with("required", keys))
    };
    assert_eq!(required(&["name", "colour"]), Err(MapFault::Unsupported));
    assert_eq!(required(&["name", "id"]), Ok(notes(1)));
    assert_eq!(CatalogChange::decode(&notes_with("colour", "red")), Ok(notes(1)), "nobody needs it");
    assert!(matches!(CatalogChange::decode(&notes_with("required", "colour")), Err(MapFault::Malformed(_))));
}

// spec: F-7.1
#[test]
fn a_create_and_a_clear_begin_an_id() {
    assert_eq!(notes(3).begins(), Some(3));
    assert_eq!(CatalogChange::Clear { id: 3, new: 4 }.begins(), Some(4));
    assert_eq!(CatalogChange::Drop { id: 3 }.begins(), None);
    assert_eq!(CatalogChange::Rename { id: 3, name: "notes".to_owned() }.begins(), None);
}

//= spec/format.md#f-7-1-catalog-records
//= type=test
//# A reader MUST refuse, as a newer format, a catalog record whose `op` it does not know.
#[test]
fn an_unknown_operation_is_refused() {
    assert_eq!(CatalogChange::decode(&notes_with("op", "split")), Err(MapFault::Unsupported));
}

// spec: F-7.2
#[test]
fn ids_and_names_out_of_range_are_damage() {
    let empty = "a3 62 6964 01 62 6f70 66 637265617465 64 6e616d65 60";
    let long = format!("a3 62 6964 01 62 6f70 66 637265617465 64 6e616d65 79 0100 {}", "61".repeat(256));
    for digits in [
        "",
        "a0",
        "01",
        "a1 62 6f70 01",
        "a2 62 6964 00 62 6f70 64 64726f70",
        "a2 62 6964 20 62 6f70 64 64726f70",
        "a2 62 6964 1b0000000100000000 62 6f70 64 64726f70",
        "a2 62 6964 6131 62 6f70 64 64726f70",
        "a1 62 6f70 64 64726f70",
        "a2 62 6964 01 62 6f70 65 636c656172",
        empty,
        &long,
    ] {
        assert!(matches!(CatalogChange::decode(&hex(digits)), Err(MapFault::Malformed(_))), "{digits}");
    }
}

#[test]
#[should_panic(expected = "ids start at 1")]
fn no_change_of_collection_0_is_written() {
    let _ = CatalogChange::Drop { id: 0 }.encode();
}

proptest! {
    #[test]
    fn a_change_reads_back_as_it_was_written(id in 1..=u32::MAX, new in 1..=u32::MAX, name in ".{1,60}") {
        for change in [
            CatalogChange::Create { id, name: name.clone() },
            CatalogChange::Drop { id },
            CatalogChange::Clear { id, new },
            CatalogChange::Rename { id, name },
        ] {
            prop_assert_eq!(CatalogChange::decode(&change.encode()), Ok(change));
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
        let _ = CatalogChange::decode(&bytes);
    }
}
