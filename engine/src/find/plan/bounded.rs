//! The ranges of an index in which the entries of all documents lie that a filter can admit.

use std::borrow::Cow;
use std::ops::Bound;
use std::slice;

use super::says::{End, Said, Says, of_items, place_cmp};
use crate::document::{Key, Value};
use crate::error::Result;
use crate::index::KeyRange;
use crate::indexed::{between, bound};
use crate::query::ast::Expr;
use crate::query::{Filter, Segment};
use crate::secondary::{EntryLimits, IndexDefinition, PATHS_MAX};
use crate::seeded::{self, Bug};

/// The most ranges of one index: beyond so many, fewer components bound them.
const RANGES_MAX: usize = 4096;

/// The parts of a filter, which all have to hold.
#[derive(Debug)]
pub(super) struct Conjuncts<'e> {
    pub(super) parts: &'e [Expr],
    /// What they say of the document.
    said: Said<'e>,
}

impl<'e> Conjuncts<'e> {
    pub(super) fn new(parts: &'e [Expr]) -> Self {
        Conjuncts { parts, said: Said::by(parts, true) }
    }

    /// The conjuncts of a filter; none where there is no filter.
    pub(super) fn of(filter: Option<&'e Filter>) -> Self {
        Self::new(filter.map_or(&[], |filter| filter.expr().conjuncts()))
    }

    /// Whether one of them is an "or", whose branches may each be bounded by another index.
    pub(super) fn has_choices(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Expr::Or(_)))
    }

    /// Whether they can bound the first component of an index, or be its filter.
    pub(super) fn can_bound(&self, definition: &IndexDefinition) -> bool {
        let says = |of| self.said.conditions.iter().any(|(other, _)| *other == of);
        let first = definition.components().next();
        definition.filter().is_some() || first.is_some_and(|(of, _)| fan_out(of.1).is_some() || says(of))
    }

    /// How few entries of an index they may leave, the more the fewer: whether that is one, and how many of the first components have one
    /// value.
    pub(super) fn promise(&self, definition: &IndexDefinition) -> (bool, usize) {
        let is_point = |says: &Says| matches!(says, Says::Points(points) if matches!(points[..], [Some(_)]));
        let is_fixed = |of| self.said.conditions.iter().any(|(other, says)| *other == of && is_point(says));
        let fixed = definition.components().take_while(|(of, _)| is_fixed(*of)).count();
        (definition.is_unique() && fixed == definition.paths().len(), fixed)
    }
}

/// What a filter says of an index.
#[derive(Debug, Clone)]
pub(super) struct Bounded {
    /// In the order of entries. No entry lies in two of them.
    pub(super) ranges: Vec<KeyRange>,
    /// How many of the first components can only have one value each.
    pub(super) fixed: usize,
    pub(super) fixed_values: Vec<Option<Value>>,
    /// How many of the first components bound the ranges.
    pub(super) used: usize,
    /// Which components have a value in every document that the filter admits.
    pub(super) has_value: [bool; PATHS_MAX],
    /// Whether the filter admits every document that has an entry in the ranges.
    pub(super) is_exact: bool,
}

/// The last wildcard of a path and what is before it.
pub(super) fn fan_out(path: &[Segment]) -> Option<&[Segment]> {
    let last = path.iter().rposition(|segment| segment.singular().is_none())?;
    Some(&path[..=last])
}

/// The fan-out of an index.
pub(in crate::find) fn fan_out_of(definition: &IndexDefinition) -> Option<&[Segment]> {
    definition.components().find_map(|((_, path), _)| fan_out(path))
}

impl Bounded {
    /// All entries of an index.
    pub(super) fn not_at_all(is_exact: bool) -> Self {
        Bounded {
            ranges: vec![KeyRange::all()],
            fixed: 0,
            fixed_values: Vec::new(),
            used: 0,
            has_value: [false; PATHS_MAX],
            is_exact,
        }
    }

