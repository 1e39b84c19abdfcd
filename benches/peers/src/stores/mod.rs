//! What a store must do to take part, and one module for each that does.
//!
//! A document is its encoded bytes under an id. Each store is used as its own manual advises for the purpose; where that leaves a
//! choice, the faster one is taken. What differs is said in the module of each.

pub mod fjall;
pub mod holotype;
pub mod lmdb;
pub mod redb;
pub mod sled;
pub mod sqlite;

use std::borrow::Borrow;
use std::path::Path;

use ::holotype::Document;

use crate::failure::Result;

/// What a commit has survived when the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commits {
    /// A power cut.
    Durable,
    /// At most the end of the process: nothing is synced.
    Unsynced,
}

/// An open store with one collection of documents, shared by threads.
pub trait Store: Sync + Sized {
    /// The store's name and version.
    const NAME: &'static str;

    /// How one thread uses it.
    type Session<'s>: Session
    where
        Self: 's;

    /// Opens or creates the store in `directory`.
    fn open(directory: &Path, commits: Commits) -> Result<Self>;

    /// Begins to use it on this thread.
    fn session(&self) -> Result<Self::Session<'_>>;

    /// Closes it, so that all commits are found when it is opened again.
    fn close(self) -> Result<()>;
}

/// One thread's use of a store.
pub trait Session: Read {
    /// Encodes a document and puts it under `id`, in a commit of its own.
    fn put(&mut self, id: u64, document: &Document) -> Result<()>;

    /// Encodes documents and puts them under their ids, in one commit.
    fn put_all<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (u64, D)>) -> Result<()>;

    /// Shows `each` every document.
    fn scan(&mut self, each: impl FnMut(u64, &[u8])) -> Result<()>;
}

/// Reads by id.
pub trait Read {
    /// What `read` says of the document under `id`. A session reads the newest commit at each call.
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>>;
}

/// A store that can keep one state readable while it goes on.
pub trait Snapshots: Store {
    /// The state, kept.
    type Held<'s>: Read
    where
        Self: 's;

    /// Keeps the state of now for as long as the result lives.
    fn hold(&self) -> Result<Self::Held<'_>>;
}

/// Calls a macro with each store that takes part, ours first: it is compared with the best of the others.
macro_rules! each_store {
    ($then:ident) => {
        $then!($crate::stores::holotype::Holotype);
        $then!($crate::stores::redb::Redb);
        $then!($crate::stores::fjall::Fjall);
        $then!($crate::stores::sqlite::Sqlite);
        $then!($crate::stores::lmdb::Lmdb);
    };
}

pub(crate) use each_store;
