//! LMDB: two databases of one environment. Commits are handed to the system.

use std::path::Path;

use lmdb::{
    Cursor, Database, DatabaseFlags, Environment, EnvironmentFlags, Error, RoTransaction, RwTransaction,
    Transaction, WriteFlags,
};

use super::data::Ask;
use super::trees::{Reads, Tree, Trees, Writes};
use crate::failure::{Failure, Of, Result};

const NAME: &str = "LMDB 0.9, a second tree";

/// Far more than any workload fills; only what is written takes room on the disk.
const MAP_BYTES: usize = 4 << 30;

pub struct Lmdb {
    environment: Environment,
    of: [Database; 2],
}

pub struct In<T> {
    transaction: T,
    of: [Database; 2],
}

impl<T: Transaction> In<T> {
    fn get<R>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        match self.transaction.get(self.of[Tree::Documents as usize], &key) {
            Ok(value) => Ok(Some(read(value))),
            Err(Error::NotFound) => Ok(None),
            Err(error) => Err(Failure::new(NAME, "reading", error)),
        }
    }
}

impl Trees for Lmdb {
    const NAME: &'static str = NAME;

    type Writes<'t> = In<RwTransaction<'t>>;
    type Reads<'t> = In<RoTransaction<'t>>;

    fn open(directory: &Path) -> Result<Self> {
        let environment = Environment::new()
            .set_flags(EnvironmentFlags::NO_SYNC | EnvironmentFlags::NO_SUB_DIR | EnvironmentFlags::NO_TLS)
            .set_map_size(MAP_BYTES)
            .set_max_dbs(2)
            .open(&directory.join("store.lmdb"))
            .of(NAME, "opening")?;
        let create = |name| environment.create_db(Some(name), DatabaseFlags::empty()).of(NAME, "opening");
        let of = [create("documents")?, create("entries")?];
        Ok(Lmdb { environment, of })
    }

    fn close(self) -> Result<()> {
        self.environment.sync(true).of(NAME, "closing")
    }

    fn write(&self, work: impl FnOnce(&mut Self::Writes<'_>) -> Result<bool>) -> Result<()> {
        let transaction = self.environment.begin_rw_txn().of(NAME, "beginning a transaction")?;
        let mut writes = In { transaction, of: self.of };
        match work(&mut writes)? {
            true => writes.transaction.commit().of(NAME, "committing"),
            false => Ok(writes.transaction.abort()),
        }
    }

    fn read_each(
        &self,
        asks: &[Ask],
        mut each: impl FnMut(&Self::Reads<'_>, &Ask) -> Result<()>,
    ) -> Result<()> {
        // A reader keeps its place in the table of readers from one transaction to the next.
        let mut reader = self.environment.begin_ro_txn().of(NAME, "beginning to read")?.reset();
        for ask in asks {
            let reads = In { transaction: reader.renew().of(NAME, "beginning to read")?, of: self.of };
            each(&reads, ask)?;
            reader = reads.transaction.reset();
        }
        Ok(())
    }
}

impl Writes for In<RwTransaction<'_>> {
    fn document<R>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        self.get(key, read)
    }

    fn put(&mut self, tree: Tree, key: &[u8], value: &[u8]) -> Result<()> {
        self.transaction.put(self.of[tree as usize], &key, &value, WriteFlags::empty()).of(NAME, "putting")
    }

    fn delete(&mut self, tree: Tree, key: &[u8]) -> Result<()> {
        self.transaction.del(self.of[tree as usize], &key, None).of(NAME, "deleting")
    }
}

impl Reads for In<RoTransaction<'_>> {
    fn document<R>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        self.get(key, read)
    }

    fn entries(&self, from: &[u8], to: &[u8], mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut cursor =
            self.transaction.open_ro_cursor(self.of[Tree::Entries as usize]).of(NAME, "reading")?;
        for entry in cursor.iter_from(from) {
            let (key, _) = entry.of(NAME, "reading")?;
            if key > to {
                break;
            }
            each(key)?;
        }
        Ok(())
    }
}
