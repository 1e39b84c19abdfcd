//! The cheapest way to the documents of a query.

use super::bounded::{Bounded, fan_out_of};
use super::explain::{PlanOrder, QueryPlan};
use super::order;
use super::route::{Hint, InOrder, Part, Route};
use super::says::conjuncts;
use crate::error::{Error, Result};
use crate::find::keys::KeysWanted;
use crate::find::sort::CheckedSort;
use crate::find::view::Walk;
use crate::index::{KeyRange, Target};
use crate::indexed::IndexStats;
use crate::indexed::count_up_to;
use crate::query::Filter;
use crate::query::ast::Expr;
use crate::secondary::{EntryLimits, IndexDefinition};
use crate::seeded::{self, Bug};

// What a document costs, by the way to it. A scan passes one in about 50 ns; an entry leads to its document by a look into the index of
// keys and into a block.
const SCANNED: u64 = 1;
const FETCHED: u64 = 6;
const SORTED: u64 = 2;
/// A filter of which nothing is known admits one document of so many.
const ADMITS_ONE_OF: u64 = 4;
/// So many entries are counted for a plan that is not compared with others.
const COUNTED_MAX: u64 = 10_000;

/// What a plan is for.
#[derive(Debug, Clone, Copy)]
pub(in crate::find) struct Asks<'q> {
    pub(in crate::find) filter: Option<&'q Expr>,
    pub(in crate::find) sorts: &'q [CheckedSort],
    pub(in crate::find) wanted: &'q KeysWanted,
    /// How answers come into their order.
    pub(in crate::find) order: PlanOrder,
    /// How many answers there are at most.
    pub(in crate::find) most: u64,
    pub(in crate::find) hint: Option<&'q Hint>,
}

/// A way, and what is told of it.
#[derive(Debug)]
pub(in crate::find) struct Chosen<I> {
    pub(in crate::find) route: Route<I>,
    pub(in crate::find) told: QueryPlan,
}

//= spec/query.md#q-10-1-plans
//# A plan MUST NOT change what a query answers, nor the order of the answers.
//= spec/query.md#q-10-4-hints
//# A hint that names an index that the collection does not have MUST be refused as `UnknownIndex`.
//= spec/query.md#q-10-4-hints
//# A hint that names an index that neither bounds the documents that the filter can admit nor has the order
//# of the sorts, or that is sparse and lacks some of them, MUST be refused as `IndexCannotServe`.
/// The way to the documents that a query asks for, in the state of `walk`.
///
/// # Errors
/// `UnknownIndex`, `IndexCannotServe` for a hint.
pub(in crate::find) fn choose<W: Walk>(walk: &W, asks: Asks<'_>) -> Result<Chosen<W::Index>> {
    let indexes = match asks.hint {
        Some(Hint::Scan) => Vec::new(),
        Some(Hint::Index(name)) => vec![walk.index(name)?],
        None => walk.indexes()?,
    };
    let is_forced = matches!(asks.hint, Some(Hint::Index(_)));
    if indexes.is_empty() {
        return Ok(Chosen { route: Route::Keys, told: QueryPlan::of_keys(asks.wanted, asks.order, None) });
    }
    let (of_keys, each) = match asks.wanted {
        KeysWanted::These(keys) => (keys.len() as u64, FETCHED),
        KeysWanted::Range(range) => (walk.count_up_to(range, u64::MAX), SCANNED),
    };
    let keys = of_keys * each;
    let sorts = asks.order == PlanOrder::Sort;
    let by_keys = if sorts { keys * (SCANNED + SORTED) } else { keys };
    let most_entries = if is_forced { COUNTED_MAX } else { by_keys / FETCHED + 1 };
    let ways = Ways { indexes: &indexes, most_entries };
    let filtered = asks.filter.map(|filter| ways.filtered(filter)).transpose()?.flatten();
    let filtered = filtered.filter(|found| found.is_counted || is_forced);
    let cost_filtered = filtered.as_ref().map(|found| {
        let entries = found.entries;
        match asks.order {
            PlanOrder::Sort => entries * (FETCHED + SORTED),
            _ => entries + entries.min(asks.most) * FETCHED,
        }
    });
    // Where few answers are wanted, a walk in the order of keys ends early.
    let by_keys = match &filtered {
        Some(found) if !sorts && asks.most < found.entries => by_keys.min(asks.most * keys / found.entries),
        _ => by_keys,
    };
    let ordered = ways.ordered(&asks, filtered.as_ref().map(|found| found.entries))?;
    let least = |cost: u64, other: Option<u64>| other.is_none_or(|other| cost <= other);
    let (by_order, order_cost) = ordered.map_or((None, None), |(way, cost)| (Some(way), Some(cost)));
    let order_wins =
        order_cost.is_some_and(|cost| least(cost, cost_filtered) && (is_forced || cost <= by_keys));
    if order_wins && let Some(way) = by_order {
        let told = QueryPlan::of_order(&way, &indexes, of_keys);
        return Ok(Chosen { route: Route::Order(way.map(|at| indexes[at].clone())), told });
    }
    match filtered {
        Some(found) if is_forced || cost_filtered.is_some_and(|cost| cost < by_keys) => {
            let told = QueryPlan::of_ranges(asks.order, &found.parts, &indexes, of_keys);
            let parts = found.parts.into_iter().map(|part| part.map(|at| indexes[at].clone())).collect();
            Ok(Chosen { route: Route::Ranges(parts), told })
        }
        _ if is_forced => Err(Error::IndexCannotServe {
            index: indexes[0].definition().name().to_owned(),
            what: "the filter bounds none of its first paths, or admits documents that it lacks, and the sorts are not in its order",
        }),
        _ => Ok(Chosen {
            route: Route::Keys,
            told: QueryPlan::of_keys(asks.wanted, asks.order, Some(of_keys)),
        }),
    }
}

