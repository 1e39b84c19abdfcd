//! The snapshots that callers hold, with their ages.

use crate::format::LogAddress;
use crate::index::State;
use crate::sync::{Arc, Duration, Instant};
use crate::txn::Registered;

use super::Store;

/// What [`Db::snapshots`](crate::Db::snapshots) tells of one.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// The commit whose state it holds.
    pub lsn: u64,
    /// How long it has been held.
    pub age: Duration,
    /// Superseded documents that it keeps.
    pub retained_versions: u64,
    /// Bytes of the file that these keep from being used again: whole segments.
    pub pinned_bytes: u64,
}

impl Store {
    /// Holds the visible state.
    pub(crate) fn register(&self) -> Arc<Registered> {
        self.end_old_snapshots();
        Arc::new(Registered::new(&self.core.shared.visibility, Some(Instant::now())))
    }

    /// Ends the snapshots that have passed the age limit, if there is one.
    pub(crate) fn end_old_snapshots(&self) {
        let Some(limit) = self.core.shared.options.snapshot_max_age else { return };
        for (id, taken, _) in self.core.shared.visibility.aged() {
            // With no lock held: what a snapshot lets go may be much, and others want one meanwhile.
            if taken.elapsed() >= limit {
                self.core.shared.visibility.end(id);
            }
        }
    }

    /// The live snapshots, the oldest first.
    pub(crate) fn live_snapshots(&self) -> Vec<SnapshotInfo> {
        self.end_old_snapshots();
        let live = self.core.shared.visibility.aged().into_iter();
        live.map(|(_, taken, state)| self.describe(taken, state)).collect()
    }

    fn describe(&self, since: Instant, state: State) -> SnapshotInfo {
        let segment_bytes = u64::from(self.core.shared.log.geometry.segment_bytes());
        let pinned: Vec<LogAddress> = self.core.shared.visibility.pinned(state);
        let mut segments: Vec<u64> = pinned.iter().map(|address| address.0 / segment_bytes).collect();
        segments.sort_unstable();
        segments.dedup();
        SnapshotInfo {
            lsn: state.lsn.0,
            age: since.elapsed(),
            retained_versions: pinned.len() as u64,
            pinned_bytes: segments.len() as u64 * segment_bytes,
        }
    }
}
