//! What a read through an index asks of a collection, a snapshot or a transaction.

#![expect(private_interfaces, reason = "the states are the store's own")]

use crate::core::{Cursor, WriteTxnEntries};
use crate::db::Db;
use crate::doc_ref::DocRef;
use crate::document::{Key, KeyRef};
use crate::error::Result;
use crate::index::{Documents, Indexing, KeyRange, Naming, Target};
use crate::secondary::{EntryLimits, IndexDefinition};
use crate::sync::Arc;
use crate::transaction::WriteTransaction;
use crate::txn::Registered;

/// Which indexes are asked for.
pub(crate) type IsWanted<'w> = &'w dyn Fn(&IndexDefinition) -> bool;

/// One index in one state.
pub trait IndexView: Clone + IndexStats {
    /// A walk over its entries.
    type Entries: EntryWalk;

    fn walk(self, range: KeyRange) -> Self::Entries;
}

/// What is known of an index without a read.
pub trait IndexStats {
    fn definition(&self) -> &IndexDefinition;
    fn limits(&self) -> EntryLimits;

    /// How many entries of a range the newest state has, about: a state that is older, or has changes of its own, may have others. Counts
    /// no more than `most`.
    fn count_up_to(&self, range: &KeyRange, most: u64) -> Result<u64>;
}

/// A walk over a range of entries, in one state.
pub trait EntryWalk {
    /// Walks what is left from its other end.
    fn reverse(&mut self);

    /// Passes what does not lie behind `place`, in the direction of the walk.
    fn go_behind(&mut self, place: &Key);

    /// Goes on to the next entry. Whether there is one.
    fn advance(&mut self) -> Result<bool>;

    /// How many entries are left, `most` of them at most, where they need not be gone through to tell.
    fn count_left(&self, most: u64) -> Result<Option<u64>>;

    /// Passes the next entries at hand as long as they begin so, as the one does that the walk came to last; with `all`,
    /// those that are not at hand too. Returns how many were at hand. The walk must go upwards.
    fn pass(&mut self, beginning: &[u8], all: bool) -> usize;

    /// The bytes of the entry that the walk came to last.
    fn entry(&self) -> &[u8];

    /// Of the index.
    fn definition(&self) -> &IndexDefinition;

    /// The document of a key in the state of the walk.
    fn document(&self, key: KeyRef<'_>) -> Result<Option<DocRef>>;
}

/// A collection in a state that a snapshot holds.
#[derive(Debug, Clone)]
pub(crate) struct At {
    pub(crate) db: Db,
    pub(crate) snapshot: Arc<Registered>,
    pub(crate) naming: Arc<Naming>,
}

impl At {
    /// The index of this name.
    pub(crate) fn index(self, name: &str) -> Result<Indexed> {
        let index = self.db.core().shared.index_in(self.snapshot.state(), &self.naming, name);
        self.snapshot.check_live()?;
        Ok(Indexed { index: index?, at: self })
    }

    /// Its indexes, in the order of their names.
    pub(crate) fn indexes(&self) -> Vec<Arc<Indexing>> {
        self.db.core().shared.indexes_in(self.snapshot.state(), &self.naming)
    }
}

/// An index of such a collection.
#[derive(Debug, Clone)]
pub struct Indexed {
    pub(crate) at: At,
    pub(crate) index: Arc<Indexing>,
}

/// A walk over such an index.
#[derive(Debug)]
pub struct Lookup {
    indexed: Indexed,
    cursor: Cursor,
}

impl IndexStats for Indexed {
    fn definition(&self) -> &IndexDefinition {
        &self.index.definition.definition
    }

    fn limits(&self) -> EntryLimits {
        self.at.db.core().shared.entry_limits()
    }

    fn count_up_to(&self, range: &KeyRange, most: u64) -> Result<u64> {
        self.at.db.core().shared.count_keys(self.index.entries(), range, most)
    }
}

impl IndexView for Indexed {
    type Entries = Lookup;

