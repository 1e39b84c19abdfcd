//! Chapters of stores whose memory, or whose file, is not as it was left: what is said of that.

use holotype::document::RawDocument;
use holotype::format::superblock::{SLOT_OFFSETS, Slot, Superblock, parse_slot};
use holotype::storage::Storage;
use holotype::{Db, Durability, IndexDefinition, Key, Options, doc, index_entries};

use super::asked::Heard;
use super::life::{Life, WORDS, document};
use crate::metered::Metered;
use crate::story::{ensure, say};

const COUNT: i64 = 40;

fn tagged(number: i64) -> holotype::Document {
    let tags: Vec<holotype::Value> = (0..3).map(|n| WORDS[((number + n) % 7) as usize].into()).collect();
    doc! { "n": number, "tags": tags }
}

fn options() -> Options {
    Options::tiny().durability(Durability::Written).cache_bytes(0)
}

/// Two collections, one of them with an index, in memory as in the file.
fn as_it_should_be() -> Result<(Metered, IndexDefinition), String> {
    let file = Metered::default();
    let db = Db::open_on(file.clone(), &options()).map_err(say)?;
    let by_tag = IndexDefinition::new("by_tag", ["$.tags[*]", "-$.n"]).map_err(say)?;
    for number in 0..COUNT {
        db.collection("tagged").put(number, tagged(number)).map_err(say)?;
        db.collection("a")
            .put(number * 3, document(number, if number % 9 == 0 { 900 } else { 30 }))
            .map_err(say)?;
    }
    db.collection("tagged").create_index(by_tag.clone()).map_err(say)?;
    db.checkpoint().map_err(say)?;
    db.collection("a").put(500, document(500, 5)).map_err(say)?;
    db.flush().map_err(say)?;
    Ok((file, by_tag))
}

/// What a check of all of a store says.
fn hear_checks(db: &Db, heard: &mut Heard) -> Result<(), String> {
    let entries = db.collection("tagged").index("by_tag").check(|problem| heard.text(&problem.to_string()));
    heard.number(entries.map_err(say)?);
    for deep in [false, true] {
        let report = db.verify(deep).map_err(say)?;
        [report.documents, report.entries, report.commits, report.records]
            .into_iter()
            .for_each(|n| heard.number(n));
        report.problems.iter().for_each(|problem| heard.text(&problem.to_string()));
        heard.documents += report.problems.len() as u64;
    }
    Ok(())
}

/// The index in memory leads elsewhere than the log says, lacks what that has, or has more.
pub(super) fn memory(life: &mut Life) -> Result<(), String> {
    let (file, by_tag) = as_it_should_be()?;
    let mut heard = Heard::default();
    let wrong = |heard: &mut Heard, mistakes: &dyn Fn(&Db) -> holotype::Result<bool>| {
        let db = Db::open_on(file.copy().map_err(say)?, &options()).map_err(say)?;
        hear_checks(&db, &mut Heard::default())?;
        ensure(mistakes(&db).map_err(say)?, || "there is nothing to mistake".to_owned())?;
        hear_checks(&db, heard)
    };
    let (a, int) = (("a", None), Key::Int);
    for key in [0, 3, 57, 117, 500] {
        wrong(&mut heard, &|db| db.mistake(a.0, a.1, &int(key), None))?;
        wrong(&mut heard, &|db| db.mistake(a.0, a.1, &int(key), Some(&int(27))))?;
        wrong(&mut heard, &|db| db.mistake(a.0, a.1, &int(key + 1), Some(&int(key))))?;
    }
    wrong(&mut heard, &|db| {
        let swapped = db.mistake(a.0, a.1, &int(1000), Some(&int(3)))?
            && db.mistake(a.0, a.1, &int(3), Some(&int(6)))?
            && db.mistake(a.0, a.1, &int(6), Some(&int(1000)))?;
        Ok(swapped && db.mistake(a.0, a.1, &int(1000), None)?)
    })?;
    let entry_of = |key: i64, number: i64| -> Result<Key, String> {
        let bytes = tagged(number).encode();
        let document = RawDocument::from_bytes(&bytes).map_err(say)?;
        let entries = index_entries(&by_tag, 1024, int(key).as_ref(), &document).map_err(say)?;
        entries
            .first()
            .map(|entry| Key::Bytes(entry.as_slice().into()))
            .ok_or_else(|| "it has none".to_owned())
    };
    let index = Some("by_tag");
    // Of a document that gives another one, of one that is not there, and what no index can have.
    let others = [
        entry_of(7, 8)?,
        entry_of(700, 8)?,
        entry_of(701, 9)?,
        Key::Bytes([0xee, 1].as_slice().into()),
        int(5),
    ];
    let keys = Db::open_on(file.copy().map_err(say)?, &options()).map_err(say)?;
    keys.verify(false).map_err(say)?;
    let keys = keys.keys_in_memory("tagged", index).map_err(say)?;
    let [first, middle, last] = [0, keys.len() / 2, keys.len() - 1].map(|number| &keys[number]);
    for taken in [first, middle, last] {
        wrong(&mut heard, &|db| db.mistake("tagged", index, taken, None))?;
        for other in &others {
            wrong(&mut heard, &|db| {
                Ok(db.mistake("tagged", index, other, Some(first))?
                    && db.mistake("tagged", index, taken, None)?)
            })?;
        }
    }
    for count in 1..=others.len() {
        wrong(&mut heard, &|db| {
            let mut others =
                others[..count].iter().map(|other| db.mistake("tagged", index, other, Some(first)));
            others.try_fold(true, |all, mistaken| Ok(all & mistaken?))
        })?;
    }
    heard.tell(life);
    Ok(())
}

