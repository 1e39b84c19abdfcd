//! Whether an index has the order of a query's sorts.

use super::bounded::{Bounded, fan_out_of};
use crate::find::sort::CheckedSort;
use crate::secondary::IndexDefinition;
use crate::seeded::{self, Bug};

/// The order of an index as a query takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OrderTaken {
    pub(super) reverse: bool,
    /// Up to the last component that is sorted by.
    pub(super) components: usize,
    /// Whether documents that no sort tells apart are not in the order of their keys.
    pub(super) gathers: bool,
}

//= spec/query.md#q-10-1-plans
//# A sparse index MUST NOT be read for a query that can answer documents of which it has no entry.
/// The order of the sorts, where the index has it: behind components that have one value, each component is sorted by in turn.
pub(super) fn taken(
    sorts: &[CheckedSort],
    bounded: &Bounded,
    definition: &IndexDefinition,
) -> Option<OrderTaken> {
    let is_one_range = bounded.ranges.len() == 1;
    if sorts.is_empty() || !is_one_range || fan_out_of(definition).is_some() || !bounded.has_all(definition) {
        return None;
    }
    let components: Vec<_> = definition.components().collect();
    let end = bounded.fixed + sorts.len();
    if end > components.len() {
        return None;
    }
    let mut reverse = None;
    for (at, (sort, (of, descending))) in sorts.iter().zip(&components[bounded.fixed..]).enumerate() {
        if sort.expression.of_path() != Some(*of) {
            return None;
        }
        let turned = sort.descending != *descending;
        if *reverse.get_or_insert(turned) != turned {
            return None;
        }
        // An index has nothing before every value, and behind it where it is read in the reverse, as a sort has unless it says so.
        let has_value = bounded.has_value[bounded.fixed + at];
        if sort.nothing_last() != sort.descending && !has_value && !seeded::is_on(Bug::NothingAsIndexed) {
            return None;
        }
    }
    let reverse = reverse.unwrap_or(false);
    let gathers = (reverse || end < components.len()) && !seeded::is_on(Bug::TiesAsIndexed);
    Some(OrderTaken { reverse, components: end, gathers })
}
