//! Nodes that know where they are: the normalized paths of RFC 9535, section 2.7.

use std::fmt;
use std::rc::Rc;

use super::display::quoted;
use crate::document::Value;
use crate::document::node::{Node, View};
use crate::document::{Fields, Text};

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
pub(super) struct Located<'v> {
    pub(super) value: &'v Value,
    way: Option<Rc<Way>>,
}

#[derive(Debug)]
struct Way {
    before: Option<Rc<Way>>,
    step: Step,
}

impl<'v> Located<'v> {
    pub(super) fn root(value: &'v Value) -> Self {
        Located { value, way: None }
    }

    fn child(way: &Option<Rc<Way>>, step: Step, value: &'v Value) -> Self {
        Located { value, way: Some(Rc::new(Way { before: way.clone(), step })) }
    }

    pub(super) fn path(&self) -> NodePath {
        let ways = std::iter::successors(self.way.as_deref(), |way| way.before.as_deref());
        let mut steps: Vec<Step> = ways.map(|way| way.step.clone()).collect();
        steps.reverse();
        NodePath { steps }
    }
}

pub(super) struct LocatedItems<'v> {
    items: std::iter::Enumerate<std::slice::Iter<'v, Value>>,
    way: Option<Rc<Way>>,
}

impl<'v> Iterator for LocatedItems<'v> {
    type Item = Located<'v>;

    fn next(&mut self) -> Option<Located<'v>> {
        self.items.next().map(|(index, item)| Located::child(&self.way, Step::Index(index), item))
    }
}

pub(super) struct LocatedFields<'v> {
    fields: Fields<'v>,
    way: Option<Rc<Way>>,
}

impl<'v> Iterator for LocatedFields<'v> {
    type Item = (&'v str, Located<'v>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.fields.next()?;
        Some((name, Located::child(&self.way, Step::Name(name.into()), value)))
    }
}

impl<'v> Node<'v> for Located<'v> {
    type Items = LocatedItems<'v>;
    type Fields = LocatedFields<'v>;

    fn view(&self) -> View<'v, Self> {
        match Node::view(&self.value) {
            View::Scalar(scalar) => View::Scalar(scalar),
            View::Array(len, items) => {
                View::Array(len, LocatedItems { items: items.enumerate(), way: self.way.clone() })
            }
            View::Object(len, fields) => View::Object(len, LocatedFields { fields, way: self.way.clone() }),
        }
    }

    fn member(&self, name: &str) -> Option<Self> {
        let value = self.value.as_object()?.get(name)?;
        Some(Self::child(&self.way, Step::Name(name.into()), value))
    }

    fn item(&self, index: usize) -> Option<Self> {
        let value = self.value.as_array()?.get(index)?;
        Some(Self::child(&self.way, Step::Index(index), value))
    }
}
