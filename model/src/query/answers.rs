//! What a query answers of a collection.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Expression, Filter};
use crate::key::Key;
use crate::value::{Document, Value};

/// One thing that documents are sorted by.
#[derive(Debug, Clone, PartialEq)]
pub struct Sort {
    /// Single.
    pub expression: Expression,
    /// Whether the greatest comes first.
    pub descending: bool,
    /// Where nothing goes, if that is said.
    pub nothing_last: Option<bool>,
}

/// A place in the order of a query: a cursor.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// What each sort gives.
    pub values: Vec<Option<Value>>,
    /// The key.
    pub key: Key,
}

/// What is asked of a collection.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// Which documents; all of them without one.
    pub filter: Option<Filter>,
    /// In which order.
    pub sorts: Vec<Sort>,
    /// The bound parameters.
    pub parameters: BTreeMap<String, Value>,
    /// How many to leave out.
    pub skip: usize,
    /// How many to answer at most.
    pub limit: Option<usize>,
    /// Where to go on.
    pub after: Option<Place>,
}

impl Query {
    /// Where a document is in the order.
    pub fn place(&self, key: &Key, document: &Document) -> Place {
        let value = |sort: &Sort| sort.expression.values(Some(key), document, &self.parameters).pop();
        Place { values: self.sorts.iter().map(value).collect(), key: key.clone() }
    }

    //= spec/query.md#q-7-2-order
    //# Documents MUST be answered in the order of the first sort that tells them apart, and documents that
    //# none tells apart in the order of their keys (V-3.8).
    fn order(&self, a: &Place, b: &Place) -> Ordering {
        let pairs = a.values.iter().zip(&b.values);
        let orders = self.sorts.iter().zip(pairs).map(|(sort, (a, b))| sort.order(a, b));
        orders.chain([a.key.cmp(&b.key)]).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    //= spec/query.md#q-7-1-query
    //# A query that neither skips, nor has a limit or a cursor, MUST answer exactly the documents that its
    //# filter admits, each once.
    //= spec/query.md#q-7-3-skip-and-limit
    //# Of the documents in order, a query MUST leave out the first, as many as it skips, and answer the next
    //# ones, as many as its limit allows.
    //= spec/query.md#q-7-4-cursors
    //# The documents before a cursor and those after it MUST be all documents of the query, each once.
    /// The answers, in order.
    pub fn answers(&self, documents: &BTreeMap<Key, Document>) -> Vec<(Key, Document)> {
        let admits = |key: &Key, document: &Document| match &self.filter {
            None => true,
            Some(filter) => filter.admits(Some(key), document, &self.parameters),
        };
        let admitted = documents.iter().filter(|(key, document)| admits(key, document));
        let mut placed: Vec<_> =
            admitted.map(|(key, document)| (self.place(key, document), document.clone())).collect();
        placed.sort_by(|(a, _), (b, _)| self.order(a, b));
        if let Some(after) = &self.after {
            placed.retain(|(place, _)| self.order(place, after).is_gt());
        }
        let wanted = placed.into_iter().skip(self.skip).take(self.limit.unwrap_or(usize::MAX));
        wanted.map(|(place, document)| (place.key, document)).collect()
    }
}

impl Sort {
    pub(super) fn order(&self, a: &Option<Value>, b: &Option<Value>) -> Ordering {
        let nothing_last = self.nothing_last.unwrap_or(self.descending);
        match (a, b) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => {
                if nothing_last {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
            (Some(_), None) => {
                if nothing_last {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
            (Some(a), Some(b)) if self.descending => b.order_cmp(a),
            (Some(a), Some(b)) => a.order_cmp(b),
        }
    }
}
