//! Trees beside ordered maps, and their nodes to the key.

use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds};

use proptest::prelude::*;

use super::*;
use crate::document::KEY_LEN_MAX;
use crate::format::LogAddress;

fn entry(number: u64) -> Entry {
    Entry::new(LogAddress(number), number.is_multiple_of(3))
}

impl Tree {
    /// Holds the tree to how trees are made.
    fn check(&self) {
        let (mut keys, mut key_bytes) = (0, 0);
        if let Some(root) = &self.root {
            root.check(self.full, Bound::Unbounded, Bound::Unbounded, &mut |key| {
                keys += 1;
                key_bytes += key.len();
            });
            assert!(!matches!(root, Node::Branch(branch) if branch.children.len() < 2), "a root is needed");
        }
        assert_eq!((self.len, self.key_bytes), (keys, key_bytes));
    }

    /// How many leaves there are, and how many keys each has.
    fn leaves(&self) -> Vec<usize> {
        fn gather(node: &Node, leaves: &mut Vec<usize>) {
            match node {
                Node::Leaf(leaf) => leaves.push(leaf.keys.len()),
                Node::Branch(branch) => branch.children.iter().for_each(|child| gather(child, leaves)),
            }
        }
        let mut leaves = Vec::new();
        self.root.iter().for_each(|root| gather(root, &mut leaves));
        leaves
    }

    fn found(&self, from: Bound<&[u8]>, to: Bound<&[u8]>, reverse: bool) -> Vec<(Vec<u8>, Entry)> {
        let mut found = Vec::new();
        self.walk(from, to, reverse, |leaf, range| {
            let keys = range.clone().map(|at| leaf.keys.get(at).to_vec());
            let mut part: Vec<_> = keys.zip(leaf.entries(range.clone())).collect();
            let bytes: Vec<_> = part.iter().flat_map(|(key, _)| key.iter().copied()).collect();
            assert_eq!(bytes, leaf.key_bytes(&range));
            assert!(part.iter().map(|(key, _)| key.len()).eq(leaf.key_lens(range)));
            if reverse {
                part.reverse();
            }
            found.extend(part);
            true
        });
        found
    }

    fn all(&self) -> Vec<(Vec<u8>, Entry)> {
        self.found(Bound::Unbounded, Bound::Unbounded, false)
    }
}

impl Node {
    /// Returns how deep it goes.
    fn check(
        &self,
        full: usize,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
        each: &mut impl FnMut(&[u8]),
    ) -> usize {
        assert!((1..=full).contains(&self.len()), "{} of {full}", self.len());
        match self {
            Node::Leaf(leaf) => {
                leaf.keys.check();
                for key in (0..leaf.keys.len()).map(|at| leaf.keys.get(at)) {
                    assert!((from, to).contains(key), "{key:?} is where it is looked for");
                    each(key);
                }
                1
            }
            Node::Branch(branch) => {
                branch.separators.check();
                assert_eq!(branch.separators.len() + 1, branch.children.len());
                let mut depths = branch.children.iter().enumerate().map(|(at, child)| {
                    let from = if at == 0 { from } else { Bound::Included(branch.separators.get(at - 1)) };
                    let is_last = at == branch.separators.len();
                    let to = if is_last { to } else { Bound::Excluded(branch.separators.get(at)) };
                    child.check(full, from, to, each)
                });
                let first = depths.next().expect("a branch has children");
                assert!(depths.all(|depth| depth == first), "all leaves are on one level");
                first + 1
            }
        }
    }
}

/// Keys that begin alike, or have the same head, or are the beginning of others, or as long as can be.
fn key() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(0u8), Just(1), Just(b'a'), Just(255)];
    let short = proptest::collection::vec(byte, 0..7);
    prop_oneof![
        6 => short.clone(),
        2 => short.clone().prop_map(|end| [&b"users/"[..], &end].concat()),
        1 => (short, 0usize..3).prop_map(|(end, less)| [&vec![7; KEY_LEN_MAX - less - end.len()][..], &end].concat()),
    ]
}

