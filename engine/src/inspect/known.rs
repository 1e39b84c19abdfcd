//! What recovery makes of the file: how opening it ends, which records are live, and who holds which segment.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use crate::cache::{Segment, SegmentTable};
use crate::error::{Error, Result};
use crate::format::body::ChunkList;
use crate::format::record::{self, PEEK_LEN, peek_len};
use crate::format::superblock::{CheckpointRef, Superblock};
use crate::format::{Geometry, LogAddress, Lsn};
use crate::index::{Documents, Entries, Entry, KeyRange, Layout, PrimaryIndex};
use crate::recovery::{self, Extent, File, Followed, Plan};
use crate::secondary::IndexDefinition;
use crate::space::Account;
use crate::storage::FailStop;
use crate::sync::{Arc, read};

use super::slots::Root;
use super::trees::{TreeView, held_by};

/// How opening the store ends.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// It opens: the log ends where nothing follows, and nothing claims that it went on.
    Opens,
    /// It is refused.
    Refused(Error),
}

/// What recovery makes of the file.
#[derive(Debug, Clone)]
pub struct RecoveryView {
    /// How opening the store ends.
    pub outcome: Outcome,
    /// Where the log goes on no further; none where it cannot be followed at all.
    pub end: Option<LogEndView>,
    /// The highest LSN that the superblock, or anything behind the end of the log, states to have been durable.
    pub claim: Lsn,
    /// The commits that were read behind the checkpoint, or behind the creation of the store.
    pub commits: u64,
}

/// Where the log goes on no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogEndView {
    /// The last commit.
    pub lsn: Lsn,
    /// In the file.
    pub at: u64,
    /// Physical index of the segment.
    pub physical: u32,
    /// Its sequence.
    pub sequence: u64,
    /// The offset in it.
    pub offset: u32,
    /// The physical indexes reserved for its successor, and the one after.
    pub reserved: [Option<u32>; 2],
}

/// A checkpoint that the superblock names.
#[derive(Debug, Clone)]
pub struct CheckpointView {
    /// What the superblock says of it.
    pub reference: CheckpointRef,
    /// The physical indexes that it holds, in order; none where its root is damaged.
    pub segments: Vec<u32>,
    /// Its trees: those of collections first, then those of indexes, by id; none where its root is damaged.
    pub trees: Vec<TreeView>,
    /// Why it cannot be read whole, if it cannot.
    pub problem: Option<Error>,
}

/// A collection as the end of the log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionView {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// How many documents it has.
    pub documents: u64,
}

/// An index as the end of the log has it.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexView {
    /// Its id.
    pub id: u32,
    /// The id of its collection.
    pub of: u32,
    /// What it is of.
    pub definition: IndexDefinition,
}

/// What is known of the file as a whole.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) recovery: RecoveryView,
    pub(super) checkpoints: Vec<CheckpointView>,
    pub(super) collections: Vec<CollectionView>,
    pub(super) indexes: Vec<IndexView>,
    /// What the log says; none where it cannot be followed.
    pub(super) log: Option<KnownLog>,
}

/// What the log says, as far as it goes.
#[derive(Debug)]
pub(super) struct KnownLog {
    pub(super) end: LogEndView,
    /// Sequence and account of the segment at a physical index.
    by_physical: BTreeMap<u32, (u64, Account)>,
    segments: SegmentTable,
    /// The addresses of the records that are live, in order.
    live: Vec<LogAddress>,
    /// What was freed at or below it may be given away (spec: ).
    pub(super) reuse_floor: Lsn,
}

/// Recovery is asked twice: for its verdict, and for the state as far as the log goes.
const PLAN: Plan = Plan { read_unit: 256 << 10, layout: Layout::new(12), extent: Extent::Whole };

impl Known {
    pub(super) fn find(storage: &FailStop, root: &Root) -> Result<Known> {
        let slot = &root.superblock;
        let outcome = match &root.refusal {
            Some(error) => Outcome::Refused(error.clone()),
            None => {
                let segments = SegmentTable::new(slot.geometry);
                match File::new(storage, slot).and_then(|file| recovery::recover(file, &segments, PLAN)) {
                    Ok(_) => Outcome::Opens,
                    Err(error) => Outcome::Refused(error),
                }
            }
        };
        let mut known = Known {
            recovery: RecoveryView { outcome, end: None, claim: slot.durable_lsn, commits: 0 },
            checkpoints: slot.checkpoints.iter().flatten().map(|named| view(storage, slot, named)).collect(),
            collections: Vec::new(),
            indexes: Vec::new(),
            log: None,
        };
        let segments = SegmentTable::new(slot.geometry);
        // What keeps it from being followed is what keeps the store from being opened, and told there.
        let file = File::new(storage, slot);
        if let Ok(followed) = file.and_then(|file| recovery::follow(file, &segments, PLAN)) {
            known.take(storage, slot, segments, followed)?;
        }
        Ok(known)
    }

