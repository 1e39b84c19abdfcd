//! Building an index over the documents that are there, in steps beside readers and writers (spec: I-5).
//!
//! Each step has the writer, and gathers the entries of some documents of the newest state in the order of keys, until there are
//! many or those of all. These are sorted, without the writer, and entered in their order, in steps again; then the next are
//! gathered. A commit between two steps changes the entries of documents that were gone through, and says which of those gathered
//! are none any more; of the others the steps to come take them. Nothing of it is seen before the commit that makes the index part of
//! the state, and nothing of it is in the file.

use crate::document::{KeyRef, RawDocument};
use crate::error::{Error, Result};
use crate::format::definition::StoredDefinition;
use crate::index::{Building, Documents, Entries, Entry, KeyRange, Naming, Target, since_ever};
use crate::secondary::{EntryList, INDEXES_MAX, IndexDefinition, Run, Tuple};
use crate::seeded::{self, Bug};
use crate::sync::{Arc, read};

use super::super::shared::Shared;
use super::super::write::{WriteTxn, indexed};
use super::super::writer::Writer;

/// After so many bytes of documents a step ends.
const BYTES_AT_ONCE: usize = 1 << 20;

/// A step enters so many times as many entries as one goes through documents: in their order, each takes that much less.
const ENTERED_AT_ONCE: usize = 8;

/// Places that are taken twice, of which an error tells (spec: I-4.2).
const VIOLATIONS_MAX: usize = 100;

/// So many suspects are looked at before the build goes on.
const SUSPECTS_MAX: usize = 1 << 14;

/// The commit that makes an index part of the state gives it its id.
const ID_OF_NONE: u32 = u32::MAX;

/// An index that is being built.
#[derive(Debug)]
pub(crate) struct IndexBuild {
    definition: Arc<StoredDefinition>,
    /// An index of the name that the collection has already gives way; or this one is refused.
    replaces: bool,
    collection: String,
    /// What is built, of the documents of this naming; none before the first step, and once the collection is not what it was.
    under_way: Option<UnderWay>,
    list: EntryList,
}

#[derive(Debug)]
struct UnderWay {
    naming: Arc<Naming>,
    target: Target,
    building: Arc<Building>,
    rest: KeyRange,
    /// How often commits had been taken back when it began.
    take_backs: u64,
    documents: u64,
    page: Entries,
    /// What the last step gathered.
    gathered: Run,
    /// What was gathered before. Once it is sorted, it is entered, and nothing is gathered.
    run: Run,
    run_bytes: usize,
    /// All documents were gone through.
    is_gathered: bool,
}

/// What a step has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexStep {
    /// So many documents of how many were gone through. Entries that were gathered may wait to be [sorted](IndexBuild::sort).
    Built { documents: u64, of: u64 },
    /// All entries are there, or none need be: the commit to come says which.
    Whole,
}

impl IndexBuild {
    pub(crate) fn new(collection: &str, definition: IndexDefinition, replaces: bool) -> Self {
        IndexBuild {
            definition: Arc::new(StoredDefinition::new(definition)),
            replaces,
            collection: collection.to_owned(),
            under_way: None,
            list: EntryList::default(),
        }
    }

    fn definition(&self) -> &IndexDefinition {
        &self.definition.definition
    }

    /// Sorts what was gathered, where that is enough: before each step, for who has not got the writer.
    pub(crate) fn sort(&mut self) {
        self.under_way.iter_mut().for_each(UnderWay::sort);
    }

    /// Goes through some more documents, or enters some more of what they gave. Where that fails, the build is given up.
    pub(crate) fn step(&mut self, writer: &mut Writer) -> Result<IndexStep> {
        self.go_on(writer).inspect_err(|_| self.give_up())
    }

    fn go_on(&mut self, writer: &Writer) -> Result<IndexStep> {
        writer.check_open()?;
        let shared = Arc::clone(&writer.shared);
        if shared.is_as_asked(&self.collection, self.definition(), self.replaces)? {
            self.give_up();
            return Ok(IndexStep::Whole);
        }
        let Some(naming) = shared.newest_naming(&self.collection) else {
            // The commit to come creates the collection too; or there is one again by then, and all begins anew.
            self.give_up();
            return Ok(IndexStep::Whole);
        };
        self.check_ground(&shared, &naming);
        let under_way = match &mut self.under_way {
            Some(under_way) => under_way,
            none => none.insert(UnderWay::begin(&shared, naming, &self.definition)),
        };
        under_way.step(&shared, &mut self.list)
    }

