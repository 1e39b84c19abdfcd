//! ToonDB's storage crate, whose later name is SochDB. A commit under mode `FULL` ends in `sync_all`; under `OFF` its last record
//! stays in the process until a buffer is full or the next transaction begins.
//!
//! All documents are in memory, and the file is a log of transactions. Opening applies them in the order of a hash map, and a delete
//! is logged as an empty value. So the newest version of a document that was replaced may be lost by opening again, and one that
//! was deleted comes back empty.

use std::borrow::Borrow;
use std::path::Path;

use holotype::Document;
use toondb_storage::durable_storage::{DurableStorage, TransactionMode};

use super::{Commits, Lack, Read, ReadNamed, Session, Store, prefix_end};
use crate::failure::{Failure, Of, Result, expect_equal};

const NAME: &str = "ToonDB 0.3";

/// Its modes of syncing, by the numbers that it takes.
const OFF: u64 = 0;
const FULL: u64 = 2;

pub struct ToonDb {
    storage: DurableStorage,
}

impl Store for ToonDb {
    const NAME: &'static str = NAME;

    const LACKS: &'static [Lack] = &[
        Lack::Replaced("opening again applies transactions in no order: the newest version may be lost"),
        Lack::Deleted("opening again brings deleted documents back, without a byte"),
        Lack::ScannedAtOnce("while one thread's scan puts its index in order, another's may end early"),
    ];

    type Session<'s> = &'s ToonDb;

    fn open(directory: &Path, commits: Commits) -> Result<Self> {
        let storage = DurableStorage::open(directory.join("store.toondb")).of(NAME, "opening")?;
        storage.recover().of(NAME, "recovering")?;
        storage.set_sync_mode(match commits {
            Commits::Durable => FULL,
            Commits::Unsynced => OFF,
        });
        Ok(ToonDb { storage })
    }

    fn session(&self) -> Result<&ToonDb> {
        Ok(self)
    }

    fn close(self) -> Result<()> {
        self.storage.set_sync_mode(FULL);
        // The log's buffer is written out by a commit alone.
        self.within(TransactionMode::WriteOnly, |_| Ok(()))?;
        self.storage.shutdown().of(NAME, "closing")
    }
}

impl ToonDb {
    /// What `work` makes of a transaction, which is committed.
    fn within<R>(&self, mode: TransactionMode, work: impl FnOnce(u64) -> Result<R>) -> Result<R> {
        let transaction = self.storage.begin_with_mode(mode).of(NAME, "beginning a transaction")?;
        let result = work(transaction)?;
        self.storage.commit(transaction).of(NAME, "committing")?;
        Ok(result)
    }

    fn write(&self, transaction: u64, key: &[u8], document: &Document) -> Result<()> {
        self.storage.write_refs(transaction, key, &document.encode()).of(NAME, "putting")
    }

    fn read<R>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        self.within(TransactionMode::ReadOnly, |transaction| {
            let value = self.storage.read(transaction, key).of(NAME, "reading")?;
            Ok(value.map(|value| read(&value)))
        })
    }

    fn range(
        &self,
        from: &[u8],
        end: &[u8],
        count: usize,
        mut each: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.within(TransactionMode::ReadOnly, |transaction| {
            let mut entries = self.storage.scan_range_iter(transaction, from, end).take(count);
            entries.try_for_each(|(key, value)| each(&key, &value))
        })
    }
}

impl Read for &ToonDb {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        ToonDb::read(self, &id.to_be_bytes(), read)
    }
}

impl ReadNamed for &ToonDb {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        ToonDb::read(self, name.as_bytes(), read)
    }

    fn scan_named_from(&mut self, from: &str, count: usize, mut each: impl FnMut(&[u8])) -> Result<()> {
        self.range(from.as_bytes(), &[], count, |_, value| {
            each(value);
            Ok(())
        })
    }
}

impl Session for &ToonDb {
    fn put(&mut self, id: u64, document: &Document) -> Result<()> {
        self.put_all([(id, document)].into_iter())
    }

    fn put_all<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (u64, D)>) -> Result<()> {
        self.within(TransactionMode::WriteOnly, |transaction| {
            let mut documents = documents;
            documents
                .try_for_each(|(id, document)| self.write(transaction, &id.to_be_bytes(), document.borrow()))
        })
    }

    fn delete(&mut self, id: u64) -> Result<()> {
        let was_there = self.get(id, |_| ())?.is_some();
        self.within(TransactionMode::WriteOnly, |transaction| {
            self.storage.delete(transaction, id.to_be_bytes().to_vec()).of(NAME, "deleting")
        })?;
        expect_equal(NAME, "whether a deleted document was there", &true, &was_there)
    }

    fn scan_from(&mut self, from: u64, count: usize, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        self.range(&from.to_be_bytes(), &[], count, |key, value| {
            each(id_of(key)?, value);
            Ok(())
        })
    }

    fn scan(&mut self, each: impl FnMut(u64, &[u8])) -> Result<()> {
        self.scan_from(0, usize::MAX, each)
    }

    fn put_named<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (String, D)>) -> Result<()> {
        self.within(TransactionMode::WriteOnly, |transaction| {
            let mut documents = documents;
            documents
                .try_for_each(|(name, document)| self.write(transaction, name.as_bytes(), document.borrow()))
        })
    }

    fn delete_named(&mut self, names: impl Iterator<Item = String>) -> Result<()> {
        self.within(TransactionMode::WriteOnly, |transaction| {
            let mut names = names;
            names
                .try_for_each(|name| self.storage.delete(transaction, name.into_bytes()).of(NAME, "deleting"))
        })
    }

    fn scan_named(&mut self, prefix: &str, mut each: impl FnMut(&[u8])) -> Result<()> {
        self.range(prefix.as_bytes(), &prefix_end(prefix), usize::MAX, |_, value| {
            each(value);
            Ok(())
        })
    }
}

fn id_of(key: &[u8]) -> Result<u64> {
    let key: std::result::Result<[u8; 8], _> = key.try_into();
    key.map(u64::from_be_bytes).map_err(|_| Failure::new(NAME, "reading an id", "a key has another length"))
}
