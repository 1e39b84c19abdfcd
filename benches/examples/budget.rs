//! What a store of many names takes in memory when only so much of its index may stay there, and what a get costs then. Making the store is
//! a step of its own.
//!
//! ```text
//! budget make FILE NAMES BYTES
//! budget get FILE GETS BYTES
//! ```
//!
//! `BYTES` is [`Options::index_bytes`], or `all`. Memory is the peak that the system counts for the process (Linux).

use std::error::Error;
use std::time::Instant;

use holotype::{Db, Durability, Options, doc};

const COLLECTION: &str = "documents";
const BATCH: u64 = 1000;
const CACHE_BYTES: usize = 16 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", file, names, bytes] => make(file, names.parse()?, &options(bytes)?)?,
        ["get", file, gets, bytes] => get(file, gets.parse()?, &options(bytes)?)?,
        _ => return Err("budget make FILE NAMES BYTES, or budget get FILE GETS BYTES".into()),
    }
    let status = std::fs::read_to_string("/proc/self/status")?;
    status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
    Ok(())
}

fn options(bytes: &str) -> Result<Options, Box<dyn Error>> {
    let options = Options::new().durability(Durability::Buffered).cache_bytes(CACHE_BYTES);
    if bytes == "all" {
        return Ok(options);
    }
    let bytes: u64 = bytes.parse()?;
    // What changed since the checkpoint before the newest stays in memory.
    Ok(options.index_bytes(bytes).checkpoint_bytes((bytes / 4).clamp(1 << 20, 16 << 20)))
}

/// Names in an order that looks random.
fn name(number: u64) -> String {
    format!("{:016x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

fn make(file: &str, names: u64, options: &Options) -> Result<(), Box<dyn Error>> {
    let db = Db::open_with(file, options)?;
    let begun = Instant::now();
    for first in (0..names).step_by(BATCH as usize) {
        db.write(|tx| {
            let to = tx.collection(COLLECTION);
            for number in first..(first + BATCH).min(names) {
                to.put(&*name(number), doc! { "number": number as i64 })?;
            }
            Ok::<_, holotype::Error>(())
        })?;
    }
    let stats = db.stats();
    println!("{:?}, {} leaves given up", begun.elapsed(), stats.leaves_given_up);
    println!(
        "{} bytes written, {} of them checkpoints",
        stats.written_bytes, stats.space.checkpoint_written_bytes
    );
    Ok(db.close()?)
}

fn get(file: &str, gets: u64, options: &Options) -> Result<(), Box<dyn Error>> {
    let db = Db::open_with(file, options)?;
    let documents = db.collection(COLLECTION);
    let names = documents.len()?;
    // Each turn has as many gets; the last one is met warm.
    let mut random = 1_u64;
    for turn in 1..=4 {
        let begun = Instant::now();
        for _ in 0..gets {
            // Knuth's MMIX.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            assert!(documents.get(&*name((random >> 24) % names))?.is_some(), "it was put there");
        }
        let each = begun.elapsed().as_nanos() / u128::from(gets);
        println!("turn {turn}: {each} ns a get, {} bytes of index", db.stats().index_bytes);
    }
    println!("{} leaves given up", db.stats().leaves_given_up);
    Ok(())
}
