//! The cheapest way to the documents of a query.

use std::cell::LazyCell;
use std::slice;

use super::asks::{Answers, Asks};
use super::bounded::{Bounded, Conjuncts, fan_out_of};
use super::cover;
use super::explain::{PlanOrder, QueryPlan};
use super::order;
use super::route::{Hint, InOrder, Part, Route};
use crate::core::Shared;
use crate::error::{Error, Result};
use crate::find::keys::KeysWanted;
use crate::find::view::Walk;
use crate::index::{KeyRange, Target};
use crate::indexed::{IndexStats, IsWanted};
use crate::query::ast::Expr;
use crate::query::{Filter, JsonPath};
use crate::secondary::{EntryLimits, IndexDefinition};
use crate::seeded::{self, Bug};

// What a document costs, by the way to it, where an entry costs 1: about 25 ns. An entry leads to its document by a look into the index
// of keys and into a block.
const SCANNED: u64 = 3;
const FETCHED: u64 = 12;
/// A document that is made of an entry.
const COVERED: u64 = 2;
/// A key of an entry that is put in order.
const KEYED: u64 = 2;
const SORTED: u64 = 4;
/// A filter of which nothing is known admits one document of so many.
const ADMITS_ONE_OF: u64 = 4;
/// So many entries are counted for a plan that is not compared with others.
pub(super) const COUNTED_MAX: u64 = 10_000;

/// A way, and what it was compared with.
#[derive(Debug)]
pub(in crate::find) struct Chosen<I> {
    pub(in crate::find) route: Route<I>,
    /// What it costs; the most where there was no other.
    pub(in crate::find) cost: u64,
    order: PlanOrder,
    /// What a walk over the keys would go through, if that was looked at.
    keys: Option<u64>,
}

impl<I: IndexStats> Chosen<I> {
    /// The plan as `explain` shows it, for a query of these keys.
    pub(in crate::find) fn told(&self, wanted: &KeysWanted) -> QueryPlan {
        QueryPlan::of(&self.route, wanted, self.order, self.keys)
    }
}

/// The indexes that a query can go by: the one that it names, or those that can be of use.
///
/// # Errors
/// `UnknownIndex`.
pub(super) fn indexes_for<W: Walk>(
    walk: &W,
    hint: Option<&Hint>,
    can_be_of_use: IsWanted<'_>,
) -> Result<Vec<W::Index>> {
    match hint {
        Some(Hint::Scan) => Ok(Vec::new()),
        Some(Hint::Index(name)) => Ok(vec![walk.index(name)?]),
        None => walk.indexes(can_be_of_use),
    }
}

/// How many documents a walk over the keys goes through, and what that costs.
pub(super) fn cost_of_keys<W: Walk>(walk: &W, wanted: &KeysWanted) -> Result<(u64, u64)> {
    Ok(match wanted {
        KeysWanted::These(keys) => (keys.len() as u64, keys.len() as u64 * FETCHED),
        KeysWanted::Range(range) => {
            let count = walk.count_up_to(range, u64::MAX)?;
            (count, count * SCANNED)
        }
    })
}

