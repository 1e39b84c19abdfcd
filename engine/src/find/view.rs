//! What a query asks of a state that it reads: walks over key ranges, and documents that a walk has met.

use std::ops::ControlFlow;

use crate::db::Db;
use crate::doc_ref::{DocRef, DocView};
use crate::document::{Key, KeyRef};
use crate::error::Result;
use crate::handle::{Handle, Reads};
use crate::index::{Indexing, KeyRange};
use crate::indexed::{IndexView, Indexed, IsWanted, TxIndexed};
use crate::scan::{Keys, Scan};
use crate::sync::Arc;
use crate::transaction::scan::{TxKeys, TxScan};

/// A collection in some state.
#[expect(private_interfaces, reason = "the states are the store's own")]
pub trait ReadView {
    /// Documents and keys of one state, which the walk holds.
    type Walk: Walk;
    type Keys: KeyWalk;

    fn name(&self) -> &str;
    fn len(&self) -> Result<u64>;
    fn walk(&self, range: KeyRange) -> Result<Self::Walk>;
    fn walk_keys(&self, range: KeyRange) -> Result<Self::Keys>;
}

/// A walk over documents.
#[expect(private_interfaces, reason = "the states are the store's own")]
pub trait Walk: Sized {
    /// An index in the state of the walk.
    type Index: IndexView;

    fn db(&self) -> &Db;

    /// Those indexes of the collection that are wanted and can be read, in the order of their names.
    fn indexes(&self, is_wanted: IsWanted<'_>) -> Result<Vec<Self::Index>>;

    /// The index of this name.
    fn index(&self, name: &str) -> Result<Self::Index>;

    /// How many keys of a range the newest state has, `most` of them at most.
    fn count_up_to(&self, range: &KeyRange, most: u64) -> Result<u64>;

    /// How many documents the collection has in the state of the walk.
    fn len(&self) -> Result<u64>;

    /// The same walk from its other end.
    fn turned(self) -> Self;

    /// The next document that `wanted` holds of.
    fn next_that(&mut self, wanted: impl FnMut(&DocRef) -> Result<bool>) -> Result<Option<DocRef>>;

    /// Lends what is left, document by document, until `each` breaks. Then the walk is over.
    fn lend<B>(&mut self, each: impl FnMut(DocView<'_>) -> ControlFlow<B>) -> Result<Option<B>>;

    /// The document of any key, in the state of the walk.
    fn document(&self, key: KeyRef<'_>) -> Result<Option<DocRef>>;
}

/// A walk over keys.
pub trait KeyWalk: Sized + Iterator<Item = Result<Key>> {
    /// The same walk from its other end.
    fn turned(self) -> Self;
}

#[expect(private_interfaces, reason = "the states are the store's own")]
impl<S: Reads> ReadView for Handle<S>
where
    S::Scan: Walk,
    S::Keys: KeyWalk,
{
    type Walk = S::Scan;
    type Keys = S::Keys;

    fn name(&self) -> &str {
        self.source.name()
    }

    fn len(&self) -> Result<u64> {
        self.source.len()
    }

    fn walk(&self, range: KeyRange) -> Result<S::Scan> {
        self.source.scan(range)
    }

    fn walk_keys(&self, range: KeyRange) -> Result<S::Keys> {
        self.source.keys(range)
    }
}

impl KeyWalk for Keys {
    fn turned(self) -> Self {
        self.reversed()
    }
}

impl KeyWalk for TxKeys<'_> {
    fn turned(self) -> Self {
        self.reversed()
    }
}

#[expect(private_interfaces, reason = "the states are the store's own")]
impl Walk for Scan {
    type Index = Indexed;

    fn indexes(&self, is_wanted: IsWanted<'_>) -> Result<Vec<Indexed>> {
        let at = self.at();
        let is_known = |index: &Arc<Indexing>| {
            is_wanted(&index.definition.definition) && index.entries().damage().is_none()
        };
        let known = at.indexes().into_iter().filter(is_known);
        Ok(known.map(|index| Indexed { at: at.clone(), index }).collect())
    }

    fn index(&self, name: &str) -> Result<Indexed> {
        self.at().index(name)
    }

    fn count_up_to(&self, range: &KeyRange, most: u64) -> Result<u64> {
        self.db().core().shared.count_keys(self.documents(), range, most)
    }

    fn db(&self) -> &Db {
        self.store()
    }

    fn len(&self) -> Result<u64> {
        self.len_in_its_state()
    }

    fn turned(self) -> Self {
        self.reversed()
    }

    fn next_that(&mut self, wanted: impl FnMut(&DocRef) -> Result<bool>) -> Result<Option<DocRef>> {
        self.next_by(wanted)
    }

    fn lend<B>(&mut self, each: impl FnMut(DocView<'_>) -> ControlFlow<B>) -> Result<Option<B>> {
        self.visit_rest(each)
    }

    fn document(&self, key: KeyRef<'_>) -> Result<Option<DocRef>> {
        self.in_its_state(key)
    }
}

#[expect(private_interfaces, reason = "the states are the store's own")]
impl<'tx> Walk for TxScan<'tx> {
    type Index = TxIndexed<'tx>;

    fn indexes(&self, is_wanted: IsWanted<'_>) -> Result<Vec<TxIndexed<'tx>>> {
        self.indexes_in_its_state(is_wanted)
    }

    fn index(&self, name: &str) -> Result<TxIndexed<'tx>> {
        self.index_in_its_state(name)
    }

    fn count_up_to(&self, range: &KeyRange, most: u64) -> Result<u64> {
        self.store().core().shared.count_keys(self.documents(), range, most)
    }

    fn db(&self) -> &Db {
        self.store()
    }

    fn len(&self) -> Result<u64> {
        self.len_in_its_state()
    }

    fn turned(self) -> Self {
        self.reversed()
    }

    fn next_that(&mut self, mut wanted: impl FnMut(&DocRef) -> Result<bool>) -> Result<Option<DocRef>> {
        for document in self {
            let document = document?;
            if wanted(&document)? {
                return Ok(Some(document));
            }
        }
        Ok(None)
    }

    fn lend<B>(&mut self, mut each: impl FnMut(DocView<'_>) -> ControlFlow<B>) -> Result<Option<B>> {
        for document in self {
            if let ControlFlow::Break(end) = each(document?.view()) {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    fn document(&self, key: KeyRef<'_>) -> Result<Option<DocRef>> {
        self.in_its_state(key)
    }
}
