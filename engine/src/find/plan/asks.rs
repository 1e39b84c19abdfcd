//! What a query asks of a plan.

use super::explain::PlanOrder;
use super::route::Hint;
use crate::find::keys::KeysWanted;
use crate::find::sort::CheckedSort;
use crate::query::{Filter, JsonPath};

/// What a plan is for.
#[derive(Debug, Clone, Copy)]
pub(in crate::find) struct Asks<'q> {
    pub(in crate::find) filter: Option<&'q Filter>,
    /// The parts that are wanted of each document, if not all are.
    pub(in crate::find) parts: Option<&'q [JsonPath]>,
    pub(in crate::find) sorts: &'q [CheckedSort],
    pub(in crate::find) wanted: &'q KeysWanted,
    /// How answers come into their order.
    pub(in crate::find) order: PlanOrder,
    /// How many answers there are at most.
    pub(in crate::find) most: u64,
    pub(in crate::find) hint: Option<&'q Hint>,
}
