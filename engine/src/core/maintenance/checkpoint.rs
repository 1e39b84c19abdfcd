//! Writing a checkpoint, in steps between which commits go on (spec: P-2).

use std::collections::BTreeSet;

use crate::error::{Corruption, Error, Result};
use crate::format::Lsn;
use crate::format::checkpoint::{
    CatalogEntry, IndexEntry, IndexSink, IndexSource, IndexWriter, LogPosition, OpenSegment, Output, Root,
    Table, TableRow, Written,
};
use crate::format::superblock::CheckpointRef;
use crate::log::LogEnd;
use crate::recovery::{File, HeldCheckpoint};
use crate::seeded::{self, Bug};
use crate::sync::race::{self, Race};
use crate::sync::{Arc, give_way, read};

use super::super::Core;
use super::super::shared::Shared;
use super::super::space_budget::Share;
use super::super::writer::Writer;
use super::plan::Purpose;
use base::Base;
use tree::{Item, Tree, TreeWalk};

mod base;
#[cfg(test)]
mod tests;
mod tree;

/// A checkpoint that is being written. Everything in it is as of one commit, which a snapshot holds.
#[derive(Debug)]
pub(crate) struct CheckpointJob {
    /// The end of the log then.
    end: LogEnd,
    table: Table,
    last_id: u32,
    /// Collections and indexes that are not written yet, the next one last.
    rest: Vec<(Item, TreeWalk)>,
    /// The one that is being written.
    current: Option<Tree>,
    catalog: Vec<CatalogEntry>,
    indexes: Vec<IndexEntry>,
    writer: IndexWriter,
    base: Option<Base>,
    /// Whether it was begun because something of the one before could not be read.
    is_after_damage: bool,
}

/// A checkpoint that is durable, and that no slot names yet.
#[derive(Debug)]
pub(crate) struct SealedCheckpoint {
    is_after_damage: bool,
    reference: CheckpointRef,
    written: Written,
    /// The segment that the next one may go on in.
    open: Option<OpenSegment>,
}

/// So much log is worth a sync of its own that commits need not wait for.
const SYNCED_AHEAD_MIN: u64 = 1 << 20;
fn is_worth_a_sync(unsynced: u64) -> bool {
    unsynced >= SYNCED_AHEAD_MIN
}

/// Whoever writes meanwhile as fast as the disk does is not waited for.
const SYNCS_AHEAD_MAX: usize = 4;

/// Entries written in one step.
const ENTRIES_AT_ONCE: usize = 512;

impl Core {
    /// Takes a checkpoint now. Where there is nothing to write down, none is taken.
    pub(crate) fn checkpoint(&self, purpose: Purpose) -> Result<()> {
        loop {
            let damages = self.damages();
            match self.try_checkpoint(purpose) {
                // What was found damaged while it was written, the next one does without.
                Err(Error::Corrupt(_)) if self.damages() > damages => {}
                taken => return taken,
            }
        }
    }

    /// How much is known to be damaged.
    fn damages(&self) -> usize {
        let catalog = read(&self.shared.catalog);
        let indexes = catalog.documents().filter(|entries| entries.damage().is_some()).count();
        indexes + usize::from(self.shared.opening.has_damage())
    }

    fn try_checkpoint(&self, purpose: Purpose) -> Result<()> {
        let Some(mut job) = self.begin_checkpoint(purpose)? else { return Ok(()) };
        loop {
            match self.write_checkpoint(&mut job) {
                Ok(true) => give_way(),
                Ok(false) => return self.finish_checkpoint(job),
                Err(error) => {
                    self.give_up_checkpoint(job.writer.taken())?;
                    return Err(error);
                }
            }
        }
    }

