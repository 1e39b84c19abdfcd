//! The store as a value: every promise is kept here, one step at a time, with no thread and no clock.
//!
//! Readers share it by reference and take no lock that a writer holds across I/O. The one writer at a time holds the mutex
//! around [`Writer`], which is all that only writers need. Given its storage and the order of calls, everything is
//! deterministic; and [`Core::fork`] copies it between any two calls.
//!
//! Nothing here waits but for locks that are held for a moment: who waits for a turn, or for a sync of somebody else, does so in
//! the room `pipeline`.

mod ahead;
mod apply;
mod draft;
mod feed;
#[cfg(feature = "testing")]
mod fingerprint;
#[cfg(feature = "testing")]
mod fork;
#[cfg(all(test, loom))]
mod loom;
mod maintenance;
mod open;
mod read;
mod room;
mod scan;
mod sync;
mod turn;
mod verify;
mod visit;
mod walk;
mod write;
mod writer;

pub(crate) use draft::{Draft, DraftWalk, Savepoint};
pub use feed::{Change, Commit, Location};
pub(crate) use feed::{Feed, Feeds};
pub use maintenance::{BackupProgress, BackupReport, CompactProgress, CompactReport, Space};
#[cfg(feature = "testing")]
pub(crate) use maintenance::{CheckpointJob, SealedCheckpoint};
pub(crate) use maintenance::{Effort, Pressure, Stepped, copy_to};
pub(crate) use open::assemble;
pub(crate) use read::Located;
pub(crate) use room::Upkeep;
pub(crate) use scan::Cursor;
#[cfg(feature = "testing")]
pub(crate) use sync::SyncJob;
pub(crate) use turn::{Ticket, Turn};
pub use verify::VerifyReport;
pub(crate) use visit::Visited;
pub(crate) use write::{Bodies, Expect};
pub(crate) use writer::Writer;

use crate::error::{Error, Result};
use crate::format::{LogAddress, Lsn};
use crate::index::{Catalog, Naming, PrimaryIndex, State};
use crate::log::Log;
use crate::options::Options;
use crate::sync::{Arc, Mutex, MutexGuard, RwLock, lock, read, try_lock};
use crate::txn::Visibility;

/// How far a store has come: everything up to each LSN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) durable: Lsn,
    pub(crate) visible: Lsn,
}

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) log: Log,
    catalog: RwLock<Catalog>,
    visibility: Arc<Visibility>,
    /// None for a store opened for reading only.
    writer: Option<Mutex<Writer>>,
    /// Where the bytes of the file were when it was opened: who only reads keeps no accounts.
    space_at_opening: Space,
    feeds: Feeds,
    pub(crate) options: Options,
}

impl Core {
    /// The writer's state; an error for a store opened for reading only.
    pub(crate) fn writer(&self) -> Result<MutexGuard<'_, Writer>> {
        self.writer.as_ref().map(lock).ok_or(Error::ReadOnly)
    }

    /// The writer's state, where nobody else has it at the moment.
    pub(crate) fn try_writer(&self) -> Option<MutexGuard<'_, Writer>> {
        try_lock(self.writer.as_ref()?)
    }

    //= spec/semantics.md#s-3-3-unknown-collection
    //# A read of a name that no collection has, a replace or a delete in one MUST be refused as
    //# `UnknownCollection`.
    /// What `name` means in the visible state.
    pub(crate) fn naming(&self, name: &str) -> Result<Arc<Naming>> {
        let found = self.visibility.settled(|visible| read(&self.catalog).find_in(name, visible).cloned());
        found.ok_or_else(|| Error::UnknownCollection { name: name.to_owned() })
    }

    /// Whether the visible state has `naming`.
    pub(crate) fn is_visible(&self, naming: &Naming) -> bool {
        self.visibility.settled(|visible| naming.is_in(visible))
    }

    //= spec/semantics.md#s-3-9-list-of-names
    //# The list of collections MUST hold each name once, in bytewise order, empty collections included.
    /// The names of all collections, in the order of their bytes.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.namings_now().1.iter().map(|naming| naming.name.clone()).collect();
        names.sort();
        names
    }

    /// The collections of the visible state.
    pub(crate) fn namings(&self) -> Vec<Arc<Naming>> {
        self.namings_now().1
    }

    /// The visible state, and the collections of it.
    fn namings_now(&self) -> (State, Vec<Arc<Naming>>) {
        self.visibility.settled(|visible| (visible, read(&self.catalog).in_state(visible).cloned().collect()))
    }

    /// How far the store has come.
    pub(crate) fn progress(&self) -> Progress {
        let visible = self.visibility.visible().lsn;
        let durable = self.writer.as_ref().map_or(visible, |writer| lock(writer).durable());
        Progress { durable, visible }
    }

    /// The address where the last commit placed ends, and the length of the file.
    pub(crate) fn log_end(&self) -> Result<(LogAddress, u64)> {
        let writer = self.writer()?;
        Ok((writer.appender.end_address(), writer.file_len))
    }

    /// Whether a commit is placed and not visible yet.
    pub(crate) fn has_pending(&self) -> bool {
        self.visibility.has_pending()
    }

    /// Ends a snapshot: reads through it say so from now on.
    pub(crate) fn end_snapshot(&self, id: u64) {
        self.visibility.release(id);
    }

    /// The addresses of the superseded versions that keep their place for `state`.
    pub(crate) fn pinned(&self, state: State) -> Vec<LogAddress> {
        self.visibility.pinned(state)
    }

    /// How often pending commits were taken back.
    pub(crate) fn take_backs(&self) -> u64 {
        self.visibility.take_backs()
    }

    /// Numbers about the store as it is now.
    pub(crate) fn stats(&self) -> Stats {
        let (visible, namings) = self.namings_now();
        let (snapshots, retained_versions) = self.visibility.counts();
        let calls = self.log.storage.counters();
        let (durable_lsn, generation, space) = match &self.writer {
            Some(writer) => {
                let writer = lock(writer);
                (writer.durable(), writer.superblock().generation, writer.space(self))
            }
            None => (visible.lsn, 0, self.space_at_opening),
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
            pending_commits: self.visibility.pending() as u64,
            snapshots: snapshots as u64,
            retained_versions: retained_versions as u64,
            written_bytes: calls.written_bytes,
            writes: calls.writes,
            syncs: calls.syncs,
            space,
        }
    }
}

impl Stats {
    /// Bytes written through this handle for each byte of a record that callers had placed; 0 where there was none.
    pub fn write_amplification(&self) -> f64 {
        if self.space.user_bytes == 0 {
            0.0
        } else {
            self.written_bytes as f64 / self.space.user_bytes as f64
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
    /// Commits that are placed and not visible yet: they wait for a sync.
    pub pending_commits: u64,
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
    /// Where the bytes of the file are.
    pub space: Space,
}