fn bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
    prop_oneof![Just(Bound::Unbounded), key().prop_map(Bound::Included), key().prop_map(Bound::Excluded)]
}

fn bytes(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(|key| &key[..])
}

proptest! {
    #[test]
    fn a_tree_is_an_ordered_map(
        steps in proptest::collection::vec((key(), prop_oneof![3 => 1u64..40, 1 => Just(0)]), 0..500),
        full in prop_oneof![2usize..9, Just(KEYS_MAX)],
        from in bound(),
        to in bound(),
        others in proptest::collection::vec(key(), 0..40),
    ) {
        let (mut tree, mut map) = (Tree::new(full), BTreeMap::new());
        for (number, (key, address)) in steps.into_iter().enumerate() {
            prop_assert_eq!(tree.get(&key), map.get(&key).copied());
            if address == 0 {
                // What is there, as well as what is not.
                let there = map.range(key.clone()..).next().filter(|_| number % 2 == 0);
                let key = there.map_or(key, |(key, _): (&Vec<u8>, &Entry)| key.clone());
                prop_assert_eq!(tree.remove(&key), map.remove(&key));
                prop_assert_eq!(tree.get(&key), None);
            } else {
                prop_assert_eq!(tree.insert(&key, entry(address)), map.insert(key.clone(), entry(address)));
                prop_assert_eq!(tree.get(&key), Some(entry(address)));
            }
            tree.check();
        }
        let expected: Vec<_> = map.clone().into_iter().collect();
        prop_assert_eq!(&tree.all(), &expected);
        prop_assert_eq!(&tree.clone().all(), &expected);
        let mut sought: Vec<_> = map.keys().step_by(1 + others.len() % 3).chain(&others).collect();
        sought.sort();
        let mut look = tree.ascending();
        for key in sought {
            prop_assert_eq!(look.get(key), map.get(key).copied());
        }
        let is_between = |key: &Vec<u8>| (bytes(&from), bytes(&to)).contains(&key[..]);
        let mut between: Vec<_> = expected.iter().filter(|(key, _)| is_between(key)).cloned().collect();
        prop_assert_eq!(&tree.found(bytes(&from), bytes(&to), false), &between);
        between.reverse();
        prop_assert_eq!(&tree.found(bytes(&from), bytes(&to), true), &between);
        // Of keys that come in order it is the same, and goes on as well.
        let mut built = Tree::new(full);
        expected.iter().for_each(|(key, entry)| _ = built.insert(key, *entry));
        built.check();
        prop_assert_eq!(&built.all(), &expected);
        // So it is where they are merged into others, which stay.
        let mut merged = Tree::new(full);
        let is_there = |number: usize| number % 5 == others.len() % 7;
        for (number, (key, _)) in expected.iter().enumerate().filter(|(number, _)| is_there(*number)) {
            merged.insert(key, entry(100 + number as u64));
        }
        let run: Vec<_> = expected.iter().map(|(key, entry)| (&key[..], *entry)).collect();
        let (early, late) = run.split_at(run.len() / 3);
        for part in [late, early, &[]] {
            merged.merge(part);
            merged.check();
        }
        let found = expected.iter().enumerate().map(|(number, (key, found))| {
            (key.clone(), if is_there(number) { entry(100 + number as u64) } else { *found })
        });
        prop_assert_eq!(merged.all(), found.collect::<Vec<_>>());
        for (number, (key, found)) in expected.iter().enumerate() {
            prop_assert_eq!(built.get(key), Some(*found));
            prop_assert_eq!(if number % 4 == 0 { Some(*found) } else { built.remove(key) }, Some(*found));
            prop_assert_eq!(tree.remove(key), Some(*found));
            tree.check();
        }
        built.check();
        prop_assert_eq!(built.len(), expected.len().div_ceil(4));
        prop_assert!(tree.root.is_none() && tree.memory_bytes() == 0, "all is given back");
    }
}

