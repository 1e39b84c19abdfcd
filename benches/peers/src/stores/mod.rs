//! What a store must do to take part, and one module for each that does.
//!
//! A document is its encoded bytes under an id. Each store is used as its own manual advises for the purpose; where that leaves a
//! choice, the faster one is taken. What differs is said in the module of each.

#[cfg(feature = "byodb")]
pub mod byodb;
mod class;
#[cfg(feature = "dbx")]
pub mod dbx;
pub mod fjall;
pub mod holotype;
pub mod left_out;
pub mod lmdb;
#[cfg(feature = "native_db")]
pub mod native_db;
pub mod redb;
pub mod sled;
pub mod sqlite;
#[cfg(feature = "toondb")]
pub mod toondb;
#[cfg(test)]
pub mod wrong;

use std::borrow::Borrow;
use std::path::Path;

use ::holotype::Document;

use crate::failure::Result;

pub use class::Class;
pub(crate) use class::each_of;

/// What a commit has survived when the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commits {
    /// A power cut.
    Durable,
    /// At most the end of the process: nothing is synced.
    Unsynced,
}

/// What a store does not do, and why: rows that need it leave the store out, and say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// Opened again, it is empty.
    #[cfg_attr(not(feature = "dbx"), expect(dead_code, reason = "the one store in memory is switched off"))]
    Reopened(&'static str),
    /// Opened again, it may hold an older version of a document that was replaced.
    #[cfg_attr(
        not(feature = "toondb"),
        expect(dead_code, reason = "the one store of this kind is switched off")
    )]
    Replaced(&'static str),
    /// Opened again, it may hold a document that was deleted.
    #[cfg_attr(
        not(feature = "toondb"),
        expect(dead_code, reason = "the one store of this kind is switched off")
    )]
    Deleted(&'static str),
    /// Threads that scan at once may be shown a part of what is there.
    #[cfg_attr(
        not(feature = "toondb"),
        expect(dead_code, reason = "the one store of this kind is switched off")
    )]
    ScannedAtOnce(&'static str),
}

/// An open store with one collection of documents, shared by threads.
pub trait Store: Sync + Sized {
    /// The store's name and version.
    const NAME: &'static str;

    /// What it does not do.
    const LACKS: &'static [Lack] = &[];

    /// The longest value that it takes, in bytes.
    const VALUE_MAX: usize = usize::MAX;

    /// Whether it writes through a map of its file, and not by calls.
    const WRITES_BY_MAP: bool = false;

    /// Whether each commit is synced, whatever is asked for.
    const SYNCS_ALWAYS: bool = false;

    /// How one thread uses it.
    type Session<'s>: Session
    where
        Self: 's;

    /// Opens or creates the store in `directory`.
    fn open(directory: &Path, commits: Commits) -> Result<Self>;

    /// Opens the store in `directory` with a cache of `bytes` of its own, where it has one.
    fn open_with_cache(directory: &Path, _bytes: usize) -> Result<Self> {
        Self::open(directory, Commits::Unsynced)
    }

    /// Begins to use it on this thread.
    fn session(&self) -> Result<Self::Session<'_>>;

    /// Cleans up as thoroughly as it can when asked, and closes it. Some have nothing to be asked for.
    fn clean(self) -> Result<()> {
        self.close()
    }

    /// Closes it, so that all commits are found when it is opened again.
    fn close(self) -> Result<()>;
}

/// One thread's use of a store.
pub trait Session: Read + ReadNamed {
    /// Encodes a document and puts it under `id`, in a commit of its own.
    fn put(&mut self, id: u64, document: &Document) -> Result<()>;

    /// Encodes documents and puts them under their ids, in one commit.
    fn put_all<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (u64, D)>) -> Result<()>;

    /// Deletes the document under `id`, which is there, in a commit of its own.
    fn delete(&mut self, id: u64) -> Result<()>;

    /// Shows `each` the documents from `from` on in the order of their ids, `count` of them where there are as many.
    fn scan_from(&mut self, from: u64, count: usize, each: impl FnMut(u64, &[u8])) -> Result<()>;

    /// Shows `each` every document.
    fn scan(&mut self, each: impl FnMut(u64, &[u8])) -> Result<()>;

    /// How many documents there are under ids, by the cheapest way that the store has.
    fn count(&mut self) -> Result<u64> {
        let mut count = 0;
        self.scan(|_, _| count += 1)?;
        Ok(count)
    }

    /// Encodes documents and puts them under names, in one commit. A store that is used so has no documents under ids.
    fn put_named<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (String, D)>) -> Result<()>;

    /// Deletes the documents under names, which are there, in one commit.
    fn delete_named(&mut self, names: impl Iterator<Item = String>) -> Result<()>;

    /// How many documents there are under names, by the cheapest way that the store has.
    fn count_named(&mut self) -> Result<u64> {
        let mut count = 0;
        self.scan_named_from(FIRST_NAME, usize::MAX, |_| count += 1)?;
        Ok(count)
    }

    /// Shows `each` the documents whose names begin with `prefix`, in the order of their names.
    fn scan_named(&mut self, prefix: &str, each: impl FnMut(&[u8])) -> Result<()>;
}

