//! The door for any store that is to be held against the model.

use std::collections::BTreeSet;

use crate::index::TupleRange;
use crate::key::{Key, KeyRange, Prefix};
use crate::limits::Limits;
use crate::op::{Durability, Op};
use crate::outcome::{Failure, Outcome};
use crate::state::{Dump, DumpedIndex};

/// A store under test, open.
///
/// A store that can do less than the model says so in [`supports`](Subject::supports), and is asked no more.
pub trait Subject: Sized {
    /// What is left of a store when it is not open: a path, a simulated disk, bytes.
    type Image;

    /// Opens the store in `image`, or creates one where it is empty.
    ///
    /// # Errors
    ///
    /// [`Failure::Corrupt`] when what is there is damaged, and any other when it cannot be opened for another reason.
    fn open(image: Self::Image) -> Result<Self, Failure>;

    /// Does what `op` asks. An error of the store becomes [`Outcome::Refused`], [`Outcome::Failed`] or, where a commit may
    /// have been made after all, [`Outcome::Unknown`].
    fn apply(&mut self, op: &Op) -> Outcome;

    /// Walks everything the store holds, and reports any damage.
    ///
    /// # Errors
    ///
    /// What is wrong.
    fn verify(&mut self) -> Result<(), Failure>;

    /// What this store can do.
    fn supports(&self) -> Features;

    /// Makes everything before it durable.
    fn sync(&mut self) -> Outcome {
        self.apply(&Op::Flush)
    }

    /// All that the store shows. By itself it is put together from scans, of collections and of their indexes.
    ///
    /// # Errors
    ///
    /// What kept the store from answering.
    fn dump(&mut self) -> Result<Dump, Failure> {
        let names = match self.apply(&Op::Collections) {
            Outcome::Names(names) => names,
            other => return Err(unanswered(&Op::Collections, other)),
        };
        let mut dump = Dump::default();
        for collection in names {
            let op = Op::Scan {
                collection: collection.clone(),
                range: KeyRange::ALL,
                reverse: false,
                limit: None,
            };
            let entries = match self.apply(&op) {
                Outcome::Entries(entries) => entries,
                other => return Err(unanswered(&op, other)),
            };
            // A map would hide what a scan must not do.
            if !entries.is_sorted_by(|(a, _), (b, _)| a < b) {
                return Err(Failure::Other(format!("{op} answered keys twice or out of order")));
            }
            if self.supports().has(Feature::Indexes) {
                dump_indexes(self, &collection, &mut dump)?;
            }
            dump.documents.insert(collection, entries.into_iter().collect());
        }
        Ok(dump)
    }
}

/// Adds all that the indexes of a collection show.
fn dump_indexes(subject: &mut impl Subject, collection: &str, dump: &mut Dump) -> Result<(), Failure> {
    let op = Op::Indexes { collection: collection.to_owned() };
    let indexes = match subject.apply(&op) {
        Outcome::Indexes(indexes) => indexes,
        other => return Err(unanswered(&op, other)),
    };
    for (index, definition) in indexes {
        let name = (collection.to_owned(), index.clone());
        let op = Op::IndexScan {
            collection: collection.to_owned(),
            index,
            range: TupleRange::ALL,
            after: None,
            reverse: false,
            limit: None,
        };
        match subject.apply(&op) {
            Outcome::IndexEntries(entries) => {
                dump.indexes.insert(name, DumpedIndex { definition, entries });
            }
            other => return Err(unanswered(&op, other)),
        }
    }
    Ok(())
}

fn unanswered(op: &Op, outcome: Outcome) -> Failure {
    match outcome {
        Outcome::Failed(failure) => failure,
        other => Failure::Other(format!("{op} answered {other}")),
    }
}

