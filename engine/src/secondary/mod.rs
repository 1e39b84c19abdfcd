//! Secondary indexes as a function: from a definition and a document to the entries that an index holds of it, and from the bytes
//! of an entry back to what they say. spec: `spec/index.md`.
//!
//! | to | use |
//! |---|---|
//! | define an index | [`IndexDefinition::new`] |
//! | store a definition, or read one | [`IndexDefinition::to_stored`], [`IndexDefinition::decode`] |
//! | know the entries of a document | [`IndexDefinition::entries`] |
//! | know what two versions of a document change | [`EntryList::diff`] |
//! | put the entries of many documents in order | [`Run`] |
//! | find the entries of a range | [`IndexDefinition::beginning`] |
//! | read an entry | [`IndexDefinition::parse`], [`IndexDefinition::outline`] |
//!
//! The module is pure: it knows neither files nor trees.

mod compare;
mod definition;
mod entries;
mod limits;
mod list;
pub(crate) mod map;
mod parse;
mod plan;
mod range;
mod run;

pub(crate) use compare::INDEXES_MAX;
pub use definition::IndexDefinition;
pub(crate) use definition::check_name;
pub(crate) use limits::EntryLimits;
pub(crate) use list::{Difference, EntryList};
pub(crate) use map::{MapFault, check_required};
pub(crate) use parse::Tuple;
pub(crate) use plan::PATHS_MAX;
pub(crate) use range::Beginning;
pub(crate) use run::Run;

#[cfg(test)]
mod tests;
