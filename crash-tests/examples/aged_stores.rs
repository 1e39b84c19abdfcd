//! Writes files for the second reader (`spec/reader/differential.py`): stores of tiny segments that have seen checkpoints, cleaning, reuse,
//! compaction and openings, as a power cut before some write or sync would leave them, and as a close leaves them.
//!
//! ```text
//! cargo run --release -p holotype-crash-tests --example aged_stores -- DIRECTORY FIRST_SEED COUNT [--short]
//! ```
//!
//! `SEED-NUMBER.holotype` is the file after the power cut of that number, `SEED-closed.holotype` the one at the end. With `--short` each
//! seed makes one file, `SEED.holotype`, of a life of some calls and openings in a geometry of its own, closed or cut off.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use holotype::storage::Storage;
use holotype::storage::sim::{Decisions, Level, SimDisk};
use holotype::{Db, Document, Durability, IndexDefinition, Key, Options, Value, doc};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (directory, first, count, is_short) = match arguments.as_slice() {
        [directory, first, count] => (directory, first, count, false),
        [directory, first, count, option] if option == "--short" => (directory, first, count, true),
        _ => return Err("usage: aged_stores DIRECTORY FIRST_SEED COUNT [--short]".into()),
    };
    let (first, count): (u64, u64) = (first.parse()?, count.parse()?);
    for seed in first..first + count {
        if is_short {
            std::fs::write(Path::new(directory).join(format!("{seed}.holotype")), short_life(seed)?)?;
            continue;
        }
        for (name, bytes) in life(seed)? {
            std::fs::write(Path::new(directory).join(format!("{seed}-{name}.holotype")), bytes)?;
        }
    }
    Ok(())
}

/// How many calls a life has, and about how many writes lie between two pictures of it.
const CALLS: u64 = 300;
const WRITES_BETWEEN_PICTURES: u64 = 120;

/// The files of one life, by name.
fn life(seed: u64) -> Result<Vec<(String, Vec<u8>)>> {
    let mut random = Random(seed);
    let (sector, segment_bytes) = [(64, 512), (64, 1024), (64, 4096), (512, 4096)][random.below(4) as usize];
    let options = Options::tiny()
        .sector(sector)
        .segment_bytes(segment_bytes)
        .checkpoint_bytes(u64::from(segment_bytes) * 4)
        .create(true)
        .seed(seed);
    let camera = Camera::new(SimDisk::new(sector, Level::Sectors), seed, WRITES_BETWEEN_PICTURES);
    let mut db = Db::open_on(camera.clone(), &options)?;
    for call in 0..CALLS {
        if random.below(40) == 0 {
            db.close()?;
            db = Db::open_on(camera.clone(), &options)?;
        }
        one_call(&db, &mut random, call)?;
    }
    db.close()?;
    let mut files: Vec<_> =
        camera.pictures().into_iter().enumerate().map(|(n, bytes)| (n.to_string(), bytes)).collect();
    files.push(("closed".to_owned(), camera.disk.bytes()));
    Ok(files)
}

/// Geometries of short lives: most small enough that a few calls fill segments, so that checkpoints, cleaning and reuse come soon.
const GEOMETRIES: [(u32, u32); 8] =
    [(64, 512), (64, 512), (64, 1024), (64, 2048), (128, 1024), (256, 4096), (512, 4096), (1024, 8192)];

/// One file: of up to four openings, each of which ends with a close, with a power cut behind its last call, or in the midst of a write.
fn short_life(seed: u64) -> Result<Vec<u8>> {
    let mut random = Random(seed);
    let (sector, segment_bytes) = GEOMETRIES[random.below(8) as usize];
    let options = Options::tiny()
        .sector(sector)
        .segment_bytes(segment_bytes)
        .checkpoint_bytes(u64::from(segment_bytes) * (1 + random.below(8)))
        .create(true)
        .seed(seed);
    let mut bytes = Vec::new();
    for opening in 0..=random.below(4) {
        let disk = SimDisk::from_bytes(sector, Level::Sectors, &bytes);
        let camera = Camera::new(disk, random.next(), 1 + random.below(60));
        let db = Db::open_on(camera.clone(), &options)?;
        let calls = if opening == 0 { random.below(60) } else { random.below(25) };
        for call in 0..calls {
            one_call(&db, &mut random, call)?;
        }
        let cut = camera.disk.fork();
        cut.set_decisions(Decisions::seeded(random.next()));
        let end = random.below(4);
        db.close()?;
        let pictures = camera.pictures();
        bytes = match (end, pictures.len() as u64) {
            (0, _) | (3, 0) => camera.disk.bytes(),
            (3, count) => pictures[random.below(count) as usize].clone(),
            _ => {
                cut.crash();
                cut.bytes()
            }
        };
    }
    Ok(bytes)
}

