//! Reads a checkpoint into catalog, indexes, accounts and segment table, and keeps note of which checkpoints the slots name.

use std::collections::BTreeSet;

use crate::cache::Segment;
use crate::error::{Clause, Corruption, Error, Result};
use crate::format::Lsn;
use crate::format::checkpoint::{Checkpoint, IndexEntry, Limits, PageSource};
use crate::format::superblock::CheckpointRef;
use crate::format::superblock::Superblock;
use crate::index::{Catalog, Documents, EntryLoader, Loader, Target};
use crate::log::LogEnd;
use crate::secondary::EntryLimits;
use crate::seeded::{self, Bug};
use crate::space::{Account, Accounts};
use crate::storage::FailStop;
use crate::sync::Arc;

/// A checkpoint that was read whole.
#[derive(Debug)]
pub(super) struct Loaded {
    /// Where the log stood.
    pub(super) end: LogEnd,
    pub(super) catalog: Catalog,
    pub(super) accounts: Accounts,
    /// The log segments in place, freed ones among them.
    pub(super) table: Vec<Arc<Segment>>,
    pub(super) held: HeldCheckpoint,
}

/// A checkpoint that a slot names, and the place that it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeldCheckpoint {
    pub(crate) reference: CheckpointRef,
    /// Physical indexes.
    pub(crate) segments: Vec<u32>,
    /// At most, where it was not written by this life of the store.
    pub(crate) bytes: u64,
}

/// The checkpoints that the slots name, and which of them the state in memory comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NamedCheckpoints {
    /// The newest, and the one before; none where there is none, or where its own segments cannot be told.
    named: [Option<HeldCheckpoint>; 2],
    /// Which of them was read, or written, by this life of the store.
    sound: Option<usize>,
}

impl NamedCheckpoints {
    /// `sound` was read, which the slot names in this position; none, where the state in memory comes from the log alone.
    pub(super) fn read(
        storage: &FailStop,
        slot: &Superblock,
        file_len: u64,
        sound: Option<(usize, HeldCheckpoint)>,
    ) -> Self {
        let outline_of = |reference: &CheckpointRef| outline(storage, slot, file_len, reference).ok();
        let mut named = slot.checkpoints.each_ref().map(|named| named.as_ref().and_then(outline_of));
        let sound = sound.map(|(position, held)| {
            named[position] = Some(held);
            position
        });
        NamedCheckpoints { named, sound }
    }

    /// The physical indexes that they hold.
    pub(crate) fn segments(&self) -> impl Iterator<Item = u32> {
        self.named.iter().flatten().flat_map(|held| held.segments.iter().copied())
    }

    /// The physical indexes that one of them holds: the newest at 0, the one before at 1.
    #[cfg(feature = "testing")]
    pub(crate) fn segments_of(&self, position: usize) -> Vec<u32> {
        self.named[position].as_ref().map_or_else(Vec::new, |held| held.segments.clone())
    }

    /// Both, as far as there are two.
    pub(crate) fn named(&self) -> impl Iterator<Item = &HeldCheckpoint> {
        self.named.iter().flatten()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.named.iter().flatten().map(|held| held.bytes).sum()
    }

    pub(crate) fn newest_bytes(&self) -> u64 {
        self.named[0].as_ref().map_or(0, |held| held.bytes)
    }

    /// How many segments the newest takes.
    pub(crate) fn newest_segments(&self) -> u32 {
        self.named[0].as_ref().map_or(0, |held| held.segments.len() as u32)
    }

    //= spec/space.md#p-2-5-the-one-before
    //# The checkpoint that a slot names as the one before MUST be the one that was the newest, or, where that
    //# could not be read whole at opening, the one that was read in its stead; none, where that was
    //# the creation state.
    /// The newest that is known to be good: the next one names it as the one before.
    pub(crate) fn sound(&self) -> Option<&HeldCheckpoint> {
        self.named[self.sound?].as_ref()
    }

    /// Both slots name `newest`, and what was sound until now as the one before. Returns the segments that nothing holds any more.
    pub(crate) fn publish(&mut self, newest: HeldCheckpoint) -> Vec<u32> {
        let before = self.sound().cloned();
        let held: BTreeSet<u32> = self.segments().collect();
        *self = NamedCheckpoints { named: [Some(newest), before], sound: Some(0) };
        let still: BTreeSet<u32> = self.segments().collect();
        held.difference(&still).copied().collect()
    }
}

