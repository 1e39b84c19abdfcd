//! Puts, inserts and deletes.

use crate::document::{Key, KeyRef};
use crate::error::{Error, Result};
use crate::index::check_name;
use crate::log::{Action, Superseded};

use super::bodies::Bodies;
use super::txn::{DocumentAt, Newest, WriteTxn};

//= spec/semantics.md#s-4-8-insert-with-a-key
//# An insert with a key MUST be refused as `KeyExists` when the key has a document, and else put the
//# document.
//= spec/semantics.md#s-4-9-replace
//# A replace MUST put the document when the key has one, and else change nothing; it answers whether the key
//# had one.
/// What a put asks of the document that may be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    Anything,
    /// The key must be free: `KeyExists` otherwise.
    Vacant,
    /// There must be a document: otherwise nothing is done.
    Occupied,
    /// There must be the document that this commit put: `VersionMismatch` otherwise.
    Version(u64),
}

impl Expect {
    //= spec/semantics.md#s-3-2-the-first-write-creates
    //# A write into a name that no collection has MUST create the collection in the same commit, unless the
    //# write can only change what is there (replace, delete, S-3.3).
    fn creates(self) -> bool {
        matches!(self, Expect::Anything | Expect::Vacant)
    }
}

impl WriteTxn {
    //= spec/semantics.md#s-4-6-put
    //# A put MUST leave the given document under the given key, whether or not there was one.
    /// Puts one document, given in its encoded form. Whether anything was put.
    pub(crate) fn put(&mut self, name: &str, key: KeyRef<'_>, expect: Expect, body: &[u8]) -> Result<bool> {
        key.check_len()?;
        let collection = self.collection(name, expect.creates())?;
        let newest = self.newest(collection, key)?;
        match expect {
            Expect::Vacant if newest.place.is_some() => return Err(Error::KeyExists { key: key.to_key() }),
            Expect::Occupied if newest.place.is_none() => return Ok(false),
            Expect::Version(version) => self.check_version(collection, key, newest, version)?,
            _ => {}
        }
        self.push(Action::Put, collection, key, newest, None, body)?;
        Ok(true)
    }

    //= spec/semantics.md#s-4-1-insert-assigns-the-next-id
    //# An insert MUST put the document under the int key that is 1 above the collection's largest id, and
    //# answer that key.
    //= spec/semantics.md#s-4-4-ids-run-out
    //# An insert that needs an id above 9,223,372,036,854,775,807 MUST be refused as `IdsExhausted`.
    /// Puts a document, given in its encoded form, under the next id.
    pub(crate) fn insert(&mut self, name: &str, body: &[u8]) -> Result<Key> {
        let collection = self.collection(name, true)?;
        let largest_id = self.batch.collections[collection as usize].largest_id;
        let id = largest_id.checked_add(1).ok_or(Error::IdsExhausted)?;
        if self.batch.collections[collection as usize].targets.is_some() {
            self.note_entries(collection, KeyRef::Int(id), (None, None), Some(body))?;
        }
        self.batch.push(Action::Put, collection, KeyRef::Int(id), Superseded::NOTHING, body);
        Ok(Key::Int(id))
    }

    //= spec/semantics.md#s-4-5-insert-of-many
    //# An insert of many documents MUST put them under successive ids, in the order given, in one commit, and
    //# answer the keys in that order.
    /// Puts any number of documents under the next ids: all of them, or none.
    pub(crate) fn insert_many(&mut self, name: &str, bodies: &Bodies) -> Result<Vec<Key>> {
        if bodies.len() == 0 {
            return check_name(name).map(|()| Vec::new());
        }
        let mut one = |body: &[u8]| {
            // Before all of them are placed.
            self.check_size(self.bytes_max)?;
            self.insert(name, body)
        };
        bodies.iter().map(&mut one).collect()
    }

    //= spec/semantics.md#s-4-7-put-of-many
    //# A put of many MUST leave each document under its key in one commit, the last one where a key comes
    //# twice, and answer how many were given.
    /// Puts any number of documents, `keys[i]` with the i-th body: all of them, or none. They are placed in key order.
    pub(crate) fn put_many(&mut self, name: &str, keys: &[Key], bodies: &Bodies) -> Result<u64> {
        keys.iter().try_for_each(|key| key.as_ref().check_len())?;
        if keys.is_empty() {
            return check_name(name).map(|()| 0);
        }
        let mut order: Vec<usize> = (0..keys.len()).collect();
        // Stable: of equal keys, the last one given stays the last.
        order.sort_by(|one, other| keys[*one].cmp(&keys[*other]));
        let is_last = |at: usize| order.get(at + 1).is_none_or(|next| keys[*next] != keys[order[at]]);
        for (_, index) in order.iter().enumerate().filter(|(at, _)| is_last(*at)) {
            self.check_size(self.bytes_max)?;
            self.put(name, keys[*index].as_ref(), Expect::Anything, bodies.get(*index))?;
        }
        Ok(keys.len() as u64)
    }

    //= spec/semantics.md#s-4-10-delete
    //# A delete MUST leave the key without a document, and answer whether it had one.
    /// Deletes the document of `key`, of this version if one is given. Whether there was one.
    pub(crate) fn delete(&mut self, name: &str, key: KeyRef<'_>, version: Option<u64>) -> Result<bool> {
        key.check_len()?;
        let collection = self.collection(name, false)?;
        let newest = self.newest(collection, key)?;
        if let Some(version) = version {
            self.check_version(collection, key, newest, version)?;
        }
        if newest.place.is_none() {
            return Ok(false);
        }
        self.push(Action::Delete, collection, key, newest, None, &[])?;
        Ok(true)
    }

    fn check_version(&self, collection: u32, key: KeyRef<'_>, newest: Newest, expected: u64) -> Result<()> {
        let entry = match newest.place {
            // Nobody can have seen it in a commit.
            Some(DocumentAt::Change(_)) => return Err(Error::VersionMismatch { expected, found: Some(0) }),
            Some(DocumentAt::Log(entry)) => Some(entry),
            None => None,
        };
        let documents = &self.batch.collections[collection as usize].documents;
        self.shared.check_version(documents, key, entry, expected)
    }
}