//= spec/query.md#q-10-1-plans
//# A plan MUST NOT change what a query answers, nor the order of the answers.
//= spec/query.md#q-10-4-hints
//# A hint that names an index that the collection does not have MUST be refused as `UnknownIndex`.
//= spec/query.md#q-10-4-hints
//# A hint that names an index that neither bounds the documents that the filter can admit, nor has the order
//# of the sorts, nor all that is asked for, or that is sparse or partial and lacks some of
//# them, MUST be refused as `IndexCannotServe`.
/// The way to the documents that a query asks for, in the state of `walk`.
///
/// # Errors
/// `UnknownIndex`, `IndexCannotServe` for a hint.
pub(in crate::find) fn choose<W: Walk>(walk: &W, asks: Asks<'_>) -> Result<Chosen<W::Index>> {
    let is_forced = matches!(asks.hint, Some(Hint::Index(_)));
    // No index leads to one document sooner than its key does.
    let is_one_key = matches!(asks.wanted, KeysWanted::These(keys) if keys.len() <= 1);
    let conjuncts = LazyCell::new(|| Conjuncts::of(asks.filter));
    let sorts = asks.order == PlanOrder::Sort;
    let can_be_of_use = |definition: &IndexDefinition| {
        conjuncts.can_bound(definition)
            || conjuncts.has_choices()
            || sorts && has_first_sort(definition, &asks)
    };
    let indexes =
        if is_one_key && !is_forced { Vec::new() } else { indexes_for(walk, asks.hint, &can_be_of_use)? };
    if indexes.is_empty() {
        return Ok(Chosen { route: Route::Keys, cost: u64::MAX, order: asks.order, keys: None });
    }
    let (of_keys, keys) = cost_of_keys(walk, asks.wanted)?;
    let by_keys = if sorts { keys + of_keys * SORTED } else { keys };
    let least_each = match asks.answers {
        Answers::Count | Answers::Keys => 1,
        Answers::Parts(_) => COVERED,
        Answers::Documents => FETCHED,
    };
    let most_entries = if is_forced { COUNTED_MAX } else { by_keys / least_each + 1 };
    let ways = Ways { indexes: &indexes, asks: Some(&asks), most_entries };
    let filtered = ways.filtered(&conjuncts, &[])?;
    let filtered = filtered.filter(|found| found.is_counted || is_forced);
    let filtered = match filtered {
        None if is_forced && !sorts => ways.all_of_one(asks.filter.is_none())?,
        other => other,
    };
    let cost_filtered = filtered.as_ref().map(|found| {
        let entries = found.entries;
        match asks.order {
            PlanOrder::Sort => entries * (FETCHED + SORTED),
            _ => {
                let each = each(&found.parts, asks.answers);
                let read = if found.ends_early(&asks) { entries.min(asks.most) } else { entries };
                read + entries.min(asks.most) * each
            }
        }
    });
    // Where few answers are wanted, a walk in the order of keys ends early.
    let by_keys = match &filtered {
        Some(found) if !sorts && asks.most < found.entries => {
            by_keys.min(asks.most.saturating_mul(keys) / found.entries)
        }
        _ => by_keys,
    };
    let ordered = ways.ordered(&asks, &conjuncts, filtered.as_ref().map(|found| found.entries))?;
    let least = |cost: u64, other: Option<u64>| other.is_none_or(|other| cost <= other);
    let (by_order, order_cost) = ordered.map_or((None, None), |(way, cost)| (Some(way), Some(cost)));
    let order_wins =
        order_cost.is_some_and(|cost| least(cost, cost_filtered) && (is_forced || cost <= by_keys));
    let chosen = |route, cost| Ok(Chosen { route, cost, order: asks.order, keys: Some(of_keys) });
    if order_wins && let Some(way) = by_order {
        return chosen(Route::Order(way), order_cost.unwrap_or(u64::MAX));
    }
    match filtered {
        Some(found) if is_forced || cost_filtered.is_some_and(|cost| cost < by_keys) => {
            chosen(Route::Ranges(found.parts), cost_filtered.unwrap_or(u64::MAX))
        }
        _ if is_forced => Err(Error::IndexCannotServe {
            index: indexes[0].definition().name().to_owned(),
            what: "the filter bounds none of its first paths, or admits documents that it lacks, and the sorts are not in its order, and its entries do not have all that is asked for",
        }),
        _ => chosen(Route::Keys, by_keys),
    }
}

/// Ranges of indexes in which all entries lie that a filter can want.
#[derive(Debug)]
pub(super) struct Filtered<I> {
    pub(super) parts: Vec<Part<I>>,
    pub(super) entries: u64,
    /// Whether `entries` is the number, and not less than it.
    pub(super) is_counted: bool,
}

impl<I: IndexStats> Filtered<I> {
    /// Whether no other index can save anything worth a look.
    fn is_least(&self) -> bool {
        self.is_counted && self.entries <= 1
    }

    /// Whether entries are read only until there are enough answers.
    fn ends_early(&self, asks: &Asks<'_>) -> bool {
        let [part] = self.parts.as_slice() else { return false };
        let is_of_all_keys = matches!(asks.wanted, KeysWanted::Range(range) if range.is_all());
        is_of_all_keys
            && match (asks.answers, asks.order) {
                (Answers::Count, _) => part.is_exact && part.is_one_each(),
                (_, PlanOrder::Any) => asks.unordered && part.is_in_order(true),
                _ => part.is_in_order(false),
            }
    }
}

/// What an entry of these ranges costs beyond itself, for what is made of it.
fn each<I: IndexStats>(parts: &[Part<I>], answers: &Answers) -> u64 {
    let is_exact = parts.iter().all(|part| part.is_exact);
    match answers {
        Answers::Count if is_exact && matches!(parts, [part] if part.is_one_each()) => 0,
        // Of several entries of a document, one counts.
        Answers::Count | Answers::Keys if is_exact => KEYED,
        _ if parts.iter().all(|part| part.covers) => COVERED,
        _ => FETCHED,
    }
}

