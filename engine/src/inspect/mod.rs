//! A file as its layout, for who looks at it: superblock slots, segments, frames, records, index records, and where recovery stops and why.
//!
//! The file is only read, and not locked: whoever uses it is not hindered, and what is shown may then be in the midst of a change. It may be
//! damaged, or anything: what cannot be told is shown as such, and only a file that was no store at all is an error. No byte is taken apart
//! here; that is the business of the room `format`.
//!
//! | file | job |
//! |---|---|
//! | `slots` | the two superblock slots, and the one by which the rest is read |
//! | `known` | what recovery makes of the file: how opening it ends, which records are live, who holds which segment |
//! | `segment` | one segment: its state, and what stands in it |
//! | `frames` | the frames of a log segment, and which of them count |
//! | `index_records` | the index records of an index segment |
//! | `trees` | the trees of a checkpoint |
//! | `extent` | what each byte is used for |
//!
//! Memory is bounded by the index of the store and one segment; time by the file, since no more than a multiple of a segment's length is
//! ever put under checksums in it.

mod budget;
mod extent;
mod frames;
mod index_records;
mod known;
mod segment;
mod slots;
#[cfg(all(test, feature = "testing"))]
mod tests;
mod trees;

pub use extent::{Extent, Use};
pub use frames::{Fate, FrameView, RecordView, Standing};
pub use index_records::IndexRecordView;
pub use known::{CheckpointView, CollectionView, IndexView, LogEndView, Outcome, RecoveryView};
pub use segment::{SegmentState, SegmentView};
pub use slots::{SlotState, SlotView};
pub use trees::{TreeSize, TreeView};

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::Result;
use crate::format::superblock::Superblock;
use crate::format::{LogAddress, Lsn, SEGMENTS_START};
use crate::salvage::Forgiving;
use crate::storage::{FailStop, FileStorage, Storage};
use crate::sync::Arc;

use known::Known;
use slots::Root;

/// A file that is looked at.
#[derive(Debug)]
pub struct Inspector {
    storage: FailStop,
    disk: Arc<Forgiving>,
    file_len: u64,
    root: Root,
    known: Known,
    survey: Survey,
}

/// What only a walk through all segments tells.
#[derive(Debug, Default)]
struct Survey {
    /// Bytes of the file by what they are used for.
    totals: [u64; Use::ALL.len()],
    /// The addresses that relocated puts were moved from.
    moved: BTreeSet<LogAddress>,
    /// The highest LSN that a frame of the log states to have been durable.
    claim: Lsn,
}

/// Opens the file at `path` for looking at it.
///
/// # Errors
/// `NotHolotype` where nothing in the file tells that it was a store; `Incomplete` where its creation was not finished; `NewerFormat`, `OlderFormat`;
/// `NotFound`, `CannotOpen`, `Io`.
pub fn open(path: impl AsRef<Path>) -> Result<Inspector> {
    open_on(FileStorage::open_unlocked(path.as_ref())?)
}

/// The same, of a storage of the caller's own.
///
/// # Errors
/// As [`open`].
pub fn open_on(storage: impl Storage + 'static) -> Result<Inspector> {
    let disk = Arc::new(Forgiving::new(storage));
    let storage = FailStop::new(Box::new(Arc::clone(&disk)));
    let file_len = storage.len()?;
    let root = Root::find(&storage, file_len)?;
    let known = Known::find(&storage, &root)?;
    let mut inspector = Inspector { storage, disk, file_len, root, known, survey: Survey::default() };
    inspector.survey = inspector.survey()?;
    Ok(inspector)
}

impl Inspector {
    /// The length of the file in bytes.
    pub fn file_len(&self) -> u64 {
        self.file_len
    }

    /// The superblock slots, A and B.
    pub fn slots(&self) -> &[SlotView; 2] {
        &self.root.slots
    }

    /// The superblock by which everything else is read.
    pub fn superblock(&self) -> &Superblock {
        &self.root.superblock
    }

    /// Whether no superblock is left to be read, so that this one is put together from what else the file says.
    pub fn is_superblock_inferred(&self) -> bool {
        self.root.is_inferred
    }

    /// How opening the store ends, and where the log does.
    pub fn recovery(&self) -> &RecoveryView {
        &self.known.recovery
    }

    /// The watermark: the highest LSN that anything in the file that counts states to have been durable.
    pub fn watermark(&self) -> Lsn {
        self.known.recovery.claim.max(self.survey.claim)
    }

    /// The checkpoints that the superblock names, the newest first.
    pub fn checkpoints(&self) -> &[CheckpointView] {
        &self.known.checkpoints
    }

    /// The collections, by id.
    pub fn collections(&self) -> &[CollectionView] {
        &self.known.collections
    }

    /// The indexes, by id.
    pub fn indexes(&self) -> &[IndexView] {
        &self.known.indexes
    }

    /// How many segments begin in the file.
    pub fn segment_count(&self) -> u32 {
        self.root.superblock.geometry.segments_within(self.file_len)
    }

    /// The segment at a physical index below [`segment_count`](Self::segment_count), with its frames or pages.
    ///
    /// # Errors
    /// Those of the disk, where it fails as a whole.
    pub fn segment(&self, physical: u32) -> Result<SegmentView> {
        let geometry = self.root.superblock.geometry;
        let at = geometry.segment_offset(physical);
        let len = self.file_len.saturating_sub(at).min(geometry.segment_bytes().into());
        let refused_before = self.disk.unreadable_bytes();
        let mut bytes = vec![0; len as usize];
        let have = self.storage.read_full(at, &mut bytes)?;
        bytes.truncate(have);
        let unreadable = self.disk.unreadable_bytes() - refused_before;
        Ok(SegmentView::of(&self.root.superblock, &self.known, physical, bytes, unreadable))
    }

    /// The records of a frame of `segment`, as far as they can be read, in order.
    pub fn records<'a>(&'a self, segment: &'a SegmentView, frame: &FrameView) -> Vec<RecordView<'a>> {
        segment.records(frame, &self.known, &self.survey.moved)
    }

    /// How many bytes of the file are used for what; together they are the file.
    pub fn totals(&self) -> impl Iterator<Item = (Use, u64)> {
        Use::ALL.into_iter().zip(self.survey.totals)
    }

    fn survey(&self) -> Result<Survey> {
        let mut survey = Survey::default();
        survey.totals[Use::Superblock.index()] = self.file_len.min(SEGMENTS_START);
        for physical in 0..self.segment_count() {
            let segment = self.segment(physical)?;
            for extent in &segment.extents {
                survey.totals[extent.usage.index()] += extent.len;
            }
            for view in segment.frames.iter().filter(|view| view.standing == Standing::InLog) {
                survey.claim = survey.claim.max(view.frame.header.claim().unwrap_or(Lsn::ZERO));
                let records = segment.records(view, &self.known, &survey.moved);
                survey.moved.extend(records.iter().filter_map(RecordView::moved_from));
            }
        }
        Ok(survey)
    }
}
