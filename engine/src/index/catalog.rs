//! The catalog in memory: which collection a name means, in every state that somebody can still see.

use std::collections::BTreeSet;
use std::ops::Bound;

use crate::document::{Document, Key, KeyRef};
use crate::format::LogAddress;
use crate::format::catalog::CatalogChange;
use crate::sync::race::{Race, weakened};
use crate::sync::{Arc, AtomicU64, Ordering};

use super::{Entries, KeyRange, MixedIndex, PrimaryIndex, State};

/// No record ever stands there: what has this end is still in force.
const FOREVER: u64 = u64::MAX;

/// The documents of one collection id.
#[derive(Debug)]
pub(crate) struct Documents {
    pub(crate) id: u32,
    pub(crate) index: MixedIndex,
    /// Live documents in the visible state, and the end of the commit since which there are so many. Both change under the lock of
    /// visibility, the second one first: who sees a count sees a commit no older than the one that it comes from.
    len: AtomicU64,
    len_since: AtomicU64,
    /// Live documents after the newest commit, visible or not; only the writer changes it.
    newest_len: AtomicU64,
    /// The largest int key ever put there, or 0; only the writer changes it.
    largest_id: AtomicU64,
    /// What a newer version has written about the collection (spec: F-7.3).
    pub(crate) kept: Document,
}

impl Documents {
    pub(crate) fn new(id: u32, page_shift: u32) -> Self {
        Documents {
            id,
            index: MixedIndex::new(page_shift),
            len: AtomicU64::new(0),
            len_since: AtomicU64::new(0),
            newest_len: AtomicU64::new(0),
            largest_id: AtomicU64::new(0),
            kept: Document::new(),
        }
    }

    /// The same, of which a newer version has written this.
    pub(crate) fn with_kept(self, kept: Document) -> Self {
        Documents { kept, ..self }
    }

    /// How many documents there are in the visible state.
    pub(crate) fn len(&self) -> u64 {
        self.len.load(Ordering::Acquire)
    }

    /// As [`len`](Self::len), and since when.
    pub(crate) fn len_since(&self) -> (u64, LogAddress) {
        (self.len(), LogAddress(self.len_since.load(Ordering::Relaxed)))
    }

    pub(crate) fn set_len(&self, len: u64, since: LogAddress) {
        self.len_since.store(since.0, Ordering::Relaxed);
        self.len.store(len, weakened(Race::LenRelaxed, Ordering::Release));
    }

    /// How many documents there are after the newest commit.
    pub(crate) fn newest_len(&self) -> u64 {
        self.newest_len.load(Ordering::Relaxed)
    }

    pub(crate) fn set_newest_len(&self, len: u64) {
        self.newest_len.store(len, Ordering::Relaxed);
    }

    pub(crate) fn largest_id(&self) -> i64 {
        self.largest_id.load(Ordering::Relaxed) as i64
    }

    //= spec/semantics.md#s-4-2-largest-id
    //# A put under an int key above the largest id MUST make that key the largest id, whichever call puts.
    //= spec/semantics.md#s-4-2-largest-id
    //# A store MUST NOT lower the largest id of a collection: not by a delete, a clear, a rename, cleaning, a
    //# crash or reopening.
    /// Takes note that `key` was put.
    pub(crate) fn note_key(&self, key: i64) {
        if key > self.largest_id() {
            self.largest_id.store(key.unsigned_abs(), Ordering::Relaxed);
        }
    }

    /// Sets the largest int key back to what it was.
    pub(crate) fn set_largest_id(&self, id: i64) {
        self.largest_id.store(id.unsigned_abs(), Ordering::Relaxed);
    }

    /// The seeded bug of a counter that is not part of the state.
    pub(crate) fn forget_deleted_ids(&self) {
        let mut last = Entries::default();
        let ints = KeyRange { from: Bound::Unbounded, to: Bound::Included(Key::Int(i64::MAX)) };
        self.index.page(&ints, true, 1, &mut last);
        let largest = last.last_key().map_or(0, |key| if let KeyRef::Int(id) = key { id } else { 0 });
        self.set_largest_id(largest.max(0));
    }

