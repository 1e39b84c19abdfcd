//! Trees of many pages, and of long keys (F-8.3, F-8.4).

use holotype_model::{Document, Key, Value};

use super::{Maker, damage_frame, name_in_slot};
use crate::forge::checkpoint::{Changes, PRIMARY, Page, Pages, Pointer, leaf, pointer};
use crate::forge::{Forge, Record, cbor, varint};
use crate::make::stores::sample::saying;

/// One more than a byte of a varint can count, twice over.
const LEAVES: i64 = 260;

pub(super) fn make(maker: &mut Maker) {
    let clauses = ["F-8.1", "F-8.2", "F-8.3", "F-8.4", "F-8.5", "F-1.2"];
    let keys: Vec<_> = (100..100 + LEAVES).map(Key::Int).collect();
    let forge = tree(32_768, &keys, 1);
    let name = format!("A tree of {LEAVES} leaves, and nothing but the checkpoint has what they hold");
    maker.holds(&clauses, &["ByteOrder", "Checkpoint"], name, &forge.data, forge.state());
    // Keys and what they share take more than a byte to say, and so do the fences.
    let keys: Vec<_> =
        (0..9).map(|n| Key::from(&*format!("{}{n}{}", "k".repeat(150), "z".repeat(140)))).collect();
    let forge = tree(16_384, &keys, 3);
    let name = "A tree of long keys that share a long beginning, and nothing but the checkpoint has them";
    maker.holds(&clauses, &["ByteOrder", "Checkpoint"], name, &forge.data, forge.state());
    let keys: Vec<_> = (0..6).map(|n| Key::Bytes([&[7; 200][..], &[n; 139]].concat())).collect();
    let forge = tree(16_384, &keys, 2);
    let name = "A tree of long keys of bytes, and nothing but the checkpoint has them";
    maker.holds(&clauses, &["ByteOrder", "Checkpoint"], name, &forge.data, forge.state());
}

/// A store of one collection with these keys, so many a leaf, under one branch. The frame that they stand in has lost its header.
fn tree(segment_bytes: u32, keys: &[Key], a_leaf: usize) -> Forge {
    let mut forge = Forge::opened(64, segment_bytes, 2);
    forge.commit(&[Record::create(1, "notes")]);
    let puts: Vec<_> = keys.iter().map(|key| Record::put(1, key, &saying(1))).collect();
    forge.commit(&puts);
    let found = forge.world.collections()[&1].clone();
    let entries = found.entries();
    let mut pages = Pages::begin(&mut forge, 3);
    let mut branch = Page { kind: PRIMARY, tree: 1, level: 1, ..Page::default() };
    let groups: Vec<_> = entries.chunks(a_leaf).collect();
    for (n, group) in groups.iter().enumerate() {
        let lower = if n == 0 { Vec::new() } else { cbor::key(&group[0].0) };
        let upper = groups.get(n + 1).map_or(Vec::new(), |next| cbor::key(&next[0].0));
        let page = Page {
            kind: PRIMARY,
            tree: 1,
            fences: (lower.clone(), upper),
            entries: leaf(group),
            ..Page::default()
        };
        branch.entries.push(child(&lower, pages.page(&page)));
    }
    let top = pages.page(&branch);
    let notes = Document::from([
        ("id".to_owned(), Value::Int(1)),
        ("name".to_owned(), Value::from("notes")),
        ("next".to_owned(), Value::Int(found.next as i64)),
        ("count".to_owned(), Value::Int(entries.len() as i64)),
        ("tree".to_owned(), pointer(top)),
    ]);
    let reference = pages.finish_with(vec![notes], &Changes::default());
    let last = forge.last;
    name_in_slot(&mut forge, &[&reference], last);
    damage_frame(&mut forge, 2);
    forge
}

/// An entry of a branch (F-8.3).
pub(super) fn child(fence: &[u8], (number, segment, at): Pointer) -> Vec<u8> {
    let pointer = [number, segment, at].map(|part| varint(part.into())).concat();
    [varint(fence.len() as u64), fence.to_vec(), pointer].concat()
}
