//! A store in a directory that goes with it.

use std::path::{Path, PathBuf};

use holotype::{Background, Collection, Db, Durability, Options};
use tempfile::TempDir;

use crate::workload::small_document;

/// How many documents go into one commit while a store is filled.
const BATCH: u64 = 1_000;

/// The collection that every bench uses.
const COLLECTION: &str = "small";

/// An open store on a real file, and the collection that the benches use.
#[derive(Debug)]
pub struct Store {
    /// The store.
    pub db: Db,
    /// Its one collection.
    pub documents: Collection,
    directory: TempDir,
}

impl Store {
    /// An empty store whose commits are of class `durability`.
    ///
    /// # Panics
    /// Where the machine does not allow a store.
    #[must_use]
    pub fn empty(durability: Durability) -> Self {
        Self::empty_with(&Options::new().durability(durability))
    }

    fn empty_with(options: &Options) -> Self {
        let directory = tempfile::tempdir().expect("a directory for the store");
        let db = Db::open_with(path_in(directory.path()), options).expect("an empty directory takes a store");
        let documents = db.collection(COLLECTION);
        db.create_collection(COLLECTION).expect("the name is legal");
        Store { db, documents, directory }
    }

    /// A store with small documents under the ids `1..=count`, all of them durable.
    ///
    /// # Panics
    /// Where the machine does not allow a store.
    #[must_use]
    pub fn loaded(count: u64, durability: Durability) -> Self {
        Self::loaded_with(count, &Options::new().durability(durability))
    }

    /// As [`loaded`](Self::loaded), with no work in the background: what the calls cost by themselves, however slow the
    /// machine is.
    ///
    /// # Panics
    /// Where the machine does not allow a store.
    #[must_use]
    pub fn loaded_alone(count: u64, durability: Durability) -> Self {
        Self::loaded_with(count, &Options::new().durability(durability).background(Background::Manual))
    }

    fn loaded_with(count: u64, options: &Options) -> Self {
        let store = Self::empty_with(options);
        let buffered = store.documents.clone().with_durability(Durability::Buffered);
        for first in (1..=count).step_by(BATCH as usize) {
            let ids = first..(first + BATCH).min(count + 1);
            buffered.insert_many(ids.map(|id| small_document(id as i64))).expect("room for the documents");
        }
        store.db.flush().expect("room for the documents");
        assert_eq!(store.documents.len().expect("it was created"), count);
        store
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        path_in(self.directory.path())
    }

    /// Closes the store and hands over the directory that holds its file.
    ///
    /// # Panics
    /// Where the store cannot be closed.
    #[must_use]
    pub fn close(self) -> TempDir {
        drop(self.documents);
        self.db.close().expect("nothing went wrong before");
        self.directory
    }
}

/// The file of a store in `directory`.
#[must_use]
pub fn path_in(directory: &Path) -> PathBuf {
    directory.join("bench.holo")
}

/// The one collection of `db`.
#[must_use]
pub fn documents_of(db: &Db) -> Collection {
    db.collection(COLLECTION)
}
