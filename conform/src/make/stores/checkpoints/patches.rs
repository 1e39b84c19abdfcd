//! Patches over leaves (F-8.16).

use super::{disbelieved_file, named, store};
use crate::forge::checkpoint::Changes;
use crate::forge::index::{DIRECTORY, Entry, IndexRecord, LEAF, PATCH, Patch, collection, leaf};
use crate::forge::{Forge, cbor, varint};
use crate::make::stores::Maker;
use crate::make::stores::sample::text;
use holotype_model::Key;

/// A leaf with a patch over it, before it is written.
struct Plan {
    own: Vec<(Key, u64)>,
    removed: Vec<Key>,
    put: Vec<(Key, u64)>,
    /// How many keys the patch says that it removes and puts, less those that it does.
    off: [i64; 2],
    behind: Vec<u8>,
    /// The record of the patch, but for its body.
    record: IndexRecord,
    entry: Entry,
    /// Whether the entry that leads to the page speaks of a patch.
    is_over_page: bool,
}

impl Plan {
    /// A leaf that lacks some of these entries, has one that is gone, and one with another address.
    fn new(entries: &[(Key, u64)]) -> Self {
        let [first, second, third, ..] = entries else { panic!("the store has so many documents") };
        let own = vec![first.clone(), (second.0.clone(), 4 * 99), third.clone(), (text("nz"), 4 * 98)];
        let put = [&entries[1..2], &entries[3..]].concat();
        let patch = Patch { own: own.len() as u64, ..Patch::default() };
        let (key, count) = (cbor::key(&first.0), entries.len() as u64);
        Plan {
            own,
            removed: vec![text("nz")],
            put,
            off: [0, 0],
            behind: Vec::new(),
            record: IndexRecord { kind: PATCH, collection: 1, ..IndexRecord::default() },
            entry: Entry { key, count, patch: Some(patch), ..Entry::default() },
            is_over_page: false,
        }
    }

    fn over(&mut self) -> &mut Patch {
        self.entry.patch.as_mut().expect("there is a patch")
    }

    fn body(&self) -> Vec<u8> {
        let [removed, put] = [(self.removed.len(), self.off[0]), (self.put.len(), self.off[1])]
            .map(|(number, off)| varint((number as u64).wrapping_add_signed(off)));
        let keys: Vec<u8> = self.removed.iter().flat_map(cbor::key).collect();
        [removed, put, keys, leaf(&self.put).concat(), self.behind.clone()].concat()
    }
}

/// A store whose checkpoint has its documents in one leaf with a patch over it.
fn patched(change: impl FnOnce(&mut Plan)) -> Forge {
    let forge = store();
    let documents = forge.world.collections()[&1].clone();
    named(forge, |mut checkpoint| {
        let mut plan = Plan::new(&documents.entries());
        change(&mut plan);
        let of_tree = || IndexRecord { collection: 1, ..IndexRecord::default() };
        let own = IndexRecord { kind: LEAF, body: leaf(&plan.own).concat(), ..of_tree() };
        plan.entry.reference = checkpoint.record(&own);
        let patch = IndexRecord { body: plan.body(), ..plan.record.clone() };
        plan.over().reference = checkpoint.record(&patch);
        let page = IndexRecord { kind: DIRECTORY, body: plan.entry.bytes(), ..of_tree() };
        let reference = checkpoint.record(&page);
        let patch = plan.entry.patch.clone().filter(|_| plan.is_over_page);
        let Entry { key, count, .. } = plan.entry;
        let top = Entry { key, reference, count, age: 0, patch };
        let notes = collection(1, "notes", documents.next, documents.entries().len(), top.bytes());
        checkpoint.finish_with(vec![notes, collection(2, "other", 1, 0, Vec::new())], &Changes::default())
    })
}

/// What becomes of a leaf with a patch over it before it is written.
type Change = fn(&mut Plan);

