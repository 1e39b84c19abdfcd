//! Paths and filters, written naively from `spec/query.md` and RFC 9535: lists of nodes are lists, and every part is cloned.
//!
//! Categories of characters in patterns (`\p{..}`) are not here: they need tables that only Unicode has.

mod answers;
mod distinct;
mod evaluate;
mod exact;
mod functions;
mod groups;
mod parse;
mod pattern;
mod project;
mod time;

use std::collections::BTreeMap;

use crate::key::Key;
use crate::value::{Document, Value};
pub use answers::{Place, Query, Sort};
pub use distinct::distinct;
use evaluate::Scope;
pub(crate) use functions::of_value;
pub use groups::{Aggregate, Groups, SumOverflow};
pub use project::project;

/// A logical expression of RFC 9535.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    expr: Expr,
}

/// A query of RFC 9535.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    segments: Vec<Segment>,
}

/// One step of a place in a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To the field of this name.
    Name(String),
    /// To the item at this index, from 0.
    Index(usize),
}

/// What a segment selects that has one selector: a name, an index or the wildcard.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SingleSelector {
    /// The field of this name.
    Name(String),
    /// The item at this index, from the end where it is negative.
    Index(i64),
    /// All items, or the values of all fields.
    Wildcard,
}

/// A value within another, and where it is.
#[derive(Debug, Clone)]
struct Node {
    place: Vec<Step>,
    value: Value,
}

#[derive(Debug, Clone, PartialEq)]
struct Segment {
    descends: bool,
    selectors: Vec<Selector>,
}

#[derive(Debug, Clone, PartialEq)]
enum Selector {
    Name(String),
    Wildcard,
    Index(i64),
    Slice(Option<i64>, Option<i64>, Option<i64>),
    Filter(Expr),
}

#[derive(Debug, Clone, PartialEq)]
enum Expr {
    Or(Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Compare(Term, String, Term),
    Test(Term),
}

#[derive(Debug, Clone, PartialEq)]
enum Term {
    Literal(Value),
    Query { from_root: bool, segments: Vec<Segment> },
    Call(String, Vec<Term>),
}

impl Filter {
    /// The filter that `text` is; else why it is none.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        parse::filter(text).map(|expr| Filter { expr })
    }

    /// Whether it calls none of these functions.
    pub(crate) fn calls_none_of(&self, names: &[&str]) -> bool {
        self.expr.calls_none_of(names)
    }

    //= spec/query.md#q-2-2-parameters
    //# A bound value MUST NOT be read as part of the text of the filter.
    /// Whether the filter admits a document, under its key and with these parameters.
    pub fn admits(
        &self,
        key: Option<&Key>,
        document: &Document,
        parameters: &BTreeMap<String, Value>,
    ) -> bool {
        let root = Value::Object(document.clone());
        Scope { root: &root, current: &root, key, parameters }.holds(&self.expr)
    }
}

impl Expr {
    fn calls_none_of(&self, names: &[&str]) -> bool {
        match self {
            Expr::Or(left, right) | Expr::And(left, right) => {
                left.calls_none_of(names) && right.calls_none_of(names)
            }
            Expr::Not(inner) => inner.calls_none_of(names),
            Expr::Compare(left, _, right) => left.calls_none_of(names) && right.calls_none_of(names),
            Expr::Test(term) => term.calls_none_of(names),
        }
    }
}

impl Term {
    fn calls_none_of(&self, names: &[&str]) -> bool {
        match self {
            Term::Literal(_) => true,
            Term::Query { segments, .. } => {
                let mut selectors = segments.iter().flat_map(|segment| &segment.selectors);
                selectors.all(|selector| match selector {
                    Selector::Filter(expr) => expr.calls_none_of(names),
                    _ => true,
                })
            }
            Term::Call(name, args) => {
                !names.contains(&name.as_str()) && args.iter().all(|arg| arg.calls_none_of(names))
            }
        }
    }
}

/// What gives the values of a document that it is sorted or grouped by.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// As it was given. The normal form is what names an aggregate.
    pub text: String,
    term: Term,
}

impl Expression {
    //= spec/query.md#q-6-1-expression
    //# A store MUST refuse a constant (a literal, `arg` or `bytes` alone), or a function that is true or
    //# false, as an expression.
    /// The expression that `text` is; else why it is none.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        parse::expression(text).map(|term| Expression { text: text.to_owned(), term })
    }

    /// Whether it gives one value at most.
    pub fn is_single(&self) -> bool {
        functions::type_of(&self.term) == functions::Type::Value
    }

    /// What it gives.
    pub fn values(
        &self,
        key: Option<&Key>,
        document: &Document,
        parameters: &BTreeMap<String, Value>,
    ) -> Vec<Value> {
        let root = Value::Object(document.clone());
        let scope = Scope { root: &root, current: &root, key, parameters };
        match &self.term {
            Term::Query { .. } => scope.nodes(&self.term),
            _ => scope.value(&self.term).into_iter().collect(),
        }
    }

    /// The last segment that is one name.
    fn last_name(&self) -> Option<String> {
        let Term::Query { segments, .. } = &self.term else { return None };
        segments.iter().rev().find_map(|segment| match segment.selectors.as_slice() {
            [Selector::Name(name)] => Some(name.clone()),
            _ => None,
        })
    }
}

impl Path {
    /// The path that `text` is; else why it is none.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        parse::path(text).map(|segments| Path { segments })
    }

    /// The nodes that the path selects, in order.
    pub fn select(&self, value: &Value) -> Vec<Value> {
        self.nodes(value).into_iter().map(|node| node.value).collect()
    }

    /// The places of the nodes that the path selects, each once, in the order of a walk through the value.
    pub fn places(&self, value: &Value) -> Vec<Vec<Step>> {
        let selected: Vec<Vec<Step>> = self.nodes(value).into_iter().map(|node| node.place).collect();
        let all = evaluate::and_descendants(&Node::root(value)).into_iter().map(|node| node.place);
        all.filter(|place| selected.contains(place)).collect()
    }

    /// What the segments select, if each has one selector, and that is a name, an index or the wildcard.
    pub(crate) fn single_selectors(&self) -> Option<Vec<SingleSelector>> {
        let single = |segment: &Segment| match segment.selectors.as_slice() {
            _ if segment.descends => None,
            [Selector::Name(name)] => Some(SingleSelector::Name(name.clone())),
            [Selector::Index(index)] => Some(SingleSelector::Index(*index)),
            [Selector::Wildcard] => Some(SingleSelector::Wildcard),
            _ => None,
        };
        self.segments.iter().map(single).collect()
    }

    fn nodes(&self, value: &Value) -> Vec<Node> {
        let parameters = BTreeMap::new();
        let scope = Scope { root: value, current: value, key: None, parameters: &parameters };
        scope.select(&self.segments, value)
    }
}

impl Node {
    fn root(value: &Value) -> Self {
        Node { place: Vec::new(), value: value.clone() }
    }

    fn child(&self, step: Step, value: &Value) -> Self {
        let mut place = self.place.clone();
        place.push(step);
        Node { place, value: value.clone() }
    }
}