fn number(number: u32) -> [u8; 8] {
    *format!("{number:08}").as_bytes().first_chunk().expect("eight digits")
}

fn filled(full: usize, numbers: impl IntoIterator<Item = u32>) -> Tree {
    let mut tree = Tree::new(full);
    for key in numbers {
        tree.insert(&number(key), entry(1 + u64::from(key)));
    }
    tree.check();
    tree
}

#[test]
fn keys_that_come_in_order_leave_full_leaves_and_others_halves() {
    assert_eq!(filled(8, 0..8).leaves(), [8]);
    assert_eq!(filled(8, 0..17).leaves(), [8, 8, 1]);
    assert_eq!(filled(8, (0..9).rev()).leaves(), [5, 4]);
    // Behind the last of a leaf that is not the last one.
    assert_eq!(filled(8, (0..8).chain([90]).chain([8])).leaves(), [4, 5, 1]);
    // Between the halves, and at the end of the last leaf of a branch that is not the last one.
    assert_eq!(filled(8, (0..16).step_by(2).chain([90]).chain([7])).leaves(), [5, 4, 1]);
    let mut tree = filled(4, 0..32);
    tree.insert(b"00000015x", entry(1));
    tree.check();
    assert_eq!(tree.leaves(), [4, 4, 4, 2, 3, 4, 4, 4, 4]);
    // Branches are full as well: 8 leaves each.
    let tree = filled(8, 0..8 * 8 + 1);
    let Some(Node::Branch(root)) = &tree.root else { panic!("it has more than a leaf") };
    assert_eq!(root.children.iter().map(Node::len).collect::<Vec<_>>(), [8, 1]);
}

#[test]
fn merged_keys_leave_full_leaves_where_they_come_in_order_and_at_least_halves_elsewhere() {
    fn merge(tree: &mut Tree, numbers: impl Iterator<Item = u32>) {
        let keys: Vec<_> = numbers.map(|key| (number(key), entry(1 + u64::from(key)))).collect();
        for keys in keys.chunks(37) {
            tree.merge(&keys.iter().map(|(key, entry)| (&key[..], *entry)).collect::<Vec<_>>());
        }
        tree.check();
    }
    let mut tree = Tree::new(8);
    merge(&mut tree, 0..100);
    assert_eq!(tree.leaves(), [[8; 12].as_slice(), &[4]].concat());
    // Between others, and few at a time.
    let mut tree = Tree::new(8);
    for few in (0..2048).map(|number| number * 389 % 2048 * 2) {
        merge(&mut tree, few..few + 2);
    }
    let leaves = tree.leaves();
    assert!(leaves.len() * 4 <= tree.len() && tree.len() == 4096, "{} leaves", leaves.len());
}

#[test]
fn branches_are_split_in_halves_where_keys_do_not_come_in_order() {
    fn branches(node: &Node, lens: &mut Vec<usize>) {
        if let Node::Branch(branch) = node {
            lens.push(branch.children.len());
            branch.children.iter().for_each(|child| branches(child, lens));
        }
    }
    let tree = filled(8, (0..1000).rev());
    let mut lens = Vec::new();
    branches(tree.root.as_ref().expect("it has keys"), &mut lens);
    assert!(lens.len() > 30 && lens[1..].iter().all(|len| *len >= 4), "{lens:?}");
}

#[test]
fn what_is_left_behind_full_keeps_no_room() {
    let tree = filled(8, 0..604);
    let room = |tree: &Tree| -> Vec<usize> {
        let mut room = Vec::new();
        let leaf = |leaf: &Leaf| leaf.keys.capacity() - 8 * leaf.keys.len();
        let mut nodes: Vec<_> = tree.root.iter().collect();
        while let Some(node) = nodes.pop() {
            match node {
                Node::Leaf(node) => room.push(leaf(node)),
                Node::Branch(branch) => nodes.extend(&branch.children),
            }
        }
        room
    };
    // The last one stands first.
    assert!(room(&tree)[0] > 0 && room(&tree)[1..].iter().all(|room| *room == 0));
}

