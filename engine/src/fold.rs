//! The fold: what a record does to primary index, counts and accounts, said once, with its reverse beside it.
//!
//! A commit feeds it from its batch, recovery from the records that it parsed. It cannot fail and does no I/O: an effect has all
//! that it takes. What a record does to the catalog is said by [`Catalog::carry_out`](crate::index::Catalog::carry_out).

use crate::document::KeyRef;
use crate::format::{Geometry, LogAddress, Lsn};
use crate::index::{Documents, Entry, PrimaryIndex};
use crate::space::Accounts;

/// What one record does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Effect<'a> {
    /// The newest version of a document is now at this entry, in a record of this length: a new one, or one that moved. None: it is
    /// deleted.
    Document(&'a Documents, KeyRef<'a>, Option<(Entry, u32)>),
    /// A chunk of a version was placed in this collection, in a record of this length.
    Chunk(u32, LogAddress, u32),
    /// The version that has this chunk is not the newest any more, or has it elsewhere.
    EndChunk(u32, LogAddress),
    /// Nothing live is left in a segment, as a record of this commit says.
    Free(u64, Lsn),
}

/// The state that records change, but for the catalog. Dropped, it has entered all that it was told of.
#[derive(Debug)]
pub(crate) struct Fold<'a> {
    geometry: Geometry,
    accounts: &'a mut Accounts,
    /// Whether what is placed lies where no cleaning has moved it.
    is_loose: bool,
    run: Run,
}

/// Live records of one collection, placed one after the other in one segment: they are entered together.
#[derive(Debug, Default, Clone, Copy)]
struct Run {
    sequence: u64,
    collection: u32,
    records: u64,
    bytes: u64,
}

impl<'a> Fold<'a> {
    pub(crate) fn new(geometry: Geometry, accounts: &'a mut Accounts, is_loose: bool) -> Self {
        Fold { geometry, accounts, is_loose, run: Run::default() }
    }

    //= spec/space.md#p-1-5-accounts
    //# A writer MUST change the accounts in the step that changes the entry that they count.
    //= spec/recovery.md#r-9-6-accounts
    //# A writer MUST keep the accounts of P-1.5 through replay as if it placed the records itself: they go on
    //# from those of the table, and are those that it would have had without the crash.
    /// Carries out what a record does. Returns the entry of the version that it replaces.
    #[inline]
    pub(crate) fn apply(&mut self, effect: Effect<'_>) -> Option<Entry> {
        match effect {
            Effect::Document(documents, key, new) => {
                let before = set(documents, key, new.map(|(entry, _)| entry));
                if let Some((entry, len)) = new {
                    self.place(documents.id, entry.address(), len);
                    if let (KeyRef::Int(id), false) = (key, entry.is_relocated()) {
                        documents.note_key(id);
                    }
                }
                if let Some(entry) = before {
                    self.end(documents.id, entry.address());
                }
                return before;
            }
            Effect::Chunk(collection, at, len) => self.place(collection, at, len),
            Effect::EndChunk(collection, at) => self.end(collection, at),
            Effect::Free(sequence, lsn) => self.accounts.set_freed(sequence, lsn),
        }
        None
    }

    /// The reverse of [`apply`](Self::apply), which returned `before`. The last effect is undone first. It leaves the largest id of a
    /// collection, which the effects so far do not tell.
    pub(crate) fn undo(&mut self, effect: Effect<'_>, before: Option<Entry>) {
        let sequence = |at| self.geometry.split(at).0;
        match effect {
            Effect::Document(documents, key, new) => {
                set(documents, key, before);
                if let Some(entry) = before {
                    self.accounts.restore(sequence(entry.address()), documents.id);
                }
                if let Some((entry, len)) = new {
                    self.accounts.take_back(sequence(entry.address()), documents.id, len);
                }
            }
            Effect::Chunk(collection, at, len) => self.accounts.take_back(sequence(at), collection, len),
            Effect::EndChunk(collection, at) => self.accounts.restore(sequence(at), collection),
            Effect::Free(sequence, _) => self.accounts.set_freed(sequence, Lsn::ZERO),
        }
    }

    /// A live record was placed.
    #[inline]
    fn place(&mut self, collection: u32, at: LogAddress, len: u32) {
        let (sequence, _) = self.geometry.split(at);
        if (self.run.sequence, self.run.collection) != (sequence, collection) {
            self.enter();
            (self.run.sequence, self.run.collection) = (sequence, collection);
        }
        (self.run.records, self.run.bytes) = (self.run.records + 1, self.run.bytes + u64::from(len));
    }

    /// A live record is live no longer.
    fn end(&mut self, collection: u32, at: LogAddress) {
        // It may be one of the run.
        self.enter();
        self.accounts.supersede(self.geometry.split(at).0, collection);
    }

    /// Enters the run.
    fn enter(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run.records > 0 {
            self.accounts.add(run.sequence, run.collection, run.records, run.bytes);
            if self.is_loose {
                self.accounts.set_loose(run.sequence);
            }
        }
    }
}

