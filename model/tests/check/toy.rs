//! A store as simple as can be: a map of maps, copied whole for each commit.

use std::cell::Cell;
use std::ops::Bound;
use std::rc::Rc;

use holotype_model::{
    Document, Durability, Failure, Feature, Features, Key, KeyRange, Limits, Op, Outcome, Prefix, Refusal,
    Subject, Value,
};

use crate::bug::Bug;
use crate::image::{Collections, Image, Shelf};
use crate::transact::{Session, Transaction};

/// What happens to the next write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    Unknown,
    Full,
}

#[derive(Debug)]
pub(crate) struct Toy {
    pub(crate) image: Image,
    pub(crate) next_fault: Rc<Cell<Fault>>,
    pub(crate) fault_met: Rc<Cell<bool>>,
    pub(crate) session: Session,
}

impl Subject for Toy {
    type Image = Image;

    fn open(image: Image) -> Result<Self, Failure> {
        let (next_fault, fault_met) = (Cell::new(Fault::None), Cell::new(false));
        Ok(Toy {
            image,
            next_fault: next_fault.into(),
            fault_met: fault_met.into(),
            session: Session::default(),
        })
    }

    fn apply(&mut self, op: &Op) -> Outcome {
        let image = &mut self.image;
        if image.is(Bug::PanicsOnEmptyKey) && op.keys().contains(&&Key::from("")) {
            panic!("the key is empty");
        }
        let writes = op.is_write() || *op == Op::Flush;
        if writes && image.poisoned && !image.is(Bug::WritesAfterUnknown) {
            self.session.transaction.take_if(|_| matches!(op, Op::Commit { .. }));
            return Outcome::Failed(Failure::Poisoned);
        }
        if let Some(outcome) = self.session.step(op, image) {
            return outcome;
        }
        let (mut next, mut commits) = self.state_for(op);
        let image = &mut self.image;
        let outcome = match perform(&mut next, op, image) {
            Ok(outcome) => outcome,
            Err(refusal) => {
                if image.is(Bug::RefusalCreates)
                    && let (Op::Insert { collection, .. }, Refusal::TooDeep) = (op, refusal)
                {
                    next.entry(collection.clone()).or_default();
                    image.states.push(next);
                }
                return Outcome::Refused(refusal);
            }
        };
        commits |= op.is_write() && (next != *image.newest() || !op.documents().is_empty());
        let fault = if writes { self.next_fault.replace(Fault::None) } else { Fault::None };
        self.fault_met.set(fault != Fault::None);
        match fault {
            Fault::None => {}
            Fault::Full => {
                if image.is(Bug::AppliesWhatFailed) {
                    self.commit(op, next, commits);
                }
                return Outcome::Failed(Failure::StorageFull);
            }
            Fault::Unknown => {
                image.poisoned = true;
                if image.is(Bug::ShowsCommitInDoubt) {
                    image.states.push(next);
                } else if next != *image.newest() {
                    image.in_doubt = Some(next);
                }
                return Outcome::Unknown;
            }
        }
        self.session.see(op, &next);
        self.commit(op, next, commits);
        outcome
    }

    fn verify(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn supports(&self) -> Features {
        features()
    }
}

/// All but updates and indexes.
pub(crate) fn features() -> Features {
    Features::all().without(Feature::Updates).without(Feature::Indexes)
}

impl Toy {
    /// The state that a call begins with, and whether it is one to be committed: that of the transaction, if this ends it.
    fn state_for(&mut self, op: &Op) -> (Collections, bool) {
        let (session, image) = (&mut self.session, &mut self.image);
        if let Some(ended) = session.transaction.take_if(|_| matches!(op, Op::Commit { .. })) {
            let Transaction { state, mut steps, .. } = ended;
            let has_changed = steps.pop().is_some();
            if image.is(Bug::CommitsInPieces) {
                image.states.append(&mut steps);
            }
            return (state, has_changed);
        }
        match &session.transaction {
            Some(open) if image.is(Bug::ShowsTransaction) => (open.state.clone(), false),
            _ => (image.newest().clone(), false),
        }
    }