/// Something that a store may or may not be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// Choosing ids.
    Ids,
    /// Putting under a key that the caller chose.
    ChosenKeys,
    /// Keys that are ints below 1.
    NegativeKeys,
    /// Keys that are text.
    TextKeys,
    /// Keys that are bytes.
    BytesKeys,
    /// Writes on the condition that the key has a document, or none.
    ConditionalWrites,
    /// Many documents in one commit.
    Batches,
    /// Creating and dropping collections.
    Collections,
    /// Clearing and renaming collections.
    ClearAndRename,
    /// Scans in key order.
    Scans,
    /// Scans from the last key to the first.
    ReverseScans,
    /// Scans of a prefix.
    PrefixScans,
    /// Commits that survive the end of the process but not a power cut.
    Written,
    /// Commits that survive neither.
    Buffered,
    /// Saving the index, and freeing what is dead, when asked to.
    Maintenance,
    /// Write transactions with savepoints. Beside an open one, writes are refused at once.
    Transactions,
    /// Holding on to a state while writes go on.
    Snapshots,
    /// Writes on the condition that nobody has put the document since the client saw it. The client's memory is the adapter's:
    /// it keeps the version that the last answered [`Op::Get`] of each place found, neither inside a transaction nor through a
    /// snapshot, and loses all of them when the store is opened again.
    Versions,
    /// Changing and deleting documents where they are: one, or all that a filter admits.
    Updates,
    /// Indexes, and reads through them.
    Indexes,
}

impl Feature {
    /// Every feature.
    pub const ALL: [Feature; 20] = [
        Feature::Ids,
        Feature::ChosenKeys,
        Feature::NegativeKeys,
        Feature::TextKeys,
        Feature::BytesKeys,
        Feature::ConditionalWrites,
        Feature::Batches,
        Feature::Collections,
        Feature::ClearAndRename,
        Feature::Scans,
        Feature::ReverseScans,
        Feature::PrefixScans,
        Feature::Written,
        Feature::Buffered,
        Feature::Maintenance,
        Feature::Transactions,
        Feature::Snapshots,
        Feature::Versions,
        Feature::Updates,
        Feature::Indexes,
    ];
}

/// What a store can do, and its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features {
    set: BTreeSet<Feature>,
    limits: Limits,
}

impl Features {
    /// Everything, within the limits of the specification.
    pub fn all() -> Self {
        Features { set: BTreeSet::from(Feature::ALL), limits: Limits::default() }
    }

    /// All but this one.
    pub fn without(mut self, feature: Feature) -> Self {
        self.set.remove(&feature);
        self
    }

    /// Other limits.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Whether the store can do this.
    pub fn has(&self, feature: Feature) -> bool {
        self.set.contains(&feature)
    }

    /// Whether the store can do all that `op` asks for.
    pub fn support(&self, op: &Op) -> bool {
        needs(op).is_subset(&self.set)
    }
}

fn needs(op: &Op) -> BTreeSet<Feature> {
    let of_op: &[Feature] = match op.plain() {
        Op::Insert { .. } => &[Feature::Ids],
        Op::InsertMany { .. } => &[Feature::Ids, Feature::Batches],
        Op::Put { .. } => &[Feature::ChosenKeys],
        Op::PutMany { .. } => &[Feature::ChosenKeys, Feature::Batches],
        Op::InsertWithKey { .. } => &[Feature::ChosenKeys, Feature::ConditionalWrites],
        Op::Replace { .. } => &[Feature::ConditionalWrites],
        Op::CreateCollection { .. } | Op::DropCollection { .. } => &[Feature::Collections],
        Op::ClearCollection { .. } | Op::RenameCollection { .. } => &[Feature::ClearAndRename],
        Op::Keys { reverse: true, .. } | Op::Scan { reverse: true, .. } => {
            &[Feature::Scans, Feature::ReverseScans]
        }
        Op::Keys { .. } | Op::Scan { .. } => &[Feature::Scans],
        Op::ScanPrefix { reverse: true, .. } => &[Feature::PrefixScans, Feature::ReverseScans],
        Op::ScanPrefix { .. } => &[Feature::PrefixScans],
        Op::Checkpoint | Op::Clean | Op::Compact => &[Feature::Maintenance],
        Op::ReplaceIf { .. } | Op::DeleteIf { .. } => &[Feature::Versions],
        Op::Update { .. } | Op::InsertOnConflict { .. } => &[Feature::ChosenKeys, Feature::Updates],
        Op::UpdateMany { .. } | Op::DeleteMany { .. } => &[Feature::Updates],
        Op::IndexScan { reverse: true, .. } | Op::IndexDocuments { reverse: true, .. } => {
            &[Feature::Indexes, Feature::ReverseScans]
        }
        op if op.defines_index() || op.index().is_some() || matches!(op, Op::Indexes { .. }) => {
            &[Feature::Indexes]
        }
        _ => &[],
    };
    let around = match op {
        Op::Begin | Op::Inside(_) | Op::Savepoint | Op::RollbackTo { .. } => Some(Feature::Transactions),
        Op::Commit { .. } | Op::Rollback => Some(Feature::Transactions),
        Op::TakeSnapshot | Op::Through { .. } | Op::Release { .. } => Some(Feature::Snapshots),
        _ => None,
    };
    let of_class = match op.durability() {
        Some(Durability::Buffered) => Some(Feature::Buffered),
        Some(Durability::Written) => Some(Feature::Written),
        Some(Durability::Synced) | None => None,
    };
    let of_keys = op.keys().into_iter().filter_map(key_needs);
    of_op.iter().copied().chain(around).chain(of_class).chain(of_keys).chain(bounds_need(op)).collect()
}

