//! Index records, and references to them (F-8.11, F-8.12).

use super::directory::{After, Before, built};
use super::{PLACES, disbelieved, disbelieved_file, name_in_slot, named, root, store};
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::index::{DIRECTORY, IndexRecord, LEAF, PART, collection, indexes_of, leaf};
use crate::forge::{Forge, Record};
use crate::make::stores::Maker;
use crate::make::stores::sample::saying;
use holotype_model::{Document, Key};

const A_LEAF: (u8, usize) = (LEAF, 1);
const A_PAGE: (u8, usize) = (DIRECTORY, 1);

pub(super) fn records(maker: &mut Maker) {
    heads(maker);
    references(maker);
    places(maker);
    at_the_end(maker);
    segments(maker);
    longest(maker);
}

/// What stands in front of the body.
fn heads(maker: &mut Maker) {
    let clauses = ["F-8.11", "F-8.12"];
    let wrong: [(&str, Before); 16] = [
        ("a leaf of kind 17", |which, record, _| record.kind += u8::from(which == A_LEAF)),
        ("a leaf of kind 15", |which, record, _| record.kind -= u8::from(which == A_LEAF)),
        ("a leaf of the kind of a put", |which, record, _| {
            if which == A_LEAF {
                record.kind = 1;
            }
        }),
        ("a page of kind 16", |which, record, _| record.kind -= u8::from(which == A_PAGE)),
        ("a page of kind 18", |which, record, _| record.kind += u8::from(which == A_PAGE)),
        ("a leaf of another tree", |which, record, _| record.collection += u32::from(which == A_LEAF)),
        ("a leaf of no tree", |which, record, _| record.collection -= u32::from(which == A_LEAF)),
        ("a page of another tree", |which, record, _| record.collection += u32::from(which == A_PAGE)),
        ("a leaf with flag 0", |which, record, _| record.flags |= u8::from(which == A_LEAF)),
        ("a leaf with flag 7", |which, record, _| record.flags |= u8::from(which == A_LEAF) << 7),
        ("a page with flag 3", |which, record, _| record.flags |= u8::from(which == A_PAGE) << 3),
        ("a leaf of fewer bytes than its reference says, all under its checksum", |which, record, _| {
            if which == A_LEAF {
                record.body.extend([0; 3]);
                record.length_off = -3;
            }
        }),
        ("a leaf whose last entry stands behind its length", |which, record, _| {
            record.length_off = -3 * i64::from(which == A_LEAF);
        }),
        ("a leaf of more bytes than its reference says", |which, record, _| {
            record.length_off = 3 * i64::from(which == A_LEAF);
        }),
        ("a leaf whose length has a byte more than it needs", |which, record, _| {
            record.length_more += usize::from(which == A_LEAF);
        }),
        ("a page whose length has a byte more than it needs", |which, record, _| {
            record.length_more += usize::from(which == A_PAGE);
        }),
    ];
    for (what, change) in wrong {
        let name = format!("A checkpoint with {what}");
        disbelieved_file(maker, &clauses, name, built(change, |_, _| ()));
    }
    type Change = fn(&mut IndexRecord);
    let parts: [(&str, Change); 5] = [
        ("of kind 17", |record| record.kind -= u8::from(record.kind == PART)),
        ("of kind 19", |record| record.kind += u8::from(record.kind == PART)),
        ("of a collection", |record| record.collection += u32::from(record.kind == PART)),
        ("with flag 0", |record| record.flags |= u8::from(record.kind == PART)),
        ("whose length has a byte more than it needs", |record| {
            record.length_more += usize::from(record.kind == PART);
        }),
    ];
    for (what, change) in parts {
        let changes = Changes { record: Some(change), ..Changes::default() };
        disbelieved(maker, &clauses, format!("A checkpoint with a root {what}"), &changes);
    }
    // A reader that comes by a reference asks nothing of these.
    for (name, off) in [("the commit after", 1), ("the commit before", u32::MAX)] {
        let mut forge = named(store(), |checkpoint| match off {
            1 => {
                checkpoint.finish(&Changes { record: Some(|each| each.commit_off = 1), ..Changes::default() })
            }
            _ => checkpoint
                .finish(&Changes { record: Some(|each| each.commit_off = u32::MAX), ..Changes::default() }),
        });
        erase_header_of_frame(&mut forge);
        let name = format!("A checkpoint whose records count themselves to {name}");
        maker.holds(&["F-8.11"], &["Checkpoint"], name, &forge.data, forge.state());
    }
    for (what, change) in [
        ("is damaged", (|header| header[60] ^= 1) as fn(&mut [u8])),
        ("is of zeros", |header| header.fill(0)),
        ("is that of a log segment", |header| header[..5].copy_from_slice(b"HLOG\x01")),
    ] {
        let mut forge = named(store(), |checkpoint| checkpoint.finish(&Changes::default()));
        erase_header_of_frame(&mut forge);
        let start = 16_384 + PLACES[0] as usize * 4096;
        change(&mut forge.data[start..start + 64]);
        let name = format!("The header of the segment of a checkpoint {what}");
        maker.holds(&["F-8.11", "F-8.12"], &["Checkpoint"], name, &forge.data, forge.state());
    }
}

