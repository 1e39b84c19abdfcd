//! Documents changed where they are: by a patch, a merge patch, or an update, one call and one commit. spec: U-6.

mod many;

pub use many::{Batches, Stopped, UpdateReport};

use std::borrow::Borrow;

use crate::core::{BeforeAfter, OnConflict};
use crate::doc_ref::DocRef;
use crate::document::{AsKey, Document, RawDocument};
use crate::error::{Error, Result};
use crate::handle::{Handle, Writes, encoded};
use crate::update::{Changes, JsonPatch};

/// What a call made of a document: whether there was one, whether it is another now, and both.
#[derive(Debug, Clone)]
pub struct Updated {
    before: Option<DocRef>,
    after: Option<Vec<u8>>,
}

impl Updated {
    /// Whether there was a document: of the key, or, for an insert, in its way.
    pub fn matched(&self) -> bool {
        self.before.is_some()
    }

    /// Whether it is another now, or one was put. One that stays equal is not written.
    pub fn changed(&self) -> bool {
        self.after.is_some()
    }

    /// The document as it was; `None` where there was none.
    pub fn before(&self) -> Option<&DocRef> {
        self.before.as_ref()
    }

    /// The document as it is now, or the one that was put; `None` where there is none.
    pub fn after(&self) -> Option<RawDocument<'_>> {
        let after = self.after.as_deref().map(RawDocument::from_verified);
        after.or_else(|| self.before.as_ref().map(DocRef::raw))
    }
}

impl From<BeforeAfter> for Updated {
    fn from(BeforeAfter { before, after }: BeforeAfter) -> Self {
        Updated { before: before.map(DocRef::new), after }
    }
}

#[expect(private_bounds, reason = "the states are the store's own")]
impl<S: Writes> Handle<S> {
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

    /// Changes the document under `key`, in one commit that nobody else writes into: no update is lost. Where the key has no
    /// document, nothing is done.
    ///
    /// # Errors
    /// `Update` with the operation that failed, its path and what was there; `UnknownCollection`, `KeyTooLong`,
    /// `DocumentTooLarge`, `TooDeep`, and what any write may say. The document is then as before.
    pub fn update<'a>(&self, key: impl AsKey, changes: impl Into<Changes<'a>>) -> Result<Updated> {
        self.update_version(key, None, &changes.into())
    }

    /// As [`update`](Self::update), if the document is still of `version`, as [`DocRef::version`] gave it. One that the transaction
    /// itself has put has no version that could be asked for.
    ///
    /// # Errors
    /// `VersionMismatch` where it is not, or is gone; and as [`update`](Self::update).
    pub fn update_if<'a>(
        &self,
        key: impl AsKey,
        version: u64,
        changes: impl Into<Changes<'a>>,
    ) -> Result<Updated> {
        self.update_version(key, Some(version), &changes.into())
    }

    fn update_version(
        &self,
        key: impl AsKey,
        version: Option<u64>,
        changes: &Changes<'_>,
    ) -> Result<Updated> {
        let key = key.as_key();
        self.source.change(|txn| txn.update(self.name(), key, version, changes)).map(Updated::from)
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
        let (key, changes) = (key.as_key(), changes.into());
        match self.update_version(key, None, &changes) {
            Ok(Updated { before: None, .. }) | Err(Error::UnknownCollection { .. }) => {}
            updated => return updated,
        }
        // The caller's code may use the store, so it is called between the two looks. Whoever has put a document meanwhile has it updated.
        let insert =
            |body: &[u8]| self.source.change(|txn| txn.update_or_insert(self.name(), key, body, &changes));
        encoded(|out| document().borrow().encode_into(out), insert).map(Updated::from)
    }

    /// Puts a document under `key`, or does what `on_conflict` says where documents are in the way: that of the key, or others that have what
    /// only one may have in a unique index. The first of these is the one [before](Updated::before).
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
        let key = key.as_key();
        let insert = move |body: &[u8]| {
            self.source.change(|txn| txn.insert_on_conflict(self.name(), key, body, &on_conflict))
        };
        encoded(|out| document.borrow().encode_into(out), insert).map(Updated::from)
    }
}