    /// What the parts of a filter, which all have to hold, say of an index: in several ways, where several parts speak of a fan-out,
    /// or some are the filter of the index. Empty where the index lacks documents that the filter can admit. `beside` are
    /// parts that hold as well.
    pub(super) fn by(
        conjuncts: &Conjuncts<'_>,
        beside: &[Expr],
        definition: &IndexDefinition,
        limits: EntryLimits,
    ) -> Result<Vec<Bounded>> {
        let Some(rest) = beyond(conjuncts.parts, beside, definition) else { return Ok(Vec::new()) };
        if rest.len() == conjuncts.parts.len() {
            return Self::by_all(conjuncts, definition, limits);
        }
        let mut ways = Self::by_all(&Conjuncts::new(&rest), definition, limits)?;
        // The filter of the index may still bound an array of which the index has every item.
        ways.extend(Self::by_all(conjuncts, definition, limits)?);
        Ok(ways)
    }

    fn by_all(
        conjuncts: &Conjuncts<'_>,
        definition: &IndexDefinition,
        limits: EntryLimits,
    ) -> Result<Vec<Bounded>> {
        let document = &conjuncts.said;
        let Some(fan_out) = fan_out_of(definition) else {
            return Ok(vec![Self::of(document, None, definition, limits)?]);
        };
        let items = of_items(conjuncts.parts, fan_out, true);
        if items.is_empty() {
            return Ok(vec![Self::of(document, None, definition, limits)?]);
        }
        items.iter().map(|item| Self::of(document, Some(item), definition, limits)).collect()
    }

    fn of(
        document: &Said<'_>,
        item: Option<&Said<'_>>,
        definition: &IndexDefinition,
        limits: EntryLimits,
    ) -> Result<Self> {
        let (mut fixed, mut used, mut has_value) = (0, 0, [false; PATHS_MAX]);
        // So many prefixes, each of so many values, one behind the other.
        let (mut prefixes, mut count, mut depth) = (Vec::new(), 1, 0);
        let mut range = None;
        let mut placed = 0;
        let mut merged_exactly = true;
        for (at, ((function, path), descending)) in definition.components().enumerate() {
            let fan_out = fan_out(path);
            let said = if fan_out.is_some() { item } else { Some(document) };
            let asked = (function, &path[fan_out.map_or(0, <[Segment]>::len)..]);
            let mut of_it = said.into_iter().flat_map(|said| &said.conditions).filter(|(of, _)| *of == asked);
            let Some((_, says)) = of_it.next() else {
                // What is said of a component behind one of which nothing is said bounds nothing.
                range.get_or_insert(None);
                continue;
            };
            let (mut says, mut is_exact) = (Cow::Borrowed(says), true);
            let mut parts = 1;
            for (_, other) in of_it {
                let (both, still) = says.into_owned().and(other.clone());
                (says, is_exact) = (Cow::Owned(both), is_exact && still);
                parts += 1;
            }
            has_value[at] = says.is_of_values();
            if range.is_some() {
                continue;
            }
            match &*says {
                Says::Points(points) if count * points.len().max(1) <= RANGES_MAX => {
                    fixed += usize::from(fixed == at && points.len() == 1);
                    prefixes = times(prefixes, count, points, descending);
                    (count, depth) = (count * points.len(), depth + 1);
                }
                Says::Points(points) => {
                    range = Some(hull(points).map(|(from, to)| (from, to, descending)));
                    is_exact = false;
                }
                Says::Within(from, to) => range = Some(Some((from.clone(), to.clone(), descending))),
            }
            merged_exactly &= is_exact;
            placed += parts;
            used = at + 1;
        }
        let mut is_cut = false;
        let mut ranges = Vec::with_capacity(count);
        for number in 0..count {
            let prefix = &prefixes[number * depth..][..depth];
            let mut beginning = |values: &[Option<Value>]| {
                let beginning = definition.beginning(values, None, limits)?;
                is_cut |= beginning.cut;
                Ok(beginning)
            };
            let range = match &range {
                Some(Some((from, to, descending))) => {
                    let (from, to) = ends(prefix, from, to, *descending);
                    let from = bound(&from, |values| beginning(values))?;
                    between(from, bound(&to, |values| beginning(values))?)
                }
                _ if prefix.is_empty() => KeyRange::all(),
                _ => KeyRange::bytes_prefix(beginning(prefix)?.bytes),
            };
            if !range.is_empty() {
                ranges.push(range);
            }
        }
        ranges.sort_by(|one, other| start(one).cmp(&start(other)));
        // Long values that begin alike have one range.
        ranges.dedup_by(|one, other| start(one) == start(other));
        // These are the same in all prefixes.
        prefixes.truncate(fixed);
        let said = document.conditions.len() + item.map_or(0, |item| item.conditions.len());
        // What is said of an item is a part of what is said of the document, which did not understand it.
        let understood = item.map_or(document.is_all, |item| item.is_all);
        let is_cut = is_cut && !seeded::is_on(Bug::CutTupleCounted);
        let is_exact = understood && merged_exactly && placed == said && !is_cut;
        Ok(Bounded { ranges, fixed, fixed_values: prefixes, used, has_value, is_exact })
    }