fn key_needs(key: &Key) -> Option<Feature> {
    match key {
        Key::Int(int) => (*int < 1).then_some(Feature::NegativeKeys),
        Key::Text(_) => Some(Feature::TextKeys),
        Key::Bytes(_) => Some(Feature::BytesKeys),
    }
}

fn bounds_need(op: &Op) -> Vec<Feature> {
    use std::ops::Bound::{Excluded, Included};
    match op.plain() {
        Op::Keys { range, .. } | Op::Scan { range, .. } => {
            let of = |bound| if let Included(key) | Excluded(key) = bound { key_needs(key) } else { None };
            [of(range.from.as_ref()), of(range.to.as_ref())].into_iter().flatten().collect()
        }
        Op::ScanPrefix { prefix: Prefix::Text(_), .. } => vec![Feature::TextKeys],
        Op::ScanPrefix { prefix: Prefix::Bytes(_), .. } => vec![Feature::BytesKeys],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use super::*;
    use crate::value::Document;

    #[test]
    fn a_store_is_asked_only_for_what_it_can_do() {
        let text_put = Op::Put {
            collection: "a".into(),
            key: Key::from("k"),
            document: Document::new(),
            durability: Durability::Written,
        };
        assert!(Features::all().support(&text_put));
        for missing in [Feature::ChosenKeys, Feature::TextKeys, Feature::Written] {
            assert!(!Features::all().without(missing).support(&text_put), "{missing:?}");
        }
        assert!(Features::all().without(Feature::BytesKeys).support(&text_put));
    }

    #[test]
    fn an_operation_inside_another_needs_what_both_need_but_no_class_of_its_own() {
        let delete_if =
            Op::DeleteIf { collection: "a".into(), key: Key::from("k"), durability: Durability::Buffered };
        let inside = Op::Inside(Box::new(delete_if));
        for missing in [Feature::Transactions, Feature::Versions, Feature::TextKeys] {
            assert!(!Features::all().without(missing).support(&inside), "{missing:?}");
        }
        assert!(Features::all().without(Feature::Buffered).support(&inside));
        let read = Op::Through { snapshot: 0, op: Box::new(Op::Len { collection: "a".into() }) };
        assert!(!Features::all().without(Feature::Snapshots).support(&read));
    }

    #[test]
    fn a_bound_needs_the_kind_of_its_key() {
        let range = KeyRange { from: Bound::Excluded(Key::Bytes(vec![1])), to: Bound::Unbounded };
        let scan = Op::Scan { collection: "a".into(), range, reverse: true, limit: None };
        for missing in [Feature::BytesKeys, Feature::Scans, Feature::ReverseScans] {
            assert!(!Features::all().without(missing).support(&scan), "{missing:?}");
        }
    }
}