/// Ranges of indexes, by their numbers, in which all entries lie that a filter can want.
#[derive(Debug)]
pub(super) struct Filtered {
    pub(super) parts: Vec<Part<usize>>,
    pub(super) entries: u64,
    /// Whether `entries` is the number, and not less than it.
    pub(super) is_counted: bool,
}

struct Ways<'i, I> {
    indexes: &'i [I],
    /// More entries than these cost more than a walk over the keys.
    most_entries: u64,
}

impl<I: IndexStats> Ways<'_, I> {
    /// The fewest entries for a filter.
    fn filtered(&self, filter: &Expr) -> Result<Option<Filtered>> {
        let mut best: Option<Filtered> = None;
        for (at, index) in self.indexes.iter().enumerate() {
            for bounded in Bounded::by(conjuncts(filter), index.definition(), index.limits())? {
                if bounded.used == 0 || !bounded.has_all(index.definition()) {
                    continue;
                }
                let limit = best.as_ref().map_or(self.most_entries, |best| best.entries);
                let part = self.part(at, bounded, limit);
                if best.as_ref().is_none_or(|best| part.is_counted && part.entries < best.entries) {
                    let (entries, is_counted) = (part.entries, part.is_counted);
                    best = Some(Filtered { parts: vec![part], entries, is_counted });
                }
            }
        }
        for part in conjuncts(filter) {
            let Expr::Or(branches) = part else { continue };
            let is_whole = conjuncts(filter).len() == 1;
            if let Some(union) = self.union(branches, is_whole)?
                && best.as_ref().is_none_or(|best| union.is_counted && union.entries < best.entries)
            {
                best = Some(union);
            }
        }
        Ok(best)
    }

    /// The entries of all branches, where indexes have each.
    fn union(&self, branches: &[Expr], is_whole: bool) -> Result<Option<Filtered>> {
        let mut union = Filtered { parts: Vec::new(), entries: 0, is_counted: true };
        for branch in branches {
            let Some(mut found) = self.filtered(branch)? else { return Ok(None) };
            found.parts.iter_mut().for_each(|part| part.is_exact &= is_whole);
            if seeded::is_on(Bug::UnionOfOneSide) && !union.parts.is_empty() {
                continue;
            }
            union.parts.append(&mut found.parts);
            union.entries += found.entries;
            union.is_counted &= found.is_counted && union.entries <= self.most_entries;
        }
        Ok(Some(union))
    }

    fn part(&self, at: usize, bounded: Bounded, most: u64) -> Part<usize> {
        let index = &self.indexes[at];
        let paths = index.definition().paths().len();
        let is_one = index.definition().is_unique()
            && bounded.fixed == paths
            && bounded.has_value.iter().all(|has| *has);
        let (mut entries, limit) = (0, most.saturating_add(1));
        if is_one && fan_out_of(index.definition()).is_none() {
            entries = bounded.ranges.len() as u64;
        } else {
            for range in &bounded.ranges {
                entries += index.count_up_to(range, limit - entries);
            }
        }
        let is_counted = entries <= most;
        Part { index: at, ranges: bounded.ranges, is_exact: bounded.is_exact, entries, is_counted }
    }

    /// The cheapest order of an index that is that of the sorts, with what it costs. `matching` documents are admitted, if that is known.
    fn ordered(&self, asks: &Asks<'_>, matching: Option<u64>) -> Result<Option<(InOrder<usize>, u64)>> {
        let mut best: Option<(InOrder<usize>, u64)> = None;
        for (at, index) in self.indexes.iter().enumerate() {
            let definition = index.definition();
            let all = || vec![Bounded::not_at_all(definition)];
            let ways = match asks.filter {
                Some(filter) => Bounded::by(conjuncts(filter), definition, index.limits())?,
                None => all(),
            };
            for bounded in ways {
                let taken = match asks.order {
                    PlanOrder::Sort => order::taken(asks.sorts, &bounded, definition),
                    _ => None,
                };
                let Some(taken) = taken else { continue };
                let fixed = definition.beginning(&bounded.fixed_values, index.limits())?.bytes;
                let admits_all = bounded.is_exact || asks.filter.is_none();
                let part = match admits_all && asks.most < self.most_entries {
                    // It ends after these, however many there are.
                    true => Part {
                        index: at,
                        ranges: bounded.ranges,
                        is_exact: bounded.is_exact,
                        entries: asks.most,
                        is_counted: false,
                    },
                    false => self.part(at, bounded, self.most_entries),
                };
                let read = match (admits_all, matching) {
                    (true, _) => asks.most,
                    (false, Some(matching)) if matching > 0 => {
                        asks.most.saturating_mul((part.entries / matching).max(1))
                    }
                    (false, _) => asks.most.saturating_mul(ADMITS_ONE_OF),
                };
                let cost = read.min(part.entries) * FETCHED;
                if best.as_ref().is_none_or(|(_, least)| cost < *least) {
                    let order::OrderTaken { reverse, components, gathers } = taken;
                    best = Some((InOrder { part, reverse, fixed, components, gathers }, cost));
                }
            }
        }
        Ok(best)
    }
}

