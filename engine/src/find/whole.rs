//! What is told of all answers of a query at once.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::found::Found;
use super::keys::KeysWanted;
use super::prepared::{Prepared, Way};
use super::view::ReadView;
use crate::document::{Key, KeyRef, RawDocument, Value};
use crate::error::{Error, Result};
use crate::query::Expression;
use crate::seeded::{self, Bug};

/// How many answers there are.
pub(super) fn count<V: ReadView>(mut prepared: Prepared<'_, V>) -> Result<u64> {
    let most = prepared.skip.saturating_add(prepared.limit);
    let mut count = 0;
    let asks_for_all = prepared.question.filter.is_none() && prepared.question.after.is_none();
    let asks_for_all = asks_for_all || seeded::is_on(Bug::CountWithoutFilter);
    if asks_for_all && matches!(&prepared.wanted, KeysWanted::Range(range) if range.is_all()) {
        count = prepared.view.len()?;
    } else {
        let mut walk = prepared.walk()?;
        prepared.pass(&mut walk, |_, _, _| {
            count += 1;
            Ok(if count < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
    }
    Ok(count.min(most).saturating_sub(prepared.skip))
}

/// Lends each answer to `each`, in the order of keys.
pub(super) fn in_key_order<V: ReadView>(
    mut prepared: Prepared<'_, V>,
    mut each: impl FnMut(KeyRef<'_>, RawDocument<'_>) -> Result<()>,
) -> Result<()> {
    if prepared.skip == 0 && prepared.limit == u64::MAX {
        // Which documents they are does not depend on the order.
        prepared.way = Way::Keys { reverse: false };
        let mut walk = prepared.walk()?;
        return prepared.pass(&mut walk, |key, document, _| each(key, document).map(ControlFlow::Continue));
    }
    let max = prepared.sort_memory;
    let mut found = Found::begin(prepared)?;
    let mut keys: Vec<Key> = Vec::new();
    let mut len = 0;
    while let Some(document) = found.next_document()? {
        let key = document.key();
        len += size_of::<Key>() + key.payload_len();
        if len > max {
            return Err(Error::QueryMemory { max });
        }
        keys.push(key.to_key());
    }
    keys.sort_unstable();
    for key in keys {
        if let Some(document) = found.document(key.as_ref())? {
            each(key.as_ref(), document.raw())?;
        }
    }
    Ok(())
}

//= spec/query.md#q-9-2-distinct-values
//# The *distinct values* of an expression MUST be one value for each place at which a document of the
//# query gives one, in the order of values.
//= spec/query.md#q-9-1-shown-values
//# The value that is shown for a place MUST be the first that the document of the least key gives there.
pub(super) fn distinct<V: ReadView>(prepared: Prepared<'_, V>, of: &Expression) -> Result<Vec<Value>> {
    let max = prepared.sort_memory;
    let mut values: BTreeMap<Vec<u8>, Value> = BTreeMap::new();
    let (mut place, mut len) = (Vec::new(), 0);
    in_key_order(prepared, |key, document| {
        of.give(Some(key), document, &mut |value| {
            place.clear();
            value.encode_order_key(&mut place);
            if !values.contains_key(&place) || seeded::is_on(Bug::LastValueShown) {
                // A value takes about what its order key does.
                len += 2 * (place.len() + size_of::<Value>());
                if len > max {
                    return Err(Error::QueryMemory { max });
                }
                values.insert(place.clone(), value.to_value()?);
            }
            Ok(())
        })
    })?;
    Ok(values.into_values().collect())
}