/// Nothing but the checkpoint has what the log held.
fn erase_header_of_frame(forge: &mut Forge) {
    let at = forge.placed[1].at;
    forge.data[at] ^= 1;
}

/// References that lead elsewhere, or say something else.
fn references(maker: &mut Maker) {
    let wrong: [(&str, After); 14] = [
        ("a leaf in a segment beyond the end of the file", |which, entry| {
            if which == A_LEAF {
                entry.reference.segment = 900;
            }
        }),
        ("a leaf in a segment beyond all places", |which, entry| {
            if which == A_LEAF {
                entry.reference.segment = u32::MAX;
            }
        }),
        ("a page in a segment that the checkpoint does not name", |which, entry| {
            if which == A_PAGE {
                entry.reference.segment = 3;
            }
        }),
        ("a leaf 8 bytes further on", |which, entry| {
            entry.reference.offset += 8 * u32::from(which == A_LEAF);
        }),
        ("a leaf at no multiple of 8", |which, entry| entry.reference.offset += u32::from(which == A_LEAF)),
        ("a leaf in the header of its segment", |which, entry| {
            if which == A_LEAF {
                entry.reference.offset = 56;
            }
        }),
        ("a leaf beyond its segment", |which, entry| {
            if which == A_LEAF {
                entry.reference.offset = 4096;
            }
        }),
        ("a leaf that is a byte longer than it is", |which, entry| {
            entry.reference.len += u32::from(which == A_LEAF);
        }),
        ("a leaf that is a byte shorter than it is", |which, entry| {
            entry.reference.len -= u32::from(which == A_LEAF);
        }),
        ("a page that is a byte longer than it is", |which, entry| {
            entry.reference.len += u32::from(which == A_PAGE);
        }),
        ("a leaf of no length", |which, entry| {
            if which == A_LEAF {
                entry.reference.len = 0;
            }
        }),
        ("a leaf of 8 bytes", |which, entry| {
            if which == A_LEAF {
                entry.reference.len = 8;
            }
        }),
        ("a leaf of another checksum", |which, entry| entry.reference.crc ^= u32::from(which == A_LEAF)),
        ("a page of another checksum", |which, entry| {
            entry.reference.crc ^= u32::from(which == A_PAGE) << 31;
        }),
    ];
    for (what, change) in wrong {
        let name = format!("A checkpoint whose directory says {what}");
        disbelieved_file(maker, &["F-8.12", "F-8.11"], name, built(|_, _, _| (), change));
    }
    // The entry has the checksum that stands there, and it does not hold.
    let mut forge = store();
    let mut checkpoint = Checkpoint::begin(&mut forge, PLACES[0]);
    let documents = checkpoint.documents(1);
    let entries = documents.entries();
    let changes = Changes { leaf_entry: Some(|entry| entry.reference.crc ^= 1), ..Changes::default() };
    let first = checkpoint.leaf(1, &entries[0].0, &leaf(&entries), &changes);
    let tree = checkpoint.page(1, &[first], &changes).bytes();
    let notes = collection(1, "notes", documents.next, entries.len(), tree);
    let reference =
        checkpoint.finish_with(vec![notes, collection(2, "other", 1, 0, Vec::new())], &Changes::default());
    let last = forge.last;
    name_in_slot(&mut forge, &[&reference], last);
    forge.data[16_384 + PLACES[0] as usize * 4096 + 64] ^= 1;
    let name = "A checkpoint whose leaf has the checksum that its entry says, which does not hold";
    disbelieved_file(maker, &["F-8.12", "F-1.3"], name, forge);
}