/// The first name behind all that begin with `prefix`.
pub fn prefix_end(prefix: &str) -> Vec<u8> {
    let mut end = prefix.as_bytes().to_vec();
    *end.last_mut().expect("a prefix is not empty") += 1;
    end
}

/// Reads by id.
pub trait Read {
    /// What `read` says of the document under `id`. A session reads the newest commit at each call.
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>>;
}

/// Reads by name.
pub trait ReadNamed {
    /// What `read` says of the document under `name`. A session reads the newest commit at each call.
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>>;

    /// Shows `each` the documents from the name `from` on in the order of their names, `count` of them where there are as many.
    fn scan_named_from(&mut self, from: &str, count: usize, each: impl FnMut(&[u8])) -> Result<()>;
}

/// No name comes before it: they begin with letters, digits or a hyphen.
pub const FIRST_NAME: &str = "!";

/// A store that can keep one state readable while it goes on.
pub trait Snapshots: Store {
    /// The state, kept.
    type Held<'s>: Read
    where
        Self: 's;

    /// The state of what stands under names, kept.
    type HeldNamed<'s>: ReadNamed
    where
        Self: 's;

    /// Keeps the state of now for as long as the result lives.
    fn hold(&self) -> Result<Self::Held<'_>>;

    /// As [`Snapshots::hold`], for reads by name.
    fn hold_named(&self) -> Result<Self::HeldNamed<'_>>;
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

/// As [`each_store`], every store whose snapshots show what was there when they were taken.
macro_rules! each_snapshot {
    ($then:ident) => {
        $crate::stores::each_store!($then);
        #[cfg(feature = "native_db")]
        $then!($crate::stores::native_db::NativeDb);
        #[cfg(feature = "byodb")]
        $then!($crate::stores::byodb::Byodb);
    };
}

pub(crate) use each_snapshot;

/// As [`each_store`], those whose writes stay in the memory of the process.
macro_rules! each_kept {
    ($then:ident) => {
        $then!($crate::stores::holotype::Buffered);
        $then!($crate::stores::redb::Redb);
        $then!($crate::stores::sled::Sled);
        #[cfg(feature = "dbx")]
        $then!($crate::stores::dbx::InMemory);
        #[cfg(feature = "toondb")]
        $then!($crate::stores::toondb::ToonDb);
    };
}

pub(crate) use each_kept;

/// As [`each_store`], those whose writes are handed to the operating system.
macro_rules! each_written {
    ($then:ident) => {
        $then!($crate::stores::holotype::Holotype);
        $then!($crate::stores::fjall::Fjall);
        $then!($crate::stores::sqlite::Sqlite);
        $then!($crate::stores::lmdb::Lmdb);
        #[cfg(feature = "dbx")]
        $then!($crate::stores::dbx::Dbx);
    };
}

pub(crate) use each_written;

/// As [`each_store`], those whose writes are durable.
macro_rules! each_durable {
    ($then:ident) => {
        $crate::stores::each_snapshot!($then);
        #[cfg(feature = "toondb")]
        $then!($crate::stores::toondb::ToonDb);
    };
}

pub(crate) use each_durable;

/// As [`each_store`], every store once, whatever its writes survive: for reads.
macro_rules! each_reader {
    ($then:ident) => {
        $crate::stores::each_durable!($then);
        $then!($crate::stores::sled::Sled);
        #[cfg(feature = "dbx")]
        $then!($crate::stores::dbx::Dbx);
        #[cfg(feature = "dbx")]
        $then!($crate::stores::dbx::InMemory);
    };
}

pub(crate) use each_reader;

#[cfg(test)]
mod tests;
