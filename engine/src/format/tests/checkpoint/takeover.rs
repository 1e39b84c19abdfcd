//! Checkpoints that take over leaves and directory pages of an earlier one.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
#[cfg(feature = "seeded")]
use crate::seeded::Bug;

/// A checkpoint, and what it is of.
struct Taken {
    given: Given,
    reference: CheckpointRef,
    written: Written,
    open: Option<OpenSegment>,
}

/// Values from here on came to be after the base.
const NEW: u64 = 1 << 40;

fn is_new(_: &Key, value: u64) -> bool {
    value >= NEW
}

fn collection(keys: impl Iterator<Item = i64>) -> Vec<(Key, u64)> {
    // Neither keys nor values go on evenly, so that a leaf has few of them.
    keys.map(|key| (Key::Int(key * key), 4 * (100 + (key * key) as u64 % 30_011))).collect()
}

fn first(disk: &mut Disk, entries: Vec<(Key, u64)>) -> Taken {
    let given = Given::new(vec![Collection::new(1, entries)]);
    let writer = IndexWriter::new(disk.geometry, &LINEAGE, LSN, LSN, None);
    let (reference, written, open) = given.write_with(disk, writer, LSN);
    Taken { given, reference, written, open }
}

/// A checkpoint of these entries at `lsn`, which takes over from `base` what is not new and is appended to `open`.
fn next(
    disk: &mut Disk,
    (base, open): (&Taken, Option<OpenSegment>),
    lsn: Lsn,
    entries: Vec<(Key, u64)>,
    is_new: impl Fn(&Key, u64) -> bool,
) -> Taken {
    let given = Given::new(vec![Collection::new(1, entries)]);
    let tree = {
        let mut checkpoint =
            Checkpoint::open(disk, disk.geometry, &LINEAGE, &base.reference).expect("it is whole");
        let (root, trees) = checkpoint.parts();
        Some(BaseTree::read(trees, TreeOf::from(&root.catalog[0])).expect("it is whole"))
    };
    let mut writer = IndexWriter::new(disk.geometry, &LINEAGE, lsn, lsn, open);
    let tree = writer.tree(1, tree);
    let catalog = vec![fill_tree(tree, &given.collections[0], &mut writer, disk, is_new)];
    let root = given.root(lsn, catalog);
    let written = writer.finish(disk, root).expect("a checkpoint");
    let reference = given.reference(lsn, &written);
    Taken { given, reference, written, open: writer.open() }
}

fn check(disk: &Disk, taken: &Taken) {
    let found = read(disk, disk.geometry, &taken.reference).expect("it is whole");
    assert_eq!(found, taken.given);
}

/// The leaves and directory pages of a checkpoint.
fn records_of(disk: &Disk, taken: &Taken) -> BTreeSet<(u32, u32)> {
    let mut checkpoint =
        Checkpoint::open(disk, disk.geometry, &LINEAGE, &taken.reference).expect("it is whole");
    let (root, trees) = checkpoint.parts();
    let base = BaseTree::read(trees, TreeOf::from(&root.catalog[0])).expect("it is whole");
    base.references().map(|reference| (reference.physical, reference.offset)).collect()
}

//= spec/space.md#p-2-8-what-is-taken-over
//= type=test
//# A checkpoint MAY take over a leaf of its base that has the same entries, with the patch over it if it has one, and a directory page of which it takes over all leaves so.
#[test]
fn of_what_did_not_change_nothing_is_written_but_the_root() {
    let mut disk = Disk::new(tiny());
    let base = first(&mut disk, collection(0..2000));
    let same =
        next(&mut disk, (&base, base.open), LSN.next(), base.given.collections[0].entries.clone(), is_new);
    check(&disk, &same);
    assert_eq!(records_of(&disk, &same), records_of(&disk, &base));
    let held = segments_of(&same.written);
    assert!(records_of(&disk, &base).iter().all(|(physical, _)| held.contains(physical)), "it holds them");
    // One document of many: a leaf, a page and the root.
    let mut entries = same.given.collections[0].entries.clone();
    entries[700].1 = 4 * NEW;
    let other = next(&mut disk, (&same, same.open), LSN.next().next(), entries, is_new);
    check(&disk, &other);
    let (before, after) = (records_of(&disk, &same), records_of(&disk, &other));
    let new = after.difference(&before).count();
    assert!((2..=3).contains(&new), "{new}: a leaf, which may have become two, and its page");
    assert!(before.len() > 10, "there are many");
}

