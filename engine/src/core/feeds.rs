//! The positions of the live feeds: what they still need keeps its place in the file.

use crate::seeded::{self, Bug};
use crate::sync::{Arc, AtomicU64, Mutex, Ordering, Weak, lock};

/// Where the live feeds stand: what lies before them is not needed by them, and what lies behind stays in place (spec: P-4.3).
#[derive(Debug, Default)]
pub(crate) struct Feeds {
    positions: Mutex<Vec<Weak<AtomicU64>>>,
}

impl Feeds {
    /// A feed that may need everything, until it says otherwise.
    pub(super) fn enter(&self) -> Arc<AtomicU64> {
        let position = Arc::new(AtomicU64::new(0));
        let mut positions = lock(&self.positions);
        positions.retain(|position| position.strong_count() > 0);
        positions.push(Arc::downgrade(&position));
        position
    }

    //= spec/space.md#p-4-3-feeds
    //# A writer MUST NOT give out the place of a segment that holds a commit which a live feed has not shown
    //# yet.
    /// The sequence of the oldest segment that a feed may still read.
    pub(super) fn oldest(&self) -> u64 {
        let positions = lock(&self.positions);
        let first = if seeded::is_on(Bug::NewestWatcherAlone) { positions.len().max(1) - 1 } else { 0 };
        let live = positions.iter().skip(first).filter_map(Weak::upgrade);
        live.map(|position| position.load(Ordering::Acquire)).min().unwrap_or(u64::MAX)
    }
}