fn one_call(db: &Db, random: &mut Random, call: u64) -> Result<()> {
    let durability = if random.below(3) == 0 { Durability::Synced } else { Durability::Written };
    let collection = db.collection(["a", "b", "c"][random.below(3) as usize]).with_durability(durability);
    match random.below(32) {
        0..=14 => collection.put(key(random), document(random, call))?,
        15..=20 if collection.len().is_ok() => _ = collection.delete(key(random))?,
        21 if collection.len().is_ok() => collection.clear()?,
        22 => _ = db.drop_collection(collection.name())?,
        26 => _ = db.rename_collection(collection.name(), &format!("r{}", random.next()))?,
        27 => {
            let documents =
                (0..1 + random.below(6)).map(|_| (key(random), document(random, call))).collect::<Vec<_>>();
            collection.put_many(documents)?;
        }
        23 => db.checkpoint()?,
        24 => _ = db.compact()?,
        25 => while db.maintain()? {},
        28 => _ = collection.create_index(index(random)?)?,
        29 if collection.len().is_ok() => _ = collection.drop_index(INDEXES[random.below(5) as usize])?,
        30 if collection.indexes().is_ok_and(|indexes| !indexes.is_empty()) => {
            let index = collection.indexes()?.swap_remove(0);
            collection.rename_index(index.name(), &format!("r{}", random.next()))?;
        }
        // So many that a checkpoint has leaves which are worth a patch.
        31 if random.below(4) == 0 => {
            let step = 1 + random.below(4) as i64;
            let documents = (0..40 + random.below(160) as i64).map(|n| (n * step, doc! { "call": n }));
            collection.put_many(documents.collect::<Vec<_>>())?;
        }
        _ => _ = db.maintain()?,
    }
    Ok(())
}

const INDEXES: [&str; 5] = ["call", "mixed", "folded", "some", "none"];

/// Of each kind: more paths, a function, a filter, unique and sparse.
fn index(random: &mut Random) -> Result<IndexDefinition> {
    let number = random.below(5) as usize;
    let name = INDEXES[number];
    Ok(match number {
        0 => IndexDefinition::new(name, ["$.call"])?,
        1 => IndexDefinition::new(name, ["-$.text", "$.call"])?,
        2 => IndexDefinition::new(name, ["fold($.text)"])?.sparse(),
        3 => IndexDefinition::new(name, ["$.call"])?.filtered("@.call > 7")?,
        // All documents may lack it.
        _ => IndexDefinition::new(name, ["$.none"])?.unique(),
    })
}

fn key(random: &mut Random) -> Key {
    match random.below(3) {
        0 => Key::Text(format!("key-{}", random.below(12)).as_str().into()),
        1 => Key::Bytes(vec![7; random.below(5) as usize].into()),
        _ => Key::Int(random.below(30) as i64 - 4),
    }
}

/// Mostly short; some take chunks in more than one segment.
fn document(random: &mut Random, call: u64) -> Document {
    let longest = if random.below(6) == 0 { 3000 } else { 60 };
    let text = ["Wren", "WREN", "siskin", ""][random.below(4) as usize];
    doc! { "call": call as i64, "text": text, "filling": Value::Bytes(vec![7; random.below(longest) as usize]) }
}

/// A disk that is looked at now and then before a write or a sync, as a power cut would leave it then.
#[derive(Debug, Clone)]
struct Camera {
    disk: SimDisk,
    roll: Arc<Mutex<Roll>>,
}

#[derive(Debug)]
struct Roll {
    random: Random,
    writes_between: u64,
    pictures: Vec<Vec<u8>>,
}

impl Camera {
    /// A camera that takes a picture of `disk` before one write or sync of so many.
    fn new(disk: SimDisk, seed: u64, writes_between: u64) -> Camera {
        let roll = Roll { random: Random(!seed), writes_between, pictures: Vec::new() };
        Camera { disk, roll: Arc::new(Mutex::new(roll)) }
    }

    fn pictures(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.roll.lock().expect("nobody panics with it").pictures)
    }

    fn look(&self) {
        let mut roll = self.roll.lock().expect("nobody panics with it");
        let writes_between = roll.writes_between;
        if roll.random.below(writes_between) == 0 {
            let after = self.disk.fork();
            after.set_decisions(Decisions::seeded(roll.random.next()));
            after.crash();
            roll.pictures.push(after.bytes());
        }
    }
}

impl Storage for Camera {
    fn len(&self) -> io::Result<u64> {
        self.disk.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.look();
        self.disk.set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.disk.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.look();
        self.disk.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.look();
        self.disk.sync()
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.look();
        self.disk.sync_directory()
    }
}

/// SplitMix64.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
