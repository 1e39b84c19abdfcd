//! LMDB through lmdb-rkv, whose environment can be opened, and told not to sync, without `unsafe`; the newer bindings' cannot.
//!
//! A commit that is not synced is handed to the operating system.

use std::borrow::Borrow;
use std::path::Path;

use holotype::Document;
use lmdb::{
    Cursor, Database, DatabaseFlags, Environment, EnvironmentFlags, Error, InactiveTransaction,
    RoTransaction, Transaction, WriteFlags,
};

use super::{Commits, Read, ReadNamed, Session, Snapshots, Store};
use crate::failure::{Failure, Of, Result};

const NAME: &str = "LMDB 0.9 (lmdb-rkv 0.14)";

/// Far more than any workload fills; only what is written takes room on the disk.
const MAP_BYTES: usize = 4 << 30;

pub struct Lmdb {
    environment: Environment,
    small: Database,
}

impl Store for Lmdb {
    const NAME: &'static str = NAME;

    type Session<'s> = Threads<'s>;

    fn open(directory: &Path, commits: Commits) -> Result<Self> {
        let sync = match commits {
            Commits::Durable => EnvironmentFlags::empty(),
            Commits::Unsynced => EnvironmentFlags::NO_SYNC,
        };
        let environment = Environment::new()
            // A reader's place is bound to its transaction: a thread may hold a snapshot and read the newest state too.
            .set_flags(sync | EnvironmentFlags::NO_SUB_DIR | EnvironmentFlags::NO_TLS)
            .set_map_size(MAP_BYTES)
            .open(&directory.join("store.lmdb"))
            .of(NAME, "opening")?;
        let small = environment.create_db(None, DatabaseFlags::empty()).of(NAME, "creating the database")?;
        Ok(Lmdb { environment, small })
    }

    fn session(&self) -> Result<Threads<'_>> {
        let reader = self.environment.begin_ro_txn().of(NAME, "beginning to read")?.reset();
        Ok(Threads { store: self, reader: Some(reader) })
    }

    fn close(self) -> Result<()> {
        self.environment.sync(true).of(NAME, "closing")
    }
}

impl Snapshots for Lmdb {
    type Held<'s> = Held<'s>;
    type HeldNamed<'s> = Held<'s>;

    fn hold(&self) -> Result<Held<'_>> {
        let transaction = self.environment.begin_ro_txn().of(NAME, "taking a snapshot")?;
        Ok(Held { transaction, small: self.small })
    }

    fn hold_named(&self) -> Result<Held<'_>> {
        self.hold()
    }
}

pub struct Held<'s> {
    transaction: RoTransaction<'s>,
    small: Database,
}

impl Read for Held<'_> {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        get(&self.transaction, self.small, &id.to_be_bytes(), read)
    }
}

impl ReadNamed for Held<'_> {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        get(&self.transaction, self.small, name.as_bytes(), read)
    }

    fn scan_named_from(&mut self, from: &str, count: usize, each: impl FnMut(&[u8])) -> Result<()> {
        scan_named_from(&self.transaction, self.small, from, count, each)
    }
}

fn scan_named_from(
    transaction: &RoTransaction<'_>,
    small: Database,
    from: &str,
    count: usize,
    mut each: impl FnMut(&[u8]),
) -> Result<()> {
    let mut cursor = transaction.open_ro_cursor(small).of(NAME, "scanning")?;
    for entry in cursor.iter_from(from).take(count) {
        each(entry.of(NAME, "scanning")?.1);
    }
    Ok(())
}

fn get<R>(
    transaction: &RoTransaction<'_>,
    small: Database,
    key: &[u8],
    read: impl FnOnce(&[u8]) -> R,
) -> Result<Option<R>> {
    match transaction.get(small, &key) {
        Ok(value) => Ok(Some(read(value))),
        Err(Error::NotFound) => Ok(None),
        Err(error) => Err(Failure::new(NAME, "reading", error)),
    }
}

/// One thread's use of the store; it keeps its place in the table of readers from one read to the next.
pub struct Threads<'s> {
    store: &'s Lmdb,
    reader: Option<InactiveTransaction<'s>>,
}

impl<'s> Threads<'s> {
    fn begin(&mut self) -> Result<RoTransaction<'s>> {
        let transaction = match self.reader.take() {
            Some(reader) => reader.renew(),
            None => self.store.environment.begin_ro_txn(),
        };
        transaction.of(NAME, "beginning to read")
    }
}

