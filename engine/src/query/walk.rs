//! Every part of an expression, those within filter selectors included.

use super::ast::{Argument, Call, Expr, Operand, Query, Segment, Selector};
use crate::error::Result;
use crate::sync::Arc;

/// A part that is visited: an operand before what is in it, a call after its arguments.
pub(super) enum Part<'p> {
    Operand(&'p mut Operand),
    Call(&'p mut Call),
}

pub(super) type Visit<'f> = dyn FnMut(Part<'_>) -> Result<()> + 'f;

/// Visits all parts, up to the first error.
pub(super) fn walk(expr: &mut Expr, visit: &mut Visit<'_>) -> Result<()> {
    match expr {
        Expr::Or(parts) | Expr::And(parts) => parts.iter_mut().try_for_each(|part| walk(part, visit)),
        Expr::Not(inner) => walk(inner, visit),
        Expr::Exists(query) => within(query, visit),
        Expr::Compare(left, _, right) => operand(left, visit).and_then(|()| operand(right, visit)),
        Expr::Test(inner) => call(inner, visit),
    }
}

fn operand(part: &mut Operand, visit: &mut Visit<'_>) -> Result<()> {
    visit(Part::Operand(part))?;
    match part {
        Operand::Literal(_) | Operand::Parameter(..) | Operand::Singular(_) => Ok(()),
        Operand::Call(inner) => call(inner, visit),
    }
}

pub(super) fn call(part: &mut Call, visit: &mut Visit<'_>) -> Result<()> {
    part.args.iter_mut().try_for_each(|argument| match argument {
        Argument::Value(inner) => operand(inner, visit),
        Argument::Nodes(query) => within(query, visit),
    })?;
    visit(Part::Call(part))
}

pub(super) fn within(query: &mut Query, visit: &mut Visit<'_>) -> Result<()> {
    let is_filter = |selector: &Selector| matches!(selector, Selector::Filter(_));
    let has_filter = |segment: &Segment| segment.selectors.iter().any(is_filter);
    if !query.segments.iter().any(has_filter) {
        // It has no parts, and stays shared.
        return Ok(());
    }
    let segments = Arc::make_mut(&mut query.segments);
    for selector in segments.iter_mut().flat_map(|segment| &mut segment.selectors) {
        if let Selector::Filter(expr) = selector {
            walk(expr, visit)?;
        }
    }
    Ok(())
}