/// What is done to a store, in one future of it.
type Future = fn(&Db) -> holotype::Result<()>;

fn put_long(db: &Db, collection: &str, key: i64, len: usize) -> holotype::Result<()> {
    db.collection(collection).put(key, document(1, len))
}

/// Futures of one store that write almost the same to the same places.
const FUTURES: [Future; 7] = [
    |db| put_long(db, "long", 1, 3000),
    // Of another key, of another collection, of another length, as another chunk, and in another commit.
    |db| put_long(db, "long", 2, 3000),
    |db| put_long(db, "other", 1, 3000),
    |db| put_long(db, "long", 1, 3300),
    |db| put_long(db, "long", 1, 2700),
    |db| {
        put_long(db, "long", 5, 700)?;
        put_long(db, "long", 1, 3000)
    },
    |db| {
        db.collection("a").put(2, doc! {})?;
        put_long(db, "long", 1, 3000)
    },
];

/// A part of a file is as another future of the store would have left it: sound, and of another document.
pub(super) fn futures(life: &mut Life) -> Result<(), String> {
    let file = Metered::default();
    let db = Db::open_on(file.clone(), &options()).map_err(say)?;
    for name in ["a", "long", "other"] {
        db.create_collection(name).map_err(say)?;
    }
    db.flush().map_err(say)?;
    let futures = FUTURES.map(|future| {
        let file = file.copy().map_err(say)?;
        let db = Db::open_on(file.clone(), &options()).map_err(say)?;
        future(&db).and_then(|()| db.flush()).map_err(say)?;
        Ok::<_, String>((file, db.held_places()))
    });
    let futures = futures.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut heard = Heard::default();
    for (file, places) in &futures {
        for (other, _) in &futures {
            for place in places.iter().filter(|place| place.start >= 4096) {
                let mixed = file.copy().map_err(say)?;
                let db = Db::open_on(mixed.clone(), &options()).map_err(say)?;
                mixed.take_range(other, place.clone()).map_err(say)?;
                for (collection, key) in [("long", 1), ("long", 2), ("other", 1)] {
                    match db.collection(collection).get(key) {
                        Ok(Some(found)) => heard.document(found.key(), found.version(), found.bytes()),
                        Ok(None) => heard.number(1),
                        Err(error) => heard.text(&error.to_string()),
                    }
                }
            }
        }
    }
    heard.tell(life);
    Ok(())
}

/// What both slots of a file can say, and no store has them say that this version writes: features of a later one. And one checkpoint
/// twice, as a backup has it.
const SLOTS: [fn(&mut Superblock); 6] = [
    |slot| slot.minor += 1,
    |slot| slot.compatible = 1 << 63,
    |slot| slot.read_only_compatible = 1 << 63,
    |slot| slot.incompatible = 1 << 63,
    |slot| slot.checkpoints[1] = slot.checkpoints[0],
    |slot| slot.checkpoints[0] = slot.checkpoints[1],
];

/// The slots of a file are those of a later version, or of a backup.
pub(super) fn slots(life: &mut Life) -> Result<(), String> {
    let (file, _) = as_it_should_be()?;
    let db = Db::open_on(file.clone(), &options()).map_err(say)?;
    db.collection("a").put(501, document(501, 5)).map_err(say)?;
    db.checkpoint().and_then(|()| db.close()).map_err(say)?;
    let mut heard = Heard::default();
    for change in SLOTS {
        for read_only in [true, false] {
            let file = file.copy().map_err(say)?;
            for (index, at) in SLOT_OFFSETS.into_iter().enumerate() {
                let mut slot = [0; 512];
                file.read_at(at, &mut slot).map_err(say)?;
                let Slot::Valid(mut superblock) = parse_slot(&slot, index) else {
                    return Err(format!("slot {index} is not valid"));
                };
                change(&mut superblock);
                file.write_at(at, &superblock.encode()).map_err(say)?;
            }
            match Db::open_on(file, &options().read_only(read_only)) {
                Ok(db) => hear_checks(&db, &mut heard)?,
                Err(error) => heard.text(&error.to_string()),
            }
        }
    }
    heard.tell(life);
    Ok(())
}