    fn commit(&mut self, op: &Op, next: Collections, commits: bool) {
        let image = &mut self.image;
        if let (true, Op::InsertMany { collection, documents, .. }) = (image.is(Bug::SplitsBatches), op) {
            for left_out in (1..documents.len()).rev() {
                let mut part = next.clone();
                let shelf = part.get_mut(collection).expect("the batch went there");
                for _ in 0..left_out {
                    shelf.documents.remove(&Key::Int(shelf.largest_id));
                    shelf.largest_id -= 1;
                }
                image.states.push(part);
            }
        }
        if let Op::Delete { collection, key, .. } = op
            && let Some(document) = image.newest().get(collection).and_then(|shelf| shelf.documents.get(key))
        {
            let gone = (collection.clone(), key.clone(), document.clone());
            image.deleted.push(gone);
        }
        if let Op::DropCollection { collection, .. } = op
            && let Some(shelf) = image.newest().get(collection)
        {
            let ids = shelf.largest_id;
            image.dropped.insert(collection.clone(), ids);
        }
        let flushes = *op == Op::Flush && !image.is(Bug::FlushLies);
        if commits {
            image.states.push(next);
            image.commits += 1;
        }
        let newest = image.states.len() - 1;
        let is_buffered = matches!(op, Op::Commit { .. }) && image.is(Bug::BuffersTransactions);
        let durability = op.durability().filter(|_| commits && !is_buffered);
        if (durability >= Some(Durability::Written) && !image.is(Bug::LosesWrittenAtKill)) || flushes {
            image.written = newest;
        }
        if (durability == Some(Durability::Synced) && !image.is(Bug::LosesAcknowledgedCommit)) || flushes {
            (image.written, image.durable) = (newest, newest);
        }
    }
}

pub(crate) fn perform(state: &mut Collections, op: &Op, image: &Image) -> Result<Outcome, Refusal> {
    check(op)?;
    match op {
        Op::Commit { .. } => Ok(Outcome::Done),
        Op::CreateCollection { .. }
        | Op::DropCollection { .. }
        | Op::ClearCollection { .. }
        | Op::RenameCollection { .. } => catalog(state, op, image),
        op if op.is_write() => write(state, op, image),
        op => read(state, op, image),
    }
}

fn write(state: &mut Collections, op: &Op, image: &Image) -> Result<Outcome, Refusal> {
    let name = op.collection().expect("a write names a collection");
    let deletes = matches!(op, Op::Delete { .. } | Op::DeleteIf { .. });
    if op.documents().is_empty() && !deletes {
        let keys = matches!(op, Op::InsertMany { .. });
        return Ok(if keys { Outcome::Keys(Vec::new()) } else { Outcome::Count(0) });
    }
    let only_changes = deletes || matches!(op, Op::Replace { .. } | Op::ReplaceIf { .. });
    if only_changes && !state.contains_key(name) {
        return Err(Refusal::UnknownCollection);
    }
    let old_ids = if image.is(Bug::DropKeepsIds) { image.dropped.get(name).copied().unwrap_or(0) } else { 0 };
    let shelf = state.entry(name.to_owned()).or_insert(Shelf { largest_id: old_ids, ..Shelf::default() });
    let stored = |document: &Document| {
        if image.is(Bug::LosesSignOfZero) { unsigned(document) } else { document.clone() }
    };
    match op {
        Op::Insert { document, .. } => Ok(Outcome::Key(shelf.insert(stored(document), image)?)),
        Op::InsertMany { documents, .. } => {
            let keys: Result<_, _> =
                documents.iter().map(|document| shelf.insert(stored(document), image)).collect();
            Ok(Outcome::Keys(keys?))
        }
        Op::InsertWithKey { key, .. }
            if shelf.documents.contains_key(key) && !image.is(Bug::InsertCovers) =>
        {
            Err(Refusal::KeyExists)
        }
        Op::Replace { key, .. } if !shelf.documents.contains_key(key) => Ok(Outcome::Bool(false)),
        Op::Put { key, document, .. }
        | Op::InsertWithKey { key, document, .. }
        | Op::ReplaceIf { key, document, .. } => {
            shelf.put(key.clone(), stored(document), image);
            Ok(Outcome::Done)
        }
        Op::Replace { key, document, .. } => {
            shelf.put(key.clone(), stored(document), image);
            Ok(Outcome::Bool(true))
        }
        Op::PutMany { entries, .. } => {
            entries.iter().for_each(|(key, document)| shelf.put(key.clone(), stored(document), image));
            Ok(Outcome::Count(entries.len() as u64))
        }
        Op::Delete { key, .. } => Ok(Outcome::Bool(shelf.documents.remove(key).is_some())),
        Op::DeleteIf { key, .. } => {
            shelf.documents.remove(key);
            Ok(Outcome::Done)
        }
        other => panic!("{other} is no write of documents"),
    }
}

fn catalog(state: &mut Collections, op: &Op, image: &Image) -> Result<Outcome, Refusal> {
    Ok(Outcome::Bool(match op {
        Op::CreateCollection { collection, .. } => {
            let is_new = !state.contains_key(collection);
            state.entry(collection.clone()).or_default();
            is_new
        }
        Op::DropCollection { collection, .. } => state.remove(collection).is_some(),
        Op::ClearCollection { collection, .. } => state.get_mut(collection).is_some_and(|shelf| {
            shelf.documents.clear();
            shelf.clears += 1;
            if image.is(Bug::ClearResetsIds) {
                shelf.largest_id = 0;
            }
            true
        }),
        Op::RenameCollection { collection, to, .. } => {
            if state.contains_key(collection) && state.contains_key(to) && !image.is(Bug::RenameCovers) {
                return Err(Refusal::InvalidName);
            }
            let shelf = state.remove(collection);
            let was_there = shelf.is_some();
            state.extend(shelf.map(|shelf| (to.clone(), shelf)));
            was_there
        }
        other => panic!("{other} is no write of the catalog"),
    }))
}

fn read(state: &Collections, op: &Op, image: &Image) -> Result<Outcome, Refusal> {
    let shelf = match op.collection() {
        None if *op == Op::Collections => return Ok(Outcome::Names(state.keys().cloned().collect())),
        None => return Ok(Outcome::Done),
        Some(name) => state.get(name).ok_or(Refusal::UnknownCollection)?,
    };
    Ok(match op {
        Op::Get { key, .. } => Outcome::Document(shelf.documents.get(key).cloned()),
        Op::Contains { key, .. } => Outcome::Bool(shelf.documents.contains_key(key)),
        Op::Len { .. } => Outcome::Count(shelf.documents.len() as u64),
        Op::Keys { range, reverse, limit, .. } => {
            let found = shelf.scan(|key| within(range, key, image), *reverse, *limit, image);
            Outcome::Keys(found.into_iter().map(|(key, _)| key).collect())
        }
        Op::Scan { range, reverse, limit, .. } => {
            Outcome::Entries(shelf.scan(|key| within(range, key, image), *reverse, *limit, image))
        }
        Op::ScanPrefix { prefix, reverse, limit, .. } => {
            Outcome::Entries(shelf.scan(|key| begins(prefix, key, image), *reverse, *limit, image))
        }
        other => panic!("{other} is no read"),
    })
}

impl Shelf {
    fn insert(&mut self, document: Document, image: &Image) -> Result<Key, Refusal> {
        let next = self.largest_id.checked_add(1).or(image.is(Bug::WrapsIds).then_some(i64::MIN));
        let key = Key::Int(next.ok_or(Refusal::IdsExhausted)?);
        self.put(key.clone(), document, image);
        Ok(key)
    }