/// An index as the writer knows it.
struct OfWriter {
    target: Target,
    limits: EntryLimits,
}

impl IndexStats for OfWriter {
    fn definition(&self) -> &IndexDefinition {
        &self.target.definition.definition
    }

    fn limits(&self) -> EntryLimits {
        self.limits
    }

    fn count_up_to(&self, range: &KeyRange, most: u64) -> u64 {
        count_up_to(&self.target.entries, range, most)
    }
}

/// The ranges of indexes in which all documents lie that a filter can admit, where going by them costs less than going through `len` documents.
pub(crate) fn ranges_of_filter(
    filter: &Filter,
    targets: &[Target],
    limits: EntryLimits,
    len: u64,
) -> Result<Option<Vec<(Target, KeyRange)>>> {
    let known =
        targets.iter().filter(|target| target.building.is_none() && target.entries.damage().is_none());
    let indexes: Vec<_> = known.map(|target| OfWriter { target: target.clone(), limits }).collect();
    let ways = Ways { indexes: &indexes, most_entries: len / FETCHED + 1 };
    let found = ways.filtered(filter.expr())?.filter(|found| found.is_counted);
    Ok(found.map(|found| {
        let ranges = found.parts.into_iter().flat_map(|part| {
            let target = indexes[part.index].target.clone();
            part.ranges.into_iter().map(move |range| (target.clone(), range))
        });
        ranges.collect()
    }))
}
