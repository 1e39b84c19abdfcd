//! fjall: two keyspaces. A commit is a batch that is handed to the system.

use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode, Readable, Snapshot};

use super::data::Ask;
use super::trees::{Reads, Tree, Trees, Writes};
use crate::failure::{Of, Result};

const NAME: &str = "fjall 3.1, a second tree";

pub struct Fjall {
    db: Database,
    of: [Keyspace; 2],
}

pub struct Batch<'t> {
    batch: OwnedWriteBatch,
    of: &'t [Keyspace; 2],
}

pub struct Held<'t> {
    snapshot: Snapshot,
    of: &'t [Keyspace; 2],
}

impl Trees for Fjall {
    const NAME: &'static str = NAME;

    type Writes<'t> = Batch<'t>;
    type Reads<'t> = Held<'t>;

    fn open(directory: &Path) -> Result<Self> {
        let db = Database::builder(directory.join("store.fjall")).open().of(NAME, "opening")?;
        let create = |name| db.keyspace(name, KeyspaceCreateOptions::default).of(NAME, "opening");
        let of = [create("documents")?, create("entries")?];
        Ok(Fjall { db, of })
    }

    fn close(self) -> Result<()> {
        self.db.persist(PersistMode::SyncAll).of(NAME, "closing")
    }

    fn write(&self, work: impl FnOnce(&mut Batch<'_>) -> Result<bool>) -> Result<()> {
        let mut writes = Batch { batch: self.db.batch().durability(Some(PersistMode::Buffer)), of: &self.of };
        match work(&mut writes)? {
            true => writes.batch.commit().of(NAME, "committing"),
            false => Ok(()),
        }
    }

    fn read_each(&self, asks: &[Ask], mut each: impl FnMut(&Held<'_>, &Ask) -> Result<()>) -> Result<()> {
        asks.iter().try_for_each(|ask| each(&Held { snapshot: self.db.snapshot(), of: &self.of }, ask))
    }
}

impl Writes for Batch<'_> {
    fn document<R>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Ok(self.of[Tree::Documents as usize].get(key).of(NAME, "reading")?.map(|value| read(&value)))
    }

    fn put(&mut self, tree: Tree, key: &[u8], value: &[u8]) -> Result<()> {
        self.batch.insert(&self.of[tree as usize], key, value);
        Ok(())
    }

    fn delete(&mut self, tree: Tree, key: &[u8]) -> Result<()> {
        self.batch.remove(&self.of[tree as usize], key);
        Ok(())
    }
}

impl Reads for Held<'_> {
    fn document<R>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let value = self.snapshot.get(&self.of[Tree::Documents as usize], key).of(NAME, "reading")?;
        Ok(value.map(|value| read(&value)))
    }

    fn entries(&self, from: &[u8], to: &[u8], mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for entry in self.snapshot.range(&self.of[Tree::Entries as usize], from..=to) {
            each(&entry.key().of(NAME, "reading")?)?;
        }
        Ok(())
    }
}
