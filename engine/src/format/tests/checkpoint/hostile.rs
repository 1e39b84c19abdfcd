use super::super::super::page::PageKind;
use super::forge::{Forge, Forged, Plan, branch_entries, pointer_value};
use super::*;
use crate::document::KEY_LEN_MAX;
use crate::{Error, doc};

/// What is wrong with a checkpoint, and how it comes to be.
type Flaw = (&'static str, fn(&mut Forged));

/// Each change to a sound checkpoint is refused, for the reason given.
fn refused(cases: &[Flaw]) {
    for (index, (what, spoil)) in cases.iter().enumerate() {
        let mut forged = Forged::sound();
        spoil(&mut forged);
        match forged.read() {
            Err(Unreadable::Damaged(corruption)) => assert_eq!(corruption.what, *what, "case {index}"),
            other => panic!("case {index}, {what}: {other:?}"),
        }
    }
}

#[test]
fn what_is_forged_without_a_flaw_is_believed() {
    let given = Forged::sound().read().expect("a sound checkpoint");
    let entries = [(1, 400), (2, 800), (10, 400), (11, 800)].map(|(id, value)| (Key::Int(id), value));
    assert_eq!(given.collections[0].entries, entries);
    assert_eq!(given.table[0].stretches, [(64, Lsn(1)), (128, Lsn(9))]);
}

//= spec/format.md#f-8-1-pages
//= type=test
//# A page MUST have an entry at least: a tree without entries has no pages.
//= spec/format.md#f-8-4-primary-leaves
//= type=test
//# A reader MUST take a checkpoint for damaged when an address in it is 0, or not below that where the log ended at the checkpoint (F-8.7).
#[test]
fn a_leaf_with_a_flaw_is_refused() {
    refused(&[
        ("a difference to a key that is no int", |c| c.left.entries = hex("02 a006  02 a006")),
        ("a difference to a key that is no int", |c| c.right.entries = hex("03 01 61 a006  02 a006")),
        ("keys out of order", |c| c.left.entries = hex("01 02 a006  00 a006")),
        ("keys out of order", |c| c.left.entries = hex("01 02 a006  01 02 a006")),
        ("an int key beyond 64 bits", |c| {
            c.right.entries = hex("01 feffffffffffffffff01 a006  02 a006");
        }),
        ("no varint where one is due in a leaf", |c| c.left.entries = hex("01 02 a006  8200 a006")),
        ("no varint where one is due in a leaf", |c| c.left.entries = hex("01 02 a006  82")),
        ("no varint where one is due in a leaf", |c| c.left.count = 3),
        ("bytes behind the last entry of a leaf", |c| c.left.count = 1),
        ("a page without entries", |c| c.left.count = 0),
        ("a key below its page's lower fence", |c| c.right.entries = hex("01 12 a006  04 a006")),
        ("a key at or above its page's upper fence", |c| c.left.entries = hex("01 02 a006  12 a006")),
        ("an address that no record has", |c| c.left.entries = hex("01 02 06  02 a006")),
        ("an address that no record has", |c| c.left.entries = hex("01 02 a006  02 9f06")),
        ("an address that no record has", |c| {
            // 2^57 is four times 2^55.
            c.left.entries = hex("01 02 8080808080808080 04  02 a006");
        }),
        ("an unknown sort of key", |c| c.left.entries = hex("07 01 61 a006")),
        ("a key shares more than the key before has", |c| c.left.entries = hex("0b 01 61 a006")),
        ("a key shares more than the key before has", |c| {
            c.right.entries = hex("03 02 6162 a006  1b 01 63 a006");
        }),
        ("a key shares more than the key before has", |c| {
            c.right.entries = hex("03 02 6162 a006  0d 01 63 a006");
        }),
        ("a leaf ends within a key", |c| c.right.entries = hex("03 ff7f 61 a006")),
        ("text that is not UTF-8", |c| c.right.entries = hex("03 01 ff a006  03 01 61 a006")),
        ("keys out of order", |c| c.right.entries = hex("03 02 6162 a006  13 00 a006")),
        ("keys out of order", |c| c.right.entries = hex("03 02 6162 a006  0b 01 61 a006")),
        ("keys out of order", |c| c.right.entries = hex("03 01 61 a006  01 7e a006")),
        ("keys out of order", |c| c.right.entries = hex("05 01 61 a006  03 01 62 a006")),
        ("a key longer than a key may be", |c| {
            c.right.entries = hex("03 8108");
            c.right.entries.extend_from_slice(&[b'a'; KEY_LEN_MAX + 1]);
        }),
    ]);
}

//= spec/format.md#f-8-3-branches
//= type=test
//# A reader MUST take a page for damaged when its tree id, level or fences are not those that its parent
//# says.
//= spec/format.md#f-8-3-branches
//= type=test
//# A level MUST NOT be above 32.
// spec: F-8.1
#[test]
fn a_page_that_is_not_what_its_parent_says_is_refused() {
    refused(&[
        ("a page of another kind", |c| c.left.kind = PageKind::Catalog),
        ("a page of another tree", |c| c.left.tree = 2),
        ("a page of another tree", |c| c.branch.tree = 0),
        ("a page of another level", |c| c.right.level = 1),
        ("a page of another level", |c| c.branch.level = 2),
        ("a page of another level", |c| c.branch.level = 255),
        ("a page with other fences than its parent says", |c| c.left.lower = vec![0x01]),
        ("a page with other fences than its parent says", |c| c.left.upper = vec![]),
        ("a page with other fences than its parent says", |c| c.right.lower = vec![0x09]),
        ("a page with other fences than its parent says", |c| c.right.upper = vec![0x18, 0x64]),
        ("a page with other fences than its parent says", |c| c.branch.upper = vec![0x18, 0x64]),
        ("a page has a wrong checksum", |c| c.top = |top| PagePointer { number: top.number + 1, ..top }),
    ]);
}

// spec: F-8.3
#[test]
fn a_branch_with_a_flaw_is_refused() {
    refused(&[
        ("a page with other fences than its parent says", |c| {
            c.children = |[left, right]| vec![(vec![], right), (vec![0x0a], left)];
        }),
        ("only first children begin where their parent does", |c| {
            c.children = |[left, right]| vec![(vec![], left), (vec![], right)];
        }),
        ("only first children begin where their parent does", |c| {
            c.children = |[left, right]| vec![(vec![0x01], left), (vec![0x0a], right)];
        }),
        ("children of a branch are out of order", |c| {
            c.branch.count = 3;
            c.children = |[left, right]| vec![(vec![], left), (vec![0x0a], right), (vec![0x0a], right)];
        }),
        ("a fence that is no key", |c| {
            c.children = |[left, right]| vec![(vec![], left), (vec![0x0a, 0x0a], right)];
        }),
        ("a fence that is no key", |c| {
            c.children = |[left, right]| vec![(vec![], left), (vec![0xf6], right)];
        }),
        ("a branch ends within a child", |c| c.branch.count = 3),
        ("bytes behind the last child of a branch", |c| c.behind_children = vec![0]),
        ("a page without entries", |c| c.branch.count = 0),
    ]);
}

// spec: F-8.3
#[test]
fn a_branch_with_a_child_at_its_upper_fence_is_refused() {
    let mut forge = Forge::new();
    let leaf = Forged::sound().left;
    let (pointer, _) = forge.place(&leaf);
    // Below the top stands a branch that ends at 10, and has a child that begins there.
    let mut lower = Plan { level: 1, lower: vec![], upper: vec![0x0a], ..leaf.clone() };
    lower.entries.clear();
    branch_entries(&[(vec![], pointer), (vec![0x0a], pointer)], &mut lower.entries);
    let (pointer, _) = forge.place(&lower);
    let mut top = Plan { level: 2, upper: vec![], ..lower };
    top.entries.clear();
    branch_entries(&[(vec![], pointer), (vec![0x0a], pointer)], &mut top.entries);
    let (pointer, _) = forge.place(&top);
    let entry = doc! { "id": 1, "name": "a", "next": 9, "count": 2, "tree": pointer_value(pointer) };
    let what = damage_of(forge, PageKind::Catalog, "catalog", &entry.encode());
    assert_eq!(what, "a child begins at or above the upper fence of its parent");
}

/// Why a checkpoint is refused whose tree of one leaf of `kind` stands under `name` in the root.
fn damage_of(mut forge: Forge, kind: PageKind, name: &'static str, entry: &[u8]) -> &'static str {
    let tree = forge.leaf(kind, &[entry.to_vec()]);
    damage_of_root(forge, name, tree)
}

fn damage_of_root(mut forge: Forge, name: &'static str, tree: crate::Value) -> &'static str {
    let mut root = Forged::sound().root;
    root.insert(name, tree);
    let reference = forge.finish(&[LOG_SEGMENTS.into()], root, &[]);
    match read(&forge.disk, &reference) {
        Err(Unreadable::Damaged(corruption)) => corruption.what,
        other => panic!("a flaw that is not seen: {other:?}"),
    }
}

//= spec/format.md#f-8-3-branches
//= type=test
//# A reader MUST take a checkpoint for damaged where that does not hold: it is what makes every walk end.
#[test]
fn branches_that_lead_to_one_page_twice_do_not_make_a_walk_longer() {
    // Each level leads twice to the one below: 2^32 ways to the leaf.
    let mut forge = Forge::new();
    let entry = doc! { "id": 1, "name": "a", "next": 1, "count": 0 }.encode();
    let mut page = Forged::sound().left;
    (page.kind, page.tree, page.count, page.upper) = (PageKind::Catalog, 0, 1, vec![]);
    page.entries = entry;
    let (mut pointer, _) = forge.place(&page);
    page.count = 2;
    for level in 1..=32 {
        page.level = level;
        page.entries.clear();
        branch_entries(&[(vec![], pointer), (vec![], pointer)], &mut page.entries);
        (pointer, _) = forge.place(&page);
    }
    assert_eq!(damage_of_root(forge, "catalog", pointer_value(pointer)), "a page number out of order");
}

//= spec/format.md#f-8-2-page-pointer
//= type=test
//# A reader MUST take a checkpoint for damaged when a pointer leads to a place where no page can begin, or
//# into a segment that the checkpoint's list (F-8.9) does not name.
#[test]
fn a_pointer_to_where_no_page_can_be_is_refused() {
    refused(&[
        ("a page beyond the end of the file", |c| c.top = |top| PagePointer { physical: 4, ..top }),
        ("a page beyond the end of the file", |c| c.top = |top| PagePointer { physical: u32::MAX, ..top }),
        ("a page in a segment that is not the checkpoint's", |c| {
            c.top = |top| PagePointer { physical: 2, ..top };
        }),
        ("a page where none can begin", |c| c.top = |top| PagePointer { offset: 0, ..top }),
        ("a page where none can begin", |c| c.top = |top| PagePointer { offset: 56, ..top }),
        ("a page where none can begin", |c| c.top = |top| PagePointer { offset: top.offset + 4, ..top }),
        ("a page beyond the end of its segment", |c| c.top = |top| PagePointer { offset: 8192 - 24, ..top }),
        ("a page beyond the end of its segment", |c| {
            c.top = |top| PagePointer { offset: u32::MAX - 7, ..top };
        }),
    ]);
}

//= spec/format.md#f-8-5-catalog-leaves
//= type=test
//# A reader MUST take a checkpoint for damaged when two collections have one id or one name, when an id is
//# above `last` of the root, or when a tree has another number of entries than `count`, or an int key that is
//# not below `next`.
#[test]
fn a_catalog_with_a_flaw_is_refused() {
    refused(&[
        ("collections out of order", |c| {
            c.catalog.push(doc! { "id": 1, "name": "a", "next": 1, "count": 0 });
        }),
        ("collections out of order", |c| {
            c.catalog.push(doc! { "id": 2, "name": "a", "next": 1, "count": 0 });
        }),
        ("two collections of one name", |c| {
            c.root.insert("last", 2);
            c.catalog.push(doc! { "id": 2, "name": "birds", "next": 1, "count": 0 });
        }),
        ("a collection that cannot be", |c| change(&mut c.catalog[0], "id", 0)),
        ("a collection that cannot be", |c| change(&mut c.catalog[0], "name", "")),
        ("a collection that cannot be", |c| change(&mut c.catalog[0], "name", "x".repeat(256))),
        ("a collection that cannot be", |c| change(&mut c.catalog[0], "next", 0)),
        ("a collection that cannot be", |c| change(&mut c.catalog[0], "count", 0)),
        ("no unsigned number where one is due", |c| change(&mut c.catalog[0], "count", -1)),
        ("a number beyond 32 bits", |c| change(&mut c.catalog[0], "id", 1_i64 << 32)),
        ("a collection lacks one of its fields", |c| {
            c.catalog[0].remove("next");
        }),
        ("a page pointer is an array of three", |c| change(&mut c.catalog[0], "tree", 5)),
        ("a collection has another number of documents than its tree", |c| {
            change(&mut c.catalog[0], "count", 5);
        }),
        ("a key that is yet to be issued", |c| change(&mut c.catalog[0], "next", 11)),
        ("`required` is not an array of text", |c| change(&mut c.catalog[0], "required", 1)),
    ]);
}

fn change(document: &mut Document, name: &str, value: impl Into<crate::Value>) {
    document.insert(name, value.into());
}

//= spec/format.md#f-8-6-segment-table-leaves
//= type=test
//# A reader MUST take a checkpoint for damaged when two segments have one sequence or one physical index;
//# when the arrays are out of order; when the first stretch does not begin at the first data byte with the
//# first LSN; when a stretch begins, or the segment ends, outside of the segment's data; when a segment is
//# freed above the LSN of the checkpoint, or stands where the checkpoint's list has one; and when one that
//# is not freed lies beyond the end of the file.
#[test]
fn a_segment_table_with_a_flaw_is_refused() {
    refused(&[
        ("a segment is an array of nine", |c| c.table = vec![array![5, 0, 1, 512, [], 0, 7]]),
        ("a log segment that cannot be", |c| {
            c.table = vec![array![1_i64 << 42, 0, 1, 512, [], 0, 7, 700, []]];
        }),
        ("a log segment that cannot be", |c| c.table = vec![array![5, 4, 1, 512, [], 0, 7, 700, []]]),
        ("a log segment that cannot be", |c| c.table = vec![array![5, 0, 1, 56, [], 0, 7, 700, []]]),
        ("a log segment that cannot be", |c| c.table = vec![array![5, 0, 1, 8200, [], 0, 7, 700, []]]),
        ("a log segment that cannot be", |c| c.table = vec![array![5, 0, 1, 512, [[513, 1]], 0, 7, 700, []]]),
        ("a log segment that cannot be", |c| c.table = vec![array![5, 0, 1, 512, [[8, 1]], 0, 7, 700, []]]),
        ("a log segment that cannot be", |c| {
            c.table = vec![array![5, 0, 1, 512, [], LSN.0 as i64 + 1, 7, 700, []]];
        }),
        ("log segments out of order", |c| c.table.insert(0, array![6, 2, 1, 512, [], 0, 7, 700, []])),
        ("parts of two log segments of one sequence", |c| {
            c.table.push(array![5, 2, 1, 512, [], 0, 7, 700, []]);
        }),
        ("two log segments at one place", |c| c.table.push(array![6, 0, 1, 512, [], 0, 7, 700, []])),
        ("stretches or live records of a log segment out of order", |c| c.table.push(c.table[0].clone())),
        ("stretches or live records of a log segment out of order", |c| {
            c.table = vec![array![5, 0, 1, 512, [], 0, 7, 700, [[2, 1], [1, 1]]]];
        }),
        ("no pair where one is due", |c| c.table = vec![array![5, 0, 1, 512, [[64]], 0, 7, 700, []]]),
        ("no array where one is due", |c| c.table = vec![array![5, 0, 1, 512, 3, 0, 7, 700, []]]),
    ]);
}

//= spec/format.md#f-8-7-root-page
//= type=test
//# The reference MUST have the root's `lsn` as its own and as its replay start's LSN, and `log` as its replay
//# start; the last segment of the table MUST be that of `log`.
//= spec/format.md#f-8-7-root-page
//= type=test
//# A reader MUST take a checkpoint for damaged where that does not hold.
#[test]
fn a_root_with_a_flaw_is_refused() {
    refused(&[
        ("the root is of another LSN than the superblock says", |c| change(&mut c.root, "lsn", 8)),
        ("the root lacks one of its fields", |c| {
            c.root.remove("log");
        }),
        ("a place of the log that cannot be", |c| change(&mut c.root, "log", array![4, 7, 512])),
        ("a place of the log that cannot be", |c| change(&mut c.root, "log", array![1, 1_i64 << 42, 512])),
        ("a place of the log that cannot be", |c| change(&mut c.root, "log", array![1, 7, 8193])),
        ("the log's position is an array of three", |c| change(&mut c.root, "log", array![1, 7])),
        ("the log's reservation is an array of two", |c| change(&mut c.root, "reserved", array![1])),
        ("a reserved index is a number or null", |c| change(&mut c.root, "reserved", array!["x", 1])),
        ("a reserved index that cannot be", |c| {
            change(&mut c.root, "reserved", array![u32::MAX, 1]);
        }),
        ("bytes behind the root's map", |c| c.behind_root = vec![0]),
    ]);
}

// spec: F-8.7
#[test]
fn a_root_page_is_one_leaf_of_one_entry_and_nothing_besides() {
    let what = "a root is one leaf of one entry";
    refused(&[
        (what, |c| c.spoil_root = |root| root.tree = 1),
        (what, |c| c.spoil_root = |root| root.level = 1),
        (what, |c| c.spoil_root = |root| root.count = 2),
        (what, |c| c.spoil_root = |root| root.lower = vec![1]),
        (what, |c| c.spoil_root = |root| root.upper = vec![1]),
    ]);
}

//= spec/format.md#f-8-9-segment-list-leaves
//= type=test
//# A reader MUST take a checkpoint for damaged when its list names a segment twice, or one beyond the end of
//# the file.
#[test]
fn a_list_of_segments_with_a_flaw_is_refused() {
    refused(&[
        ("a segment comes twice", |c| c.list.push(3)),
        ("a segment beyond the end of the file", |c| c.list.push(4)),
        ("a segment beyond the end of the file", |c| c.list.push(1 << 32 | 3)),
        ("the list of segments does not name its own", |c| c.list = vec![2]),
    ]);
}

//= spec/format.md#f-7-3-unknown-keys
//= type=test
//# A reader MUST refuse the file when the map has an array `required` that names a key it does not know.
#[test]
fn a_map_that_requires_a_field_that_is_not_known_is_of_a_newer_version() {
    let required = || array!["count", "weight"];
    let spoil: [fn(&mut Forged, crate::Value); 2] = [
        |c, required| change(&mut c.catalog[0], "required", required),
        |c, required| change(&mut c.root, "required", required),
    ];
    for spoil in spoil {
        let mut forged = Forged::sound();
        spoil(&mut forged, required());
        let failed = forged.read();
        assert!(matches!(failed, Err(Unreadable::Failed(Error::NewerFormat { .. }))), "{failed:?}");
    }
}
