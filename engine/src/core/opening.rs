//! How the store was opened, for who reads later what opening left unread (spec: ).

use crate::error::{Corruption, Error, Result};
use crate::format::Lsn;
use crate::format::superblock::Superblock;
use crate::index::Catalog;
use crate::sync::{Arc, AtomicBool, Mutex, Ordering, lock};

/// The catalog by the other way, whose documents and entries were read whole; or why it cannot be had.
type Instead = std::result::Result<Arc<Catalog>, Corruption>;

#[derive(Debug)]
pub(crate) struct Opening {
    pub(super) slot: Superblock,
    /// The last commit that it found.
    pub(super) lsn: Lsn,
    /// Which of the checkpoints that the slot names it began with.
    pub(super) position: Option<usize>,
    /// Something of that checkpoint could not be read later.
    has_damage: AtomicBool,
    /// What opening found, by the other way.
    instead: Mutex<Option<Instead>>,
}

impl Opening {
    pub(super) fn new(slot: Superblock, lsn: Lsn, position: Option<usize>) -> Self {
        Opening { slot, lsn, position, has_damage: AtomicBool::new(false), instead: Mutex::new(None) }
    }

    /// Whether something of the checkpoint with which it began could not be read later.
    pub(super) fn has_damage(&self) -> bool {
        self.has_damage.load(Ordering::Acquire)
    }

    pub(super) fn note_damage(&self) {
        self.has_damage.store(true, Ordering::Release);
    }

    /// What opening found, as `recover` finds it by the other way. No lock is held meanwhile.
    pub(super) fn instead(&self, recover: impl FnOnce() -> Result<Catalog>) -> Result<Arc<Catalog>> {
        if let Some(known) = &*lock(&self.instead) {
            return known.clone().map_err(Error::from);
        }
        let found = match recover() {
            Ok(catalog) => Ok(Arc::new(catalog)),
            // What is damaged stays so. What cannot be read may be read later.
            Err(Error::Corrupt(damage)) => Err(damage),
            Err(error) => return Err(error),
        };
        *lock(&self.instead) = Some(found.clone());
        found.map_err(Error::from)
    }

    /// Another checkpoint was taken, and everything was read: what was damaged matters no longer.
    pub(super) fn is_over(&self) {
        self.has_damage.store(false, Ordering::Release);
        *lock(&self.instead) = None;
    }

    #[cfg(feature = "testing")]
    pub(super) fn fork(&self) -> Self {
        let (slot, has_damage) = (self.slot.clone(), AtomicBool::new(self.has_damage()));
        Opening { slot, has_damage, instead: Mutex::new(None), ..*self }
    }
}