    //= spec/space.md#p-2-2-what-it-is-of
    //# When c is chosen, every commit up to c MUST be visible, and nothing pending.
    //= spec/space.md#p-2-2-what-it-is-of
    //# Catalog, id counters, document counts and segment table MUST be copied in the step that chooses c.
    /// The first step: everything placed is made durable and visible, and what the checkpoint is of is noted in one
    /// moment. None where there is no commit yet.
    pub(crate) fn begin_checkpoint(&self, purpose: Purpose) -> Result<Option<CheckpointJob>> {
        self.writer()?.check_open()?;
        let is_after_damage = self.shared.opening.has_damage();
        if is_after_damage && let Some(leaves) = &self.shared.leaves {
            leaves.name(None);
        }
        let base = self.base(purpose)?;
        if base.is_none() {
            // Before anything is written: what cannot be read ends it here.
            self.shared.read_everything()?;
        }
        let mut writer = self.writer()?;
        if writer.end() == Lsn::ZERO {
            return Ok(None);
        }
        if is_after_damage && !seeded::is_on(Bug::DamagedLeafNamed) {
            writer.checkpoints.fall_back(self.shared.opening.sound_since());
        }
        (!seeded::is_on(Bug::PlaceBeforeSlot))
            .then(|| writer.ensure_incarnation(Share::Reserve))
            .transpose()?;
        writer.give_up_unpublished()?;
        if self.shared.visibility.has_pending() && !seeded::is_on(Bug::CheckpointOfUnwritten) {
            writer.sync()?;
            assert!(!self.shared.visibility.has_pending(), "what is durable is visible");
        }
        let snapshot = self.shared.register();
        let end = writer.appender.end().clone();
        let durable = writer.durable();
        let mut collections: Vec<_> = read(&self.shared.catalog).current().cloned().collect();
        collections.sort_by_key(|naming| std::cmp::Reverse(naming.documents.id));
        let collections = collections.iter().map(|naming| {
            (Item::of_collection(naming), TreeWalk::new(Arc::clone(&snapshot), Arc::clone(naming)))
        });
        let indexes = read(&self.shared.catalog).current_indexes().into_iter().rev();
        let indexes = indexes.map(|index| {
            (Item::of_index(&index), TreeWalk::new(Arc::clone(&snapshot), Arc::clone(&index.naming)))
        });
        // By itself: `open_segment` below reads the catalog too, and a thread must not wait for a lock that
        // it holds.
        let last_id = read(&self.shared.catalog).last_id;
        let open = writer.open_segment(base.is_some());
        let index_writer =
            IndexWriter::new(self.shared.log.geometry, &writer.superblock.lineage, end.lsn, durable, open);
        let job = CheckpointJob {
            table: writer.table(),
            last_id,
            rest: indexes.chain(collections).collect(),
            current: None,
            catalog: Vec::new(),
            indexes: Vec::new(),
            writer: index_writer.leaving(writer.sparse_segments()),
            base,
            is_after_damage,
            end,
        };
        drop(writer);
        // What has ended by now is not in it.
        let ids: BTreeSet<u32> = job.rest.iter().map(|(item, _)| item.tree().id).collect();
        self.shared.read_all_but(|id| ids.contains(&id))?;
        Ok(Some(job))
    }

    /// One step: writes some more entries. Whether there are more.
    pub(crate) fn write_checkpoint(&self, job: &mut CheckpointJob) -> Result<bool> {
        if !job.is_after_damage {
            self.check_newest()?;
        }
        let mut sink = self;
        for _ in 0..ENTRIES_AT_ONCE {
            if job.current.is_none() {
                let Some(next) = job.rest.pop() else { return Ok(false) };
                let base = (job.base.as_mut(), self.shared.opening.lsn);
                job.current = Some(Tree::begin(next, &job.writer, base));
            }
            let tree = job.current.as_mut().expect("just made sure of");
            let mut out = Output { writer: &mut job.writer, sink: &mut sink };
            if tree.step(&self.shared, job.base.as_ref(), &mut out)? {
                continue;
            }
            let Tree { item, writer, count, .. } = job.current.take().expect("just made sure of");
            self.check_count(item.tree().count, count)?;
            let tree = writer.finish(&mut out)?;
            match item {
                Item::Collection(entry) => job.catalog.push(CatalogEntry { tree, ..entry }),
                Item::Index(entry) => job.indexes.push(IndexEntry { tree, ..entry }),
            }
        }
        Ok(true)
    }

    /// Replay counts by what records name, which it cannot hold against what is unread (spec: ). Nobody
    /// would read a checkpoint with another count than it has keys.
    fn check_count(&self, expected: u64, found: u64) -> Result<()> {
        if expected == found {
            return Ok(());
        }
        let what = "records since the checkpoint name other versions than it has";
        Err(self.newest_is_damaged("R-9.2", what)?.comparing(expected, found).into())
    }

