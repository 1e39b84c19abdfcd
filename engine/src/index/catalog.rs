//! The catalog in memory: which collection, and which index, a name means in every state that somebody can still see.

use std::collections::{BTreeMap, BTreeSet};

use crate::document::Document;
use crate::document::limits::name_fault;
use crate::format::LogAddress;
use crate::format::catalog::CatalogChange;
use crate::sync::race::{self, Race};
use crate::sync::{Arc, AtomicU64};

use super::State;
use super::documents::{Documents, Target};
use super::naming::{FOREVER, Indexing, Naming};

/// All namings that are in force, or that a snapshot may still see.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    namings: Vec<Arc<Naming>>,
    /// Likewise of indexes.
    indexings: Vec<Arc<Indexing>>,
    /// The highest id ever given to a collection or an index.
    pub(crate) last_id: u32,
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

    /// The documents of every naming, and the entries of every index.
    pub(crate) fn documents(&self) -> impl Iterator<Item = &Arc<Documents>> {
        let entries = self.indexings.iter().map(|indexing| indexing.entries());
        self.namings.iter().map(|naming| &naming.documents).chain(entries)
    }

    /// Memory that all of these take; what has several names is counted once.
    pub(crate) fn memory_bytes(&self) -> usize {
        let each: BTreeMap<u32, &Arc<Documents>> = self.documents().map(|each| (each.id, each)).collect();
        each.values().map(|documents| documents.memory_bytes()).sum()
    }

    /// The index of this name that the collection has in `state`.
    pub(crate) fn find_index_in(&self, of: u32, name: &str, state: State) -> Option<&Arc<Indexing>> {
        self.indexings.iter().find(|index| index.of == of && index.name() == name && index.is_in(state))
    }

    /// The indexes of a collection in `state`, in the order of their names.
    pub(crate) fn indexes_in(&self, of: u32, state: State) -> Vec<Arc<Indexing>> {
        let is_one = |index: &&Arc<Indexing>| index.of == of && index.is_in(state);
        let mut indexes: Vec<_> = self.indexings.iter().filter(is_one).cloned().collect();
        indexes.sort_by(|one, other| one.name().cmp(other.name()));
        indexes
    }

    /// The indexes after the newest commit, in the order of their ids.
    pub(crate) fn current_indexes(&self) -> Vec<Arc<Indexing>> {
        let mut indexes: Vec<_> = self.indexings.iter().filter(|index| index.is_current()).cloned().collect();
        indexes.sort_by_key(|index| index.entries().id);
        indexes
    }

    /// The indexes of a collection after the newest commit, in the order of their ids.
    pub(crate) fn indexes_of(&self, of: u32) -> Vec<Arc<Indexing>> {
        self.current_indexes().into_iter().filter(|index| index.of == of).collect()
    }

    fn index_by_id(&self, id: u32) -> Option<&Arc<Indexing>> {
        self.indexings.iter().find(|index| index.entries().id == id && index.is_current())
    }

    /// An index as a checkpoint has it, of a collection that was loaded.
    pub(crate) fn load_index(&mut self, of: u32, target: Target) -> Option<()> {
        self.by_id(of)?;
        self.begin_index(of, target, LogAddress(0));
        self.tell_writers(of);
        Some(())
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
        // Where the change names a collection or an index that is not there, nothing is changed.
        let of = match change {
            CatalogChange::Drop { id }
            | CatalogChange::Clear { id, .. }
            | CatalogChange::Index { id, .. } => *id,
            CatalogChange::Unindex { id } | CatalogChange::Reindex { id, .. } => self.index_by_id(*id)?.of,
            CatalogChange::Create { .. } | CatalogChange::Rename { .. } => 0,
        };
        match change {
            CatalogChange::Create { name, .. } => {
                if self.find(name).is_some() {
                    return None;
                }
                self.begin(name.clone(), begins?, at);
            }
            //= spec/index.md#i-4-5-collections
            //# An index goes with its collection: it MUST end when the collection is dropped, stay when it is
            //# renamed, and stay without entries when it is cleared.
            CatalogChange::Drop { id } => {
                self.end(*id, at)?;
                self.indexes_of(*id).iter().for_each(|index| index.naming.end(at));
            }
            CatalogChange::Clear { id, .. } => {
                let documents = begins?;
                let old = self.end(*id, at)?;
                documents.note_key(old.documents.largest_id());
                let id_of_new = documents.id;
                self.begin(old.name.clone(), Arc::clone(&documents), at);
                self.indexes_of(*id).iter().for_each(|index| index.naming.end(at));
                for target in documents.targets().iter().flat_map(|targets| targets.iter()) {
                    self.begin_index(id_of_new, target.clone(), at);
                }
            }
            CatalogChange::Index { id, definition, .. } => {
                let is_free = self.by_id(*id).is_some()
                    && self.indexes_of(*id).iter().all(|index| index.name() != definition.definition.name());
                let (true, Some(entries)) = (is_free, begins) else { return None };
                let definition = Arc::clone(definition);
                self.begin_index(*id, Target { definition, entries, building: None }, at);
            }
            CatalogChange::Unindex { id } => self.index_by_id(*id)?.naming.end(at),
            CatalogChange::Reindex { id, name } => {
                let old = Arc::clone(self.index_by_id(*id)?);
                if self.indexes_of(of).iter().any(|index| index.name() == name) {
                    return None;
                }
                let definition = Arc::new(old.definition.renamed(name));
                old.naming.end(at);
                self.begin_index(of, Target { definition, ..old.target() }, at);
            }
            CatalogChange::Rename { id, name } => {
                if self.find(name).is_some() {
                    return None;
                }
                let old = self.end(*id, at)?;
                self.begin(name.clone(), Arc::clone(&old.documents), at);
            }
        }
        self.tell_writers(of);
        Some(())
    }

    /// The index of `target` belongs to the collection `of` from the record at `at` on.
    fn begin_index(&mut self, of: u32, target: Target, at: LogAddress) {
        let Target { definition, entries, .. } = target;
        self.last_id = self.last_id.max(entries.id);
        let name = definition.definition.name().to_owned();
        let from = if race::is_on(Race::IndexSeenEarly) { LogAddress(0) } else { at };
        let naming = Naming { name, documents: entries, from, until: AtomicU64::new(FOREVER) };
        self.indexings.push(Arc::new(Indexing { of, definition, naming: Arc::new(naming) }));
    }

    /// Writers of the collection `of` keep up the indexes that it has after the newest commit, and those that are being built.
    fn tell_writers(&self, of: u32) {
        let Some(naming) = self.by_id(of) else { return };
        let mut targets: Vec<_> = self.indexes_of(of).iter().map(|index| index.target()).collect();
        let known = naming.documents.targets();
        let is_built = |target: &&Target| {
            target.building.as_ref().is_some_and(|building| !building.has_ended())
                && targets.iter().all(|other| other.entries.id != target.entries.id)
        };
        let building: Vec<_> =
            known.iter().flat_map(|known| known.iter()).filter(is_built).cloned().collect();
        targets.extend(building);
        naming.documents.set_targets(targets);
    }

    /// `name` means `documents` from the record at `at` on.
    fn begin(&mut self, name: String, documents: Arc<Documents>, at: LogAddress) {
        assert!(self.find(&name).is_none(), "{name:?} is free");
        self.last_id = self.last_id.max(documents.id);
        self.namings.push(Arc::new(Naming { name, documents, from: at, until: AtomicU64::new(FOREVER) }));
    }

    /// The collection of this id has its name no longer, from the record at `at` on.
    fn end(&mut self, id: u32, at: LogAddress) -> Option<Arc<Naming>> {
        self.by_id(id).cloned().inspect(|naming| naming.end(at))
    }

    /// Forgets the namings that neither the newest commit nor any of `states` holds.
    pub(crate) fn purge(&mut self, states: &[State]) {
        self.namings.retain(|naming| naming.is_current() || states.iter().any(|state| naming.is_in(*state)));
        self.indexings.retain(|index| index.is_current() || states.iter().any(|state| index.is_in(*state)));
    }

    /// Takes back what the record at `at` did, which was the last to change the catalog. `begins` is the id that it gave, if it gave one:
    /// the next after the highest so far.
    pub(crate) fn take_back(&mut self, begins: Option<u32>, at: LogAddress) {
        self.last_id = begins.map_or(self.last_id, |id| id - 1);
        self.namings.retain(|naming| naming.take_back(at));
        let changed = self.indexings.iter().filter(|index| index.naming.is_changed(at));
        let changed: BTreeSet<_> = changed.map(|index| index.of).collect();
        self.indexings.retain(|index| index.naming.take_back(at));
        changed.into_iter().for_each(|of| self.tell_writers(of));
    }

    /// A copy that has the documents that `copy_of` gives for each.
    #[cfg(feature = "testing")]
    pub(crate) fn fork(&self, copy_of: &mut dyn FnMut(&Arc<Documents>) -> Arc<Documents>) -> Self {
        let mut copy = |naming: &Naming| {
            Arc::new(Naming {
                name: naming.name.clone(),
                documents: copy_of(&naming.documents),
                from: naming.from,
                until: AtomicU64::new(naming.until.load(crate::sync::Ordering::Acquire)),
            })
        };
        let namings = self.namings.iter().map(|naming| copy(naming)).collect();
        let indexings = self.indexings.iter().map(|index| {
            Arc::new(Indexing {
                naming: copy(&index.naming),
                definition: Arc::clone(&index.definition),
                of: index.of,
            })
        });
        let indexings = indexings.collect();
        Catalog { namings, indexings, last_id: self.last_id, kept: self.kept.clone() }
    }
}

