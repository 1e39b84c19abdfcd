//! A collection as a transaction sees and changes it.

#![expect(private_interfaces, reason = "the states are the store's own")]

use crate::core::{WriteTxn, WriteTxnWalk};
use crate::doc_ref::DocRef;
use crate::document::KeyRef;
use crate::error::Result;
use crate::handle::{Handle, Reads, Writes};
use crate::index::{Documents, KeyRange};
use crate::indexed::TxIndexed;
use crate::secondary::IndexDefinition;
use crate::sync::Arc;

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
    fn with<R>(&self, then: impl FnOnce(&mut WriteTxn, &Arc<Documents>) -> Result<R>) -> Result<R> {
        let mut txn = self.tx.txn();
        let documents = txn.documents(&self.name)?;
        then(&mut txn, &documents)
    }

    fn walk(&self, range: KeyRange) -> Result<TxWalk<'tx>> {
        let walk = self.with(|txn, documents| Ok(WriteTxnWalk::new(txn, documents.clone(), range)))?;
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
        self.with(|txn, documents| Ok(txn.get(documents, key)?.map(DocRef::new)))
    }

    fn contains(&self, key: KeyRef<'_>) -> Result<bool> {
        self.with(|txn, documents| txn.contains(documents, key))
    }

    fn len(&self) -> Result<u64> {
        self.with(|txn, documents| txn.len(documents))
    }

    fn scan(&self, range: KeyRange) -> Result<TxScan<'tx>> {
        self.walk(range).map(TxScan::over)
    }

    fn keys(&self, range: KeyRange) -> Result<TxKeys<'tx>> {
        self.walk(range).map(TxKeys::over)
    }

    fn open_index(&self, name: &str) -> Result<TxIndexed<'tx>> {
        self.with(|txn, documents| {
            let target = txn.index(&self.name, documents, name)?;
            Ok(TxIndexed { tx: self.tx, documents: documents.clone(), target })
        })
    }

    fn indexes(&self) -> Result<Vec<IndexDefinition>> {
        self.with(|txn, documents| Ok(txn.indexes(documents)))
    }
}

impl Writes for Changed<'_> {
    #[inline]
    fn change<R>(&self, change: impl FnOnce(&mut WriteTxn) -> Result<R>) -> Result<R> {
        self.tx.txn().call(change)
    }
}