    /// Begins anew where the collection is another by now, or may never have had what was gone through.
    fn check_ground(&mut self, shared: &Shared, naming: &Arc<Naming>) {
        let is_other = self.under_way.as_ref().is_some_and(|under_way| {
            !Arc::ptr_eq(&under_way.naming.documents, &naming.documents)
                || under_way.take_backs != shared.visibility.take_backs()
        });
        let is_spoiled = self.under_way.as_ref().is_some_and(|under_way| under_way.building.has_ended());
        if is_spoiled || is_other && !seeded::is_on(Bug::BuiltFromTwoStates) {
            self.give_up();
        }
    }

    /// Takes the index out of what writers keep up. Only who has the writer calls it.
    pub(crate) fn give_up(&mut self) {
        let Some(under_way) = self.under_way.take() else { return };
        under_way.building.end();
        let documents = &under_way.naming.documents;
        let targets = documents.targets().unwrap_or_default();
        // Several may be built at a time, and none of them has an id yet.
        let is_other = |target: &&Target| !Arc::ptr_eq(&target.entries, &under_way.target.entries);
        documents.set_targets(targets.iter().filter(is_other).cloned().collect());
    }

    //= spec/index.md#i-4-1-create
    //# Creating an index MUST make the definition part of the state, in a commit of its own, with the entries of
    //# the documents of that state.
    /// Stages the commit that makes the index part of the state, once all documents were gone through: whether there is one to make. None
    /// where not all were, as the collection is another by now: the build goes on.
    pub(crate) fn stage(&mut self, txn: &mut WriteTxn) -> Result<Option<bool>> {
        self.end(txn).inspect_err(|_| self.give_up())
    }

    fn end(&mut self, txn: &mut WriteTxn) -> Result<Option<bool>> {
        let shared = Arc::clone(&txn.shared);
        if shared.is_as_asked(&self.collection, self.definition(), self.replaces)? {
            return Ok(Some(false));
        }
        let naming = shared.newest_naming(&self.collection);
        if let Some(naming) = &naming {
            self.check_ground(&shared, naming);
            if self.under_way.is_none() {
                return Ok(None);
            }
        } else {
            self.give_up();
        }
        if let Some(under_way) = &self.under_way {
            under_way.check_suspects(&shared)?;
        }
        let built = self.under_way.as_ref().map(|under_way| Arc::clone(&under_way.target.entries));
        self.give_up();
        txn.create_index(&self.collection, &self.definition, built.as_deref())?;
        Ok(Some(true))
    }
}

impl Drop for IndexBuild {
    fn drop(&mut self) {
        // Who drops it need not have the writer, so what writers keep up stays as it is; nothing covers it any more.
        if let Some(under_way) = &self.under_way {
            under_way.building.end();
        }
    }
}

impl UnderWay {
    fn begin(shared: &Shared, naming: Arc<Naming>, definition: &Arc<StoredDefinition>) -> Self {
        let entries = Arc::new(Documents::new(ID_OF_NONE, shared.options.layout()));
        let building = Arc::new(Building::default());
        let target =
            Target { definition: Arc::clone(definition), entries, building: Some(Arc::clone(&building)) };
        let targets = naming.documents.targets().unwrap_or_default();
        // Those who dropped their builds had not got the writer.
        let goes_on = |known: &&Target| known.building.as_ref().is_none_or(|building| !building.has_ended());
        let targets = targets.iter().filter(goes_on).chain([&target]).cloned().collect();
        naming.documents.set_targets(targets);
        let take_backs = shared.visibility.take_backs();
        UnderWay {
            naming,
            target,
            building,
            rest: KeyRange::all(),
            take_backs,
            documents: 0,
            page: Entries::default(),
            gathered: Run::default(),
            run: Run::default(),
            run_bytes: shared.options.check.build_run_bytes,
            is_gathered: false,
        }
    }

    /// What takes a while, and needs no writer: memory for more is asked for and given back, and a run is sorted.
    fn sort(&mut self) {
        if self.run.is_sorted() && self.run.len() == 0 {
            self.run = Run::default();
        }
        self.run.append(&mut self.gathered);
        let is_enough = self.is_gathered || self.run.memory_bytes() >= self.run_bytes;
        if is_enough && !self.run.is_sorted() {
            self.run.sort();
        }
    }

    fn step(&mut self, shared: &Shared, list: &mut EntryList) -> Result<IndexStep> {
        let at_once = shared.options.check.build_at_once;
        // Mostly done already.
        self.sort();
        if !self.run.is_sorted() {
            self.gather(shared, at_once, list)?;
            if self.is_gathered && self.run.len() + self.gathered.len() <= at_once {
                self.sort();
            }
        }
        if self.run.is_sorted() {
            self.enter(shared, at_once * ENTERED_AT_ONCE)?;
            if self.is_gathered && self.run.len() == 0 {
                return Ok(IndexStep::Whole);
            }
        }
        Ok(IndexStep::Built { documents: self.documents, of: self.naming.documents.newest_len() })
    }

