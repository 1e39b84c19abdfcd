//! redb. A commit that is not synced stays in its cache until the next that is: a weaker class than the others'.

use std::borrow::Borrow;
use std::path::Path;

use holotype::Document;
use redb::{
    Builder, Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTable, ReadableTableMetadata,
    TableDefinition, WriteTransaction,
};

use super::{Commits, Read, ReadNamed, Session, Snapshots, Store};
use crate::failure::{Of, Result, expect_equal};

const NAME: &str = "redb 4.5";

const SMALL: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("small");
const NAMED: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("named");

pub struct Redb {
    db: Database,
    durability: Durability,
}

impl Redb {
    fn open_as(directory: &Path, commits: Commits, builder: &Builder) -> Result<Self> {
        let durability = match commits {
            Commits::Durable => Durability::Immediate,
            Commits::Unsynced => Durability::None,
        };
        let db = builder.create(directory.join("store.redb")).of(NAME, "opening")?;
        let store = Redb { db, durability };
        let transaction = store.begin()?;
        transaction.open_table(SMALL).of(NAME, "creating the table")?;
        transaction.open_table(NAMED).of(NAME, "creating the table")?;
        transaction.commit().of(NAME, "creating the table")?;
        Ok(store)
    }

    fn begin(&self) -> Result<WriteTransaction> {
        let mut transaction = self.db.begin_write().of(NAME, "beginning a transaction")?;
        transaction.set_durability(self.durability).of(NAME, "beginning a transaction")?;
        Ok(transaction)
    }
}

impl Store for Redb {
    const NAME: &'static str = NAME;

    type Session<'s> = &'s Redb;

    fn open(directory: &Path, commits: Commits) -> Result<Self> {
        Self::open_as(directory, commits, &Builder::new())
    }

    fn open_with_cache(directory: &Path, bytes: usize) -> Result<Self> {
        Self::open_as(directory, Commits::Unsynced, Builder::new().set_cache_size(bytes))
    }

    fn session(&self) -> Result<&Redb> {
        Ok(self)
    }

    fn clean(mut self) -> Result<()> {
        self.durability = Durability::Immediate;
        self.begin()?.commit().of(NAME, "committing what was not synced")?;
        self.db.compact().of(NAME, "compacting")?;
        Ok(())
    }

    fn close(mut self) -> Result<()> {
        self.durability = Durability::Immediate;
        self.begin()?.commit().of(NAME, "closing")
    }
}

impl Snapshots for Redb {
    type Held<'s> = ReadOnlyTable<u64, &'static [u8]>;
    type HeldNamed<'s> = ReadOnlyTable<&'static str, &'static [u8]>;

    fn hold(&self) -> Result<Self::Held<'_>> {
        let transaction = self.db.begin_read().of(NAME, "taking a snapshot")?;
        transaction.open_table(SMALL).of(NAME, "taking a snapshot")
    }

    fn hold_named(&self) -> Result<Self::HeldNamed<'_>> {
        let transaction = self.db.begin_read().of(NAME, "beginning to read")?;
        transaction.open_table(NAMED).of(NAME, "beginning to read")
    }
}

impl Read for ReadOnlyTable<u64, &'static [u8]> {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let value = ReadableTable::get(self, id).of(NAME, "reading")?;
        Ok(value.map(|value| read(value.value())))
    }
}

impl ReadNamed for ReadOnlyTable<&'static str, &'static [u8]> {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let value = ReadableTable::get(self, name).of(NAME, "reading")?;
        Ok(value.map(|value| read(value.value())))
    }

    fn scan_named_from(&mut self, from: &str, count: usize, mut each: impl FnMut(&[u8])) -> Result<()> {
        for entry in self.range(from..).of(NAME, "scanning")?.take(count) {
            each(entry.of(NAME, "scanning")?.1.value());
        }
        Ok(())
    }
}

impl Read for &Redb {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Read::get(&mut self.hold()?, id, read)
    }
}

impl ReadNamed for &Redb {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        self.hold_named()?.get_named(name, read)
    }

    fn scan_named_from(&mut self, from: &str, count: usize, each: impl FnMut(&[u8])) -> Result<()> {
        self.hold_named()?.scan_named_from(from, count, each)
    }
}

impl Session for &Redb {
    fn put(&mut self, id: u64, document: &Document) -> Result<()> {
        self.put_all([(id, document)].into_iter())
    }

    fn put_all<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (u64, D)>) -> Result<()> {
        let transaction = self.begin()?;
        let mut table = transaction.open_table(SMALL).of(NAME, "opening the table")?;
        for (id, document) in documents {
            table.insert(id, document.borrow().encode().as_slice()).of(NAME, "putting")?;
        }
        drop(table);
        transaction.commit().of(NAME, "committing")
    }

    fn delete(&mut self, id: u64) -> Result<()> {
        let transaction = self.begin()?;
        let mut table = transaction.open_table(SMALL).of(NAME, "opening the table")?;
        let was_there = table.remove(id).of(NAME, "deleting")?.is_some();
        drop(table);
        transaction.commit().of(NAME, "committing")?;
        expect_equal(NAME, "whether a deleted document was there", &true, &was_there)
    }

    fn scan_from(&mut self, from: u64, count: usize, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        for entry in self.hold()?.range(from..).of(NAME, "scanning")?.take(count) {
            let (id, value) = entry.of(NAME, "scanning")?;
            each(id.value(), value.value());
        }
        Ok(())
    }

    fn scan(&mut self, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        for entry in self.hold()?.iter().of(NAME, "scanning")? {
            let (id, value) = entry.of(NAME, "scanning")?;
            each(id.value(), value.value());
        }
        Ok(())
    }

    fn count(&mut self) -> Result<u64> {
        self.hold()?.len().of(NAME, "counting")
    }

    fn put_named<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (String, D)>) -> Result<()> {
        let transaction = self.begin()?;
        let mut table = transaction.open_table(NAMED).of(NAME, "opening the table")?;
        for (name, document) in documents {
            table.insert(name.as_str(), document.borrow().encode().as_slice()).of(NAME, "putting")?;
        }
        drop(table);
        transaction.commit().of(NAME, "committing")
    }

    fn delete_named(&mut self, names: impl Iterator<Item = String>) -> Result<()> {
        let transaction = self.begin()?;
        let mut table = transaction.open_table(NAMED).of(NAME, "opening the table")?;
        let mut were_there = true;
        for name in names {
            were_there &= table.remove(name.as_str()).of(NAME, "deleting")?.is_some();
        }
        drop(table);
        transaction.commit().of(NAME, "committing")?;
        expect_equal(NAME, "whether deleted documents were there", &true, &were_there)
    }

    fn count_named(&mut self) -> Result<u64> {
        self.hold_named()?.len().of(NAME, "counting")
    }

    fn scan_named(&mut self, prefix: &str, mut each: impl FnMut(&[u8])) -> Result<()> {
        for entry in self.hold_named()?.range(prefix..).of(NAME, "scanning")? {
            let (name, value) = entry.of(NAME, "scanning")?;
            if !name.value().starts_with(prefix) {
                break;
            }
            each(value.value());
        }
        Ok(())
    }
}
