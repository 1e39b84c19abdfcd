//! Directories of more than one page (F-8.13).

use super::{PLACES, disbelieved_file, name_in_slot, named, store};
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::index::{DIRECTORY, Entry, IndexRecord, LEAF, collection, leaf};
use crate::forge::{Forge, cbor, lsn, varint, zigzag};
use crate::make::stores::Maker;
use holotype_model::Key;

/// What becomes of the leaf or the page of this number, and of what the entry says that will lead to it.
pub(super) type Before = fn((u8, usize), &mut IndexRecord, &mut Entry);
/// What becomes of the entry once the record is there.
pub(super) type After = fn((u8, usize), &mut Entry);

/// A store of seven documents, whose checkpoint has them in four leaves under two pages, each page behind its leaves. Counts of a page and of
/// the catalog are those that the entries say.
pub(super) fn built(before: Before, after: After) -> Forge {
    let mut forge = store();
    let documents = forge.world.collections()[&1].clone();
    let entries = documents.entries();
    let reference = {
        // The checkpoint of the first commit of all stood in this segment once.
        let mut checkpoint = Checkpoint::begin_since(&mut forge, PLACES[0], lsn(1, 1));
        let parts: Vec<_> = entries.chunks(2).enumerate().collect();
        let pages: Vec<_> = parts
            .chunks(2)
            .enumerate()
            .map(|(page, parts)| {
                let leaf = |(n, part): &(usize, &[(Key, u64)])| {
                    let record = IndexRecord { kind: LEAF, body: leaf(part).concat(), ..of_tree() };
                    let (key, count) = (cbor::key(&part[0].0), part.len() as u64);
                    let entry = Entry { key, count, ..Entry::default() };
                    write(&mut checkpoint, (LEAF, *n), (record, entry), (before, after))
                };
                let leaves: Vec<_> = parts.iter().map(leaf).collect();
                let body = leaves.iter().flat_map(Entry::bytes).collect();
                let record = IndexRecord { kind: DIRECTORY, body, ..of_tree() };
                let count = leaves.iter().map(|entry| entry.count).sum();
                let entry = Entry { key: leaves[0].key.clone(), count, ..Entry::default() };
                write(&mut checkpoint, (DIRECTORY, page), (record, entry), (before, after))
            })
            .collect();
        let count = pages.iter().map(|page| page.count as usize).sum();
        let tree = pages.iter().flat_map(Entry::bytes).collect();
        let notes = collection(1, "notes", documents.next, count, tree);
        checkpoint.finish_with(vec![notes, collection(2, "other", 1, 0, Vec::new())], &Changes::default())
    };
    name_in_slot(&mut forge, &[&reference], LAST);
    forge
}

fn of_tree() -> IndexRecord {
    IndexRecord { collection: 1, ..IndexRecord::default() }
}

fn write(
    checkpoint: &mut Checkpoint<'_>,
    which: (u8, usize),
    (mut record, mut entry): (IndexRecord, Entry),
    (before, after): (Before, After),
) -> Entry {
    before(which, &mut record, &mut entry);
    let mut entry = Entry { reference: checkpoint.record(&record), ..entry };
    after(which, &mut entry);
    entry
}

const FIRST_LEAF: (u8, usize) = (LEAF, 0);
const SECOND_LEAF: (u8, usize) = (LEAF, 1);
const THIRD_LEAF: (u8, usize) = (LEAF, 2);
const LAST_LEAF: (u8, usize) = (LEAF, 3);
const FIRST_PAGE: (u8, usize) = (DIRECTORY, 0);
const SECOND_PAGE: (u8, usize) = (DIRECTORY, 1);
/// The LSN of the checkpoint.
pub(super) const LAST: u64 = lsn(1, 4);

