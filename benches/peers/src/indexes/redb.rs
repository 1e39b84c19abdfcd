//! redb: two tables. Commits are kept in memory, a weaker class than the others'.

use std::path::Path;

use redb::{
    Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTable, Table, TableDefinition,
    WriteTransaction,
};

use super::data::Ask;
use super::trees::{Reads, Tree, Trees, Writes};
use crate::failure::{Of, Result};

const NAME: &str = "redb 4.5, a second tree";

type Bytes = &'static [u8];

const TREES: [TableDefinition<'_, Bytes, Bytes>; 2] =
    [TableDefinition::new("documents"), TableDefinition::new("entries")];

pub struct Redb(Database);

pub struct Tables<T>([T; 2]);

impl Redb {
    fn begin(&self, durability: Durability) -> Result<WriteTransaction> {
        let mut transaction = self.0.begin_write().of(NAME, "beginning a transaction")?;
        transaction.set_durability(durability).of(NAME, "beginning a transaction")?;
        Ok(transaction)
    }
}

impl Trees for Redb {
    const NAME: &'static str = NAME;

    type Writes<'t> = Tables<Table<'t, Bytes, Bytes>>;
    type Reads<'t> = Tables<ReadOnlyTable<Bytes, Bytes>>;

    fn open(directory: &Path) -> Result<Self> {
        let store = Redb(Database::create(directory.join("store.redb")).of(NAME, "opening")?);
        store.write(|_| Ok(true))?;
        Ok(store)
    }

    fn close(self) -> Result<()> {
        self.begin(Durability::Immediate)?.commit().of(NAME, "closing")
    }

    fn write(&self, work: impl FnOnce(&mut Self::Writes<'_>) -> Result<bool>) -> Result<()> {
        let transaction = self.begin(Durability::None)?;
        let open = |tree: TableDefinition<'static, Bytes, Bytes>| transaction.open_table(tree);
        let mut tables = Tables([open(TREES[0]).of(NAME, "opening")?, open(TREES[1]).of(NAME, "opening")?]);
        let commits = work(&mut tables)?;
        drop(tables);
        match commits {
            true => transaction.commit().of(NAME, "committing"),
            false => transaction.abort().of(NAME, "giving up"),
        }
    }

    fn read_each(
        &self,
        asks: &[Ask],
        mut each: impl FnMut(&Self::Reads<'_>, &Ask) -> Result<()>,
    ) -> Result<()> {
        for ask in asks {
            let transaction = self.0.begin_read().of(NAME, "beginning to read")?;
            let open = |tree| transaction.open_table(tree).of(NAME, "beginning to read");
            each(&Tables([open(TREES[0])?, open(TREES[1])?]), ask)?;
        }
        Ok(())
    }
}

impl Writes for Tables<Table<'_, Bytes, Bytes>> {
    fn document<R>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let value = self.0[Tree::Documents as usize].get(key).of(NAME, "reading")?;
        Ok(value.map(|value| read(value.value())))
    }

    fn put(&mut self, tree: Tree, key: &[u8], value: &[u8]) -> Result<()> {
        self.0[tree as usize].insert(key, value).of(NAME, "putting").map(drop)
    }

    fn delete(&mut self, tree: Tree, key: &[u8]) -> Result<()> {
        self.0[tree as usize].remove(key).of(NAME, "deleting").map(drop)
    }
}

impl Reads for Tables<ReadOnlyTable<Bytes, Bytes>> {
    fn document<R>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let value = ReadableTable::get(&self.0[Tree::Documents as usize], key).of(NAME, "reading")?;
        Ok(value.map(|value| read(value.value())))
    }

    fn entries(&self, from: &[u8], to: &[u8], mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for entry in self.0[Tree::Entries as usize].range(from..=to).of(NAME, "reading")? {
            each(entry.of(NAME, "reading")?.0.value())?;
        }
        Ok(())
    }
}
