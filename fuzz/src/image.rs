//! Bytes as a whole file.

use std::collections::BTreeMap;
use std::sync::Arc;

use holotype::inspect::{self, Outcome};
use holotype::{Background, Corruption, Db, Document, Error, Key, Options, doc, salvage_to};

use crate::disk::Disk;

/// Inputs beyond this are cut: what more bytes could show, fewer show faster.
const IMAGE_LEN_MAX: usize = 256 << 10;

/// How much longer than it was the file may become.
const GROWTH_MAX: u64 = 1 << 20;

/// Checkpoints that a store is given which goes on.
const CHECKPOINTS: usize = 3;

/// What a store answers: under each collection's name its keys, and each document's bytes or that it was refused.
type Answers = BTreeMap<String, Vec<(Key, Option<Vec<u8>>)>>;

/// Opens `bytes` as a file.
///
/// # Panics
/// Unless every way of opening it comes to the same state, or to a typed error that leaves the file as it was; and unless
/// what is written to it then is there after the next opening.
pub fn file_image(bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(IMAGE_LEN_MAX)];
    let (seen, _) = read_only(bytes, false);
    let (whole, is_clean) = read_only(bytes, true);
    look(bytes, whole.is_ok());
    // Where checkpoints and log tell one story, it is the same whenever leaves are read. Who reads them later finds their damage later.
    if is_clean {
        assert_eq!(
            seen.as_ref().ok(),
            whole.as_ref().ok(),
            "leaves have on demand what they have at opening"
        );
    }
    save(bytes, &whole);
    let disk = disk_with(bytes);
    let options = options().max_file_bytes(bytes.len() as u64 + GROWTH_MAX);
    match (seen, Db::open_on(Arc::clone(&disk), &options)) {
        (Ok(seen), Ok(db)) => {
            assert_eq!(answers(&db), seen, "a writer sees what a reader sees");
            goes_on(db, &disk, &options, seen);
        }
        // An unfinished creation is begun anew.
        (Err(Error::Incomplete), Ok(db)) => goes_on(db, &disk, &options, Answers::new()),
        (Err(refusal), Ok(_)) => panic!("refused to a reader and opened for a writer: {refusal}"),
        (seen, Err(refusal)) => {
            // A feature may be harmless to readers alone, and mending takes an incarnation that may be the last.
            let writers_only = matches!(refusal, Error::NewerFormat { .. } | Error::LimitReached { .. });
            assert!(seen.is_err() || writers_only, "opened for a reader and refused to a writer: {refusal}");
            assert!(disk.is(bytes), "a refused file is left as it was: {refusal}");
        }
    }
}

/// Looks at the bytes as `inspect` does: it shows any file, each byte of it once, and knows whether the store opens.
fn look(bytes: &[u8], opens: bool) {
    let Ok(inspector) = inspect::open_on(disk_with(bytes)) else {
        assert!(!opens, "a store that opens is shown");
        return;
    };
    assert_eq!(matches!(inspector.recovery().outcome, Outcome::Opens), opens, "{:?}", inspector.recovery());
    assert_eq!(inspector.totals().map(|(_, bytes)| bytes).sum::<u64>(), bytes.len() as u64);
    for physical in 0..inspector.segment_count() {
        let segment = inspector.segment(physical).expect("memory refuses nothing");
        for frame in &segment.frames {
            let _ = inspector.records(&segment, frame);
        }
    }
}

/// Salvages what can be, into a store that opens and is in order; of a store that a reader can read to its end, all of it.
fn save(bytes: &[u8], seen: &Result<Answers, Error>) {
    let saved = disk_with(&[]);
    let is_whole = |seen: &Answers| seen.values().flatten().all(|(_, document)| document.is_some());
    let report = match salvage_to(disk_with(bytes), Arc::clone(&saved)) {
        Ok(report) => report,
        Err(error) => {
            // One document may ask for a newer version, where the log that holds it is not replayed.
            let newer = matches!(error, Error::NewerFormat { .. }) && !seen.as_ref().is_ok_and(is_whole);
            assert!(seen.is_err() || newer, "a store that opens can be salvaged: {error}");
            return;
        }
    };
    let db = Db::open_on(saved, &options()).expect("what was salvaged is a store");
    let check = db.verify(true).expect("memory refuses nothing");
    assert!(check.is_clean(), "what was salvaged is in order: {check:?}");
    let found = answers(&db);
    if let Ok(seen) = seen
        && is_whole(seen)
        && report.is_complete()
    {
        for (name, documents) in seen {
            for document in documents {
                let is_there = found.get(name).is_some_and(|found| found.contains(document));
                assert!(is_there, "{name}, {:?}: not salvaged from a store that reads well", document.0);
            }
        }
    }
}

