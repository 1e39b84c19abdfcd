//! Scans in a transaction.

use crate::core::{WriteTxn, WriteTxnWalk};
use crate::db::Db;
use crate::doc_ref::DocRef;
use crate::document::{Key, KeyRef};
use crate::error::Result;

use super::WriteTransaction;

#[derive(Debug)]
pub(super) struct TxWalk<'tx> {
    pub(super) tx: &'tx WriteTransaction,
    pub(super) walk: WriteTxnWalk,
    pub(super) over: bool,
}

impl TxWalk<'_> {
    fn step<T>(
        &mut self,
        next: impl FnOnce(&mut WriteTxnWalk, &WriteTxn) -> Result<Option<T>>,
    ) -> Option<Result<T>> {
        if self.over {
            return None;
        }
        let found = next(&mut self.walk, &self.tx.txn()).transpose();
        self.over = !matches!(found, Some(Ok(_)));
        found
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
        self.0.step(|walk, txn| Ok(walk.next_document(txn)?.map(DocRef::new)))
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
        self.0.step(WriteTxnWalk::next_key)
    }
}

impl std::iter::FusedIterator for TxKeys<'_> {}
