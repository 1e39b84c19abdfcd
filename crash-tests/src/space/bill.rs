//! What a workload costs, held against what it costs at most.

use holotype::Stats;

use super::measured::Measured;

/// What is counted.
const ITEMS: [&str; 6] = [
    "bytes moved and written for maintenance, for a thousand of callers'",
    "slots written",
    "syncs",
    "bytes of the file on the mean, for a thousand that are live",
    "bytes of the file at rest, for a thousand that are live",
    "bytes moved by a compaction behind that, for a thousand that are live",
];

/// What a workload costs beside what callers write, in the order of [`ITEMS`]. All of it follows from the workload alone: what is a little
/// more than it was when it was written down is a change of what is done when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bill(pub(super) [u64; 6]);

impl Bill {
    /// Nothing of it is more than that of `most`.
    pub(super) fn is_within(&self, most: &Bill) -> Result<(), String> {
        for ((cost, most), item) in self.0.iter().zip(most.0).zip(ITEMS) {
            if *cost > most {
                return Err(format!("{cost} {item}, where {most} are the most: {self:?}"));
            }
        }
        Ok(())
    }
}

/// Measures while a workload goes on.
pub(super) struct Meter {
    before: Stats,
    lens: u64,
    looks: u64,
}

impl Meter {
    pub(super) fn new(store: &Measured) -> Self {
        Meter { before: store.db.stats(), lens: 0, looks: 0 }
    }

    pub(super) fn look(&mut self, store: &Measured) {
        self.lens += len(&store.db.stats());
        self.looks += 1;
    }

    /// What it came to, behind which a compaction has moved so many bytes for a thousand that are live.
    pub(super) fn bill(&self, at_rest: &Stats, compacted: u64) -> Bill {
        let before = &self.before;
        let work = |stats: &Stats| stats.space.relocated_bytes + stats.space.checkpoint_written_bytes;
        let user = at_rest.space.user_bytes - before.space.user_bytes;
        let moved = (work(at_rest) - work(before)) * 1000 / user.max(1);
        let slots = at_rest.superblock_generation - before.superblock_generation;
        let mean = self.lens / self.looks.max(1);
        Bill([moved, slots, at_rest.syncs - before.syncs, mean, len(at_rest), compacted])
    }
}

/// The length of the file, for a thousand bytes that are live.
fn len(stats: &Stats) -> u64 {
    stats.file_bytes * 1000 / (stats.space.live_bytes + stats.space.checkpoint_bytes).max(1)
}
