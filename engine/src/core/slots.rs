//! Writing superblock slots.

use crate::error::{Error, Result};
use crate::format::superblock::{SLOT_LEN, SLOT_OFFSETS, Slot, Superblock, parse_slot};
use crate::seeded::{self, Bug};

use super::writer::Writer;

impl Writer {
    //= spec/versions.md#c-3-1-a-file-of-a-newer-minor-version
    //# A writer MUST NOT lower the minor version, or change a feature mask, in the slots that it writes.
    //= spec/format.md#f-3-5-writing-a-slot
    //# A writer MUST write only the slot that is not the newest valid one, with a generation one higher.
    //= spec/format.md#f-3-5-writing-a-slot
    //# A writer MUST complete a sync between any two slot writes.
    //= spec/format.md#f-3-5-writing-a-slot
    //# A writer MUST set a slot's durable LSN to one whose sync has already returned success before the slot
    //# is written, and MUST NOT let it or the incarnation be lower than in the newest valid slot.
    //= spec/format.md#f-3-5-writing-a-slot
    //# A writer MUST NOT write the content of an invalid slot back under a fresh checksum.
    /// Writes the slot that is not the newest (spec: F-3.5). A sync is to follow: [`Writer::slot_synced`] is told of it.
    pub(super) fn place_slot(&mut self, change: impl FnOnce(&mut Superblock)) -> Result<()> {
        if self.slot_unsynced {
            // Whoever wrote it is waiting for a sync without the writer, and may find this one done in its stead.
            self.shared.log.storage.sync()?;
            self.slot_synced(self.superblock.generation);
        }
        self.mend_newest_slot()?;
        let mut slot = self.superblock.clone();
        let step = if seeded::is_on(Bug::SlotWrittenInPlace) { 2 } else { 1 };
        let generation = slot.generation.checked_add(step);
        slot.generation =
            generation.ok_or(Error::LimitReached { what: "superblock generations of one file" })?;
        let is_overstated = seeded::is_on(Bug::SlotOverstated);
        let durable = if is_overstated { self.appender.end().lsn } else { self.appender.durable() };
        slot.durable_lsn = slot.durable_lsn.max(durable);
        slot.file_len = self.synced_len;
        slot.clean = false;
        change(&mut slot);
        self.shared.log.storage.write_all_at(SLOT_OFFSETS[slot.slot()], &slot.encode())?;
        self.superblock = slot;
        self.slot_unsynced = true;
        Ok(())
    }

    //= spec/format.md#f-3-5-writing-a-slot
    //# Before it writes a slot, a writer MUST read the other one, and where that is not as it was written,
    //# write it anew from what it knows, and sync.
    /// The newest slot is the only one while the other is written. One that the disk has damaged, or refuses to read, is no longer the newest
    /// valid one, so that writing it again keeps the order of slots.
    fn mend_newest_slot(&self) -> Result<()> {
        let (storage, index) = (&self.shared.log.storage, self.superblock.slot());
        let mut found = [0; SLOT_LEN];
        let is_there = storage.read_full(SLOT_OFFSETS[index], &mut found).is_ok();
        let is_whole = matches!(parse_slot(&found, index), Slot::Valid(slot) if *slot == self.superblock);
        if is_there && is_whole || seeded::is_on(Bug::SlotNotReadBack) {
            return Ok(());
        }
        storage.write_all_at(SLOT_OFFSETS[index], &self.superblock.encode())?;
        storage.sync()
    }

    /// A sync that began after the slot of this generation was written has returned.
    pub(super) fn slot_synced(&mut self, generation: u64) {
        if self.superblock.generation == generation {
            self.slot_unsynced = false;
            self.named_len = self.superblock.file_len;
        }
    }

    /// Writes the slot that is not the newest, and syncs.
    pub(super) fn write_slot(&mut self, change: impl FnOnce(&mut Superblock)) -> Result<()> {
        self.place_slot(change)?;
        self.shared.log.storage.sync()?;
        self.slot_synced(self.superblock.generation);
        Ok(())
    }
}
