//! The sequential specification: a small map, and what a power cut may take from it.

use std::collections::{BTreeMap, BTreeSet};

use holotype::Durability;
use holotype_model::Key;

use super::call::{Answer, Call, Doc, Op};
use super::checker::Specification;

/// Documents by key.
pub type Documents = BTreeMap<Key, Doc>;

/// The store as one caller after the other would see it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Store {
    documents: Documents,
    largest_id: i64,
    has_index: bool,
    is_unique: bool,
    /// The states that a power cut may still go back to, besides the present one; none where no power cut is to come, so that
    /// states that differ in nothing else are one.
    before: Option<Vec<Documents>>,
}

impl Store {
    /// A store that holds `documents`, all of them durable.
    pub fn new(documents: Documents) -> Self {
        let mut store = Store {
            documents: Documents::new(),
            largest_id: 0,
            has_index: false,
            is_unique: false,
            before: None,
        };
        for (key, doc) in documents {
            store.put(&key, doc);
        }
        store
    }

    /// The same store, which also knows what a power cut may leave.
    #[must_use]
    pub fn with_cuts(mut self) -> Self {
        self.before = Some(Vec::new());
        self
    }

    fn put(&mut self, key: &Key, doc: Doc) {
        if let Key::Int(id) = key {
            self.largest_id = self.largest_id.max(*id);
        }
        self.documents.insert(key.clone(), doc);
    }

    fn put_all(&mut self, entries: &[(Key, i64)], by: u32) {
        for (key, n) in entries {
            self.put(key, Doc { n: *n, by });
        }
    }

    /// One call of a transaction: whether it is not refused.
    fn put_inside(&mut self, key: &Key, n: i64, by: u32) -> bool {
        self.put(key, Doc { n, by });
        !self.is_refused()
    }

    /// Whether two documents have one number where only one may (spec: I-3.1).
    fn is_refused(&self) -> bool {
        self.is_unique && self.has_twice()
    }

    fn has_twice(&self) -> bool {
        let mut seen = BTreeSet::new();
        !self.documents.values().all(|doc| seen.insert(doc.n))
    }

    fn get(&self, key: &Key) -> Option<Doc> {
        self.documents.get(key).copied()
    }

    fn all(&self) -> Answer {
        Answer::All(self.documents.iter().map(|(key, doc)| (key.clone(), *doc)).collect())
    }

    /// Carries out a call, and gives its right answer; of a power cut, one of them.
    pub fn carry_out(&mut self, call: &Call) -> Answer {
        let indexes = (self.has_index, self.is_unique);
        let before = self.before.is_some().then(|| self.documents.clone());
        let kept = self.is_unique.then(|| (self.documents.clone(), self.largest_id));
        let mut answer = self.change(call);
        if let Some((documents, largest_id)) = kept
            && (answer == Answer::Twice || self.is_refused())
        {
            (self.documents, self.largest_id) = (documents, largest_id);
            answer = Answer::Twice;
        }
        let has_committed = self.documents.values().any(|doc| doc.by == call.id)
            || before.as_ref().is_some_and(|before| *before != self.documents)
            || indexes != (self.has_index, self.is_unique);
        if let (Some(states), Some(before)) = (&mut self.before, before) {
            // spec. Everything in front of what is durable is so too.
            if call.op == Op::Flush || has_committed && call.class == Durability::Synced {
                states.clear();
            } else if before != self.documents {
                states.push(before);
            }
        }
        answer
    }

