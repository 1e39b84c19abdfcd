//! Savepoints of a transaction: positions in its batch.

use crate::sync::Arc;

/// A position in the changes of a transaction. Clones are the same one, and no other is, of whatever transaction of whatever store.
#[derive(Debug, Clone, Default)]
pub(crate) struct Savepoint(Arc<()>);

impl PartialEq for Savepoint {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Savepoint {}
