//! Indexes in a checkpoint: written, read, and refused where they cannot be.

use super::*;
use crate::doc;
use crate::document::{KeyRef, Value};
use crate::format::catalog::MapFault;
use crate::format::checkpoint::{Entries, Stretch};
use crate::format::definition::StoredDefinition;
use crate::secondary::IndexDefinition;
use crate::sync::Arc;

fn index(id: u32, of: u32, name: &str) -> IndexEntry {
    let definition = IndexDefinition::new(name, ["$.n", "-$.m[*]"]).expect("a definition");
    let definition = Arc::new(StoredDefinition::new(definition.sparse()));
    IndexEntry { id, of, definition, count: 0, tree: Vec::new(), anew: false, kept: Document::new() }
}

/// What a reader makes of a checkpoint of the collections 1 and 5 with these indexes.
fn read(indexes: &[IndexEntry], count_of_last: u64) -> Result<Vec<(u32, Vec<Key>)>> {
    let mut disk = Disk::new(tiny());
    let mut writer = IndexWriter::new(disk.geometry, &LINEAGE, LSN, Lsn::new(3, 8), None);
    let given = Given::new(vec![Collection::new(1, Vec::new()), Collection::new(5, Vec::new())]);
    let catalog: Vec<_> =
        given.collections.iter().map(|from| write_tree(from, &mut writer, &mut disk)).collect();
    let mut indexes = indexes.to_vec();
    if let Some(last) = indexes.last_mut().filter(|_| count_of_last > 0) {
        let mut tree = writer.tree(last.id, None);
        let mut out = Output { writer: &mut writer, sink: &mut disk };
        for key in [&b"a"[..], b"b"] {
            tree.push(&mut out, (KeyRef::Bytes(key), 4), true).expect("room for an entry");
        }
        last.tree = tree.finish(&mut out).expect("room for the tree");
        last.count = count_of_last;
    }
    let root = Root { indexes: indexes.clone(), last: 90, ..given.root(LSN, catalog) };
    let written = writer.finish(&mut disk, root).expect("a checkpoint");
    let reference = given.reference(LSN, &written);
    let mut checkpoint = Checkpoint::open(&disk, tiny(), &LINEAGE, &reference)?;
    let (root, trees) = checkpoint.parts();
    assert_eq!(root.indexes, indexes, "they are read as they were written");
    let mut all = Vec::new();
    for index in &root.indexes {
        let mut found = Found::default();
        trees.read(TreeOf::from(index), Limits::new(LogAddress(1 << 20), 4), &mut found)?;
        all.push((index.id, found.0));
    }
    Ok(all)
}

#[derive(Default)]
struct Found(Vec<Key>);

impl Entries for Found {
    fn ints(&mut self, _: &[u8], _: &[Stretch]) {
        unreachable!("no entry is an int");
    }

    fn key(&mut self, key: KeyRef<'_>, value: u64) {
        assert_eq!(value, 4);
        self.0.push(key.to_key());
    }
}

#[test]
fn indexes_are_read_as_they_were_written() {
    let unmade = IndexEntry { anew: true, kept: doc! { "colour": "green" }, ..index(9, 5, "c") };
    let all = [index(2, 1, "a"), index(7, 5, "a"), unmade, index(12, 5, "d")];
    let found = read(&all, 2).expect("a sound checkpoint");
    let entries = vec![Key::Bytes(b"a"[..].into()), Key::Bytes(b"b"[..].into())];
    assert_eq!(found, [(2, vec![]), (7, vec![]), (9, vec![]), (12, entries)]);
}

//= spec/format.md#f-8-10-indexes
//= type=test
//# A reader MUST take a checkpoint for damaged when `of` is no id of a collection in it, when an id is that of a
//# collection, that of another index, or above `last` of the root, when two indexes of a collection have one
//# name, when a collection has more than 64, when an entry is none of its definition (I-7.2), or when it has
//# another number of entries than `count`.
#[test]
fn indexes_that_cannot_be_are_damage() {
    let many = |count: u32| (0..count).map(|id| index(6 + id, 5, &format!("i{id}"))).collect::<Vec<_>>();
    assert!(read(&many(64), 0).is_ok());
    let cases = [
        ("of no collection", vec![index(2, 3, "a")]),
        ("the id of a collection", vec![index(5, 1, "a")]),
        ("an id above the last", vec![index(91, 1, "a")]),
        ("two of one name", vec![index(2, 1, "a"), index(3, 1, "a")]),
        ("too many", many(65)),
    ];
    for (what, indexes) in cases {
        let refused = read(&indexes, 0);
        assert!(matches!(refused, Err(crate::Error::Corrupt(_))), "{what}: {refused:?}");
    }
    let refused = read(&[index(2, 1, "a")], 3);
    assert!(matches!(refused, Err(crate::Error::Corrupt(_))), "another number of entries: {refused:?}");
}

//= spec/format.md#f-8-10-indexes
//= type=test
//# A definition MUST be one that I-1 allows.
#[test]
fn a_definition_that_cannot_be_is_malformed() {
    let definition = |paths: Value| doc! { "name": "a", "on": paths };
    let cases = [
        definition(Value::from("$.n")),
        definition(Value::Array(Vec::new())),
        definition(Value::Array(vec!["$['n']".into()])),
        definition(Value::Array(vec!["$..n".into()])),
        doc! { "name": "a", "on": ["$.n"], "unique": false },
    ];
    for map in cases {
        let refused = StoredDefinition::decode(&map);
        assert!(matches!(refused, Err(MapFault::Malformed(_))), "{map:?}: {refused:?}");
    }
    let newer = doc! { "name": "a", "on": ["$.n"], "above": "@.x", "required": ["above"] };
    assert!(matches!(StoredDefinition::decode(&newer), Err(MapFault::Unsupported)));
}
