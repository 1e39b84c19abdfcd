//! One commit's state, for as long as it is held.

use serde::de::DeserializeOwned;

use crate::core::Core;
use crate::db::Db;
use crate::doc_ref::DocRef;
use crate::document::{self, AsKey};
use crate::error::Result;
use crate::index::{KeyRange, Naming};
use crate::scan::{KeyBounds, Keys, Scan};
use crate::sync::{Arc, Instant};
use crate::txn::Registered;

/// The store as one commit left it. Cheap to take and to clone, and owned: it can be kept, sent and shared.
///
/// It keeps no copy of any document: what is superseded meanwhile is read from where it stands in the log.
#[derive(Debug, Clone)]
pub struct Snapshot {
    // Let go before the store is.
    registered: Arc<Registered>,
    /// When it may be ended, if there is an age limit.
    ends: Option<Instant>,
    db: Db,
}

impl Snapshot {
    pub(crate) fn take(db: Db) -> Self {
        let limit = db.core().shared.options.snapshot_max_age;
        let ends = limit.and_then(|limit| Instant::now().checked_add(limit));
        Snapshot { registered: db.store().register(), ends, db }
    }

    /// What a read needs; the snapshot is ended where its time is up.
    fn parts(&self) -> (&Arc<Registered>, &Core) {
        if self.ends.is_some_and(|ends| ends <= Instant::now()) {
            self.db.core().shared.end_snapshot(self.registered.id());
        }
        (&self.registered, self.db.core())
    }

    /// The LSN of the commit whose state this is.
    pub fn lsn(&self) -> u64 {
        self.registered.state().lsn.0
    }

    /// The names of all collections, in the order of their bytes.
    ///
    /// # Errors
    /// `SnapshotTooOld`.
    pub fn collections(&self) -> Result<Vec<String>> {
        let (registered, core) = self.parts();
        let namings = core.shared.namings_in(registered.state());
        registered.check_live()?;
        Ok(namings.iter().map(|naming| naming.name.clone()).collect())
    }

    /// The documents under `name`.
    ///
    /// # Errors
    /// `UnknownCollection` where there was none, `SnapshotTooOld`.
    pub fn collection(&self, name: &str) -> Result<View> {
        let (registered, core) = self.parts();
        let naming = core.shared.naming_in(registered.state(), name);
        registered.check_live()?;
        Ok(View { naming: naming?, snapshot: self.clone() })
    }

    /// The same snapshot, of a copy of the store.
    #[cfg(feature = "testing")]
    pub fn fork(&self, db: &Db) -> Option<Snapshot> {
        let registered = db.core().registered(self.registered.id())?;
        Some(Snapshot { registered: Arc::new(registered), ends: self.ends, db: db.clone() })
    }
}

/// A collection as one commit left it. Holds its snapshot.
#[derive(Debug, Clone)]
pub struct View {
    naming: Arc<Naming>,
    snapshot: Snapshot,
}

impl View {
    /// The collection's name.
    pub fn name(&self) -> &str {
        &self.naming.name
    }

    /// The document under `key`, as [`Collection::get`](crate::Collection::get) gives it.
    ///
    /// # Errors
    /// `SnapshotTooOld`; `Corrupt` where the record is damaged; `Io`.
    pub fn get(&self, key: impl AsKey) -> Result<Option<DocRef>> {
        let (registered, core) = self.snapshot.parts();
        let found = core.shared.get_at(registered, &self.naming.documents, key.as_key())?;
        Ok(found.map(DocRef::new))
    }

    /// The document under `key`, decoded into a type of the caller's straight from its bytes.
    ///
    /// # Errors
    /// As [`get`](Self::get), and `Serde` where the document is not of that type.
    pub fn get_as<T: DeserializeOwned>(&self, key: impl AsKey) -> Result<Option<T>> {
        self.get(key)?.map(|found| document::from_bytes(found.bytes())).transpose()
    }

    /// Whether there is a document under `key`; told by the index, without a read.
    ///
    /// # Errors
    /// `SnapshotTooOld`.
    pub fn contains(&self, key: impl AsKey) -> Result<bool> {
        let (registered, core) = self.snapshot.parts();
        core.shared.contains_at(registered, &self.naming.documents, key.as_key())
    }

    /// How many documents there are.
    ///
    /// # Errors
    /// `SnapshotTooOld`.
    pub fn len(&self) -> Result<u64> {
        let (registered, core) = self.snapshot.parts();
        core.shared.len_at(registered, &self.naming.documents)
    }

    /// Whether there are none.
    ///
    /// # Errors
    /// `SnapshotTooOld`.
    pub fn is_empty(&self) -> Result<bool> {
        self.len().map(|len| len == 0)
    }

    fn walk<W>(
        &self,
        over: impl FnOnce(Db, Arc<Registered>, Arc<Naming>, KeyRange) -> W,
        range: KeyRange,
    ) -> Result<W> {
        let (registered, _) = self.snapshot.parts();
        registered.check_live()?;
        Ok(over(self.snapshot.db.clone(), Arc::clone(registered), Arc::clone(&self.naming), range))
    }

    /// The documents whose keys lie in `range`, in key order.
    ///
    /// # Errors
    /// `SnapshotTooOld`. The iterator itself ends after its first `Err`.
    pub fn scan(&self, range: impl KeyBounds) -> Result<Scan> {
        self.walk(Scan::over, range.into_range())
    }

    /// The documents whose text keys begin with `prefix`, in key order.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn scan_prefix(&self, prefix: &str) -> Result<Scan> {
        self.walk(Scan::over, KeyRange::text_prefix(prefix))
    }

    /// The documents whose byte-string keys begin with `prefix`, in key order.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn scan_prefix_bytes(&self, prefix: &[u8]) -> Result<Scan> {
        self.walk(Scan::over, KeyRange::bytes_prefix(prefix))
    }

    /// The keys in `range`, in order; told by the index, without a read.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn keys(&self, range: impl KeyBounds) -> Result<Keys> {
        self.walk(Keys::over, range.into_range())
    }
}
