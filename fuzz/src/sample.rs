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
    first_life(&disk).and_then(|()| second_life(&disk)).expect("memory refuses nothing");
    let mut bytes = vec![0; disk.len().expect("memory refuses nothing") as usize];
    disk.read_at(0, &mut bytes).expect("memory refuses nothing");
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

fn second_life(disk: &Arc<MemoryStorage>) -> Result<()> {
    let db = Db::open_on(Arc::clone(disk), &Options::tiny())?;
    let kept = db.collection("kept");
    kept.insert(doc! { "n": 1 })?;
    kept.clear()?;
    kept.insert(doc! { "n": 2 })?;
    db.collection("gone").insert(doc! { "n": 3 })?;
    db.drop_collection("gone")?;
    db.rename_collection("empty", "renamed")?;
    // Left open by a crash, as far as the file knows: nothing is closed after this.
    db.flush()
}
