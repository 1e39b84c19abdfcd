//! What was really met in a life of a store: from an opening to the end of that life, by a close, a kill or a power cut.
//!
//! None of it is taken from what was planned: each is noted where an answer of the store, its numbers or its disk show it.

use std::fmt;

use holotype::format::superblock::{SLOT_LEN, SLOT_OFFSETS, Slot, parse_slot};
use holotype::storage::Storage;
use holotype::{Document, Stats};
use holotype_model::{Op, Outcome};

use crate::convert;

use super::Live;

macro_rules! features {
    ($($(#[doc = $doc:literal])* $feature:ident = $name:literal),* $(,)?) => {
        /// Something that interplays with others, and when it counts as being at work in a life.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Feature {
            $($(#[doc = $doc])* $feature),*
        }

        /// All of them.
        pub const FEATURES: &[Feature] = &[$(Feature::$feature),*];

        impl Feature {
            /// What reports call it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Feature::$feature => $name),*
                }
            }
        }
    };
}

features! {
    /// A backup came to its end, and was judged, in whose midst the file was changed.
    Backup = "backup",
    /// Two feeds, of which each has shown a commit and one had shown more than the other.
    TwoFeeds = "two feeds",
    /// One document was put that took more of the log than a segment.
    LongDocument = "long document",
    /// A snapshot was held for which the store kept a version that was superseded.
    Snapshot = "snapshot",
    /// The store answered that the disk is full, and took a write after that.
    FullDisk = "full disk",
    /// One slot named a checkpoint that the other did not, and a call was answered then.
    HalfPublished = "half-published checkpoint",
    /// A sync failed, and the store said so.
    FailedSync = "failed sync",
    /// The store was closed, or said that it cannot be.
    Close = "close",
    /// A collection got another name, or went.
    RenameOrDrop = "rename or drop",
    /// A compaction moved documents or made the file smaller.
    Compaction = "compaction",
    /// The file was cut shorter.
    FileCut = "cut of the file",
    /// The store was opened from what an earlier life had left.
    Reopening = "reopening",
}

const COUNT: usize = FEATURES.len();

/// What one life has met.
#[derive(Debug, Clone, Default)]
pub(super) struct AtWork {
    met: [bool; COUNT],
    is_full: bool,
    answered_full: bool,
    /// Whether it is worth a look at the slots.
    pub(super) may_be_half: bool,
}

impl AtWork {
    pub(super) fn is(&mut self, feature: Feature) {
        self.met[feature as usize] = true;
    }

    /// Whether the disk may say that it is full.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    pub(super) fn set_full(&mut self, is_full: bool) {
        self.is_full = is_full;
    }

    pub(super) fn answered_full(&mut self) {
        self.answered_full = true;
    }
}

/// In how many lives each two features were at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairs {
    counts: [[u64; COUNT]; COUNT],
}

impl Default for Pairs {
    fn default() -> Self {
        Pairs { counts: [[0; COUNT]; COUNT] }
    }
}

impl Pairs {
    pub(super) fn add_life(&mut self, life: &AtWork) {
        for (first, counts) in self.counts.iter_mut().enumerate() {
            for (second, count) in counts.iter_mut().enumerate().skip(first + 1) {
                *count += u64::from(life.met[first] && life.met[second]);
            }
        }
    }

    /// Adds what others have met.
    pub fn add(&mut self, other: &Pairs) {
        let ours = self.counts.as_flattened_mut().iter_mut();
        ours.zip(other.counts.as_flattened()).for_each(|(ours, other)| *ours += other);
    }

    /// Each two, in the order of [`FEATURES`], with the number of lives.
    pub fn iter(&self) -> impl Iterator<Item = (Feature, Feature, u64)> + '_ {
        FEATURES.iter().enumerate().flat_map(move |(at, first)| {
            let others = FEATURES.iter().skip(at + 1);
            others.map(move |second| (*first, *second, self.counts[*first as usize][*second as usize]))
        })
    }

    /// Those that were never at work together.
    pub fn missing(&self) -> Vec<String> {
        let missing = self.iter().filter(|(.., lives)| *lives == 0);
        missing.map(|(first, second, _)| format!("{} and {}", first.name(), second.name())).collect()
    }
}

