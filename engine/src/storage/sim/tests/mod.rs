//! What the simulated disk does, and that the explorer misses nothing of it.

mod calls;
mod certify;
mod crashes;
mod damage;
mod legal;
mod probes;

use super::decisions::splitmix;
use super::{Level, SimDisk, naive};
use crate::storage::Storage;

const LEVELS: [Level; 4] = [Level::Prefix, Level::Pages, Level::Sectors, Level::Garbage];

/// A source of small numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 += 1;
        splitmix(self.0) % bound
    }
}

/// One change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    Write(u64, Vec<u8>),
    SetLen(u64),
}

impl Change {
    /// A change near the front of a small file. There are few different bytes, so that equal versions are met.
    fn random(random: &mut Random, reach: u64) -> Self {
        if random.below(6) == 0 {
            return Change::SetLen(random.below(reach));
        }
        let (offset, len) = (random.below(reach), 1 + random.below(100));
        // Often whole sectors, so that some are overwritten unread.
        let (offset, len) = if random.below(2) == 0 { (offset / 64 * 64, 64) } else { (offset, len) };
        Change::Write(offset, vec![1 + random.below(2) as u8; len as usize])
    }

    fn make(&self, disk: &SimDisk) {
        match self {
            Change::Write(offset, bytes) => assert_eq!(disk.write_at(*offset, bytes).unwrap(), bytes.len()),
            Change::SetLen(len) => disk.set_len(*len).unwrap(),
        }
    }
}

/// A disk with sectors of 64 bytes and a durable file of these bytes.
fn disk_with(level: Level, bytes: &[u8]) -> SimDisk {
    SimDisk::from_bytes(64, level, bytes)
}

/// Every content that the file may have, in order and each once.
fn images(disk: &SimDisk) -> Vec<Vec<u8>> {
    let all = naive(disk, 1 << 16).expect("few enough to name");
    let mut images: Vec<_> = all.iter().map(SimDisk::bytes).collect();
    images.sort();
    images.dedup();
    images
}
