//! What is told of all answers of a query at once.

use std::ops::ControlFlow;

use super::entry_groups::EntryGroups;
use super::found::Found;
use super::grouping::{Group, Grouped, Grouping, Groups};
use super::keys::KeysWanted;
use super::plan::{
    self, Answers, AsksGroups, ByEntries, EndValue, GroupRoute, IndexEnd, PlanActual, QueryPlan, Route,
};
use super::prepared::{IndexOf, Prepared, Way};
use super::sorter::Sorter;
use super::view::{ReadView, Walk};
use super::watch::Watch;
use crate::db::Db;
use crate::document::{Value, order_key};
use crate::error::Result;
use crate::query::{Expression, GivenValue};
use crate::seeded::{self, Bug};

/// How many answers there are.
pub(super) fn count<V: ReadView>(mut prepared: Prepared<'_, V>) -> Result<u64> {
    let most = prepared.skip.saturating_add(prepared.limit);
    let mut count = 0;
    // A filter of which entries tell everything says nothing of keys, so all of them are wanted: but not behind a cursor.
    let is_of_all_keys = prepared.question.after.is_none()
        && matches!(&prepared.wanted, KeysWanted::Range(range) if range.is_all());
    let asks_for_all = prepared.question.filter.is_none() && !prepared.names_an_index();
    if is_of_all_keys && (asks_for_all || seeded::is_on(Bug::CountWithoutFilter)) {
        count = prepared.view.len()?;
    } else {
        let mut walk = prepared.walk()?;
        prepared.answers = if is_of_all_keys { Answers::Count } else { Answers::Documents };
        let route = prepared.plan(&walk, false)?.route;
        if is_of_all_keys && let Some(counted) = counted_by_entries(&mut prepared, &walk, &route, most)? {
            return Ok(counted.min(most).saturating_sub(prepared.skip));
        }
        prepared.pass(&mut walk, route, |_, _| {
            count += 1;
            Ok(if count < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
    }
    Ok(count.min(most).saturating_sub(prepared.skip))
}

//= spec/query.md#q-10-3-answers-of-entries
//# A count MUST NOT be that of entries where the filter admits only some of their documents.
/// How many answers of all keys there are, where entries tell it: up to `most` of them.
fn counted_by_entries<V: ReadView>(
    prepared: &mut Prepared<'_, V>,
    walk: &V::Walk,
    route: &Route<IndexOf<V>>,
    most: u64,
) -> Result<Option<u64>> {
    let Route::Ranges(parts) = route else { return Ok(None) };
    if !parts.iter().all(|part| part.is_exact) {
        return Ok(None);
    }
    if let Some(counted) = plan::count(parts, most, &mut prepared.watch)? {
        return Ok(Some(counted));
    }
    let (mut keys, mut counted) = (prepared.gather(walk, parts.clone(), false)?, 0);
    while counted < most && keys.next()?.is_some() {
        counted += 1;
    }
    Ok(Some(counted))
}

/// The groups of a query, one after the other, and what finding them read.
pub(super) struct FoundGroups<W: Walk> {
    pub(super) asked: Groups,
    pub(super) db: Db,
    source: Source<W>,
    told: QueryPlan,
}

enum Source<W: Walk> {
    /// Of documents, and what was read of these.
    Made(Box<Grouped>, PlanActual),
    Entries(Box<EntryGroups<W>>),
    /// The one group, whose aggregates the ends of indexes tell.
    One(Option<Group>, PlanActual),
}

impl<W: Walk> FoundGroups<W> {
    pub(super) fn next(&mut self) -> Result<Option<Group>> {
        match &mut self.source {
            Source::Made(groups, _) => groups.next(),
            Source::Entries(groups) => groups.next(),
            Source::One(group, _) => Ok(group.take()),
        }
    }

    /// How they were found, with what that read for so many answers.
    pub(super) fn told(self, answers: u64) -> QueryPlan {
        let actual = match &self.source {
            Source::Entries(groups) => groups.actual(answers),
            Source::Made(_, actual) | Source::One(_, actual) => PlanActual { answers, ..*actual },
        };
        QueryPlan { actual: Some(actual), ..self.told }
    }
}

/// Whether the groups are those of all documents that the filter admits.
fn is_of_all<V>(prepared: &Prepared<'_, V>) -> bool {
    prepared.skip == 0 && prepared.limit == u64::MAX && prepared.place.is_empty()
}

/// How the groups are found.
pub(super) fn explained<V: ReadView>(
    mut prepared: Prepared<'_, V>,
    asked: &Groups,
    is_distinct: bool,
) -> Result<QueryPlan> {
    if !is_of_all(&prepared) {
        let walk = prepared.walk()?;
        return Ok(prepared.plan(&walk, true)?.told(&prepared.wanted));
    }
    prepared.way = Way::Keys { reverse: false };
    let walk = prepared.walk()?;
    Ok(prepared.plan_groups(&walk, asks(asked, is_distinct))?.told(&prepared.wanted))
}

fn asks(asked: &Groups, is_distinct: bool) -> AsksGroups<'_> {
    AsksGroups { by: &asked.by, aggregates: &asked.aggregates, is_distinct }
}

/// Puts the answers into groups; `is_distinct` says that only their values are asked for.
pub(super) fn grouped<V: ReadView>(
    mut prepared: Prepared<'_, V>,
    asked: Groups,
    is_distinct: bool,
) -> Result<FoundGroups<V::Walk>> {
    let (memory, watch) = (prepared.sort_memory, prepared.watch.clone());
    if !is_of_all(&prepared) {
        return of_some(prepared, asked);
    }
    // Which documents they are does not depend on the order.
    prepared.way = Way::Keys { reverse: false };
    let mut walk = prepared.walk()?;
    let route = prepared.plan_groups(&walk, asks(&asked, is_distinct))?;
    let told = route.told(&prepared.wanted);
    let db = walk.db().clone();
    let source = match route {
        GroupRoute::Documents(chosen) => {
            let mut grouping = Grouping::new(asked.clone(), memory, &db.core().shared.log.storage, watch);
            prepared.pass(&mut walk, chosen.route, |document, _| {
                grouping.add(document.key(), document.raw()).map(ControlFlow::Continue)
            })?;
            Source::Made(Box::new(grouping.finish()?), prepared.watch.actual(0))
        }
        GroupRoute::Entries(by) => {
            Source::Entries(Box::new(EntryGroups::new(walk, by, asked.clone(), memory, watch)))
        }
        GroupRoute::Ends(ends) => {
            let (group, actual) = ends_of(walk, ends, &asked, memory, &watch)?;
            Source::One(Some(group), actual)
        }
    };
    Ok(FoundGroups { asked, db, source, told })
}

/// The groups of the answers that skip, limit and cursor leave.
fn of_some<V: ReadView>(prepared: Prepared<'_, V>, asked: Groups) -> Result<FoundGroups<V::Walk>> {
    let (memory, watch) = (prepared.sort_memory, prepared.watch.clone());
    let walk = prepared.walk()?;
    let chosen = prepared.plan(&walk, true)?;
    let told = chosen.told(&prepared.wanted);
    let mut found = Found::begin_by(prepared, walk, chosen.route)?;
    let db = found.db().clone();
    let storage = &db.core().shared.log.storage;
    let (mut sorter, mut place) = (Sorter::new(u64::MAX, memory, storage), Vec::new());
    while let Some(document) = found.next_document()? {
        place.clear();
        order_key::encode_key(document.key(), &mut place);
        sorter.push(&place)?;
    }
    let (mut keys, mut grouping) =
        (sorter.finish()?, Grouping::new(asked.clone(), memory, storage, watch.clone()));
    while keys.next(&mut place)? {
        let (key, _) = order_key::decode_key(&place)?;
        if let Some(document) = found.document(key.as_ref())? {
            grouping.add(key.as_ref(), document.raw())?;
        }
    }
    let source = Source::Made(Box::new(grouping.finish()?), found.actual());
    Ok(FoundGroups { asked, db, source, told })
}

/// The one group of all documents, whose least and greatest values stand at ends of indexes.
fn ends_of<W: Walk>(
    walk: W,
    ends: Vec<IndexEnd<W::Index>>,
    asked: &Groups,
    memory: usize,
    watch: &Watch,
) -> Result<(Group, PlanActual)> {
    let mut group = Group::new(asked, &[]);
    group.count = walk.len()? as i64;
    let (mut walk, mut read) = (walk, PlanActual { entries: 0, documents: 0, answers: 1 });
    for ((end, (kind, of)), state) in ends.into_iter().zip(&asked.aggregates).zip(&mut group.states) {
        let is_greatest = end.is_greatest;
        let part = match plan::end_of(end, &mut read.entries)? {
            None => continue,
            Some(EndValue::Of(value)) => {
                state.add(*kind, &GivenValue::of(&value), &[])?;
                continue;
            }
            Some(EndValue::Among(part)) => part,
        };
        // The values of a long tuple are several that begin alike.
        let by = ByEntries { part, components: 0..1, aggregates: Vec::new(), is_loose: true };
        let asked = Groups { by: vec![of.clone()], aggregates: Vec::new() };
        let mut groups = EntryGroups::new(walk, by, asked, memory, watch.clone());
        let mut values = Vec::new();
        while let Some(group) = groups.next()? {
            values.extend(group.first_shown()?);
        }
        let PlanActual { entries, documents, .. } = groups.actual(1);
        (read.entries, read.documents) = (read.entries + entries, read.documents + documents);
        walk = groups.into_walk();
        let value = if is_greatest { values.last() } else { values.first() };
        if let Some(value) = value {
            state.add(*kind, &GivenValue::of(value), &[])?;
        }
    }
    Ok((group, read))
}

//= spec/query.md#q-9-2-distinct-values
//# The *distinct values* of an expression MUST be one value for each place at which a document of the
//# query gives one, in the order of values.
//= spec/query.md#q-9-1-shown-values
//# The value that is shown for a place MUST be the first that the document of the least key gives there.
/// The distinct values, and how they were found.
pub(super) fn distinct<V: ReadView>(
    prepared: Prepared<'_, V>,
    of: Expression,
) -> Result<(Vec<Value>, QueryPlan)> {
    let mut groups = grouped(prepared, Groups { by: vec![of], aggregates: Vec::new() }, true)?;
    let mut values = Vec::new();
    while let Some(group) = groups.next()? {
        values.extend(group.first_shown()?);
    }
    // An index whose path is descending has the greatest first.
    if !values.is_sorted_by(|one, other| one.order_cmp(other).is_lt()) {
        values.sort_by(Value::order_cmp);
    }
    let answers = values.len() as u64;
    Ok((values, groups.told(answers)))
}
