//! Paths and filters by RFC 9535 (JSONPath), over values and over encoded documents. spec: `spec/query.md`.
//!
//! | to | use |
//! |---|---|
//! | select parts of a value | [`JsonPath`] |
//! | ask whether a document is wanted | [`Filter`], from text or from [`field`] |
//! | say what documents are sorted or grouped by | [`Expression`] |
//!
//! The module is pure: texts, values and bytes in, values and answers out. A text is parsed once into a tree; one evaluator
//! walks the tree, whatever kind of value it is over (the trait `Node`).

mod alone;
mod arithmetic;
pub(crate) mod ast;
mod builder;
mod call;
mod child;
mod display;
mod evaluate;
mod expression;
mod filter;
mod folding;
pub(crate) mod function;
mod iregexp;
mod limits;
mod located;
mod names;
mod nesting;
mod one_pass;
mod parameters;
mod parse;
mod path;
mod pattern;
mod projection;
mod reads;
mod select;
mod text;
mod time;
mod walk;

pub(crate) use ast::{Segment, Selector};
pub use builder::{Comparable, Field, Parameter, arg, field};
pub(crate) use call::of_value;
pub(crate) use child::{child, lead};
pub use expression::Expression;
pub(crate) use expression::GivenValue;
pub use filter::Filter;
pub use limits::NESTING_MAX;
pub use located::{NodePath, Step};
pub(crate) use one_pass::{FOUND_MAX, OnePass};
pub use path::JsonPath;
pub(crate) use projection::Projector;

#[cfg(test)]
mod tests;
