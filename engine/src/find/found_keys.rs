//! The keys of the answers of a query.

use super::found::Found;
use super::plan::Answers;
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
    /// From documents, or from the entries of indexes where these tell them.
    Found(Box<Found<W>>),
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
        prepared.answers = Answers::Keys;
        Ok(FoundKeys(Keys::Found(Box::new(Found::begin(prepared)?))))
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
            Keys::Found(found) => found.next_key(),
        }
    }
}
