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

    /// Deletes the document under `id`, which is there, in a commit of its own.
    fn delete(&mut self, id: u64) -> Result<()>;

    /// Shows `each` the documents from `from` on in the order of their ids, `count` of them where there are as many.
    fn scan_from(&mut self, from: u64, count: usize, each: impl FnMut(u64, &[u8])) -> Result<()>;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::{Contents, check, first, updated};

    fn bytes_at(from: &mut impl Read, id: u64) -> Option<Vec<u8>> {
        from.get(id, <[u8]>::to_vec).unwrap()
    }

    /// What every store must do, durable or not.
    fn keeps_what_it_is_told<S: Snapshots>(commits: Commits) {
        let directory = tempfile::tempdir().unwrap();
        let store = S::open(directory.path(), commits).unwrap();
        let mut session = store.session().unwrap();
        session.put(1, &first(1)).unwrap();
        session.put_all((2..=300).map(|id| (id, first(id)))).unwrap();
        let mut held = store.hold().unwrap();
        session.put(7, &updated(7)).unwrap();
        session.delete(8).unwrap();

        assert_eq!(bytes_at(&mut session, 7), Some(updated(7).encode()), "the newest commit is read");
        assert_eq!(bytes_at(&mut held, 7), Some(first(7).encode()), "a snapshot stays as it was");
        assert_eq!(bytes_at(&mut session, 8), None, "what was deleted is gone");
        assert_eq!(bytes_at(&mut held, 8), Some(first(8).encode()), "but not from a snapshot");
        assert_eq!(bytes_at(&mut session, 301), None);
        let mut scanned = Vec::new();
        session.scan_from(5, 4, |id, bytes| scanned.push((id, bytes.to_vec()))).unwrap();
        let expected = [(5, first(5)), (6, first(6)), (7, updated(7)), (9, first(9))];
        assert_eq!(
            scanned,
            expected.map(|(id, document)| (id, document.encode())),
            "in order, without the gap"
        );
        drop((held, session));
        store.close().unwrap();
        let now = |id| if id == 7 { updated(id) } else { first(id) };
        check::<S>(directory.path(), Contents::of((1..=300).filter(|id| *id != 8).map(|id| (id, now(id)))))
            .unwrap();
    }

    #[test]
    fn every_store_reads_the_newest_keeps_a_snapshot_and_holds_it_all_when_opened_again() {
        macro_rules! keeps {
            ($store:ty) => {
                keeps_what_it_is_told::<$store>(Commits::Durable);
                keeps_what_it_is_told::<$store>(Commits::Unsynced);
            };
        }
        each_store!(keeps);
    }

    #[test]
    fn other_contents_than_expected_are_a_failure_of_the_store() {
        fn refuses<S: Store>() {
            let directory = tempfile::tempdir().unwrap();
            let store = S::open(directory.path(), Commits::Unsynced).unwrap();
            store.session().unwrap().put(1, &first(1)).unwrap();
            store.close().unwrap();
            let failure = check::<S>(directory.path(), Contents::of([(1, updated(1))])).unwrap_err();
            assert!(failure.to_string().starts_with(S::NAME), "{failure}");
        }
        macro_rules! refuses {
            ($store:ty) => {
                refuses::<$store>();
            };
        }
        each_store!(refuses);
        refuses!(sled::Sled);
    }
}
