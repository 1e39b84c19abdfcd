//! DBX, on the disk and in memory. On the disk each write goes to its log by `write`, so a commit that returned is handed to the
//! operating system. Its `Full` level leaves the sync to a thread of its own, behind the caller's back: it has no durable commit.
//!
//! In memory nothing is kept when the store is closed. On the disk its scheduler looks at the store from time to time; where that look
//! is the last hold on one that was let go, the scheduler's thread waits for itself, and panics after everything is written.

use std::borrow::Borrow;
use std::path::Path;
use std::sync::Arc;

use dbx_core::Database;
use holotype::Document;

use super::{Commits, Lack, Read, ReadNamed, Session, Store, prefix_end};
use crate::failure::{Of, Result, expect_equal};

const NAME: &str = "DBX 0.2";
const NAME_IN_MEMORY: &str = "DBX 0.2 in memory";

const SMALL: &str = "small";

/// Behind every id.
const END: [u8; 9] = [0xFF; 9];

pub struct Dbx {
    db: Arc<Database>,
}

impl Store for Dbx {
    const NAME: &'static str = NAME;

    type Session<'s> = Documents<'s>;

    fn open(directory: &Path, _: Commits) -> Result<Self> {
        Ok(Dbx { db: Database::open(&directory.join("store.dbx")).of(NAME, "opening")? })
    }

    fn session(&self) -> Result<Documents<'_>> {
        Ok(Documents { who: NAME, db: &self.db })
    }

    fn close(self) -> Result<()> {
        self.db.flush().of(NAME, "closing")
    }
}

pub struct InMemory {
    db: Database,
}

impl Store for InMemory {
    const NAME: &'static str = NAME_IN_MEMORY;

    const LACKS: &'static [Lack] = &[Lack::Reopened("it is in memory alone")];

    type Session<'s> = Documents<'s>;

    fn open(_: &Path, _: Commits) -> Result<Self> {
        Ok(InMemory { db: Database::open_in_memory().of(NAME_IN_MEMORY, "opening")? })
    }

    fn session(&self) -> Result<Documents<'_>> {
        Ok(Documents { who: NAME_IN_MEMORY, db: &self.db })
    }

    fn close(self) -> Result<()> {
        Ok(())
    }
}

pub struct Documents<'s> {
    who: &'static str,
    db: &'s Database,
}

impl Documents<'_> {
    fn read<R>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Ok(self.db.get(SMALL, key).of(self.who, "reading")?.map(|value| read(&value)))
    }

    fn insert_batch(&self, rows: Vec<(Vec<u8>, Vec<u8>)>) -> Result<()> {
        self.db.insert_batch(SMALL, rows).of(self.who, "committing")
    }

    /// At most `count` documents of a range, the number of which is returned.
    fn show(
        &self,
        [from, end]: [&[u8]; 2],
        count: usize,
        each: &mut impl FnMut(u64, &[u8]),
    ) -> Result<usize> {
        let entries = self.db.range(SMALL, from, end).of(self.who, "scanning")?;
        let mut shown = 0;
        for (key, value) in entries.iter().take(count) {
            // What a delete leaves behind for old readers stands under keys of another length.
            if let Ok(id) = <[u8; 8]>::try_from(key.as_slice()) {
                each(u64::from_be_bytes(id), value);
                shown += 1;
            }
        }
        Ok(shown)
    }
}

impl Read for Documents<'_> {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Documents::read(self, &id.to_be_bytes(), read)
    }
}

impl ReadNamed for Documents<'_> {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Documents::read(self, name.as_bytes(), read)
    }

    /// It takes a range by both ends, and puts all of it into a list.
    fn scan_named_from(&mut self, from: &str, count: usize, mut each: impl FnMut(&[u8])) -> Result<()> {
        let entries = self.db.range(SMALL, from.as_bytes(), &END).of(self.who, "scanning")?;
        // What a delete leaves behind for old readers stands under keys with a version, whose bytes are in no name.
        let is_name = |key: &[u8]| key.iter().all(u8::is_ascii_graphic);
        let named = entries.iter().filter(|(key, _)| is_name(key));
        named.take(count).for_each(|(_, value)| each(value));
        Ok(())
    }
}

impl Session for Documents<'_> {
    fn put(&mut self, id: u64, document: &Document) -> Result<()> {
        self.db.insert(SMALL, &id.to_be_bytes(), &document.encode()).of(self.who, "committing")
    }

    fn put_all<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (u64, D)>) -> Result<()> {
        let row = |(id, document): (u64, D)| (id.to_be_bytes().to_vec(), document.borrow().encode());
        self.insert_batch(documents.map(row).collect())
    }

    fn delete(&mut self, id: u64) -> Result<()> {
        let was_there = self.db.delete(SMALL, &id.to_be_bytes()).of(self.who, "deleting")?;
        expect_equal(self.who, "whether a deleted document was there", &true, &was_there)
    }

    /// It takes a range by both ends: first as many ids as documents are asked for, then all behind them where there are gaps.
    fn scan_from(&mut self, from: u64, count: usize, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        let middle = from.saturating_add(count as u64).to_be_bytes();
        let shown = self.show([&from.to_be_bytes(), &middle], count, &mut each)?;
        if shown < count {
            self.show([&middle, &END], count - shown, &mut each)?;
        }
        Ok(())
    }

    fn scan(&mut self, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        for (key, value) in self.db.scan(SMALL).of(self.who, "scanning")? {
            let id = <[u8; 8]>::try_from(key.as_slice()).of(self.who, "reading an id")?;
            each(u64::from_be_bytes(id), &value);
        }
        Ok(())
    }

    fn put_named<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (String, D)>) -> Result<()> {
        let row = |(name, document): (String, D)| (name.into_bytes(), document.borrow().encode());
        self.insert_batch(documents.map(row).collect())
    }

    /// It has no batch of deletes: each is a commit of its own.
    fn delete_named(&mut self, names: impl Iterator<Item = String>) -> Result<()> {
        let mut were_there = true;
        for name in names {
            were_there &= self.db.delete(SMALL, name.as_bytes()).of(self.who, "deleting")?;
        }
        expect_equal(self.who, "whether deleted documents were there", &true, &were_there)
    }

    fn scan_named(&mut self, prefix: &str, mut each: impl FnMut(&[u8])) -> Result<()> {
        let entries = self.db.range(SMALL, prefix.as_bytes(), &prefix_end(prefix));
        entries.of(self.who, "scanning")?.iter().for_each(|(_, value)| each(value));
        Ok(())
    }
}
