//! What a commit does to the accounts of the segments.

use crate::format::{Geometry, LogAddress, Lsn};
use crate::space::Accounts;

use super::{Action, Batch};

/// One entry in the books.
#[derive(Debug, Clone, Copy)]
enum Entry {
    /// A live record was placed.
    Placed { sequence: u64, collection: u32, len: u32 },
    /// A record is live no longer.
    Superseded { sequence: u64, collection: u32 },
    /// A segment was freed.
    Freed { sequence: u64 },
}

/// Live records of one collection, placed one after the other in one segment.
#[derive(Debug, Default, Clone, Copy)]
struct Run {
    sequence: u64,
    collection: u32,
    records: u64,
    bytes: u64,
}

impl Accounts {
    //= spec/space.md#p-1-5-accounts
    //# A writer MUST change the accounts in the step that changes the entry that they count.
    /// Enters a commit that is applied to the index.
    pub(crate) fn enter(&mut self, geometry: Geometry, batch: &Batch) {
        // Records of one collection in one segment come in runs.
        let mut run = Run::default();
        entries(geometry, batch, |entry| match entry {
            Entry::Placed { sequence, collection, len } => {
                if (run.sequence, run.collection) != (sequence, collection) {
                    self.enter_run(std::mem::take(&mut run), batch.is_system);
                    (run.sequence, run.collection) = (sequence, collection);
                }
                (run.records, run.bytes) = (run.records + 1, run.bytes + u64::from(len));
            }
            Entry::Superseded { sequence, collection } => {
                // It may be one of the run.
                self.enter_run(std::mem::take(&mut run), batch.is_system);
                self.supersede(sequence, collection);
            }
            Entry::Freed { sequence } => self.set_freed(sequence, batch.lsn),
        });
        self.enter_run(run, batch.is_system);
    }

    fn enter_run(&mut self, run: Run, is_system: bool) {
        if run.records > 0 {
            self.add_all(run.sequence, run.collection, run.records, run.bytes);
            if !is_system {
                self.set_loose(run.sequence);
            }
        }
    }

    /// The reverse of [`enter`](Self::enter), for a commit that is taken out of the index.
    pub(crate) fn undo(&mut self, geometry: Geometry, batch: &Batch) {
        let mut all = Vec::new();
        entries(geometry, batch, |entry| all.push(entry));
        for entry in all.into_iter().rev() {
            match entry {
                Entry::Placed { sequence, collection, len } => {
                    self.take_back(sequence, collection, u64::from(len));
                }
                Entry::Superseded { sequence, collection } => self.restore(sequence, collection),
                Entry::Freed { sequence } => self.set_freed(sequence, Lsn::ZERO),
            }
        }
    }
}

fn entries(geometry: Geometry, batch: &Batch, mut enter: impl FnMut(Entry)) {
    let sequence = |address: LogAddress| geometry.split(address).0;
    let has_chunks = batch.has_chunks();
    for (number, change) in batch.changes.iter().enumerate().filter(|(_, change)| !change.is_moot) {
        let Some(documents) = batch.documents(change) else {
            if let Action::Free(sequence) = change.action {
                enter(Entry::Freed { sequence });
            }
            continue;
        };
        let collection = documents.id;
        if matches!(change.action, Action::Put | Action::Relocate(_)) {
            enter(Entry::Placed { sequence: sequence(change.address), collection, len: change.len });
            let chunks = if has_chunks { batch.chunks_of(number) } else { &[] };
            for chunk in chunks {
                enter(Entry::Placed { sequence: sequence(chunk.address), collection, len: chunk.len });
            }
        }
        if let Some((entry, _)) = batch.replaced(change) {
            enter(Entry::Superseded { sequence: sequence(entry.address()), collection });
        }
        if has_chunks {
            for address in batch.superseded_chunks(number) {
                enter(Entry::Superseded { sequence: sequence(address), collection });
            }
        }
    }
}
