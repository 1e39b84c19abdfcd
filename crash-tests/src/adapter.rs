//! The engine as the model's drivers see any store: an operation in, an outcome out.

use std::ops::{Bound, ControlFlow};

use holotype::{Collection, Db, DocRef, Error, IndexDefinition, Scan, TxCollection, View};
use holotype_model::{Document, Failure, Key, KeyRange, Op, Outcome, Prefix, Refusal};

use crate::convert;
use crate::indexes::{self, IndexRead};

/// All that a store shows.
pub type Contents = holotype_model::Dump;

/// The answer of a store that stopped writing.
pub const POISONED: Outcome = Outcome::Failed(Failure::Poisoned);

/// The reads that a collection answers, whoever looks: anybody, a snapshot, or a transaction.
pub(crate) trait Reads {
    fn get(&self, key: holotype::Key) -> holotype::Result<Option<DocRef>>;
    fn contains(&self, key: holotype::Key) -> holotype::Result<bool>;
    fn len(&self) -> holotype::Result<u64>;
    fn keys(&self, range: Range, reverse: bool, limit: usize) -> holotype::Result<Vec<Key>>;
    fn scan(&self, range: Range, reverse: bool, limit: usize) -> holotype::Result<Vec<(Key, Document)>>;
    fn scan_prefix(
        &self,
        prefix: &Prefix,
        reverse: bool,
        limit: usize,
    ) -> holotype::Result<Vec<(Key, Document)>>;
    fn indexes(&self) -> holotype::Result<Vec<IndexDefinition>>;
    fn index(&self, read: &IndexRead<'_>) -> holotype::Result<Outcome>;
}

/// Both ends of a range of keys.
pub(crate) type Range = (Bound<holotype::Key>, Bound<holotype::Key>);

macro_rules! reads {
    ($($type:ty, $entries:ident);*) => {$(
        impl Reads for $type {
            fn get(&self, key: holotype::Key) -> holotype::Result<Option<DocRef>> {
                <$type>::get(self, key)
            }

            fn contains(&self, key: holotype::Key) -> holotype::Result<bool> {
                <$type>::contains(self, key)
            }

            fn len(&self) -> holotype::Result<u64> {
                <$type>::len(self)
            }

            fn keys(&self, range: Range, reverse: bool, limit: usize) -> holotype::Result<Vec<Key>> {
                let keys = <$type>::keys(self, range)?;
                let keys = if reverse { keys.reversed() } else { keys };
                keys.take(limit).map(|key| Ok(convert::model_key(&key?))).collect()
            }

            fn scan(&self, range: Range, reverse: bool, limit: usize) -> holotype::Result<Vec<(Key, Document)>> {
                let scan = <$type>::scan(self, range)?;
                $entries(if reverse { scan.reversed() } else { scan }, limit)
            }

            fn scan_prefix(
                &self,
                prefix: &Prefix,
                reverse: bool,
                limit: usize,
            ) -> holotype::Result<Vec<(Key, Document)>> {
                let scan = match prefix {
                    Prefix::Text(text) => <$type>::scan_prefix(self, text)?,
                    Prefix::Bytes(bytes) => <$type>::scan_prefix_bytes(self, bytes)?,
                };
                $entries(if reverse { scan.reversed() } else { scan }, limit)
            }

            fn indexes(&self) -> holotype::Result<Vec<IndexDefinition>> {
                <$type>::indexes(self)
            }

            fn index(&self, read: &IndexRead<'_>) -> holotype::Result<Outcome> {
                $crate::indexes::answer!(self, read)
            }
        }
    )*};
}

reads!(Collection, entries; View, lent_entries; TxCollection<'_>, entries);

fn entries(
    scan: impl Iterator<Item = holotype::Result<DocRef>>,
    limit: usize,
) -> holotype::Result<Vec<(Key, Document)>> {
    let scan = scan.take(limit);
    scan.map(|found| {
        let found = found?;
        Ok((convert::model_key(&found.key().to_key()), decoded(&found)?))
    })
    .collect()
}

/// The first document, and then the others from the other end.
fn from_both_ends(mut scan: Scan) -> holotype::Result<Vec<(Key, Document)>> {
    let mut all = entries(scan.by_ref(), 1)?;
    all.extend(entries(scan.reversed(), usize::MAX)?);
    Ok(all)
}

/// The same, with documents that are lent and not given.
fn lent_entries(scan: Scan, limit: usize) -> holotype::Result<Vec<(Key, Document)>> {
    let mut entries = Vec::new();
    if limit == 0 {
        return Ok(entries);
    }
    let failed = scan.visit(|lent| {
        let document = match lent.to_document() {
            Ok(document) => convert::model_document(&document),
            Err(error) => return ControlFlow::Break(Some(error)),
        };
        entries.push((convert::model_key(&lent.key().to_key()), document));
        if entries.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(None) }
    })?;
    failed.flatten().map_or(Ok(entries), Err)
}

/// Answers a read of one collection.
pub(crate) fn read(collection: &impl Reads, op: &Op) -> holotype::Result<Outcome> {
    Ok(match op {
        Op::Get { key, .. } => {
            let found = collection.get(convert::key(key))?;
            Outcome::Document(found.map(|found| decoded(&found)).transpose()?)
        }
        Op::Contains { key, .. } => Outcome::Bool(collection.contains(convert::key(key))?),
        Op::Len { .. } => Outcome::Count(collection.len()?),
        Op::Keys { range, reverse, limit, .. } => {
            Outcome::Keys(collection.keys(bounds(range), *reverse, limit.unwrap_or(usize::MAX))?)
        }
        Op::Scan { range, reverse, limit, .. } => {
            Outcome::Entries(collection.scan(bounds(range), *reverse, limit.unwrap_or(usize::MAX))?)
        }
        Op::ScanPrefix { prefix, reverse, limit, .. } => {
            Outcome::Entries(collection.scan_prefix(prefix, *reverse, limit.unwrap_or(usize::MAX))?)
        }
        Op::Indexes { .. } => {
            Outcome::Indexes(collection.indexes()?.iter().map(convert::named_definition).collect())
        }
        op => match IndexRead::of(op) {
            Some(read) => collection.index(&read)?,
            None => unreachable!("{op:?} reads no collection"),
        },
    })
}

fn bounds(range: &KeyRange) -> Range {
    (range.from.as_ref().map(convert::key), range.to.as_ref().map(convert::key))
}

/// The writes that a collection takes, each a commit of its own or in a transaction. `seen` is the version that the caller goes by.
macro_rules! write {
    ($collection:expr, $op:expr, $seen:expr) => {
        match $op {
            Op::Insert { document, .. } => {
                let key = $collection.insert(convert::document(document))?;
                Outcome::Key(convert::model_key(&key))
            }
            Op::InsertMany { documents, .. } => {
                let keys = $collection.insert_many(documents.iter().map(convert::document))?;
                Outcome::Keys(keys.iter().map(convert::model_key).collect())
            }
            Op::Put { key, document, .. } => {
                $collection.put(convert::key(key), convert::document(document))?;
                Outcome::Done
            }
            Op::PutMany { entries, .. } => {
                let entry = |(key, document): &_| (convert::key(key), convert::document(document));
                Outcome::Count($collection.put_many(entries.iter().map(entry))?)
            }
            Op::InsertWithKey { key, document, .. } => {
                $collection.insert_with_key(convert::key(key), convert::document(document))?;
                Outcome::Done
            }
            Op::Replace { key, document, .. } => {
                Outcome::Bool($collection.replace(convert::key(key), convert::document(document))?)
            }
            Op::Update { key, by, .. } => {
                let updated =
                    $crate::changes::apply(by, |changes| $collection.update(convert::key(key), changes))?;
                Outcome::Updated { matched: updated.matched().into(), changed: updated.changed().into() }
            }
            Op::InsertOnConflict { key, document, on_conflict, .. } => {
                let (key, document) = (convert::key(key), convert::document(document));
                let updated = $crate::changes::on_conflict(on_conflict, |on_conflict| {
                    $collection.insert_on_conflict(key, document, on_conflict)
                })?;
                Outcome::Updated { matched: updated.matched().into(), changed: updated.changed().into() }
            }
            Op::UpdateMany { filter, by, .. } => {
                let filter = holotype::query::Filter::parse(filter)?;
                let report = $crate::changes::apply(by, |changes| $collection.update_many(&filter, changes))?;
                Outcome::Updated { matched: report.matched, changed: report.changed }
            }
            Op::DeleteMany { filter, .. } => {
                let report = $collection.delete_many(&holotype::query::Filter::parse(filter)?)?;
                Outcome::Updated { matched: report.matched, changed: report.changed }
            }
            Op::ReplaceIf { key, document, .. } => {
                $collection.replace_if(convert::key(key), $seen, convert::document(document))?;
                Outcome::Done
            }
            Op::Delete { key, .. } => Outcome::Bool($collection.delete(convert::key(key))?),
            Op::DeleteIf { key, .. } => {
                $collection.delete_if(convert::key(key), $seen)?;
                Outcome::Done
            }
            Op::ClearCollection { .. } => Outcome::Bool(match $collection.clear() {
                Err(holotype::Error::UnknownCollection { .. }) => false,
                result => result.map(|()| true)?,
            }),
            op => unreachable!("{op:?} writes to no collection"),
        }
    };
}
pub(crate) use write;

pub(crate) fn decoded(found: &DocRef) -> holotype::Result<Document> {
    Ok(convert::model_document(&found.to_document()?))
}

/// Reads all documents of all collections, which in turn lend theirs, and give them from both ends; and all entries of their indexes.
///
/// # Errors
/// The first that a read gives.
pub fn contents(db: &Db) -> holotype::Result<Contents> {
    let documents = db
        .collections()
        .into_iter()
        .enumerate()
        .map(|(number, name)| {
            let scan = db.collection(name.as_str()).scan(..)?;
            let all = if number % 2 == 0 { lent_entries(scan, usize::MAX) } else { from_both_ends(scan) }?;
            Ok((name, all.into_iter().collect()))
        })
        .collect::<holotype::Result<_>>()?;
    Ok(Contents { documents, indexes: indexes::contents(db)? })
}

/// What an error says about the operation: certainly not done, or nobody knows.
pub(crate) fn outcome_of(error: Error, op: &Op) -> Outcome {
    let changes = op.is_write() || matches!(op, Op::Flush);
    match error {
        Error::Io { .. } if changes => Outcome::Unknown,
        error => Outcome::Failed(failure_of(error)),
    }
}

/// What an error says about the world.
pub fn failure_of(error: Error) -> Failure {
    match error {
        Error::Poisoned { .. } => Failure::Poisoned,
        Error::StorageFull { .. } => Failure::StorageFull,
        Error::Corrupt(corruption) => Failure::Corrupt(corruption.to_string()),
        other => Failure::Other(other.to_string()),
    }
}

pub(crate) fn refusal_of(error: &Error) -> Option<Refusal> {
    Some(match error {
        Error::UnknownCollection { .. } => Refusal::UnknownCollection,
        Error::InvalidName { .. } => Refusal::InvalidName,
        Error::KeyExists { .. } => Refusal::KeyExists,
        Error::KeyTooLong { .. } => Refusal::KeyTooLong,
        Error::DocumentTooLarge { .. } => Refusal::DocumentTooLarge,
        Error::TooDeep { .. } => Refusal::TooDeep,
        Error::IdsExhausted => Refusal::IdsExhausted,
        Error::LimitReached { .. } => Refusal::LimitReached,
        Error::WriterBusy { .. } => Refusal::Busy,
        Error::VersionMismatch { .. } => Refusal::VersionMismatch,
        Error::Update(_) => Refusal::UpdateFails,
        Error::InvalidIndex { .. } => Refusal::InvalidIndex,
        Error::UnknownIndex { .. } => Refusal::UnknownIndex,
        Error::IndexExists { .. } => Refusal::IndexExists,
        Error::UniqueViolation { .. } => Refusal::UniqueViolation,
        Error::UniqueViolations { .. } => Refusal::UniqueViolations,
        Error::UnknownSavepoint => Refusal::UnknownSavepoint,
        _ => return None,
    })
}
