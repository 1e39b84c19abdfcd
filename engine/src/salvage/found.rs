//! What a search of the file finds: commits, changes of documents and of the catalog, chunks.

use std::collections::{BTreeMap, BTreeSet};

use crate::document::Key;
use crate::format::catalog::CatalogChange;
use crate::format::frame::Frame;
use crate::format::{LogAddress, Lsn};

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Swept {
    /// Commits, by LSN, as far as there is a frame of them.
    pub(super) commits: BTreeMap<Lsn, CommitParts>,
    /// What changes documents.
    pub(super) changes: Vec<Change>,
    /// What changes the catalog, by LSN.
    pub(super) catalog: BTreeMap<Lsn, Vec<CatalogChange>>,
    /// Chunks, by log address. A sequence may have been given twice, so that two stand at one address.
    pub(super) chunks: BTreeMap<LogAddress, Vec<Origin>>,
    /// The highest LSN that anybody states to have been durable.
    pub(super) claim: Lsn,
}

/// What there is of a commit.
#[derive(Debug, Default)]
pub(super) struct CommitParts {
    parts: BTreeSet<u16>,
    /// The number of the part that says that it is the last.
    last: Option<u16>,
    /// What its opening record names as the commit before.
    pub(super) opens_behind: Option<Lsn>,
}

impl CommitParts {
    /// Whether nothing of it is missing.
    pub(super) fn is_whole(&self) -> bool {
        self.last.is_some_and(|last| self.parts.len() == usize::from(last) + 1)
    }
}

/// Where a record stands, and all that its checksum is seeded with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) physical: u32,
    pub(super) sequence: u64,
    pub(super) offset: u32,
    pub(super) lsn: Lsn,
}

/// A record that changes a document, or that moved it.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) collection: u32,
    pub(super) key: Key,
    /// Its commit is the one when the version was last known to be the newest.
    pub(super) place: Origin,
    /// The commit that made the version: an older one than that of the record, where it was moved.
    pub(super) version: Lsn,
    pub(super) is_delete: bool,
}

/// A frame whose header is valid.
#[derive(Debug)]
pub(super) struct SweptFrame {
    pub(super) frame: Frame,
    /// Whether all of it is valid.
    pub(super) is_whole: bool,
}

impl Swept {
    /// A frame was found; whole, or only its header.
    pub(super) fn note_frame(&mut self, swept: &SweptFrame) {
        let header = &swept.frame.header;
        self.claim = self.claim.max(header.claim().unwrap_or(Lsn::ZERO));
        let found = self.commits.entry(header.lsn).or_default();
        if swept.is_whole {
            found.parts.insert(header.part);
            if header.last {
                found.last = Some(header.part);
            }
        }
    }

    /// An opening record was found.
    pub(super) fn note_opening(&mut self, lsn: Lsn, behind: Lsn) {
        self.claim = self.claim.max(behind);
        self.commits.entry(lsn).or_default().opens_behind = Some(behind);
    }
}
