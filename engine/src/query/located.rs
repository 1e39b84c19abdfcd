//! Nodes that know where they are: the normalized paths of RFC 9535, section 2.7.

use std::cmp::Ordering;
use std::fmt;
use std::iter::Enumerate;
use std::rc::Rc;

use super::display::quoted;
use crate::document::Text;
use crate::document::map::key_cmp;
use crate::document::node::{Node, View};

/// Where a node is in a value: names and indexes from the root.
///
/// Prints as RFC 9535 writes it: `$['seen'][0]['where']`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodePath {
    steps: Vec<Step>,
}

/// One step of a [`NodePath`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// To the field of this name.
    Name(Text),
    /// To the item at this index, from 0.
    Index(usize),
}

impl NodePath {
    /// The steps from the root, which has none.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether a walk meets this place of a value before `other`: a value comes before those within it, fields in name order.
    pub(crate) fn walk_cmp(&self, other: &NodePath) -> Ordering {
        let steps = self.steps.iter().zip(&other.steps).map(|steps| match steps {
            (Step::Name(a), Step::Name(b)) => key_cmp(a.as_bytes(), b.as_bytes()),
            (a, b) => a.cmp(b),
        });
        let first = steps.into_iter().find(|step| step.is_ne());
        first.unwrap_or(self.steps.len().cmp(&other.steps.len()))
    }
}

impl fmt::Display for NodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.steps.iter().try_for_each(|step| match step {
            Step::Name(name) => {
                f.write_str("[")?;
                quoted(name, f)?;
                f.write_str("]")
            }
            Step::Index(index) => write!(f, "[{index}]"),
        })
    }
}

/// A node with the way to it, shared with its siblings.
#[derive(Debug, Clone)]
pub(super) struct Located<N> {
    pub(super) node: N,
    way: Option<Rc<Way>>,
}

#[derive(Debug)]
struct Way {
    before: Option<Rc<Way>>,
    step: Step,
}

impl<N> Located<N> {
    pub(super) fn root(node: N) -> Self {
        Located { node, way: None }
    }

    fn child(way: &Option<Rc<Way>>, step: Step, node: N) -> Self {
        Located { node, way: Some(Rc::new(Way { before: way.clone(), step })) }
    }

    pub(super) fn path(&self) -> NodePath {
        let ways = std::iter::successors(self.way.as_deref(), |way| way.before.as_deref());
        let mut steps: Vec<Step> = ways.map(|way| way.step.clone()).collect();
        steps.reverse();
        NodePath { steps }
    }
}

pub(super) struct LocatedItems<I> {
    items: Enumerate<I>,
    way: Option<Rc<Way>>,
}

impl<N, I: Iterator<Item = N>> Iterator for LocatedItems<I> {
    type Item = Located<N>;

    fn next(&mut self) -> Option<Located<N>> {
        self.items.next().map(|(index, item)| Located::child(&self.way, Step::Index(index), item))
    }
}

pub(super) struct LocatedFields<F> {
    fields: F,
    way: Option<Rc<Way>>,
}

impl<'v, N, F: Iterator<Item = (&'v str, N)>> Iterator for LocatedFields<F> {
    type Item = (&'v str, Located<N>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.fields.next()?;
        Some((name, Located::child(&self.way, Step::Name(name.into()), value)))
    }
}

impl<'v, N: Node<'v>> Node<'v> for Located<N> {
    type Items = LocatedItems<N::Items>;
    type Fields = LocatedFields<N::Fields>;

    fn view(&self) -> View<'v, Self> {
        match self.node.view() {
            View::Scalar(scalar) => View::Scalar(scalar),
            View::Array(len, items) => {
                View::Array(len, LocatedItems { items: items.enumerate(), way: self.way.clone() })
            }
            View::Object(len, fields) => View::Object(len, LocatedFields { fields, way: self.way.clone() }),
        }
    }

    fn member(&self, name: &str) -> Option<Self> {
        Some(Self::child(&self.way, Step::Name(name.into()), self.node.member(name)?))
    }

    fn item(&self, index: usize) -> Option<Self> {
        Some(Self::child(&self.way, Step::Index(index), self.node.item(index)?))
    }
}
