//! One commit's state, for as long as it is held.

#![expect(private_interfaces, reason = "the states are the store's own")]

use crate::core::Core;
use crate::db::Db;
use crate::doc_ref::DocRef;
use crate::document::KeyRef;
use crate::error::Result;
use crate::handle::{Handle, Reads};
use crate::index::{KeyRange, Naming};
use crate::indexed::{At, Indexed};
use crate::scan::{Keys, Scan};
use crate::secondary::IndexDefinition;
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
            self.db.core().shared.visibility.end(self.registered.id());
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
        Ok(Handle { source: Past { naming: naming?, snapshot: self.clone() } })
    }

    /// The same snapshot, of a copy of the store.
    #[cfg(feature = "testing")]
    pub fn fork(&self, db: &Db) -> Option<Snapshot> {
        let registered = db.core().registered(self.registered.id())?;
        Some(Snapshot { registered: Arc::new(registered), ends: self.ends, db: db.clone() })
    }
}

/// A collection as one commit left it. Holds its snapshot.
pub type View = Handle<Past>;

/// The state of a collection that a snapshot holds.
#[derive(Debug, Clone)]
pub struct Past {
    naming: Arc<Naming>,
    snapshot: Snapshot,
}

impl Past {
    fn at(&self) -> Result<At> {
        let (registered, _) = self.snapshot.parts();
        registered.check_live()?;
        let (db, naming) = (self.snapshot.db.clone(), Arc::clone(&self.naming));
        Ok(At { db, snapshot: Arc::clone(registered), naming })
    }
}

impl Reads for Past {
    type Scan = Scan;
    type Keys = Keys;
    type Index = Indexed;

    fn name(&self) -> &str {
        &self.naming.name
    }

    fn get(&self, key: KeyRef<'_>) -> Result<Option<DocRef>> {
        let (registered, core) = self.snapshot.parts();
        let found = core.shared.get_at(registered, &self.naming.documents, key)?;
        Ok(found.map(DocRef::new))
    }

    fn contains(&self, key: KeyRef<'_>) -> Result<bool> {
        let (registered, core) = self.snapshot.parts();
        core.shared.contains_at(registered, &self.naming.documents, key)
    }

    fn len(&self) -> Result<u64> {
        let (registered, core) = self.snapshot.parts();
        core.shared.len_at(registered, &self.naming.documents)
    }

    fn scan(&self, range: KeyRange) -> Result<Scan> {
        Ok(Scan::over(self.at()?, range))
    }

    fn keys(&self, range: KeyRange) -> Result<Keys> {
        Ok(Keys::over(self.at()?, range))
    }

    fn open_index(&self, name: &str) -> Result<Indexed> {
        self.at()?.index(name)
    }

    fn indexes(&self) -> Result<Vec<IndexDefinition>> {
        let at = self.at()?;
        let indexes = at.indexes();
        at.snapshot.check_live()?;
        Ok(indexes.iter().map(|index| index.definition.definition.clone()).collect())
    }
}
