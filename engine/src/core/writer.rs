//! The writer: all that only the one thread that writes needs.

use crate::error::Error;
use crate::format::Lsn;
use crate::format::checkpoint::OpenSegment;
use crate::format::superblock::{CheckpointRef, Superblock};
use crate::log::Appender;
use crate::recovery::NamedCheckpoints;
use crate::space::Accounts;
use crate::sync::Arc;

use super::shared::Shared;
use super::space_budget::SpaceBudget;
use super::turn::Turn;
use super::work::Work;
use super::write::WriteTxn;

/// All that only writers need.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) shared: Arc<Shared>,
    pub(super) appender: Appender,
    /// What the segments of the log still hold.
    pub(super) accounts: Accounts,
    /// The checkpoints that the slots name.
    pub(super) checkpoints: NamedCheckpoints,
    /// The index segment that the newest checkpoint of this incarnation ends in.
    pub(super) open_index: Option<OpenSegment>,
    /// How much of the file is kept for what must go on when the disk is full.
    pub(super) budget: SpaceBudget,
    /// What this life of the store has placed and written, beside what its users asked for.
    pub(super) work: Work,
    /// The newest valid slot, or the one that was written since and that no sync has covered yet.
    pub(super) superblock: Superblock,
    /// Whether a sync must come before the next slot is written.
    pub(super) slot_unsynced: bool,
    /// The length of the file that the newest slot names of which a sync has told.
    pub(super) named_len: u64,
    /// Whether this life of the store has an incarnation of its own yet.
    pub(super) is_open: bool,
    /// Of it, and of all before it, frames may be in the file.
    pub(super) highest_incarnation: u32,
    /// The file is this long, and filled with zeros where nothing else stands.
    pub(super) file_len: u64,
    /// It was this long at the last sync.
    pub(super) synced_len: u64,
    /// How often it was cut.
    pub(super) cuts: u64,
    /// It was found longer than that, and is to be cut before anything is placed.
    pub(super) is_cut_due: bool,
    /// The checkpoints that both slots name, or did before one was to be published.
    pub(super) published: [Option<CheckpointRef>; 2],
    /// The commit in the making; kept for its buffers.
    pub(crate) txn: WriteTxn,
    /// Bytes of a commit that found no room may stand behind the end of the log: it is sealed before it goes on.
    pub(super) unsealed: bool,
    /// The LSNs, first and last, of commits that were taken back, and why, until those who wait for them are told.
    pub(crate) taken_back: Vec<(Lsn, Lsn, Error)>,
    pub(super) closed: bool,
    /// Who writes, and who waits to.
    pub(crate) turn: Turn,
}

impl Writer {
    pub(super) fn new(
        shared: Arc<Shared>,
        appender: Appender,
        (accounts, checkpoints): (Accounts, NamedCheckpoints),
        superblock: Superblock,
        highest_incarnation: u32,
        file_len: u64,
    ) -> Self {
        let txn = WriteTxn::new(Arc::clone(&shared), usize::MAX);
        let mut writer = Writer {
            shared,
            appender,
            accounts,
            checkpoints,
            open_index: None,
            budget: SpaceBudget::default(),
            work: Work::default(),
            named_len: superblock.file_len,
            published: superblock.checkpoints,
            highest_incarnation: highest_incarnation.max(superblock.incarnation),
            superblock,
            slot_unsynced: false,
            is_open: false,
            file_len,
            synced_len: file_len,
            cuts: 0,
            is_cut_due: false,
            txn,
            unsealed: false,
            taken_back: Vec::new(),
            closed: false,
            turn: Turn::default(),
        };
        writer.file_len = writer.filled_len(file_len);
        writer.is_cut_due = writer.file_len < file_len;
        writer.synced_len = writer.file_len;
        writer
    }

    #[cfg(feature = "testing")]
    pub(super) fn fork(&self, shared: Arc<Shared>) -> Self {
        let txn = WriteTxn::new(Arc::clone(&shared), usize::MAX);
        Writer {
            shared,
            appender: self.appender.clone(),
            accounts: self.accounts.clone(),
            checkpoints: self.checkpoints.clone(),
            open_index: self.open_index,
            budget: self.budget.clone(),
            work: Work { arrangement: None, ..self.work.clone() },
            superblock: self.superblock.clone(),
            slot_unsynced: self.slot_unsynced,
            named_len: self.named_len,
            is_open: self.is_open,
            highest_incarnation: self.highest_incarnation,
            file_len: self.file_len,
            synced_len: self.synced_len,
            cuts: self.cuts,
            is_cut_due: self.is_cut_due,
            published: self.published,
            txn,
            unsealed: self.unsealed,
            taken_back: self.taken_back.clone(),
            closed: self.closed,
            turn: Turn::default(),
        }
    }

    /// Everything up to here is durable.
    pub(crate) fn durable(&self) -> Lsn {
        self.appender.durable()
    }

    /// The last commit placed.
    pub(crate) fn end(&self) -> Lsn {
        self.appender.end().lsn
    }

    /// A checkpoint is named by one slot and not by the other, as it is being published, or for want of room: nothing is given out until both
    /// slots name the same.
    pub(super) fn is_half_published(&self) -> bool {
        self.superblock.checkpoints != self.published
    }

    /// Whether a slot names the file's length as it is.
    pub(crate) fn is_growth_named(&self) -> bool {
        self.named_len == self.file_len
    }
}