    /// What is wrong with the newest checkpoint that the slot names.
    fn newest_is_damaged(&self, clause: &'static str, what: &'static str) -> Result<Corruption> {
        let newest = self.writer()?.superblock.checkpoints[0];
        let at = newest.map_or(0, |newest| newest.root.at(self.shared.log.geometry));
        Ok(Corruption::new(at, clause, what))
    }

    /// The last steps: the rest of its records, a sync, and then both slots name it.
    pub(crate) fn finish_checkpoint(&self, job: CheckpointJob) -> Result<()> {
        let sealed = self.seal_checkpoint(job)?;
        let slots = if seeded::is_on(Bug::CheckpointInOneSlot) { 1 } else { 2 };
        for _ in 0..slots {
            self.name_checkpoint(&sealed)?;
            self.sync_slot()?;
        }
        self.publish_checkpoint(sealed)
    }

    /// The rest of its records, and a sync of all of them.
    pub(crate) fn seal_checkpoint(&self, job: CheckpointJob) -> Result<SealedCheckpoint> {
        let CheckpointJob { mut end, table, last_id, catalog, indexes, mut writer, is_after_damage, .. } =
            job;
        if seeded::is_on(Bug::ReplayFromTheRoot) {
            end = LogEnd { lsn: end.lsn, ..self.writer()?.appender.end().clone() };
        }
        let LogEnd { segment, offset, lsn, reserved } = end;
        let log = LogPosition { physical: segment.physical, sequence: segment.sequence, end: offset };
        let kept = read(&self.shared.catalog).kept.clone();
        let root =
            Root { lsn, last: last_id, log, reserved, segments: Vec::new(), catalog, indexes, table, kept };
        let sealed = writer.finish(&mut &*self, root).and_then(|written| {
            self.sync_checkpoint()?;
            if !is_after_damage {
                self.check_newest()?;
            }
            let reference = log.checkpoint(lsn, written.root);
            Ok(SealedCheckpoint { is_after_damage, reference, written, open: writer.open() })
        });
        if sealed.is_err() {
            self.give_up_checkpoint(writer.taken())?;
        }
        sealed
    }

    //= spec/recovery.md#r-5-7-leaves-on-demand
    //# It MUST NOT name one that takes over anything when an unread record was found damaged while it was written.
    /// The base would be named in the place of what was found damaged.
    fn check_newest(&self) -> Result<()> {
        if !self.shared.opening.has_damage() || seeded::is_on(Bug::DamageUnderWayIgnored) {
            return Ok(());
        }
        let what = "a checkpoint was found damaged while another was written";
        Err(self.newest_is_damaged("R-5.7", what)?.into())
    }

    //= spec/format.md#f-8-8-completeness
    //# A writer MUST sync all records of a checkpoint, and every log byte up to its LSN, before it writes a
    //# slot that names it.
    /// One sync for the records, and for the log up to what they are of.
    fn sync_checkpoint(&self) -> Result<()> {
        if seeded::is_on(Bug::CheckpointNotSynced) {
            return Ok(());
        }
        let is_written = seeded::is_on(Bug::CheckpointOfUnwritten);
        self.sync_ahead()?;
        let log = if is_written { None } else { self.begin_sync()? };
        let (file_len, cuts) = {
            let writer = self.writer()?;
            (writer.file_len, writer.cuts)
        };
        self.shared.log.storage.sync()?;
        if let Some(log) = log {
            self.end_sync(log)?;
        }
        let mut writer = self.writer()?;
        if writer.cuts == cuts {
            writer.synced_len = writer.synced_len.max(file_len);
        }
        if race::is_on(Race::CheckpointSyncCoversLater) {
            let written = writer.appender.written();
            writer.appender.synced(written);
            self.shared.publish_pending(writer.durable());
        }
        Ok(())
    }

