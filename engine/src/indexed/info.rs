//! What an index takes.

use crate::index::Indexing;
use crate::secondary::IndexDefinition;

/// What an index takes.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexInfo {
    /// Its definition.
    pub definition: IndexDefinition,
    /// How many entries it has.
    pub entries: u64,
    /// Bytes of memory that they take, about.
    pub memory_bytes: u64,
    /// How often it was read since the store was opened, by a query's plan too.
    pub uses: u64,
}

impl IndexInfo {
    pub(crate) fn of(index: &Indexing) -> Self {
        IndexInfo {
            definition: index.definition.definition.clone(),
            entries: index.entries().newest_len(),
            memory_bytes: index.entries().memory_bytes() as u64,
            uses: index.entries().uses(),
        }
    }
}