pub(super) fn directory(maker: &mut Maker) {
    let forge = built(|_, _, _| (), |_, _| ());
    assert_eq!(forge.last, LAST, "the store has so many commits");
    let clauses = ["F-8.13", "F-8.12", "F-8.4"];
    maker.holds(&clauses, &["Checkpoint"], "A tree of four leaves and two pages", &forge.data, forge.state());
    let mut erased = forge;
    let header = erased.placed[1].at;
    erased.data[header] ^= 1;
    let name = "A tree of four leaves and two pages, and no log to read instead";
    maker.holds(&[&clauses[..], &["R-5.2"]].concat(), &["Checkpoint"], name, &erased.data, erased.state());
    ages(maker);
    levels(maker);
    let wrong: [(&str, Before); 22] = [
        ("a leaf without entries", |which, record, entry| {
            if which == LAST_LEAF {
                record.body.clear();
                entry.count = 0;
            }
        }),
        ("a directory page without entries", |which, record, entry| {
            if which == SECOND_PAGE {
                record.body.clear();
                entry.count = 0;
            }
        }),
        ("bytes behind the last entry of a leaf", |which, record, _| {
            if which == SECOND_LEAF {
                record.body.push(0);
            }
        }),
        ("an entry more in a leaf than is counted", |which, record, _| {
            if which == LAST_LEAF {
                record.body.extend([varint(5), varint(2), vec![1, 0], zigzag(0)].concat());
            }
        }),
        ("a byte behind the last entry of a page", |which, record, _| {
            if which == FIRST_PAGE {
                record.body.push(0);
            }
        }),
        ("an entry of a page that is cut short", |which, record, _| {
            if which == FIRST_PAGE {
                record.body.pop();
            }
        }),
        ("a leaf that begins with a lower key than its entry says", |which, _, entry| {
            if which == SECOND_LEAF {
                entry.key = cbor::int(301);
            }
        }),
        ("a leaf that begins with a higher key than its entry says", |which, _, entry| {
            if which == SECOND_LEAF {
                entry.key = cbor::int(299);
            }
        }),
        ("a page that begins with a lower key than its entry says", |which, _, entry| {
            if which == FIRST_PAGE {
                entry.key = cbor::int(-6);
            }
        }),
        ("a page that begins with a higher key than its entry says", |which, _, entry| {
            if which == SECOND_PAGE {
                entry.key = cbor::text("namer");
            }
        }),
        ("a leaf that ends with the key with which the next begins", |which, record, entry| {
            if which == FIRST_LEAF {
                record.body.extend([varint(2 * 299), zigzag(0)].concat());
                entry.count += 1;
            }
        }),
        ("a leaf that ends above the key with which the next begins", |which, record, entry| {
            if which == FIRST_LEAF {
                record.body.extend([varint(2 * 300), zigzag(0)].concat());
                entry.count += 1;
            }
        }),
        (
            "a leaf that ends above the key with which the leaf of the next page begins",
            |which, record, entry| {
                if which == SECOND_LEAF {
                    record.body.extend([varint(8 * 4 + 3), varint(1), b"z".to_vec(), zigzag(0)].concat());
                    entry.count += 1;
                }
            },
        ),
        ("two entries of one key in a page", |which, record, entry| {
            if which == SECOND_LEAF {
                record.body = leaf(&[(Key::Int(-7), 4 * 96)]).concat();
                (entry.key, entry.count) = (cbor::int(-7), 1);
            }
        }),
        ("a leaf with a key fewer than is counted", |which, _, entry| {
            if which == SECOND_LEAF {
                entry.count = 3;
            }
        }),
        ("a leaf that is counted for none", |which, _, entry| {
            if which == SECOND_LEAF {
                entry.count = 0;
            }
        }),
        ("a page with a key fewer than is counted", |which, _, entry| {
            if which == FIRST_PAGE {
                entry.count = 5;
            }
        }),
        ("a page with a key more than is counted", |which, _, entry| {
            if which == FIRST_PAGE {
                entry.count = 3;
            }
        }),
        ("a page of another count than the catalog says, though both make up for it", |which, _, entry| {
            match which {
                FIRST_PAGE => entry.count -= 1,
                SECOND_PAGE => entry.count += 1,
                _ => {}
            }
        }),
        ("a key of an entry that is not in its shortest form", |which, _, entry| {
            if which == SECOND_LEAF {
                entry.key = vec![0x1a, 0, 0, 0x01, 0x2c];
            }
        }),
        ("a float in the place of a key of an entry", |which, _, entry| {
            if which == SECOND_LEAF {
                entry.key = cbor::float(300.0);
            }
        }),
        ("a key of an entry that is no item", |which, _, entry| {
            if which == SECOND_LEAF {
                entry.key = vec![0x1f];
            }
        }),
    ];
    for (what, change) in wrong {
        disbelieved_file(maker, &["F-8.13"], format!("A checkpoint with {what}"), built(change, |_, _| ()));
    }
}

/// The ages of a record and of its entry, where the first page is one commit older than the root, and its first leaf one older still.
fn taken_over(which: (u8, usize)) -> (u64, u64) {
    match which {
        FIRST_LEAF => (2, 1),
        SECOND_LEAF => (1, 0),
        FIRST_PAGE => (1, 1),
        _ => (0, 0),
    }
}