    /// Where the file has grown, the sync to come holds the writer until the growth is durable, and with it
    /// all
    /// else that was written. So as much of that as can be is made durable first, beside commits. Nobody is
    /// told
    /// of it: what lies in the growth counts as durable once the slot names that (spec: ).
    fn sync_ahead(&self) -> Result<()> {
        let (mut end, mut unsynced) = {
            let writer = self.writer()?;
            let behind = if writer.is_growth_named() { 0 } else { writer.log_since_checkpoint() };
            (writer.appender.end_address().0, behind)
        };
        for _ in 0..SYNCS_AHEAD_MAX {
            if !is_worth_a_sync(unsynced) {
                break;
            }
            self.shared.log.storage.sync()?;
            let (now, _) = self.log_end()?;
            (end, unsynced) = (now.0, now.0.saturating_sub(end));
        }
        Ok(())
    }

    /// The slot that is not the newest names the checkpoint; [`Core::sync_slot`] comes next. Commits go on
    /// beside it.
    pub(crate) fn name_checkpoint(&self, sealed: &SealedCheckpoint) -> Result<()> {
        self.writer()?.name_checkpoint(sealed)
    }

    /// A sync behind a slot that was written.
    pub(crate) fn sync_slot(&self) -> Result<()> {
        let generation = self.writer()?.superblock.generation;
        if !(seeded::is_on(Bug::SlotsInOneSync) && generation.is_multiple_of(2)) {
            self.shared.log.storage.sync()?;
        }
        self.writer()?.slot_synced(generation);
        Ok(())
    }

    //= spec/space.md#p-4-1-checkpoints
    //# A place that a checkpoint held MUST NOT be given out before both slots are durable that name none
    //# which
    //# holds it.
    /// Both slots name it: of what the one before the last held, that is free which neither of the two holds.
    pub(crate) fn publish_checkpoint(&self, sealed: SealedCheckpoint) -> Result<()> {
        let mut writer = self.writer()?;
        let SealedCheckpoint { is_after_damage, reference: newest, written, .. } = sealed;
        writer.published = writer.superblock.checkpoints;
        writer.work.checkpoint_written_bytes += written.bytes;
        let held = HeldCheckpoint { reference: newest, segments: written.segments, is_counted: true };
        let released = writer.checkpoints.publish(held);
        let opening = &self.shared.opening;
        let named = writer.checkpoints.named().map(|held| held.reference).collect();
        // Before a place is given out from which what is unread was to be made good.
        opening.checkpoint_named(named, is_after_damage);
        writer.release(released);
        writer.budget.is_stale = true;
        writer.reclaim();
        drop(writer);
        self.shared.note_named(&newest);
        Ok(())
    }

    /// What was taken for a checkpoint that does not come to be is free again: no slot names it.
    fn give_up_checkpoint(&self, segments: &[u32]) -> Result<()> {
        let mut writer = self.writer()?;
        segments.iter().for_each(|segment| writer.appender.free.put(*segment));
        writer.budget.is_stale = true;
        Ok(())
    }
}

impl Writer {
    /// The log segments in place.
    fn table(&self) -> Table {
        let current = self.shared.current_collections();
        let (mut table, to_u32) = (Table::default(), |count| u32::try_from(count).unwrap_or(u32::MAX));
        for (sequence, account) in self.accounts.iter() {
            let Some(segment) = self.shared.log.segments.get(sequence) else { continue };
            let row = TableRow {
                sequence,
                physical: account.physical,
                first_lsn: segment.first_lsn(),
                end: account.end.max(self.shared.log.geometry.data_start()),
                freed: account.freed,
                records: to_u32(account.records),
                bytes: to_u32(account.bytes),
            };
            let stretches = segment.stretches().iter().skip(1);
            let live = account.live().iter().filter(|(collection, _)| current.contains(collection));
            table.push(
                row,
                stretches.map(|stretch| (stretch.offset, stretch.first_lsn)),
                live.map(|(collection, count)| (*collection, to_u32(*count))),
            );
        }
        table
    }

