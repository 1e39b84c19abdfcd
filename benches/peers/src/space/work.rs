//! What is done to the documents, the same for every store: each change is a commit of its own.

use std::collections::HashSet;
use std::fmt;

use crate::contents::{Contents, first, updated};
use crate::failure::Result;
use crate::order::shuffled;
use crate::stores::Session;

/// So many documents, and what is done to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    pub count: u64,
    pub change: Change,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Each document is replaced so many times; in each round the order is another.
    Rounds(u64),
    /// So many of a hundred documents are deleted, scattered over all of them.
    Deleted(u64),
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.change {
            Change::Rounds(1) => write!(f, "{} documents, all replaced once", self.count),
            Change::Rounds(rounds) => write!(f, "{} documents, all replaced {rounds} times", self.count),
            Change::Deleted(share) => write!(f, "{} documents, {share} % deleted", self.count),
        }
    }
}

/// How many changes are made between two looks at the files.
const STRIDE: usize = 256;

impl Work {
    /// Does it, replacing so many documents in a commit, and calls `look` every few hundred changes.
    pub fn apply(
        &self,
        session: &mut impl Session,
        each: usize,
        mut look: impl FnMut() -> Result<()>,
    ) -> Result<()> {
        let mut changes = 0;
        let mut looked = |more: usize| {
            changes += more;
            if changes < STRIDE {
                return Ok(());
            }
            changes = 0;
            look()
        };
        match self.change {
            Change::Rounds(rounds) => {
                for round in 1..=rounds {
                    for ids in shuffled(self.count, round).chunks(each) {
                        match ids {
                            [id] => session.put(*id, &after(*id, round))?,
                            ids => session.put_all(ids.iter().map(|id| (*id, after(*id, round))))?,
                        }
                        looked(ids.len())?;
                    }
                }
            }
            Change::Deleted(_) => {
                for id in self.deleted() {
                    session.delete(id)?;
                    looked(1)?;
                }
            }
        }
        look()
    }

    fn deleted(&self) -> Vec<u64> {
        let Change::Deleted(share) = self.change else { return Vec::new() };
        let mut ids = shuffled(self.count, 0);
        ids.truncate((self.count * share / 100) as usize);
        ids
    }

    /// The documents that are there in the end, under their ids.
    fn remaining(&self) -> impl Iterator<Item = (u64, holotype::Document)> {
        let gone: HashSet<u64> = self.deleted().into_iter().collect();
        let rounds = match self.change {
            Change::Rounds(rounds) => rounds,
            Change::Deleted(_) => 0,
        };
        (1..=self.count).filter(move |id| !gone.contains(id)).map(move |id| (id, after(id, rounds)))
    }

    /// What must be found in the end.
    pub fn contents(&self) -> Contents {
        Contents::of(self.remaining())
    }

    /// The bytes of the documents that are there in the end, encoded: without a key, a header or an index.
    pub fn document_bytes(&self) -> u64 {
        self.remaining().map(|(_, document)| document.encode().len() as u64).sum()
    }
}

/// The document under `id` after so many rounds: it differs from that of the round before.
fn after(id: u64, rounds: u64) -> holotype::Document {
    if rounds.is_multiple_of(2) { first(id) } else { updated(id) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::holotype::Holotype;
    use crate::stores::{Commits, Store};
    use crate::{contents, failure::Failure};

    fn holds_what_it_should(change: Change, each: usize) {
        let directory = tempfile::tempdir().unwrap();
        let store: Holotype = contents::load(directory.path(), 1_000).unwrap();
        let work = Work { count: 1_000, change };
        let mut looks = 0;
        work.apply(&mut store.session().unwrap(), each, || {
            looks += 1;
            Ok(())
        })
        .unwrap();
        store.close().unwrap();
        contents::check::<Holotype>(directory.path(), work.contents()).unwrap();
        assert!(looks > 0, "the files are looked at during {work}");
    }

    #[test]
    fn a_store_holds_what_the_work_says() {
        for change in [Change::Rounds(1), Change::Rounds(2), Change::Deleted(10), Change::Deleted(90)] {
            holds_what_it_should(change, 1);
            holds_what_it_should(change, 100);
        }
    }

    #[test]
    fn a_tenth_of_the_bytes_is_left_after_nine_tenths_were_deleted() {
        let bytes = |change| Work { count: 1_000, change }.document_bytes();
        let left = bytes(Change::Deleted(90)) as f64 / bytes(Change::Rounds(1)) as f64;
        assert!((0.09..0.11).contains(&left), "{left}");
    }

    #[test]
    fn a_failure_to_look_ends_the_work() {
        let directory = tempfile::tempdir().unwrap();
        let store = Holotype::open(directory.path(), Commits::Unsynced).unwrap();
        let work = Work { count: 1_000, change: Change::Rounds(1) };
        let fail = || Err(Failure::new("a store", "looking at its files", "no"));
        assert!(work.apply(&mut store.session().unwrap(), 1, fail).is_err());
    }
}
