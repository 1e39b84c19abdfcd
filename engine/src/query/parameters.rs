//! Parameters: which are there, and their values. spec.

use super::ast::Operand;
use super::walk::{Part, Visit};
use crate::document::{JsonMode, Text, Value};
use crate::error::{Error, Result};
use crate::seeded::{self, Bug};

//= spec/query.md#q-2-2-parameters
//# A bound value MUST NOT be read as part of the text of the filter.
/// Gives the parameters of every part that `walk` visits the values that `value_of` has for their names. The first that has no value then.
pub(super) fn bind(
    value_of: &mut dyn FnMut(&str) -> Option<Value>,
    walk: impl FnOnce(&mut Visit<'_>) -> Result<()>,
) -> Result<Option<Text>> {
    let mut unbound = None;
    walk(&mut |part| {
        match part {
            Part::Operand(Operand::Parameter(name, slot)) => match value_of(name) {
                None if slot.is_none() => _ = unbound.get_or_insert_with(|| name.clone()),
                None => {}
                value => *slot = value,
            },
            Part::Call(call) if call.has_parameter() => call.prepare()?,
            Part::Call(_) | Part::Operand(_) => {}
        }
        Ok(())
    })?;
    Ok(unbound)
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