    fn put(&mut self, key: Key, document: Document, image: &Image) {
        if let Key::Int(int) = key {
            self.largest_id = self.largest_id.max(int);
        }
        self.versions.insert(key.clone(), image.commits + 1);
        self.documents.insert(key, document);
    }

    fn scan(
        &self,
        wanted: impl Fn(&Key) -> bool,
        reverse: bool,
        limit: Option<usize>,
        image: &Image,
    ) -> Vec<(Key, Document)> {
        let found = self.documents.iter().filter(|(key, _)| wanted(key));
        let mut found: Vec<_> = found.map(|(key, document)| (key.clone(), document.clone())).collect();
        if image.is(Bug::SortsIntsUnsigned) {
            found.sort_by_key(|(key, _)| if let Key::Int(int) = key { *int as u64 } else { u64::MAX });
        }
        let limit = limit.unwrap_or(usize::MAX);
        if image.is(Bug::LimitsBeforeReversing) {
            found.truncate(limit);
        }
        if reverse {
            found.reverse();
        }
        found.truncate(limit);
        found
    }
}

/// The limits, as far as calls are made that reach them.
fn check(op: &Op) -> Result<(), Refusal> {
    let limits = Limits::default();
    if op.is_write() && op.keys().iter().any(|key| key.len() > limits.key_len) {
        return Err(Refusal::KeyTooLong);
    }
    let begins = match op {
        Op::RenameCollection { to, .. } => Some(to.as_str()),
        Op::Replace { .. }
        | Op::Delete { .. }
        | Op::ReplaceIf { .. }
        | Op::DeleteIf { .. }
        | Op::DropCollection { .. }
        | Op::ClearCollection { .. } => None,
        op if op.is_write() => op.collection(),
        _ => None,
    };
    if begins.is_some_and(|name| name.is_empty() || name.len() > limits.name_len || name.starts_with('$')) {
        return Err(Refusal::InvalidName);
    }
    let deep =
        |document: &&Document| 1 + document.values().map(Value::depth).max().unwrap_or(0) > limits.depth;
    if op.documents().iter().any(deep) { Err(Refusal::TooDeep) } else { Ok(()) }
}

fn within(range: &KeyRange, key: &Key, image: &Image) -> bool {
    let keeps = image.is(Bug::KeepsExcludedBound);
    let above = match &range.from {
        Bound::Included(from) => key >= from,
        Bound::Excluded(from) => key > from || (keeps && key == from),
        Bound::Unbounded => true,
    };
    let below = match &range.to {
        Bound::Included(to) => key <= to,
        Bound::Excluded(to) => key < to || (keeps && key == to),
        Bound::Unbounded => true,
    };
    above && below
}

fn begins(prefix: &Prefix, key: &Key, image: &Image) -> bool {
    match (prefix, key) {
        (Prefix::Text(prefix), Key::Text(text)) => text.starts_with(prefix),
        (Prefix::Bytes(prefix), Key::Bytes(bytes)) => bytes.starts_with(prefix),
        (Prefix::Text(prefix), Key::Bytes(bytes)) if image.is(Bug::PrefixCrossesKinds) => {
            bytes.starts_with(prefix.as_bytes())
        }
        _ => false,
    }
}

fn unsigned(document: &Document) -> Document {
    let unsigned = |value: &Value| match value {
        Value::Float(0.0) => Value::Float(0.0),
        other => other.clone(),
    };
    document.iter().map(|(name, value)| (name.clone(), unsigned(value))).collect()
}