    fn take(
        &mut self,
        storage: &FailStop,
        slot: &Superblock,
        segments: SegmentTable,
        followed: Followed,
    ) -> Result<()> {
        let Followed { recovered, claim, end_at } = followed;
        let end = LogEndView {
            lsn: recovered.end.lsn,
            at: end_at,
            physical: recovered.end.segment.physical,
            sequence: recovered.end.segment.sequence,
            offset: recovered.end.offset,
            reserved: recovered.end.reserved,
        };
        let accounts = recovered.replay.accounts.iter();
        let by_physical = accounts.map(|(sequence, account)| (account.physical, (sequence, account.clone())));
        let by_physical = by_physical.collect();
        let (mut live, mut chunked) = (Vec::new(), BTreeSet::new());
        let reader = RecordReader { storage, geometry: slot.geometry, segments: &segments };
        let catalog = read(&recovered.replay.catalog);
        for naming in catalog.current() {
            let documents = naming.documents.newest_len();
            let (id, name) = (naming.documents.id, naming.name.clone());
            self.collections.push(CollectionView { id, name, documents });
            for_each_entry(&naming.documents, |entry| {
                live.push(entry.address());
                if entry.is_chunked() {
                    chunked.insert(entry.address());
                }
            });
        }
        let indexes = catalog.current_indexes().into_iter();
        self.indexes.extend(indexes.map(|index| {
            let definition = index.definition.definition.clone();
            IndexView { id: index.entries().id, of: index.of, definition }
        }));
        // Each once: any number of entries of a hostile checkpoint may lead to one record.
        for address in chunked {
            live.extend(reader.chunks(address)?);
        }
        self.collections.sort_by_key(|collection| collection.id);
        live.sort_unstable();
        self.recovery.end = Some(end);
        self.recovery.claim = claim;
        self.recovery.commits = recovered.commits;
        let reuse_floor = slot.reuse_floor();
        self.log = Some(KnownLog { end, by_physical, segments, live, reuse_floor });
        Ok(())
    }

    /// Whether the store opens, so that what does not count is known not to.
    pub(super) fn opens(&self) -> bool {
        matches!(self.recovery.outcome, Outcome::Opens)
    }

    /// Whether a checkpoint that the superblock names holds this segment.
    pub(super) fn is_checkpoint_segment(&self, physical: u32) -> bool {
        self.checkpoints.iter().any(|checkpoint| checkpoint.segments.contains(&physical))
    }

    /// Whether one that can be read whole holds this segment.
    pub(super) fn is_sound_checkpoint(&self, physical: u32) -> bool {
        let mut sound = self.checkpoints.iter().filter(|checkpoint| checkpoint.problem.is_none());
        sound.any(|checkpoint| checkpoint.segments.contains(&physical))
    }
}

impl KnownLog {
    /// Sequence and account of the log segment at a physical index.
    pub(super) fn at_physical(&self, physical: u32) -> Option<(u64, &Account)> {
        self.by_physical.get(&physical).map(|(sequence, account)| (*sequence, account))
    }

    pub(super) fn segment(&self, sequence: u64) -> Option<Arc<Segment>> {
        self.segments.get(sequence)
    }

    /// Whether a live record begins from `from` on and before `to`.
    pub(super) fn has_live_within(&self, from: LogAddress, to: LogAddress) -> bool {
        let next = self.live.partition_point(|live| *live < from);
        self.live.get(next).is_some_and(|live| *live < to)
    }

    pub(super) fn is_live(&self, address: LogAddress) -> bool {
        self.live.binary_search(&address).is_ok()
    }
}

fn view(storage: &FailStop, slot: &Superblock, named: &CheckpointRef) -> CheckpointView {
    let (segments, trees) = held_by(storage, slot, named).unwrap_or_default();
    CheckpointView {
        reference: *named,
        segments,
        trees,
        problem: recovery::verify_checkpoint(storage, slot, named, PLAN.layout.page_shift).err(),
    }
}

fn for_each_entry(documents: &Documents, mut each: impl FnMut(Entry)) {
    const AT_ONCE: usize = 1024;
    let mut range = KeyRange::all();
    let mut page = Entries::default();
    loop {
        documents.index.page(&range, false, AT_ONCE, &mut page);
        let Some(last) = page.last_key() else { return };
        range.from = Bound::Excluded(last.to_key());
        page.items().iter().for_each(|item| each(item.value));
        page.clear();
    }
}

/// Reads single records by their addresses.
struct RecordReader<'a> {
    storage: &'a FailStop,
    geometry: Geometry,
    segments: &'a SegmentTable,
}

impl RecordReader<'_> {
    /// The addresses in the chunk list at `address`; none where it cannot be read.
    fn chunks(&self, address: LogAddress) -> Result<BTreeSet<LogAddress>> {
        let (sequence, offset) = self.geometry.split(address);
        let Some(segment) = self.segments.get(sequence) else { return Ok(BTreeSet::new()) };
        let at = self.geometry.segment_offset(segment.physical) + u64::from(offset);
        let room = (self.geometry.segment_bytes() - offset) as usize;
        let prefix = self.read(at, room.min(PEEK_LEN))?;
        let Some(len) = peek_len(&prefix).filter(|len| *len <= room) else { return Ok(BTreeSet::new()) };
        let bytes = self.read(at, len)?;
        let record = record::parse(&bytes, segment.stretch_at(offset).seed.at(offset)).ok();
        let list = record.filter(|record| record.chunked).and_then(|record| ChunkList::parse(record.body));
        Ok(list.map(|list| list.addresses().collect()).unwrap_or_default())
    }

    fn read(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        let have = self.storage.read_full(at, &mut bytes)?;
        bytes.truncate(have);
        Ok(bytes)
    }
}
