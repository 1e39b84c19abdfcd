//! How the store was opened, for who reads later what opening left unread (spec: ).

use crate::error::{Corruption, Error, Result};
use crate::format::Lsn;
use crate::format::superblock::{CheckpointRef, Superblock};
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
    since: Mutex<Since>,
}

/// What came of checkpoints since.
#[derive(Debug, Clone, Default)]
struct Since {
    /// Those that both slots name, the newest first; none where none was written since.
    named: Vec<CheckpointRef>,
    /// The one that what could not be read was taken from.
    sound: Option<CheckpointRef>,
}

impl Opening {
    pub(super) fn new(slot: Superblock, lsn: Lsn, position: Option<usize>) -> Self {
        let (has_damage, instead, since) = (AtomicBool::new(false), Mutex::default(), Mutex::default());
        Opening { slot, lsn, position, has_damage, instead, since }
    }

    /// Whether something that it left unread could not be read later.
    pub(super) fn has_damage(&self) -> bool {
        self.has_damage.load(Ordering::Acquire)
    }

    /// Something could not be read, and `sound` has it, if that was written since.
    pub(super) fn note_damage(&self, sound: Option<CheckpointRef>) {
        lock(&self.since).sound = sound;
        self.has_damage.store(true, Ordering::Release);
    }

    /// The checkpoints that both slots name, the newest first; none where none was written since.
    pub(super) fn named_since(&self) -> Vec<CheckpointRef> {
        lock(&self.since).named.clone()
    }

    /// The newest of them that is known to have what could not be read; none where none was written since.
    pub(super) fn sound_since(&self) -> Option<CheckpointRef> {
        let since = lock(&self.since);
        since.sound.or_else(|| since.named.first().copied())
    }

    /// What opening found, as `recover` finds it by the other way. No lock is held meanwhile.
    pub(super) fn instead(&self, recover: impl FnOnce() -> Result<Catalog>) -> Result<Arc<Catalog>> {
        if let Some(known) = &*lock(&self.instead) {
            return known.clone().map_err(Error::from);
        }
        let found = match recover() {
            Ok(catalog) => Ok(Arc::new(catalog)),
            // What is damaged stays so. What cannot be read may be read later.
            Err(error) => Err(error.into_damage()?),
        };
        *lock(&self.instead) = Some(found.clone());
        found.map_err(Error::from)
    }

    /// Both slots name these, the newest of which was written since the opening. Damage matters no longer once a
    /// checkpoint is named that was begun after it was found: that one took nothing over, and names what is sound.
    pub(super) fn checkpoint_named(&self, named: Vec<CheckpointRef>, is_after_damage: bool) {
        let sound = lock(&self.since).sound.filter(|_| !is_after_damage);
        *lock(&self.since) = Since { named, sound };
        *lock(&self.instead) = None;
        if is_after_damage {
            self.has_damage.store(false, Ordering::Release);
        }
    }

    /// What of it changes what comes later.
    #[cfg(feature = "testing")]
    pub(super) fn fingerprint(&self) -> String {
        format!("{}{:?}", self.has_damage(), lock(&self.since))
    }

    #[cfg(feature = "testing")]
    pub(super) fn fork(&self) -> Self {
        let (slot, has_damage) = (self.slot.clone(), AtomicBool::new(self.has_damage()));
        let since = Mutex::new(lock(&self.since).clone());
        Opening { slot, has_damage, instead: Mutex::default(), since, ..*self }
    }
}
