//! The change feed.

use crate::core::{Commit, Feed};
use crate::db::Db;
use crate::error::Result;
use crate::format::Lsn;
use crate::sync::{Duration, Instant};

/// The visible commits behind a position in the log, each once, in order. Begun by [`Db::watch`]; it keeps nobody waiting.
///
/// It reads the log itself, so it may begin long ago and needs no memory for what it has not shown yet. Commits of the store's own,
/// which change nothing that a caller sees, are passed over.
#[derive(Debug)]
pub struct Watch {
    db: Db,
    feed: Feed,
    shown: u64,
}

impl Watch {
    pub(crate) fn begin(db: Db, from: u64) -> Result<Self> {
        let feed = db.core().shared.feed(Lsn(from))?;
        Ok(Watch { db, feed, shown: from })
    }

    /// The last commit that it has shown, or where it began: a watch from this LSN shows what this one has not shown.
    pub fn lsn(&self) -> u64 {
        self.shown
    }

    /// The same watch, of a copy of the store.
    #[cfg(feature = "testing")]
    pub fn fork(&self, db: &Db) -> Watch {
        Watch { feed: db.core().fork_feed(&self.feed), db: db.clone(), shown: self.shown }
    }

    /// The next commit; none for now where everything visible has been shown.
    ///
    /// # Errors
    /// `Corrupt` where the log is damaged, `Io`. It stands where it stood then.
    pub fn try_next(&mut self) -> Result<Option<Commit>> {
        let found = self.db.core().shared.next_commit(&mut self.feed)?;
        Ok(self.note(found))
    }

    fn note(&mut self, found: Option<Commit>) -> Option<Commit> {
        if let Some(commit) = &found {
            self.shown = commit.lsn;
        }
        found
    }

    /// As [`try_next`](Self::try_next), but waits this long for a commit at most.
    ///
    /// # Errors
    /// As [`try_next`](Self::try_next).
    pub fn wait_next(&mut self, longest: Duration) -> Result<Option<Commit>> {
        // A wait beyond the end of time is one without end.
        let deadline = Instant::now().checked_add(longest);
        let Watch { db, feed, .. } = self;
        let found = db.store().news.wait_for(deadline, || db.core().shared.next_commit(feed))?;
        Ok(self.note(found))
    }
}
