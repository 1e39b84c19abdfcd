//! A disk that keeps a copy of itself after every change, so that a power cut can be tried at each of them.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holotype::storage::sim::SimDisk;
use holotype::storage::{Answer, Probe, Storage};

/// What the store under check takes for its disk. Clones are the same disk.
#[derive(Debug, Clone)]
pub struct Witness {
    disk: SimDisk,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The disk after each change, while somebody wants to know.
    moments: Mutex<Option<Vec<SimDisk>>>,
    is_off: AtomicBool,
    has_changed: AtomicBool,
}

impl Witness {
    /// Passes calls on to `disk`, and keeps nothing until [`Witness::record`].
    pub fn new(disk: SimDisk) -> Self {
        Witness { disk, shared: Arc::default() }
    }

    /// Passes calls on to `disk`, and keeps each moment from the first call on.
    pub fn recording(disk: SimDisk) -> Self {
        let witness = Witness::new(disk);
        witness.record();
        witness
    }

    /// Begins to keep the moments to come, and forgets those before.
    pub fn record(&self) {
        *self.moments() = Some(Vec::new());
    }

    /// The disk after each change since [`Witness::record`], and no more from now on.
    ///
    /// A change is a write or a change of length, whether a sync follows or not, and a sync.
    pub fn take(&self) -> Vec<SimDisk> {
        self.moments().take().unwrap_or_default()
    }

    /// The disk as it is.
    pub fn disk(&self) -> &SimDisk {
        &self.disk
    }

    /// The process is gone: whatever the handle that it left behind tries to do does not reach the disk.
    pub fn switch_off(&self) {
        self.shared.is_off.store(true, Ordering::Relaxed);
    }

    /// Whether a write or a change of length was asked for.
    pub fn changed(&self) -> bool {
        self.shared.has_changed.load(Ordering::Relaxed)
    }

    fn moments(&self) -> MutexGuard<'_, Option<Vec<SimDisk>>> {
        self.shared.moments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn powered(&self) -> io::Result<()> {
        if self.shared.is_off.load(Ordering::Relaxed) {
            return Err(io::Error::other("the process that held this disk is gone"));
        }
        Ok(())
    }

    /// Makes the change, and keeps what the disk is then: a power cut at any time before the next call leaves nothing but
    /// what one at this moment can.
    fn change<T>(&self, call: impl FnOnce(&SimDisk) -> io::Result<T>) -> io::Result<T> {
        self.powered()?;
        let result = call(&self.disk);
        if let Some(moments) = &mut *self.moments() {
            moments.push(self.disk.fork());
        }
        result
    }
}

impl Storage for Witness {
    fn len(&self) -> io::Result<u64> {
        self.powered()?;
        Storage::len(&self.disk)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.shared.has_changed.store(true, Ordering::Relaxed);
        self.change(|disk| disk.set_len(len))
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.powered()?;
        self.disk.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.shared.has_changed.store(true, Ordering::Relaxed);
        self.change(|disk| disk.write_at(offset, bytes))
    }

    fn sync(&self) -> io::Result<()> {
        self.change(Storage::sync)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.change(Storage::sync_directory)
    }

    fn probe(&self, probe: &Probe<'_>) -> io::Result<Option<Vec<Answer>>> {
        self.powered()?;
        self.disk.probe(probe)
    }
}
