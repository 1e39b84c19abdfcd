//! `JsonPath`: a parsed query of RFC 9535.

use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use super::ast::{Segment, Selector};
use super::evaluate::{Run, Scope};
use super::located::{Located, NodePath};
use super::parse;
use super::reads;
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

    /// The query that `text` is, which has names and indexes alone.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub(crate) fn parse_singular(text: &str) -> Result<Self> {
        Ok(JsonPath { segments: parse::singular_path(text)? })
    }

    /// The names and indexes of a singular query.
    pub(crate) fn singular_steps(&self) -> impl ExactSizeIterator<Item = &Selector> + DoubleEndedIterator {
        self.segments.iter().map(|segment| segment.singular().expect("the query is singular"))
    }

    /// The query up to the segment of that number.
    pub(crate) fn up_to(&self, number: usize) -> JsonPath {
        JsonPath { segments: self.segments[..=number].to_vec() }
    }

    /// The steps of the query, each behind the one before.
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Whether `admits` holds of this path, and of every path from the document in its brackets.
    pub(crate) fn reads_only(&self, admits: &mut dyn FnMut(&[Segment]) -> bool) -> bool {
        admits(&self.segments) && reads::segments(&self.segments, admits)
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
        self.collect(&Located::root(value), |node| (node.path(), node.node))
    }

    /// The places of the nodes that the query selects, each once, in the order of a walk through the value.
    ///
    /// # Errors
    /// As [`select`](Self::select).
    pub(crate) fn places<'v, N: Node<'v>>(&self, value: N) -> Result<Vec<NodePath>> {
        let mut places = self.collect(&Located::root(value), |node| node.path())?;
        places.sort_by(NodePath::walk_cmp);
        places.dedup();
        Ok(places)
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