impl fmt::Display for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = self.iter().min_by_key(|(.., lives)| *lives);
        let (first, second, lives) = least.expect("there are several features");
        write!(
            f,
            "of each two features, both were at work in {lives} lives at least ({} and {})",
            first.name(),
            second.name()
        )
    }
}

/// What a call is compared with.
pub(super) struct Before {
    stats: Option<Stats>,
}

impl Live {
    /// What must be known before a call to tell afterwards what it met.
    pub(super) fn before(&self, op: &Op) -> Before {
        let is_long = || {
            let segment = self.setup.segment_bytes as usize;
            let long = |document: &Document| document.encode().len() > segment;
            matches!(op.documents()[..], [document] if long(&convert::document(document)))
        };
        let is_wanted = *op == Op::Compact || !matches!(op, Op::Inside(_)) && is_long();
        Before { stats: is_wanted.then(|| self.db().stats()) }
    }

    /// Notes what the answer shows.
    pub(super) fn note(&mut self, op: &Op, outcome: &Outcome, before: Before) {
        self.tally.count_call(op, outcome);
        self.index_calls.note(op, outcome);
        let is_done = !matches!(
            outcome,
            Outcome::Refused(_) | Outcome::Failed(_) | Outcome::Unknown | Outcome::Bool(false)
        );
        if let Some(before) = before.stats.filter(|_| is_done) {
            let after = self.db().stats();
            let moved = after.space.relocated_bytes > before.space.relocated_bytes;
            if *op == Op::Compact {
                if moved || after.file_bytes < before.file_bytes {
                    self.at_work.is(Feature::Compaction);
                }
            } else if after.log_end - before.log_end > u64::from(after.segment_bytes) {
                self.at_work.is(Feature::LongDocument);
            }
        }
        if is_done && op.is_write() && self.at_work.answered_full {
            self.at_work.is(Feature::FullDisk);
        }
        if is_done && matches!(op, Op::RenameCollection { .. } | Op::DropCollection { .. }) {
            self.at_work.is(Feature::RenameOrDrop);
        }
        if matches!(op, Op::Through { .. } | Op::Checkpoint | Op::Clean | Op::Compact) || op.is_write() {
            self.observe();
        }
    }

    /// Notes what the store's numbers and its disk show.
    pub(super) fn observe(&mut self) {
        if self.witness.was_cut() {
            self.at_work.is(Feature::FileCut);
        }
        if !self.at_work.met[Feature::Snapshot as usize] && !self.client.snapshots().is_empty() {
            let stats = self.db().stats();
            if stats.snapshots > 0 && stats.retained_versions > 0 {
                self.at_work.is(Feature::Snapshot);
            }
        }
        let shown: Vec<u64> = self.followers.iter().map(crate::follower::Follower::shown).collect();
        if let [older, newer] = shown[..]
            && older.min(newer) > 0
            && older != newer
        {
            self.at_work.is(Feature::TwoFeeds);
        }
        if self.at_work.may_be_half && self.is_half_published() {
            self.at_work.is(Feature::HalfPublished);
        }
    }

    /// Whether the slots on the disk differ in the checkpoint that they name as the newest.
    fn is_half_published(&self) -> bool {
        let newest = SLOT_OFFSETS.map(|offset| {
            let mut bytes = [0; SLOT_LEN];
            let _ = self.witness.disk().read_at(offset, &mut bytes);
            let index = SLOT_OFFSETS.iter().position(|known| *known == offset).unwrap_or(0);
            match parse_slot(&bytes, index) {
                Slot::Valid(slot) => slot.checkpoints[0],
                _ => None,
            }
        });
        newest[0] != newest[1]
    }
}