/// Records where none may be, and all else is right.
fn places(maker: &mut Maker) {
    for (sector, at, what) in [
        (64, 100, Some("a leaf at a multiple of 4")),
        (64, 129, Some("a leaf at an odd offset")),
        (64, 1064, None),
        (512, 64, Some("a leaf in the sector of the header")),
        (512, 504, Some("a leaf that begins in the sector of the header")),
        (512, 1016, None),
    ] {
        let mut forge = Forge::opened(sector, 4096, 2);
        forge.commit(&[Record::create(1, "notes")]);
        forge.commit(&[Record::put(1, &Key::Int(1), &saying(1))]);
        let forge = named(forge, |mut checkpoint| {
            let (documents, changes) = (checkpoint.documents(1), Changes::default());
            let entries = documents.entries();
            checkpoint.go_on_at(at);
            let first = checkpoint.leaf(1, &entries[0].0, &leaf(&entries), &changes);
            checkpoint.go_on_at(2048);
            let tree = checkpoint.page(1, &[first], &changes).bytes();
            checkpoint.finish_with(vec![collection(1, "notes", documents.next, 1, tree)], &changes)
        });
        let clauses = ["F-8.11", "F-8.12"];
        match what {
            Some(what) => disbelieved_file(maker, &clauses, format!("A checkpoint with {what}"), forge),
            None => {
                let mut forge = forge;
                let name = format!("A leaf at offset {at}, with a sector of {sector}");
                erase_header_of_frame(&mut forge);
                maker.holds(&clauses, &["Checkpoint"], name, &forge.data, forge.state());
            }
        }
    }
}

/// A leaf that ends with its segment, and one that ends behind it.
fn at_the_end(maker: &mut Maker) {
    for (off, is_within) in [(0, true), (8, false)] {
        let mut forge = Forge::opened(64, 4096, 6);
        forge.commit(&[Record::create(1, "notes")]);
        // A key of such a length that the length of the leaf is a multiple of 8.
        forge.commit(&[Record::put(1, &Key::from("a key of 11"), &saying(1))]);
        let mut forge = named(forge, |mut checkpoint| {
            let (documents, changes) = (checkpoint.documents(1), Changes::default());
            let entries = documents.entries();
            let len = 9 + leaf(&entries).concat().len() as u32;
            assert_eq!(len % 8, 0, "a leaf can end with its segment");
            checkpoint.go_on_at(4096 - len + off);
            let first = checkpoint.leaf(1, &entries[0].0, &leaf(&entries), &changes);
            checkpoint.go_on_at(2048);
            let tree = checkpoint.page(1, &[first], &changes).bytes();
            checkpoint.finish_with(vec![collection(1, "notes", documents.next, 1, tree)], &changes)
        });
        let clauses = ["F-8.11", "F-8.12"];
        if is_within {
            erase_header_of_frame(&mut forge);
            let name = "A leaf that ends with its segment";
            maker.holds(&clauses, &["Checkpoint"], name, &forge.data, forge.state());
        } else {
            disbelieved_file(maker, &clauses, "A checkpoint with a leaf that ends behind its segment", forge);
        }
    }
}

