//! Reads a checkpoint into catalog, indexes, accounts and segment table, and keeps note of which checkpoints
//! the slots name.

use std::collections::{BTreeMap, BTreeSet};

use crate::cache::Segment;
use crate::error::{Corruption, Error, Result};
use crate::format::checkpoint::{Table, TableEntry, TableRow, TreeOf, references};
use crate::format::index_record::Reference;
use crate::format::round_up_8;
use crate::format::superblock::CheckpointRef;
use crate::format::superblock::Superblock;
use crate::index::{Catalog, Documents, Layout, Origin, Target};
use crate::log::LogEnd;
use crate::seeded::{self, Bug};
use crate::space::{Account, Accounts};
use crate::storage::FailStop;
use crate::sync::Arc;

use super::file::File;

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
    /// The physical indexes that it holds, and how many bytes of each are its own: all, until they are
    /// counted.
    pub(crate) segments: BTreeMap<u32, u64>,
    pub(crate) is_counted: bool,
}

impl HeldCheckpoint {
    /// These are its records.
    pub(crate) fn count(&mut self, references: impl Iterator<Item = Reference>) {
        self.segments.values_mut().for_each(|bytes| *bytes = 0);
        for reference in references {
            *self.segments.entry(reference.physical).or_default() += u64::from(round_up_8(reference.len));
        }
        self.is_counted = true;
    }

    fn bytes(&self) -> u64 {
        self.segments.values().sum()
    }
}

/// The checkpoints that the slots name, and which of them the state in memory comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NamedCheckpoints {
    /// The newest, and the one before; none where there is none, or where its root cannot be read.
    named: [Option<HeldCheckpoint>; 2],
    /// Which of them was read, or written, by this life of the store.
    sound: Option<usize>,
    /// The segments of one that was sealed since: a slot may name it before both do, or for want of room.
    unpublished: BTreeSet<u32>,
    /// What one may hold whose root could not be read, though nothing says that it is damaged.
    doubtful: BTreeSet<u32>,
}

impl NamedCheckpoints {
    /// `sound` was read, which the slot names in this position; none, where the state in memory comes from
    /// the log alone.
    pub(super) fn read(file: File<'_>, sound: Option<(usize, HeldCheckpoint)>) -> Self {
        let mut checkpoints = NamedCheckpoints::default();
        if let Some((position, held)) = sound {
            checkpoints.named[position] = Some(held);
            checkpoints.sound = Some(position);
        }
        let slot = file.slot;
        for (named, reference) in checkpoints.named.iter_mut().zip(&slot.checkpoints) {
            let Some(reference) = reference.as_ref().filter(|_| named.is_none()) else { continue };
            match file.checkpoint(reference) {
                Ok(checkpoint) => *named = Some(held(slot, reference, checkpoint.places())),
                Err(Error::Corrupt(_)) => {}
                Err(_) if seeded::is_on(Bug::UnreadableRootHoldsNothing) => {}
                Err(_) => checkpoints.doubtful = (0..slot.geometry.segments_within(slot.file_len)).collect(),
            }
        }
        checkpoints
    }

    /// The physical indexes that they hold, and the one that a slot may name.
    pub(crate) fn segments(&self) -> BTreeSet<u32> {
        let named = self.named().flat_map(|held| held.segments.keys());
        named.chain(&self.unpublished).chain(&self.doubtful).copied().collect()
    }

    //= spec/recovery.md#r-8-1-what-holds-a-place
    //# Where the root of a checkpoint that it names cannot be read, and is not known to be damaged, every index
    //# within `file_len` that nothing else holds MUST count as held by that checkpoint.
    /// Enters what may be held into `held`.
    pub(super) fn hold_what_is_doubtful(&mut self, held: &mut BTreeSet<u32>) {
        self.doubtful.retain(|physical| held.insert(*physical));
    }

    /// A slot is about to name a checkpoint that has these segments.
    pub(crate) fn hold(&mut self, segments: impl Iterator<Item = u32>) {
        self.unpublished.extend(segments);
    }

    pub(crate) fn has_unpublished(&self) -> bool {
        !self.unpublished.is_empty()
    }

    /// No slot names any but these. Returns the segments that nothing holds any more.
    pub(crate) fn drop_unpublished(&mut self) -> Vec<u32> {
        let held = self.segments();
        self.unpublished.clear();
        held.difference(&self.segments()).copied().collect()
    }

    /// How many of them both hold.
    pub(crate) fn shared_segments(&self) -> u32 {
        let [Some(newest), Some(before)] = &self.named else { return 0 };
        before.segments.keys().filter(|physical| newest.segments.contains_key(physical)).count() as u32
    }

