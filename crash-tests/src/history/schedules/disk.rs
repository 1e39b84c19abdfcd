//! A simulated disk that keeps a copy of itself at the beginning of each sync, and counts the places that are used again.

use std::io;
use std::mem::take;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holotype::format::segment::{SEGMENT_HEADER_LEN, SegmentKind};
use holotype::format::{Geometry, SEGMENTS_START};
use holotype::storage::sim::SimDisk;
use holotype::storage::{Answer, Probe, Storage};

/// The disk as it was when a sync began: between the first time and the second, on the clock of the history.
#[derive(Debug)]
pub(super) struct Moment {
    pub(super) invoked: u64,
    pub(super) returned: u64,
    pub(super) image: SimDisk,
}

/// What the store takes for its disk. Clones are the same disk.
#[derive(Debug, Clone)]
pub(super) struct SyncedDisk {
    disk: SimDisk,
    geometry: Geometry,
    clock: Arc<AtomicU64>,
    // Never held across a step of the scheduler's.
    syncs: Arc<Mutex<Vec<Moment>>>,
    reused: Arc<AtomicU64>,
}

impl SyncedDisk {
    pub(super) fn new(disk: SimDisk, geometry: Geometry, clock: Arc<AtomicU64>) -> Self {
        SyncedDisk { disk, geometry, clock, syncs: Arc::default(), reused: Arc::default() }
    }

    pub(super) fn disk(&self) -> &SimDisk {
        &self.disk
    }

    /// The moments of all syncs so far, which are forgotten.
    pub(super) fn take_syncs(&self) -> Vec<Moment> {
        take(&mut self.syncs())
    }

    /// How many log segments were begun in the place of another.
    pub(super) fn reused(&self) -> u64 {
        self.reused.load(Ordering::Relaxed)
    }

    fn syncs(&self) -> MutexGuard<'_, Vec<Moment>> {
        self.syncs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a write that begins a log segment where a different one has begun.
    fn note_reuse(&self, offset: u64, bytes: &[u8]) {
        let begins = offset >= SEGMENTS_START
            && (offset - SEGMENTS_START).is_multiple_of(u64::from(self.geometry.segment_bytes()));
        let Some(header) = bytes.first_chunk::<SEGMENT_HEADER_LEN>().filter(|_| begins) else { return };
        let mut before = [0; SEGMENT_HEADER_LEN];
        // A file that is shorter has nothing there.
        let have = self.disk.fork().read_at(offset, &mut before).unwrap_or(0);
        let is_log = |header: &[u8]| header.starts_with(&SegmentKind::Log.magic());
        if have == before.len() && is_log(&before) && is_log(header) && before != *header {
            self.reused.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Storage for SyncedDisk {
    fn len(&self) -> io::Result<u64> {
        Storage::len(&self.disk)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.disk.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.note_reuse(offset, bytes);
        self.disk.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        let tick = || self.clock.fetch_add(1, Ordering::SeqCst);
        let invoked = tick();
        let image = self.disk.fork();
        let moment = Moment { invoked, returned: tick(), image };
        self.syncs().push(moment);
        self.disk.sync()
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.disk.sync_directory()
    }

    fn probe(&self, probe: &Probe<'_>) -> io::Result<Option<Vec<Answer>>> {
        self.disk.probe(probe)
    }
}
