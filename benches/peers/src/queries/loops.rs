//! A loop of the caller's over all documents, with a closure: over Holotype's, and over stores that find
//! documents by keys alone. The closure is called through a pointer, once for each document, so that all
//! stores share the questions.

use std::ops::ControlFlow;
use std::path::Path;

use holotype::Collection;
use holotype::document::{KeyRef, RawDocument};

use super::data::Item;
use super::questions::{Came, Loop, Question};
use super::set::Set;
use super::{Answers, ours};
use crate::failure::{Of, Result};
use crate::stores::lmdb::Lmdb;
use crate::stores::redb::Redb;
use crate::stores::{Commits, Session, Store};

/// Documents a commit while a store is filled.
const A_COMMIT: usize = 1_000;

/// By a visit.
pub struct OverHolotype(Collection);

impl Loop for OverHolotype {
    fn each(&self, each: &mut dyn FnMut(i64, RawDocument<'_>)) -> Result<()> {
        let mut visit = || {
            self.0.scan(..)?.visit(|document| {
                let KeyRef::Int(id) = document.key() else { return ControlFlow::Break(()) };
                each(id, document.raw());
                ControlFlow::Continue(())
            })
        };
        visit().of(Self::NAME, "visiting").map(|_| ())
    }
}

impl Answers for OverHolotype {
    const NAME: &'static str = "Holotype, a loop";

    fn load(directory: &Path, set: &Set, items: &[Item], indexed: bool) -> Result<Self> {
        ours::load(directory, set, items, indexed).of(Self::NAME, "loading").map(OverHolotype)
    }

    fn ask(&self, question: &Question, call: i64) -> Option<Result<Came>> {
        question.by_hand.map(|by_hand| by_hand(self, call))
    }
}

/// By a scan of a store that has the same bytes under the same ids.
pub struct Over<S>(S);

/// A store that is looped over, as it is called then.
pub trait LoopedOver: Store {
    const LOOP: &'static str;
}

impl LoopedOver for Redb {
    const LOOP: &'static str = "redb, a loop";
}

impl LoopedOver for Lmdb {
    const LOOP: &'static str = "LMDB, a loop";
}

impl<S: Store> Loop for Over<S> {
    fn each(&self, each: &mut dyn FnMut(i64, RawDocument<'_>)) -> Result<()> {
        self.0.session()?.scan(|id, bytes| each(id as i64, RawDocument::from_verified(bytes)))
    }
}

impl<S: LoopedOver> Answers for Over<S> {
    const NAME: &'static str = S::LOOP;

    fn load(directory: &Path, set: &Set, items: &[Item], _indexed: bool) -> Result<Self> {
        let store = S::open(directory, Commits::Unsynced)?;
        for items in items.chunks(A_COMMIT) {
            store.session()?.put_all(items.iter().map(|item| (item.id as u64, (set.document)(item))))?;
        }
        Ok(Over(store))
    }

    fn ask(&self, question: &Question, call: i64) -> Option<Result<Came>> {
        question.by_hand.map(|by_hand| by_hand(self, call))
    }
}