#[test]
fn leaves_that_a_delete_leaves_with_little_are_joined_or_given_back() {
    let without = |full: usize, count: u32, removed: &[u32]| {
        let mut tree = filled(full, 0..count);
        for key in removed {
            assert!(tree.remove(&number(*key)).is_some());
            tree.check();
        }
        tree.leaves()
    };
    // Four are a half; the neighbour has eight, then less, and both have no more than six at last.
    assert_eq!(without(8, 16, &[0, 1, 2, 3, 4, 5]), [2, 8]);
    assert_eq!(without(8, 16, &[8, 9, 10, 11, 0, 1, 2, 3, 4]), [3, 4]);
    assert_eq!(without(8, 16, &[8, 9, 0, 1, 2, 3, 4, 5]), [2, 6]);
    assert_eq!(without(8, 16, &[8, 9, 10, 11, 0, 1, 2, 3, 4, 5]), [6]);
    assert_eq!(without(8, 16, &[0, 1, 2, 3, 4, 8, 9, 10, 11, 12]), [6]);
    assert_eq!(without(8, 16, &[9, 10, 11, 12, 13, 14, 15, 0, 1, 2]), [5, 1], "five are more than a half");
    // With the left one, and with the right one where the left one has no room.
    assert_eq!(without(8, 24, &[0, 1, 2, 3, 8, 9, 10, 11, 12, 13]), [6, 8]);
    assert_eq!(without(8, 24, &[16, 17, 18, 19, 8, 9, 10, 11, 12, 13]), [8, 6]);
    // The last, the first, and one between.
    assert_eq!(without(8, 17, &[16]), [8, 8]);
    assert_eq!(without(2, 6, &[0, 1]), [2, 2]);
    assert_eq!(without(2, 6, &[2, 3]), [2, 2]);
    assert!(without(2, 6, &[0, 1, 2, 3, 4, 5]).is_empty());
    // Levels go too.
    let mut tree = filled(4, 0..1000);
    (4..1000).for_each(|key| _ = tree.remove(&number(key)));
    tree.check();
    assert!(matches!(tree.root, Some(Node::Leaf(_))), "{:?}", tree.leaves());
}

#[test]
fn a_walk_goes_no_further_than_it_is_told() {
    let tree = filled(4, 0..100);
    for reverse in [false, true] {
        let mut parts = 0;
        tree.walk(Bound::Unbounded, Bound::Unbounded, reverse, |_, _| {
            parts += 1;
            parts < 3
        });
        assert_eq!(parts, 3);
    }
    let mut met = 0;
    let (from, to) = (number(41), number(43));
    tree.walk(Bound::Excluded(&from), Bound::Excluded(&to), false, |leaf, range| {
        met += range.len();
        assert_eq!(leaf.key_bytes(&range), number(42));
        true
    });
    assert_eq!(met, 1);
}

#[test]
fn memory_is_that_of_the_nodes_and_the_keys() {
    let leaf = size_of::<Leaf>();
    assert_eq!(filled(8, 0..8).memory_bytes(), leaf + 64 + 4);
    let branch = |children| size_of::<Branch>() + children * size_of::<Node>();
    let tree = filled(8, 0..65);
    let Some(Node::Branch(root)) = &tree.root else { panic!("it has more than a leaf") };
    let capacity = |node: &Node| if let Node::Branch(branch) = node { branch.children.capacity() } else { 0 };
    let branches = branch(root.children.capacity())
        + root.children.iter().map(|child| branch(capacity(child))).sum::<usize>();
    assert_eq!(tree.memory_bytes(), 9 * leaf + branches + 65 * 8 + 65 * 8 / 16);
    // What the machine gives for a name of 13 bytes where they came in order.
    let mut tree = Tree::new(KEYS_MAX);
    (0..10_000u32).for_each(|key| _ = tree.insert(format!("user-{key:08}").as_bytes(), entry(1)));
    assert!(tree.memory_bytes() < 10_000 * (13 + 17), "{} bytes", tree.memory_bytes());
}