/// Without a thread of the store's own, so that one input does the same each time; and what is created is small, as the images are.
fn options() -> Options {
    let small = Options::new().sector(64).segment_bytes(512);
    small.cache_bytes(1 << 20).seed(1).background(Background::Manual)
}

fn disk_with(bytes: &[u8]) -> Arc<Disk> {
    Arc::new(Disk::with(bytes))
}

/// What a reader is told, and whether the store verifies; and that it changes nothing.
fn read_only(bytes: &[u8], verify_index: bool) -> (Result<Answers, Error>, bool) {
    let disk = disk_with(bytes);
    let options = options().read_only(true).verify_index(verify_index);
    let seen = Db::open_on(Arc::clone(&disk), &options).map(|db| {
        let seen = answers(&db);
        let is_clean = [false, true].map(|deep| db.verify(deep).is_ok_and(|report| report.is_clean()));
        (seen, is_clean == [true; 2])
    });
    assert!(disk.is(bytes), "a reader changes nothing");
    match seen {
        Ok((seen, is_clean)) => (Ok(seen), is_clean),
        Err(error) => (Err(error), false),
    }
}

fn answers(db: &Db) -> Answers {
    let collection = |name: String| {
        let documents = db.collection(name.as_str());
        let keys = documents.keys(..).expect("the collection is in the list").map_while(Result::ok);
        let found = keys.map(|key| {
            let found = documents
                .get(&key)
                .ok()
                .map(|found| found.expect("the key was just listed").bytes().to_vec());
            (key, found)
        });
        let found = found.collect();
        (name, found)
    };
    db.collections().into_iter().map(collection).collect()
}

/// A store that opened goes on: it takes a document, or says why not, and has it after the next opening.
fn goes_on(db: Db, disk: &Arc<Disk>, options: &Options, mut seen: Answers) {
    let (name, document) = ("after", doc! { "written": "after the fact" });
    // Accounts are trusted until somebody verifies them: where they are wrong, what they call dead is given up.
    let is_sound = db.verify(true).is_ok_and(|report| report.is_clean());
    let put = db.collection(name).put("the key", &document);
    // Checkpoints until those that it came with are named no more, and what they held is given out; as far as the file lets them.
    for _ in 0..CHECKPOINTS {
        let _ = db.checkpoint();
        let _ = db.maintain();
    }
    let last = db.stats().lsn;
    let closed = db.close();
    let db = match Db::open_on(Arc::clone(disk), options) {
        Ok(db) => db,
        Err(Error::Corrupt(corruption)) if is_of_another_life(&corruption, last) => return,
        Err(error) => panic!("it opened once: {error}, after put {put:?} and close {closed:?}"),
    };
    let name_and_key = (name.to_owned(), Key::Text("the key".into()));
    let found = answers(&db);
    if !is_sound {
        return;
    }
    if put.is_ok() {
        let orderly = matches!(closed, Ok(()) | Err(Error::LimitReached { .. }));
        assert!(orderly, "a store that took a document closes: {closed:?}");
        add(&mut seen, name_and_key, &document);
    } else if found != seen {
        // A failed write may have been carried out all the same, as a whole.
        add(&mut seen, name_and_key, &document);
    }
    assert_eq!(found, seen, "what was there stays, what was put is there: {put:?}");
}

/// Whether the log breaks off before a commit that this life never made. What no slot tells of may stand anywhere in a forged file, and the log
/// comes upon it later; a writer leaves no such thing, as it writes its incarnation into a slot before anything else.
fn is_of_another_life(corruption: &Corruption, last: u64) -> bool {
    corruption.clause.0 == "R-4.1" && corruption.expected > last
}

fn add(seen: &mut Answers, (name, key): (String, Key), document: &Document) {
    let documents = seen.entry(name).or_default();
    documents.retain(|(other, _)| *other != key);
    documents.push((key, Some(document.encode())));
    documents.sort_by(|(a, _), (b, _)| a.cmp(b));
}
