//! The limit on nesting. spec.

/// How deep brackets, parentheses and calls may nest in a query.
pub const NESTING_MAX: usize = 64;