impl Read for Threads<'_> {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let transaction = self.begin()?;
        let result = get(&transaction, self.store.small, &id.to_be_bytes(), read);
        self.reader = Some(transaction.reset());
        result
    }
}

impl ReadNamed for Threads<'_> {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let transaction = self.begin()?;
        let result = get(&transaction, self.store.small, name.as_bytes(), read);
        self.reader = Some(transaction.reset());
        result
    }

    fn scan_named_from(&mut self, from: &str, count: usize, each: impl FnMut(&[u8])) -> Result<()> {
        let transaction = self.begin()?;
        let result = scan_named_from(&transaction, self.store.small, from, count, each);
        self.reader = Some(transaction.reset());
        result
    }
}

impl Session for Threads<'_> {
    fn put(&mut self, id: u64, document: &Document) -> Result<()> {
        self.put_all([(id, document)].into_iter())
    }

    fn put_all<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (u64, D)>) -> Result<()> {
        let mut transaction = self.store.environment.begin_rw_txn().of(NAME, "beginning a transaction")?;
        for (id, document) in documents {
            let body = document.borrow().encode();
            let put = transaction.put(self.store.small, &id.to_be_bytes(), &body, WriteFlags::empty());
            put.of(NAME, "putting")?;
        }
        transaction.commit().of(NAME, "committing")
    }

    fn delete(&mut self, id: u64) -> Result<()> {
        let mut transaction = self.store.environment.begin_rw_txn().of(NAME, "beginning a transaction")?;
        transaction.del(self.store.small, &id.to_be_bytes(), None).of(NAME, "deleting")?;
        transaction.commit().of(NAME, "committing")
    }

    fn scan_from(&mut self, from: u64, count: usize, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        let transaction = self.begin()?;
        let mut cursor = transaction.open_ro_cursor(self.store.small).of(NAME, "scanning")?;
        for entry in cursor.iter_from(from.to_be_bytes()).take(count) {
            let (key, value) = entry.of(NAME, "scanning")?;
            let id = <[u8; 8]>::try_from(key).of(NAME, "reading an id")?;
            each(u64::from_be_bytes(id), value);
        }
        drop(cursor);
        self.reader = Some(transaction.reset());
        Ok(())
    }

    fn scan(&mut self, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        let transaction = self.store.environment.begin_ro_txn().of(NAME, "scanning")?;
        let mut cursor = transaction.open_ro_cursor(self.store.small).of(NAME, "scanning")?;
        for entry in cursor.iter() {
            let (key, value) = entry.of(NAME, "scanning")?;
            let id = <[u8; 8]>::try_from(key).of(NAME, "reading an id")?;
            each(u64::from_be_bytes(id), value);
        }
        Ok(())
    }

    fn count(&mut self) -> Result<u64> {
        Ok(self.store.environment.stat().of(NAME, "counting")?.entries() as u64)
    }

    fn put_named<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (String, D)>) -> Result<()> {
        let mut transaction = self.store.environment.begin_rw_txn().of(NAME, "beginning a transaction")?;
        for (name, document) in documents {
            let body = document.borrow().encode();
            transaction.put(self.store.small, &name, &body, WriteFlags::empty()).of(NAME, "putting")?;
        }
        transaction.commit().of(NAME, "committing")
    }

    fn delete_named(&mut self, names: impl Iterator<Item = String>) -> Result<()> {
        let mut transaction = self.store.environment.begin_rw_txn().of(NAME, "beginning a transaction")?;
        for name in names {
            transaction.del(self.store.small, &name, None).of(NAME, "deleting")?;
        }
        transaction.commit().of(NAME, "committing")
    }

    fn count_named(&mut self) -> Result<u64> {
        self.count()
    }

    fn scan_named(&mut self, prefix: &str, mut each: impl FnMut(&[u8])) -> Result<()> {
        let transaction = self.begin()?;
        let mut cursor = transaction.open_ro_cursor(self.store.small).of(NAME, "scanning")?;
        for entry in cursor.iter_from(prefix) {
            let (name, value) = entry.of(NAME, "scanning")?;
            if !name.starts_with(prefix.as_bytes()) {
                break;
            }
            each(value);
        }
        drop(cursor);
        self.reader = Some(transaction.reset());
        Ok(())
    }
}
