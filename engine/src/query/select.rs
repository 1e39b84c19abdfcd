//! What a path selects of a value: nodes, handed over one by one, in the order of RFC 9535.

use std::ops::ControlFlow;

use super::ast::{Segment, Selector, Slice};
use super::child::child;
use super::evaluate::Scope;
use crate::document::node::{Node, View};

/// What is told each node that a query selects; `Break` ends the search.
type Each<'f, N> = dyn FnMut(N) -> ControlFlow<()> + 'f;

impl<'v, N: Node<'v>> Scope<'_, 'v, N> {
    /// Hands over the nodes that `segments` select, from `node` on. A segment goes one level down at least, so this recurses no
    /// deeper than the value is.
    pub(super) fn select(&self, segments: &[Segment], node: N, each: &mut Each<'_, N>) -> ControlFlow<()> {
        let mut node = node;
        let mut rest = segments;
        // The names and indexes at the front need no recursion.
        while let Some((first, others)) = rest.split_first()
            && let Some(selector) = first.singular()
        {
            match child(&node, selector) {
                Some(found) => node = found,
                None => return ControlFlow::Continue(()),
            }
            rest = others;
        }
        let Some((segment, rest)) = rest.split_first() else { return each(node) };
        if segment.descends {
            self.descend(segment, rest, &node, each)
        } else {
            self.children(segment, rest, &node, each)
        }
    }

    /// What `segment` takes of `node`, then of each of its descendants: a node before those within it.
    fn descend(
        &self,
        segment: &Segment,
        rest: &[Segment],
        node: &N,
        each: &mut Each<'_, N>,
    ) -> ControlFlow<()> {
        self.children(segment, rest, node, each)?;
        match node.view() {
            View::Scalar(_) => ControlFlow::Continue(()),
            View::Array(_, mut items) => items.try_for_each(|item| self.descend(segment, rest, &item, each)),
            View::Object(_, mut fields) => {
                fields.try_for_each(|(_, value)| self.descend(segment, rest, &value, each))
            }
        }
    }

    fn children(
        &self,
        segment: &Segment,
        rest: &[Segment],
        node: &N,
        each: &mut Each<'_, N>,
    ) -> ControlFlow<()> {
        segment.selectors.iter().try_for_each(|selector| match selector {
            Selector::Name(_) | Selector::Index(_) => match child(node, selector) {
                Some(found) => self.select(rest, found, each),
                None => ControlFlow::Continue(()),
            },
            Selector::Wildcard => self.every_child(node, |_| true, rest, each),
            Selector::Filter(expr) => self.every_child(node, |child| self.at(child).holds(expr), rest, each),
            Selector::Slice(slice) => self.slice(*slice, rest, node, each),
        })
    }

    fn every_child(
        &self,
        node: &N,
        wanted: impl Fn(&N) -> bool,
        rest: &[Segment],
        each: &mut Each<'_, N>,
    ) -> ControlFlow<()> {
        let mut one = |child: N| match wanted(&child) {
            true => self.select(rest, child, each),
            false => ControlFlow::Continue(()),
        };
        match node.view() {
            View::Scalar(_) => ControlFlow::Continue(()),
            View::Array(_, mut items) => items.try_for_each(&mut one),
            View::Object(_, mut fields) => fields.try_for_each(|(_, value)| one(value)),
        }
    }

    fn slice(&self, slice: Slice, rest: &[Segment], node: &N, each: &mut Each<'_, N>) -> ControlFlow<()> {
        let View::Array(len, items) = node.view() else { return ControlFlow::Continue(()) };
        let (lower, upper) = bounds(slice, len as i64);
        if slice.step > 0 && lower < upper {
            // Both are between 0 and the length.
            let (skip, take) = (lower as usize, (upper - lower) as usize);
            let step = usize::try_from(slice.step).unwrap_or(usize::MAX);
            return items
                .skip(skip)
                .take(take)
                .step_by(step)
                .try_for_each(|item| self.select(rest, item, each));
        }
        let mut index = upper;
        while slice.step < 0 && index > lower {
            if let Some(item) = usize::try_from(index).ok().and_then(|index| node.item(index)) {
                self.select(rest, item, each)?;
            }
            index = index.saturating_add(slice.step);
        }
        ControlFlow::Continue(())
    }
}

/// The bounds of a slice of an array of `len` items, by RFC 9535, section 2.3.4.2.2.
fn bounds(slice: Slice, len: i64) -> (i64, i64) {
    let normal = |index: i64| if index >= 0 { index } else { len + index };
    if slice.step >= 0 {
        let start = normal(slice.start.unwrap_or(0));
        let end = normal(slice.end.unwrap_or(len));
        (start.clamp(0, len), end.clamp(0, len))
    } else {
        let start = slice.start.map_or(len - 1, normal);
        let end = slice.end.map_or(-1, normal);
        (end.clamp(-1, len - 1), start.clamp(-1, len - 1))
    }
}
