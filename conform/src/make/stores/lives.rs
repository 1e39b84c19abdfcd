//! Stores that the engine made: long lives with checkpoints, cleaning, reuse and openings. What they hold is what was put, counted along
//! beside the engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Db, Durability, Options, Value};
use holotype_model::Key;

use super::{Bases, Maker, corrupt, invalid, valid};
use crate::case::{Collection, Group, Outcome, Request, State};
use crate::forge::cbor;
use crate::load::describe;

pub(super) fn make(bases: &mut Bases) -> Group {
    let mut maker = Maker::new(
        "lives",
        "Stores that have lived: what they hold is what was put in and not taken out since; whole, with a damaged slot, and cut short",
    );
    for (seed, (sector, segment_bytes)) in
        [(64, 512), (64, 1024), (64, 4096), (512, 4096), (128, 2048), (1024, 8192)].into_iter().enumerate()
    {
        life(&mut maker, bases, seed as u64, sector, segment_bytes);
    }
    maker.finish()
}

/// What was put in and not taken out: beside the next id, by collection.
type Kept = BTreeMap<String, (u64, BTreeMap<Key, Vec<u8>>)>;

fn state(kept: &Kept) -> State {
    let collection = |(name, (next, documents)): (&String, &(u64, BTreeMap<Key, Vec<u8>>))| Collection {
        name: name.clone(),
        next: Some(next.to_string()),
        documents: documents
            .iter()
            .map(|(key, document)| (cbor::key(key).into(), document.clone().into()))
            .collect(),
        indexes: None,
    };
    State { lsn: None, collections: kept.iter().map(collection).collect() }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}

const INVARIANT: &str = "a store in memory takes what it is given";
const CALLS: u64 = 160;
const PICTURE_EVERY: u64 = 40;

fn life(maker: &mut Maker, bases: &mut Bases, seed: u64, sector: u32, segment_bytes: u32) {
    let options = Options::tiny()
        .sector(sector)
        .segment_bytes(segment_bytes)
        .checkpoint_bytes(u64::from(segment_bytes) * 4)
        .seed(seed);
    let disk = Arc::new(MemoryStorage::new());
    let mut random = Random(seed);
    let mut kept = Kept::new();
    let mut db = Db::open_on(Arc::clone(&disk), &options).expect(INVARIANT);
    for call in 1..=CALLS {
        if random.below(30) == 0 {
            db.close().expect(INVARIANT);
            db = Db::open_on(Arc::clone(&disk), &options).expect(INVARIANT);
        }
        one_call(&db, &mut random, &mut kept, call);
        if call % PICTURE_EVERY == 0 {
            picture(maker, bases, &disk, &kept, &format!("life-{sector}-{segment_bytes}-{call}"));
        }
    }
    db.close().expect(INVARIANT);
    picture(maker, bases, &disk, &kept, &format!("life-{sector}-{segment_bytes}-closed"));
}

fn one_call(db: &Db, random: &mut Random, kept: &mut Kept, call: u64) {
    let name = ["a", "b", "c"][random.below(3) as usize];
    let collection = db.collection(name).with_durability(Durability::Synced);
    match random.below(24) {
        0..=12 => {
            let (key, document) = (key(random), document(random, call));
            collection.put(engine_key(&key), &document).expect(INVARIANT);
            let (next, documents) = kept.entry(name.to_owned()).or_insert((1, BTreeMap::new()));
            if let Key::Int(int @ 1..) = key {
                *next = (*next).max(int as u64 + 1);
            }
            documents.insert(key, expected(random_document(&document)));
        }
        13..=17 if kept.contains_key(name) => {
            let key = key(random);
            collection.delete(engine_key(&key)).expect(INVARIANT);
            kept.get_mut(name).expect("it was just looked up").1.remove(&key);
        }
        18 if kept.contains_key(name) => {
            collection.clear().expect(INVARIANT);
            kept.get_mut(name).expect("it was just looked up").1.clear();
        }
        19 => {
            db.drop_collection(name).expect(INVARIANT);
            kept.remove(name);
        }
        20 => db.checkpoint().expect(INVARIANT),
        21 => _ = db.compact().expect(INVARIANT),
        _ => while db.maintain().expect(INVARIANT) {},
    }
}

fn key(random: &mut Random) -> Key {
    match random.below(3) {
        0 => Key::Text(format!("key-{}", random.below(9))),
        1 => Key::Bytes(vec![7; random.below(4) as usize]),
        _ => Key::Int(random.below(20) as i64 - 4),
    }
}

