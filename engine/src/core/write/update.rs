//! Changes of a document where it is: the read and the write of one call. spec: U-6.

use crate::document::{KeyRef, RawDocument};
use crate::error::{Error, Result};
use crate::log::Action;
use crate::seeded::{self, Bug};
use crate::update::Changes;

use super::super::read::Located;
use super::txn::{Newest, WriteTxn};

/// What an insert does where documents are in the way: that of the key, or others for which a unique index refuses
/// the new one.
#[derive(Debug)]
#[non_exhaustive]
pub enum OnConflict<'a> {
    /// They stay as they are.
    Skip,
    /// The new one takes the place of them all.
    Replace,
    /// The first of them is changed, that of the key before those of others, and the new one is not used.
    Update(Changes<'a>),
}

/// The document that a call found, and the one that it has put.
#[derive(Debug)]
pub(crate) struct BeforeAfter {
    pub(crate) before: Option<Located>,
    pub(crate) after: Option<Vec<u8>>,
}

/// A document as a write transaction found it. It is changed or deleted before the transaction changes anything else.
#[derive(Debug)]
pub(crate) struct FoundDocument {
    pub(super) newest: Newest,
    pub(super) located: Located,
}

impl FoundDocument {
    pub(crate) fn key(&self) -> KeyRef<'_> {
        self.located.key()
    }

    pub(crate) fn raw(&self) -> RawDocument<'_> {
        RawDocument::from_verified(self.located.body())
    }
}

impl WriteTxn {
    //= spec/update.md#u-6-1-one-commit
    //# The document that a call reads and the one that it writes MUST follow each other in the order of commits,
    //# with no other change of that document between them.
    //= spec/update.md#u-6-3-version
    //# An update that names a version MUST be refused as `VersionMismatch` unless the key's document is of that
    //# version.
    /// Changes the document of `key`, of this version if one is given. Where there is none, nothing is done.
    pub(crate) fn update(
        &mut self,
        name: &str,
        key: KeyRef<'_>,
        version: Option<u64>,
        changes: &Changes<'_>,
    ) -> Result<BeforeAfter> {
        key.check_len()?;
        let collection = self.collection(name, false)?;
        let (newest, before) = self.find(collection, key)?;
        if let Some(expected) = version {
            // A document of this very transaction has version 0, which nobody can have seen in a commit.
            let found = before.as_ref().map(|before| before.lsn().0);
            let is_it = found == version && version != Some(0);
            if !is_it && (found.is_none() || !seeded::is_on(Bug::VersionOfUpdateIgnored)) {
                return Err(Error::VersionMismatch { expected, found });
            }
        }
        let after = match &before {
            Some(before) => self.change(collection, key, newest, before, changes)?,
            // Where there is one, it is asked for.
            None => changes.check().map(|()| None)?,
        };
        Ok(BeforeAfter { before, after })
    }

    /// The document of `key`, to be changed or deleted.
    pub(crate) fn found(&mut self, name: &str, key: KeyRef<'_>) -> Result<Option<FoundDocument>> {
        let collection = self.collection(name, false)?;
        let (newest, located) = self.find(collection, key)?;
        Ok(located.map(|located| FoundDocument { newest, located }))
    }

    /// Changes the document of `key`. Whether it is another now.
    pub(crate) fn update_found(
        &mut self,
        name: &str,
        key: KeyRef<'_>,
        found: &FoundDocument,
        changes: &Changes<'_>,
    ) -> Result<bool> {
        let collection = self.collection(name, false)?;
        self.change(collection, key, found.newest, &found.located, changes).map(|after| after.is_some())
    }

    /// Deletes the document of `key`.
    pub(crate) fn delete_found(&mut self, name: &str, key: KeyRef<'_>, found: &FoundDocument) -> Result<()> {
        let collection = self.collection(name, false)?;
        self.push(Action::Delete, collection, key, found.newest, Some(found.located.body()), &[])
    }

