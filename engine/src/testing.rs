//! What checks ask of a store that its users have no need of: steps of one call at a time, copies, and where things stand in the file.

use std::ops::Range;

use crate::core::{
    CheckpointJob, Core, Effort, Pressure, Profile, Purpose, SealedCheckpoint, Stepped, SyncJob, Upkeep,
};
use crate::db::Db;
use crate::document::{Document, Key, KeyRef, RawDocument, Value};
use crate::error::{Error, Result};
use crate::index::{Entries, KeyRange, MixedIndex, PrimaryIndex};
use crate::secondary::{EntryLimits, EntryList, IndexDefinition, MapFault};
use crate::storage::Storage;

impl Db {
    /// Begins a sync, as a waiting caller does: what is placed is handed over, and the disk not asked yet. None where all of it is
    /// durable already. For checks that look at what happens while a sync is under way, without a second thread.
    ///
    /// # Errors
    /// As [`Db::flush`].
    pub fn begin_sync(&self) -> Result<Option<SyncUnderWay>> {
        let job = self.core().begin_sync()?;
        Ok(job.map(|job| SyncUnderWay { db: self.clone(), job }))
    }

    /// Begins a checkpoint, of what is visible now. None where there is no commit to write down. Nobody else takes a step of maintenance before
    /// it is finished.
    ///
    /// # Errors
    /// As [`Db::checkpoint`].
    pub fn begin_checkpoint(&self) -> Result<Option<CheckpointUnderWay>> {
        let job = self.core().begin_checkpoint(Purpose::Opening)?;
        Ok(job.map(|job| CheckpointUnderWay { db: self.clone(), job }))
    }

    /// Takes the step of maintenance that the store's own thread would take beside those who write. Whether there was one.
    ///
    /// # Errors
    /// As [`Db::maintain`].
    pub fn maintain_beside_writes(&self) -> Result<bool> {
        Ok(self.store().step(Effort::Keep)? == Stepped::Done)
    }

    /// Whether a caller that writes must take a step of maintenance now, and whether it must take more than one.
    ///
    /// # Errors
    /// [`Error::Poisoned`].
    pub fn must_writers_help(&self) -> Result<[bool; 2]> {
        let pressure = self.core().pressure()?;
        Ok([pressure != Pressure::None, pressure == Pressure::Much])
    }

    /// What the commits since this was asked last would have a store do that has a thread of its own: whether they wake it, and whether the
    /// caller looks, too, how much of the work it must do itself. Without that thread nobody else asks.
    ///
    /// # Errors
    /// [`Error::Poisoned`].
    pub fn upkeep(&self) -> Result<[bool; 2]> {
        let upkeep = self.core().writer()?.upkeep();
        Ok([upkeep != Upkeep::Nothing, upkeep == Upkeep::Check])
    }

    /// A copy that shares nothing with this store and goes on from its present state on `storage`, a copy of its disk. For
    /// exhaustive checks, which try many futures of one past.
    pub fn fork(&self, storage: impl Storage + 'static) -> Db {
        Self::over(self.core().fork(Box::new(storage)))
    }

    /// One number for what this store has in memory: two forks of one store with the same one, on disks with the same one, go on alike.
    pub fn fingerprint(&self) -> u64 {
        self.core().fingerprint()
    }

    /// Which bytes of the file the segments of the newest checkpoint take, and of the one before, as the slots name them.
    pub fn checkpoint_places(&self) -> [Vec<Range<u64>>; 2] {
        self.core().checkpoint_places()
    }

    /// Which bytes of the file this store holds: its slots, checkpoints and log segments. What lies elsewhere is left over from before.
    pub fn held_places(&self) -> Vec<Range<u64>> {
        self.core().held_places()
    }

    /// Where in the file the record of a document's newest version stands, in bytes; none where there is no such document.
    pub fn record_offset(&self, collection: &str, key: &Key) -> Option<u64> {
        self.core().record_offset(collection, key)
    }

    /// The keys of a collection, or of one of its indexes, as far as they are in memory. For checks of what [`Db::verify`] finds.
    ///
    /// # Errors
    /// [`Error::UnknownCollection`], [`Error::UnknownIndex`].
    pub fn keys_in_memory(&self, collection: &str, index: Option<&str>) -> Result<Vec<Key>> {
        self.with_index(collection, index, |index| {
            let mut entries = Entries::default();
            index.page(&KeyRange::all(), false, usize::MAX, &mut entries);
            entries.iter().map(|(key, _)| key.to_key()).collect()
        })
    }

    /// Takes a key out of what [`keys_in_memory`](Self::keys_in_memory) names, behind the back of the log; or gives it the place in the file that
    /// `like` has there. Whether there was such a place.
    ///
    /// # Errors
    /// [`Error::UnknownCollection`], [`Error::UnknownIndex`].
    pub fn mistake(
        &self,
        collection: &str,
        index: Option<&str>,
        key: &Key,
        like: Option<&Key>,
    ) -> Result<bool> {
        self.with_index(collection, index, |index| match like {
            None => index.remove(key.as_ref()).is_some(),
            Some(like) => index.get(like.as_ref()).map(|entry| index.set(key.as_ref(), entry)).is_some(),
        })
    }

    fn with_index<R>(
        &self,
        collection: &str,
        index: Option<&str>,
        work: impl FnOnce(&MixedIndex) -> R,
    ) -> Result<R> {
        let shared = &self.core().shared;
        let snapshot = shared.register();
        let naming = shared.naming_in(snapshot.state(), collection)?;
        let Some(index) = index else { return Ok(work(&naming.documents.index)) };
        let index = shared.index_in(snapshot.state(), &naming, index)?;
        Ok(work(&index.entries().index))
    }

