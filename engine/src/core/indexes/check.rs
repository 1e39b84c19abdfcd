//! Compares the entries of an index with the documents of its collection, both ways, in one state (spec: I-8.3).

use crate::document::{self, Key, KeyRef, RawDocument};
use crate::error::{Corruption, Result};
use crate::index::{Documents, Entry, Indexing, KeyRange, Naming};
use crate::secondary::EntryList;
use crate::seeded::{self, Bug};
use crate::sync::Arc;
use crate::txn::Registered;

use super::super::Located;
use super::super::scan::Cursor;
use super::super::shared::Shared;
use super::untold;

/// The documents of a state, and what an index is to hold of them.
struct Expected<'a> {
    shared: &'a Shared,
    snapshot: &'a Arc<Registered>,
    naming: &'a Arc<Naming>,
    index: &'a Indexing,
    /// The entries of the document that was looked at last.
    list: EntryList,
}

impl Shared {
    //= spec/index.md#i-8-3-verification
    //# Verification MUST compare the entries of each index with its documents, both ways, and report an entry that no
    //# document gives, and an entry that is missing.
    /// Compares an index of the collection `naming` with its documents in the state of `snapshot`. Hands each difference to
    /// `problem`, and each document that cannot be read. How many entries the index has there.
    ///
    /// Takes the memory of one document and its entries, whatever the index holds.
    ///
    /// # Errors
    /// What keeps the comparison from being made: damage is a problem, and no error.
    pub(crate) fn check_index(
        &self,
        snapshot: &Arc<Registered>,
        naming: &Arc<Naming>,
        index: &Arc<Indexing>,
        problem: &mut dyn FnMut(Corruption),
    ) -> Result<u64> {
        if let Err(error) = index.entries().check_known() {
            problem(error.into_damage()?);
            return Ok(0);
        }
        let mut expected = Expected { shared: self, snapshot, naming, index, list: EntryList::default() };
        let found = expected.look_for_each(problem)?;
        let entries = || Cursor::new(Arc::clone(snapshot), Arc::clone(&index.naming), KeyRange::all());
        let (mut counted, mut count) = (entries(), 0);
        while self.next_entry(&mut counted)?.is_some() {
            count += 1;
        }
        if count != found && !seeded::is_on(Bug::VerifiedOneWay) {
            // No two documents have one entry, so the rest belongs to none.
            expected.tell_the_rest(entries(), count.saturating_sub(found), problem)?;
        }
        Ok(count)
    }
}

impl Expected<'_> {
    /// Looks for the entries of every document. How many there are.
    fn look_for_each(&mut self, problem: &mut dyn FnMut(Corruption)) -> Result<u64> {
        let mut found = 0;
        let mut documents = Cursor::new(Arc::clone(self.snapshot), Arc::clone(self.naming), KeyRange::all());
        while let Some((key, entry)) = self.shared.next_entry(&mut documents)? {
            let key = key.to_key();
            let at = self.shared.log.segments.file_offset(entry.address());
            let located = self.shared.locate_again(&documents, key.as_ref(), entry);
            if let Err(error) = located.and_then(|located| self.derive(&key, at, &located)) {
                problem(error.into_damage()?);
                continue;
            }
            for bytes in self.list.iter() {
                let there = self.entry(bytes)?.is_some();
                found += u64::from(there);
                if !there {
                    problem(difference(at, "an index lacks an entry that a document gives", 1, 0));
                }
            }
        }
        Ok(found)
    }

    /// Makes `list` what the document gives.
    fn derive(&mut self, key: &Key, at: u64, located: &Located) -> Result<()> {
        let what = "a document is not deterministic CBOR";
        document::validate(located.body()).map_err(|_| Corruption::new(at, "E-1", what))?;
        let document = RawDocument::from_verified(located.body());
        let definition = &self.index.definition.definition;
        definition.entries(document, key.as_ref(), self.shared.entry_limits(), &mut self.list).map_err(untold)
    }

    fn entry(&self, bytes: &[u8]) -> Result<Option<Entry>> {
        let entries: &Documents = self.index.entries();
        let found = self.shared.entry_at(self.snapshot.state(), entries, KeyRef::Bytes(bytes));
        self.snapshot.check_live()?;
        found
    }

    /// Tells of the entries that no document gives, of which there are so many.
    fn tell_the_rest(
        &mut self,
        mut entries: Cursor,
        mut rest: u64,
        problem: &mut dyn FnMut(Corruption),
    ) -> Result<()> {
        let definition = Arc::clone(&self.index.definition);
        let mut derived_of: Option<Key> = None;
        while rest > 0 {
            let Some((entry, _)) = self.shared.next_entry(&mut entries)? else { break };
            let KeyRef::Bytes(bytes) = entry else {
                problem(difference(0, "what an index holds is no entry", 0, 1));
                rest -= 1;
                continue;
            };
            let key = match definition.definition.parse(bytes, self.shared.entry_limits()) {
                Ok(parsed) => parsed.key,
                Err(what) => {
                    problem(Corruption::new(0, "I-7.2", what).comparing(0, 1));
                    rest -= 1;
                    continue;
                }
            };
            let documents = &self.naming.documents;
            let place = self.shared.entry_at(self.snapshot.state(), documents, key.as_ref()).ok().flatten();
            let at = place.map_or(0, |place| self.shared.log.segments.file_offset(place.address()));
            // Entries of one document are often neighbours.
            if derived_of.as_ref() != Some(&key) {
                self.list.clear();
                let located = self.shared.get_at(self.snapshot, documents, key.as_ref());
                let derived = located.and_then(|located| match located {
                    Some(located) => self.derive(&key, at, &located),
                    None => Ok(()),
                });
                match derived {
                    Ok(()) => derived_of = Some(key),
                    // A document that cannot be read was told of. What it gives is not known.
                    Err(error) => {
                        error.into_damage()?;
                        derived_of = None;
                        rest -= 1;
                        continue;
                    }
                }
            }
            if !self.list.has(bytes) {
                problem(difference(at, "an index has an entry that no document gives", 0, 1));
                rest -= 1;
            }
        }
        Ok(())
    }
}

