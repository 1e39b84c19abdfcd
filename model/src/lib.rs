//! What a Holotype store does, as the shortest pure program that obeys `spec/semantics.md`, clauses T-2 and T-3 of
//! `spec/transactions.md`, and `spec/index.md`.
//!
//! A [`Model`] is a list of commits. Each call is answered from the state after the last one; a crash is "pick a legal
//! prefix of the list". A write transaction is a state that nobody else sees yet; a snapshot is a state that is held. The model knows no file, no thread and no clock, depends on nothing but the standard library, and
//! shares no line with the engine: it has its own [`Value`], written from `spec/values.md`, so that a mistake in one is not
//! repeated in the other.
//!
//! A store that implements [`Subject`] can be held against it. What the store answers goes to an [`Oracle`], which keeps
//! every state that the store may legally be in; the feature `check` adds the seeded driver that makes up the calls.
//!
//! ```
//! use holotype_model::{Document, Durability, Ending, Key, Model, Op, Outcome, Value};
//!
//! let mut model = Model::default();
//! let document = Document::from([("title".to_owned(), Value::from("On the origin"))]);
//! let insert = Op::Insert { collection: "books".into(), document, durability: Durability::Buffered };
//! assert_eq!(model.apply(&insert), Outcome::Key(Key::Int(1)));
//!
//! // Nothing has made the commit durable: a power cut may keep it or lose it, and no more than that.
//! assert_eq!(model.legal_after(Ending::PowerCut).count(), 2);
//! assert_eq!(model.apply(&Op::Flush), Outcome::Done);
//! assert_eq!(model.legal_after(Ending::PowerCut).count(), 1);
//! ```
#![deny(missing_docs)]
#![forbid(unsafe_code)]

#[cfg(feature = "check")]
pub mod check;
mod effect;
mod encoded;
pub mod index;
mod key;
mod limits;
mod model;
mod op;
mod oracle;
mod order;
mod outcome;
pub mod query;
mod read;
mod refuse;
mod render;
mod session;
mod state;
mod subject;
mod transaction;
pub mod update;
mod value;

pub use key::{Key, KeyRange, Prefix};
pub use limits::Limits;
pub use model::{Commit, Ending, Model};
pub use op::{Durability, OnConflict, Op};
pub use oracle::{Disagreement, Oracle, Survived};
pub use outcome::{Failure, Outcome, Refusal};
pub use state::{Change, Collection, Dump, DumpedIndex, Index, State, Stored};
pub use subject::{Feature, Features, Subject};
pub use value::{Document, Value};