    //= spec/update.md#u-6-5-insert-on-conflict
    //# An insert on conflict MUST put the given document when none is in the way. Otherwise it MUST leave all
    //# documents as they are, put the given one in the place of all that are in the way, or update the first of
    //# them, as was asked.
    /// Puts a document, given in its encoded form, or does what `on_conflict` says where others are in the way.
    /// The first of these is the one before.
    pub(crate) fn insert_on_conflict(
        &mut self,
        name: &str,
        key: KeyRef<'_>,
        body: &[u8],
        on_conflict: &OnConflict<'_>,
    ) -> Result<BeforeAfter> {
        key.check_len()?;
        if let OnConflict::Update(changes) = on_conflict {
            changes.check()?;
        }
        let collection = self.collection(name, true)?;
        let (newest, mut first) = self.find(collection, key)?;
        if !matches!(on_conflict, OnConflict::Replace)
            && let Some(before) = first
        {
            return self.leave_or_update(collection, key, newest, before, on_conflict);
        }
        let has_no_say = seeded::is_on(Bug::ConflictOfIndexRefused);
        // The document is put on trial: where an index refuses it, the put is undone.
        loop {
            let put = self.call(|txn| {
                let (newest, found) = txn.find(collection, key)?;
                let before = found.as_ref().map(Located::body);
                txn.put_unless_equal(collection, key, newest, before, body.to_vec())
            });
            let other = match put {
                Err(Error::UniqueViolation { ref key, .. }) if !has_no_say => key.clone(),
                put => return put.map(|after| BeforeAfter { before: first, after }),
            };
            let (newest, found) = self.find(collection, other.as_ref())?;
            let Some(before) = found else { return Err(put.expect_err("it is a violation")) };
            if !matches!(on_conflict, OnConflict::Replace) {
                return self.leave_or_update(collection, other.as_ref(), newest, before, on_conflict);
            }
            self.push(Action::Delete, collection, other.as_ref(), newest, Some(before.body()), &[])?;
            first.get_or_insert(before);
        }
    }

    //= spec/update.md#u-6-4-update-or-insert
    //# An update or insert MUST update the key's document, and put the given one when the key has none.
    /// Changes the document of `key`, or puts one, given in its encoded form, where there is none.
    pub(crate) fn update_or_insert(
        &mut self,
        name: &str,
        key: KeyRef<'_>,
        body: &[u8],
        changes: &Changes<'_>,
    ) -> Result<BeforeAfter> {
        key.check_len()?;
        changes.check()?;
        let collection = self.collection(name, true)?;
        let (newest, before) = self.find(collection, key)?;
        let after = match &before {
            Some(before) => self.change(collection, key, newest, before, changes)?,
            None => self.put_unless_equal(collection, key, newest, None, body.to_vec())?,
        };
        Ok(BeforeAfter { before, after })
    }

    /// Updates the document that is there, where that was asked, and leaves it where not.
    fn leave_or_update(
        &mut self,
        collection: u32,
        key: KeyRef<'_>,
        newest: Newest,
        before: Located,
        on_conflict: &OnConflict<'_>,
    ) -> Result<BeforeAfter> {
        let after = match on_conflict {
            OnConflict::Update(changes) => self.change(collection, key, newest, &before, changes)?,
            OnConflict::Skip | OnConflict::Replace => None,
        };
        Ok(BeforeAfter { before: Some(before), after })
    }

    /// The newest version of a key in the batch's collection of this number, and the document itself.
    #[inline(always)]
    fn find(&mut self, collection: u32, key: KeyRef<'_>) -> Result<(Newest, Option<Located>)> {
        let newest = self.newest(collection, key)?;
        self.check_ground()?;
        let documents = &self.batch.collections[collection as usize].documents;
        let located = newest.place.map(|place| self.locate(documents, key, place)).transpose()?;
        Ok((newest, located))
    }

    /// Changes the document that is there. What it is now, if it is another.
    #[inline(always)]
    fn change(
        &mut self,
        collection: u32,
        key: KeyRef<'_>,
        newest: Newest,
        before: &Located,
        changes: &Changes<'_>,
    ) -> Result<Option<Vec<u8>>> {
        let body = before.body();
        let after = changes.apply(RawDocument::from_verified(body)).map_err(|error| with_key(error, key))?;
        self.put_unless_equal(collection, key, newest, Some(body), after)
    }

    //= spec/update.md#u-6-2-equal
    //# A document that the changes leave equal MUST NOT be written.
    #[inline(always)]
    fn put_unless_equal(
        &mut self,
        collection: u32,
        key: KeyRef<'_>,
        newest: Newest,
        before: Option<&[u8]>,
        after: Vec<u8>,
    ) -> Result<Option<Vec<u8>>> {
        if before == Some(&after) && !seeded::is_on(Bug::EqualWritten) {
            return Ok(None);
        }
        self.push(Action::Put, collection, key, newest, before, &after)?;
        Ok(Some(after))
    }
}

/// The error, with the key of the document that was to be changed.
#[cold]
fn with_key(mut error: Error, key: KeyRef<'_>) -> Error {
    if let Error::Update(update) = &mut error {
        update.key = Some(key.to_key());
    }
    error
}
