//! The arms of the store.

use holotype::Durability;
use holotype_benches::fixture::Store;
use holotype_benches::workload::small_document;

use crate::{Arm, Result};

/// Inserts small documents, each in a commit of its own.
pub(crate) struct Inserts {
    store: Store,
    next: i64,
}

impl Inserts {
    pub(crate) fn new(durability: Durability) -> Self {
        Inserts { store: Store::empty(durability), next: 1 }
    }
}

impl Arm for Inserts {
    fn call(&mut self) -> Result<()> {
        self.store.documents.insert(small_document(self.next))?;
        self.next += 1;
        Ok(())
    }
}
