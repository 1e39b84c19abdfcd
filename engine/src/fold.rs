//! The fold: what a record does to catalog, primary index, counts, accounts and retained versions, said once, with its reverse beside it.
//!
//! A commit feeds it from its batch, recovery from the records that it parsed. It looks nothing up, cannot fail and does no I/O: an
//! effect has all that it takes, the version that it replaces among it (spec: F-6.6).

use crate::document::KeyRef;
use crate::format::catalog::CatalogChange;
use crate::format::{Geometry, LogAddress, Lsn};
use crate::index::{Birth, Catalog, Documents, Entry};
use crate::seeded::{self, Bug};
use crate::space::Accounts;
use crate::sync::{Arc, RwLock, write};

/// What one record does, or what comes with it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Effect<'a> {
    /// A document has another newest version, or none any more.
    Document(OfDocument<'a>),
    /// An index has an entry, or has it no longer, which is a document to it; and whether anybody can see that index. No record says so:
    /// it follows from those of documents (spec: I-8.1).
    Entry(OfDocument<'a>, bool),
    /// The change of a catalog whose record stands there, and the documents of what it begins, if it begins a collection or an index.
    Catalog(&'a RwLock<Catalog>, &'a CatalogChange, Option<&'a Arc<Documents>>, LogAddress),
    /// A chunk of a version was placed in this collection, in a record of this length.
    Chunk(u32, LogAddress, u32),
    /// So many chunks of a version in this collection and segment are live no longer: it is not the newest any more, or has them elsewhere.
    EndChunks(u32, u64, u64),
    /// Nothing live is left in a segment, as a record of this commit says.
    Free(u64, Lsn),
}

/// What a put, a delete or a move does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfDocument<'a> {
    pub(crate) documents: &'a Documents,
    pub(crate) key: KeyRef<'a>,
    /// Where the record stands; for an entry, the last one of its commit.
    pub(crate) at: LogAddress,
    /// Where the version stands that it replaces, as its record says, and since when that is there.
    pub(crate) before: Option<(Entry, Birth)>,
    /// Where the newest version stands now, a new one or one that moved, and the length of its record. None: the document is deleted.
    pub(crate) new: Option<(Entry, u32)>,
    /// The largest id of the collection before the commit.
    pub(crate) largest_before: i64,
}

impl OfDocument<'_> {
    /// The version that older states have and the newest does not. One that moves is the same in every state that has it, so nobody
    /// needs to be kept the old place for: who looked it up before looks again (spec: F-6.8).
    #[inline]
    fn superseded(&self) -> Option<(Entry, Birth)> {
        self.before.filter(|_| !self.new.is_some_and(|(entry, _)| entry.is_relocated()))
    }
}

/// Where versions stay that records supersede, for whoever still sees them.
pub(crate) trait Retain {
    /// Keeps a version, which the record at `until` supersedes. Called before the index gives it up.
    fn retain(&mut self, _collection: u32, _key: KeyRef<'_>, _: Entry, _: Birth, _until: LogAddress) {}

    /// Gives up the version that was kept last. Called after the index has it again.
    fn release(&mut self) {}
}

/// Nobody sees an older state.
impl Retain for () {}

/// The state that records change. Dropped, it has entered all that it was told of.
#[derive(Debug)]
pub(crate) struct Fold<'a, R: Retain> {
    geometry: Geometry,
    accounts: &'a mut Accounts,
    pub(crate) retained: &'a mut R,
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

impl<'a, R: Retain> Fold<'a, R> {
    pub(crate) fn new(
        geometry: Geometry,
        accounts: &'a mut Accounts,
        retained: &'a mut R,
        is_loose: bool,
    ) -> Self {
        Fold { geometry, accounts, retained, is_loose, run: Run::default() }
    }

    /// The place of a segment in the file.
    pub(crate) fn physical_of(&self, sequence: u64) -> Option<u32> {
        self.accounts.get(sequence).map(|account| account.physical)
    }

