//! What a query asks of a plan.

use super::explain::PlanOrder;
use super::route::Hint;
use crate::find::keys::KeysWanted;
use crate::find::sort::CheckedSort;
use crate::query::{Filter, JsonPath};

/// What a query answers of the documents that it finds.
#[derive(Debug, Clone)]
pub(in crate::find) enum Answers {
    Documents,
    /// What lies at these paths.
    Parts(Vec<JsonPath>),
    Keys,
    /// How many there are.
    Count,
}

/// What a plan is for.
#[derive(Debug, Clone, Copy)]
pub(in crate::find) struct Asks<'q> {
    pub(in crate::find) filter: Option<&'q Filter>,
    pub(in crate::find) answers: &'q Answers,
    pub(in crate::find) sorts: &'q [CheckedSort],
    pub(in crate::find) wanted: &'q KeysWanted,
    /// How answers come into their order.
    pub(in crate::find) order: PlanOrder,
    /// How many answers there are at most.
    pub(in crate::find) most: u64,
    /// Whether answers may come in any order.
    pub(in crate::find) unordered: bool,
    pub(in crate::find) hint: Option<&'q Hint>,
}
