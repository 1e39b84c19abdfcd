//! Forgeries of which each is answered in words of its own: found by trying an edit at every place of the samples.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Db, Error, Options, Result};
use holotype_fuzz::{AGED, DAMAGE, Layout, STRETCH, aged_store, forged, sample_store};

/// What a byte is changed by.
const BY: [u8; 6] = [0x01, 0x02, 0x07, 0x20, 0x80, 0xFF];

/// Bytes that are tried in each record and each index record; what comes behind them is more of the same.
const DEEP: usize = 96;

/// The kinds of edits that change one byte, and the length of the places that they are for; none where it varies.
const SLOT: u8 = 0;
const SEGMENT: u8 = 1;
const FRAME: u8 = 2;
const RECORD: u8 = 3;
const INDEX_HEAD: u8 = 6;
const INDEX_BODY: u8 = 7;

/// Edits that are each answered as none before is, with what the answer is called.
pub(crate) fn distinct() -> Vec<(String, Vec<u8>)> {
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for (name, first, sample) in [("sample", 0, sample_store()), ("aged", AGED, aged_store())] {
        let layout = Layout::of(&sample).expect("a sample is a valid store");
        known.insert(answer(&sample));
        for mut edit in edits(&layout) {
            edit[0] |= first;
            if known.insert(answer(&forged(&edit))) {
                found.push((format!("found-{name}-{:03}", found.len()), edit));
            }
        }
    }
    found
}

/// An edit by which the table has a log segment in a place that the checkpoint before holds alone. By which value, and where, changes
/// with the sample.
pub(crate) fn in_the_place_of_another() -> (String, Vec<u8>) {
    let (_, _, _, records) = Layout::of(&aged_store()).expect("a sample is a valid store").counts();
    let places = (0..records.min(256)).flat_map(|record| (0..DEEP).map(move |at| (record, at)));
    let mut edits = places.flat_map(|(record, at)| {
        let [high, low] = short(at);
        (1..64).map(move |by| vec![INDEX_BODY | AGED, record as u8, high, low, by])
    });
    let refused = edits.find(|edit| match open(&forged(edit)) {
        Err(Error::Corrupt(found)) => found.clause.0 == "R-8.1" && found.what.contains("in the place"),
        _ => false,
    });
    ("in-the-place-of-another".to_owned(), refused.expect("the one before has places of its own"))
}

/// A name in the aged store that has room for what is put in its place.
const LONG_NAME: &str = "a collection with a name that is as long as this one and then a little longer";

/// Catalog records with a field more, `required`: of keys that nobody knows, and of what is no list of keys (F-7.3). The name gives up
/// the bytes that this takes.
pub(crate) fn required() -> Vec<(String, Vec<u8>)> {
    let sample = aged_store();
    let layout = Layout::of(&sample).expect("a sample is a valid store");
    let find = |range: &Range<usize>| {
        let windows = sample[range.clone()].windows(LONG_NAME.len());
        windows.into_iter().position(|window| window == LONG_NAME.as_bytes())
    };
    let (frame, record, range) =
        layout.records().find(|(_, _, range)| find(range).is_some()).expect("one record has that name");
    let name = find(&range).expect("it was found there");
    // In front of the name: the head of the map, `id`, `op`, `create`, `name`, and a length of two bytes.
    let map = name - 2 - b"dname".len() - b"bopfcreate".len() - b"bid".len() - 2;
    let mut found = Vec::new();
    let lists: [(&str, &[u8]); 4] = [
        ("unknown", b"\x81\x65ahead"),
        ("known", b"\x81\x62op"),
        ("no-list", b"\x65ahead"),
        ("no-text", b"\x81\x01"),
    ];
    for (what, list) in lists {
        let field = [b"\x68required", list].concat();
        let mut edits = Vec::new();
        let mut put = |at: usize, bytes: &[u8]| {
            edits.extend([AGED | STRETCH, 3, frame as u8]);
            edits.extend(short(record).into_iter().chain(short(at)).chain([bytes.len() as u8]));
            edits.extend(bytes);
        };
        put(map, &[0xA4]);
        put(name - 1, &[(LONG_NAME.len() - field.len()) as u8]);
        put(name + LONG_NAME.len() - field.len(), &field);
        found.push((format!("required-{what}"), edits));
    }
    found
}

fn short(number: usize) -> [u8; 2] {
    [(number >> 8) as u8, number as u8]
}

fn edits(layout: &Layout) -> Vec<Vec<u8>> {
    let (segments, frames, records, index_records) = layout.counts();
    let mut all = Vec::new();
    let mut each = |kind: u8, which: usize, record: Option<usize>, len: usize| {
        for at in 0..len {
            for by in BY {
                let mut edit = vec![kind, which as u8];
                edit.extend(record.map(short).into_iter().flatten());
                edit.extend(short(at));
                edit.push(by);
                all.push(edit);
            }
        }
    };
    (0..2).for_each(|slot| each(SLOT, slot, None, 512));
    (0..segments).for_each(|segment| each(SEGMENT, segment, None, 64));
    (0..frames.min(256)).for_each(|frame| each(FRAME, frame, None, 32));
    for (frame, count) in records.into_iter().enumerate().take(256) {
        (0..count.min(2)).for_each(|record| each(RECORD, frame, Some(record), DEEP));
    }
    for record in 0..index_records.min(256) {
        each(INDEX_HEAD, record, None, 9);
        each(INDEX_BODY, record, None, DEEP);
    }
    // Damage to each frame and index record, at its header and behind it. An edit counts the places of these from one more on.
    let heads_and_bodies = [(INDEX_HEAD - 1, index_records), (INDEX_BODY - 1, index_records)];
    for (place, count) in [(SEGMENT, segments), (FRAME, frames)].into_iter().chain(heads_and_bodies) {
        for which in 0..count.min(256) {
            all.extend([9, 60].map(|at| vec![DAMAGE, place, which as u8, 0, at, 0xFF]));
        }
    }
    all
}

/// How a store answers, without the numbers: where two differ in nothing else, one of them will do.
fn answer(image: &[u8]) -> String {
    let words = match open(image).and_then(|db| db.verify(true)) {
        Ok(report) => format!("{:?}", report.problems),
        Err(error) => format!("{error:?}"),
    };
    words.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

fn open(image: &[u8]) -> Result<Db> {
    let disk = Arc::new(MemoryStorage::new());
    disk.write_at(0, image).expect("memory refuses nothing");
    Db::open_on(disk, &Options::new().read_only(true).seed(1))
}
