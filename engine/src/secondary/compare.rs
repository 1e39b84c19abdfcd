//! Tuples compared by their values: for those that are too long for an entry. spec: I-2.4, I-2.6.

use std::cmp::Ordering;

use super::definition::IndexDefinition;
use super::list::EntryList;
use crate::document::Value;
use crate::error::Result;

/// How many indexes a collection has at most. spec: I-1.4.
pub(crate) const INDEXES_MAX: usize = 64;

impl IndexDefinition {
    /// Where a tuple stands to another, or their beginnings to each other.
    pub(crate) fn cmp_tuples(&self, one: &[Option<Value>], other: &[Option<Value>]) -> Ordering {
        let components = one.iter().zip(other).zip(&*self.paths);
        let mut orders = components.map(|((one, other), path)| {
            let order = match (one, other) {
                (Some(one), Some(other)) => one.order_cmp(other),
                // Nothing comes before every value.
                _ => one.is_some().cmp(&other.is_some()),
            };
            if path.descending { order.reverse() } else { order }
        });
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

impl EntryList {
    /// Appends an entry, behind those that are there.
    ///
    /// # Errors
    /// `LimitReached`.
    pub(crate) fn push_entry(&mut self, entry: &[u8]) -> Result<()> {
        self.push(|bytes, _| bytes.extend_from_slice(entry))
    }
}
