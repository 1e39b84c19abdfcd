//! Bulk loads: many commits of a stated size, and one sync.

use std::borrow::Borrow;

use crate::collection::Collection;
use crate::core::Bodies;
use crate::document::{Document, Key};
use crate::error::{Error, Result};
use crate::options::Durability;

/// A commit of a bulk load has at least this many bytes of documents, but for the last.
const BULK_BATCH_BYTES: usize = 4 << 20;

impl Collection {
    /// Loads any number of documents under keys of the caller's, sorted or not, in commits of 4 MiB of documents each: each of these is
    /// atomic, the load as a whole is not. A load of class `Synced` is durable as a whole when this returns, and
    /// `Written` until then: one sync serves all of it. How many there were.
    ///
    /// ```
    /// use holotype::{Db, doc};
    ///
    /// let db = Db::in_memory();
    /// let squares = db.collection("squares");
    /// assert_eq!(squares.bulk_load((0..10_000).map(|n| (n, doc! { "square": n * n })))?, 10_000);
    /// # Ok::<(), holotype::Error>(())
    /// ```
    ///
    /// # Errors
    /// `BulkLoad`, which says how many documents are in place and what stopped it: see [`put`](Self::put).
    pub fn bulk_load<K: Into<Key>, D: Borrow<Document>>(
        &self,
        documents: impl IntoIterator<Item = (K, D)>,
    ) -> Result<u64> {
        let mut documents = documents.into_iter();
        self.load(|| {
            let (keys, bodies) = Bodies::under_keys(documents.by_ref(), BULK_BATCH_BYTES)?;
            Ok((Some(keys), bodies))
        })
    }

    /// As [`bulk_load`](Self::bulk_load), under the next ids.
    ///
    /// # Errors
    /// As [`bulk_load`](Self::bulk_load), and `IdsExhausted` as its cause.
    pub fn bulk_insert<D: Borrow<Document>>(&self, documents: impl IntoIterator<Item = D>) -> Result<u64> {
        let mut documents = documents.into_iter();
        self.load(|| Ok((None, Bodies::of(documents.by_ref(), BULK_BATCH_BYTES)?)))
    }

    /// Commits batch after batch until one is empty.
    fn load(&self, mut next_batch: impl FnMut() -> Result<(Option<Vec<Key>>, Bodies)>) -> Result<u64> {
        let stopped = |loaded, cause| Error::BulkLoad { loaded, cause: Box::new(cause) };
        // One sync at the end serves all batches.
        let durability = self.source.durability.min(Durability::Written);
        let mut loaded = 0;
        loop {
            let (keys, bodies) = next_batch().map_err(|error| stopped(loaded, error))?;
            let count = bodies.len() as u64;
            if count == 0 {
                break;
            }
            let put = self.source.db.store().autocommit(durability, |txn| match keys {
                Some(keys) => txn.put_many(self.name(), &keys, &bodies).map(|_| ()),
                None => txn.insert_many(self.name(), &bodies).map(|_| ()),
            });
            put.map_err(|error| stopped(loaded, error))?;
            loaded += count;
        }
        if loaded > 0 && self.source.durability == Durability::Synced {
            self.source.db.flush().map_err(|error| stopped(loaded, error))?;
        }
        Ok(loaded)
    }
}