//= spec/space.md#p-2-8-what-is-taken-over
//= type=test
//# A writer MUST NOT take over a leaf in the place of any other that is unread.
#[test]
fn an_unread_leaf_is_served_by_one_of_the_same_range_and_count_alone() {
    let mut disk = Disk::new(tiny());
    let base = first(&mut disk, collection(0..2000));
    let mut checkpoint =
        Checkpoint::open(&disk, disk.geometry, &LINEAGE, &base.reference).expect("it is whole");
    let (root, trees) = checkpoint.parts();
    let of = TreeOf::from(&root.catalog[0]);
    let pages = trees.pages(of).expect("it is whole").into_iter();
    let leaves: Vec<(Key, u64)> = pages
        .flat_map(|(first, page)| trees.page(of.id, &first, &page).expect("it is whole"))
        .map(|(first, leaf)| (first, leaf.count()))
        .collect();
    let tree = BaseTree::read(trees, of).expect("it is whole");
    let mut disk = disk.clone();
    let (middle, far) = (leaves.len() / 2, &leaves[leaves.len() / 2 + 2].0);
    for (is_served, count, end) in [(true, 0, false), (false, 1, false), (false, 0, true)] {
        let lsn = LSN.next();
        let mut writer = IndexWriter::new(disk.geometry, &LINEAGE, lsn, lsn, base.open);
        let mut writing = writer.tree(1, Some(tree.clone()));
        let mut out = Output { writer: &mut writer, sink: &mut disk };
        for (at, (first, own_count)) in leaves.iter().enumerate() {
            let next = leaves.get(at + 1).map(|(first, _)| first);
            let unread = match at == middle {
                true => {
                    UnreadLeaf { first, end: if end { Some(far) } else { next }, count: own_count + count }
                }
                false => UnreadLeaf { first, end: next, count: *own_count },
            };
            let found = writing.take_over_leaf(&mut out, unread).expect("room");
            assert_eq!(found, is_served || at != middle, "leaf {at}");
            if !found {
                let entries = base.given.collections[0].entries.iter();
                let own = entries.filter(|(key, _)| key >= first && next.is_none_or(|next| key < next));
                own.for_each(|(key, value)| {
                    let entry = (key.as_ref(), *value);
                    writing.push(&mut out, entry, false).expect("room");
                });
            }
        }
        let tree = writing.finish(&mut out).expect("room");
        assert_eq!(tree.len(), root.catalog[0].tree.len(), "the pages are those of the base");
    }
}

//= spec/space.md#p-2-8-what-is-taken-over
//= type=test
//# A checkpoint MAY take over a leaf of its base that has other entries in its range of keys, and write a patch
//# over it (F-8.16), when the first of these entries has the key with which the leaf begins.
//= spec/space.md#p-2-8-what-is-taken-over
//= type=test
//# A patch SHOULD have at most an eighth of the length of the leaf; a leaf that differs in more is written anew.
#[test]
fn a_leaf_of_which_little_changed_is_taken_over_with_a_patch() {
    let mut disk = Disk::new(Geometry::new(64, 1 << 16).expect("a geometry"));
    let base = first(&mut disk, collection(0..4000));
    let (mut taken, mut lsn) = (
        next(&mut disk, (&base, base.open), LSN.next(), base.given.collections[0].entries.clone(), is_new),
        LSN.next(),
    );
    let leaves = |disk: &Disk, taken: &Taken| -> BTreeSet<(u32, u32)> {
        let found = records(disk, LSN);
        let leaves = found.iter().filter(|(_, kind, _)| *kind == IndexRecordKind::Leaf);
        let leaves: BTreeSet<_> = leaves.map(|(at, ..)| (at.physical, at.offset)).collect();
        leaves.intersection(&records_of(disk, taken)).copied().collect()
    };
    let before = leaves(&disk, &taken);
    assert!(before.len() > 3, "{before:?}");
    let mut written = Vec::new();
    for step in 0..41_usize {
        lsn = lsn.next();
        let mut entries = taken.given.collections[0].entries.clone();
        let value = 4 * (NEW + lsn.0);
        match step % 4 {
            _ if step == 40 => entries[1000..1400].iter_mut().for_each(|(_, changed)| *changed = value),
            0 => _ = entries.remove(1000 + step),
            1 => entries.push((Key::Int((1000 + step as i64).pow(2) + 7), value)),
            // What was changed before among them.
            _ => entries[1100 + step / 8].1 = value,
        }
        entries.sort();
        taken = next(&mut disk, (&taken, taken.open), lsn, entries, |_, value| value >= 4 * (NEW + lsn.0));
        check(&disk, &taken);
        written.push(leaves(&disk, &taken).difference(&before).count());
    }
    assert_eq!(written[..40], [0; 40], "little changed");
    assert_ne!(written[40], 0, "much changed");
    // What differed is as it was: no patch is left.
    let same = next(
        &mut disk,
        (&base, taken.open),
        lsn.next(),
        base.given.collections[0].entries.clone(),
        |key, _| matches!(key, Key::Int(int) if int % 2 == 0),
    );
    check(&disk, &same);
}