/// The file, for who reads pages.
pub(super) struct File<'a> {
    pub(super) storage: &'a FailStop,
    pub(super) len: u64,
}

impl PageSource for File<'_> {
    fn file_len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> Result<()> {
        let have = self.storage.read_full(at, out)?;
        if have < out.len() {
            return Err(damaged(at + have as u64, "F-8.1", "the file ends within a checkpoint"));
        }
        Ok(())
    }
}

/// Which segments a checkpoint takes, without reading its trees.
fn outline(
    storage: &FailStop,
    slot: &Superblock,
    file_len: u64,
    reference: &CheckpointRef,
) -> Result<HeldCheckpoint> {
    let file = File { storage, len: file_len };
    let checkpoint = Checkpoint::open(&file, slot.geometry, &slot.lineage, reference)?;
    Ok(held(slot, reference, checkpoint.segments()))
}

fn held(slot: &Superblock, reference: &CheckpointRef, segments: &[u32]) -> HeldCheckpoint {
    let bytes = segments.len() as u64 * u64::from(slot.geometry.segment_bytes());
    HeldCheckpoint { reference: *reference, segments: segments.to_vec(), bytes }
}

/// Reads a checkpoint whole, and says what is wrong with it.
pub(crate) fn verify_checkpoint(
    storage: &FailStop,
    slot: &Superblock,
    reference: &CheckpointRef,
    page_shift: u32,
) -> Result<()> {
    load(storage, slot, storage.len()?, reference, page_shift).map(|_| ())
}

/// Reads a checkpoint whole.
pub(super) fn load(
    storage: &FailStop,
    slot: &Superblock,
    file_len: u64,
    reference: &CheckpointRef,
    page_shift: u32,
) -> Result<Loaded> {
    let file = File { storage, len: file_len };
    let mut checkpoint = Checkpoint::open(&file, slot.geometry, &slot.lineage, reference)?;
    let root_at = slot.geometry.segment_offset(reference.root_physical) + u64::from(reference.root_offset);
    let held = held(slot, reference, checkpoint.segments());
    let (accounts, table) = load_table(slot, &mut checkpoint, &held, root_at)?;
    let end = log_end(reference, &checkpoint, &table, root_at)?;
    let limits = Limits::new(slot.geometry.address(end.segment.sequence, end.offset), page_shift);
    let mut catalog = Catalog::default();
    let collections = checkpoint.catalog()?;
    let indexes = checkpoint.indexes(&collections)?;
    for collection in collections {
        let documents = Documents::new(collection.id, page_shift).with_kept(collection.kept.clone());
        let documents = Arc::new(documents);
        documents.set_largest_id((collection.next - 1) as i64);
        documents.set_newest_len(collection.count);
        let mut loader = Loader::new(&documents.index, collection.count);
        checkpoint.read_tree(&collection, limits, &mut loader)?;
        loader.finish();
        let loaded = catalog.load(collection.name, documents);
        loaded.ok_or_else(|| damaged(root_at, "F-8.5", "two collections of one name or id"))?;
    }
    for index in indexes {
        load_index(slot, &mut checkpoint, &mut catalog, index, (limits, page_shift), root_at)?;
    }
    if !seeded::is_on(Bug::CollectionIdsFromTheCatalog) {
        catalog.set_last_id(checkpoint.root().last);
    }
    catalog.kept = checkpoint.root().kept.clone();
    Ok(Loaded { end, catalog, accounts, table, held })
}

