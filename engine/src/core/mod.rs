//! The store as a value: every promise is kept here, one step at a time, with no thread and no clock.
//!
//! Readers share it by reference and take no lock that a writer holds across I/O. The one writer at a time holds the mutex
//! around [`Writer`], which is all that only writers need. Given its storage and the order of calls, everything is
//! deterministic; and [`Core::fork`] copies it between any two calls.

mod open;
mod read;
mod scan;
mod verify;
mod write;
mod writer;

pub(crate) use read::Located;
pub(crate) use scan::Cursor;
pub use verify::VerifyReport;
pub(crate) use write::{Bodies, Expect};
pub(crate) use writer::Writer;

use crate::error::{Error, Result};
use crate::index::{Catalog, Naming, PrimaryIndex, State};
use crate::log::Log;
use crate::options::Options;
use crate::sync::{Arc, Mutex, MutexGuard, RwLock, lock, read};
use crate::txn::Visibility;

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) log: Log,
    catalog: RwLock<Catalog>,
    visibility: Arc<Visibility>,
    /// None for a store opened for reading only.
    writer: Option<Mutex<Writer>>,
    pub(crate) options: Options,
}

impl Core {
    /// The writer's state; an error for a store opened for reading only.
    fn writer(&self) -> Result<MutexGuard<'_, Writer>> {
        self.writer.as_ref().map(lock).ok_or(Error::ReadOnly)
    }

    /// What `name` means in the visible state.
    pub(crate) fn naming(&self, name: &str) -> Result<Arc<Naming>> {
        let found = self.visibility.settled(|visible| read(&self.catalog).find_in(name, visible).cloned());
        found.ok_or_else(|| Error::UnknownCollection { name: name.to_owned() })
    }

    /// The names of all collections, in the order of their bytes.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.namings().1.iter().map(|naming| naming.name.clone()).collect();
        names.sort();
        names
    }

    /// The visible state, and the collections of it.
    fn namings(&self) -> (State, Vec<Arc<Naming>>) {
        self.visibility.settled(|visible| (visible, read(&self.catalog).in_state(visible).cloned().collect()))
    }

    /// Numbers about the store as it is now.
    pub(crate) fn stats(&self) -> Stats {
        let (visible, namings) = self.namings();
        let (snapshots, retained_versions) = self.visibility.counts();
        let calls = self.log.storage.counters();
        let (durable_lsn, generation) = match &self.writer {
            Some(writer) => {
                let writer = lock(writer);
                (writer.durable(), writer.superblock().generation)
            }
            None => (visible.lsn, 0),
        };
        Stats {
            collections: namings.len() as u64,
            documents: namings.iter().map(|naming| naming.documents.len()).sum(),
            file_bytes: self.log.storage.len().unwrap_or(0),
            segment_bytes: self.log.geometry.segment_bytes(),
            sector: self.log.geometry.sector(),
            segments: self.log.segments.count() as u64,
            log_end: visible.address.0,
            lsn: visible.lsn.0,
            durable_lsn: durable_lsn.0,
            superblock_generation: generation,
            index_bytes: namings.iter().map(|naming| naming.documents.index.memory_bytes() as u64).sum(),
            cache_bytes: self.log.cache.bytes() as u64,
            cache_misses: self.log.cache.misses(),
            snapshots: snapshots as u64,
            retained_versions: retained_versions as u64,
            written_bytes: calls.written_bytes,
            writes: calls.writes,
            syncs: calls.syncs,
        }
    }

    /// A copy that shares nothing with this one and goes on from here on `storage`, which is a copy of the disk.
    #[cfg(feature = "testing")]
    pub(crate) fn fork(&self, storage: Box<dyn crate::storage::Storage>) -> Core {
        use crate::cache::Cache;
        let writer = self.writer.as_ref().map(lock);
        let cache_bytes = self.options.cache_bytes.unwrap_or(0);
        Core {
            log: Log {
                storage: self.log.storage.fork(storage),
                geometry: self.log.geometry,
                segments: self.log.segments.fork(),
                tail: self.log.tail.fork(),
                // What was cached is read again: the copy's disk holds it.
                cache: Cache::new(cache_bytes),
            },
            catalog: RwLock::new(read(&self.catalog).fork()),
            visibility: Arc::new(self.visibility.fork()),
            writer: writer.map(|writer| Mutex::new(writer.fork())),
            options: self.options.clone(),
        }
    }
}

/// Numbers about a store, as [`Db::stats`](crate::Db::stats) gives them.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Collections.
    pub collections: u64,
    /// Live documents in all collections.
    pub documents: u64,
    /// Length of the file, in bytes.
    pub file_bytes: u64,
    /// Length of a segment, in bytes.
    pub segment_bytes: u32,
    /// Length of a sector, in bytes.
    pub sector: u32,
    /// Log segments in place.
    pub segments: u64,
    /// The log address where the log ends: all bytes ever placed in it, headers and padding included.
    pub log_end: u64,
    /// LSN of the newest visible commit.
    pub lsn: u64,
    /// Everything up to this LSN is known to be durable.
    pub durable_lsn: u64,
    /// How often a superblock slot was written in the life of the file; 0 for a store opened for reading only.
    pub superblock_generation: u64,
    /// Memory that the indexes take, in bytes, as near as it can be told without walking them.
    pub index_bytes: u64,
    /// Memory that the block cache takes now, in bytes.
    pub cache_bytes: u64,
    /// How often a block was not in the cache.
    pub cache_misses: u64,
    /// Live snapshots, those of running scans included.
    pub snapshots: u64,
    /// Superseded versions that snapshots still need.
    pub retained_versions: u64,
    /// Bytes written through this handle.
    pub written_bytes: u64,
    /// Write calls made through this handle.
    pub writes: u64,
    /// Syncs made through this handle.
    pub syncs: u64,
}