fn engine_key(key: &Key) -> holotype::Key {
    match key {
        Key::Int(int) => holotype::Key::Int(*int),
        Key::Text(text) => holotype::Key::Text(text.as_str().into()),
        Key::Bytes(bytes) => holotype::Key::Bytes(bytes.clone().into()),
    }
}

/// Mostly short; some take chunks.
fn document(random: &mut Random, call: u64) -> holotype::Document {
    let longest = if random.below(8) == 0 { 900 } else { 40 };
    holotype::doc! { "call": call as i64, "filling": Value::Bytes(vec![7; random.below(longest) as usize]) }
}

/// The two fields of a document that was made above.
fn random_document(document: &holotype::Document) -> (i64, usize) {
    let call = document.get("call").and_then(Value::as_i64).expect("it was just put there");
    (call, document.get("filling").and_then(Value::as_bytes).expect("it was just put there").len())
}

/// The same document, encoded without the engine.
fn expected((call, len): (i64, usize)) -> Vec<u8> {
    use holotype_model::Value;
    cbor::document(&crate::make::ladder::document([
        ("call", Value::Int(call)),
        ("filling", Value::Bytes(vec![7; len])),
    ]))
}

fn picture(maker: &mut Maker, bases: &mut Bases, disk: &MemoryStorage, kept: &Kept, name: &str) {
    let mut bytes = vec![0; disk.len().expect(INVARIANT) as usize];
    disk.read_at(0, &mut bytes).expect(INVARIANT);
    let file = format!("stores/{name}.holo");
    bases.insert(file.clone(), bytes.clone());
    let state = maker.state(state(kept));
    let right = || vec![Outcome::State(state.clone())];
    let of = |changed: &[u8]| describe(Some((&file, &bytes)), changed);
    let clauses =
        ["F-2.1", "F-3.3", "F-6.8", "F-8.8", "R-5.2", "R-9.1", "R-9.3", "R-9.4", "R-9.5", "R-9.6", "R-8.3"];
    maker.case(
        &valid(&clauses, &["Replay", "Relocation"]),
        format!("{name}: as it is"),
        Request::Open { file: of(&bytes) },
        right(),
    );
    let what = valid(&["R-5.4", "R-5.6", "R-7.3", "R-8.1"], &["Reservation", "Replay"]);
    maker.case(
        &what,
        format!("{name}: opened for writing"),
        Request::OpenWrite { file: of(&bytes) },
        right(),
    );
    for index in [0usize, 1] {
        let mut changed = bytes.clone();
        changed[4096 * index + 376] ^= 1;
        let what = valid(&["F-3.3", "F-8.8", "R-5.2", "F-3.5"], &["SlotChoice", "Fallback"]);
        let slot = ["A", "B"][index];
        maker.case(
            &what,
            format!("{name}: slot {slot} is damaged"),
            Request::Open { file: of(&changed) },
            right(),
        );
        let what = valid(&["R-5.4", "R-5.6", "F-3.5"], &["SlotChoice", "Fallback"]);
        maker.case(
            &what,
            format!("{name}: slot {slot} is damaged, and a writer mends it"),
            Request::OpenWrite { file: of(&changed) },
            right(),
        );
    }
    let mut grown = bytes.clone();
    grown.resize(bytes.len() + 600, 0);
    maker.case(
        &valid(&["F-2.4", "R-8.3"], &["TornWrite"]),
        format!("{name}: with zeros behind its end"),
        Request::Open { file: of(&grown) },
        right(),
    );
    let mut foreign = bytes.clone();
    foreign.extend((0..600u32).map(|n| n as u8 | 1));
    maker.case(
        &valid(&["R-8.3"], &["TornWrite"]),
        format!("{name}: with other bytes behind its end"),
        Request::Open { file: of(&foreign) },
        right(),
    );
    for cut in [1, 100, bytes.len() - 16_384] {
        let short = &bytes[..bytes.len() - cut];
        let place = Some(short.len() as u64);
        let what = invalid(&["R-4.1", "F-2.5"], &["ShortFile"]);
        let name = format!("{name}: {cut} bytes shorter");
        maker.case(&what, name, Request::Open { file: of(short) }, vec![corrupt(&["R-4.1", "R-4.3"], place)]);
    }
}
