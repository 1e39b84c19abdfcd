//! What a case about queries or updates asks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::hex::Hex;

/// Values of parameters by name.
pub type Args = BTreeMap<String, Hex>;

/// A query of a collection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Key and document as they are encoded, in key order.
    pub documents: Vec<(Hex, Hex)>,
    /// Which documents; all of them where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// The bound parameters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args: Args,
    /// In which order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sort: Vec<SortBy>,
    /// How many to leave out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<u64>,
    /// How many at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// A key and a document: go on after the place that this one has or would have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<(Hex, Hex)>,
}

/// A sort.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SortBy {
    /// The expression.
    pub by: String,
    /// Whether the greatest comes first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub descending: bool,
    /// Where nothing goes, if that is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nothing: Option<End>,
}

/// An end of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words of the clause")]
pub enum End {
    First,
    Last,
}

/// A question for groups.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grouped {
    /// Of which documents.
    #[serde(flatten)]
    pub asked: Asked,
    /// What the documents of a group have in common.
    pub by: Vec<String>,
    /// The name of an aggregate, and what it is of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aggregates: Vec<(String, String)>,
    /// Which groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub having: Option<String>,
    /// In which order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sort_groups: Vec<SortBy>,
    /// How many groups at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_groups: Option<u64>,
}

/// A change of an update (U-5). Each field is there for the changes that have it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Its name, as in the headings of U-5: `set`, `pop_first`.
    pub change: String,
    /// Where.
    pub path: String,
    /// Of `set`, `inc`, `mul`, `min`, `max`, `pull` and `add_to_set`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Hex>,
    /// Of `rename`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Of `push`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Hex>,
    /// Of `push`, if it has a cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_last: Option<u64>,
    /// Of `each`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}