    //= spec/space.md#p-1-5-accounts
    //# A writer MUST change the accounts in the step that changes the entry that they count.
    //= spec/recovery.md#r-9-6-accounts
    //# A writer MUST keep the accounts of P-1.5 through replay as if it placed the records itself: they go on
    //# from those of the table, and are those that it would have had without the crash.
    /// Carries out what a record does. Whether the state admits it: the catalog has what it names, and the index had the version that it
    /// replaces, or does not tell (spec: ).
    #[inline]
    pub(crate) fn apply(&mut self, effect: Effect<'_>) -> bool {
        match effect {
            Effect::Document(of) => {
                let OfDocument { documents, key, before, new, .. } = of;
                // Where nothing is replaced, this is not asked: what an unread leaf has, the index does not have either.
                let is_unknown = before.is_some() && !documents.is_all_read() && documents.is_unknown(key);
                let agrees = self.set(&of, true);
                if let Some((entry, len)) = new {
                    self.place(documents.id, entry.address(), len);
                    if let (KeyRef::Int(id), false) = (key, entry.is_relocated()) {
                        documents.note_key(id);
                    }
                }
                if let Some((entry, _)) = before {
                    self.end(documents.id, self.geometry.split(entry.address()).0, 1);
                }
                return agrees || is_unknown;
            }
            Effect::Entry(of, is_seen) => return self.set(&of, is_seen),
            Effect::Catalog(catalog, change, begins, at) => {
                return write(catalog).carry_out(change, begins.cloned(), at).is_some();
            }
            Effect::Chunk(collection, at, len) => self.place(collection, at, len),
            Effect::EndChunks(collection, sequence, count) => self.end(collection, sequence, count),
            Effect::Free(sequence, lsn) => self.accounts.set_freed(sequence, lsn),
        }
        true
    }

    /// The reverse of [`apply`](Self::apply). The last effect is undone first.
    pub(crate) fn undo(&mut self, effect: Effect<'_>) {
        let geometry = self.geometry;
        let sequence = |at| geometry.split(at).0;
        match effect {
            Effect::Document(of) => {
                self.set_back(&of, true);
                of.documents.set_largest_id(of.largest_before);
                if let Some((entry, _)) = of.before.filter(|_| !seeded::is_on(Bug::UndoForgetsAccount)) {
                    self.accounts.restore(sequence(entry.address()), of.documents.id, 1);
                }
                if let Some((entry, len)) = of.new {
                    self.accounts.take_back(sequence(entry.address()), of.documents.id, len);
                }
            }
            Effect::Entry(of, _) if seeded::is_on(Bug::UndoForgetsEntries) && of.before.is_none() => {}
            Effect::Entry(of, is_seen) => self.set_back(&of, is_seen),
            Effect::Catalog(catalog, _, begins, at) => {
                write(catalog).take_back(begins.map(|begins| begins.id), at);
            }
            Effect::Chunk(collection, at, len) => self.accounts.take_back(sequence(at), collection, len),
            Effect::EndChunks(collection, sequence, count) => {
                self.accounts.restore(sequence, collection, count);
            }
            Effect::Free(sequence, _) => self.accounts.set_freed(sequence, Lsn::ZERO),
        }
    }

    /// The newest version is another one. Whether the index had the one before.
    #[inline]
    fn set(&mut self, of: &OfDocument<'_>, is_seen: bool) -> bool {
        if let Some((entry, birth)) = of.superseded().filter(|_| is_seen) {
            self.retained.retain(of.documents.id, of.key, entry, birth, of.at);
        }
        let before = of.before.map(|(entry, _)| entry);
        set(of, before, of.new.map(|(entry, _)| entry)) == before
    }