    //= spec/query.md#q-10-1-plans
    //# A sparse index MUST NOT be read for a query that can answer documents of which it has no entry.
    /// Whether the index has an entry of every document that the filter admits.
    pub(super) fn has_all(&self, definition: &IndexDefinition) -> bool {
        !definition.is_sparse() || self.has_value.contains(&true) || seeded::is_on(Bug::SparseIndexServesAll)
    }
}

//= spec/query.md#q-10-1-plans
//# A partial index MUST NOT be read for a query that can answer documents that its filter does not admit.
/// The parts of a filter that are none of the filter of an index; `None` where that has a part which is neither among them nor `beside`,
/// so that the index lacks documents. Parts are the same where they are so in the normal form.
fn beyond<'e>(
    conjuncts: &'e [Expr],
    beside: &[Expr],
    definition: &IndexDefinition,
) -> Option<Cow<'e, [Expr]>> {
    let Some(filter) = definition.filter() else { return Some(Cow::Borrowed(conjuncts)) };
    let parts = filter.expr().conjuncts();
    let has = |part: &Expr| conjuncts.contains(part) || beside.contains(part);
    let has_all = match seeded::is_on(Bug::PartialIndexServesSome) {
        true => parts.iter().any(has),
        false => parts.iter().all(has),
    };
    let rest = || conjuncts.iter().filter(|part| !parts.contains(part)).cloned().collect();
    (has_all || seeded::is_on(Bug::PartialIndexServesAll)).then(|| Cow::Owned(rest()))
}

/// The prefixes, of which there are so many, each with each of these behind it, in the order of entries.
fn times(
    mut prefixes: Vec<Option<Value>>,
    count: usize,
    points: &[Option<Value>],
    descending: bool,
) -> Vec<Option<Value>> {
    if let ([point], 1) = (points, count) {
        // Mostly there is one.
        prefixes.push(point.clone());
        return prefixes;
    }
    let depth = prefixes.len() / count.max(1);
    let in_order = |at: usize| &points[if descending { points.len() - 1 - at } else { at }];
    let mut all = Vec::with_capacity(count * points.len() * (depth + 1));
    for number in 0..count {
        for at in 0..points.len() {
            all.extend_from_slice(&prefixes[number * depth..][..depth]);
            all.push(in_order(at).clone());
        }
    }
    all
}

/// From the least of some places to the greatest.
fn hull(points: &[Option<Value>]) -> Option<(End, End)> {
    let least = points.iter().min_by(|one, other| place_cmp(one, other))?.clone();
    let greatest = points.iter().max_by(|one, other| place_cmp(one, other))?.clone();
    Some((Bound::Included(least), Bound::Included(greatest)))
}

type TupleEnd = Bound<Vec<Option<Value>>>;

/// The ends of the tuples that begin so and go on with a component between two ends.
fn ends(prefix: &[Option<Value>], from: &End, to: &End, descending: bool) -> (TupleEnd, TupleEnd) {
    let behind = |end: &End| match end {
        Bound::Unbounded if prefix.is_empty() => Bound::Unbounded,
        Bound::Unbounded => Bound::Included(prefix.to_vec()),
        Bound::Included(value) => Bound::Included([prefix, slice::from_ref(value)].concat()),
        Bound::Excluded(value) => Bound::Excluded([prefix, slice::from_ref(value)].concat()),
    };
    if descending && !seeded::is_on(Bug::DescendingNotTurned) {
        return (behind(to), behind(from));
    }
    (behind(from), behind(to))
}

/// What tells which of two ranges comes first.
fn start(range: &KeyRange) -> Option<&Key> {
    match &range.from {
        Bound::Included(key) | Bound::Excluded(key) => Some(key),
        Bound::Unbounded => None,
    }
}
