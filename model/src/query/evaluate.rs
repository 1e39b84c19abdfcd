//! What a query selects, and what an expression says.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::functions;
use super::{Expr, Node, Segment, Selector, Step, Term};
use crate::key::Key;
use crate::value::Value;

#[derive(Clone, Copy)]
pub(super) struct Scope<'s> {
    pub(super) root: &'s Value,
    pub(super) current: &'s Value,
    pub(super) key: Option<&'s Key>,
    pub(super) parameters: &'s BTreeMap<String, Value>,
}

/// The fields in name order (V-3.6), or the items.
pub(super) fn children(node: &Node) -> Vec<Node> {
    match &node.value {
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.map(|(index, item)| node.child(Step::Index(index), item)).collect()
        }
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort_by_key(|name| (name.len(), name.as_bytes()));
            names.into_iter().map(|name| node.child(Step::Name(name.clone()), &fields[name])).collect()
        }
        _ => Vec::new(),
    }
}

/// The value, then all within it.
pub(super) fn and_descendants(node: &Node) -> Vec<Node> {
    let within = children(node).into_iter().flat_map(|child| and_descendants(&child));
    std::iter::once(node.clone()).chain(within).collect()
}

impl Scope<'_> {
    pub(super) fn select(&self, segments: &[Segment], from: &Value) -> Vec<Node> {
        segments.iter().fold(vec![Node::root(from)], |nodes, segment| {
            let from = nodes
                .iter()
                .flat_map(|node| if segment.descends { and_descendants(node) } else { vec![node.clone()] });
            from.flat_map(|node| {
                segment.selectors.iter().flat_map(|selector| self.take(selector, &node)).collect::<Vec<_>>()
            })
            .collect()
        })
    }

    fn take(&self, selector: &Selector, node: &Node) -> Vec<Node> {
        let item = |index: usize| match &node.value {
            Value::Array(items) => items.get(index).map(|item| node.child(Step::Index(index), item)),
            _ => None,
        };
        match (selector, &node.value) {
            (Selector::Wildcard, _) => children(node),
            (Selector::Filter(expr), _) => children(node)
                .into_iter()
                .filter(|child| Scope { current: &child.value, ..*self }.holds(expr))
                .collect(),
            (Selector::Name(name), Value::Object(fields)) => {
                let field = fields.get(name);
                field.map(|field| node.child(Step::Name(name.clone()), field)).into_iter().collect()
            }
            (Selector::Index(index), Value::Array(items)) => {
                let index = if *index < 0 { index + items.len() as i64 } else { *index };
                usize::try_from(index).ok().and_then(item).into_iter().collect()
            }
            (Selector::Slice(start, end, step), Value::Array(items)) => {
                slice(items.len(), *start, *end, step.unwrap_or(1)).into_iter().filter_map(item).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn nodes(&self, term: &Term) -> Vec<Value> {
        match term {
            Term::Query { from_root, segments } => {
                let nodes = self.select(segments, if *from_root { self.root } else { self.current });
                nodes.into_iter().map(|node| node.value).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The value of a term, or nothing.
    pub(super) fn value(&self, term: &Term) -> Option<Value> {
        match term {
            Term::Literal(value) => Some(value.clone()),
            Term::Query { .. } => self.nodes(term).pop(),
            Term::Call(name, args) => functions::value(self, name, args),
        }
    }

    pub(super) fn holds(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Or(left, right) => self.holds(left) || self.holds(right),
            Expr::And(left, right) => self.holds(left) && self.holds(right),
            Expr::Not(inner) => !self.holds(inner),
            Expr::Test(Term::Call(name, args)) => functions::test(self, name, args),
            Expr::Test(term) => !self.nodes(term).is_empty(),
            Expr::Compare(left, operator, right) => {
                let (left, right) = (self.value(left), self.value(right));
                match operator.as_str() {
                    "==" => equal(&left, &right),
                    "!=" => !equal(&left, &right),
                    "<" => less(&left, &right),
                    "<=" => less(&left, &right) || equal(&left, &right),
                    ">" => less(&right, &left),
                    _ => less(&right, &left) || equal(&left, &right),
                }
            }
        }
    }
}

/// RFC 9535, section 2.3.4.2.2, an index at a time.
fn slice(len: usize, start: Option<i64>, end: Option<i64>, step: i64) -> Vec<usize> {
    let len = len as i64;
    let from_end = |index: i64| if index < 0 { len + index } else { index };
    let indexes: Vec<i64> = match step.cmp(&0) {
        Ordering::Equal => Vec::new(),
        Ordering::Greater => {
            let (start, end) = (from_end(start.unwrap_or(0)).max(0), from_end(end.unwrap_or(len)).min(len));
            (start..end).filter(|index| (index - start) % step == 0).collect()
        }
        Ordering::Less => {
            let start = start.map_or(len - 1, from_end).min(len - 1);
            let end = end.map_or(-1, from_end).max(-1);
            (end + 1..=start).rev().filter(|index| (start - index) % -step == 0).collect()
        }
    };
    indexes.into_iter().map(|index| index as usize).collect()
}

/// spec.
pub(super) fn equal(left: &Option<Value>, right: &Option<Value>) -> bool {
    match (left, right) {
        (None, None) => true,
        (Some(left), Some(right)) => left.order_cmp(right).is_eq(),
        _ => false,
    }
}

//= spec/query.md#q-3-2-less
//# Values of other types, or of two types, MUST NOT be less than one another; nor is nothing less than a
//# value, or a value than nothing.
pub(super) fn less(left: &Option<Value>, right: &Option<Value>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return false };
    let is_number = |value: &Value| matches!(value, Value::Int(_) | Value::Float(_));
    let comparable = is_number(left) && is_number(right)
        || matches!((left, right), (Value::Text(_), Value::Text(_)) | (Value::Bytes(_), Value::Bytes(_)));
    comparable && left.order_cmp(right).is_lt()
}
