//! The steps of a singular query: names and indexes.

use super::ast::{Segment, Selector};
use crate::document::node::{Node, View};

/// The one node that a path of names and indexes leads to.
#[inline]
pub(crate) fn lead<'v, N: Node<'v>>(segments: &[Segment], mut node: N) -> Option<N> {
    for segment in segments {
        node = child(&node, segment.singular().expect("a singular query has only names and indexes"))?;
    }
    Some(node)
}

/// The child that a name or an index takes.
#[inline]
pub(crate) fn child<'v, N: Node<'v>>(node: &N, selector: &Selector) -> Option<N> {
    match selector {
        Selector::Name(name) => node.member(name),
        Selector::Index(index) => match usize::try_from(*index) {
            Ok(index) => node.item(index),
            Err(_) => match node.view() {
                View::Array(len, _) => {
                    node.item(len.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?)
                }
                _ => None,
            },
        },
        _ => unreachable!("only names and indexes take one child"),
    }
}
