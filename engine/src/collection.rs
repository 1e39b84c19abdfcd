//! A collection of documents: each call is one commit, or one read of the newest visible state.

#![expect(private_interfaces, reason = "the states are the store's own")]

use crate::core::WriteTxn;
use crate::db::Db;
use crate::doc_ref::DocRef;
use crate::document::KeyRef;
use crate::error::Result;
use crate::handle::{Handle, Reads, Writes};
use crate::index::{KeyRange, Naming, State};
use crate::indexed::{At, IndexInfo, Indexed};
use crate::options::Durability;
use crate::scan::{Keys, Scan};
use crate::secondary::IndexDefinition;
use crate::sync::{Arc, OnceLock, RwLock, read, write};

/// A handle to the documents under one name: each write is a commit of its own, and each read sees the newest visible state.
///
/// ```
/// use holotype::{Db, doc};
///
/// let db = Db::in_memory();
/// let notes = db.collection("notes");
/// notes.put("b", doc! { "n": 2 })?;
/// notes.put("a", doc! { "n": 1 })?;
/// let keys: Vec<String> = notes.keys(..)?.map(|key| key.map(|key| key.to_string())).collect::<Result<_, _>>()?;
/// assert_eq!(keys, ["\"a\"", "\"b\""]);
/// # Ok::<(), holotype::Error>(())
/// ```
pub type Collection = Handle<Newest>;

/// The newest visible state of a collection.
#[derive(Debug, Clone)]
pub struct Newest {
    pub(crate) db: Db,
    name: String,
    pub(crate) durability: Durability,
    naming: CachedNaming,
}

impl Collection {
    pub(crate) fn new(db: Db, name: String) -> Self {
        let durability = db.core().shared.options.durability;
        Handle { source: Newest { db, name, durability, naming: CachedNaming::default() } }
    }

    /// The same collection, with commits of another class.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.source.durability = durability;
        self
    }
}

impl Newest {
    /// Calls `then` with what the name means now.
    fn with_naming<R>(&self, then: impl Fn(&Naming) -> Result<R>) -> Result<R> {
        self.naming.with(&self.db, &self.name, then)
    }

    /// What the name means in the visible state.
    fn now(&self) -> Result<At> {
        let snapshot = self.db.store().register();
        let naming = self.naming.in_state(&self.db, &self.name, snapshot.state())?;
        Ok(At { db: self.db.clone(), snapshot, naming })
    }

    /// The indexes with what they take.
    pub(crate) fn index_info(&self) -> Result<Vec<IndexInfo>> {
        let indexes = self.now()?.indexes();
        Ok(indexes.iter().map(|index| IndexInfo::of(index)).collect())
    }
}

impl Reads for Newest {
    type Scan = Scan;
    type Keys = Keys;
    type Index = Indexed;

    fn name(&self) -> &str {
        &self.name
    }

    #[inline(always)]
    fn get(&self, key: KeyRef<'_>) -> Result<Option<DocRef>> {
        let located = self.with_naming(|naming| self.db.core().shared.get(naming, key))?;
        Ok(located.map(DocRef::new))
    }

    #[inline(always)]
    fn contains(&self, key: KeyRef<'_>) -> Result<bool> {
        self.with_naming(|naming| self.db.core().shared.contains(naming, key))
    }

    fn len(&self) -> Result<u64> {
        self.with_naming(|naming| Ok(self.db.core().shared.len(naming)))
    }

    fn scan(&self, range: KeyRange) -> Result<Scan> {
        Ok(Scan::over(self.now()?, range))
    }

    fn keys(&self, range: KeyRange) -> Result<Keys> {
        Ok(Keys::over(self.now()?, range))
    }

    fn open_index(&self, name: &str) -> Result<Indexed> {
        self.now()?.index(name)
    }

    fn indexes(&self) -> Result<Vec<IndexDefinition>> {
        let indexes = self.now()?.indexes();
        Ok(indexes.iter().map(|index| index.definition.definition.clone()).collect())
    }
}

impl Writes for Newest {
    #[inline]
    fn change<R>(&self, change: impl FnOnce(&mut WriteTxn) -> Result<R>) -> Result<R> {
        self.db.store().autocommit(self.durability, change)
    }
}

/// What the name of a collection means, looked up anew only after a drop, a rename or a clear.
#[derive(Debug, Default)]
struct CachedNaming {
    /// What it meant first. Most names mean one thing for ever, and this is read without a lock or a count.
    first: OnceLock<Arc<Naming>>,
    /// What it meant when it was last looked up, once `first` is of the past.
    last: RwLock<Option<Arc<Naming>>>,
}

impl CachedNaming {
    fn with<R>(&self, db: &Db, name: &str, then: impl Fn(&Naming) -> Result<R>) -> Result<R> {
        if let Some(naming) = self.first.get()
            && naming.is_current()
        {
            let seen = then(naming);
            // If the name means something else by now, it may have done so before the look.
            if naming.is_current() {
                return seen;
            }
        }
        loop {
            let last = read(&self.last).clone().filter(|naming| naming.is_current());
            let naming = match last {
                Some(naming) => naming,
                None => {
                    let naming = db.core().shared.naming(name)?;
                    // Where there is a first one already, it stays: only `last` can follow.
                    let _ = self.first.set(Arc::clone(&naming));
                    *write(&self.last) = Some(Arc::clone(&naming));
                    naming
                }
            };
            let seen = then(&naming);
            // A commit that ends it may be placed and not visible yet.
            let visibility = &db.core().shared.visibility;
            if naming.is_current() || visibility.settled(|visible| naming.is_in(visible)) {
                return seen;
            }
        }
    }

    /// What the name means in a state.
    fn in_state(&self, db: &Db, name: &str, state: State) -> Result<Arc<Naming>> {
        if let Some(naming) = self.first.get()
            && naming.is_in(state)
        {
            return Ok(Arc::clone(naming));
        }
        let naming = db.core().shared.naming_in(state, name)?;
        let _ = self.first.set(Arc::clone(&naming));
        Ok(naming)
    }
}

impl Clone for CachedNaming {
    fn clone(&self) -> Self {
        // A clone may as well begin with what is known best.
        let copy = CachedNaming::default();
        let known = read(&self.last).clone().or_else(|| self.first.get().cloned());
        if let Some(naming) = known {
            let _ = copy.first.set(naming);
        }
        copy
    }
}