/// A record may be of an earlier checkpoint than the one that has its entry, and the entry says so. That of a record counts from the checkpoint.
fn ages(maker: &mut Maker) {
    let clauses = ["F-8.13", "F-8.8", "F-8.11"];
    let right: [(&str, Before); 6] = [
        ("A leaf of the checkpoint of one commit before", |which, record, entry| {
            if which == FIRST_LEAF {
                (record.age, entry.age) = (1, 1);
            }
        }),
        ("Pages and leaves of the checkpoint of two commits before", |which, record, entry| {
            (record.age, entry.age) = (2, if which.0 == DIRECTORY { 2 } else { 0 });
        }),
        (
            "A page of the checkpoint of one commit before, with a leaf that is one commit older",
            |which, record, entry| {
                (record.age, entry.age) = taken_over(which);
            },
        ),
        (
            "A page of the checkpoint of one commit before, with leaves that are one commit older",
            |which, record, entry| {
                (record.age, entry.age) = match which {
                    FIRST_LEAF | SECOND_LEAF => (2, 1),
                    FIRST_PAGE => (1, 1),
                    _ => (0, 0),
                };
            },
        ),
        ("Two pages of different checkpoints, each with a leaf that is older", |which, record, entry| {
            (record.age, entry.age) = match which {
                FIRST_LEAF => (3, 1),
                SECOND_LEAF => (2, 0),
                FIRST_PAGE => (2, 2),
                THIRD_LEAF => (2, 1),
                LAST_LEAF => (1, 0),
                _ => (1, 1),
            };
        }),
        ("A leaf of the first checkpoint of all", |which, record, entry| {
            if which == FIRST_LEAF {
                (record.age, entry.age) = (3, 3);
            }
        }),
    ];
    for (name, change) in right {
        let mut forge = built(change, |_, _| ());
        let header = forge.placed[1].at;
        forge.data[header] ^= 1;
        maker.holds(&clauses, &["Checkpoint"], name, &forge.data, forge.state());
    }
    let wrong: [(&str, Before); 9] = [
        ("a leaf that is older than its entry says", |which, record, _| {
            if which == FIRST_LEAF {
                record.age = 1;
            }
        }),
        ("a leaf that is newer than its entry says", |which, _, entry| {
            if which == FIRST_LEAF {
                entry.age = 1;
            }
        }),
        ("a page that is older than its entry says", |which, record, _| {
            if which == FIRST_PAGE {
                record.age = 1;
            }
        }),
        ("a leaf of an age as high as its LSN", |which, record, entry| {
            if which == FIRST_LEAF {
                (record.age, entry.age) = (LAST, LAST);
            }
        }),
        ("a leaf of an age above its LSN", |which, record, entry| {
            if which == FIRST_LEAF {
                (record.age, entry.age) = (LAST + 1, LAST + 1);
            }
        }),
        ("a page of an age as high as its LSN", |which, record, entry| {
            if which == SECOND_PAGE {
                (record.age, entry.age) = (LAST, LAST);
            }
        }),
        ("ages of leaves that count from the root in a page that was taken over", |which, record, entry| {
            (record.age, entry.age) = taken_over(which);
            if which.0 == LEAF {
                entry.age = record.age;
            }
        }),
        (
            "a leaf in a page that was taken over, of an age as high as the LSN of the page",
            |which, record, entry| {
                (record.age, entry.age) =
                    if which == FIRST_LEAF { (LAST, LAST - 1) } else { taken_over(which) };
            },
        ),
        (
            "a leaf in a page that was taken over, of an age above the LSN of the page",
            |which, record, entry| {
                (record.age, entry.age) =
                    if which == FIRST_LEAF { (LAST + 1, LAST) } else { taken_over(which) };
            },
        ),
    ];
    for (what, change) in wrong {
        let name = format!("A checkpoint with {what}");
        disbelieved_file(maker, &clauses, name, built(change, |_, _| ()));
    }
}

/// The levels are always the same: a tree leads to pages, and these lead to leaves.
fn levels(maker: &mut Maker) {
    let forge = |pages: usize| {
        let forge = store();
        let documents = forge.world.collections()[&1].clone();
        named(forge, |mut checkpoint| {
            let (entries, changes) = (documents.entries(), Changes::default());
            let mut top = checkpoint.leaf(1, &entries[0].0, &leaf(&entries), &changes);
            for _ in 0..pages {
                top = checkpoint.page(1, &[top], &changes);
            }
            let notes = collection(1, "notes", documents.next, entries.len(), top.bytes());
            checkpoint.finish_with(vec![notes, collection(2, "other", 1, 0, Vec::new())], &changes)
        })
    };
    let clauses = ["F-8.12", "F-8.13"];
    let one = forge(1);
    maker.holds(&clauses, &["Checkpoint"], "A tree that leads to one page", &one.data, one.state());
    disbelieved_file(maker, &clauses, "A checkpoint with a tree that leads to a leaf", forge(0));
    disbelieved_file(maker, &clauses, "A checkpoint with a tree whose page leads to another page", forge(2));
}