//= spec/space.md#p-2-8-what-is-taken-over
//= type=test
//# A writer MUST NOT write a patch over a leaf that it has not read and verified.
#[test]
fn a_leaf_that_is_damaged_has_no_patch() {
    let mut disk = Disk::new(Geometry::new(64, 1 << 16).expect("a geometry"));
    let base = first(&mut disk, collection(0..4000));
    let leaf =
        records(&disk, LSN).iter().find(|(_, kind, _)| *kind == IndexRecordKind::Leaf).expect("a leaf").0;
    let mut entries = base.given.collections[0].entries.clone();
    entries[1].1 = 4 * NEW;
    let at = leaf.at(disk.geometry) as usize + leaf.len as usize - 1;
    disk.bytes[at] ^= 1;
    let taken = next(&mut disk, (&base, base.open), LSN.next(), entries, is_new);
    check(&disk, &taken);
}

#[test]
fn leaves_that_shrink_are_put_together() {
    let mut disk = Disk::new(tiny());
    let mut taken = first(&mut disk, collection(0..2000));
    let whole = records_of(&disk, &taken).len();
    let mut lsn = LSN;
    for step in 1..=20 {
        lsn = lsn.next();
        // A few of 23 keys go at a time.
        let mut entries = taken.given.collections[0].entries.clone();
        entries.retain(|(key, _)| !matches!(key, Key::Int(key) if key % 23 == step));
        taken = next(&mut disk, (&taken, taken.open), lsn, entries, is_new);
        check(&disk, &taken);
    }
    let left = records_of(&disk, &taken).len();
    assert!(left * 6 < whole, "{left} records of {whole} for an eighth of the documents");
}

#[cfg(feature = "seeded")]
#[test]
fn what_goes_wrong_with_leaves_that_are_taken_over_is_noticed() {
    for bug in [Bug::DeletedLeafTakenOver, Bug::AgesFromTheRoot] {
        crate::seeded::assert_noticed(bug, || {
            of_what_did_not_change_nothing_is_written_but_the_root();
            leaves_that_shrink_are_put_together();
        });
    }
    for bug in [Bug::PatchForgotten, Bug::RemovedComesBack, Bug::PatchOverAPatch, Bug::PatchedPageTakenOver] {
        crate::seeded::assert_noticed(bug, a_leaf_of_which_little_changed_is_taken_over_with_a_patch);
    }
    crate::seeded::assert_noticed(
        Bug::RangesNotCompared,
        an_unread_leaf_is_served_by_one_of_the_same_range_and_count_alone,
    );
}

/// What happens to a store between two checkpoints: keys that are put, and keys that are deleted.
fn changes() -> impl Strategy<Value = Vec<(i64, bool)>> {
    let near = (0_i64..1500, 0_usize..40, any::<bool>()).prop_map(|(start, len, is_put)| {
        (start..start + len as i64).map(|key| (key, is_put)).collect::<Vec<_>>()
    });
    prop_oneof![near, prop::collection::vec((0_i64..1500, any::<bool>()), 0..60)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// However many checkpoints take over from the last but one, each tells what it is of.
    #[test]
    fn what_is_taken_over_is_what_would_be_written(
        stride in 1_i64..4,
        is_text in any::<bool>(),
        steps in prop::collection::vec(changes(), 1..8),
    ) {
        let key = |key: i64| if is_text { Key::from(format!("{key:06}")) } else { Key::Int(key) };
        let mut now: std::collections::BTreeMap<i64, u64> =
            (0..1500).step_by(stride as usize).map(|key| (key, 4 * (100 + key as u64))).collect();
        let entries = |now: &std::collections::BTreeMap<i64, u64>| -> Vec<(Key, u64)> {
            now.iter().map(|(int, value)| (key(*int), *value)).collect()
        };
        let mut disk = Disk::new(tiny());
        let mut lsn = LSN;
        let mut before = first(&mut disk, entries(&now));
        let mut newest = first(&mut disk, entries(&now));
        let mut changed_since = [BTreeSet::new(), BTreeSet::new()];
        for step in steps {
            lsn = lsn.next();
            for (int, is_put) in step {
                if is_put { now.insert(int, 4 * (100 + lsn.0 * 4096 + int as u64)); } else { now.remove(&int); }
                changed_since.iter_mut().for_each(|changed| _ = changed.insert(int));
            }
            let new: BTreeSet<Key> = changed_since[0].iter().map(|int| key(*int)).collect();
            let is_new = |key: &Key, _: u64| new.contains(key);
            let taken = next(&mut disk, (&before, newest.open), lsn, entries(&now), is_new);
            check(&disk, &taken);
            prop_assert!(records_of(&disk, &taken).is_disjoint(&records_of(&disk, &newest)));
            let [_, since_newest] = changed_since;
            changed_since = [since_newest, BTreeSet::new()];
            (before, newest) = (newest, taken);
        }
    }
}