    /// The reverse of [`set`](Self::set).
    fn set_back(&mut self, of: &OfDocument<'_>, is_seen: bool) {
        set(of, of.new.map(|(entry, _)| entry), of.before.map(|(entry, _)| entry));
        if of.superseded().is_some_and(|_| is_seen) {
            self.retained.release();
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

    /// So many live records are live no longer.
    fn end(&mut self, collection: u32, sequence: u64, count: u64) {
        // They may be of the run.
        self.enter();
        self.accounts.supersede(sequence, collection, count);
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

impl<R: Retain> Drop for Fold<'_, R> {
    fn drop(&mut self) {
        self.enter();
    }
}

/// The newest version of a document was at `before`, and is at `new` from now on. Returns where the index had it.
fn set(of: &OfDocument<'_>, before: Option<Entry>, new: Option<Entry>) -> Option<Entry> {
    let OfDocument { documents, key, at, .. } = *of;
    let had = match new {
        Some(entry) => documents.set(key, entry),
        None => documents.remove(key, at),
    };
    let len = documents.newest_len() + u64::from(new.is_some());
    // A record may name what is not there.
    documents.set_newest_len(len.saturating_sub(u64::from(before.is_some())));
    had
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Layout, PrimaryIndex};
    use crate::sync::read;

    const DOCUMENTS: u64 = 5;

    fn geometry() -> Geometry {
        Geometry::new(64, 512).expect("a legal geometry")
    }

    fn entry(sequence: u64, offset: u32) -> Entry {
        Entry::new(geometry().address(sequence, offset), false)
    }

    fn document(
        documents: &Documents,
        id: i64,
        before: Option<Entry>,
        new: Option<(Entry, u32)>,
    ) -> Effect<'_> {
        let at = new.map_or(geometry().address(1, 300), |(entry, _)| entry.address());
        let before = before.map(|entry| (entry, Birth::At(entry.address())));
        let largest_before = documents.largest_id();
        Effect::Document(OfDocument { documents, key: KeyRef::Int(id), at, before, new, largest_before })
    }

    /// Accounts of two segments, and a collection with documents 0 to 4, all in the first.
    fn filled(documents: &Documents) -> Accounts {
        let mut accounts = Accounts::default();
        (0..2).for_each(|segment| accounts.open(segment, segment as u32));
        let nobody = &mut ();
        let mut fold = Fold::new(geometry(), &mut accounts, nobody, true);
        for id in 0..DOCUMENTS {
            let new = Some((entry(0, 64 + 8 * id as u32), 40));
            assert!(fold.apply(document(documents, id as i64, None, new)));
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
        let documents = Documents::new(7, Layout::new(4));
        let mut accounts = filled(&documents);
        let (first, new) = (Some(entry(0, 80)), Some((entry(1, 64), 50)));
        let moved = Some((Entry::new(geometry().address(1, 72), true), 60));
        let chunk = geometry().address(1, 200);
        let cases = [
            ("a new document", document(&documents, 9, None, new), [(5, 200, 5), (1, 50, 1)], 6),
            ("another version", document(&documents, 2, first, new), [(5, 200, 4), (1, 50, 1)], 5),
            ("a delete", document(&documents, 2, first, None), [(5, 200, 4), (0, 0, 0)], 4),
            ("a delete of nothing", document(&documents, 8, None, None), [(5, 200, 5), (0, 0, 0)], 5),
            ("a move", document(&documents, 2, first, moved), [(5, 200, 4), (1, 60, 1)], 5),
            ("a chunk", Effect::Chunk(7, chunk, 90), [(5, 200, 5), (1, 90, 1)], 5),
            ("the end of three chunks", Effect::EndChunks(7, 0, 3), [(5, 200, 2), (0, 0, 0)], 5),
        ];
        let before = counted(&accounts);
        for (what, effect, expected, len) in cases {
            assert!(Fold::new(geometry(), &mut accounts, &mut (), true).apply(effect), "{what}");
            assert_eq!((&counted(&accounts)[..], documents.newest_len()), (&expected[..], len), "{what}");
            Fold::new(geometry(), &mut accounts, &mut (), true).undo(effect);
            assert_eq!(
                (counted(&accounts), documents.newest_len()),
                (before.clone(), DOCUMENTS),
                "{what}, undone"
            );
            assert_eq!(documents.index.get(KeyRef::Int(2)), first, "{what}, undone");
        }
    }

    /// Where the versions end that are kept, in order.
    #[derive(Default)]
    struct Kept(Vec<LogAddress>);

    impl Retain for Kept {
        fn retain(&mut self, _: u32, _: KeyRef<'_>, _: Entry, _: Birth, until: LogAddress) {
            self.0.push(until);
        }

        fn release(&mut self) {
            self.0.pop().expect("it was kept");
        }
    }

    #[test]
    fn just_what_older_states_alone_have_is_kept_until_it_is_undone() {
        let documents = Documents::new(7, Layout::new(4));
        let mut accounts = filled(&documents);
        let (first, new) = (Some(entry(0, 80)), Some((entry(1, 64), 50)));
        let moved = Some((Entry::new(geometry().address(1, 72), true), 60));
        let of = |effect| if let Effect::Document(of) = effect { of } else { unreachable!("it is of one") };
        let delete = document(&documents, 2, first, None);
        let cases = [
            ("a new document", document(&documents, 9, None, new), 0),
            ("another version", document(&documents, 2, first, new), 1),
            ("a delete", delete, 1),
            ("a move", document(&documents, 2, first, moved), 0),
            ("the end of an entry", Effect::Entry(of(delete), true), 1),
            ("the end of an entry that nobody sees", Effect::Entry(of(delete), false), 0),
        ];
        for (what, effect, count) in cases {
            let mut kept = Kept::default();
            assert!(Fold::new(geometry(), &mut accounts, &mut kept, true).apply(effect), "{what}");
            assert_eq!(kept.0.len(), count, "{what}");
            Fold::new(geometry(), &mut accounts, &mut kept, true).undo(effect);
            assert!(kept.0.is_empty(), "{what}, undone");
            assert_eq!(documents.index.get(KeyRef::Int(2)), first, "{what}, undone");
            assert_eq!(documents.largest_id(), 4, "{what}, undone");
        }
    }

    #[test]
    fn a_catalog_record_is_carried_out_where_it_fits_and_its_reverse_leaves_name_and_id_free() {
        let (catalog, mut accounts) = (RwLock::new(Catalog::default()), Accounts::default());
        let change = CatalogChange::Create { id: 1, name: "a".into() };
        let begins = Arc::new(Documents::new(1, Layout::new(4)));
        let effect = Effect::Catalog(&catalog, &change, Some(&begins), LogAddress(10));
        let nobody = &mut ();
        let mut fold = Fold::new(geometry(), &mut accounts, nobody, true);
        for _ in 0..2 {
            assert!(fold.apply(effect) && !fold.apply(effect), "the name is free once");
            assert!(read(&catalog).find("a").is_some());
            fold.undo(effect);
            assert!(read(&catalog).find("a").is_none());
            assert_eq!(read(&catalog).last_id, 0);
        }
    }

    #[cfg(feature = "seeded")]
    #[test]
    fn an_undo_that_forgets_an_account_is_noticed() {
        let check = each_effect_counts_what_it_places_and_what_it_ends_and_its_reverse_undoes_both;
        seeded::assert_noticed(Bug::UndoForgetsAccount, check);
    }

    #[test]
    fn a_put_raises_the_largest_id_and_a_move_does_not() {
        let documents = Documents::new(7, Layout::new(4));
        let mut accounts = filled(&documents);
        let nobody = &mut ();
        let mut fold = Fold::new(geometry(), &mut accounts, nobody, false);
        let at = geometry().address(1, 64);
        for (before, relocated, largest) in [(None, true, 4), (Some(Entry::new(at, true)), false, 100)] {
            let new = Some((Entry::new(at, relocated), 40));
            assert!(fold.apply(document(&documents, 100, before, new)));
            assert_eq!(documents.largest_id(), largest);
        }
    }

    #[test]
    fn what_a_record_names_and_the_index_does_not_have_is_noticed_and_counts_and_accounts_go_by_the_record() {
        let (there, elsewhere) = (Some(entry(0, 80)), Some(entry(0, 88)));
        for (id, named, has) in [(2, there, true), (2, elsewhere, false), (2, None, false), (9, there, false)]
        {
            let documents = Documents::new(7, Layout::new(4));
            let mut accounts = filled(&documents);
            let agrees = Fold::new(geometry(), &mut accounts, &mut (), true)
                .apply(document(&documents, id, named, None));
            let fewer = u64::from(named.is_some());
            assert_eq!(agrees, has, "{id}, {named:?}");
            assert_eq!(counted(&accounts)[0], (5, 200, 5 - fewer), "{id}, {named:?}");
            assert_eq!(documents.newest_len(), DOCUMENTS - fewer, "{id}, {named:?}");
        }
    }

    #[test]
    fn a_segment_is_loose_where_a_caller_has_put_something_in_it() {
        for is_loose in [true, false] {
            let mut accounts = Accounts::default();
            accounts.open(0, 0);
            let at = geometry().address(0, 64);
            Fold::new(geometry(), &mut accounts, &mut (), is_loose).apply(Effect::Chunk(7, at, 90));
            assert_eq!(accounts.get(0).map(|account| account.is_loose), Some(is_loose));
        }
    }
}
