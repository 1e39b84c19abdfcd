//! Trees of many leaves, of long keys and of many entries, and a root of many parts (F-8.4, F-8.7, F-8.10, F-8.13).

use holotype_model::{Document, Key, Value};

use super::{Maker, damage_frame, name_in_slot};
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::entries::{Definition, Step, field};
use crate::forge::index::collection;
use crate::forge::{Forge, Record};
use crate::make::stores::sample::saying;

/// One more than a byte of a varint can count, twice over.
const LEAVES: i64 = 260;

pub(super) fn make(maker: &mut Maker) {
    let clauses = ["F-8.4", "F-8.5", "F-8.11", "F-8.12", "F-8.13", "F-1.2"];
    let keys: Vec<_> = (100..100 + LEAVES).map(Key::Int).collect();
    let forge = tree(32_768, &keys, 1, &Changes::default());
    let name = format!("A tree of {LEAVES} leaves, and nothing but the checkpoint has what they hold");
    maker.holds(&clauses, &["ByteOrder", "Checkpoint"], name, &forge.data, forge.state());
    // Keys and what they share take more than a byte to say.
    let keys: Vec<_> =
        (0..9).map(|n| Key::from(&*format!("{}{n}{}", "k".repeat(150), "z".repeat(140)))).collect();
    let forge = tree(16_384, &keys, 3, &Changes::default());
    let name = "A tree of long keys that share a long beginning, and nothing but the checkpoint has them";
    maker.holds(&clauses, &["ByteOrder", "Checkpoint"], name, &forge.data, forge.state());
    let keys: Vec<_> = (0..6).map(|n| Key::Bytes([&[7; 200][..], &[n; 139]].concat())).collect();
    let forge = tree(16_384, &keys, 2, &Changes::default());
    let name = "A tree of long keys of bytes, and nothing but the checkpoint has them";
    maker.holds(&clauses, &["ByteOrder", "Checkpoint"], name, &forge.data, forge.state());
    let forge = tree(16_384, &[Key::Int(1)], 1, &Changes { part: Some(1), ..Changes::default() });
    let name = "A root of more than 128 parts, and nothing but the checkpoint has what it leads to";
    maker.holds(
        &["F-8.7", "F-8.12", "F-1.2"],
        &["ByteOrder", "Checkpoint"],
        name,
        &forge.data,
        forge.state(),
    );
    index(maker);
}

/// An index whose numbers take two bytes.
fn index(maker: &mut Maker) {
    let (of, id) = (300, 400);
    let mut forge = Forge::opened(64, 16_384, 2);
    let definition = Definition::new("by item", &[&[field("n"), Step::Any]]);
    forge.commit(&[Record::create(of, "notes"), Record::index(of, id, &definition)]);
    let items = Value::Array((0..300).map(Value::Int).collect());
    forge.commit(&[Record::put(of, &Key::Int(1), &Document::from([("n".to_owned(), items)]))]);
    let reference = Checkpoint::begin(&mut forge, 3).finish(&Changes::default());
    let last = forge.last;
    name_in_slot(&mut forge, &[&reference], last);
    damage_frame(&mut forge, 2);
    let name = "An index of 300 entries, with ids of two bytes, and nothing but the checkpoint has it";
    maker.holds(&["F-8.10", "F-8.5"], &["ByteOrder", "Checkpoint"], name, &forge.data, forge.state());
}

/// A store of one collection with these keys, so many a leaf, under one page. The frame that they stand in has lost its header.
fn tree(segment_bytes: u32, keys: &[Key], a_leaf: usize, changes: &Changes) -> Forge {
    let mut forge = Forge::opened(64, segment_bytes, 2);
    forge.commit(&[Record::create(1, "notes")]);
    let puts: Vec<_> = keys.iter().map(|key| Record::put(1, key, &saying(1))).collect();
    forge.commit(&puts);
    let mut checkpoint = Checkpoint::begin(&mut forge, 3);
    let found = checkpoint.documents(1);
    let entries = found.entries();
    let tree = checkpoint.tree(1, &entries, (a_leaf, usize::MAX), changes);
    let notes = collection(1, "notes", found.next, entries.len(), tree);
    let reference = checkpoint.finish_with(vec![notes], changes);
    let last = forge.last;
    name_in_slot(&mut forge, &[&reference], last);
    damage_frame(&mut forge, 2);
    forge
}