    /// The newest at 0, the one before at 1.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn at(&self, position: usize) -> Option<&HeldCheckpoint> {
        self.named[position].as_ref()
    }

    /// Which of them the state in memory comes from: 0 for the newest, 1 for the one before; none where it
    /// comes from the log alone.
    pub(crate) fn sound_position(&self) -> Option<usize> {
        self.sound
    }

    /// Something that opening left unread could not be read later. `since` has it, if one was written since that
    /// has; else the one before the newest had it, or the log alone.
    pub(crate) fn fall_back(&mut self, since: Option<CheckpointRef>) {
        let is_it = |held: &Option<HeldCheckpoint>| held.as_ref().map(|held| held.reference) == since;
        self.sound = match since {
            Some(_) => self.named.iter().position(is_it).or(self.sound),
            None => self.sound.map(|_| 1).filter(|before| self.named[*before].is_some()),
        };
    }

    /// Both, as far as there are two.
    pub(crate) fn named(&self) -> impl Iterator<Item = &HeldCheckpoint> {
        self.named.iter().flatten()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.named().map(HeldCheckpoint::bytes).sum()
    }

    pub(crate) fn newest_bytes(&self) -> u64 {
        self.named[0].as_ref().map_or(0, HeldCheckpoint::bytes)
    }

    /// How many bytes the newest has at most, also where it shares a segment: its root is what it ends with.
    pub(crate) fn newest_bytes_max(&self, segment_bytes: u32) -> u64 {
        self.named[0].as_ref().map_or(0, |held| {
            let root = held.reference.root;
            let before = held.segments.len().saturating_sub(1) as u64 * u64::from(segment_bytes);
            held.bytes().min(before + u64::from(root.offset + root.len))
        })
    }

    /// How many segments the newest takes.
    pub(crate) fn newest_segments(&self) -> u32 {
        self.named[0].as_ref().map_or(0, |held| held.segments.len() as u32)
    }

    //= spec/space.md#p-2-5-the-one-before
    //# The checkpoint that a slot names as the one before MUST be the one that was the newest, or, where that
    //# could not be read whole at opening or later, the one that was read in its stead; none,
    //# where that was the creation state.
    /// The newest that is known to be good: the next one names it as the one before.
    pub(crate) fn sound(&self) -> Option<&HeldCheckpoint> {
        self.named[self.sound?].as_ref()
    }

    //= spec/space.md#p-2-8-what-is-taken-over
    //# There is none unless the newest of them is the one that it will name as the one before (P-2.5).
    /// The one that the next may take over leaves from.
    pub(crate) fn base(&self) -> Option<&HeldCheckpoint> {
        let [Some(newest), Some(before)] = &self.named else { return None };
        let is_newest_sound = self.sound == Some(0) || seeded::is_on(Bug::TakenOverAfterDamage);
        let base = if seeded::is_on(Bug::LeavesOfTheNewest) { newest } else { before };
        // A slot of a backup may name one twice.
        (is_newest_sound && before.reference != newest.reference).then_some(base)
    }

    /// Both, as far as there are two, to be counted.
    pub(crate) fn named_mut(&mut self) -> impl Iterator<Item = &mut HeldCheckpoint> {
        self.named.iter_mut().flatten()
    }

    /// The segments of which they hold less than half.
    pub(crate) fn sparse(&self, segment_bytes: u32) -> BTreeSet<u32> {
        let mut bytes = BTreeMap::new();
        for (physical, own) in self.named().flat_map(|held| &held.segments) {
            *bytes.entry(*physical).or_insert(0) += own;
        }
        bytes.retain(|_, bytes| *bytes < u64::from(segment_bytes) / 2);
        bytes.into_keys().collect()
    }

    /// Both slots name `newest`, and what was sound until now as the one before. Returns the segments that
    /// nothing holds any more.
    pub(crate) fn publish(&mut self, newest: HeldCheckpoint) -> Vec<u32> {
        let before = self.sound().cloned();
        self.hold(self.segments().into_iter());
        (self.named, self.sound) = ([Some(newest), before], Some(0));
        self.doubtful.clear();
        self.drop_unpublished()
    }
}

fn held(slot: &Superblock, reference: &CheckpointRef, segments: &[u32]) -> HeldCheckpoint {
    let segment_bytes = u64::from(slot.geometry.segment_bytes());
    let segments = segments.iter().map(|physical| (*physical, segment_bytes)).collect();
    HeldCheckpoint { reference: *reference, segments, is_counted: false }
}

/// Reads a checkpoint whole, and says what is wrong with it.
pub(crate) fn verify_checkpoint(
    storage: &FailStop,
    slot: &Superblock,
    reference: &CheckpointRef,
    page_shift: u32,
) -> Result<()> {
    load(File::new(storage, slot)?, reference, (Layout::new(page_shift), Extent::Whole)).map(|_| ())
}

