//! The keys of the answers of a query.

use super::found::Found;
use super::plan::{Gathered, Route};
use super::prepared::{Prepared, Way};
use super::view::{KeyWalk, ReadView, Walk};
use crate::document::Key;
use crate::error::Result;

/// The keys of the documents that a query answers. Holds the state in which it began.
#[derive(Debug)]
pub struct FoundKeys<W: Walk, K>(Keys<W, K>);

#[derive(Debug)]
enum Keys<W: Walk, K> {
    /// From the index of keys alone: how many are to be left out, and how many are due.
    Index(K, u64, u64),
    /// From the entries of indexes alone, as many.
    Gathered(Box<Gathered>, u64, u64),
    Documents(Box<Found<W>>),
}

impl<W: Walk, K: KeyWalk> FoundKeys<W, K> {
    pub(super) fn begin<V: ReadView<Walk = W, Keys = K>>(mut prepared: Prepared<'_, V>) -> Result<Self> {
        if let Way::Keys { reverse } = prepared.way
            && prepared.question.filter.is_none()
            && !prepared.names_an_index()
        {
            let keys = prepared.view.walk_keys(prepared.range())?;
            let keys = if reverse { keys.turned() } else { keys };
            return Ok(FoundKeys(Keys::Index(keys, prepared.skip, prepared.limit)));
        }
        let walk = prepared.walk()?;
        let route = prepared.plan(&walk, true)?.route;
        Ok(FoundKeys(match route {
            Route::Ranges(parts) if prepared.way != Way::Sorted && parts.iter().all(|part| part.is_exact) => {
                let gathered = prepared.gather(&walk, parts, false)?;
                Keys::Gathered(Box::new(gathered), prepared.skip, prepared.limit)
            }
            route => Keys::Documents(Box::new(Found::begin_by(prepared, walk, route)?)),
        }))
    }
}

impl<W: Walk, K: KeyWalk> Iterator for FoundKeys<W, K> {
    type Item = Result<Key>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Keys::Index(keys, skip, left) => {
                while *skip > 0 {
                    *skip -= 1;
                    if let error @ (None | Some(Err(_))) = keys.next() {
                        *left = 0;
                        return error;
                    }
                }
                *left = left.checked_sub(1)?;
                keys.next()
            }
            Keys::Gathered(keys, skip, left) => {
                while *skip > 0 && *left > 0 {
                    *skip -= 1;
                    match keys.next() {
                        Ok(Some(_)) => {}
                        end => {
                            *left = 0;
                            return end.transpose();
                        }
                    }
                }
                *left = left.checked_sub(1)?;
                let next = keys.next().transpose();
                if !matches!(next, Some(Ok(_))) {
                    *left = 0;
                }
                next
            }
            Keys::Documents(found) => found.next().map(|document| Ok(document?.key().to_key())),
        }
    }
}
