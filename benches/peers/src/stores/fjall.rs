//! fjall, a log-structured merge tree. A durable commit is a batch that ends in `fdatasync`; one that is not synced is handed to
//! the operating system.

use std::borrow::Borrow;
use std::path::Path;

use fjall::{
    Database, Guard, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode, Readable, Snapshot,
};
use holotype::Document;

use super::{Commits, Read, ReadNamed, Session, Snapshots, Store};
use crate::failure::{Of, Result};

const NAME: &str = "fjall 3.1";

pub struct Fjall {
    db: Database,
    small: Keyspace,
    commits: Commits,
}

type Builder = fjall::DatabaseBuilder<Database>;

impl Fjall {
    fn open_as(directory: &Path, commits: Commits, options: impl FnOnce(Builder) -> Builder) -> Result<Self> {
        let builder = options(Database::builder(directory.join("store.fjall")));
        let db = builder.open().of(NAME, "opening")?;
        let small = db.keyspace("small", KeyspaceCreateOptions::default).of(NAME, "creating the keyspace")?;
        Ok(Fjall { db, small, commits })
    }

    /// Writes that are one commit of the class.
    fn batch(&self) -> OwnedWriteBatch {
        self.db.batch().durability(match self.commits {
            Commits::Durable => Some(PersistMode::SyncData),
            Commits::Unsynced => Some(PersistMode::Buffer),
        })
    }
}

impl Store for Fjall {
    const NAME: &'static str = NAME;

    type Session<'s> = &'s Fjall;

    fn open(directory: &Path, commits: Commits) -> Result<Self> {
        Self::open_as(directory, commits, |builder| builder)
    }

    fn open_with_cache(directory: &Path, bytes: usize) -> Result<Self> {
        Self::open_as(directory, Commits::Unsynced, |builder| builder.cache_size(bytes as u64))
    }

    fn session(&self) -> Result<&Fjall> {
        Ok(self)
    }

    fn clean(self) -> Result<()> {
        self.small.rotate_memtable_and_wait().of(NAME, "flushing")?;
        self.small.major_compact().of(NAME, "compacting")?;
        self.close()
    }

    fn close(self) -> Result<()> {
        self.db.persist(PersistMode::SyncAll).of(NAME, "closing")
    }
}

impl Snapshots for Fjall {
    type Held<'s> = Held<'s>;
    type HeldNamed<'s> = Held<'s>;

    fn hold(&self) -> Result<Held<'_>> {
        Ok(Held { snapshot: self.db.snapshot(), small: &self.small })
    }

    fn hold_named(&self) -> Result<Held<'_>> {
        self.hold()
    }
}

pub struct Held<'s> {
    snapshot: Snapshot,
    small: &'s Keyspace,
}

impl Read for Held<'_> {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let value = self.snapshot.get(self.small, id.to_be_bytes()).of(NAME, "reading")?;
        Ok(value.map(|value| read(&value)))
    }
}

impl ReadNamed for Held<'_> {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Ok(self.snapshot.get(self.small, name).of(NAME, "reading")?.map(|value| read(&value)))
    }

    fn scan_named_from(&mut self, from: &str, count: usize, each: impl FnMut(&[u8])) -> Result<()> {
        show(self.snapshot.range(self.small, from..).take(count), each)
    }
}

fn show(entries: impl Iterator<Item = Guard>, mut each: impl FnMut(&[u8])) -> Result<()> {
    for entry in entries {
        each(&entry.value().of(NAME, "scanning")?);
    }
    Ok(())
}

impl Read for &Fjall {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let value = self.small.get(id.to_be_bytes()).of(NAME, "reading")?;
        Ok(value.map(|value| read(&value)))
    }
}

impl Session for &Fjall {
    fn put(&mut self, id: u64, document: &Document) -> Result<()> {
        match self.commits {
            Commits::Durable => self.put_all([(id, document)].into_iter()),
            Commits::Unsynced => {
                self.small.insert(id.to_be_bytes(), document.encode()).of(NAME, "committing")
            }
        }
    }

    fn put_all<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (u64, D)>) -> Result<()> {
        let mut batch = self.batch();
        for (id, document) in documents {
            batch.insert(&self.small, id.to_be_bytes(), document.borrow().encode());
        }
        batch.commit().of(NAME, "committing")
    }

    fn delete(&mut self, id: u64) -> Result<()> {
        match self.commits {
            Commits::Durable => {
                let mut batch = self.db.batch().durability(Some(PersistMode::SyncData));
                batch.remove(&self.small, id.to_be_bytes());
                batch.commit().of(NAME, "committing")
            }
            Commits::Unsynced => self.small.remove(id.to_be_bytes()).of(NAME, "committing"),
        }
    }

    fn scan_from(&mut self, from: u64, count: usize, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        for entry in self.small.range(from.to_be_bytes()..).take(count) {
            let (key, value) = entry.into_inner().of(NAME, "scanning")?;
            let id = <[u8; 8]>::try_from(&*key).of(NAME, "reading an id")?;
            each(u64::from_be_bytes(id), &value);
        }
        Ok(())
    }

    fn scan(&mut self, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        for entry in self.small.iter() {
            let (key, value) = entry.into_inner().of(NAME, "scanning")?;
            let id = <[u8; 8]>::try_from(&*key).of(NAME, "reading an id")?;
            each(u64::from_be_bytes(id), &value);
        }
        Ok(())
    }

    fn put_named<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (String, D)>) -> Result<()> {
        let mut batch = self.batch();
        for (name, document) in documents {
            batch.insert(&self.small, name, document.borrow().encode());
        }
        batch.commit().of(NAME, "committing")
    }

    fn delete_named(&mut self, names: impl Iterator<Item = String>) -> Result<()> {
        let mut batch = self.batch();
        for name in names {
            batch.remove(&self.small, name);
        }
        batch.commit().of(NAME, "committing")
    }

    fn scan_named(&mut self, prefix: &str, each: impl FnMut(&[u8])) -> Result<()> {
        show(self.small.prefix(prefix), each)
    }
}

impl ReadNamed for &Fjall {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Ok(self.small.get(name).of(NAME, "reading")?.map(|value| read(&value)))
    }

    fn scan_named_from(&mut self, from: &str, count: usize, each: impl FnMut(&[u8])) -> Result<()> {
        show(self.small.range(from..).take(count), each)
    }
}