    #[cfg(feature = "testing")]
    pub(crate) fn fork(&self) -> Self {
        Documents {
            id: self.id,
            index: self.index.fork(),
            len: AtomicU64::new(self.len()),
            len_since: AtomicU64::new(self.len_since.load(Ordering::Relaxed)),
            newest_len: AtomicU64::new(self.newest_len()),
            largest_id: AtomicU64::new(self.largest_id.load(Ordering::Relaxed)),
            kept: self.kept.clone(),
        }
    }
}

/// One meaning of one name, from one commit to another.
#[derive(Debug)]
pub(crate) struct Naming {
    pub(crate) name: String,
    pub(crate) documents: Arc<Documents>,
    from: LogAddress,
    until: AtomicU64,
}

impl Naming {
    /// Whether the name still means this collection after the newest commit, visible or not.
    pub(crate) fn is_current(&self) -> bool {
        self.until.load(Ordering::Acquire) == FOREVER
    }

    pub(crate) fn is_in(&self, state: State) -> bool {
        self.from < state.address && state.address.0 <= self.until.load(Ordering::Acquire)
    }
}

/// All namings that are in force, or that a snapshot may still see.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    namings: Vec<Arc<Naming>>,
    /// The highest collection id ever given.
    last_id: u32,
    /// What a newer version has written in the root of the checkpoint that was read (spec: F-7.3).
    pub(crate) kept: Document,
}

impl Catalog {
    /// What `name` means in `state`.
    pub(crate) fn find_in(&self, name: &str, state: State) -> Option<&Arc<Naming>> {
        self.namings.iter().find(|naming| naming.name == name && naming.is_in(state))
    }

    /// What `name` means after the newest commit, published or not.
    pub(crate) fn find(&self, name: &str) -> Option<&Arc<Naming>> {
        self.namings.iter().find(|naming| naming.name == name && naming.is_current())
    }

    /// The collection of this id, if it still goes on.
    pub(crate) fn by_id(&self, id: u32) -> Option<&Arc<Naming>> {
        self.namings.iter().find(|naming| naming.documents.id == id && naming.is_current())
    }

    /// The namings in force after the newest commit.
    pub(crate) fn current(&self) -> impl Iterator<Item = &Arc<Naming>> {
        self.namings.iter().filter(|naming| naming.is_current())
    }

    /// The namings of `state`.
    pub(crate) fn in_state(&self, state: State) -> impl Iterator<Item = &Arc<Naming>> {
        self.namings.iter().filter(move |naming| naming.is_in(state))
    }

    /// The collections that have ended, and are still there in one of `states`.
    pub(crate) fn ended_in(&self, states: &[State]) -> BTreeSet<u32> {
        let ended = self.namings.iter().filter(|naming| !naming.is_current());
        let held = ended.filter(|naming| states.iter().any(|state| naming.is_in(*state)));
        let mut ids: BTreeSet<u32> = held.map(|naming| naming.documents.id).collect();
        // What has another name now has not ended.
        self.current().for_each(|naming| _ = ids.remove(&naming.documents.id));
        ids
    }

    /// A collection as a checkpoint has it. None where id or name is there already.
    pub(crate) fn load(&mut self, name: String, documents: Arc<Documents>) -> Option<()> {
        if self.find(&name).is_some() || self.by_id(documents.id).is_some() {
            return None;
        }
        self.begin(name, documents, LogAddress(0));
        Some(())
    }

    /// The documents of every naming.
    #[cfg(feature = "testing")]
    pub(crate) fn documents(&self) -> impl Iterator<Item = &Arc<Documents>> {
        self.namings.iter().map(|naming| &naming.documents)
    }

    pub(crate) fn last_id(&self) -> u32 {
        self.last_id
    }

    /// Carries out a catalog record that stands at `at`. `begins` are the documents of the collection that it begins, if it does.
    /// None, and nothing changed, where it does not fit the catalog as it is.
    pub(crate) fn carry_out(
        &mut self,
        change: &CatalogChange,
        begins: Option<Arc<Documents>>,
        at: LogAddress,
    ) -> Option<()> {
        if begins.as_ref().is_some_and(|documents| documents.id <= self.last_id) {
            return None;
        }
        match change {
            CatalogChange::Create { name, .. } => {
                if self.find(name).is_some() {
                    return None;
                }
                self.begin(name.clone(), begins?, at);
            }
            CatalogChange::Drop { id } => {
                self.end(*id, at)?;
            }
            CatalogChange::Clear { id, .. } => {
                let documents = begins?;
                let old = self.end(*id, at)?;
                documents.note_key(old.documents.largest_id());
                self.begin(old.name.clone(), documents, at);
            }
            CatalogChange::Rename { id, name } => {
                if self.find(name).is_some() {
                    return None;
                }
                let old = self.end(*id, at)?;
                self.begin(name.clone(), Arc::clone(&old.documents), at);
            }
        }
        Some(())
    }