/// A record to which both checkpoints refer that the slot names, by its place in the file.
pub(crate) fn find_shared_record(storage: &FailStop, slot: &Superblock) -> Result<Option<u64>> {
    let [Some(newest), Some(before)] = &slot.checkpoints else { return Ok(None) };
    let file = File::new(storage, slot)?;
    // A slot of a backup may name one twice.
    if newest == before {
        return Ok(None);
    }
    let places = |reference: &CheckpointRef| -> Result<BTreeSet<u64>> {
        let records = references(&mut file.checkpoint(reference)?)?;
        Ok(records.iter().map(|record| record.at(slot.geometry)).collect())
    };
    let newest = places(newest)?;
    Ok(places(before)?.intersection(&newest).next().copied())
}

/// How much of a checkpoint is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    Whole,
    /// The root. The rest is read when it is asked for (spec: ).
    Root,
}

//= spec/format.md#f-8-10-indexes
//# A reader MUST take a checkpoint for damaged when `of` is no id of a collection in it, when an id is that
//# of a collection, that of another index, or above `last` of the root, when two indexes of a collection have
//# one name, when a collection has more than 64, when an entry is none of its definition (I-7.2), or when it
//# has another
//# number of entries than `count`.
/// Reads a checkpoint.
pub(super) fn load(
    file: File<'_>,
    reference: &CheckpointRef,
    (layout, extent): (Layout, Extent),
) -> Result<Loaded> {
    let slot = file.slot;
    let mut checkpoint = file.checkpoint(reference)?;
    let root_at = reference.root.at(slot.geometry);
    let held = held(slot, reference, checkpoint.places());
    let place = checkpoint.tree_place();
    let (root, trees) = checkpoint.parts();
    let (accounts, table) = load_table(slot, &root.table);
    let last = table.last().expect("a root was checked when it was read");
    let CheckpointRef { replay_offset: offset, replay_lsn: lsn, .. } = *reference;
    let end = LogEnd { segment: Arc::clone(last), offset, lsn, reserved: root.reserved };
    let mut load_tree = |tree: TreeOf<'_>, documents: &Documents| -> Result<()> {
        let origin = Origin::new(tree, *reference, place.clone(), layout.page_shift);
        documents.begin_unread(origin, trees.pages(tree)?, tree.count);
        if extent == Extent::Whole { documents.read_whole(trees) } else { Ok(()) }
    };
    let mut catalog = Catalog::default();
    for collection in &root.catalog {
        let documents = Documents::new(collection.id, layout).with_kept(collection.kept.clone());
        let documents = Arc::new(documents);
        documents.set_largest_id((collection.next - 1) as i64);
        documents.set_newest_len(collection.count);
        load_tree(collection.into(), &documents)?;
        let loaded = catalog.load(collection.name.clone(), documents);
        loaded.ok_or(Corruption::new(root_at, "F-8.5", "two collections of one name or id"))?;
    }
    for index in &root.indexes {
        let entries = Documents::new(index.id, layout).with_kept(index.kept.clone());
        entries.set_newest_len(index.count);
        entries.set_made_anew(index.anew);
        let definition = Arc::clone(&index.definition);
        load_tree(index.into(), &entries)?;
        let target = Target { definition, entries: Arc::new(entries), building: None };
        let loaded = catalog.load_index(index.of, target);
        loaded.ok_or(Corruption::new(root_at, "F-8.10", "an index of no collection"))?;
    }
    if !seeded::is_on(Bug::CollectionIdsFromTheCatalog) {
        catalog.last_id = root.last;
    }
    catalog.kept = root.kept.clone();
    Ok(Loaded { end, catalog, accounts, table, held })
}

fn load_table(slot: &Superblock, table: &Table) -> (Accounts, Vec<Arc<Segment>>) {
    let segment = |entry: TableEntry<'_>| {
        let TableRow { sequence, physical, first_lsn, .. } = entry.row;
        // spec: F-8.6. The first stretch is not stored.
        let segment = Segment::new(&slot.lineage, slot.geometry, sequence, physical, first_lsn);
        let more = |segment: Segment, (offset, lsn)| segment.with_stretch(&slot.lineage, offset, lsn);
        Arc::new(entry.stretches().fold(segment, more))
    };
    let account = |entry: TableEntry<'_>| {
        let TableRow { sequence, physical, end, freed, records, bytes, .. } = entry.row;
        let live = entry.live().map(|(collection, count)| (collection, u64::from(count))).collect();
        let mut account = Account::new(physical).with_live(live);
        (account.end, account.freed) = (end, freed);
        (account.records, account.bytes) = (records.into(), bytes.into());
        (sequence, account)
    };
    (Accounts::of(table.iter().map(account)), table.iter().map(segment).collect())
}
