//! Definitions of indexes as the file has them: a map with fields that this version does not know (F-8.10).

use std::fmt;

use crate::document::Document;
use crate::error::Result;
use crate::secondary::{IndexDefinition, MapFault};

/// A definition, and what a newer version has written beside it (spec: F-7.3).
#[derive(Clone, PartialEq, Eq)]
pub struct StoredDefinition {
    /// What the index holds.
    pub definition: IndexDefinition,
    kept: Document,
}

impl StoredDefinition {
    /// Of a new index.
    pub fn new(definition: IndexDefinition) -> Self {
        StoredDefinition { definition, kept: Document::new() }
    }

    /// The same definition under another name.
    ///
    /// # Errors
    /// As [`IndexDefinition::with_name`].
    pub(crate) fn with_name(&self, name: &str) -> Result<Self> {
        let definition = self.definition.clone().with_name(name)?;
        Ok(StoredDefinition { definition, kept: self.kept.clone() })
    }

    /// The same definition under a name that a file says, which may be one that no call makes (spec: F-7.2).
    pub(crate) fn renamed(&self, name: &str) -> Self {
        StoredDefinition { definition: self.definition.clone().renamed(name), kept: self.kept.clone() }
    }

    //= spec/format.md#f-7-3-unknown-keys
    //# A writer MUST keep keys of a catalog map that it does not know when it writes the entry again.
    /// The map of F-8.10.
    pub fn to_document(&self) -> Document {
        let mut map = self.definition.to_stored();
        for (name, value) in &self.kept {
            map.insert(name, value.clone());
        }
        map
    }

    /// Reads what [`to_document`](Self::to_document) made.
    ///
    /// # Errors
    /// As [`MapFault`] says.
    pub fn decode(map: &Document) -> Result<Self, MapFault> {
        let (definition, kept) = IndexDefinition::decode(map)?;
        Ok(StoredDefinition { definition, kept })
    }
}

impl fmt::Debug for StoredDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.definition.fmt(f)
    }
}
