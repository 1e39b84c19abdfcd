//! Giving freed segments out again (spec: P-4).

use std::collections::BTreeSet;

use crate::error::Error;
use crate::format::Lsn;
use crate::seeded::{self, Bug};
use crate::sync::read;

use super::super::writer::Writer;

#[cfg(test)]
mod tests;

impl Writer {
    //= spec/space.md#p-4-2-retained-versions
    //# A writer MUST NOT give out the place of a segment in which a pinned record stands.
    /// The segments in which something lies that a snapshot, or a commit that is not visible yet, still needs.
    pub(in crate::core) fn pinned_segments(&self) -> BTreeSet<u64> {
        let mut pinned = BTreeSet::new();
        if seeded::is_on(Bug::PinsIgnored) {
            return pinned;
        }
        let (mut reached, mut entries) = (None, Vec::new());
        loop {
            // New entries come only with commits, which come only from the writer; those that go meanwhile are pinned for a while longer.
            reached = self.shared.visibility.retained_entries(reached.as_ref(), &mut entries);
            for entry in entries.drain(..) {
                pinned.insert(self.shared.log.geometry.split(entry.address()).0);
                let chunks = match self.shared.chunks_of(entry) {
                    _ if seeded::is_on(Bug::ChunksNotRetained) => Vec::new(),
                    Ok(found) => found,
                    // What is damaged is of no use to anybody.
                    Err(Error::Corrupt(_)) => Vec::new(),
                    // What cannot be read now may be read later, and its chunks may be anywhere.
                    Err(_) => return self.accounts.iter().map(|(sequence, _)| sequence).collect(),
                };
                pinned.extend(chunks.into_iter().map(|chunk| self.shared.log.geometry.split(chunk).0));
            }
            if reached.is_none() {
                break;
            }
        }
        // A collection that has ended is still there for the snapshots from before its end.
        let states = self.shared.visibility.states();
        let ended = read(&self.shared.catalog).ended_in(&states);
        let holds = |live: &[(u32, u64)]| live.iter().any(|(collection, _)| ended.contains(collection));
        let segments = self.accounts.iter().filter(|(_, account)| !ended.is_empty() && holds(account.live()));
        pinned.extend(segments.map(|(sequence, _)| sequence));
        pinned
    }

    //= spec/space.md#p-4-1-checkpoints
    //# A writer MUST NOT give out the place of a segment freed at f before every checkpoint that a valid slot
    //# names has an LSN at or above f.
    /// Everything that was freed at or below this LSN is in no checkpoint that a slot names (spec: P-4.1).
    pub(in crate::core) fn reuse_floor(&self) -> Lsn {
        match () {
            () if seeded::is_on(Bug::ReuseWithoutCheckpoint) => Lsn(u64::MAX),
            () if seeded::is_on(Bug::ReuseAfterNewestCheckpoint) => {
                self.superblock.checkpoints[0].map_or(Lsn::ZERO, |newest| newest.lsn)
            }
            () => self.superblock.reuse_floor(),
        }
    }

    //= spec/space.md#p-4-3-feeds
    //# A writer MUST NOT give out the place of a segment that holds a commit which a live feed has not shown
    //# yet.
    //= spec/space.md#p-4-4-backups
    //# Until a backup has copied the last of it, a writer MUST NOT give out the place of a log segment that
    //# was in place when the backup began, nor that of a checkpoint that a slot named then.
    //= spec/space.md#p-4-5-which-first
    //# The freed record MUST be durable before the place is given out.
    /// Gives out again every freed segment that nobody can need. Whether there was one.
    pub(in crate::core) fn reclaim(&mut self) -> bool {
        let floor = self.reuse_floor();
        let is_due = |freed: Lsn| freed != Lsn::ZERO && freed <= floor;
        if self.is_half_published()
            || self.work.backups > 0 && !seeded::is_on(Bug::BackupWithoutHold)
            || !self.accounts.iter().any(|(_, account)| is_due(account.freed))
        {
            return false;
        }
        let pinned = self.pinned_segments();
        let Writer { shared, accounts, .. } = self;
        let due = shared.feeds.with_oldest(|watched| {
            let watched = if seeded::is_on(Bug::WatchersIgnored) { u64::MAX } else { watched };
            let due = accounts.iter().filter(|(sequence, account)| {
                is_due(account.freed) && !pinned.contains(sequence) && *sequence < watched
            });
            let due: Vec<_> = due.map(|(sequence, _)| sequence).collect();
            due.iter().for_each(|sequence| shared.log.segments.remove(*sequence));
            due
        });
        for sequence in &due {
            let account = self.accounts.remove(*sequence).expect("it was just there");
            self.appender.free.put(account.physical);
            self.work.unreadable.remove(sequence);
            self.work.refused.remove(sequence);
        }
        self.budget.is_stale |= !due.is_empty();
        !due.is_empty()
    }
}
