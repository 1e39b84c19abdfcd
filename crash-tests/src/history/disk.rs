//! A simulated disk that takes its time, so that threads meet in the middle of things.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::yield_now;

use holotype::storage::sim::SimDisk;
use holotype::storage::{Answer, Probe, Storage};
use holotype_model::check::Rng;

/// What the store takes for its disk. Clones are the same disk.
#[derive(Debug, Clone)]
pub struct SlowDisk {
    disk: SimDisk,
    seed: u64,
    calls: Arc<AtomicU64>,
}

impl SlowDisk {
    /// Passes calls on to `disk`; how long each takes follows from `seed`.
    pub fn new(disk: SimDisk, seed: u64) -> Self {
        SlowDisk { disk, seed, calls: Arc::default() }
    }

    /// The disk behind it.
    pub fn disk(&self) -> &SimDisk {
        &self.disk
    }

    /// Makes the call, with other threads let in before and after, up to `yields_max` times each.
    ///
    /// A sync that takes its time first covers more than it must, and shows what was visible too early; one that takes its time
    /// afterwards covers no more than it must.
    fn slowly<T>(&self, yields_max: usize, call: impl FnOnce(&SimDisk) -> T) -> T {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut rng = Rng::seeded(self.seed.wrapping_add(number << 32));
        let mut wait = || {
            if rng.one_in(2) {
                (0..rng.below(yields_max + 1)).for_each(|_| yield_now());
            }
        };
        wait();
        let result = call(&self.disk);
        wait();
        result
    }
}

impl Storage for SlowDisk {
    fn len(&self) -> io::Result<u64> {
        Storage::len(&self.disk)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.slowly(2, |disk| disk.set_len(len))
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.slowly(3, |disk| disk.read_at(offset, out))
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.slowly(3, |disk| disk.write_at(offset, bytes))
    }

    fn sync(&self) -> io::Result<()> {
        self.slowly(24, Storage::sync)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.disk.sync_directory()
    }

    fn probe(&self, probe: &Probe<'_>) -> io::Result<Option<Vec<Answer>>> {
        self.disk.probe(probe)
    }
}
