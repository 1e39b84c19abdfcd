//! Scans in a transaction.

use crate::core::WriteTxnWalk;
use crate::db::Db;
use crate::doc_ref::DocRef;
use crate::document::{Key, KeyRef};
use crate::error::Result;

use super::WriteTransaction;

#[derive(Debug)]
pub(super) struct TxWalk<'tx> {
    tx: &'tx WriteTransaction,
    walk: WriteTxnWalk,
    over: bool,
}

impl<'tx> TxWalk<'tx> {
    pub(super) fn new(tx: &'tx WriteTransaction, walk: WriteTxnWalk) -> Self {
        TxWalk { tx, walk, over: false }
    }
}

/// The documents of a key range in a write transaction.
#[derive(Debug)]
pub struct TxScan<'tx>(TxWalk<'tx>);

impl<'tx> TxScan<'tx> {
    pub(super) fn over(walk: TxWalk<'tx>) -> Self {
        TxScan(walk)
    }

    /// What is left of the scan, from its other end.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.0.walk.reverse();
        self
    }

    /// The store that is scanned.
    pub(crate) fn store(&self) -> &Db {
        self.0.tx.store()
    }

    /// The document of any key, in the state in which the scan began.
    pub(crate) fn in_its_state(&self, key: KeyRef<'_>) -> Result<Option<DocRef>> {
        let TxWalk { tx, walk, .. } = &self.0;
        Ok(walk.document(&tx.txn(), key)?.map(DocRef::new))
    }
}

impl Iterator for TxScan<'_> {
    type Item = Result<DocRef>;

    fn next(&mut self) -> Option<Self::Item> {
        let TxWalk { tx, walk, over } = &mut self.0;
        if *over {
            return None;
        }
        let found = walk.next_document(&tx.txn()).transpose();
        *over = !matches!(found, Some(Ok(_)));
        found.map(|found| found.map(DocRef::new))
    }
}

impl std::iter::FusedIterator for TxScan<'_> {}

/// The keys of a range in a write transaction.
#[derive(Debug)]
pub struct TxKeys<'tx>(TxWalk<'tx>);

impl<'tx> TxKeys<'tx> {
    pub(super) fn over(walk: TxWalk<'tx>) -> Self {
        TxKeys(walk)
    }

    /// What is left of the keys, from the other end.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.0.walk.reverse();
        self
    }
}

impl Iterator for TxKeys<'_> {
    type Item = Result<Key>;

    fn next(&mut self) -> Option<Self::Item> {
        let TxWalk { tx, walk, over } = &mut self.0;
        if *over {
            return None;
        }
        let found = walk.next_key(&tx.txn()).transpose();
        *over = !matches!(found, Some(Ok(_)));
        found
    }
}

impl std::iter::FusedIterator for TxKeys<'_> {}
