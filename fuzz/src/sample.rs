//! A small store that holds one of everything.

use std::sync::Arc;

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Db, Options, Result, doc};

/// The file of a small store with one of everything in it: two lives of the log, several segments, a commit in parts, keys of
/// each kind, a replaced and a deleted document, one too long for a segment, and a collection of each fate. The same bytes each time.
///
/// # Panics
/// If the store refuses any of it.
pub fn sample_store() -> Vec<u8> {
    let disk = Arc::new(MemoryStorage::new());
    let db = first_life(&disk).and_then(|()| second_life(&disk));
    crashed(&disk, db)
}

/// The file as it is while the store is open: dropped, it would be closed.
fn crashed(disk: &MemoryStorage, db: Result<Db>) -> Vec<u8> {
    let db = db.expect("memory refuses nothing");
    let mut bytes = vec![0; disk.len().expect("memory refuses nothing") as usize];
    disk.read_at(0, &mut bytes).expect("memory refuses nothing");
    drop(db);
    bytes
}

fn first_life(disk: &Arc<MemoryStorage>) -> Result<()> {
    let db = Db::open_on(Arc::clone(disk), &Options::tiny())?;
    let birds = db.collection("birds");
    birds.insert(doc! { "name": "Wren", "grams": 9.5, "seen": [{ "where": "hedge" }] })?;
    birds.insert_many((0..8).map(|n| doc! { "n": n, "name": "one of many" }))?;
    birds.put("kite", doc! { "name": "Kite", "rare": true, "rings": null })?;
    birds.put([0u8, 255].as_slice(), doc! { "n": -1 })?;
    birds.put(2, doc! { "n": 0, "name": "replaced" })?;
    birds.delete(3)?;
    birds.put("long", doc! { "text": "long ".repeat(200) })?;
    db.create_collection("empty")?;
    db.close()
}

fn second_life(disk: &Arc<MemoryStorage>) -> Result<Db> {
    let db = Db::open_on(Arc::clone(disk), &Options::tiny())?;
    let kept = db.collection("kept");
    kept.insert(doc! { "n": 1 })?;
    kept.clear()?;
    kept.insert(doc! { "n": 2 })?;
    db.collection("gone").insert(doc! { "n": 3 })?;
    db.drop_collection("gone")?;
    db.rename_collection("empty", "renamed")?;
    // Left open by a crash, as far as the file knows: nothing is closed after this.
    db.flush()?;
    Ok(db)
}

/// The file of a small store that has been in use for long: several checkpoints, trees of many leaves, cleaned segments and
/// others in their places, versions moved, chunks, keys of each kind, and a log that goes on behind the last checkpoint. The
/// same bytes each time.
///
/// # Panics
/// If the store refuses any of it.
pub fn aged_store() -> Vec<u8> {
    let disk = Arc::new(MemoryStorage::new());
    let options = Options::tiny().checkpoint_bytes(2048);
    let db = age(&disk, &options);
    let before = crashed(&disk, db);
    // A life more, which begins behind a crash with an opening frame.
    let disk = Arc::new(MemoryStorage::new());
    disk.write_at(0, &before).expect("memory refuses nothing");
    let db = last_life(&disk, &options.checkpoint_bytes(NO_CHECKPOINT));
    crashed(&disk, db)
}

/// More than these stores ever hold.
const NO_CHECKPOINT: u64 = 1 << 20;

fn last_life(disk: &Arc<MemoryStorage>, options: &Options) -> Result<Db> {
    let db = Db::open_on(Arc::clone(disk), options)?;
    for n in 0..4 {
        db.collection("numbers").put(n, doc! { "n": n, "round": "last" })?;
    }
    db.flush()?;
    Ok(db)
}

fn age(disk: &Arc<MemoryStorage>, options: &Options) -> Result<Db> {
    let db = Db::open_on(Arc::clone(disk), options)?;
    let numbers = db.collection("numbers");
    for round in 0..3 {
        for n in 0..30 {
            numbers.put(n * 3, doc! { "n": n, "round": round })?;
        }
        for n in 0..20 {
            numbers.put(format!("key {n:02}").as_str(), doc! { "n": n })?;
            numbers.put([n as u8, 7].as_slice(), doc! { "n": n })?;
        }
        numbers.put("long", doc! { "text": "long ".repeat(200), "round": round })?;
        for n in 0..10 {
            numbers.delete(n * 9)?;
        }
        db.collection(format!("a collection of round {round}")).insert(doc! { "n": round })?;
        while db.maintain()? {}
        db.compact()?;
    }
    let many = db.collection("many");
    many.insert_many((0..100).map(|n| doc! { "n": n }))?;
    many.put_many(
        (0..30).map(|n| (format!("a key that shares its beginning with others, {n:03}"), doc! { "n": n })),
    )?;
    db.drop_collection("a collection of round 1")?;
    db.checkpoint()?;
    db.close()?;
    // What is done from here on is replayed.
    let db = Db::open_on(Arc::clone(disk), &options.clone().checkpoint_bytes(NO_CHECKPOINT))?;
    let numbers = db.collection("numbers");
    for n in 0..12 {
        numbers.put(n * 3, doc! { "n": n, "round": "after" })?;
    }
    numbers.put("long", doc! { "text": "longer ".repeat(200) })?;
    for n in 0..8 {
        numbers.delete(n * 2 + 60)?;
        // What is due now moves versions and frees segments behind the last checkpoint.
        db.maintain()?;
    }
    while db.maintain()? {}
    db.create_collection("a collection with a name that is as long as this one and then a little longer")?;
    db.rename_collection("a collection of round 2", "another name of the collection of round 2")?;
    // Left open by a crash, as far as the file knows: nothing is closed after this.
    db.flush()?;
    Ok(db)
}
