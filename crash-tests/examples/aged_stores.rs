//! Writes files for the second reader (`spec/reader/differential.py`): stores of tiny segments that have seen checkpoints, cleaning, reuse,
//! compaction and openings, as a power cut before some write or sync would leave them, and as a close leaves them.
//!
//! ```text
//! cargo run --release -p holotype-crash-tests --example aged_stores -- DIRECTORY FIRST_SEED COUNT
//! ```
//!
//! `SEED-NUMBER.holotype` is the file after the power cut of that number, `SEED-closed.holotype` the one at the end.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use holotype::storage::Storage;
use holotype::storage::sim::{Decisions, Level, SimDisk};
use holotype::{Db, Document, Durability, Key, Options, Value, doc};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, first, count] = arguments.as_slice() else {
        return Err("usage: aged_stores DIRECTORY FIRST_SEED COUNT".into());
    };
    let (first, count): (u64, u64) = (first.parse()?, count.parse()?);
    for seed in first..first + count {
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
    let camera = Camera {
        disk: SimDisk::new(sector, Level::Sectors),
        roll: Arc::new(Mutex::new(Roll { random: Random(!seed), pictures: Vec::new() })),
    };
    let mut db = Db::open_on(camera.clone(), &options)?;
    for call in 0..CALLS {
        if random.below(40) == 0 {
            db.close()?;
            db = Db::open_on(camera.clone(), &options)?;
        }
        one_call(&db, &mut random, call)?;
    }
    db.close()?;
    let pictures = std::mem::take(&mut camera.roll.lock().expect("nobody panics with it").pictures);
    let mut files: Vec<_> =
        pictures.into_iter().enumerate().map(|(n, bytes)| (n.to_string(), bytes)).collect();
    files.push(("closed".to_owned(), camera.disk.bytes()));
    Ok(files)
}

fn one_call(db: &Db, random: &mut Random, call: u64) -> Result<()> {
    let durability = if random.below(3) == 0 { Durability::Synced } else { Durability::Written };
    let collection = db.collection(["a", "b", "c"][random.below(3) as usize]).with_durability(durability);
    match random.below(32) {
        0..=14 => collection.put(key(random), document(random, call))?,
        15..=20 if collection.len().is_ok() => _ = collection.delete(key(random))?,
        21 if collection.len().is_ok() => collection.clear()?,
        22 => _ = db.drop_collection(collection.name())?,
        23 => db.checkpoint()?,
        24 => _ = db.compact()?,
        25 => while db.maintain()? {},
        _ => _ = db.maintain()?,
    }
    Ok(())
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
    doc! { "call": call as i64, "filling": Value::Bytes(vec![7; random.below(longest) as usize]) }
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
    pictures: Vec<Vec<u8>>,
}

impl Camera {
    fn look(&self) {
        let mut roll = self.roll.lock().expect("nobody panics with it");
        if roll.random.below(WRITES_BETWEEN_PICTURES) == 0 {
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