//= spec/format.md#f-8-6-segment-table-leaves
//# A reader MUST take a checkpoint for damaged when two segments have one sequence or one physical index;
//# when the arrays are out of order; when the first stretch does not begin at the first data byte with the
//# first LSN; when a stretch begins, or the segment ends, outside of the segment's data; when a segment is
//# freed above the LSN of the checkpoint, or stands where the checkpoint's list has one; and when one that
//# is not freed lies beyond the end of the file.
fn load_table<S: PageSource>(
    slot: &Superblock,
    checkpoint: &mut Checkpoint<'_, S>,
    held: &HeldCheckpoint,
    root_at: u64,
) -> Result<(Accounts, Vec<Arc<Segment>>)> {
    let own: BTreeSet<u32> = held.segments.iter().copied().collect();
    let (mut accounts, mut table) = (Accounts::default(), Vec::new());
    for entry in checkpoint.table()? {
        if own.contains(&entry.physical) {
            return Err(damaged(root_at, "F-8.6", "a log segment in the place of the checkpoint"));
        }
        let segment = Segment::from_table(&slot.lineage, entry.sequence, entry.physical, &entry.stretches);
        let first = (slot.geometry.data_start(), entry.first_lsn);
        let is_first = entry.stretches.first() == Some(&first) || seeded::is_on(Bug::StretchesAnywhere);
        let segment = segment.filter(|_| is_first);
        table.push(Arc::new(
            segment.ok_or_else(|| damaged(root_at, "F-8.6", "a log segment without a beginning"))?,
        ));
        let live = entry.live.into_iter().map(|(collection, count)| (collection, u64::from(count))).collect();
        let mut account = Account::new(entry.physical).with_live(live);
        account.end = entry.end;
        (account.records, account.bytes, account.freed) = (entry.records, entry.bytes, entry.freed);
        accounts.put(entry.sequence, account);
    }
    Ok((accounts, table))
}

//= spec/format.md#f-8-7-root-page
//# The reference MUST have the root's `lsn` as its own and as its replay start's LSN, and `log` as its replay
//# start; the last segment of the table MUST be that of `log`.
//= spec/format.md#f-8-7-root-page
//# A reader MUST take a checkpoint for damaged where that does not hold.
//= spec/format.md#f-8-10-indexes
//# A reader MUST take a checkpoint for damaged when `of` is no id of a collection in it, when an id is that of a
//# collection, that of another index, or above `last` of the root, when two indexes of a collection have one
//# name, when a collection has more than 64, when an entry is none of its definition (I-7.2), or when it has
//# another number of entries than `count`.
fn load_index<S: PageSource>(
    slot: &Superblock,
    checkpoint: &mut Checkpoint<'_, S>,
    catalog: &mut Catalog,
    index: IndexEntry,
    (limits, page_shift): (Limits, u32),
    root_at: u64,
) -> Result<()> {
    let entries = Documents::new(index.id, page_shift).with_kept(index.kept.clone());
    entries.set_newest_len(index.count);
    entries.set_unmade(index.anew);
    let longest = slot.geometry.checkpoint_entry_len_max();
    let loader = Loader::new(&entries.index, index.count);
    let mut loader = EntryLoader::new(loader, &index.definition.definition, EntryLimits::new(longest));
    checkpoint.read_index(&index, limits, &mut loader)?;
    loader.finish().map_err(|what| damaged(root_at, "F-8.10", what))?;
    let target = Target { definition: index.definition, entries: Arc::new(entries), building: None };
    catalog
        .load_index(index.of, target)
        .ok_or_else(|| damaged(root_at, "F-8.10", "an index of no collection"))
}

/// Where the log stood: the root, the reference and the table say the same.
fn log_end<S: PageSource>(
    reference: &CheckpointRef,
    checkpoint: &Checkpoint<'_, S>,
    table: &[Arc<Segment>],
    root_at: u64,
) -> Result<LogEnd> {
    let root = checkpoint.root();
    let agrees = (root.log.physical, root.log.sequence, root.log.end)
        == (reference.replay_physical, reference.replay_sequence, reference.replay_offset)
        && reference.replay_lsn == reference.lsn;
    let segment = table.last().filter(|segment| {
        agrees && (segment.physical, segment.sequence) == (root.log.physical, root.log.sequence)
    });
    let segment = segment.ok_or_else(|| damaged(root_at, "F-8.7", "the log ends in two places"))?;
    Ok(LogEnd {
        segment: Arc::clone(segment),
        offset: reference.replay_offset,
        lsn: Lsn(reference.replay_lsn.0),
        reserved: [root.reserved.next, root.reserved.after],
    })
}

fn damaged(at: u64, clause: &'static str, what: &'static str) -> Error {
    Corruption { at, clause: Clause(clause), what, expected: 0, found: 0 }.into()
}
