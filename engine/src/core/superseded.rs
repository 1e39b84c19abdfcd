//! What a change supersedes: the version that it replaces, and that version's chunks.

use crate::document::KeyRef;
use crate::error::{Error, Result};
use crate::format::LogAddress;
use crate::format::body::ChunkList;
use crate::format::record::Record;
use crate::index::{Birth, Documents, Entry};
use crate::log::{Action, Batch, Change, Replaces};
use crate::seeded::{self, Bug};

use super::shared::Shared;

impl Shared {
    /// What a change of a key supersedes whose newest version is at `entry`.
    pub(super) fn replaces(&self, entry: Entry) -> Result<Replaces> {
        // Whoever holds a state from after the move, now or later, has the version by its place alone: most need no look at the record.
        let birth = if entry.is_relocated() && self.visibility.is_held_below(entry.address()) {
            self.birth(entry)?
        } else {
            Birth::At(entry.address())
        };
        Ok(Replaces::Version(entry, birth))
    }

    /// Notes in `batch` where the chunks stand of what its changes supersede. A list that is damaged is none: its document can still be
    /// replaced and deleted, and its chunks are found dead when they are cleaned.
    pub(super) fn find_superseded_chunks(&self, batch: &mut Batch) -> Result<()> {
        let chunked = |change: &Change| match change.replaces {
            Replaces::Version(entry, _) if entry.is_chunked() && !change.is_moot => Some(entry),
            _ => None,
        };
        for number in 0..batch.changes.len() {
            let is_moved = matches!(batch.changes[number].action, Action::Relocate(_));
            let Some(entry) = chunked(&batch.changes[number]).filter(|_| !is_moved) else { continue };
            match self.chunks_of(entry) {
                Ok(chunks) => batch.superseded.extend(chunks.into_iter().map(|chunk| (number, chunk))),
                Err(Error::Corrupt(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Where the chunks of the document at `entry` stand.
    pub(super) fn chunks_of(&self, entry: Entry) -> Result<Vec<LogAddress>> {
        if !entry.is_chunked() {
            return Ok(Vec::new());
        }
        let found = self.log.find(entry.address())?;
        let record = self.log.parse(&found, entry.address())?;
        let list = self.chunk_list(entry.address(), record.collection, &record)?;
        Ok(list.addresses().collect())
    }

    /// The chunks that the record at `address` lists. A list that no writer makes (spec: F-6.7) is damaged: what would be
    /// written of its chunks has no room in a record.
    pub(super) fn chunk_list<'r>(
        &self,
        address: LogAddress,
        collection: u32,
        record: &Record<'r>,
    ) -> Result<ChunkList<'r>> {
        let room = self.log.geometry.record_len_max() / 2;
        let is_of_writers = |list: &ChunkList<'_>| {
            list.count() * size_of::<LogAddress>() <= room && list.addresses().all(|at| at <= LogAddress::MAX)
        };
        let list = ChunkList::parse(record.body).filter(|list| record.chunked && is_of_writers(list));
        list.ok_or_else(|| self.wrong_record(address, collection, record))
    }

    //= spec/transactions.md#t-2-10-versions
    //# A `replace_if` or `delete_if` MUST be refused as `VersionMismatch` unless the newest version of the
    //# document is the one given.
    /// Refuses unless the version at `newest` is the one that the caller has seen (spec: T-2.10).
    pub(super) fn check_version(
        &self,
        documents: &Documents,
        key: KeyRef<'_>,
        newest: Option<Entry>,
        expected: u64,
    ) -> Result<()> {
        let found = newest.map(|entry| self.locate(documents.id, key, entry)).transpose()?;
        match found.map(|found| found.lsn().0) {
            Some(version) if version == expected || seeded::is_on(Bug::VersionNotCompared) => Ok(()),
            found => Err(Error::VersionMismatch { expected, found }),
        }
    }
}
