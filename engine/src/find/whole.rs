//! What is told of all answers of a query at once.

use std::ops::ControlFlow;

use super::found::Found;
use super::grouping::{Grouped, Grouping, Groups};
use super::keys::KeysWanted;
use super::plan::{self, Route};
use super::prepared::{IndexOf, Prepared, Way};
use super::sorter::Sorter;
use super::view::{ReadView, Walk};
use crate::db::Db;
use crate::document::{Value, order_key};
use crate::error::Result;
use crate::query::Expression;
use crate::seeded::{self, Bug};

/// How many answers there are.
pub(super) fn count<V: ReadView>(mut prepared: Prepared<'_, V>) -> Result<u64> {
    let most = prepared.skip.saturating_add(prepared.limit);
    let mut count = 0;
    let asks_for_all = prepared.question.filter.is_none() && prepared.question.after.is_none();
    let asks_for_all = asks_for_all && !prepared.names_an_index();
    let asks_for_all = asks_for_all || seeded::is_on(Bug::CountWithoutFilter);
    if asks_for_all && matches!(&prepared.wanted, KeysWanted::Range(range) if range.is_all()) {
        count = prepared.view.len()?;
    } else {
        let mut walk = prepared.walk()?;
        let route = prepared.plan(&walk, false)?.route;
        if let Some(counted) = counted_by_entries(&mut prepared, &walk, &route, most)? {
            return Ok(counted.min(most).saturating_sub(prepared.skip));
        }
        prepared.pass(&mut walk, &route, |_, _, _| {
            count += 1;
            Ok(if count < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
    }
    Ok(count.min(most).saturating_sub(prepared.skip))
}

//= spec/query.md#q-10-3-answers-of-entries
//# A count MUST NOT be that of entries where the filter admits only some of their documents.
/// How many answers there are, where entries tell it: up to `most` of them.
fn counted_by_entries<V: ReadView>(
    prepared: &mut Prepared<'_, V>,
    walk: &V::Walk,
    route: &Route<IndexOf<V>>,
    most: u64,
) -> Result<Option<u64>> {
    let Route::Ranges(parts) = route else { return Ok(None) };
    let tells = parts.iter().all(|part| part.is_exact) && prepared.question.after.is_none();
    // A filter of which entries tell everything says nothing of keys, so all of them are wanted: but not behind a cursor.
    let tells = tells && matches!(&prepared.wanted, KeysWanted::Range(range) if range.is_all());
    if !tells {
        return Ok(None);
    }
    if let Some(counted) = plan::count(parts, most, &mut prepared.watch)? {
        return Ok(Some(counted));
    }
    let (mut keys, mut counted) = (prepared.gather(walk, parts)?, 0);
    while counted < most && keys.next()?.is_some() {
        counted += 1;
    }
    Ok(Some(counted))
}

/// Puts the answers into groups. With them comes the store, which has a place for what a sort of them cannot hold.
pub(super) fn grouped<V: ReadView>(mut prepared: Prepared<'_, V>, asked: Groups) -> Result<(Grouped, Db)> {
    let (memory, watch) = (prepared.sort_memory, prepared.watch.clone());
    if prepared.skip == 0 && prepared.limit == u64::MAX {
        // Which documents they are does not depend on the order.
        prepared.way = Way::Keys { reverse: false };
        let mut walk = prepared.walk()?;
        let route = prepared.plan(&walk, false)?.route;
        let db = walk.db().clone();
        let mut grouping = Grouping::new(asked, memory, &db.core().shared.log.storage, watch);
        prepared.pass(&mut walk, &route, |key, document, _| {
            grouping.add(key, document).map(ControlFlow::Continue)
        })?;
        let groups = grouping.finish()?;
        return Ok((groups, db));
    }
    let mut found = Found::begin(prepared)?;
    let db = found.db().clone();
    let storage = &db.core().shared.log.storage;
    let (mut sorter, mut place) = (Sorter::new(u64::MAX, memory, storage), Vec::new());
    while let Some(document) = found.next_document()? {
        place.clear();
        order_key::encode_key(document.key(), &mut place);
        sorter.push(&place)?;
    }
    let (mut keys, mut grouping) = (sorter.finish()?, Grouping::new(asked, memory, storage, watch));
    while keys.next(&mut place)? {
        let (key, _) = order_key::decode_key(&place)?;
        if let Some(document) = found.document(key.as_ref())? {
            grouping.add(key.as_ref(), document.raw())?;
        }
    }
    let groups = grouping.finish()?;
    Ok((groups, db))
}

//= spec/query.md#q-9-2-distinct-values
//# The *distinct values* of an expression MUST be one value for each place at which a document of the
//# query gives one, in the order of values.
//= spec/query.md#q-9-1-shown-values
//# The value that is shown for a place MUST be the first that the document of the least key gives there.
pub(super) fn distinct<V: ReadView>(prepared: Prepared<'_, V>, of: &Expression) -> Result<Vec<Value>> {
    let (mut groups, _) = grouped(prepared, Groups { by: vec![of.clone()], aggregates: Vec::new() })?;
    let mut values = Vec::new();
    while let Some(group) = groups.next()? {
        values.extend(group.first_shown()?);
    }
    Ok(values)
}
