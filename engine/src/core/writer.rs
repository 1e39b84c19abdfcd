//! The writer: one commit at a time, each step saying what has become true.

use crate::error::{Error, Result};
use crate::format::Lsn;
use crate::format::superblock::{SLOT_OFFSETS, Superblock};
use crate::index::{Entry, Naming, PrimaryIndex};
use crate::log::{Action, Appender, Batch, Change, Mark};
use crate::options::Durability;
use crate::recovery::zero_fill;
use crate::seeded::{self, Bug};
use crate::sync::{Arc, write};
use crate::txn::Applying;

use super::Core;

/// All that only writers need.
#[derive(Debug)]
pub(crate) struct Writer {
    appender: Appender,
    /// The newest valid slot.
    superblock: Superblock,
    /// Whether this life of the store has an incarnation of its own yet.
    is_open: bool,
    highest_incarnation: u32,
    /// The file is this long, and filled with zeros where nothing else stands.
    file_len: u64,
    /// It was this long at the last sync.
    synced_len: u64,
    /// The commit in the making; kept for its buffers.
    pub(super) batch: Batch,
    /// What the name of the last commit's collection meant: the next one mostly goes to the same.
    pub(super) last_naming: Option<Arc<Naming>>,
    /// Bytes of a commit that found no room may stand behind the end of the log: it is sealed before it goes on.
    unsealed: bool,
    closed: bool,
}

impl Writer {
    pub(super) fn new(
        appender: Appender,
        superblock: Superblock,
        highest_incarnation: u32,
        file_len: u64,
    ) -> Self {
        Writer {
            appender,
            superblock,
            is_open: false,
            highest_incarnation,
            file_len,
            synced_len: file_len,
            batch: Batch::default(),
            last_naming: None,
            unsealed: false,
            closed: false,
        }
    }

    #[cfg(feature = "testing")]
    pub(super) fn fork(&self) -> Self {
        Writer {
            appender: self.appender.clone(),
            superblock: self.superblock.clone(),
            is_open: self.is_open,
            highest_incarnation: self.highest_incarnation,
            file_len: self.file_len,
            synced_len: self.synced_len,
            batch: Batch::default(),
            last_naming: None,
            unsealed: self.unsealed,
            closed: self.closed,
        }
    }

    pub(super) fn durable(&self) -> Lsn {
        self.appender.durable()
    }

    pub(super) fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// Makes sure that a commit may be begun: an incarnation is taken, counts are left, the end of the log is sealed.
    pub(super) fn begin(&mut self, core: &Core) -> Result<()> {
        if self.closed {
            return Err(Error::Closed);
        }
        core.log.storage.check_writable()?;
        self.batch.clear();
        if self.unsealed || self.is_open && !self.appender.has_counts_left() {
            // spec. A new incarnation in place: nothing of the old one is counted behind its opening frame.
            self.sync(core)?;
            self.take_incarnation(core)
        } else if !self.is_open {
            self.take_incarnation(core)
        } else {
            Ok(())
        }
    }

    /// Commits what is in `self.batch`, and returns its LSN.
    pub(super) fn commit(&mut self, core: &Core, durability: Durability) -> Result<Lsn> {
        if self.batch.is_empty() {
            return Ok(self.appender.end().lsn);
        }
        let mut batch = std::mem::take(&mut self.batch);
        let mark = self.appender.mark();
        let placed = self.appender.place(&mut batch).and_then(|()| self.grow(core));
        if let Err(error) = placed {
            // Nothing is written and nothing is seen: refusing is free.
            if !seeded::is_on(Bug::PlacementNotTakenBack) {
                self.appender.revert(mark);
            }
            self.batch = batch;
            return Err(error);
        }
        self.show_placed(core, &mark);
        let applied = seeded::is_on(Bug::IndexBeforeWrite);
        if applied {
            apply(core, &batch);
        }
        match self.carry_out(core, durability) {
            Ok(()) if applied => Ok(batch.lsn),
            Ok(()) => {
                let lsn = batch.lsn;
                apply(core, &batch);
                self.batch = batch;
                Ok(lsn)
            }
            Err(error) => {
                if matches!(error, Error::StorageFull { .. }) {
                    // The commit is taken back. Some of it may be in the file: so nothing is placed before the end of the
                    // log is sealed under a new incarnation.
                    if !seeded::is_on(Bug::FullDiskCommitKept) {
                        self.appender.revert(mark);
                    }
                    self.unsealed = true;
                    self.batch = batch;
                }
                Err(error)
            }
        }
    }

