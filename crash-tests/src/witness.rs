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
    /// Nobody cuts power here.
    is_unwatched: AtomicBool,
    is_off: AtomicBool,
    has_changed: AtomicBool,
    was_cut: AtomicBool,
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

    /// Begins to keep the moments to come, and forgets those before; unless nobody wants any.
    pub fn record(&self) {
        *self.moments() = (!self.shared.is_unwatched.load(Ordering::Relaxed)).then(Vec::new);
    }

    /// From now on no moments are kept, whoever begins to: a copy of the disk at each change, and of all that the next change touches, is most of
    /// what a life costs, and nobody cuts power in this one.
    pub fn look_away(&self) {
        self.shared.is_unwatched.store(true, Ordering::Relaxed);
    }

    /// What the next life on the same disk takes for it. Moments are kept from its first call on, if they are kept of this life.
    #[must_use]
    pub fn of_next_life(&self) -> Self {
        let next = Witness::new(self.disk.clone());
        let is_unwatched = self.shared.is_unwatched.load(Ordering::Relaxed);
        next.shared.is_unwatched.store(is_unwatched, Ordering::Relaxed);
        next.record();
        next
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

    /// Whether the file was made shorter.
    pub fn was_cut(&self) -> bool {
        self.shared.was_cut.load(Ordering::Relaxed)
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
        let is_cut = Storage::len(&self.disk)? > len;
        self.change(|disk| disk.set_len(len))?;
        self.shared.was_cut.fetch_or(is_cut, Ordering::Relaxed);
        Ok(())
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

#[cfg(test)]
mod tests {
    use holotype::storage::sim::Level;

    use super::*;

    fn write(witness: &Witness) {
        witness.write_at(0, b"a").expect("nothing is wrong with the disk");
    }

    #[test]
    fn where_nobody_cuts_power_no_moments_are_kept_nor_in_the_lives_after_it() {
        let watched = Witness::recording(SimDisk::new(64, Level::Sectors));
        write(&watched);
        assert_eq!(watched.take().len(), 1);
        let next = watched.of_next_life();
        write(&next);
        assert_eq!(next.take().len(), 1, "a life is watched as the one before was");
        next.look_away();
        next.record();
        write(&next);
        let last = next.of_next_life();
        write(&last);
        assert!(next.take().is_empty() && last.take().is_empty());
    }
}