    //= spec/space.md#p-2-4-publication
    //# The slots' durable LSN MUST be at or above c.
    //= spec/space.md#p-2-5-the-one-before
    //# The checkpoint that a slot names as the one before MUST be the one that was the newest, or, where that
    //# could not be read whole at opening or later, the one that was read in its stead; none,
    //# where that was the creation state.
    /// One slot names it, and as the one before that which was sound until now (spec: P-2.4).
    fn name_checkpoint(&mut self, sealed: &SealedCheckpoint) -> Result<()> {
        let newest = sealed.reference;
        if seeded::is_on(Bug::CheckpointFreedBeforeSlots) {
            let sound = self.checkpoints.sound().cloned();
            let released = sound.map(|sound| self.checkpoints.publish(sound));
            self.release(released.unwrap_or_default());
        }
        let sound = match self.superblock.checkpoints[0] {
            named if seeded::is_on(Bug::UnreadableCheckpointNamed) => named,
            _ if seeded::is_on(Bug::CheckpointNamedAlone) => None,
            _ => self.checkpoints.sound().map(|held| held.reference),
        };
        let is_early = seeded::is_on(Bug::CheckpointNotSynced) || seeded::is_on(Bug::CheckpointOfUnwritten);
        assert!(self.durable() >= newest.lsn || is_early, "the log is durable up to what a checkpoint is of");
        // Whether or not the slot comes to be written, what it names is not written over.
        if self.open_index.is_none() || !seeded::is_on(Bug::OpenSegmentNotKept) {
            self.open_index = sealed.open;
        }
        self.checkpoints.hold(sealed.written.segments.keys().copied());
        self.place_slot(|slot| slot.checkpoints = [Some(newest), sound])
    }

    //= spec/space.md#p-2-3-how-it-is-written
    //# A checkpoint that is given up leaves free the segments that it took.
    //= spec/space.md#p-4-1-checkpoints
    //# A place that a checkpoint held MUST NOT be given out before both slots are durable that name none
    //# which holds it.
    /// Gives up a checkpoint whose slot found no room. Both slots name again what they named before.
    fn give_up_unpublished(&mut self) -> Result<()> {
        if !self.checkpoints.has_unpublished() {
            return Ok(());
        }
        let published = self.published;
        for _ in 0..2 {
            self.write_slot(|slot| slot.checkpoints = published)?;
        }
        // It may be among the segments that are free now.
        self.open_index = None;
        let released = self.checkpoints.drop_unpublished();
        self.release(released);
        Ok(())
    }

    //= spec/space.md#p-2-3-how-it-is-written
    //# A writer SHOULD begin a checkpoint that takes nothing over (P-2.8) in another segment where a free
    //# place
    //# lies before the open one.
    /// The segment in which the next checkpoint goes on, if it does. One that is written whole does not where
    /// it
    /// would go on from there into another one: it would hold a segment more than it needs by itself, which a
    /// full
    /// file has no room for.
    fn open_segment(&self, takes_over: bool) -> Option<OpenSegment> {
        let geometry = self.shared.log.geometry;
        let end =
            |open: &OpenSegment| u64::from(geometry.round_up_sector(open.end)) + self.next_checkpoint_bytes();
        let has_room = |open: &OpenSegment| end(open) <= geometry.segment_bytes().into();
        self.open_index
            .filter(|open| takes_over || open.physical < self.appender.free.lowest() && has_room(open))
    }

    //= spec/space.md#p-2-3-how-it-is-written
    //# A segment MUST be free (P-4) when it becomes the open one, and MUST NOT be among those that the
    //# segment table of the checkpoint names.
    /// A free segment for the records of a checkpoint, within the file.
    fn allocate(&mut self) -> Result<u32> {
        let physical = self.appender.free.take_for_good();
        let physical = physical.ok_or(Error::LimitReached { what: "physical segments of one file" })?;
        self.budget.is_stale = true;
        let grown = self.grow_to(self.shared.log.geometry.segment_end(physical));
        grown.inspect_err(|_| self.appender.free.put(physical)).map(|()| physical)
    }
}

impl IndexSource for &Core {
    fn file_len(&self) -> u64 {
        // Of a file that has no length, nothing can be read.
        self.shared.log.storage.len().unwrap_or_default()
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> Result<()> {
        let Shared { log, opening, .. } = &*self.shared;
        File { storage: &log.storage, slot: &opening.slot, len: self.file_len() }.read_at(at, out)
    }
}

/// Where the records go: the writer is held for a place, and not for what is written there.
impl IndexSink for &Core {
    fn allocate(&mut self) -> Result<u32> {
        self.writer()?.allocate()
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.shared.log.storage.write_all_at(at, bytes)
    }
}
