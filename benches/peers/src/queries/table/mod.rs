//! The questions, each in both languages, and what a model says that it comes to. Rows are named as in the benches that they come from.

pub mod fields;
pub mod filters;
pub mod groups;
pub mod nested;
pub mod payload;
pub mod small;
pub mod sorts;
pub mod sums;

/// The middle half of all values.
const MIDDLE: std::ops::RangeInclusive<i64> = 250_000..=750_000;