    /// Gathers the entries of some more documents.
    fn gather(&mut self, shared: &Shared, at_once: usize, list: &mut EntryList) -> Result<()> {
        let mut page = std::mem::take(&mut self.page);
        page.clear();
        shared.page(&self.naming.documents, &self.rest, false, at_once, &mut page)?;
        let mut bytes = 0;
        let mut last = None;
        // Nobody writes meanwhile: where these are the last ones, that was all, however many come behind them later.
        let mut is_end = page.len() < at_once;
        for (number, (key, entry)) in page.iter().enumerate() {
            let len = self.gather_of(shared, key, *entry, list)?;
            (bytes, last) = (bytes + len, Some(key.to_key()));
            if bytes >= BYTES_AT_ONCE || self.gathered.memory_bytes() >= self.run_bytes {
                is_end &= number + 1 == page.len();
                break;
            }
        }
        match last {
            Some(last) if !is_end => {
                self.rest = self.rest.beyond(&last, false);
                self.building.built_to(last);
            }
            _ => {
                self.building.is_whole();
                self.is_gathered = true;
            }
        }
        self.page = page;
        Ok(())
    }

    /// Enters some more of what was gathered.
    fn enter(&mut self, shared: &Shared, at_once: usize) -> Result<()> {
        let (target, building) = (&self.target, &self.building);
        let entries = self.run.take(at_once).filter(|entry| !building.is_withdrawn(entry));
        if target.definition.definition.is_unique() {
            // Each is held to those before it.
            for entry in entries {
                shared.suspect(target, entry);
                shared.enter(&target.entries, entry, since_ever());
            }
        } else {
            target.entries.enter_all(entries, since_ever());
        }
        if self.building.suspects() >= SUSPECTS_MAX {
            self.check_suspects(shared)?;
        }
        if self.run.len() == 0 {
            self.building.forget_withdrawn();
        }
        Ok(())
    }

    /// Gathers what the document of `key` gives. How long it is.
    fn gather_of(
        &mut self,
        shared: &Shared,
        key: KeyRef<'_>,
        entry: Entry,
        list: &mut EntryList,
    ) -> Result<usize> {
        let located = shared.locate(self.naming.documents.id, key, entry)?;
        let definition = &self.target.definition.definition;
        list.clear();
        let document = RawDocument::from_verified(located.body());
        definition.entries(document, key, shared.entry_limits(), list)?;
        list.iter().for_each(|entry| self.gathered.push(entry));
        self.documents += 1;
        Ok(located.body().len())
    }

    //= spec/index.md#i-4-2-create-unique
    //# Creating a unique index over documents that break I-3.1 MUST be refused as `UniqueViolations`, which has
    //# up to 100 of the places that are taken twice, and change nothing.
    /// Refuses to go on where a place that was taken twice is taken twice still.
    fn check_suspects(&self, shared: &Shared) -> Result<()> {
        if seeded::is_on(Bug::UniqueNotChecked) {
            return Ok(());
        }
        let definition = &self.target.definition.definition;
        let limits = shared.entry_limits();
        let mut violations = Vec::new();
        for beginning in self.building.take_suspects() {
            let mut taken = Vec::new();
            for entry in indexed(shared, &self.target.entries, &beginning)? {
                let parsed = definition.parse(&entry, limits).map_err(|what| self.target.broken(what))?;
                match parsed.tuple {
                    Some(tuple) => taken.push((tuple, parsed.key)),
                    None => {
                        let tuples = self.long_tuples(shared, parsed.key.as_ref(), &beginning)?;
                        taken.extend(tuples.into_iter().map(|tuple| (tuple, parsed.key.clone())));
                    }
                }
            }
            taken.sort_by(|(one, _), (other, _)| definition.cmp_tuples(one, other));
            for same in taken.chunk_by(|(one, _), (other, _)| definition.cmp_tuples(one, other).is_eq()) {
                let (tuple, key) = &same[0];
                if let Some((_, other)) = same.iter().find(|(_, other)| other != key)
                    && violations.len() < VIOLATIONS_MAX
                {
                    let values = tuple.iter().flatten().cloned().collect();
                    violations.push((values, key.clone(), other.clone()));
                }
            }
            if violations.len() == VIOLATIONS_MAX {
                break;
            }
        }
        if violations.is_empty() {
            return Ok(());
        }
        Err(Error::UniqueViolations { index: definition.name().to_owned(), violations })
    }

    /// The long tuples of a document that begin so.
    fn long_tuples(&self, shared: &Shared, key: KeyRef<'_>, beginning: &[u8]) -> Result<Vec<Tuple>> {
        let documents = &self.naming.documents;
        let ready = shared.ready(documents, key)?;
        let Some(entry) = ready.entry(documents, key) else { return Ok(Vec::new()) };
        let located = shared.locate(documents.id, key, entry)?;
        let document = RawDocument::from_verified(located.body());
        self.target.definition.definition.long_tuples(document, beginning, shared.entry_limits())
    }
}

