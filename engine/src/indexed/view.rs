//! What a read through an index asks of a collection, a snapshot or a transaction.

use crate::core::{Cursor, Shared, WriteTxnEntries};
use crate::db::Db;
use crate::doc_ref::DocRef;
use crate::document::{Key, KeyRef};
use crate::error::Result;
use crate::index::{Documents, Indexing, KeyRange, Naming, Target};
use crate::secondary::{EntryLimits, IndexDefinition};
use crate::sync::Arc;
use crate::transaction::WriteTransaction;
use crate::txn::Registered;

/// One index in one state.
#[expect(private_interfaces, reason = "the states are the store's own")]
pub trait IndexView: Clone + IndexStats {
    /// A walk over its entries.
    type Entries: EntryWalk;

    fn walk(self, range: KeyRange) -> Self::Entries;
}

/// What is known of an index without a read.
#[expect(private_interfaces, reason = "the states are the store's own")]
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

    /// Puts the bytes of the next entry into `out`. Whether there is one.
    fn next_into(&mut self, out: &mut Vec<u8>) -> Result<bool>;

    /// The document of a key in the state of the walk.
    fn document(&self, key: KeyRef<'_>) -> Result<Option<DocRef>>;
}

/// An index in a state that a snapshot holds.
#[derive(Debug, Clone)]
pub struct Indexed {
    pub(crate) db: Db,
    pub(crate) snapshot: Arc<Registered>,
    /// The collection.
    pub(crate) naming: Arc<Naming>,
    pub(crate) index: Arc<Indexing>,
}

impl Indexed {
    /// The index of this name in the state of `snapshot`.
    pub(crate) fn open(db: &Db, snapshot: Arc<Registered>, naming: Arc<Naming>, name: &str) -> Result<Self> {
        let index = db.core().shared.index_in(snapshot.state(), &naming, name);
        snapshot.check_live()?;
        Ok(Indexed { db: db.clone(), index: index?, snapshot, naming })
    }
}

/// A walk over such an index.
#[derive(Debug)]
pub struct Lookup {
    db: Db,
    naming: Arc<Naming>,
    cursor: Cursor,
}

#[expect(private_interfaces, reason = "the states are the store's own")]
impl IndexStats for Indexed {
    fn definition(&self) -> &IndexDefinition {
        &self.index.definition.definition
    }

    fn limits(&self) -> EntryLimits {
        self.db.core().shared.entry_limits()
    }

    fn count_up_to(&self, range: &KeyRange, most: u64) -> Result<u64> {
        count_up_to(&self.db.core().shared, self.index.entries(), range, most)
    }
}

#[expect(private_interfaces, reason = "the states are the store's own")]
impl IndexView for Indexed {
    type Entries = Lookup;

    fn walk(self, range: KeyRange) -> Lookup {
        let Indexed { db, snapshot, naming, index } = self;
        index.entries().count_use();
        Lookup { db, naming, cursor: Cursor::new(snapshot, Arc::clone(&index.naming), range) }
    }
}

impl EntryWalk for Lookup {
    fn reverse(&mut self) {
        self.cursor.reverse();
    }

    fn next_into(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        let Some((entry, _)) = self.db.core().shared.next_entry(&mut self.cursor)? else { return Ok(false) };
        put_bytes(entry, out);
        Ok(true)
    }

    //= spec/index.md#i-6-3-documents
    //# Where documents are asked for, the answer MUST have the document of each entry's key in the same state, once
    //# for each entry.
    fn document(&self, key: KeyRef<'_>) -> Result<Option<DocRef>> {
        let found = self.db.core().shared.get_at(self.cursor.snapshot(), &self.naming.documents, key)?;
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

#[expect(private_interfaces, reason = "the states are the store's own")]
impl<'tx> IndexStats for TxIndexed<'tx> {
    fn definition(&self) -> &IndexDefinition {
        &self.target.definition.definition
    }

    fn limits(&self) -> EntryLimits {
        self.tx.store().core().shared.entry_limits()
    }

    fn count_up_to(&self, range: &KeyRange, most: u64) -> Result<u64> {
        count_up_to(&self.tx.store().core().shared, &self.target.entries, range, most)
    }
}

#[expect(private_interfaces, reason = "the states are the store's own")]
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

    fn next_into(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        let Some(entry) = self.walk.next(&self.tx.txn())? else { return Ok(false) };
        put_bytes(entry, out);
        Ok(true)
    }

    fn document(&self, key: KeyRef<'_>) -> Result<Option<DocRef>> {
        Ok(self.walk.document(&mut self.tx.txn(), key)?.map(DocRef::new))
    }
}

/// The bytes of an entry, which stands in its index as a key.
fn put_bytes(entry: KeyRef<'_>, out: &mut Vec<u8>) {
    out.clear();
    if let KeyRef::Bytes(bytes) = entry {
        out.extend_from_slice(bytes);
    }
}

/// How many keys of a range there are after the newest commit, `most` of them at most.
pub(crate) fn count_up_to(
    shared: &Shared,
    documents: &Documents,
    range: &KeyRange,
    most: u64,
) -> Result<u64> {
    if range.is_all() {
        return Ok(documents.newest_len().min(most));
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    Ok(shared.count_keys(documents, range, most)? as u64)
}

/// The key of an entry as it stands in its index.
pub(super) fn key_of(bytes: &[u8]) -> Key {
    Key::Bytes(bytes.into())
}
