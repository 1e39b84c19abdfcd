//! The steps of a singular query: names and indexes.

use super::ast::{Segment, Selector};
use crate::document::node::{Node, View};

/// The one node that a path of names and indexes leads to.
#[inline]
pub(crate) fn lead<'v, N: Node<'v>>(segments: &[Segment], mut node: N) -> Option<N> {
    for segment in segments {
        debug_assert!(segment.singular().is_some(), "a singular query has only names and indexes");
        node = child(&node, &segment.selectors[0])?;
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
