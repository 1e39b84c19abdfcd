//! What a caller says about a query under way: whether it goes on, and until when.

use std::fmt;
use std::ops::ControlFlow;

use super::plan::PlanActual;
use crate::error::{Error, Result};
use crate::seeded::{self, Bug};
use crate::sync::{Arc, Instant};

/// How far a query has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct QueryProgress {
    /// Documents that were looked at.
    pub scanned: u64,
    /// Documents that the filter admitted.
    pub admitted: u64,
}

type Told = Arc<dyn Fn(&QueryProgress) -> ControlFlow<()> + Send + Sync>;

/// The caller is asked after so many documents.
const INTERVAL: u64 = 64;

#[derive(Clone, Default)]
pub(super) struct Watch {
    progress: QueryProgress,
    /// Entries of indexes that were met.
    entries: u64,
    /// Documents that were made of entries, and not read.
    made: u64,
    /// Answers that a sort gave.
    sorted: u64,
    deadline: Option<Instant>,
    told: Option<Told>,
}

impl Watch {
    pub(super) fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = Some(deadline);
    }

    pub(super) fn tell(&mut self, told: Told) {
        self.told = Some(told);
    }

    pub(super) fn progress(&self) -> QueryProgress {
        self.progress
    }

    //= spec/query.md#q-7-5-bounds
    //# A query beyond a bound MUST end with an error. It MUST NOT answer a part as if it were all.
    /// Asks whether the query goes on.
    pub(super) fn check(&self) -> Result<()> {
        let has_passed = self.deadline.is_some_and(|deadline| deadline <= Instant::now());
        if has_passed && !seeded::is_on(Bug::DeadlineIgnored) {
            return Err(Error::DeadlinePassed { scanned: self.progress.scanned });
        }
        match self.told.as_ref().map(|told| told(&self.progress)) {
            Some(ControlFlow::Break(())) => Err(Error::Cancelled { scanned: self.progress.scanned }),
            _ => Ok(()),
        }
    }

    /// What was read, for so many answers.
    pub(super) fn actual(&self, answers: u64) -> PlanActual {
        PlanActual { entries: self.entries, documents: self.progress.scanned - self.made, answers }
    }

    /// Counts an entry of an index that was met.
    #[inline]
    pub(super) fn met_entry(&mut self) -> Result<()> {
        self.met_entries(1)
    }

    /// Counts entries of an index.
    #[inline]
    pub(super) fn met_entries(&mut self, count: u64) -> Result<()> {
        let before = self.entries / INTERVAL;
        self.entries += count;
        if self.entries / INTERVAL > before { self.check() } else { Ok(()) }
    }

    /// Counts an answer of a sort, whose document was looked at before.
    #[inline]
    pub(super) fn sorted(&mut self) -> Result<()> {
        self.sorted += 1;
        if self.sorted.is_multiple_of(INTERVAL) { self.check() } else { Ok(()) }
    }

    /// The document that was counted last was made of an entry.
    pub(super) fn made(&mut self) {
        self.made += 1;
    }

    /// Counts a document that was looked at.
    #[inline]
    pub(super) fn scanned(&mut self, admitted: bool) -> Result<()> {
        self.progress.scanned += 1;
        self.progress.admitted += u64::from(admitted);
        if self.progress.scanned.is_multiple_of(INTERVAL) { self.check() } else { Ok(()) }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("progress", &self.progress)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
