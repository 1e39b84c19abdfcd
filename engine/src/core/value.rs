//! `Core`: what all threads share and the writer, together.

use crate::error::{Error, Result};
use crate::format::{LogAddress, Lsn};
use crate::sync::{Arc, MutexGuard, Ordering, read};

use super::maintenance::Space;
use super::shared::Shared;
use super::stats::Stats;
use super::writer::Writer;
use super::writer_lock::WriterLock;

/// How far a store has come: everything up to each LSN.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) durable: Lsn,
    pub(crate) visible: Lsn,
}

/// The store: what all threads share, and the one writer of it.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) shared: Arc<Shared>,
    /// None for a store opened for reading only.
    pub(super) writer: Option<WriterLock>,
    /// Where the bytes of the file were when it was opened: who only reads keeps no accounts.
    pub(super) space_at_opening: Space,
}

impl Core {
    /// The writer's state; an error for a store opened for reading only.
    pub(crate) fn writer(&self) -> Result<MutexGuard<'_, Writer>> {
        self.writer.as_ref().map(WriterLock::lock).ok_or(Error::ReadOnly)
    }

    /// The writer's state, where nobody else has it at the moment.
    pub(crate) fn try_writer(&self) -> Option<MutexGuard<'_, Writer>> {
        self.writer.as_ref()?.try_lock()
    }

    /// Whether somebody waits for the writer at the moment.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.writer.as_ref().is_some_and(WriterLock::is_waited_for)
    }

    /// How far the store has come.
    pub(crate) fn progress(&self) -> Progress {
        let visible = self.shared.visibility.visible().lsn;
        let durable = self.writer().map_or(visible, |writer| writer.durable());
        Progress { durable, visible }
    }

    /// The address where the last commit placed ends, and the length of the file.
    pub(crate) fn log_end(&self) -> Result<(LogAddress, u64)> {
        let writer = self.writer()?;
        Ok((writer.appender.end_address(), writer.file_len))
    }

    /// Ends this life of the store, and reports the last error.
    pub(crate) fn close(&self) -> Result<()> {
        self.writer().map_or(Ok(()), |mut writer| writer.close())
    }

    /// Numbers about the store as it is now.
    pub(crate) fn stats(&self) -> Stats {
        let shared = &*self.shared;
        let (visible, namings) = shared.namings_now();
        let (snapshots, retained_versions) = shared.visibility.counts();
        let calls = &shared.log.storage.calls;
        let (durable_lsn, generation, space) = match self.writer() {
            Ok(writer) => (writer.durable(), writer.superblock.generation, writer.space()),
            Err(_) => (visible.lsn, 0, self.space_at_opening),
        };
        Stats {
            collections: namings.len() as u64,
            documents: namings.iter().map(|naming| naming.documents.len()).sum(),
            file_bytes: shared.log.storage.len().unwrap_or(0),
            segment_bytes: shared.log.geometry.segment_bytes(),
            sector: shared.log.geometry.sector(),
            segments: shared.log.segments.count() as u64,
            log_end: visible.address.0,
            lsn: visible.lsn.0,
            durable_lsn: durable_lsn.0,
            superblock_generation: generation,
            index_bytes: read(&shared.catalog).memory_bytes() as u64,
            leaves_given_up: shared.leaves_given_up(),
            cache_bytes: shared.log.cache.bytes() as u64,
            cache_misses: shared.log.cache.misses(),
            pending_commits: shared.visibility.pending() as u64,
            snapshots: snapshots as u64,
            retained_versions: retained_versions as u64,
            written_bytes: calls.written_bytes.load(Ordering::Relaxed),
            writes: calls.writes.load(Ordering::Relaxed),
            syncs: calls.syncs.load(Ordering::Relaxed),
            space,
        }
    }
}
