//! What a logical expression says of a node.

use std::cell::Cell;
use std::cmp::Ordering;
use std::marker::PhantomData;
use std::ops::ControlFlow;

use super::ast::{Comparison, Expr, Operand, Query};
use super::child::lead;
use super::text::Mapping;
use crate::document::node::{Node, Scalar, View};
use crate::document::order::{order_cmp, scalar_cmp};
use crate::document::{KeyRef, Value};
use crate::error::{Error, Result};
use crate::seeded::{self, Bug};

/// What an expression is evaluated in: the nodes that `$` and `@` stand for, and what else a run knows.
pub(super) struct Scope<'r, 'v, N: Node<'v>> {
    pub(super) root: &'r N,
    pub(super) current: &'r N,
    pub(super) run: &'r Run<'r, N>,
    pub(super) nodes: PhantomData<&'v ()>,
}

/// What stays the same in all scopes of one evaluation.
pub(super) struct Run<'r, N> {
    /// The key of the document, where there is one.
    pub(super) key: Option<KeyRef<'r>>,
    /// What the paths of the filter led to, in the order of their numbers.
    pub(super) found: &'r [Option<N>],
    /// A pattern that the document gave and that is beyond the limit: what is answered then does not count.
    pub(super) pattern_too_large: Cell<Option<String>>,
}

/// What an operand is in a scope.
pub(super) enum Item<'i, N> {
    Nothing,
    Scalar(Scalar<'i>),
    /// A text whose characters are to be mapped as they are read.
    Mapped(&'i str, Mapping),
    /// An array or object within the value.
    Node(N),
    /// An array or object of the expression.
    Value(&'i Value),
}

impl<'r, N> Run<'r, N> {
    /// Of a value that is no document of a collection.
    pub(super) fn of_value() -> Self {
        Run { key: None, found: &[], pattern_too_large: Cell::new(None) }
    }

    /// Of a document, in which the paths of the filter were found.
    pub(super) fn of_document(key: Option<KeyRef<'r>>, found: &'r [Option<N>]) -> Self {
        Run { key, found, pattern_too_large: Cell::new(None) }
    }

    //= spec/query.md#q-4-2-limits-of-patterns
    //# A pattern beyond a limit MUST be refused as `PatternTooLarge`: where the query is parsed or bound, or
    //# where it is run if a document holds the pattern.
    /// Whether what was answered counts.
    ///
    /// # Errors
    /// `PatternTooLarge`.
    pub(super) fn end(&self) -> Result<()> {
        self.pattern_too_large.take().map_or(Ok(()), |pattern| Err(Error::PatternTooLarge { pattern }))
    }
}

impl<'i, 'v: 'i, N: Node<'v>> Item<'i, N> {
    #[inline(always)]
    pub(super) fn of_node(node: N) -> Self {
        match node.view() {
            View::Scalar(scalar) => Item::Scalar(scalar),
            _ => Item::Node(node),
        }
    }

    #[inline]
    pub(super) fn of_value(value: &'i Value) -> Self {
        match Node::view(&value) {
            View::Scalar(scalar) => Item::Scalar(scalar),
            _ => Item::Value(value),
        }
    }

    /// The text that this is, and how it is to be read.
    pub(super) fn as_text(&self) -> Option<(&'i str, Mapping)> {
        match *self {
            Item::Mapped(text, mapping) => Some((text, mapping)),
            // Bytes that are not UTF-8 are no text: there are none in a document that was checked.
            Item::Scalar(Scalar::Text(text)) => Some((std::str::from_utf8(text).ok()?, Mapping::None)),
            _ => None,
        }
    }

    pub(super) fn text(text: &'i str) -> Self {
        Item::Scalar(Scalar::Text(text.as_bytes()))
    }
}

impl<'r, 'v, N: Node<'v>> Scope<'r, 'v, N> {
    pub(super) fn new(root: &'r N, run: &'r Run<'r, N>) -> Self {
        Scope { root, current: root, run, nodes: PhantomData }
    }

    /// The same with another current node.
    pub(super) fn at<'s>(&self, current: &'s N) -> Scope<'s, 'v, N>
    where
        'r: 's,
    {
        Scope { root: self.root, current, run: self.run, nodes: PhantomData }
    }

    fn start(&self, query: &Query) -> N {
        if query.from_root { self.root.clone() } else { self.current.clone() }
    }

    /// Whether `expr` holds.
    pub(super) fn holds(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Or(parts) => parts.iter().any(|part| self.holds(part)),
            Expr::And(parts) => parts.iter().all(|part| self.holds(part)),
            Expr::Not(inner) => !self.holds(inner),
            Expr::Exists(query) if query.is_singular() => self.single(query).is_some(),
            Expr::Exists(query) => self.nodes(query, &mut |_| ControlFlow::Break(())).is_break(),
            Expr::Compare(left, comparison, right) => {
                compare(*comparison, &self.item(left), &self.item(right))
            }
            Expr::Test(call) => self.test(call),
        }
    }

    /// Hands over what `query` selects.
    pub(super) fn nodes(&self, query: &Query, each: &mut dyn FnMut(N) -> ControlFlow<()>) -> ControlFlow<()> {
        self.select(&query.segments, self.start(query), each)
    }

    /// The one node that a singular query leads to.
    #[inline]
    pub(super) fn single(&self, query: &Query) -> Option<N> {
        match query.number {
            Some(number) => self.run.found[usize::from(number)].clone(),
            None => lead(&query.segments, self.start(query)),
        }
    }

    /// The value of an operand, or nothing.
    #[inline]
    pub(super) fn item<'i>(&self, operand: &'i Operand) -> Item<'i, N>
    where
        'v: 'i,
        'r: 'i,
    {
        match operand {
            Operand::Literal(value) | Operand::Parameter(_, Some(value)) => Item::of_value(value),
            // A run begins only once every parameter is bound.
            Operand::Parameter(_, None) => Item::Nothing,
            Operand::Singular(query) => self.single(query).map_or(Item::Nothing, Item::of_node),
            Operand::Call(call) => self.call(call),
        }
    }
}

