//! redb on the disk that loses power, through the trait that it has for storages.

use std::io;

use holotype_crash_tests::torture::{Change, Contents, Disk, Durability, Subject};
use redb::{Database, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition};

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("all");

/// Memory for pages: little, so that most that is read comes from the disk.
const CACHE_BYTES: usize = 64 << 10;

/// A storage of redb's over the disk. `syncs` says whether its syncs are: one that leaves them out is how the checks show that they see it.
#[derive(Debug)]
struct Backend {
    disk: Disk,
    syncs: bool,
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.disk.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.disk.read_exact_at(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        if self.syncs { self.disk.sync() } else { Ok(()) }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.disk.write_all_at(offset, data)
    }
}

/// How redb is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// As it is meant to be.
    Plain = 0,
    /// With commits in two phases.
    TwoPhase = 1,
    /// With the repair that is quick, as the allocator's state is saved with each commit.
    QuickRepair = 2,
    /// On a storage that leaves out each sync. A control: it must be found.
    NoSync = 3,
    /// With `Durability::None`, and yet said to be durable. A control: it must be found.
    Overstated = 4,
}

/// redb, used in the way of that number.
#[derive(Debug)]
pub struct Redb<const USE: u8> {
    db: Database,
}

fn say(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl<const USE: u8> Subject for Redb<USE> {
    fn open(disk: Disk) -> Result<Self, String> {
        let backend = Backend { disk, syncs: USE != Use::NoSync as u8 };
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE_BYTES);
        let db = builder.create_with_backend(backend).map_err(say)?;
        Ok(Redb { db })
    }

    fn commit(&mut self, changes: &[Change], durability: Durability) -> Result<(), String> {
        let mut transaction = self.db.begin_write().map_err(say)?;
        let class = match durability {
            Durability::Durable if USE != Use::Overstated as u8 => redb::Durability::Immediate,
            _ => redb::Durability::None,
        };
        transaction.set_durability(class).map_err(say)?;
        transaction.set_two_phase_commit(USE == Use::TwoPhase as u8);
        transaction.set_quick_repair(USE == Use::QuickRepair as u8);
        {
            let mut table = transaction.open_table(TABLE).map_err(say)?;
            for change in changes {
                match change {
                    Change::Put(key, value) => {
                        _ = table.insert(key.as_slice(), value.as_slice()).map_err(say)?
                    }
                    Change::Delete(key) => _ = table.remove(key.as_slice()).map_err(say)?,
                }
            }
        }
        transaction.commit().map_err(say)
    }

    fn contents(&mut self) -> Result<Contents, String> {
        let transaction = self.db.begin_read().map_err(say)?;
        let table = match transaction.open_table(TABLE) {
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Contents::new()),
            table => table.map_err(say)?,
        };
        let mut contents = Contents::new();
        for entry in table.iter().map_err(say)? {
            let (key, value) = entry.map_err(say)?;
            contents.insert(key.value().to_vec(), value.value().to_vec());
        }
        Ok(contents)
    }

    fn verify(&mut self) -> Result<(), String> {
        match self.db.check_integrity() {
            Ok(true) => Ok(()),
            Ok(false) => Err("check_integrity found damage, and repaired it".to_owned()),
            Err(error) => Err(format!("check_integrity: {error}")),
        }
    }

    fn close(self) -> Result<(), String> {
        self.db.close().map_err(say)
    }
}
