//! byodb-rust, a copy-on-write tree in a mapped file. A commit syncs the map twice (`msync`), and there is none that does not.
//! Values have at most a thousand bytes, and a key that is there is updated by another call than one that is not.

use std::borrow::Borrow;
use std::ops::Bound;
use std::path::Path;

use byodb_rust::{DB, RTxn, RWTxn};
use holotype::Document;

use super::{Commits, Read, ReadNamed, Session, Snapshots, Store, prefix_end};
use crate::failure::{Of, Result};

const NAME: &str = "byodb-rust 0.2";

pub struct Byodb {
    db: DB,
}

impl Store for Byodb {
    const NAME: &'static str = NAME;

    const VALUE_MAX: usize = byodb_rust::consts::MAX_VALUE_SIZE;

    const WRITES_BY_MAP: bool = true;

    const SYNCS_ALWAYS: bool = true;

    type Session<'s> = &'s Byodb;

    /// Each commit is durable, whatever is asked for.
    fn open(directory: &Path, _: Commits) -> Result<Self> {
        let db = DB::open_or_create(directory.join("store.byodb")).of(NAME, "opening")?;
        Ok(Byodb { db })
    }

    fn session(&self) -> Result<&Byodb> {
        Ok(self)
    }

    fn close(self) -> Result<()> {
        Ok(())
    }
}

impl Snapshots for Byodb {
    type Held<'s> = Held<'s>;
    type HeldNamed<'s> = Held<'s>;

    fn hold(&self) -> Result<Held<'_>> {
        Ok(Held { transaction: self.db.r_txn() })
    }

    fn hold_named(&self) -> Result<Held<'_>> {
        self.hold()
    }
}

pub struct Held<'s> {
    transaction: RTxn<'s, 's>,
}

impl Read for Held<'_> {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Ok(self.transaction.get(&id.to_be_bytes()).of(NAME, "reading")?.map(read))
    }
}

impl ReadNamed for Held<'_> {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Ok(self.transaction.get(name.as_bytes()).of(NAME, "reading")?.map(read))
    }

    fn scan_named_from(&mut self, from: &str, count: usize, mut each: impl FnMut(&[u8])) -> Result<()> {
        let range = (Bound::Included(from.as_bytes()), Bound::Unbounded);
        self.transaction.in_order_range_iter(&range).take(count).for_each(|(_, value)| each(value));
        Ok(())
    }
}

impl Byodb {
    fn get<R>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let transaction = self.db.r_txn();
        Ok(transaction.get(key).of(NAME, "reading")?.map(read))
    }

    fn put(transaction: &mut RWTxn<'_, '_>, key: &[u8], document: &Document) -> Result<()> {
        let body = document.encode();
        match transaction.update(key, &body) {
            Err(byodb_rust::error::TxnError::Tree(byodb_rust::error::TreeError::KeyNotFound)) => {
                transaction.insert(key, &body).of(NAME, "putting")
            }
            updated => updated.of(NAME, "putting"),
        }
    }
}

impl Read for &Byodb {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Byodb::get(self, &id.to_be_bytes(), read)
    }
}

impl ReadNamed for &Byodb {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Byodb::get(self, name.as_bytes(), read)
    }

    fn scan_named_from(&mut self, from: &str, count: usize, each: impl FnMut(&[u8])) -> Result<()> {
        self.hold()?.scan_named_from(from, count, each)
    }
}

impl Session for &Byodb {
    fn put(&mut self, id: u64, document: &Document) -> Result<()> {
        self.put_all([(id, document)].into_iter())
    }

    fn put_all<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (u64, D)>) -> Result<()> {
        let mut transaction = self.db.rw_txn();
        for (id, document) in documents {
            Byodb::put(&mut transaction, &id.to_be_bytes(), document.borrow())?;
        }
        transaction.commit();
        Ok(())
    }

    fn delete(&mut self, id: u64) -> Result<()> {
        let mut transaction = self.db.rw_txn();
        transaction.delete(&id.to_be_bytes()).of(NAME, "deleting")?;
        transaction.commit();
        Ok(())
    }

    fn scan_from(&mut self, from: u64, count: usize, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        let (transaction, from) = (self.db.r_txn(), from.to_be_bytes());
        let range = (Bound::Included(&from[..]), Bound::Unbounded);
        for (key, value) in transaction.in_order_range_iter(&range).take(count) {
            let id = <[u8; 8]>::try_from(key).of(NAME, "reading an id")?;
            each(u64::from_be_bytes(id), value);
        }
        Ok(())
    }

    fn scan(&mut self, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        let transaction = self.db.r_txn();
        for (key, value) in transaction.in_order_iter() {
            let id = <[u8; 8]>::try_from(key).of(NAME, "reading an id")?;
            each(u64::from_be_bytes(id), value);
        }
        Ok(())
    }

    fn put_named<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (String, D)>) -> Result<()> {
        let mut transaction = self.db.rw_txn();
        for (name, document) in documents {
            Byodb::put(&mut transaction, name.as_bytes(), document.borrow())?;
        }
        transaction.commit();
        Ok(())
    }

    fn delete_named(&mut self, names: impl Iterator<Item = String>) -> Result<()> {
        let mut transaction = self.db.rw_txn();
        for name in names {
            transaction.delete(name.as_bytes()).of(NAME, "deleting")?;
        }
        transaction.commit();
        Ok(())
    }

    fn scan_named(&mut self, prefix: &str, mut each: impl FnMut(&[u8])) -> Result<()> {
        let (transaction, end) = (self.db.r_txn(), prefix_end(prefix));
        let range = (Bound::Included(prefix.as_bytes()), Bound::Excluded(end.as_slice()));
        transaction.in_order_range_iter(&range).for_each(|(_, value)| each(value));
        Ok(())
    }
}
