//! What is wrong under an open store is seen when the store checks itself, whatever it is that is wrong.

use std::sync::Arc;

use holotype::format::superblock::SLOT_OFFSETS;
use holotype::storage::{MemoryStorage, Storage};
use holotype::{Db, Value, VerifyReport, doc};

use crate::setup::Setup;
use crate::story::say;

/// Documents before, and each of so many bytes.
const DOCUMENTS: i64 = 200;
const LEN: usize = 60;

/// Something that happens to the file under an open store, and the clause that is named then.
type Story = (&'static str, fn(&Opened) -> Result<(), String>, &'static str);

const STORIES: &[Story] = &[
    ("another log of the same length", another_log, "R-2.7"),
    ("a longer log", a_longer_log, "R-4.1"),
    ("a slot that is gone", |opened| opened.spoil(SLOT_OFFSETS[0]), "F-3.3"),
    ("the other slot", |opened| opened.spoil(SLOT_OFFSETS[1]), "F-3.3"),
    ("a document", a_document, ""),
    ("a document that was replaced", a_replaced_document, ""),
];

/// Tells every story. How many there are.
///
/// # Errors
/// What was not seen.
pub fn every_check() -> Result<u64, String> {
    for (name, happens, clause) in STORIES {
        let opened = Opened::new()?;
        let clean = opened.verify()?;
        let count = DOCUMENTS as u64 + 1;
        if !clean.is_clean() || clean.documents != count || clean.records < count || clean.commits == 0 {
            return Err(format!("{name}: before it happened, verify says {clean:?}"));
        }
        happens(&opened).map_err(|what| format!("{name}: {what}"))?;
        let report = opened.verify()?;
        if !report.problems.iter().any(|problem| problem.clause.0.starts_with(clause)) {
            return Err(format!("{name}: nothing of clause {clause:?} is seen: {:?}", report.problems));
        }
    }
    damage_that_is_kept().map_err(|what| format!("damage that a snapshot keeps: {what}"))?;
    Ok(STORIES.len() as u64 + 1)
}

/// A snapshot keeps a long document whose list of chunks is damaged; the store still gives other space back (spec: P-4.2).
fn damage_that_is_kept() -> Result<(), String> {
    let disk = Arc::new(MemoryStorage::new());
    let db = open(&disk)?;
    let a = db.collection("a");
    let long = doc! { "p": Value::Bytes(vec![7; 3 * Setup::SECTORS.segment_bytes as usize]) };
    a.put("long", &long).map_err(say)?;
    let list = db.record_offset("a", &holotype::Key::from("long")).ok_or("it is nowhere")?;
    let snapshot = db.snapshot();
    a.put("long", doc! {}).map_err(say)?;
    // Behind its header.
    let mut byte = [0];
    disk.read_at(list + 20, &mut byte).map_err(|error| error.to_string())?;
    write(&disk, list + 20, &[byte[0] ^ 1])?;
    for round in 0..3 {
        for key in 0..DOCUMENTS {
            put(&db, key)?;
        }
        db.checkpoint().map_err(|error| format!("a checkpoint in round {round}: {error}"))?;
        while db.maintain().map_err(|error| format!("maintaining in round {round}: {error}"))? {}
    }
    drop(snapshot);
    let stats = db.stats();
    let most = 4 * stats.space.live_bytes + 16 * u64::from(stats.segment_bytes);
    if stats.file_bytes > most { Err(format!("nothing is given back: {stats:#?}")) } else { Ok(()) }
}

/// An open store, and what it had before its last commit.
struct Opened {
    disk: Arc<MemoryStorage>,
    before: Vec<u8>,
    db: Db,
}

impl Opened {
    fn new() -> Result<Self, String> {
        let disk = Arc::new(MemoryStorage::new());
        let db = open(&disk)?;
        for key in 0..DOCUMENTS {
            put(&db, key)?;
        }
        db.close().map_err(say)?;
        let before = image(&disk)?;
        let db = open(&disk)?;
        put(&db, DOCUMENTS)?;
        Ok(Opened { disk, before, db })
    }

    fn verify(&self) -> Result<VerifyReport, String> {
        self.db.verify(true).map_err(say)
    }

    /// Another life of the same store, which went otherwise, as its file.
    fn other(&self, keys: std::ops::RangeInclusive<i64>) -> Result<Vec<u8>, String> {
        let disk = Arc::new(MemoryStorage::new());
        write(&disk, 0, &self.before)?;
        let db = open(&disk)?;
        for key in keys {
            put(&db, key)?;
        }
        image(&disk)
    }

    /// One bit falls over.
    fn spoil(&self, at: u64) -> Result<(), String> {
        let mut byte = [0];
        self.disk.read_at(at, &mut byte).map_err(|error| error.to_string())?;
        write(&self.disk, at, &[byte[0] ^ 1])
    }
}

fn another_log(opened: &Opened) -> Result<(), String> {
    write(&opened.disk, 0, &opened.other(DOCUMENTS + 1..=DOCUMENTS + 1)?)
}

fn a_longer_log(opened: &Opened) -> Result<(), String> {
    write(&opened.disk, 0, &opened.other(DOCUMENTS..=DOCUMENTS + 2)?)
}

fn a_document(opened: &Opened) -> Result<(), String> {
    let wanted = [8; LEN];
    let image = image(&opened.disk)?;
    let at = image.windows(LEN).position(|bytes| bytes == wanted).ok_or("its bytes are in the file")?;
    opened.spoil(at as u64)
}

/// Once a checkpoint was taken, only a check of all segments reads the replaced record.
fn a_replaced_document(opened: &Opened) -> Result<(), String> {
    let gone = [9; LEN];
    let a = opened.db.collection("a");
    a.put(0, doc! { "p": Value::Bytes(gone.to_vec()) }).map_err(say)?;
    put(&opened.db, 0)?;
    opened.db.checkpoint().map_err(say)?;
    let image = image(&opened.disk)?;
    let at = image.windows(LEN).position(|bytes| bytes == gone).ok_or("its bytes are in the file")?;
    opened.spoil(at as u64)
}

fn open(disk: &Arc<MemoryStorage>) -> Result<Db, String> {
    Db::open_on(Arc::clone(disk), &Setup::SECTORS.options().cache_bytes(0)).map_err(say)
}

fn put(db: &Db, key: i64) -> Result<(), String> {
    db.collection("a").put(key, doc! { "p": Value::Bytes(vec![8; LEN]) }).map_err(say)
}

fn image(disk: &MemoryStorage) -> Result<Vec<u8>, String> {
    let len = disk.len().map_err(|error| error.to_string())?;
    let mut bytes = vec![0; len as usize];
    let mut at = 0;
    while at < bytes.len() {
        at += disk.read_at(at as u64, &mut bytes[at..]).map_err(|error| error.to_string())?;
    }
    Ok(bytes)
}

fn write(disk: &MemoryStorage, at: u64, bytes: &[u8]) -> Result<(), String> {
    disk.set_len(disk.len().map_or(0, |len| len.max(at + bytes.len() as u64)))
        .and_then(|()| disk.write_at(at, bytes))
        .map(drop)
        .map_err(|error| error.to_string())
}
