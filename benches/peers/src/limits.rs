//! What the machine does without a store, so that a row can be read as a multiple of it: bytes copied, looked up, summed up, handed
//! to the system, made durable.

use std::collections::HashMap;
use std::hint::black_box;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use holotype_benches::workload::UniformIds;

use crate::durable::limits as durable;
use crate::failure::{Of, Result, expect_equal};
use crate::place;
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::turns::{Contender, take_turns};

const NAME: &str = "the machine itself";

/// The workload, and the records of it.
pub const WORKLOAD: &str = "limits";

/// Bytes of a record: those of the documents that YCSB's mixes read and write.
const RECORD: usize = 1_000;

/// Bytes of a long copy: beyond the caches that a core has for itself.
const LONG: usize = 16 << 20;

/// Entries that are looked up, and how many calls of each kind are timed.
const ENTRIES: u64 = 1_000_000;
const CALLS: u64 = 200_000;
const LONG_CALLS: u64 = 20;
const SYNCS: u64 = 300;

/// What each took, in nanoseconds for a call.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    pub copy: f64,
    /// For a mebibyte.
    pub long_copy: f64,
    pub lookup: f64,
    pub checksum: f64,
    pub write: f64,
    pub append_synced: f64,
    pub overwrite_synced: f64,
}

/// A name, and where its figure is.
pub type Row = (&'static str, fn(&Limits) -> f64);

pub const ROWS: [Row; 7] = [
    ("memcpy of 1,000 B in the cache", |limits| limits.copy),
    ("memcpy of 16 MiB, for 1 MiB", |limits| limits.long_copy),
    ("look-up in a hash map of 1,000,000", |limits| limits.lookup),
    ("CRC-32C of 1,000 B", |limits| limits.checksum),
    ("pwrite of 1,000 B", |limits| limits.write),
    ("append of 512 B, fdatasync", |limits| limits.append_synced),
    ("overwrite of 512 B, fdatasync", |limits| limits.overwrite_synced),
];

/// One trial of all.
pub fn measure(directory: &Path) -> Result<Limits> {
    let record: Vec<u8> = (0..RECORD).map(|i| i as u8).collect();
    Ok(Limits {
        copy: copies(&record, CALLS)?,
        long_copy: copies(&vec![7; LONG], LONG_CALLS)? / (LONG >> 20) as f64,
        lookup: lookups()?,
        checksum: checksums(&record)?,
        write: writes(&record, directory)?,
        append_synced: synced(directory, durable::APPEND)?,
        overwrite_synced: synced(directory, durable::OVERWRITE)?,
    })
}

/// Nanoseconds of a call of `work`, `count` times.
fn nanos_of_each(count: u64, work: impl FnMut(u64)) -> f64 {
    let begun = Instant::now();
    (0..count).for_each(work);
    begun.elapsed().as_secs_f64() * 1e9 / count as f64
}

fn copies(from: &[u8], count: u64) -> Result<f64> {
    let mut to = vec![0; from.len()];
    let nanos = nanos_of_each(count, |_| black_box(&mut to).copy_from_slice(black_box(from)));
    expect_equal(NAME, "what was copied", &true, &(to == from))?;
    Ok(nanos)
}

fn lookups() -> Result<f64> {
    let map: HashMap<u64, u64> = (1..=ENTRIES).map(|id| (id, id)).collect();
    let ids: Vec<u64> = UniformIds::new(ENTRIES).take(CALLS as usize).map(i64::unsigned_abs).collect();
    let mut sum = 0;
    let nanos = nanos_of_each(CALLS, |call| sum += map.get(&ids[call as usize]).copied().unwrap_or_default());
    expect_equal(NAME, "the sum of what was looked up", &ids.iter().sum(), &sum)?;
    Ok(nanos)
}

fn checksums(record: &[u8]) -> Result<f64> {
    let mut last = 0;
    let nanos = nanos_of_each(CALLS, |_| last = crc32c::crc32c(black_box(record)));
    expect_equal(
        NAME,
        "a checksum",
        &crc32c::crc32c_append(crc32c::crc32c(&record[..9]), &record[9..]),
        &last,
    )?;
    Ok(nanos)
}

/// One record behind the other, as a log has them, into a file that is long enough.
fn writes(record: &[u8], directory: &Path) -> Result<f64> {
    let directory = place::files_of(NAME, directory)?;
    let path = directory.path().join("records");
    let file = std::fs::File::create_new(&path).of(NAME, "creating a file")?;
    let len = 64 * RECORD as u64;
    file.write_all_at(&vec![0; len as usize], 0).of(NAME, "preparing a file")?;
    let mut written: io::Result<()> = Ok(());
    let nanos = nanos_of_each(CALLS, |call| {
        let result = file.write_all_at(record, call * RECORD as u64 % len);
        if result.is_err() {
            written = result;
        }
    });
    written.of(NAME, "pwrite")?;
    let bytes = std::fs::read(&path).of(NAME, "reading what was written")?;
    expect_equal(
        NAME,
        "what was written",
        &true,
        &(bytes.len() as u64 == len && bytes.chunks(RECORD).all(|at| at == record)),
    )?;
    Ok(nanos)
}

fn synced(directory: &Path, way: durable::Way) -> Result<f64> {
    Ok(durable::run(directory, way, SYNCS)?.micros(0.5) * 1e3)
}

/// The records of trials.
pub fn records(workload: &str, trials: &Contender<Limits>) -> Vec<Record> {
    let record = |(name, figure): Row| Record::of([workload, name], ("ns", Better::Less), trials, figure);
    ROWS.map(record).into()
}

/// The medians of all trials.
pub fn medians(trials: &Contender<Limits>) -> Limits {
    let median = |row: usize| trials.spread(ROWS[row].1).median;
    Limits {
        copy: median(0),
        long_copy: median(1),
        lookup: median(2),
        checksum: median(3),
        write: median(4),
        append_synced: median(5),
        overwrite_synced: median(6),
    }
}

/// One that takes its turn among others.
pub fn contender(plan: &Plan) -> Contender<Limits> {
    let directory = plan.directory.clone();
    Contender::new("the machine", move || measure(&directory))
}

/// Prints the table of what the machine does.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let mut contenders = [contender(plan)];
    take_turns(WORKLOAD, &mut contenders, plan.trials)?;
    report.add(records(WORKLOAD, &contenders[0]));
    println!("## What the machine does without a store\n\n{}", report.table(WORKLOAD));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_takes_time() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let limits = measure(directory.path()).unwrap();
        for (name, figure) in ROWS {
            assert!(figure(&limits) > 0.0, "{name}");
        }
    }
}
