//! Which paths from the document an expression reads.

use super::ast::{Argument, Call, Expr, Operand, Query, Segment, Selector};

/// Whether `admits` holds of every path that is read from the document. A path is told as far as it was written.
pub(super) fn expr(of: &Expr, in_document: bool, admits: &mut dyn FnMut(&[Segment]) -> bool) -> bool {
    match of {
        Expr::Or(parts) | Expr::And(parts) => parts.iter().all(|part| expr(part, in_document, admits)),
        Expr::Not(inner) => expr(inner, in_document, admits),
        Expr::Exists(path) => query(path, in_document, admits),
        Expr::Compare(left, _, right) => {
            operand(left, in_document, admits) && operand(right, in_document, admits)
        }
        Expr::Test(inner) => call(inner, in_document, admits),
    }
}

pub(super) fn call(of: &Call, in_document: bool, admits: &mut dyn FnMut(&[Segment]) -> bool) -> bool {
    of.args.iter().all(|argument| match argument {
        Argument::Value(inner) => operand(inner, in_document, admits),
        Argument::Nodes(path) => query(path, in_document, admits),
    })
}

fn operand(of: &Operand, in_document: bool, admits: &mut dyn FnMut(&[Segment]) -> bool) -> bool {
    match of {
        Operand::Literal(_) | Operand::Parameter(..) => true,
        Operand::Singular(path) => query(path, in_document, admits),
        Operand::Call(inner) => call(inner, in_document, admits),
    }
}

pub(super) fn query(of: &Query, in_document: bool, admits: &mut dyn FnMut(&[Segment]) -> bool) -> bool {
    // Within brackets, `@` is a part of what a path from the document leads to.
    let is_of_document = in_document || of.from_root;
    (!is_of_document || admits(&of.segments)) && segments(&of.segments, admits)
}

/// The same of the filters in the brackets of a path.
pub(super) fn segments(of: &[Segment], admits: &mut dyn FnMut(&[Segment]) -> bool) -> bool {
    of.iter().flat_map(|segment| &segment.selectors).all(|selector| match selector {
        Selector::Filter(inner) => expr(inner, false, admits),
        _ => true,
    })
}