//= spec/semantics.md#s-3-1-names
//# A creation of, a rename to, an insert or a put into any other name MUST be refused as `InvalidName`.
/// Whether a collection may have this name.
pub(crate) fn check_name(name: &str) -> crate::Result<()> {
    match name_fault(name) {
        Some(what) => Err(crate::Error::InvalidName { name: name.chars().take(64).collect(), what }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Lsn;
    use crate::index::Layout;

    fn state(address: u64) -> State {
        State { lsn: Lsn(address), address: LogAddress(address) }
    }

    #[test]
    fn a_dropped_name_stays_in_the_states_before_the_drop() {
        let mut catalog = Catalog::default();
        catalog.begin("a".into(), Arc::new(Documents::new(1, Layout::new(4))), LogAddress(10));
        catalog.end(1, LogAddress(30));
        catalog.begin("a".into(), Arc::new(Documents::new(2, Layout::new(4))), LogAddress(40));
        let id = |address| catalog.find_in("a", state(address)).map(|naming| naming.documents.id);
        assert_eq!([10, 11, 30, 31, 40, 41].map(id), [None, Some(1), Some(1), None, None, Some(2)]);
        assert_eq!(catalog.find("a").map(|naming| naming.documents.id), Some(2));
        catalog.purge(&[]);
        assert_eq!(catalog.namings.len(), 1);
    }
}
