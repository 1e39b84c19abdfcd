//! The steps of a singular query: names and indexes.

use super::ast::{Segment, Selector};
use crate::document::node::{Node, View};
use crate::document::{RawDocument, RawValue};

/// The one node that a path of names and indexes leads to.
#[inline]
pub(crate) fn lead<'v, N: Node<'v>>(segments: &[Segment], mut node: N) -> Option<N> {
    for segment in segments {
        debug_assert!(segment.singular().is_some(), "a singular query has only names and indexes");
        node = child(&node, &segment.selectors[0])?;
    }
    Some(node)
}

/// The same from a document.
#[inline]
pub(super) fn lead_from<'v>(document: RawDocument<'v>, segments: &[Segment]) -> Option<RawValue<'v>> {
    match segments.split_first() {
        None => document.value(),
        Some((first, rest)) => match first.selectors.as_slice() {
            [Selector::Name(name)] => lead(rest, document.get(name)?),
            // A document is an object.
            _ => None,
        },
    }
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