fn difference(at: u64, what: &'static str, expected: u64, found: u64) -> Corruption {
    Corruption::new(at, "I-8.3", what).comparing(expected, found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{PrimaryIndex, since_ever};
    use crate::{Collection, Db, IndexDefinition, doc};

    fn birds(db: &Db) -> Collection {
        let birds = db.collection("birds");
        birds
            .put_many((1..40).map(|n| (n, doc! { "n": n % 7, "tags": [n, n + 1, "x"] })))
            .expect("in memory");
        let by_tag = IndexDefinition::new("by_tag", ["$.tags[*]", "-$.n"]).expect("it is a definition");
        birds.create_index(by_tag).expect("it can be");
        birds
    }

    fn index(db: &Db) -> Arc<Indexing> {
        let (shared, snapshot) = (&db.core().shared, db.core().shared.register());
        let naming = shared.naming_in(snapshot.state(), "birds").expect("it is there");
        shared.index_in(snapshot.state(), &naming, "by_tag").expect("it is there")
    }

    /// What the check of the index says, which `Db::verify` says too.
    fn problems(db: &Db) -> Vec<(&'static str, &'static str)> {
        let mut problems = Vec::new();
        let count = db.collection("birds").index("by_tag").check(|problem| problems.push(problem));
        let report = db.verify(false).expect("memory can be read");
        assert_eq!((&report.problems, report.entries), (&problems, count.expect("memory can be read")));
        problems.iter().map(|problem| (problem.clause.0, problem.what)).collect()
    }

    fn entry(db: &Db, number: usize) -> Vec<u8> {
        let mut entries = crate::index::Entries::default();
        index(db).entries().index.page(&KeyRange::all(), false, usize::MAX, &mut entries);
        match entries.iter().nth(number).expect("there are so many").0 {
            KeyRef::Bytes(bytes) => bytes.to_vec(),
            other => panic!("{other:?}"),
        }
    }

    fn add_to_len(db: &Db, more: i64) {
        let index = index(db);
        let len = index.entries().newest_len();
        index.entries().set_newest_len(len.checked_add_signed(more).expect("a length"));
    }

    //= spec/index.md#i-8-3-verification
    //= type=test
    //# Verification MUST compare the entries of each index with its documents, both ways, and report an entry that no
    //# document gives, and an entry that is missing.
    #[test]
    fn an_entry_that_is_missing_and_one_that_no_document_gives_are_told() {
        let db = Db::in_memory();
        let birds = birds(&db);
        assert_eq!(problems(&db), []);
        birds.put(3, doc! { "n": 1 }).expect("in memory");
        birds.delete(4).expect("in memory");
        assert_eq!(problems(&db), []);
        let (missing, extra) =
            ("an index lacks an entry that a document gives", "an index has an entry that no document gives");
        let taken = entry(&db, 20);
        index(&db).entries().index.remove(KeyRef::Bytes(&taken)).expect("it was there");
        add_to_len(&db, -1);
        assert_eq!(problems(&db), [("I-8.3", missing)]);
        // As many entries as there should be, and yet another.
        let mut limits = EntryList::default();
        let document = doc! { "n": 500, "tags": ["y"] }.encode();
        let definition = &index(&db).definition.definition.clone();
        for (key, told) in [(5, 1), (400, 2)] {
            let document = RawDocument::from_verified(&document);
            let limit = db.core().shared.entry_limits();
            definition.entries(document, KeyRef::Int(key), limit, &mut limits).expect("it gives one");
            let other = limits.iter().next().expect("it gives one").to_vec();
            index(&db).entries().index.set(KeyRef::Bytes(&other), since_ever());
            add_to_len(&db, 1);
            let mut expected = vec![("I-8.3", missing)];
            expected.extend(vec![("I-8.3", extra); told]);
            assert_eq!(problems(&db), expected);
        }
        index(&db).entries().index.set(KeyRef::Bytes(&taken), since_ever());
        assert_eq!(problems(&db), [("I-8.3", extra), ("I-8.3", extra)]);
        let deep = db.verify(true).expect("memory can be read");
        let miscounted = |problem: &&Corruption| problem.clause.0 == "F-8.10";
        assert_eq!(deep.problems.iter().filter(miscounted).count(), 1, "{deep:?}");
        add_to_len(&db, 1);
        let deep = db.verify(true).expect("memory can be read");
        assert_eq!(deep.problems.iter().filter(miscounted).count(), 0, "{deep:?}");
    }

    #[cfg(feature = "seeded")]
    #[test]
    fn a_verification_of_one_way_goes_not_unnoticed() {
        let told = an_entry_that_is_missing_and_one_that_no_document_gives_are_told;
        crate::seeded::assert_noticed(Bug::VerifiedOneWay, told);
    }

    #[test]
    fn bytes_that_are_no_entry_are_told() {
        let db = Db::in_memory();
        birds(&db);
        index(&db).entries().index.set(KeyRef::Bytes(&[0xee, 1]), since_ever());
        add_to_len(&db, 1);
        assert!(matches!(problems(&db)[..], [("I-7.2", _)]));
    }
}
