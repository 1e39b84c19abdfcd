//! Scans in a transaction.

use crate::core::{WriteTxn, WriteTxnWalk};
use crate::db::Db;
use crate::doc_ref::DocRef;
use crate::document::{Key, KeyRef};
use crate::error::Result;
use crate::index::{Documents, Target};
use crate::indexed::{IndexStats, IsWanted, TxIndexed};
use crate::sync::Arc;

use super::WriteTransaction;

#[derive(Debug)]
pub(super) struct TxWalk<'tx> {
    pub(super) tx: &'tx WriteTransaction,
    /// The name of the collection.
    pub(super) name: String,
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

    /// The collection.
    pub(crate) fn documents(&self) -> &Documents {
        self.0.walk.documents()
    }

    /// Those indexes of the collection that are wanted, in the order of their names.
    pub(crate) fn indexes_in_its_state(&self, is_wanted: IsWanted<'_>) -> Result<Vec<TxIndexed<'tx>>> {
        let TxWalk { tx, walk, .. } = &self.0;
        let targets = walk.documents().targets().unwrap_or_default();
        let known = targets.iter().filter(|target| {
            let is_known = target.building.is_none() && target.entries.damage().is_none();
            is_known && is_wanted(&target.definition.definition)
        });
        let mut indexes: Vec<_> = known.map(|target| self.opened(tx, target.clone())).collect();
        indexes.sort_by(|one, other| one.definition().name().cmp(other.definition().name()));
        Ok(indexes)
    }

    /// The index of this name.
    pub(crate) fn index_in_its_state(&self, name: &str) -> Result<TxIndexed<'tx>> {
        let TxWalk { tx, walk, .. } = &self.0;
        let target = tx.txn().index(&self.0.name, walk.documents(), name)?;
        Ok(self.opened(tx, target))
    }

    fn opened(&self, tx: &'tx WriteTransaction, target: Target) -> TxIndexed<'tx> {
        TxIndexed { tx, documents: Arc::clone(self.0.walk.documents()), target }
    }

    /// How many documents the collection has.
    pub(crate) fn len_in_its_state(&self) -> Result<u64> {
        let TxWalk { tx, walk, .. } = &self.0;
        tx.txn().len(walk.documents())
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