    fn walk(self, range: KeyRange) -> Lookup {
        self.index.entries().count_use();
        let cursor = Cursor::new(Arc::clone(&self.at.snapshot), Arc::clone(&self.index.naming), range);
        Lookup { indexed: self, cursor }
    }
}

impl EntryWalk for Lookup {
    fn reverse(&mut self) {
        self.cursor.reverse();
    }

    fn go_behind(&mut self, place: &Key) {
        self.cursor.go_behind(place);
    }

    #[inline]
    fn advance(&mut self) -> Result<bool> {
        Ok(self.indexed.at.db.core().shared.next_entry(&mut self.cursor)?.is_some())
    }

    fn count_left(&self, most: u64) -> Result<Option<u64>> {
        self.indexed.at.db.core().shared.count_left(&self.cursor, most)
    }

    fn pass(&mut self, beginning: &[u8], all: bool) -> usize {
        self.cursor.pass(beginning, all)
    }

    #[inline]
    fn entry(&self) -> &[u8] {
        self.cursor.met_bytes()
    }

    fn definition(&self) -> &IndexDefinition {
        self.indexed.definition()
    }

    //= spec/index.md#i-6-3-documents
    //# Where documents are asked for, the answer MUST have the document of each entry's key in the same state, once
    //# for each entry.
    fn document(&self, key: KeyRef<'_>) -> Result<Option<DocRef>> {
        let At { db, snapshot, naming } = &self.indexed.at;
        let found = db.core().shared.get_at(snapshot, &naming.documents, key)?;
        Ok(found.map(DocRef::new))
    }
}

/// An index as a transaction sees it.
#[derive(Debug, Clone)]
pub struct TxIndexed<'tx> {
    pub(crate) tx: &'tx WriteTransaction,
    pub(crate) documents: Arc<Documents>,
    pub(crate) target: Target,
}

/// A walk over such an index.
#[derive(Debug)]
pub struct TxLookup<'tx> {
    tx: &'tx WriteTransaction,
    walk: WriteTxnEntries,
}

impl<'tx> IndexStats for TxIndexed<'tx> {
    fn definition(&self) -> &IndexDefinition {
        &self.target.definition.definition
    }

    fn limits(&self) -> EntryLimits {
        self.tx.store().core().shared.entry_limits()
    }

    fn count_up_to(&self, range: &KeyRange, most: u64) -> Result<u64> {
        self.tx.store().core().shared.count_keys(&self.target.entries, range, most)
    }
}

impl<'tx> IndexView for TxIndexed<'tx> {
    type Entries = TxLookup<'tx>;

    fn walk(self, range: KeyRange) -> TxLookup<'tx> {
        let TxIndexed { tx, documents, target } = self;
        target.entries.count_use();
        let walk = WriteTxnEntries::new(&mut tx.txn(), documents, target, range);
        TxLookup { tx, walk }
    }
}

impl EntryWalk for TxLookup<'_> {
    fn reverse(&mut self) {
        self.walk.reverse();
    }

    fn go_behind(&mut self, place: &Key) {
        self.walk.go_behind(place);
    }

    fn advance(&mut self) -> Result<bool> {
        self.walk.advance(&self.tx.txn())
    }

    fn count_left(&self, _: u64) -> Result<Option<u64>> {
        // What the transaction has changed lies between them.
        Ok(None)
    }

    fn pass(&mut self, beginning: &[u8], all: bool) -> usize {
        self.walk.pass(beginning, all)
    }

    fn entry(&self) -> &[u8] {
        self.walk.entry()
    }

    fn definition(&self) -> &IndexDefinition {
        &self.walk.target.definition.definition
    }

    fn document(&self, key: KeyRef<'_>) -> Result<Option<DocRef>> {
        Ok(self.walk.document(&mut self.tx.txn(), key)?.map(DocRef::new))
    }
}
