//! Paths and filters by RFC 9535 (JSONPath), over values and over encoded documents. spec: `spec/query.md`.
//!
//! | to | use |
//! |---|---|
//! | select parts of a value | [`JsonPath`] |
//! | ask whether a document is wanted | [`Filter`], from text or from [`field`] |
//!
//! The module is pure: texts, values and bytes in, values and answers out. A text is parsed once into a tree; one evaluator
//! walks the tree, whatever kind of value it is over (the trait `Node`).

mod arithmetic;
mod ast;
mod builder;
mod call;
mod child;
mod display;
mod evaluate;
mod filter;
mod folding;
mod function;
mod iregexp;
mod limits;
mod located;
mod names;
mod one_pass;
mod parse;
mod path;
mod pattern;
mod select;
mod text;
mod time;
mod walk;

pub(crate) use ast::Selector;
pub use builder::{Comparable, Field, Parameter, arg, field};
pub use filter::Filter;
pub use limits::NESTING_MAX;
pub use located::{NodePath, Step};
pub use path::JsonPath;

#[cfg(test)]
mod tests;
