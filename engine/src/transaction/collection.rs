//! A collection as a transaction sees and changes it.

use crate::core::{WriteTxn, WriteTxnWalk};
use crate::doc_ref::DocRef;
use crate::document::KeyRef;
use crate::error::Result;
use crate::handle::{Handle, Reads, Writes};
use crate::index::KeyRange;
use crate::indexed::TxIndexed;
use crate::secondary::IndexDefinition;

use super::WriteTransaction;
use super::scan::{TxKeys, TxScan, TxWalk};

impl WriteTransaction {
    /// The collection of this name, as the transaction sees it and changes it. It need not exist: the first write creates it.
    pub fn collection(&self, name: impl Into<String>) -> TxCollection<'_> {
        TxCollection::new(self, name.into())
    }
}

/// A collection in a write transaction: reads see the transaction's own changes.
pub type TxCollection<'tx> = Handle<Changed<'tx>>;

/// A collection as the changes of a transaction leave it.
#[derive(Debug, Clone)]
pub struct Changed<'tx> {
    tx: &'tx WriteTransaction,
    name: String,
}

impl<'tx> TxCollection<'tx> {
    pub(super) fn new(tx: &'tx WriteTransaction, name: String) -> Self {
        Handle { source: Changed { tx, name } }
    }
}

impl<'tx> Changed<'tx> {
    fn walk(&self, range: KeyRange) -> Result<TxWalk<'tx>> {
        let mut txn = self.tx.txn();
        let documents = txn.documents(&self.name)?;
        let walk = WriteTxnWalk::new(&mut txn, documents, range);
        Ok(TxWalk { tx: self.tx, name: self.name.clone(), walk, over: false })
    }
}

impl<'tx> Reads for Changed<'tx> {
    type Scan = TxScan<'tx>;
    type Keys = TxKeys<'tx>;
    type Index = TxIndexed<'tx>;

    fn name(&self) -> &str {
        &self.name
    }

    fn get(&self, key: KeyRef<'_>) -> Result<Option<DocRef>> {
        let mut txn = self.tx.txn();
        let documents = txn.documents(&self.name)?;
        Ok(txn.get(&documents, key)?.map(DocRef::new))
    }

    fn contains(&self, key: KeyRef<'_>) -> Result<bool> {
        let mut txn = self.tx.txn();
        let documents = txn.documents(&self.name)?;
        txn.contains(&documents, key)
    }

    fn len(&self) -> Result<u64> {
        let txn = self.tx.txn();
        let documents = txn.documents(&self.name)?;
        txn.len(&documents)
    }

    #[expect(private_interfaces, reason = "the states are the store's own")]
    fn scan(&self, range: KeyRange) -> Result<TxScan<'tx>> {
        self.walk(range).map(TxScan::over)
    }

    #[expect(private_interfaces, reason = "the states are the store's own")]
    fn keys(&self, range: KeyRange) -> Result<TxKeys<'tx>> {
        self.walk(range).map(TxKeys::over)
    }

    fn open_index(&self, name: &str) -> Result<TxIndexed<'tx>> {
        let txn = self.tx.txn();
        let documents = txn.documents(&self.name)?;
        let target = txn.index(&self.name, &documents, name)?;
        Ok(TxIndexed { tx: self.tx, documents, target })
    }

    fn indexes(&self) -> Result<Vec<IndexDefinition>> {
        let txn = self.tx.txn();
        let documents = txn.documents(&self.name)?;
        Ok(txn.indexes(&documents))
    }
}

impl Writes for Changed<'_> {
    #[inline]
    fn change<R>(&self, change: impl FnOnce(&mut WriteTxn) -> Result<R>) -> Result<R> {
        self.tx.txn().call(change)
    }
}