    /// `name` means `documents` from the record at `at` on.
    fn begin(&mut self, name: String, documents: Arc<Documents>, at: LogAddress) {
        assert!(self.find(&name).is_none(), "{name:?} is free");
        self.last_id = self.last_id.max(documents.id);
        self.namings.push(Arc::new(Naming { name, documents, from: at, until: AtomicU64::new(FOREVER) }));
    }

    /// The collection of this id has its name no longer, from the record at `at` on.
    fn end(&mut self, id: u32, at: LogAddress) -> Option<Arc<Naming>> {
        let naming = Arc::clone(self.by_id(id)?);
        naming.until.store(at.0, Ordering::Release);
        Some(naming)
    }

    /// Forgets the namings that neither the newest commit nor any of `states` holds.
    pub(crate) fn purge(&mut self, states: &[State]) {
        self.namings.retain(|naming| naming.is_current() || states.iter().any(|state| naming.is_in(*state)));
    }

    /// Takes back what the record at `at` did, which was the last to change the catalog.
    pub(crate) fn take_back(&mut self, at: LogAddress) {
        self.namings.retain(|naming| {
            let is_of_it = naming.from == at;
            if is_of_it {
                // Whoever still has it must not take it for current.
                naming.until.store(at.0, Ordering::Release);
            }
            !is_of_it
        });
        for naming in self.namings.iter().filter(|naming| naming.until.load(Ordering::Acquire) == at.0) {
            naming.until.store(FOREVER, Ordering::Release);
        }
    }

    /// Sets the highest id ever given back to what it was.
    pub(crate) fn set_last_id(&mut self, last_id: u32) {
        self.last_id = last_id;
    }

    /// A copy that has the documents that `copy_of` gives for each.
    #[cfg(feature = "testing")]
    pub(crate) fn fork(&self, copy_of: &mut dyn FnMut(&Arc<Documents>) -> Arc<Documents>) -> Self {
        let namings = self.namings.iter().map(|naming| {
            Arc::new(Naming {
                name: naming.name.clone(),
                documents: copy_of(&naming.documents),
                from: naming.from,
                until: AtomicU64::new(naming.until.load(Ordering::Acquire)),
            })
        });
        Catalog { namings: namings.collect(), last_id: self.last_id, kept: self.kept.clone() }
    }
}

//= spec/semantics.md#s-3-1-names
//# A creation of, a rename to, an insert or a put into any other name MUST be refused as `InvalidName`.
/// Whether a collection may have this name.
pub(crate) fn check_name(name: &str) -> crate::Result<()> {
    let what = match name {
        "" => "it is empty",
        _ if name.len() > 255 => "it is longer than 255 bytes",
        _ if name.starts_with('$') => "names that begin with $ are reserved",
        _ => return Ok(()),
    };
    Err(crate::Error::InvalidName { name: name.chars().take(64).collect(), what })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Lsn;

    fn state(address: u64) -> State {
        State { lsn: Lsn(address), address: LogAddress(address) }
    }

    #[test]
    fn a_dropped_name_stays_in_the_states_before_the_drop() {
        let mut catalog = Catalog::default();
        catalog.begin("a".into(), Arc::new(Documents::new(1, 4)), LogAddress(10));
        catalog.end(1, LogAddress(30));
        catalog.begin("a".into(), Arc::new(Documents::new(2, 4)), LogAddress(40));
        let id = |address| catalog.find_in("a", state(address)).map(|naming| naming.documents.id);
        assert_eq!([10, 11, 30, 31, 40, 41].map(id), [None, Some(1), Some(1), None, None, Some(2)]);
        assert_eq!(catalog.find("a").map(|naming| naming.documents.id), Some(2));
        catalog.purge(&[]);
        assert_eq!(catalog.namings.len(), 1);
    }
}
