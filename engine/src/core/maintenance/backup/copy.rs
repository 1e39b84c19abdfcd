//! Writes the copy, and checks it.

use std::ops::ControlFlow;

use crate::error::{Error, Result};
use crate::format::SEGMENTS_START;
use crate::format::superblock::{CheckpointRef, SLOT_OFFSETS, Superblock};
use crate::options::Options;
use crate::recovery;
use crate::seeded::{self, Bug};
use crate::storage::{FailStop, Storage};
use crate::sync::Arc;

use super::super::super::{Core, open};
use super::contents::Part;
use super::earlier::{Earlier, sealed};
use super::hold::{BackupProgress, BackupReport, Hold};

/// Makes the copy that `hold` stands for on `destination`, which is empty. What `earlier` has is taken from there. The copy is whole, durable and
/// checked when this returns; where it returns an error, or was cancelled, it is not to be used.
pub(crate) fn copy_to<S: Storage + 'static>(
    hold: Hold<'_>,
    destination: &Arc<S>,
    earlier: Option<&FailStop>,
    progress: impl FnMut(&BackupProgress) -> ControlFlow<()>,
) -> Result<BackupReport> {
    let options = &hold.core.shared.options;
    let earlier = earlier.map(|storage| Earlier::open(storage, &hold.slot, options));
    let earlier = earlier.transpose().map_err(Error::of_earlier_backup)?;
    let storage = FailStop::new(Box::new(Arc::clone(destination)));
    let mut copy = Copy { hold: &hold, storage: &storage, earlier, report: BackupReport::default() };
    if copy.segments(progress)?.is_break() {
        return Ok(copy.report);
    }
    storage.sync()?;
    copy.slots()?;
    let report = copy.report;
    // The store may go on: what was copied is checked in the copy.
    drop(hold);
    check(destination, report)
}

struct Copy<'a> {
    hold: &'a Hold<'a>,
    storage: &'a FailStop,
    earlier: Option<Earlier<'a>>,
    report: BackupReport,
}

impl Copy<'_> {
    //= spec/space.md#p-10-4-from-an-earlier-backup
    //# It MUST be the same store, byte for byte within the segments, as one that takes nothing.
    /// Every segment at its own place, and zeros everywhere else.
    fn segments(
        &mut self,
        mut progress: impl FnMut(&BackupProgress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let (geometry, contents) = (self.hold.slot.geometry, &self.hold.contents);
        let bytes_total = contents.bytes(geometry);
        self.report.lsn = contents.lsn.0;
        self.report.file_bytes = contents.file_len;
        self.storage.set_len(contents.file_len)?;
        let (mut at, mut bytes_done) = (0, 0);
        for (physical, part) in &contents.segments {
            let start = geometry.segment_offset(*physical);
            self.storage.zero_fill(at, start)?;
            at = start + self.part(*physical, part, start)?;
            bytes_done += u64::from(part.len(geometry));
            if progress(&BackupProgress { bytes_done, bytes_total }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.storage.zero_fill(at, contents.file_len.max(at))?;
        Ok(ControlFlow::Continue(()))
    }

    /// Copies one segment; how many bytes of it there are.
    fn part(&mut self, physical: u32, part: &Part, start: u64) -> Result<u64> {
        let earlier = self.earlier.as_ref().filter(|earlier| earlier.has(physical, part));
        let from = earlier.map_or(&self.hold.core.shared.log.storage, |earlier| earlier.storage);
        let room = self.hold.contents.file_len.saturating_sub(start);
        let len = u64::from(part.len(self.hold.slot.geometry)).min(room) as usize;
        // What is missing is found by the check, as any damage is.
        let bytes = from.read_up_to(start, len)?;
        self.storage.write_all_at(start, &bytes)?;
        let count =
            if earlier.is_some() { &mut self.report.bytes_reused } else { &mut self.report.bytes_copied };
        *count += bytes.len() as u64;
        Ok(bytes.len() as u64)
    }

    //= spec/space.md#p-10-2-what-it-holds
    //# A writer MUST NOT copy a slot.
    /// The copy's own superblock, in both slots. Before them it is no store.
    fn slots(&mut self) -> Result<()> {
        let (contents, of) = (&self.hold.contents, &self.hold.slot);
        let random = open::random_ids(self.hold.core.shared.options.seed).1;
        let (durable_lsn, file_len, checkpoints) = (contents.lsn, contents.file_len, self.checkpoints());
        let mut slot = Superblock { clean: false, durable_lsn, file_len, checkpoints, ..of.clone() };
        slot.instance = sealed(&random, &of.instance, &slot);
        for generation in 0..2 {
            slot.generation = generation;
            self.storage.write_all_at(SLOT_OFFSETS[slot.slot()], &slot.encode())?;
            self.storage.sync()?;
        }
        Ok(())
    }

    //= spec/space.md#p-10-2-what-it-holds
    //# Where the source names another that cannot be, it MUST name the readable one twice: a single name
    //# would say that the log is complete from its creation on.
    /// The checkpoints that the copy names. Both of the store's, where both are good. Where the store has a second one that is not, the good one
    /// stands in for it: a name less would say that the log is there from its beginning on.
    fn checkpoints(&self) -> [Option<CheckpointRef>; 2] {
        let [sound, other] = self.hold.contents.checkpoints;
        if self.hold.slot.checkpoints[1].is_none() {
            return [sound, None];
        }
        let is_older = |other: &CheckpointRef| sound.is_some_and(|sound| other.lsn < sound.lsn);
        let other = other.filter(is_older);
        let Hold { core, slot, .. } = &self.hold;
        let shift = core.shared.options.check.page_shift;
        let is_readable = |other: &_| recovery::verify_checkpoint(self.storage, slot, other, shift).is_ok();
        let other = other.filter(is_readable);
        [sound, other.or(sound)]
    }
}

//= spec/space.md#p-10-2-what-it-holds
//# Before it takes its name it MUST be opened as any reader would, and every document in it read.
/// Opens the copy as anybody would, and checks every document in it and all of its log.
fn check<S: Storage + 'static>(destination: &Arc<S>, mut report: BackupReport) -> Result<BackupReport> {
    let options = Options::new().read_only(true).create(false);
    let copy = Core::open(Box::new(Arc::clone(destination)), &options)?;
    let verified = copy.verify(true)?;
    if let Some(problem) = verified.problems.into_iter().next()
        && !seeded::is_on(Bug::BackupUnchecked)
    {
        return Err(Error::Corrupt(problem));
    }
    report.documents = verified.documents;
    report.is_complete = true;
    Ok(report)
}

const _: () = assert!(SLOT_OFFSETS[1] < SEGMENTS_START, "the slots lie before the segments");
