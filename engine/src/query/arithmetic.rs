//! Numbers from numbers. spec.

use super::function::Function;
use crate::document::node::Scalar;

/// The result of one operation: exact for two ints, rounded once otherwise; nothing where there is none.
pub(super) fn arithmetic<'i>(function: Function, a: Scalar<'_>, b: Scalar<'_>) -> Option<Scalar<'i>> {
    match (a, b) {
        (Scalar::Int(a), Scalar::Int(b)) => of_ints(function, a, b).map(Scalar::Int),
        _ => of_floats(function, float(a)?, float(b)?).map(Scalar::Float),
    }
}

/// The nearest float.
fn float(number: Scalar<'_>) -> Option<f64> {
    match number {
        Scalar::Int(int) => Some(int as f64),
        Scalar::Float(float) => Some(float),
        _ => None,
    }
}

//= spec/query.md#q-5-6-numbers
//# Of two ints, the result MUST be the exact int, or nothing where there is none.
fn of_ints(function: Function, a: i64, b: i64) -> Option<i64> {
    match function {
        Function::Add => a.checked_add(b),
        Function::Sub => a.checked_sub(b),
        Function::Mul => a.checked_mul(b),
        Function::Div => a.checked_div(b),
        // The remainder by -1 is 0, also of the int whose quotient would overflow.
        Function::Mod if b == -1 => Some(0),
        Function::Mod => a.checked_rem(b),
        _ => None,
    }
}

fn of_floats(function: Function, a: f64, b: f64) -> Option<f64> {
    let result = match function {
        Function::Add => a + b,
        Function::Sub => a - b,
        Function::Mul => a * b,
        Function::Div => a / b,
        Function::Mod => a % b,
        _ => return None,
    };
    // Overflow, division by zero, and what is no number any more.
    result.is_finite().then_some(result)
}
