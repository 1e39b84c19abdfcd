//! What the machine allows: the same number of durable writes without any store, each way there is.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::Instant;

use crate::failure::{Of, Result, expect_equal};
use crate::latencies::{Latencies, time};
use crate::place;

const NAME: &str = "the machine itself";

/// A sector of most disks, and a page of most systems.
const SECTOR: usize = 512;
const PAGE: usize = 4096;

/// Blocks are overwritten in turn, as in a log that was made long enough once.
const FILE_BYTES: usize = 1 << 20;

/// One way to make a block durable.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    pub name: &'static str,
    block: usize,
    /// Flags of `open`.
    flags: i32,
    /// Whether each write is followed by `fdatasync`; else the flags see to it.
    sync: bool,
    /// Whether the file is as long as it will be, with bytes on the disk, before the clock starts.
    preallocated: bool,
}

const fn way(name: &'static str, block: usize, flags: i32, sync: bool) -> Way {
    Way { name, block, flags, sync, preallocated: true }
}

const DSYNC: i32 = libc::O_DSYNC;
const DIRECT: i32 = libc::O_DIRECT | libc::O_DSYNC;

/// The ways that other workloads look at as well.
pub const OVERWRITE: Way = way("overwrite 512 B, fdatasync", SECTOR, 0, true);
pub const APPEND: Way =
    Way { name: "append 512 B, fdatasync", block: SECTOR, flags: 0, sync: true, preallocated: false };

pub const WAYS: [Way; 6] = [
    way("overwrite 4096 B, fdatasync", PAGE, 0, true),
    OVERWRITE,
    way("overwrite 4096 B, O_DSYNC", PAGE, DSYNC, false),
    way("overwrite 4096 B, O_DIRECT and O_DSYNC", PAGE, DIRECT, false),
    way("overwrite 512 B, O_DIRECT and O_DSYNC", SECTOR, DIRECT, false),
    APPEND,
];

/// Writes `count` blocks to a new file in `directory`, one `way`.
pub fn run(directory: &Path, way: Way, count: u64) -> Result<Latencies> {
    let directory = place::files_of(NAME, directory)?;
    let path = directory.path().join("blocks");
    let zeros = if way.preallocated { FILE_BYTES } else { 0 };
    preallocate(&path, zeros).of(NAME, "preparing a file")?;
    let file = OpenOptions::new().write(true).custom_flags(way.flags).open(&path).of(NAME, way.name)?;

    let mut latencies = Vec::with_capacity(count as usize);
    let mut memory = vec![0; 2 * PAGE];
    let block = aligned(&mut memory, way.block);
    let begun = Instant::now();
    for turn in 0..count {
        block[..8].copy_from_slice(&(turn + 1).to_le_bytes());
        time(&mut latencies, || write(&file, way, turn, block)).of(NAME, way.name)?;
    }
    let latencies = Latencies::new(latencies, begun.elapsed());
    check(&path, way, count)?;
    Ok(latencies)
}

fn preallocate(path: &Path, len: usize) -> io::Result<()> {
    let file = File::create_new(path)?;
    // Zeros that are written, unlike room that is only set aside, leave nothing for later writes to note in the file system.
    file.write_all_at(&vec![0; len], 0)?;
    file.sync_all()
}

/// `len` bytes of `memory` at an address that suits a write past the page cache.
fn aligned(memory: &mut [u8], len: usize) -> &mut [u8] {
    let skipped = memory.as_ptr().align_offset(PAGE);
    &mut memory[skipped..skipped + len]
}

fn offset(way: Way, turn: u64) -> u64 {
    let offset = turn * way.block as u64;
    if way.preallocated { offset % FILE_BYTES as u64 } else { offset }
}

fn write(file: &File, way: Way, turn: u64, block: &[u8]) -> io::Result<()> {
    file.write_all_at(block, offset(way, turn))?;
    if way.sync { file.sync_data() } else { Ok(()) }
}

/// The last block is there, and the file is as long as it should be.
fn check(path: &Path, way: Way, count: u64) -> Result<()> {
    let bytes = std::fs::read(path).of(NAME, way.name)?;
    let at = offset(way, count - 1) as usize;
    expect_equal(NAME, way.name, &count.to_le_bytes().as_slice(), &&bytes[at..at + 8])?;
    let len = if way.preallocated { FILE_BYTES } else { count as usize * way.block };
    expect_equal(NAME, way.name, &len, &bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_leaves_its_last_block_in_a_file_of_the_right_length() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        for way in WAYS {
            let latencies = run(directory.path(), way, 5).unwrap();
            assert!(latencies.per_second() > 0.0, "{}", way.name);
        }
    }

    #[test]
    fn a_preallocated_file_is_overwritten_from_its_start() {
        let blocks = (FILE_BYTES / PAGE) as u64;
        assert_eq!(offset(WAYS[0], blocks + 1), PAGE as u64);
        assert_eq!(offset(WAYS[5], blocks + 1), (blocks + 1) * SECTOR as u64);
    }
}
