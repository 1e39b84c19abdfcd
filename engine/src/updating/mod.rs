//! Documents changed where they are: by a patch, a merge patch, or an update, one call and one commit. spec: U-6.

use std::borrow::Borrow;

use crate::collection::Collection;
use crate::core::check_key;
use crate::doc_ref::DocRef;
use crate::document::{AsKey, Document, KeyRef, RawDocument};
use crate::error::{Error, Result};
use crate::seeded::{self, Bug};
use crate::transaction::collection::TxCollection;
use crate::update::{Changes, JsonPatch};

/// What a call made of a document: whether there was one, whether it is another now, and both.
#[derive(Debug, Clone)]
pub struct Updated {
    before: Option<DocRef>,
    after: Option<Vec<u8>>,
}

impl Updated {
    /// Whether the key had a document.
    pub fn matched(&self) -> bool {
        self.before.is_some()
    }

    /// Whether the key has another document now. One that stays equal is not written.
    pub fn changed(&self) -> bool {
        self.after.is_some()
    }

    /// The document as it was; `None` where there was none.
    pub fn before(&self) -> Option<&DocRef> {
        self.before.as_ref()
    }

    /// The document as it is now; `None` where there is none.
    pub fn after(&self) -> Option<RawDocument<'_>> {
        let after = self.after.as_deref().map(RawDocument::from_verified);
        after.or_else(|| self.before.as_ref().map(DocRef::raw))
    }
}

/// What an insert does where the key has a document already.
#[derive(Debug)]
#[non_exhaustive]
pub enum OnConflict<'a> {
    /// That document stays as it is.
    Skip,
    /// The new one takes its place.
    Replace,
    /// That document is changed, and the new one is not used.
    Update(Changes<'a>),
}

