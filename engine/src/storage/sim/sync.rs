//! A sync that succeeds, and the ways in which one fails.

use super::faults::SyncLoss;
use super::sectors::Cache;
use super::state::State;
use crate::sync::Arc;

impl State {
    //= spec/media.md#m-2-1-synced
    //# What a sync that returned success covers, bytes and length, MUST be found after any later crash, but
    //# for what was written since.
    /// What reads see is all that a crash can find, but for what nobody has read since the last crash (that stays the
    /// one thing that it is) and what the cache wrongly believes clean.
    // spec: M-3.1
    pub(super) fn sync(&mut self) {
        for (number, sector) in self.sectors.take() {
            if sector.cache == Cache::Dirty {
                self.settled_states *= sector.durable as f64;
            } else {
                self.sectors.push(number, sector);
            }
        }
        self.synced = self.changes;
        if self.length.unsettled.is_none() && !self.length.is_synced() {
            let (len, is_cut) = (self.length.current, self.length.furthest() > self.length.current);
            self.length.make_durable();
            if is_cut {
                self.forget_beyond(len);
            }
        }
    }

    fn forget_beyond(&mut self, len: u64) {
        let beyond = len.div_ceil(self.sectors.sector_len())..u64::MAX;
        let lost: f64 = self.sectors.within(beyond).map(|(_, sector)| sector.durable as f64).product();
        self.settled_states *= lost;
        self.cut(len);
    }

    /// A sync that does not do its work, in the way that `loss` says (spec: M-3.2).
    pub(super) fn lose(&mut self, loss: SyncLoss) {
        for (number, mut sector) in self.sectors.take() {
            if sector.cache != Cache::Dirty {
                self.sectors.push(number, sector);
                continue;
            }
            let durable = sector.durable;
            let changed = Arc::make_mut(&mut sector);
            changed.versions.truncate(durable);
            match loss {
                SyncLoss::Dropped if durable == 1 => {
                    self.install(number, &changed.versions[0]);
                    continue;
                }
                SyncLoss::Dropped => changed.cache = Cache::Unread,
                SyncLoss::Kept | SyncLoss::Late => changed.cache = Cache::Stuck,
            }
            self.sectors.push(number, sector);
        }
    }
}