    /// Does for the commits placed so far what their class asks for.
    fn carry_out(&mut self, core: &Core, durability: Durability) -> Result<()> {
        match durability {
            Durability::Synced if seeded::is_on(Bug::SyncSkipped) => self.write_out(core),
            Durability::Synced => self.sync(core),
            Durability::Written => self.write_out(core),
            Durability::Buffered if self.appender.pending_bytes() >= core.options.flush_bytes => {
                self.write_out(core)
            }
            Durability::Buffered => Ok(()),
        }
    }

    /// Everything before this call is durable when it returns.
    pub(super) fn flush(&mut self, core: &Core) -> Result<()> {
        if self.closed {
            return Err(Error::Closed);
        }
        core.log.storage.check_writable()?;
        self.sync(core)
    }

    /// Ends this life of the store (spec: ).
    pub(super) fn close(&mut self, core: &Core) -> Result<()> {
        if self.closed {
            return Ok(());
        }
        let closed = self.flush(core).and_then(|()| {
            if self.unsealed {
                self.take_incarnation(core)?;
            }
            if self.is_open { self.write_slot(core, |slot| slot.clean = true) } else { Ok(()) }
        });
        // A full disk is no end: what waits in memory can still be written once there is room.
        self.closed = !matches!(closed, Err(Error::StorageFull { .. }));
        closed
    }

    /// Writes out what is pending. Whether the file then stands for the state that readers see: not after a failure, nor
    /// while bytes of a commit that was taken back may stand behind the end of the log.
    pub(super) fn hand_over(&mut self, core: &Core) -> Result<bool> {
        if core.log.storage.check_writable().is_err() || self.unsealed {
            return Ok(false);
        }
        if !self.closed {
            self.write_out(core)?;
        }
        Ok(true)
    }

    /// Hands every placed frame to the operating system.
    fn write_out(&mut self, core: &Core) -> Result<()> {
        for extent in self.appender.pending() {
            let at = core.log.geometry.segment_offset(extent.segment.physical) + u64::from(extent.offset);
            core.log.storage.write_all_at(at, &extent.bytes)?;
        }
        self.appender.written_out();
        let end = self.appender.end_address();
        core.log.tail.seal(end, end, &core.log.cache);
        Ok(())
    }

    /// Makes every placed commit durable (spec: ).
    fn sync(&mut self, core: &Core) -> Result<()> {
        let (end, length_known) = (self.appender.end().lsn, self.superblock.file_len == self.file_len);
        if end == self.appender.durable() && length_known {
            return Ok(());
        }
        if self.appender.needs_watermark() {
            let mark = self.appender.mark();
            if let Err(error) = self.appender.place_watermark().and_then(|()| self.grow(core)) {
                self.appender.revert(mark);
                return Err(error);
            }
            self.show_placed(core, &mark);
        }
        let early = seeded::is_on(Bug::SyncBeforeWrite);
        if early {
            core.log.storage.sync()?;
        }
        self.name_growth(core)?;
        self.write_out(core)?;
        if !early {
            core.log.storage.sync()?;
        }
        self.synced_len = self.file_len;
        self.appender.synced();
        Ok(())
    }

    /// Makes a grown length durable, and names it in a slot: before anything is synced that lies in the growth, and while
    /// nothing is lost if there is no room for it (spec: F-2.4, R-7.2).
    fn name_growth(&mut self, core: &Core) -> Result<()> {
        if self.superblock.file_len == self.file_len || seeded::is_on(Bug::GrowthNotNamed) {
            return Ok(());
        }
        if !seeded::is_on(Bug::GrowthNamedBeforeSync) {
            core.log.storage.sync()?;
        }
        self.synced_len = self.file_len;
        self.write_slot(core, |_| {})
    }

    /// Writes the slot that is not the newest, and syncs (spec: F-3.5).
    fn write_slot(&mut self, core: &Core, change: impl FnOnce(&mut Superblock)) -> Result<()> {
        self.write_slot_unsynced(core, change)?;
        core.log.storage.sync()
    }

    fn write_slot_unsynced(&mut self, core: &Core, change: impl FnOnce(&mut Superblock)) -> Result<()> {
        let mut slot = self.superblock.clone();
        let step = if seeded::is_on(Bug::SlotWrittenInPlace) { 2 } else { 1 };
        let generation = slot.generation.checked_add(step);
        slot.generation =
            generation.ok_or(Error::LimitReached { what: "superblock generations of one file" })?;
        slot.durable_lsn = slot.durable_lsn.max(self.appender.durable());
        slot.file_len = self.synced_len;
        slot.clean = false;
        change(&mut slot);
        core.log.storage.write_all_at(SLOT_OFFSETS[slot.slot()], &slot.encode())?;
        self.superblock = slot;
        Ok(())
    }