/// Leaves in one segment, pages in another, and the root in a third.
fn segments(maker: &mut Maker) {
    let built = |changes: &Changes| {
        named(store(), |mut checkpoint| {
            let documents = checkpoint.documents(1);
            let entries = documents.entries();
            let leaves: Vec<_> =
                entries.chunks(3).map(|part| checkpoint.leaf(1, &part[0].0, &leaf(part), changes)).collect();
            checkpoint.go_on_in(5);
            let tree = checkpoint.page(1, &leaves, changes).bytes();
            checkpoint.go_on_in(6);
            let notes = collection(1, "notes", documents.next, entries.len(), tree);
            checkpoint.finish_with(vec![notes, collection(2, "other", 1, 0, Vec::new())], changes)
        })
    };
    let clauses = ["F-8.12", "F-8.9"];
    for (name, changes) in [
        ("Leaves, a page and the root in three segments", Changes::default()),
        ("Segments of leaves and a page in another order", root("segments", indexes_of(&[5, 4]))),
        (
            "The segment of the root among those of leaves and a page",
            root("segments", indexes_of(&[4, 5, 6])),
        ),
        (
            "A segment in which nothing stands among those of a checkpoint",
            root("segments", indexes_of(&[4, 3, 5])),
        ),
    ] {
        let mut forge = built(&changes);
        erase_header_of_frame(&mut forge);
        maker.holds(&clauses, &["Checkpoint"], name, &forge.data, forge.state());
    }
    for (what, named) in [
        ("do not name that of its leaves", &[5][..]),
        ("do not name that of its page", &[4]),
        ("name that of its root alone", &[6]),
        ("name none", &[]),
    ] {
        let name = format!("A checkpoint whose segments {what}");
        disbelieved_file(maker, &clauses, name, built(&root("segments", indexes_of(named))));
    }
}

/// A leaf of 16,384 bytes, and one of a byte more.
fn longest(maker: &mut Maker) {
    for len in [16_384, 16_385] {
        let mut forge = Forge::opened(64, 65_536, 2);
        forge.commit(&[Record::create(1, "notes")]);
        let keys: Vec<_> = (0..41u8).map(|n| Key::Bytes(vec![n; 390])).collect();
        let puts: Vec<_> = keys.iter().map(|key| Record::put(1, key, &Document::new())).collect();
        // The last key is as long as it takes.
        let fill = |forge: &Forge, rest: usize| {
            let key = Key::Bytes(vec![200; rest]);
            let mut forge = forge.clone();
            let mut puts = puts.clone();
            puts.push(Record::put(1, &key, &Document::new()));
            forge.commit(&puts);
            forge
        };
        let reach = |forge: &Forge| {
            let entries = forge.world.collections()[&1].entries();
            let body = leaf(&entries).concat().len();
            // CRC, kind, flags, a length of two bytes, collection and commit.
            10 + body
        };
        let short = reach(&fill(&forge, 200));
        forge = fill(&forge, 200 + len - short);
        assert_eq!(reach(&forge), len, "the last key has a length of two bytes either way");
        let forge = named(forge, |checkpoint| checkpoint.finish(&Changes::default()));
        let clauses = ["F-8.11", "F-8.12"];
        if len == 16_384 {
            let mut forge = forge;
            erase_header_of_frame(&mut forge);
            let name = "A leaf of 16,384 bytes";
            maker.holds(&clauses, &["Limit", "Checkpoint"], name, &forge.data, forge.state());
        } else {
            disbelieved_file(maker, &clauses, "A checkpoint with a leaf of 16,385 bytes", forge);
        }
    }
}
