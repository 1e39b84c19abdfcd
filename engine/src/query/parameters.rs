//! Parameters: which are there, and their values. spec.

use super::ast::Operand;
use super::walk::{Part, Visit};
use crate::document::{JsonMode, Text, Value};
use crate::error::{Error, Result};
use crate::seeded::{self, Bug};

//= spec/query.md#q-2-2-parameters
//# A bound value MUST NOT be read as part of the text of the filter.
/// Gives `value` to the parameter `name` in every part that `walk` visits. Whether there is one.
pub(super) fn bind(
    name: &str,
    value: &Value,
    walk: impl FnOnce(&mut Visit<'_>) -> Result<()>,
) -> Result<bool> {
    let mut bound = false;
    walk(&mut |part| {
        match part {
            Part::Operand(Operand::Parameter(parameter, slot)) if *parameter == *name => {
                *slot = Some(value.clone());
                bound = true;
            }
            Part::Call(call) => call.compile()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(bound)
}

/// The first parameter without a value.
pub(super) fn first_unbound(walk: impl FnOnce(&mut Visit<'_>) -> Result<()>) -> Option<Text> {
    let mut unbound = None;
    let _ = walk(&mut |part| {
        if let Part::Operand(Operand::Parameter(name, None)) = part {
            unbound.get_or_insert_with(|| name.clone());
        }
        Ok(())
    });
    unbound
}

/// Refuses to go on where there is one.
#[inline]
pub(super) fn check(unbound: &Option<Text>) -> Result<()> {
    match unbound {
        None => Ok(()),
        Some(_) if seeded::is_on(Bug::UnboundRuns) => Ok(()),
        Some(name) => Err(Error::Parameter { name: name.to_string(), what: "is not bound" }),
    }
}

/// The bound values, as text: together with the normal form they tell filters and expressions apart.
pub(super) fn values(walk: impl FnOnce(&mut Visit<'_>) -> Result<()>) -> String {
    let mut text = String::new();
    let _ = walk(&mut |part| {
        if let Part::Operand(Operand::Parameter(_, Some(value))) = part {
            text.push(' ');
            text.push_str(&value.to_json(JsonMode::Canonical));
        }
        Ok(())
    });
    text
}