/// Whether a component of an index is what is sorted by first.
fn has_first_sort(definition: &IndexDefinition, asks: &Asks<'_>) -> bool {
    let first = asks.sorts.first().and_then(|sort| sort.expression.of_path());
    first.is_some_and(|first| definition.components().any(|(of, _)| of == first))
}

pub(super) struct Ways<'i, I> {
    pub(super) indexes: &'i [I],
    /// What is asked for; `None` where it is of no matter whether entries have it.
    pub(super) asks: Option<&'i Asks<'i>>,
    /// More entries than these cost more than a walk over the keys.
    pub(super) most_entries: u64,
}

impl<I: IndexStats + Clone> Ways<'_, I> {
    /// All entries of the one index that there is, if these have all that is asked for.
    fn all_of_one(&self, is_exact: bool) -> Result<Option<Filtered<I>>> {
        let definition = self.indexes[0].definition();
        let bounded = Bounded::not_at_all(is_exact);
        let serves = self.covers(0) && bounded.has_all(definition) && definition.filter().is_none();
        if !serves {
            return Ok(None);
        }
        let part = self.part(0, bounded, self.most_entries)?;
        let (entries, is_counted) = (part.entries, part.is_counted);
        Ok(Some(Filtered { parts: vec![part], entries, is_counted }))
    }

    /// The fewest entries for a filter of these parts. `beside` are parts that hold as well.
    fn filtered(&self, conjuncts: &Conjuncts<'_>, beside: &[Expr]) -> Result<Option<Filtered<I>>> {
        let (mut best, mut best_at): (Option<Filtered<I>>, _) = (None, 0);
        // The first may leave so few that no other is worth a look.
        let promise = |at: &usize| conjuncts.promise(self.indexes[*at].definition());
        let first = (0..self.indexes.len()).rev().max_by_key(promise);
        let others = (0..self.indexes.len()).filter(|at| Some(*at) != first);
        for (at, index) in first.into_iter().chain(others).map(|at| (at, &self.indexes[at])) {
            let definition = index.definition();
            if best.as_ref().is_some_and(Filtered::is_least) {
                return Ok(best);
            }
            if !conjuncts.can_bound(definition) {
                continue;
            }
            for bounded in Bounded::by(conjuncts, beside, definition, index.limits())? {
                let bounds = bounded.used > 0 || definition.filter().is_some();
                if !bounds || !bounded.has_all(definition) {
                    continue;
                }
                let limit = best.as_ref().map_or(self.most_entries, |best| best.entries);
                let part = self.part(at, bounded, limit)?;
                // Of two that leave as many, and not one at most, the one that stands first.
                let is_better =
                    |best: &Filtered<I>| part.is_counted && (part.entries, at) < (best.entries, best_at);
                if best.as_ref().is_none_or(is_better) {
                    let (entries, is_counted) = (part.entries, part.is_counted);
                    best_at = at;
                    best = Some(Filtered { parts: vec![part], entries, is_counted });
                }
            }
        }
        for part in conjuncts.parts {
            let Expr::Or(branches) = part else { continue };
            if best.as_ref().is_some_and(Filtered::is_least) {
                return Ok(best);
            }
            if let Some(union) = self.union(branches, conjuncts.parts)?
                && best.as_ref().is_none_or(|best| union.is_counted && union.entries < best.entries)
            {
                best = Some(union);
            }
        }
        Ok(best)
    }

    /// The entries of all branches, where indexes have each, of an "or" that is one of these parts.
    fn union(&self, branches: &[Expr], conjuncts: &[Expr]) -> Result<Option<Filtered<I>>> {
        let is_whole = conjuncts.len() == 1;
        let mut union = Filtered { parts: Vec::new(), entries: 0, is_counted: true };
        for branch in branches {
            let Some(mut found) = self.filtered(&Conjuncts::new(branch.conjuncts()), conjuncts)? else {
                return Ok(None);
            };
            for part in &mut found.parts {
                part.is_exact &= is_whole;
                part.covers = false;
            }
            if seeded::is_on(Bug::UnionOfOneSide) && !union.parts.is_empty() {
                continue;
            }
            union.parts.append(&mut found.parts);
            union.entries += found.entries;
            union.is_counted &= found.is_counted && union.entries <= self.most_entries;
        }
        Ok(Some(union))
    }

    pub(super) fn part(&self, at: usize, bounded: Bounded, most: u64) -> Result<Part<I>> {
        let index = &self.indexes[at];
        let paths = index.definition().paths().len();
        let is_one_tuple = bounded.fixed == paths && fan_out_of(index.definition()).is_none();
        let is_one = is_one_tuple
            && index.definition().is_unique()
            && bounded.has_value[..paths].iter().all(|has| *has);
        let (mut entries, limit) = (0, most.saturating_add(1));
        if is_one {
            entries = bounded.ranges.len() as u64;
        } else {
            for range in &bounded.ranges {
                entries += index.count_up_to(range, limit - entries)?;
            }
        }
        let Bounded { ranges, is_exact, .. } = bounded;
        Ok(Part {
            index: index.clone(),
            is_in_key_order: is_one_tuple && ranges.len() == 1,
            ranges,
            is_exact,
            covers: self.covers(at),
            entries,
            is_counted: entries <= most,
        })
    }

    /// Whether the entries of an index have all that is asked for.
    fn covers(&self, at: usize) -> bool {
        let parts: &[JsonPath] = match self.asks.map(|asks| asks.answers) {
            Some(Answers::Parts(parts)) => parts,
            Some(Answers::Keys) => &[],
            _ => return false,
        };
        self.asks.is_some_and(|asks| cover::covers(&self.indexes[at], asks, parts))
    }

    /// The cheapest order of an index that is that of the sorts, with what it costs, where a sort is wanted. `matching` documents are admitted, if that is known.
    fn ordered(
        &self,
        asks: &Asks<'_>,
        conjuncts: &Conjuncts<'_>,
        matching: Option<u64>,
    ) -> Result<Option<(InOrder<I>, u64)>> {
        let mut best: Option<(InOrder<I>, u64)> = None;
        if asks.order != PlanOrder::Sort {
            return Ok(best);
        }
        for (at, index) in self.indexes.iter().enumerate() {
            let definition = index.definition();
            if !has_first_sort(definition, asks) {
                continue;
            }
            for bounded in Bounded::by(conjuncts, &[], definition, index.limits())? {
                let Some(taken) = order::taken(asks.sorts, &bounded, definition) else { continue };
                let fixed = definition.beginning(&bounded.fixed_values, None, index.limits())?.bytes;
                let admits_all = bounded.is_exact;
                let part = match admits_all && asks.most < self.most_entries {
                    // It ends after these, however many there are.
                    true => Part {
                        index: index.clone(),
                        ranges: bounded.ranges,
                        is_exact: bounded.is_exact,
                        is_in_key_order: false,
                        covers: self.covers(at),
                        entries: asks.most,
                        is_counted: false,
                    },
                    false => self.part(at, bounded, self.most_entries)?,
                };
                let read = match (admits_all, matching) {
                    (true, _) => asks.most,
                    (false, Some(matching)) if matching > 0 => {
                        asks.most.saturating_mul((part.entries / matching).max(1))
                    }
                    (false, _) => asks.most.saturating_mul(ADMITS_ONE_OF),
                };
                let cost = read.min(part.entries) * each(slice::from_ref(&part), asks.answers);
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
#[derive(Clone)]
struct OfWriter<'a> {
    shared: &'a Shared,
    target: Target,
}

impl IndexStats for OfWriter<'_> {
    fn definition(&self) -> &IndexDefinition {
        &self.target.definition.definition
    }

    fn limits(&self) -> EntryLimits {
        self.shared.entry_limits()
    }

    fn count_up_to(&self, range: &KeyRange, most: u64) -> Result<u64> {
        self.shared.count_keys(&self.target.entries, range, most)
    }
}

/// The ranges of indexes in which all documents lie that a filter can admit, where going by them costs less than going through `len` documents.
pub(crate) fn ranges_of_filter(
    shared: &Shared,
    filter: &Filter,
    targets: &[Target],
    len: u64,
) -> Result<Option<Vec<(Target, KeyRange)>>> {
    let known =
        targets.iter().filter(|target| target.building.is_none() && target.entries.damage().is_none());
    let indexes: Vec<_> = known.map(|target| OfWriter { shared, target: target.clone() }).collect();
    let ways = Ways { indexes: &indexes, asks: None, most_entries: len * SCANNED / FETCHED + 1 };
    let found = ways.filtered(&Conjuncts::of(Some(filter)), &[])?.filter(|found| found.is_counted);
    Ok(found.map(|found| {
        let ranges = found.parts.into_iter().flat_map(|Part { index, ranges, .. }| {
            ranges.into_iter().map(move |range| (index.target.clone(), range))
        });
        ranges.collect()
    }))
}
