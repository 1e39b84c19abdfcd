//! Which groups and distinct values the entries of an index tell.

use std::ops::Range;

use super::asks::Asks;
use super::bounded::{Bounded, Conjuncts, fan_out_of};
use super::choose::{COUNTED_MAX, Chosen, Ways, choose, cost_of_keys, indexes_for};
use super::explain::QueryPlan;
use super::route::{ByEntries, Hint, IndexEnd, Part};
use crate::error::{Error, Result};
use crate::find::aggregate::Aggregate;
use crate::find::keys::KeysWanted;
use crate::find::view::Walk;
use crate::indexed::IndexStats;
use crate::query::Expression;
use crate::secondary::IndexDefinition;
use crate::seeded::{self, Bug};

/// What is asked of the groups of a query.
#[derive(Debug, Clone, Copy)]
pub(in crate::find) struct AsksGroups<'q> {
    pub(in crate::find) by: &'q [Expression],
    pub(in crate::find) aggregates: &'q [(Aggregate, Expression)],
    /// Whether nothing but the values of the groups is asked for.
    pub(in crate::find) is_distinct: bool,
}

/// A way to groups or distinct values.
#[derive(Debug)]
pub(in crate::find) enum GroupRoute<I> {
    /// By the documents.
    Documents(Chosen<I>),
    /// By entries alone.
    Entries(ByEntries<I>),
    /// By the first or the last entries of an index, for each aggregate.
    Ends(Vec<IndexEnd<I>>),
}

impl<I: IndexStats> GroupRoute<I> {
    /// The plan as `explain` shows it, for a query of these keys.
    pub(in crate::find) fn told(&self, wanted: &KeysWanted) -> QueryPlan {
        match self {
            GroupRoute::Documents(chosen) => chosen.told(wanted),
            GroupRoute::Entries(way) => QueryPlan::of_entries(way),
            GroupRoute::Ends(ends) => QueryPlan::of_ends(ends),
        }
    }
}

impl AsksGroups<'_> {
    /// Whether an index gives some of what is asked for.
    fn are_of(&self, definition: &IndexDefinition) -> bool {
        let mut asked = self.by.iter().chain(self.aggregates.iter().map(|(_, of)| of)).peekable();
        let gives =
            |of: &Expression| definition.components().any(|(component, _)| of.of_path() == Some(component));
        // Documents alone are counted by the entries of any.
        asked.peek().is_none() || asked.any(gives)
    }
}

//= spec/query.md#q-10-3-answers-of-entries
//# Groups, distinct values and projections that entries answer MUST be those of the documents.
/// The way to the groups of all documents that the filter admits.
///
/// # Errors
/// As [`choose`].
pub(in crate::find) fn choose_groups<W: Walk>(
    walk: &W,
    asks: Asks<'_>,
    groups: AsksGroups<'_>,
) -> Result<GroupRoute<W::Index>> {
    let indexes = indexes_for(walk, asks.hint, &|definition| groups.are_of(definition))?;
    let is_of_all = matches!(asks.wanted, KeysWanted::Range(range) if range.is_all());
    if asks.filter.is_none()
        && is_of_all
        && let Some(ends) = ends(&indexes, groups)
    {
        return Ok(GroupRoute::Ends(ends));
    }
    let is_forced = matches!(asks.hint, Some(Hint::Index(_)));
    let by_entries = match is_of_all && !indexes.is_empty() {
        true => by_entries(walk, &indexes, &asks, groups, is_forced)?,
        false => None,
    };
    let Some(way) = by_entries else {
        return Ok(GroupRoute::Documents(choose(walk, asks)?));
    };
    match choose(walk, asks) {
        Ok(chosen) if !is_forced && chosen.cost < way.part.entries => Ok(GroupRoute::Documents(chosen)),
        Ok(_) | Err(Error::IndexCannotServe { .. }) => Ok(GroupRoute::Entries(way)),
        Err(error) => Err(error),
    }
}

