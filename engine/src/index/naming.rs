//! What a name means: a collection, or an index of one, from one commit to another.

use crate::format::LogAddress;
use crate::format::definition::StoredDefinition;
use crate::sync::{Arc, AtomicU64, Ordering};

use super::State;
use super::documents::{Documents, Target};

/// No record ever stands there: what has this end is still in force.
pub(super) const FOREVER: u64 = u64::MAX;

/// One meaning of one name, from one commit to another.
#[derive(Debug)]
pub(crate) struct Naming {
    pub(crate) name: String,
    pub(crate) documents: Arc<Documents>,
    pub(super) from: LogAddress,
    pub(super) until: AtomicU64,
}

impl Naming {
    /// Whether the name still means this collection after the newest commit, visible or not.
    pub(crate) fn is_current(&self) -> bool {
        self.until.load(Ordering::Acquire) == FOREVER
    }

    pub(crate) fn is_in(&self, state: State) -> bool {
        self.from < state.address && state.address.0 <= self.until.load(Ordering::Acquire)
    }

    /// It means this no longer, from the record at `at` on.
    pub(super) fn end(&self, at: LogAddress) {
        self.until.store(at.0, Ordering::Release);
    }

    /// Whether the record at `at` began it, or ended it.
    pub(super) fn is_changed(&self, at: LogAddress) -> bool {
        self.from == at || self.until.load(Ordering::Acquire) == at.0
    }

    /// Takes back what the record at `at` did. Whether it goes on; whoever still has one that does not must not take it for current.
    pub(super) fn take_back(&self, at: LogAddress) -> bool {
        if self.is_changed(at) {
            let until = if self.from == at { at.0 } else { FOREVER };
            self.until.store(until, Ordering::Release);
        }
        self.from != at
    }
}

/// An index of a collection under one name, from one commit to another.
#[derive(Debug, Clone)]
pub(crate) struct Indexing {
    /// The id of the collection.
    pub(crate) of: u32,
    pub(crate) definition: Arc<StoredDefinition>,
    /// The name, and the entries as the documents that it means.
    pub(crate) naming: Arc<Naming>,
}

impl Indexing {
    pub(crate) fn entries(&self) -> &Arc<Documents> {
        &self.naming.documents
    }

    pub(crate) fn name(&self) -> &str {
        &self.naming.name
    }

    pub(crate) fn is_current(&self) -> bool {
        self.naming.is_current()
    }

    pub(crate) fn is_in(&self, state: State) -> bool {
        self.naming.is_in(state)
    }

    pub(crate) fn target(&self) -> Target {
        let (definition, entries) = (Arc::clone(&self.definition), Arc::clone(self.entries()));
        Target { definition, entries, building: None }
    }
}
