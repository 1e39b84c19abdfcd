//! Projections.

use std::collections::BTreeMap;

use super::evaluate::{Scope, children};
use super::{Node, Path, Step};
use crate::key::Key;
use crate::value::{Document, Value};

//= spec/query.md#q-8-1-projection
//# A projection MUST have each selected node with everything in it, in the objects and arrays that it is
//# in, and nothing else. Items of an array stay in their order, without gaps.
/// The projection of a document by paths.
pub fn project(key: &Key, document: &Document, paths: &[Path]) -> Document {
    let root = Value::Object(document.clone());
    let scope = Scope { root: &root, current: &root, key: Some(key), parameters: &BTreeMap::new() };
    let nodes = paths.iter().flat_map(|path| scope.select(&path.segments, &root));
    let selected: Vec<Vec<Step>> = nodes.map(|node| node.place).collect();
    match restricted(&Node::root(&root), &selected) {
        Some(Value::Object(fields)) => fields,
        _ => Document::new(),
    }
}

/// What is left of a node: all of it where it is selected, else its children of which anything is left.
fn restricted(node: &Node, selected: &[Vec<Step>]) -> Option<Value> {
    if selected.contains(&node.place) {
        return Some(node.value.clone());
    }
    let children = children(node);
    let left: Vec<(Step, Value)> = children
        .into_iter()
        .filter_map(|child| Some((child.place.last()?.clone(), restricted(&child, selected)?)))
        .collect();
    let named = |(step, value): (Step, Value)| match step {
        Step::Name(name) => Some((name, value)),
        Step::Index(_) => None,
    };
    match node.value {
        _ if left.is_empty() => None,
        Value::Object(_) => Some(Value::Object(left.into_iter().filter_map(named).collect())),
        _ => Some(Value::Array(left.into_iter().map(|(_, value)| value).collect())),
    }
}
