//! What is left of the toy store when it is not open: every state that may still be it, one after the other.

use std::collections::BTreeMap;

use holotype_model::{Document, Ending, Key};

use crate::bug::Bug;

pub(crate) type Collections = BTreeMap<String, Shelf>;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Shelf {
    pub(crate) largest_id: i64,
    /// Each is a change of state, even that of an empty collection: it takes a new collection id (spec: S-3.5).
    pub(crate) clears: u64,
    pub(crate) documents: BTreeMap<Key, Document>,
    /// The commit that put each document; that of one deleted is of no account.
    pub(crate) versions: BTreeMap<Key, u64>,
}

/// The state at opening and those after each commit since, and how far each promise goes.
#[derive(Debug, Clone)]
pub(crate) struct Image {
    pub(crate) bug: Option<Bug>,
    pub(crate) states: Vec<Collections>,
    /// How many commits there were in all lives.
    pub(crate) commits: u64,
    pub(crate) written: usize,
    pub(crate) durable: usize,
    /// What the last crash took.
    pub(crate) lost: Option<Collections>,
    /// What was deleted in this life.
    pub(crate) deleted: Vec<(String, Key, Document)>,
    /// Ids of collections that were dropped.
    pub(crate) dropped: BTreeMap<String, i64>,
    /// The commit whose outcome is unknown.
    pub(crate) in_doubt: Option<Collections>,
    pub(crate) poisoned: bool,
}

impl Image {
    pub(crate) fn new(bug: Option<Bug>) -> Self {
        Image {
            bug,
            states: vec![Collections::new()],
            commits: 0,
            written: 0,
            durable: 0,
            lost: None,
            deleted: Vec::new(),
            dropped: BTreeMap::new(),
            in_doubt: None,
            poisoned: false,
        }
    }

    pub(crate) fn is(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    pub(crate) fn newest(&self) -> &Collections {
        self.states.last().expect("there is a state before the first commit")
    }

    /// What is left after this life.
    pub(crate) fn end(mut self, ending: Ending, choice: u64) -> Self {
        let certain = match ending {
            _ if self.poisoned => self.durable,
            Ending::Close => self.states.len() - 1,
            Ending::Kill => self.written,
            Ending::PowerCut => self.durable,
        };
        self.states.extend(self.in_doubt.take());
        let kept = certain + (choice % (self.states.len() - certain) as u64) as usize;
        let mut left = self.states[kept].clone();
        if self.is(Bug::LeavesHoles) && kept >= 2 && kept > certain {
            self.take_out_the_commit_before(kept, &mut left);
        }
        if self.is(Bug::ForgetsDeletesOnReopen) {
            self.bring_back_the_deleted(&mut left);
        }
        if self.is(Bug::ReissuesIdAfterDeleteAndReopen) {
            left.values_mut().for_each(Shelf::count_ids_by_documents);
        }
        if let Some(lost) = self.lost.take().filter(|_| self.is(Bug::RevivesLostCommits)) {
            left = lost;
        }
        let lost = self.states.get(kept + 1).cloned();
        Image {
            states: vec![left],
            commits: self.commits,
            lost,
            dropped: self.dropped,
            ..Image::new(self.bug)
        }
    }

    fn take_out_the_commit_before(&self, kept: usize, left: &mut Collections) {
        let has = |state: usize, name: &str, key: &Key| {
            self.states[state].get(name).is_some_and(|shelf| shelf.documents.contains_key(key))
        };
        for (name, shelf) in left {
            shelf.documents.retain(|key, _| has(kept - 2, name, key) || !has(kept - 1, name, key));
        }
    }

    fn bring_back_the_deleted(&self, left: &mut Collections) {
        for (name, key, document) in &self.deleted {
            if let Some(shelf) = left.get_mut(name) {
                shelf.documents.entry(key.clone()).or_insert_with(|| document.clone());
            }
        }
    }
}

impl Shelf {
    fn count_ids_by_documents(&mut self) {
        let id = |key: &Key| if let Key::Int(int) = key { *int } else { 0 };
        self.largest_id = self.documents.keys().map(id).max().unwrap_or(0).max(0);
    }
}