impl Shared {
    /// Puts an entry into an index that nobody sees yet.
    pub(super) fn enter(&self, entries: &Documents, entry: &[u8], place: Entry) {
        let before = entries.set(KeyRef::Bytes(entry), place);
        if before.is_none() {
            entries.set_newest_len(entries.newest_len() + 1);
        }
    }

    //= spec/index.md#i-4-1-create
    //# One with another definition MUST be refused as `IndexExists`.
    //= spec/index.md#i-1-4-limits-of-definitions
    //# A creation beyond them MUST be refused as `LimitReached`.
    /// Whether the collection has this very index after the newest commit; refuses what cannot be created.
    fn is_as_asked(&self, name: &str, definition: &IndexDefinition, replaces: bool) -> Result<bool> {
        let catalog = read(&self.catalog);
        let Some(naming) = catalog.find(name) else { return Ok(false) };
        let indexes = catalog.indexes_of(naming.documents.id);
        match indexes.iter().find(|index| index.name() == definition.name()) {
            Some(known) if known.definition.definition == *definition => Ok(true),
            Some(_) if !replaces => {
                Err(Error::IndexExists { collection: name.to_owned(), index: definition.name().to_owned() })
            }
            None if indexes.len() >= INDEXES_MAX => {
                Err(Error::LimitReached { what: "indexes of a collection" })
            }
            _ => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Key;
    use crate::{Collection, Db, Durability, doc};

    const COUNT: i64 = 3000;

    fn birds(db: &Db) -> Collection {
        let birds = db.collection("birds");
        birds.put_many((0..COUNT).map(|n| (n, doc! { "n": n % (COUNT - 1) }))).expect("in memory");
        birds
    }

    fn build(is_unique: bool) -> IndexBuild {
        let by_n = IndexDefinition::new("by_n", ["$.n"]).expect("it is a definition");
        IndexBuild::new("birds", if is_unique { by_n.unique() } else { by_n }, false)
    }

    fn step(db: &Db, build: &mut IndexBuild) -> IndexStep {
        build.sort();
        build.step(&mut db.core().writer().expect("it is open")).expect("memory can be read")
    }

    fn stage(db: &Db, build: &mut IndexBuild) -> Option<bool> {
        db.store().autocommit(Durability::Buffered, |txn| build.stage(txn)).expect("memory can be read")
    }

    /// How many indexes writers keep up, one that is built among them.
    fn kept_up(db: &Db) -> usize {
        let naming = db.core().shared.newest_naming("birds").expect("it is there");
        naming.documents.targets().map_or(0, |targets| targets.len())
    }

    //= spec/index.md#i-4-1-create
    //= type=test
    //# Creating an index MUST make the definition part of the state, in a commit of its own, with the entries of
    //# the documents of that state.
    #[test]
    fn a_collection_that_was_away_for_a_while_is_gone_through_again() {
        let db = Db::in_memory();
        let (birds, mut build) = (birds(&db), build(false));
        assert!(matches!(step(&db, &mut build), IndexStep::Built { .. }));
        db.rename_collection("birds", "away").expect("it is there");
        assert_eq!(step(&db, &mut build), IndexStep::Whole);
        db.rename_collection("away", "birds").expect("it is there");
        assert_eq!(stage(&db, &mut build), None);
        while step(&db, &mut build) != IndexStep::Whole {}
        assert_eq!(stage(&db, &mut build), Some(true));
        assert_eq!(birds.index("by_n").count(..).expect("it is there"), COUNT as u64);
        assert_eq!(
            birds.index("by_n").check(|problem| panic!("{problem}")).expect("it is there"),
            COUNT as u64
        );
    }

    //= spec/index.md#i-5-2-an-end-before-its-time
    //= type=test
    //# A build that is cancelled, or fails, changes nothing.
    #[test]
    fn of_a_build_that_fails_or_is_dropped_nothing_is_kept_up() {
        let db = Db::in_memory();
        let birds = birds(&db);
        for _ in 0..3 {
            let by_n = IndexDefinition::new("by_n", ["$.n"]).expect("it is a definition");
            let made = birds.create_index(by_n.unique());
            assert!(matches!(made, Err(crate::Error::UniqueViolations { .. })), "{made:?}");
            assert_eq!(kept_up(&db), 0);
        }
        for _ in 0..3 {
            step(&db, &mut build(true));
            assert_eq!(kept_up(&db), 1);
        }
        assert!(birds.delete(Key::Int(0)).expect("in memory"));
    }
}