impl TxCollection<'_> {
    /// As [`Collection::patch`].
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn patch(&self, key: impl AsKey, patch: &JsonPatch) -> Result<Updated> {
        self.update(key, patch)
    }

    /// As [`Collection::patch_if`].
    ///
    /// # Errors
    /// As [`update_if`](Self::update_if).
    pub fn patch_if(&self, key: impl AsKey, version: u64, patch: &JsonPatch) -> Result<Updated> {
        self.update_if(key, version, patch)
    }

    /// As [`Collection::merge`].
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn merge(&self, key: impl AsKey, patch: &Document) -> Result<Updated> {
        self.update(key, Changes::merge(patch))
    }

    /// As [`Collection::update`].
    ///
    /// # Errors
    /// As [`Collection::update`], and `TransactionTooLarge`. The transaction is then as before.
    pub fn update<'a>(&self, key: impl AsKey, changes: impl Into<Changes<'a>>) -> Result<Updated> {
        let key = key.as_key();
        match self.existing(key)? {
            Some(found) => self.change_found(key, found, &changes.into()),
            None => Ok(Updated { before: None, after: None }),
        }
    }

    //= spec/update.md#u-6-3-version
    //# An update that names a version MUST be refused as `VersionMismatch` unless the key's document is of that
    //# version.
    /// As [`Collection::update_if`]. A document that the transaction itself has put has no version that could be asked for.
    ///
    /// # Errors
    /// `VersionMismatch`, and as [`update`](Self::update).
    pub fn update_if<'a>(
        &self,
        key: impl AsKey,
        version: u64,
        changes: impl Into<Changes<'a>>,
    ) -> Result<Updated> {
        let key = key.as_key();
        let found = self.existing(key)?;
        match (found.as_ref().map(DocRef::version), found) {
            (Some(seen), Some(found))
                if (seen == version && seen != 0) || seeded::is_on(Bug::VersionOfUpdateIgnored) =>
            {
                self.change_found(key, found, &changes.into())
            }
            (seen, _) => Err(Error::VersionMismatch { expected: version, found: seen }),
        }
    }

    //= spec/update.md#u-6-4-update-or-insert
    //# An update or insert MUST update the key's document, and put the given one when the key has none.
    /// As [`Collection::update_or_insert`].
    ///
    /// # Errors
    /// As [`update`](Self::update) and [`put`](Self::put), but for `UnknownCollection`.
    pub fn update_or_insert<'a, D: Borrow<Document>>(
        &self,
        key: impl AsKey,
        changes: impl Into<Changes<'a>>,
        document: impl FnOnce() -> D,
    ) -> Result<Updated> {
        let key = key.as_key();
        match self.find_if_any(key)? {
            Some(found) => self.change_found(key, found, &changes.into()),
            None => self.put_new(key, None, document().borrow()),
        }
    }

    //= spec/update.md#u-6-5-insert-on-conflict
    //# An insert on conflict MUST put the given document when the key has none, and otherwise leave the key's
    //# document, replace it by the given one, or update it, as was asked.
    /// As [`Collection::insert_on_conflict`].
    ///
    /// # Errors
    /// As [`update_or_insert`](Self::update_or_insert).
    pub fn insert_on_conflict(
        &self,
        key: impl AsKey,
        document: impl Borrow<Document>,
        on_conflict: OnConflict<'_>,
    ) -> Result<Updated> {
        let key = key.as_key();
        match (self.find_if_any(key)?, on_conflict) {
            (before @ Some(_), OnConflict::Skip) => Ok(Updated { before, after: None }),
            (Some(found), OnConflict::Update(changes)) => self.change_found(key, found, &changes),
            (before, _) => self.put_new(key, before, document.borrow()),
        }
    }

    /// As [`find`](Self::find), where the collection need not be there.
    fn find_if_any(&self, key: KeyRef<'_>) -> Result<Option<DocRef>> {
        match self.existing(key) {
            Err(Error::UnknownCollection { .. }) => Ok(None),
            found => found,
        }
    }

    /// The document that is to be changed.
    fn existing(&self, key: KeyRef<'_>) -> Result<Option<DocRef>> {
        check_key(key)?;
        self.get(key)
    }

    //= spec/update.md#u-6-2-equal
    //# A document that the changes leave equal MUST NOT be written.
    fn change_found(&self, key: KeyRef<'_>, found: DocRef, changes: &Changes<'_>) -> Result<Updated> {
        let after = changes.apply(found.raw()).map_err(|error| with_key(error, key))?;
        if after == found.bytes() && !seeded::is_on(Bug::EqualWritten) {
            return Ok(Updated { before: Some(found), after: None });
        }
        self.put_body(key, &after)?;
        Ok(Updated { before: Some(found), after: Some(after) })
    }

    fn put_new(&self, key: KeyRef<'_>, before: Option<DocRef>, document: &Document) -> Result<Updated> {
        let mut after = Vec::new();
        document.encode_into(&mut after)?;
        if before.as_ref().is_some_and(|before| before.bytes() == after) {
            return Ok(Updated { before, after: None });
        }
        self.put_body(key, &after)?;
        Ok(Updated { before, after: Some(after) })
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

impl Collection {
    /// Changes the document under `key` by a JSON Patch (RFC 6902), in one commit: all its operations or none.
    ///
    /// ```
    /// use holotype::{Db, Error, doc, update::JsonPatch};
    ///
    /// let db = Db::in_memory();
    /// let birds = db.collection("birds");
    /// birds.put("wren", doc! { "seen": 1, "places": ["hedge"] })?;
    /// let patch = JsonPatch::parse(r#"[
    ///     { "op": "test", "path": "/seen", "value": 1 },
    ///     { "op": "replace", "path": "/seen", "value": 2 },
    ///     { "op": "add", "path": "/places/-", "value": "barn" }
    /// ]"#)?;
    /// let updated = birds.patch("wren", &patch)?;
    /// assert_eq!(updated.after().expect("it is there").to_document()?, doc! { "seen": 2, "places": ["hedge", "barn"] });
    /// assert!(matches!(birds.patch("wren", &patch), Err(Error::Update(_)))); // the test fails now
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn patch(&self, key: impl AsKey, patch: &JsonPatch) -> Result<Updated> {
        self.update(key, patch)
    }

    /// As [`patch`](Self::patch), if the document is still of `version`, as [`DocRef::version`] gave it.
    ///
    /// # Errors
    /// As [`update_if`](Self::update_if).
    pub fn patch_if(&self, key: impl AsKey, version: u64, patch: &JsonPatch) -> Result<Updated> {
        self.update_if(key, version, patch)
    }

    /// Changes the document under `key` by a JSON Merge Patch (RFC 7396): fields of `patch` are set, those that are null removed,
    /// and those that are objects merged in turn.
    ///
    /// ```
    /// use holotype::{Db, doc};
    ///
    /// let db = Db::in_memory();
    /// let birds = db.collection("birds");
    /// birds.put("wren", doc! { "name": "Wren", "seen": { "hedge": 1, "wall": 2 } })?;
    /// birds.merge("wren", &doc! { "seen": { "wall": null, "barn": 1 } })?;
    /// let wren = birds.get("wren")?.expect("it is there").to_document()?;
    /// assert_eq!(wren, doc! { "name": "Wren", "seen": { "hedge": 1, "barn": 1 } });
    /// # Ok::<(), holotype::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn merge(&self, key: impl AsKey, patch: &Document) -> Result<Updated> {
        self.update(key, Changes::merge(patch))
    }

    //= spec/update.md#u-6-1-one-commit
    //# The document that a call reads and the one that it writes MUST follow each other in the order of commits,
    //# with no other change of that document between them.
    /// Changes the document under `key`, in one commit that nobody else writes into: no update is lost. Where the key has no
    /// document, nothing is done.
    ///
    /// # Errors
    /// `Update` with the operation that failed, its path and what was there; `UnknownCollection`, `KeyTooLong`,
    /// `DocumentTooLarge`, `TooDeep`; `WriterBusy`, and what any write may say. The document is then as before.
    pub fn update<'a>(&self, key: impl AsKey, changes: impl Into<Changes<'a>>) -> Result<Updated> {
        self.in_one_turn(|tx| tx.update(key, changes))
    }

    /// As [`update`](Self::update), if the document is still of `version`, as [`DocRef::version`] gave it.
    ///
    /// # Errors
    /// `VersionMismatch` where it is not, or is gone; and as [`update`](Self::update).
    pub fn update_if<'a>(
        &self,
        key: impl AsKey,
        version: u64,
        changes: impl Into<Changes<'a>>,
    ) -> Result<Updated> {
        self.in_one_turn(|tx| tx.update_if(key, version, changes))
    }

    /// As [`update`](Self::update); where the key has no document, puts the one that `document` gives.
    ///
    /// # Errors
    /// As [`update`](Self::update) and [`put`](Self::put), but for `UnknownCollection`.
    pub fn update_or_insert<'a, D: Borrow<Document>>(
        &self,
        key: impl AsKey,
        changes: impl Into<Changes<'a>>,
        document: impl FnOnce() -> D,
    ) -> Result<Updated> {
        self.in_one_turn(|tx| tx.update_or_insert(key, changes, document))
    }

    /// Puts a document under `key`, or does what `on_conflict` says where the key has one.
    ///
    /// ```
    /// use holotype::{Db, OnConflict, doc};
    ///
    /// let db = Db::in_memory();
    /// let birds = db.collection("birds");
    /// assert!(birds.insert_on_conflict("wren", doc! { "seen": 1 }, OnConflict::Skip)?.changed());
    /// assert!(!birds.insert_on_conflict("wren", doc! { "seen": 9 }, OnConflict::Skip)?.changed());
    /// # Ok::<(), holotype::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`update_or_insert`](Self::update_or_insert).
    pub fn insert_on_conflict(
        &self,
        key: impl AsKey,
        document: impl Borrow<Document>,
        on_conflict: OnConflict<'_>,
    ) -> Result<Updated> {
        self.in_one_turn(|tx| tx.insert_on_conflict(key, document, on_conflict))
    }

    /// Makes one commit of what `call` does, with the turn to write held from its read on.
    fn in_one_turn<R>(&self, call: impl FnOnce(&TxCollection<'_>) -> Result<R>) -> Result<R> {
        self.db.write(|tx| {
            tx.set_durability(self.durability);
            call(&tx.collection(self.name()))
        })
    }
}
