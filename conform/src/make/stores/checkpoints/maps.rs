//! Maps of collections that are sealed, and must not be believed (F-8.5).

use super::{Maker, disbelieved, with_one};
use crate::forge::checkpoint::Changes;
use crate::make::stores::newer;
use holotype_model::{Document, Value};

fn set(map: &mut Document, key: &str, value: Value) {
    map.insert(key.to_owned(), value);
}

/// The bytes that lead to the pages of a collection.
fn tree(map: &mut Document) -> &mut Vec<u8> {
    match map.get_mut("tree") {
        Some(Value::Bytes(tree)) => tree,
        _ => unreachable!("a map has a tree"),
    }
}

type Change = fn(&mut Vec<Document>);

/// The maps of the store: `notes` with seven documents and the next id 301, then `other` with none.
pub(super) fn forged_maps(maker: &mut Maker) {
    let wrong: [(&str, Change); 28] = [
        ("two collections of one name", |maps| set(&mut maps[1], "name", Value::from("notes"))),
        ("two collections of one id", |maps| set(&mut maps[1], "id", Value::Int(1))),
        ("collections out of order", |maps| maps.swap(0, 1)),
        ("an id above the last", |maps| set(&mut maps[1], "id", Value::Int(3))),
        ("an id beyond 32 bits", |maps| set(&mut maps[1], "id", Value::Int(1 << 32))),
        ("an id of 0", |maps| {
            maps.swap(0, 1);
            set(&mut maps[0], "id", Value::Int(0));
        }),
        ("no id", |maps| drop(maps[1].remove("id"))),
        ("an empty name", |maps| set(&mut maps[1], "name", Value::from(""))),
        ("a name of 256 bytes", |maps| set(&mut maps[1], "name", Value::from(&*"n".repeat(256)))),
        ("a name that is no text", |maps| set(&mut maps[1], "name", Value::Bytes(b"n".to_vec()))),
        ("no name", |maps| drop(maps[1].remove("name"))),
        ("a next id of 0", |maps| set(&mut maps[1], "next", Value::Int(0))),
        ("a next id that a document has", |maps| set(&mut maps[0], "next", Value::Int(300))),
        ("a next id of 1, and documents with ids", |maps| set(&mut maps[0], "next", Value::Int(1))),
        ("a next id below 0", |maps| set(&mut maps[1], "next", Value::Int(-1))),
        ("no next id", |maps| drop(maps[1].remove("next"))),
        ("a count that is too low", |maps| set(&mut maps[0], "count", Value::Int(6))),
        ("a count that is too high", |maps| set(&mut maps[0], "count", Value::Int(8))),
        ("a count of 0 and a tree", |maps| set(&mut maps[0], "count", Value::Int(0))),
        ("a count and an empty tree", |maps| set(&mut maps[1], "count", Value::Int(3))),
        ("no count", |maps| drop(maps[1].remove("count"))),
        ("a count and no tree", |maps| drop(maps[0].remove("tree"))),
        ("a tree that is a byte short", |maps| {
            let short = tree(&mut maps[0]).len() - 1;
            tree(&mut maps[0]).truncate(short);
        }),
        ("a tree with a byte behind it", |maps| tree(&mut maps[0]).push(0)),
        ("a tree that leads to its page twice", |maps| {
            let twice = tree(&mut maps[0]).repeat(2);
            set(&mut maps[0], "tree", Value::Bytes(twice));
            set(&mut maps[0], "count", Value::Int(14));
        }),
        ("a tree of another collection", |maps| {
            let other = tree(&mut maps[0]).clone();
            set(&mut maps[1], "tree", Value::Bytes(other));
            set(&mut maps[1], "count", Value::Int(7));
            set(&mut maps[1], "next", Value::Int(301));
        }),
        ("a tree that is an array", |maps| set(&mut maps[1], "tree", Value::Array(Vec::new()))),
        ("required that is no array", |maps| set(&mut maps[1], "required", Value::from("id"))),
    ];
    for (what, change) in wrong {
        let changes = Changes { maps: Some(change), ..Changes::default() };
        disbelieved(maker, &["F-8.5"], format!("A checkpoint with {what}"), &changes);
    }
    let right: [(&str, Change); 3] = [
        ("a next id far above any that there is", |maps| set(&mut maps[0], "next", Value::Int(1 << 40))),
        ("a key that is not known", |maps| set(&mut maps[1], "later", Value::Null)),
        ("keys required that are known", |maps| {
            let known = ["count", "id", "name", "next", "required", "tree"].map(Value::from);
            set(&mut maps[1], "required", Value::Array(known.to_vec()));
        }),
    ];
    for (what, change) in right {
        let mut forge = with_one(&Changes { maps: Some(change), ..Changes::default() });
        let at = forge.placed[1].at;
        forge.data[at] ^= 1;
        let mut state = forge.state();
        if what.starts_with("a next id") {
            state.collections[0].next = Some((1u64 << 40).to_string());
        }
        let name = format!("A collection in a checkpoint with {what}");
        maker.holds(&["F-8.5", "F-7.3"], &["Checkpoint"], name, &forge.data, state);
    }
    for required in ["later", "lsn"] {
        let change: Change = match required {
            "later" => |maps| set(&mut maps[1], "required", Value::Array(vec![Value::from("later")])),
            _ => |maps| set(&mut maps[1], "required", Value::Array(vec![Value::from("lsn")])),
        };
        let forge = with_one(&Changes { maps: Some(change), ..Changes::default() });
        let name = format!("A collection in a checkpoint that requires the key `{required}`");
        maker.refused(&["F-7.3", "F-8.5"], &["Features"], name, &forge.data, newer());
    }
}