/// For each aggregate an index that has its least or its greatest value at an end, if that is all that is asked for.
fn ends<I: IndexStats + Clone>(indexes: &[I], groups: AsksGroups<'_>) -> Option<Vec<IndexEnd<I>>> {
    if !groups.by.is_empty() || groups.aggregates.is_empty() {
        return None;
    }
    let end = |(kind, of): &(Aggregate, Expression)| {
        let is_greatest = match kind {
            Aggregate::Min => false,
            Aggregate::Max => true,
            _ => return None,
        };
        let has_end = |index: &&I| {
            let definition = index.definition();
            let has_all = definition.filter().is_none() || seeded::is_on(Bug::PartialIndexServesAll);
            has_all && is_component(of, definition, 0)
        };
        let index = indexes.iter().find(has_end)?.clone();
        Some(IndexEnd { index, is_greatest })
    };
    groups.aggregates.iter().map(end).collect()
}

/// The fewest entries that have all that is asked for.
fn by_entries<W: Walk>(
    walk: &W,
    indexes: &[W::Index],
    asks: &Asks<'_>,
    groups: AsksGroups<'_>,
    is_forced: bool,
) -> Result<Option<ByEntries<W::Index>>> {
    let most_entries = if is_forced { COUNTED_MAX } else { cost_of_keys(walk, asks.wanted)?.1 };
    let ways = Ways { indexes, asks: None, most_entries };
    let conjuncts = Conjuncts::of(asks.filter);
    let mut best: Option<ByEntries<W::Index>> = None;
    for (at, index) in indexes.iter().enumerate() {
        let definition = index.definition();
        for bounded in Bounded::by(&conjuncts, &[], definition, index.limits())? {
            let Some((components, aggregates)) = told_by(definition, &bounded, asks, groups) else {
                continue;
            };
            let part = ways.part(at, bounded, most_entries)?;
            // Of as many entries, shorter ones are read sooner.
            let costs = |part: &Part<W::Index>| (part.entries, part.index.definition().paths().len());
            let is_better = best.as_ref().is_none_or(|best| costs(&part) < costs(&best.part));
            if is_better && (part.is_counted || is_forced) {
                best = Some(ByEntries { part, components, aggregates, is_loose: groups.is_distinct });
            }
        }
    }
    Ok(best)
}

/// By which components the groups are told apart, and which component each aggregate is of. Where a document has several entries, these
/// tell distinct values, and how many documents are in the groups by the one path of the index.
fn told_by(
    definition: &IndexDefinition,
    bounded: &Bounded,
    asks: &Asks<'_>,
    groups: AsksGroups<'_>,
) -> Option<(Range<usize>, Vec<usize>)> {
    let AsksGroups { by, aggregates, is_distinct } = groups;
    let paths = definition.paths().len();
    if fan_out_of(definition).is_some() {
        let tells = is_distinct || paths == 1 && aggregates.is_empty();
        if !tells || asks.filter.is_some() || by.is_empty() {
            return None;
        }
    }
    let says_all = bounded.is_exact || seeded::is_on(Bug::EntriesUnfiltered);
    // What has no entry has no value either.
    if !says_all || !(bounded.has_all(definition) || is_distinct) {
        return None;
    }
    let fixed = if bounded.ranges.len() == 1 { bounded.fixed } else { 0 };
    let starts = if fixed == 0 { vec![0] } else { vec![0, fixed] };
    starts.into_iter().find_map(|start| {
        let end = start + by.len();
        let is_by = end <= paths && by.iter().zip(start..).all(|(of, at)| is_component(of, definition, at));
        // Groups come in the order of values, distinct values can be put into it.
        let in_order = definition.paths().skip(start).take(by.len()).all(|(_, descending)| !descending);
        if !is_by || !(in_order || is_distinct && by.len() == 1) {
            return None;
        }
        let of = aggregates.iter().map(|(kind, of)| match kind {
            // Equal values are counted once because they come one behind the other.
            Aggregate::CountDistinct => is_component(of, definition, end).then_some(end),
            _ => (0..paths).find(|at| is_component(of, definition, *at)),
        });
        Some((start..end, of.collect::<Option<Vec<_>>>()?))
    })
}

/// Whether an expression gives what a component has.
fn is_component(of: &Expression, definition: &IndexDefinition, at: usize) -> bool {
    let component = definition.components().nth(at);
    component.is_some_and(|(component, _)| of.of_path() == Some(component))
}
