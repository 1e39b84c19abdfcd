//! The snapshots that callers hold, with their ages.

use std::collections::BTreeMap;

use crate::format::LogAddress;
use crate::index::State;
use crate::sync::{Arc, Duration, Instant, Mutex, Weak, lock};
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

/// When each live snapshot was taken. Scans outside transactions are among them.
#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    taken: Mutex<BTreeMap<u64, (Instant, Weak<Registered>)>>,
}

impl Store {
    /// Holds the visible state.
    pub(crate) fn register(&self) -> Arc<Registered> {
        self.end_old_snapshots();
        let snapshot = self.core.register();
        let mut taken = lock(&self.snapshots.taken);
        // Those that are gone are forgotten now and then, at no more cost than their number.
        if taken.len() >= 64 && taken.len().is_power_of_two() {
            taken.retain(|_, (_, snapshot)| snapshot.strong_count() > 0);
        }
        taken.insert(snapshot.id(), (Instant::now(), Arc::downgrade(&snapshot)));
        snapshot
    }

    /// Ends the snapshots that have passed the age limit, if there is one.
    pub(crate) fn end_old_snapshots(&self) {
        let Some(limit) = self.core.options.snapshot_max_age else { return };
        let mut too_old = Vec::new();
        lock(&self.snapshots.taken).retain(|id, (since, snapshot)| {
            let is_too_old = since.elapsed() >= limit;
            if is_too_old {
                too_old.push(*id);
            }
            !is_too_old && snapshot.strong_count() > 0
        });
        // With no lock held: what a snapshot lets go may be much, and others want one meanwhile.
        too_old.into_iter().for_each(|id| self.core.end_snapshot(id));
    }

    /// The live snapshots, the oldest first.
    pub(crate) fn live_snapshots(&self) -> Vec<SnapshotInfo> {
        self.end_old_snapshots();
        let taken = lock(&self.snapshots.taken);
        let live = taken.values().filter_map(|(since, snapshot)| Some((*since, snapshot.upgrade()?)));
        let live: Vec<_> = live.collect();
        drop(taken);
        live.into_iter().map(|(since, snapshot)| self.describe(since, snapshot.state())).collect()
    }

    fn describe(&self, since: Instant, state: State) -> SnapshotInfo {
        let segment_bytes = u64::from(self.core.log.geometry.segment_bytes());
        let pinned: Vec<LogAddress> = self.core.pinned(state);
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
