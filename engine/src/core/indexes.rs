//! Secondary indexes: which there are, how one is built beside writers, and how they are made whole again at opening.

mod build;
mod catch_up;
mod check;

use crate::error::{Corruption, Error, Result};
use crate::format::definition::StoredDefinition;
use crate::index::{Entries, Indexing, KeyRange, Naming, PrimaryIndex, State, Target};
use crate::secondary::EntryLimits;
use crate::sync::{Arc, read};

use super::shared::Shared;

pub(crate) use build::{IndexBuild, IndexStep};

impl Shared {
    //= spec/index.md#i-2-6-long-tuples
    //# In a collection with an index, a write under a key that does not fit into an entry beside the longest
    //# tuple MUST be refused as `KeyTooLong`.
    /// How long tuples and keys in entries are at most.
    pub(crate) fn entry_limits(&self) -> EntryLimits {
        EntryLimits::new(self.log.geometry.checkpoint_entry_len_max())
    }

    //= spec/index.md#i-6-2-states
    //# An index that the state does not have MUST be refused as `UnknownIndex`.
    /// The index of this name that the collection has in a state.
    pub(crate) fn index_in(&self, state: State, naming: &Naming, index: &str) -> Result<Arc<Indexing>> {
        let found = read(&self.catalog).find_index_in(naming.documents.id, index, state).cloned();
        let unknown = || Error::UnknownIndex { collection: naming.name.clone(), index: index.to_owned() };
        let found = found.ok_or_else(unknown)?;
        found.entries().check_known()?;
        Ok(found)
    }

    /// The indexes that the collection has in a state, in the order of their names.
    pub(crate) fn indexes_in(&self, state: State, naming: &Naming) -> Vec<Arc<Indexing>> {
        read(&self.catalog).indexes_in(naming.documents.id, state)
    }

    /// The definitions of a collection's indexes after the newest commit, by their ids.
    pub(crate) fn definitions_of(&self, naming: &Naming) -> Vec<(u32, Arc<StoredDefinition>)> {
        let indexes = read(&self.catalog).indexes_of(naming.documents.id);
        indexes.iter().map(|index| (index.entries().id, Arc::clone(&index.definition))).collect()
    }

    /// Takes note where a unique index that is being built gets a second entry of one tuple.
    pub(super) fn suspect(&self, target: &Target, entry: &[u8]) {
        let Some(building) = &target.building else { return };
        let definition = &target.definition.definition;
        if !definition.is_unique() {
            return;
        }
        let outline = definition.outline(entry, self.entry_limits()).expect("it was just made");
        let tuple = &entry[..outline.tuple_len];
        let mut others = Entries::default();
        target.entries.index.page(&KeyRange::bytes_prefix(tuple), false, 1, &mut others);
        if others.len() > 0 && !outline.has_nothing {
            building.suspect(tuple);
        }
    }
}

impl crate::index::Documents {
    /// Of the entries of an index: refuses a read where they cannot be told (spec: I-8.2).
    pub(crate) fn check_known(&self) -> Result<()> {
        self.damage().map_or(Ok(()), |damage| Err(damage.clone().into()))
    }

    /// What came of reading entries, for who goes on where they cannot be told.
    pub(super) fn unless_damaged(&self, read: Result<()>) -> Result<()> {
        if self.damage().is_some() { Ok(()) } else { read }
    }
}

impl Target {
    /// An entry of this index is none.
    pub(super) fn broken(&self, what: &'static str) -> Error {
        Corruption::new(0, "I-7.2", what).comparing(0, self.entries.id.into()).into()
    }
}

/// Turns the refusal of a document by an index into damage of that index: no writer leaves such a document (spec: I-8.2).
fn untold(error: Error) -> Error {
    let what = "a document of which an index can have no entries";
    match error {
        Error::KeyTooLong { .. } | Error::LimitReached { .. } | Error::Decode { .. } => {
            Corruption::new(0, "I-8.2", what).into()
        }
        other => other,
    }
}
