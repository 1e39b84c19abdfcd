//! Creating an index beside readers and writers, replacing, dropping and renaming one (spec: I-4, I-5).

use std::ops::ControlFlow;

use crate::collection::Collection;
use crate::core::{IndexBuild, IndexStep};
use crate::error::{Error, Result};
use crate::options::Background;
use crate::secondary::IndexDefinition;

use super::info::IndexInfo;

/// After a build over so many documents the store takes a checkpoint: the next opening would have to go through them again.
const SAVED_DOCUMENTS_MIN: u64 = 10_000;

/// How far an index is built.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexProgress {
    /// Documents gone through. Where others clear the collection, or write what no index has room for, the build begins anew, at 0.
    pub documents: u64,
    /// Documents in the collection; others may write meanwhile.
    pub of: u64,
}

impl Collection {
    /// Makes an index of the documents that are there, and of all to come. Whether it made one: not where the collection has this very
    /// index. The collection need not exist. Others read and write meanwhile; the index is seen, and refuses a write, once it is whole.
    ///
    /// # Errors
    /// `IndexExists` where the name is that of another definition; `UniqueViolations` where documents have what only one may have;
    /// `LimitReached`, `InvalidIndex`; `Corrupt` where a document cannot be read; and what any write may say.
    pub fn create_index(&self, definition: IndexDefinition) -> Result<bool> {
        self.create_index_with(definition, false, |_| ControlFlow::Continue(()))
    }

    /// As [`create_index`](Self::create_index), in the place of an index of the name: the new one is built beside it, and one commit swaps
    /// them. Whether it made one.
    ///
    /// # Errors
    /// As [`create_index`](Self::create_index), but for `IndexExists`.
    pub fn replace_index(&self, definition: IndexDefinition) -> Result<bool> {
        self.create_index_with(definition, true, |_| ControlFlow::Continue(()))
    }

    //= spec/index.md#i-5-1-beside-others
    //# A store builds an index beside readers and writers.
    /// As [`create_index`](Self::create_index), or [`replace_index`](Self::replace_index) with `replace`. Calls `told` now and then; where
    /// that breaks, nothing is made, and the call ends with `Cancelled`.
    ///
    /// # Errors
    /// As these, and `Cancelled`.
    pub fn create_index_with(
        &self,
        definition: IndexDefinition,
        replace: bool,
        mut told: impl FnMut(&IndexProgress) -> ControlFlow<()>,
    ) -> Result<bool> {
        let store = self.source.db.store();
        let build = std::cell::RefCell::new(IndexBuild::new(self.name(), definition, replace));
        let is_kept_up = self.source.db.core().shared.options.background == Background::Thread;
        let mut gone_through = 0;
        loop {
            build.borrow_mut().sort();
            store.let_pass();
            match store.with_writer(|writer| Ok(build.borrow_mut().step(writer)))? {
                // It may rest on commits that nobody sees yet (spec: T-4.4): this waits for them.
                Err(error) => return store.autocommit(self.source.durability, |_| Err(error)),
                Ok(IndexStep::Built { documents, of }) => {
                    gone_through = documents;
                    if told(&IndexProgress { documents, of }).is_break() {
                        store.with_writer(|_| {
                            build.borrow_mut().give_up();
                            Ok(())
                        })?;
                        return Err(Error::Cancelled { scanned: documents });
                    }
                }
                Ok(IndexStep::Whole) => {
                    let made =
                        store.autocommit(self.source.durability, |txn| build.borrow_mut().stage(txn))?;
                    let Some(made) = made else { continue };
                    if made && gone_through >= SAVED_DOCUMENTS_MIN && is_kept_up {
                        // An opening makes what no checkpoint has: where that fails, the index is there all the same.
                        let _ = self.source.db.checkpoint();
                    }
                    return Ok(made);
                }
            }
        }
    }

    /// Ends an index. Whether there was one.
    ///
    /// # Errors
    /// `UnknownCollection`, and what any write may say.
    pub fn drop_index(&self, name: &str) -> Result<bool> {
        let store = self.source.db.store();
        store.autocommit(self.source.durability, |txn| txn.drop_index(self.name(), name))
    }

    /// Gives an index another name. Whether there was one.
    ///
    /// # Errors
    /// `IndexExists` where another index has the name; `InvalidIndex`, `UnknownCollection`, and what any write may say.
    pub fn rename_index(&self, name: &str, to: &str) -> Result<bool> {
        let store = self.source.db.store();
        store.autocommit(self.source.durability, |txn| txn.rename_index(self.name(), name, to))
    }

    /// The indexes with what they take, in the order of their names.
    ///
    /// # Errors
    /// `UnknownCollection`.
    pub fn index_info(&self) -> Result<Vec<IndexInfo>> {
        self.source.index_info()
    }
}