    /// Begins a life of the log of its own: an incarnation above all others, then the opening frame (spec: ).
    pub(super) fn take_incarnation(&mut self, core: &Core) -> Result<()> {
        if seeded::is_on(Bug::IncarnationKept) && self.superblock.incarnation > 0 {
            self.is_open = true;
            return Ok(());
        }
        if seeded::is_on(Bug::IncarnationFromTheSlotAlone) {
            self.highest_incarnation = self.appender.end().lsn.incarnation();
        }
        let incarnation = self.highest_incarnation.max(self.superblock.incarnation).checked_add(1);
        let incarnation = incarnation.ok_or(Error::LimitReached { what: "incarnations of one file" })?;
        self.write_slot(core, |slot| slot.incarnation = incarnation)?;
        self.highest_incarnation = incarnation;
        let mark = self.appender.mark();
        let opened = self.appender.place_opening(incarnation).and_then(|()| self.grow(core)).and_then(|()| {
            self.show_placed(core, &mark);
            self.write_out(core)?;
            if seeded::is_on(Bug::OpeningFrameNotSynced) { Ok(()) } else { core.log.storage.sync() }
        });
        if let Err(error) = opened {
            // The next attempt takes yet another incarnation, so nothing is given twice.
            self.appender.revert(mark);
            return Err(error);
        }
        self.synced_len = self.file_len;
        self.appender.synced();
        (self.is_open, self.unsealed) = (true, false);
        core.visibility.apply().publish(self.appender.end().lsn, self.appender.end_address());
        Ok(())
    }

    /// Lets the file grow until everything placed has room, so that a full disk shows before anything is written (spec: F-2.4).
    fn grow(&mut self, core: &Core) -> Result<()> {
        let needed = self.appender.file_len_needed();
        while self.file_len < needed {
            let to = core.log.geometry.next_len(self.file_len);
            assert!(to > self.file_len, "growing makes longer");
            if core.options.max_file_bytes.is_some_and(|max| to > max) {
                return Err(Error::StorageFull {
                    operation: format!("growth of the file to {to} bytes, which is beyond max_file_bytes"),
                });
            }
            core.log.storage.set_len(to)?;
            zero_fill(&core.log.storage, self.file_len, to)?;
            self.file_len = to;
        }
        Ok(())
    }

    /// Puts what was placed since `mark` where readers can find it, once an address leads them there.
    fn show_placed(&mut self, core: &Core, mark: &Mark) {
        for (segment, offset, bytes) in self.appender.placed_since(mark) {
            if !mark.ends_in(segment) {
                core.log.segments.put(Arc::clone(segment));
            }
            core.log.tail.put(segment, core.log.geometry.address(segment.sequence, offset), bytes);
        }
    }
}

/// Changes the index and the catalog and makes the commit visible. It cannot fail, and readers see all of it or nothing.
fn apply(core: &Core, batch: &Batch) {
    let mut applying = core.visibility.apply();
    for change in &batch.changes {
        if seeded::is_on(Bug::CommitVisibleInPieces) {
            applying.publish(batch.lsn, change.address);
            std::thread::yield_now();
            applying = core.visibility.apply();
        }
        match &change.action {
            Action::Put | Action::Delete => apply_document(&mut applying, batch, change),
            Action::Catalog(change_of_catalog, begins) => {
                let mut catalog = write(&core.catalog);
                let fits = catalog.carry_out(change_of_catalog, begins.clone(), change.address);
                assert!(
                    fits.is_some(),
                    "the one writer checked {change_of_catalog:?} against this very catalog"
                );
                catalog.purge(&applying.states());
            }
        }
    }
    applying.publish(batch.lsn, batch.end);
}

fn apply_document(applying: &mut Applying<'_>, batch: &Batch, change: &Change) {
    let documents = change.documents.as_ref().expect("a document has a collection");
    let key = batch.key(change).expect("a document has a key that was encoded here");
    if applying.must_retain()
        && let Some((entry, birth)) = change.replaces
    {
        applying.retain(documents.id, key.to_key(), entry, birth, change.address);
    }
    let before = match change.action {
        Action::Delete => documents.index.remove(key),
        _ => documents.index.set(key, Entry::new(change.address, false)),
    };
    assert_eq!(before, change.replaces.map(|(entry, _)| entry), "one writer at a time changes the index");
    match (&change.action, before) {
        (Action::Delete, Some(_)) => documents.set_len(documents.len() - 1),
        (Action::Put, None) => documents.set_len(documents.len() + 1),
        _ => {}
    }
    if let (Action::Put, crate::document::KeyRef::Int(id)) = (&change.action, key) {
        documents.note_key(id);
    }
}
