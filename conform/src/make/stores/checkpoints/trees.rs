//! Trees of more than one page.

use super::{PLACES, collection, erase_log, name_in_slot, store};
use crate::forge::checkpoint::{Changes, PRIMARY, Page, Pages, leaf, pointer};
use crate::forge::{cbor, varint, zigzag};
use crate::make::stores::{Maker, corrupt};
use holotype_model::Value;

pub(super) fn trees(maker: &mut Maker) {
    let build = |change: &dyn Fn(&mut Page, &mut Page, &mut Page)| {
        let mut forge = store();
        let entries = forge.world.collections()[&1].entries();
        let fence = cbor::key(&entries[3].0);
        let mut left = Page {
            kind: PRIMARY,
            tree: 1,
            fences: (vec![], fence.clone()),
            entries: leaf(&entries[..3]),
            ..Page::default()
        };
        let mut right = Page {
            kind: PRIMARY,
            tree: 1,
            fences: (fence.clone(), vec![]),
            entries: leaf(&entries[3..]),
            ..Page::default()
        };
        let mut top = Page { kind: PRIMARY, tree: 1, level: 1, ..Page::default() };
        change(&mut left, &mut right, &mut top);
        let mut pages = Pages::begin(&mut forge, PLACES[0]);
        let children = [(vec![], pages.page(&left)), (fence, pages.page(&right))];
        if top.entries.is_empty() {
            top.entries = children
                .iter()
                .map(|(fence, at)| {
                    [
                        varint(fence.len() as u64),
                        fence.clone(),
                        varint(at.0.into()),
                        varint(at.1.into()),
                        varint(at.2.into()),
                    ]
                    .concat()
                })
                .collect();
        }
        let tree = pages.page(&top);
        let mut notes = collection(1, "notes", 301);
        notes.insert("count".to_owned(), Value::Int(entries.len() as i64));
        notes.insert("tree".to_owned(), pointer(tree));
        let reference = pages.finish_with(vec![notes, collection(2, "other", 1)], &Changes::default());
        let last = forge.last;
        name_in_slot(&mut forge, &[&reference], last);
        forge
    };
    let forge = build(&|_, _, _| ());
    maker.holds(
        &["F-8.3", "F-8.1"],
        &["Checkpoint"],
        "A tree of two leaves and a branch",
        &forge.data,
        forge.state(),
    );
    let mut erased = build(&|_, _, _| ());
    let header = erased.placed[1].at;
    erased.data[header] ^= 1;
    maker.holds(
        &["F-8.3", "R-5.2"],
        &["Checkpoint"],
        "A tree of two leaves and a branch, and no log to read instead",
        &erased.data,
        erased.state(),
    );
    type Change = fn(&mut Page, &mut Page, &mut Page);
    let wrong: [(&str, Change); 11] = [
        ("a leaf of another tree", |left, _, _| left.tree = 2),
        ("a leaf of level 1", |_, right, _| right.level = 1),
        ("a branch of level 2 above leaves", |_, _, top| top.level = 2),
        ("a branch of level 33", |_, _, top| top.level = 33),
        ("a leaf with another upper fence", |left, _, _| left.fences.1 = vec![0x61, b'a']),
        ("a leaf without its lower fence", |_, right, _| right.fences.0.clear()),
        ("a topmost page with a fence", |_, _, top| top.fences.0 = vec![0x01]),
        ("a leaf with a key that is not below its upper fence", |left, _, _| {
            left.entries.push([varint(3), varint(5), b"zzzzz".to_vec(), zigzag(4)].concat());
        }),
        ("a leaf that says to have one entry more", |left, _, _| left.count = Some(4)),
        ("a leaf without entries", |left, _, _| left.entries.clear()),
        ("leaves whose numbers fall", |left, right, _| (left.number, right.number) = (Some(1), Some(0))),
    ];
    for (what, change) in wrong {
        let mut forge = build(&change);
        let name = format!("A checkpoint with {what}");
        maker.holds(
            &["F-8.3", "F-8.1", "R-5.2"],
            &["Checkpoint"],
            format!("{name}: the log is read instead"),
            &forge.data,
            forge.state(),
        );
        erase_log(&mut forge);
        maker.refused(
            &["F-8.3", "F-8.1"],
            &["Checkpoint"],
            format!("{name}, and the log is gone"),
            &forge.data,
            corrupt(&["R-4.1", "R-4.3"], Some(16_384 + 64)),
        );
    }
}
