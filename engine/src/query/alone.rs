//! Filters that only compare the values at a path or two with constants, or ask whether they are there: each path is followed by itself.

use super::ast::{Argument, Call, Expr, Operand, Query, Segment, Selector};
use super::child::lead;
use super::evaluate::{Item, compare, is_between};
use super::function::Function;
use crate::document::{RawDocument, RawValue, Value};
use crate::sync::Arc;

/// The paths of a filter, in its order.
pub(super) type Paths = Arc<[Path]>;

/// A path that begins with a name. In a filter, `$` and `@` are one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Path {
    name: Box<str>,
    /// What leads on from there.
    rest: Box<[Segment]>,
    /// So many parts of the filter are about this path, and come one behind the other.
    parts: usize,
}

/// A filter of so many paths follows each by itself. One of more paths finds them in one pass, which costs as much as two.
const ALONE_MAX: usize = 2;

impl Path {
    fn of(query: &Query) -> Option<Self> {
        let (first, rest) = query.segments.split_first()?;
        match first.singular()? {
            Selector::Name(name) => Some(Path { name: name.as_str().into(), rest: rest.into(), parts: 1 }),
            _ => None,
        }
    }

    #[inline]
    fn lead<'v>(&self, document: RawDocument<'v>) -> Option<RawValue<'v>> {
        let found = document.get(&self.name);
        if self.rest.is_empty() { found } else { self.lead_on(found?) }
    }

    // What few filters need stands in functions of its own, so that the loop over documents keeps its values in registers.
    #[inline(never)]
    fn lead_on<'v>(&self, value: RawValue<'v>) -> Option<RawValue<'v>> {
        lead(&self.rest, value)
    }
}

/// The paths of the parts of `expr`, where it does no more than compare the values at a path or two with constants, or ask whether they are
/// there.
pub(super) fn paths_alone(expr: &Expr) -> Option<Paths> {
    let (mut paths, mut before) = (Vec::<Path>::new(), None);
    for part in expr.conjuncts() {
        let path = match part {
            Expr::Compare(Operand::Singular(path), _, to) if is_constant(to) => path,
            Expr::Exists(path) if path.is_singular() => path,
            Expr::Test(call) => match (call.function, call.args.as_slice()) {
                (
                    Function::Between,
                    [Argument::Value(Operand::Singular(path)), Argument::Value(low), Argument::Value(high)],
                ) if is_constant(low) && is_constant(high) => path,
                _ => return None,
            },
            _ => return None,
        };
        match paths.last_mut() {
            Some(last) if before == Some(&path.segments) => last.parts += 1,
            _ => paths.push(Path::of(path)?),
        }
        before = Some(&path.segments);
    }
    (paths.len() <= ALONE_MAX).then(|| paths.into())
}

/// Whether an expression for which [`paths_alone`] gave `paths` holds of the document: the second path is followed only where what is said
/// of the first holds.
#[inline(always)]
pub(super) fn all_hold(expr: &Expr, paths: &[Path], document: RawDocument<'_>) -> bool {
    let mut parts = expr.conjuncts().iter();
    for path in paths {
        let found = path.lead(document);
        let mut left = path.parts;
        while left > 0
            && let Some(part) = parts.next()
        {
            if !holds_of(part, &found, document) {
                return false;
            }
            left -= 1;
        }
    }
    true
}

#[inline]
fn holds_of(part: &Expr, found: &Option<RawValue<'_>>, document: RawDocument<'_>) -> bool {
    // Most filters are about ints.
    if let Expr::Compare(
        _,
        comparison,
        Operand::Literal(Value::Int(to)) | Operand::Parameter(_, Some(Value::Int(to))),
    ) = part
        && let Some(int) = found.as_ref().and_then(RawValue::as_i64)
    {
        return comparison.admits(Some(int.cmp(to)));
    }
    holds_of_any(part, found, document)
}

#[inline(never)]
fn holds_of_any(part: &Expr, found: &Option<RawValue<'_>>, document: RawDocument<'_>) -> bool {
    // Bytes that are no document match nothing.
    if found.is_none() && document.value().is_none() {
        return false;
    }
    let found = found.map_or(Item::Nothing, Item::of_node);
    match part {
        Expr::Compare(_, comparison, to) => compare(*comparison, &found, &of_constant(to)),
        Expr::Exists(_) => !matches!(found, Item::Nothing),
        Expr::Test(call) => is_between_constants(&found, call),
        _ => unreachable!("such a part asks about a path alone"),
    }
}

fn is_between_constants(found: &Item<'_, RawValue<'_>>, call: &Call) -> bool {
    is_between(found, &of_constant(call.operand(1)), &of_constant(call.operand(2)))
}

fn is_constant(operand: &Operand) -> bool {
    matches!(operand, Operand::Literal(_) | Operand::Parameter(..))
}

#[inline]
fn of_constant<'i>(operand: &'i Operand) -> Item<'i, RawValue<'i>> {
    match operand {
        Operand::Literal(value) | Operand::Parameter(_, Some(value)) => Item::of_value(value),
        // A run begins only once every parameter is bound.
        Operand::Parameter(_, None) => Item::Nothing,
        _ => unreachable!("such a part compares with constants"),
    }
}