pub(super) fn patches(maker: &mut Maker) {
    let clauses = ["F-8.16", "F-8.13", "F-8.12"];
    let right: [(&str, Change); 4] = [
        ("A leaf with a patch over it", |_| ()),
        ("A leaf with the patch of an earlier checkpoint over it", |plan| {
            plan.record.age = 1;
            plan.over().age = 1;
        }),
        ("A leaf with a patch over it that only puts", |plan| {
            plan.own.pop();
            plan.over().own -= 1;
            plan.removed.clear();
        }),
        ("A leaf with a patch over it that says what the leaf says", |plan| {
            plan.own = [plan.own[..1].to_vec(), plan.put[..1].to_vec(), plan.own[2..].to_vec()].concat();
            let gone = plan.own.pop();
            let rest = plan.put.split_off(1);
            plan.own.extend(rest);
            plan.own.extend(gone);
            plan.own.sort_by(|(one, _), (other, _)| one.cmp(other));
            plan.over().own = plan.own.len() as u64;
        }),
    ];
    for (name, change) in right {
        let mut forge = patched(change);
        erase_log_head(&mut forge);
        maker.holds(&clauses, &["Checkpoint"], name, &forge.data, forge.state());
    }
    let wrong: [(&str, Change); 24] = [
        ("a patch that says it removes a key more", |plan| plan.off[0] = 1),
        ("a patch that says it removes a key fewer", |plan| plan.off[0] = -1),
        ("a patch that says it puts a key more", |plan| plan.off[1] = 1),
        ("a patch that says it puts a key fewer", |plan| plan.off[1] = -1),
        ("a patch with a byte behind its last entry", |plan| plan.behind = vec![0]),
        ("a patch that removes a key twice", |plan| plan.removed.push(text("nz"))),
        ("a patch that removes keys out of order", |plan| {
            plan.own.push((text("nzz"), 4 * 97));
            plan.over().own += 1;
            plan.removed = vec![text("nzz"), text("nz")];
        }),
        ("a patch that removes a key that its leaf does not have", |plan| plan.removed.push(text("o"))),
        ("a patch that removes a key that it puts", |plan| {
            let (key, _) = plan.put[0].clone();
            plan.removed.insert(0, key);
        }),
        ("a patch that puts a key twice", |plan| {
            let last = plan.put.last().expect("there is one").clone();
            plan.put.push(last);
        }),
        ("a patch that puts keys out of order", |plan| {
            let last = plan.put.len() - 1;
            plan.put.swap(last, last - 1);
        }),
        ("a patch that removes the first key of its leaf", |plan| {
            let (key, _) = plan.own[0].clone();
            plan.removed.insert(0, key);
            plan.entry.count -= 1;
        }),
        ("a patch that puts a key before the first of its leaf", |plan| {
            plan.put.insert(0, (Key::Int(-8), 4 * 96));
            plan.entry.count += 1;
        }),
        ("a leaf that begins with another key than it does with its patch", |plan| {
            let first = plan.own.remove(0);
            plan.put.insert(0, first);
            plan.over().own -= 1;
        }),
        ("an empty leaf under a patch", |plan| {
            let own: Vec<_> = plan.own.drain(..).collect();
            plan.removed.clear();
            plan.put.extend([own[0].clone(), own[2].clone()]);
            plan.put.sort_by(|(one, _), (other, _)| one.cmp(other));
            plan.over().own = 0;
        }),
        ("a leaf with a patch that has a key fewer than is counted", |plan| plan.entry.count += 1),
        ("a leaf with a patch that has a key more than is counted", |plan| plan.entry.count -= 1),
        ("a leaf under a patch with a key fewer than is counted", |plan| plan.over().own += 1),
        ("a leaf under a patch with a key more than is counted", |plan| plan.over().own -= 1),
        ("a leaf in the place of a patch", |plan| plan.record.kind = LEAF),
        ("a patch of another collection", |plan| plan.record.collection = 2),
        ("a patch that is older than its entry says", |plan| plan.record.age = 1),
        ("a patch of an age as high as its LSN", |plan| {
            plan.record.age = super::directory::LAST;
            plan.over().age = super::directory::LAST;
        }),
        ("a patch over a directory page", |plan| plan.is_over_page = true),
    ];
    for (what, change) in wrong {
        disbelieved_file(maker, &["F-8.16"], format!("A checkpoint with {what}"), patched(change));
    }
}

/// So that nothing but the checkpoint is believed.
fn erase_log_head(forge: &mut Forge) {
    let header = forge.placed[1].at;
    forge.data[header] ^= 1;
}