/// Whether `low <= value && value <= high`.
#[inline]
pub(super) fn is_between<'i, 'v: 'i, N: Node<'v>>(
    value: &Item<'i, N>,
    low: &Item<'i, N>,
    high: &Item<'i, N>,
) -> bool {
    compare(Comparison::LessOrEqual, low, value) && compare(Comparison::LessOrEqual, value, high)
}

/// Whether two values compare so.
#[inline]
pub(super) fn compare<'i, 'v: 'i, N: Node<'v>>(
    comparison: Comparison,
    left: &Item<'i, N>,
    right: &Item<'i, N>,
) -> bool {
    comparison.admits(relation(left, right))
}

//= spec/query.md#q-3-2-less
//# Values of other types, or of two types, MUST NOT be less than one another; nor is nothing less than a
//# value, or a value than nothing.
/// How two values stand to one another: none where they are unequal and in no order. Only numbers, texts and byte strings have
/// an order, each kind its own. spec: Q-3.
#[inline]
fn relation<'i, 'v: 'i, N: Node<'v>>(left: &Item<'i, N>, right: &Item<'i, N>) -> Option<Ordering> {
    match (left, right) {
        (Item::Scalar(a), Item::Scalar(b)) => {
            let order = scalar_cmp(*a, *b);
            (order.is_eq() || have_an_order(*a, *b)).then_some(order)
        }
        _ => relation_of_others(left, right),
    }
}

#[inline]
fn have_an_order(a: Scalar<'_>, b: Scalar<'_>) -> bool {
    matches!(
        (a, b),
        (Scalar::Int(_) | Scalar::Float(_), Scalar::Int(_) | Scalar::Float(_))
            | (Scalar::Text(_), Scalar::Text(_))
            | (Scalar::Bytes(_), Scalar::Bytes(_))
    )
}

#[inline(never)]
fn relation_of_others<'i, 'v: 'i, N: Node<'v>>(left: &Item<'i, N>, right: &Item<'i, N>) -> Option<Ordering> {
    let is_equal = match (left, right) {
        (Item::Nothing, Item::Nothing) => true,
        (Item::Nothing, Item::Scalar(Scalar::Null)) | (Item::Scalar(Scalar::Null), Item::Nothing) => {
            seeded::is_on(Bug::NothingEqualsNull)
        }
        (Item::Node(a), Item::Node(b)) => order_cmp(a, b).is_eq(),
        (Item::Node(a), Item::Value(b)) | (Item::Value(b), Item::Node(a)) => order_cmp(a, b).is_eq(),
        (Item::Value(a), Item::Value(b)) => order_cmp(a, b).is_eq(),
        _ => return text_cmp(left, right),
    };
    is_equal.then_some(Ordering::Equal)
}

/// The order of two texts of which one at least is mapped.
fn text_cmp<'i, 'v: 'i, N: Node<'v>>(left: &Item<'i, N>, right: &Item<'i, N>) -> Option<Ordering> {
    let (a, a_mapping) = left.as_text()?;
    let (b, b_mapping) = right.as_text()?;
    // The order of UTF-8 is that of the characters.
    Some(a_mapping.chars(a).cmp(b_mapping.chars(b)))
}
