//! `JsonPath`: a parsed query of RFC 9535.

use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use super::ast::Segment;
use super::evaluate::{Run, Scope};
use super::located::{Located, NodePath};
use super::parse;
use crate::document::Value;
use crate::document::node::Node;
use crate::error::{Error, Result};

/// A query of RFC 9535 (JSONPath), parsed: what it selects of a value.
///
/// Paths are compared as parsed, and print in one normal form.
///
/// ```
/// use holotype::query::JsonPath;
/// use holotype::{Value, doc};
///
/// let bird = Value::from(doc! { "name": "Wren", "seen": [{ "where": "hedge" }, { "where": "barn" }] });
/// let path = JsonPath::parse("$['seen'][?@.where != 'barn'].where")?;
/// assert_eq!(path.select(&bird)?, [&Value::from("hedge")]);
/// assert_eq!(path.to_string(), "$.seen[?@.where != 'barn'].where");
/// let (place, _) = &path.select_located(&bird)?[0];
/// assert_eq!(place.to_string(), "$['seen'][0]['where']");
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath {
    segments: Vec<Segment>,
}

impl JsonPath {
    /// The query that `text` is.
    ///
    /// # Errors
    /// `Query` with the offset of the mistake in bytes, and what was expected there; `QueryTooDeep`; `PatternTooLarge`.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(JsonPath { segments: parse::path(text)? })
    }

    /// Whether there are only names and indexes, so that it selects one node at most.
    pub fn is_singular(&self) -> bool {
        self.segments.iter().all(|segment| segment.singular().is_some())
    }

    /// The nodes that the query selects, in the order of RFC 9535; fields of an object in name order. A node that is selected
    /// twice comes twice.
    ///
    /// # Errors
    /// `PatternTooLarge`, where the value itself holds a pattern that is matched against and is beyond the limit.
    pub fn select<'v>(&self, value: &'v Value) -> Result<Vec<&'v Value>> {
        self.collect(&value, |node| node)
    }

    /// As [`select`](Self::select), each node with its place.
    ///
    /// # Errors
    /// As [`select`](Self::select).
    pub fn select_located<'v>(&self, value: &'v Value) -> Result<Vec<(NodePath, &'v Value)>> {
        self.collect(&Located::root(value), |node| (node.path(), node.value))
    }

    fn collect<'v, N: Node<'v>, R>(&self, root: &N, each: impl Fn(N) -> R) -> Result<Vec<R>> {
        let mut found = Vec::new();
        let run = Run::of_value();
        let _ = Scope::new(root, &run).select(&self.segments, root.clone(), &mut |node| {
            found.push(each(node));
            ControlFlow::Continue(())
        });
        run.end().map(|()| found)
    }
}

impl FromStr for JsonPath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.segments.iter().try_for_each(|segment| segment.fmt(f))
    }
}