    fn change(&mut self, call: &Call) -> Answer {
        let by = call.id;
        match &call.op {
            Op::Get(key) => Answer::Found(self.get(key)),
            Op::Contains(key) => Answer::Was(self.documents.contains_key(key)),
            Op::Scan | Op::Snapshot | Op::Cut | Op::Reopen => self.all(),
            Op::Flush => Answer::Done,
            Op::MakeIndex => Answer::Was(!std::mem::replace(&mut self.has_index, true)),
            Op::DropIndex => Answer::Was(std::mem::take(&mut self.has_index)),
            Op::MakeUnique if !self.is_unique && self.has_twice() => Answer::Twice,
            Op::MakeUnique => Answer::Was(!std::mem::replace(&mut self.is_unique, true)),
            Op::DropUnique => Answer::Was(std::mem::take(&mut self.is_unique)),
            Op::ByNumber if !self.has_index => Answer::NoIndex,
            Op::ByNumber => {
                let all = self.documents.iter().map(|(key, doc)| (key.clone(), *doc));
                let mut all: Vec<(Key, Doc)> = all.collect();
                all.sort_by_key(|(_, doc)| doc.n);
                Answer::All(all)
            }
            Op::Put(key, n) => {
                self.put(key, Doc { n: *n, by });
                Answer::Done
            }
            Op::PutMany(entries) => {
                self.put_all(entries, by);
                Answer::Done
            }
            Op::Insert(n) => {
                let key = Key::Int(self.largest_id + 1);
                self.put(&key, Doc { n: *n, by });
                Answer::Key(key)
            }
            Op::InsertWithKey(key, _) if self.documents.contains_key(key) => Answer::Taken,
            Op::InsertWithKey(key, n) => {
                self.put(key, Doc { n: *n, by });
                Answer::Done
            }
            Op::Replace(key, n) => {
                let was = self.documents.contains_key(key);
                if was {
                    self.put(key, Doc { n: *n, by });
                }
                Answer::Was(was)
            }
            Op::Add(key, amount) => {
                let found = self.get(key);
                if let Some(doc) = found {
                    self.put(key, Doc { n: doc.n + amount, by });
                }
                Answer::Was(found.is_some())
            }
            Op::AddToMany(least, amount) => {
                let matched = self.documents.values_mut().filter(|doc| doc.n >= *least);
                Answer::Count(matched.map(|doc| *doc = Doc { n: doc.n + amount, by }).count() as u64)
            }
            Op::Delete(key) => Answer::Was(self.documents.remove(key).is_some()),
            Op::DeleteMany(below) => {
                let before = self.documents.len();
                self.documents.retain(|_, doc| doc.n >= *below);
                Answer::Count((before - self.documents.len()) as u64)
            }
            Op::Clear => {
                self.documents.clear();
                Answer::Done
            }
            _ => self.transact(call),
        }
    }

    fn transact(&mut self, call: &Call) -> Answer {
        let by = call.id;
        match &call.op {
            Op::Transfer { from, to, amount } => {
                let both = [self.get(from), self.get(to)];
                if let Some([from_n, to_n]) = transferred(both, *amount)
                    && !(self.put_inside(from, from_n, by) && self.put_inside(to, to_n, by))
                {
                    return Answer::Twice;
                }
                Answer::FoundBoth(both)
            }
            Op::Spend { from, beside, amount } => {
                let both = [self.get(from), self.get(beside)];
                if let Some(n) = spent(both, *amount) {
                    self.put(from, Doc { n, by });
                }
                Answer::FoundBoth(both)
            }
            Op::Increment(key) => {
                let found = self.get(key);
                if let Some(doc) = found {
                    self.put(key, Doc { n: doc.n + 1, by });
                }
                Answer::Found(found)
            }
            Op::Take(key) => Answer::Found(self.documents.remove(key)),
            Op::GoBack((key, n), others) => {
                if !self.put_inside(key, *n, by) {
                    return Answer::Twice;
                }
                self.inside(others, by)
            }
            // What it sees of its own changes is in the answer; nothing of it is left behind.
            Op::RollBack(entries) => self.inside(entries, by),
            other => unreachable!("{other:?} is no transaction"),
        }
    }

    /// What a transaction that puts these sees before it takes them back.
    fn inside(&self, entries: &[(Key, i64)], by: u32) -> Answer {
        let mut inside = self.clone();
        match entries.iter().all(|(key, n)| inside.put_inside(key, *n, by)) {
            true => inside.all(),
            false => Answer::Twice,
        }
    }
}

/// What a transfer puts in the two places, if it puts anything.
pub fn transferred([from, to]: [Option<Doc>; 2], amount: i64) -> Option<[i64; 2]> {
    let (from, to) = (from?.n, to?.n);
    (from >= amount).then(|| [from - amount, to + amount])
}

/// What is left where something was spent, if it was.
pub fn spent([from, beside]: [Option<Doc>; 2], amount: i64) -> Option<i64> {
    let (from, beside) = (from?.n, beside?.n);
    (from + beside >= amount).then(|| from - amount)
}

impl Specification for Store {
    type Call = Call;
    type Answer = Answer;

    fn step(&mut self, call: &Call, answer: Option<&Answer>) -> bool {
        let right = self.carry_out(call);
        let Some(answer) = answer else { return true };
        let is_older = |entries: &[(Key, Doc)]| {
            let matches = |state: &Documents| state.iter().eq(entries.iter().map(|(key, doc)| (key, doc)));
            self.before.iter().flatten().any(matches)
        };
        match answer {
            // spec. A power cut leaves what was durable, and any number of the commits behind that.
            Answer::All(entries) if call.op == Op::Cut => *answer == right || is_older(entries),
            _ => *answer == right,
        }
    }
}