impl Drop for Fold<'_> {
    fn drop(&mut self) {
        self.enter();
    }
}

/// The newest version of a document is at `entry`, if anywhere. Returns where it was.
fn set(documents: &Documents, key: KeyRef<'_>, entry: Option<Entry>) -> Option<Entry> {
    let before = match entry {
        Some(entry) => documents.index.set(key, entry),
        None => documents.index.remove(key),
    };
    let len = documents.newest_len() + u64::from(entry.is_some());
    documents.set_newest_len(len - u64::from(before.is_some()));
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENTS: u64 = 5;

    fn geometry() -> Geometry {
        Geometry::new(64, 512).expect("a legal geometry")
    }

    fn entry(sequence: u64, offset: u32) -> Entry {
        Entry::new(geometry().address(sequence, offset), false)
    }

    /// Accounts of two segments, and a collection with documents 0 to 4, all in the first.
    fn filled(documents: &Documents) -> Accounts {
        let mut accounts = Accounts::default();
        (0..2).for_each(|segment| accounts.open(segment, segment as u32));
        let mut fold = Fold::new(geometry(), &mut accounts, true);
        for id in 0..DOCUMENTS {
            let new = Some((entry(0, 64 + 8 * id as u32), 40));
            assert_eq!(fold.apply(Effect::Document(documents, KeyRef::Int(id as i64), new)), None);
        }
        drop(fold);
        accounts
    }

    /// What is counted in each segment: records, bytes, and live records.
    fn counted(accounts: &Accounts) -> Vec<(u64, u64, u64)> {
        accounts.iter().map(|(_, of)| (of.records, of.bytes, of.live_records(|id| id == 7))).collect()
    }

    //= spec/space.md#p-1-5-accounts
    //= type=test
    //# A writer MUST change the accounts in the step that changes the entry that they count.
    #[test]
    fn each_effect_counts_what_it_places_and_what_it_ends_and_its_reverse_undoes_both() {
        let documents = Documents::new(7, 4);
        let mut accounts = filled(&documents);
        let (key, new) = (KeyRef::Int(2), Some((entry(1, 64), 50)));
        let moved = Some((Entry::new(geometry().address(1, 72), true), 60));
        let chunk = geometry().address(1, 200);
        let cases = [
            (
                "a new document",
                Effect::Document(&documents, KeyRef::Int(9), new),
                [(5, 200, 5), (1, 50, 1)],
                6,
            ),
            ("another version", Effect::Document(&documents, key, new), [(5, 200, 4), (1, 50, 1)], 5),
            ("a delete", Effect::Document(&documents, key, None), [(5, 200, 4), (0, 0, 0)], 4),
            (
                "a delete of nothing",
                Effect::Document(&documents, KeyRef::Int(8), None),
                [(5, 200, 5), (0, 0, 0)],
                5,
            ),
            ("a move", Effect::Document(&documents, key, moved), [(5, 200, 4), (1, 60, 1)], 5),
            ("a chunk", Effect::Chunk(7, chunk, 90), [(5, 200, 5), (1, 90, 1)], 5),
            (
                "the end of a chunk",
                Effect::EndChunk(7, geometry().address(0, 64)),
                [(5, 200, 4), (0, 0, 0)],
                5,
            ),
        ];
        let before = counted(&accounts);
        for (what, effect, expected, len) in cases {
            let replaced = Fold::new(geometry(), &mut accounts, true).apply(effect);
            assert_eq!((&counted(&accounts)[..], documents.newest_len()), (&expected[..], len), "{what}");
            Fold::new(geometry(), &mut accounts, true).undo(effect, replaced);
            assert_eq!(
                (counted(&accounts), documents.newest_len()),
                (before.clone(), DOCUMENTS),
                "{what}, undone"
            );
            assert_eq!(documents.index.get(key), Some(entry(0, 80)), "{what}, undone");
        }
    }

    #[test]
    fn a_put_raises_the_largest_id_and_a_move_does_not() {
        let documents = Documents::new(7, 4);
        let mut accounts = filled(&documents);
        let mut fold = Fold::new(geometry(), &mut accounts, false);
        let at = geometry().address(1, 64);
        for (relocated, largest) in [(true, 4), (false, 100)] {
            let new = Some((Entry::new(at, relocated), 40));
            fold.apply(Effect::Document(&documents, KeyRef::Int(100), new));
            assert_eq!(documents.largest_id(), largest);
        }
    }

    #[test]
    fn a_segment_is_loose_where_a_caller_has_put_something_in_it() {
        for is_loose in [true, false] {
            let mut accounts = Accounts::default();
            accounts.open(0, 0);
            let at = geometry().address(0, 64);
            Fold::new(geometry(), &mut accounts, is_loose).apply(Effect::Chunk(7, at, 90));
            assert_eq!(accounts.get(0).map(|account| account.is_loose), Some(is_loose));
        }
    }
}
