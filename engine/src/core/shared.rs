//! What readers need of the store, and the writer with them: the log, the catalog with its indexes, and who sees what.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::index::{Catalog, Naming, State};
use crate::log::Log;
use crate::options::Options;
use crate::sync::{Arc, RwLock, read};
use crate::txn::Visibility;

use super::feeds::Feeds;
use super::leaves::Leaves;
use super::opening::Opening;

/// The part of the store that every thread may use at any time. No lock in it is held across I/O.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) log: Log,
    pub(super) catalog: RwLock<Catalog>,
    pub(crate) visibility: Arc<Visibility>,
    pub(super) feeds: Feeds,
    pub(crate) options: Options,
    pub(super) opening: Opening,
    /// Where the user has set how much of the index stays in memory.
    pub(super) leaves: Option<Arc<Leaves>>,
}

impl Shared {
    //= spec/semantics.md#s-3-3-unknown-collection
    //# A read of a name that no collection has, a replace or a delete in one MUST be refused as
    //# `UnknownCollection`.
    /// What `name` means in the visible state.
    pub(crate) fn naming(&self, name: &str) -> Result<Arc<Naming>> {
        let found = self.visibility.settled(|visible| read(&self.catalog).find_in(name, visible).cloned());
        found.ok_or_else(|| Error::UnknownCollection { name: name.to_owned() })
    }

    //= spec/semantics.md#s-3-9-list-of-names
    //# The list of collections MUST hold each name once, in bytewise order, empty collections included.
    /// The names of all collections, in the order of their bytes.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.namings_now().1.iter().map(|naming| naming.name.clone()).collect();
        names.sort();
        names
    }

    /// The collections of the visible state.
    pub(crate) fn namings(&self) -> Vec<Arc<Naming>> {
        self.namings_now().1
    }

    /// The ids of the newest state's collections.
    pub(super) fn current_collections(&self) -> BTreeSet<u32> {
        read(&self.catalog).current().map(|naming| naming.documents.id).collect()
    }

    /// The visible state, and the collections of it.
    pub(super) fn namings_now(&self) -> (State, Vec<Arc<Naming>>) {
        self.visibility.settled(|visible| (visible, read(&self.catalog).in_state(visible).cloned().collect()))
    }

    /// What `name` means after the newest commit.
    pub(super) fn newest_naming(&self, name: &str) -> Option<Arc<Naming>> {
        read(&self.catalog).find(name).cloned()
    }
}
