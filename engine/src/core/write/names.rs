//! Where the catalog as a transaction leaves it differs from that of the newest commit.

use std::collections::BTreeMap;

use crate::index::{Documents, Naming};
use crate::sync::Arc;

/// Where the transaction's catalog differs from that of the newest commit.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Names that mean something else, or nothing any more.
    pub(super) changed: BTreeMap<String, Option<Arc<Documents>>>,
    /// The last collection id given, if any was.
    pub(super) last_id: Option<u32>,
    /// What was there before each change of these, to be put back.
    undo: Vec<Undo>,
    /// The name that was written to last, and the number of its collection in the batch.
    pub(super) last: String,
    pub(super) last_number: Option<u32>,
    /// What it meant in the newest commit: the next transaction mostly writes to the same.
    pub(super) last_naming: Option<Arc<Naming>>,
}

/// What change `change` of the batch found.
#[derive(Debug, Clone)]
struct Undo {
    change: usize,
    name: String,
    meant: Option<Option<Arc<Documents>>>,
    last_id: Option<u32>,
}

impl Names {
    pub(super) fn clear(&mut self) {
        self.changed.clear();
        self.undo.clear();
        (self.last_id, self.last_number) = (None, None);
    }

    /// From change `change` of the batch on, `name` means this.
    pub(super) fn set(&mut self, change: usize, name: &str, means: Option<Arc<Documents>>) {
        let meant = self.changed.insert(name.to_owned(), means);
        self.undo.push(Undo { change, name: name.to_owned(), meant, last_id: self.last_id });
        self.last_number = None;
    }

    /// Undoes what the changes from number `changes` on did.
    pub(super) fn truncate(&mut self, changes: usize) {
        while let Some(undo) = self.undo.pop_if(|undo| undo.change >= changes) {
            self.last_id = undo.last_id;
            match undo.meant {
                Some(meant) => _ = self.changed.insert(undo.name, meant),
                None => _ = self.changed.remove(&undo.name),
            }
        }
        self.last_number = None;
    }

    /// A copy that speaks of the documents that `copy_of` gives for each.
    #[cfg(feature = "testing")]
    pub(super) fn fork(&self, copy_of: &mut dyn FnMut(&Arc<Documents>) -> Arc<Documents>) -> Self {
        let mut copy = |documents: &Option<Arc<Documents>>| documents.as_ref().map(&mut *copy_of);
        let changed = self.changed.iter().map(|(name, meant)| (name.clone(), copy(meant))).collect();
        let undo =
            self.undo.iter().map(|undo| Undo { meant: undo.meant.as_ref().map(&mut copy), ..undo.clone() });
        Names { changed, undo: undo.collect(), last_id: self.last_id, ..Names::default() }
    }
}
