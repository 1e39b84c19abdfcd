//! The documents and the order in which keys come: the same in every run.

use holotype::{Document, doc};
use serde::{Deserialize, Serialize};

/// How many documents a loaded store has.
pub const COUNT: u64 = 100_000;

/// How many fields a small document has.
pub const SMALL_FIELDS: usize = 5;

/// The small document: 56 bytes of CBOR or a few less, five fields, one of them an array.
#[must_use]
pub fn small_document(i: i64) -> Document {
    doc! { "id": i, "name": "benchmark user", "active": true, "score": 87.5, "tags": ["a", "b"] }
}

/// The small document as a type of the application's. Its fields stand in the order of their stored form, as
/// [`small_document`]'s do not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Small {
    /// Which document it is.
    pub id: i64,
    /// The same in each.
    pub name: String,
    /// The same in each.
    pub tags: Vec<String>,
    /// The same in each.
    pub score: f64,
    /// The same in each.
    pub active: bool,
}

impl Small {
    /// What [`small_document`] of `i` says.
    #[must_use]
    pub fn new(i: i64) -> Self {
        let tags = vec!["a".to_owned(), "b".to_owned()];
        Small { id: i, name: "benchmark user".to_owned(), tags, score: 87.5, active: true }
    }
}

/// Ids `1..=count` in uniform order, with repetition: Marsaglia's xorshift64.
#[derive(Debug, Clone)]
pub struct UniformIds {
    state: u64,
    count: u64,
}

impl UniformIds {
    /// Begins the one sequence that there is for `count` ids.
    ///
    /// # Panics
    /// If there are no ids to choose from.
    #[must_use]
    pub fn new(count: u64) -> Self {
        assert!(count > 0, "there is an id to choose");
        UniformIds { state: 0xA5A5_1235, count }
    }
}

impl Iterator for UniformIds {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        Some((self.state % self.count) as i64 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_typed_document_has_the_bytes_of_the_untyped_one() {
        let mut typed = Vec::new();
        holotype::document::to_bytes(&Small::new(7), &mut typed).expect("it has a form as a document");
        assert_eq!(typed, small_document(7).encode());
        assert_eq!(small_document(7).len(), SMALL_FIELDS);
    }

    #[test]
    fn uniform_ids_stay_in_range_and_reach_most_of_it() {
        let mut seen = std::collections::BTreeSet::new();
        seen.extend(UniformIds::new(100).take(1_000));
        assert!(seen.len() > 90, "{} of 100 ids", seen.len());
        assert!(seen.first() >= Some(&1) && seen.last() <= Some(&100));
    }
}