    /// The names of all collections, with the ids by which [`Change`](crate::Change) calls them.
    pub fn collection_ids(&self) -> Vec<(String, u32)> {
        self.core().collection_ids()
    }
}

/// A sync that was begun with [`Db::begin_sync`].
#[derive(Debug)]
pub struct SyncUnderWay {
    db: Db,
    job: SyncJob,
}

impl SyncUnderWay {
    /// Has the disk do its part, and shows what is durable then.
    ///
    /// # Errors
    /// As [`Db::flush`].
    pub fn finish(self) -> Result<()> {
        self.ask_disk()?;
        self.end()
    }

    /// Has the disk do its part. Nothing is shown yet.
    ///
    /// # Errors
    /// As [`Db::flush`].
    pub fn ask_disk(&self) -> Result<()> {
        self.core().shared.sync_storage()
    }

    /// Shows what is durable, the disk having done its part.
    ///
    /// # Errors
    /// As [`Db::flush`].
    pub fn end(self) -> Result<()> {
        self.core().end_sync(self.job)
    }

    /// The same sync in `db`, a copy of the store.
    #[must_use]
    pub fn fork(&self, db: &Db) -> SyncUnderWay {
        SyncUnderWay { db: db.clone(), job: self.job }
    }

    fn core(&self) -> &Core {
        self.db.core()
    }
}

/// A checkpoint that was begun with [`Db::begin_checkpoint`]. One that is dropped keeps its place in the file until the store is opened again.
#[derive(Debug)]
pub struct CheckpointUnderWay {
    db: Db,
    job: CheckpointJob,
}

impl CheckpointUnderWay {
    /// Writes some more of it. Whether there is more.
    ///
    /// # Errors
    /// As [`Db::checkpoint`].
    pub fn step(&mut self) -> Result<bool> {
        self.db.core().write_checkpoint(&mut self.job)
    }

    /// Writes what is left, and has the slots name it.
    ///
    /// # Errors
    /// As [`Db::checkpoint`].
    pub fn finish(mut self) -> Result<()> {
        while self.step()? {}
        self.db.core().finish_checkpoint(self.job)
    }

    /// Writes what is left, and syncs all of it: then it is to be named.
    ///
    /// # Errors
    /// As [`Db::checkpoint`].
    pub fn seal(mut self) -> Result<CheckpointToName> {
        while self.step()? {}
        let sealed = self.db.core().seal_checkpoint(self.job)?;
        Ok(CheckpointToName { db: self.db, sealed })
    }
}

/// A checkpoint that is whole and durable. It is to be named and synced twice, and then published; commits go on in between.
#[derive(Debug)]
pub struct CheckpointToName {
    db: Db,
    sealed: SealedCheckpoint,
}

impl CheckpointToName {
    /// Has the slot that is not the newest name it.
    ///
    /// # Errors
    /// As [`Db::checkpoint`].
    pub fn name(&self) -> Result<()> {
        self.db.core().name_checkpoint(&self.sealed)
    }

    /// Syncs that slot.
    ///
    /// # Errors
    /// As [`Db::checkpoint`].
    pub fn sync(&self) -> Result<()> {
        self.db.core().sync_slot()
    }

    /// Gives back what only the checkpoint before the last needed: both slots name this one.
    ///
    /// # Errors
    /// As [`Db::checkpoint`].
    pub fn publish(self) -> Result<()> {
        self.db.core().publish_checkpoint(self.sealed)
    }
}

/// How often maintenance decides what, over so many rounds of figures that are drawn at random: `draw` gives a number below what it is given.
pub fn decisions_of_maintenance(rounds: u64, draw: &mut dyn FnMut(u64) -> u64) -> Vec<(&'static str, u64)> {
    Profile::of(rounds, draw)
}

/// The definition of an index that a map of a file is (F-8.10). For checks that hold the coding against vectors.
///
/// # Errors
/// `Decode` where it is none, or requires what this version does not know.
pub fn index_definition(map: &Document) -> Result<IndexDefinition> {
    match IndexDefinition::decode(map) {
        Ok((definition, _)) => Ok(definition),
        Err(MapFault::Malformed(what)) => Err(Error::Decode { at: 0, what }),
        Err(MapFault::Unsupported) => Err(Error::Decode { at: 0, what: "a definition of a newer version" }),
    }
}

/// The entries that a document under a key gives an index, in order, where tuples of more bytes than `tuple_limit` are long.
///
/// # Errors
/// `LimitReached`, `Decode`.
pub fn index_entries(
    definition: &IndexDefinition,
    tuple_limit: usize,
    key: KeyRef<'_>,
    document: &RawDocument<'_>,
) -> Result<Vec<Vec<u8>>> {
    let mut found = EntryList::default();
    definition.entries(*document, key, entry_limits(tuple_limit), &mut found)?;
    Ok(found.iter().map(<[u8]>::to_vec).collect())
}

/// The key and the tuple that the bytes of an entry say; no tuple where it is long.
///
/// # Errors
/// `Decode`.
pub fn index_entry(
    definition: &IndexDefinition,
    tuple_limit: usize,
    entry: &[u8],
) -> Result<(Key, Option<Vec<Option<Value>>>)> {
    let parsed = definition.parse(entry, entry_limits(tuple_limit));
    let parsed = parsed.map_err(|what| Error::Decode { at: 0, what })?;
    Ok((parsed.key, parsed.tuple))
}

fn entry_limits(tuple: usize) -> EntryLimits {
    EntryLimits { tuple, ..EntryLimits::NONE }
}
