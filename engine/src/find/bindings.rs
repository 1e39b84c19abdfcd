//! The values that a query was given for parameters.

use crate::document::{Text, Value};
use crate::error::{Error, Result};
use crate::query::{Expression, Filter};

/// Values and their names, and whether each was used.
#[derive(Debug, Clone, Default)]
pub(super) struct Bindings {
    values: Vec<(Text, Value, bool)>,
}

impl Bindings {
    /// In the place of the value that the name had before, if any.
    pub(super) fn add(&mut self, name: Text, value: Value) {
        self.values.retain(|(other, ..)| *other != name);
        self.values.push((name, value, false));
    }

    //= spec/query.md#q-2-2-parameters
    //# A filter MUST NOT be run while a parameter is not bound.
    pub(super) fn bind_filter(&mut self, filter: &mut Filter) -> Result<()> {
        if !self.values.is_empty() {
            filter.bind_by(&mut |name| self.value_of(name))?;
        }
        filter.check()
    }

    pub(super) fn bind_expression(&mut self, expression: &mut Expression) -> Result<()> {
        if !self.values.is_empty() {
            expression.bind_by(&mut |name| self.value_of(name))?;
        }
        expression.check_bound()
    }

    fn value_of(&mut self, name: &str) -> Option<Value> {
        let (_, value, is_used) = self.values.iter_mut().find(|(other, ..)| *other == *name)?;
        *is_used = true;
        Some(value.clone())
    }

    /// Refuses a value that nothing asked for: its name is misspelt.
    pub(super) fn finish(self) -> Result<()> {
        match self.values.iter().find(|(_, _, is_used)| !is_used) {
            None => Ok(()),
            Some((name, ..)) => Err(Error::Parameter { name: name.to_string(), what: "is not in the query" }),
        }
    }
}
