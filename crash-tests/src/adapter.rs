//! The engine as the model's drivers see any store: an operation in, an outcome out.

use std::collections::BTreeMap;

use holotype::{Collection, Db, DocRef, Error};
use holotype_model::{Document, Failure, Key, KeyRange, Op, Outcome, Prefix, Refusal};

use crate::convert;

/// All that a store holds, by collection and key.
pub type Contents = BTreeMap<String, BTreeMap<Key, Document>>;

/// The answer of a store that stopped writing.
pub const POISONED: Outcome = Outcome::Failed(Failure::Poisoned);

/// Carries out `op` on the store.
pub fn apply(db: &Db, op: &Op) -> Outcome {
    try_apply(db, op).unwrap_or_else(|error| outcome_of(error, op))
}

/// Carries out `op` on the store; an error is what is not a refusal.
///
/// # Errors
/// What the world did.
pub fn try_apply(db: &Db, op: &Op) -> holotype::Result<Outcome> {
    let result = if op.is_write() { write(db, op) } else { read(db, op) };
    result.or_else(|error| refusal_of(&error).map(Outcome::Refused).ok_or(error))
}

fn write(db: &Db, op: &Op) -> holotype::Result<Outcome> {
    let collection = op.collection().expect("a write names a collection");
    let durability = op.durability().expect("a write has a class");
    let collection = db.collection(collection).with_durability(convert::durability(durability));
    Ok(match op {
        Op::Insert { document, .. } => {
            Outcome::Key(convert::model_key(&collection.insert(convert::document(document))?))
        }
        Op::InsertMany { documents, .. } => {
            let keys = collection.insert_many(documents.iter().map(convert::document))?;
            Outcome::Keys(keys.iter().map(convert::model_key).collect())
        }
        Op::Put { key, document, .. } => {
            collection.put(convert::key(key), convert::document(document))?;
            Outcome::Done
        }
        Op::PutMany { entries, .. } => {
            let entries =
                entries.iter().map(|(key, document)| (convert::key(key), convert::document(document)));
            Outcome::Count(collection.put_many(entries)?)
        }
        Op::InsertWithKey { key, document, .. } => {
            collection.insert_with_key(convert::key(key), convert::document(document))?;
            Outcome::Done
        }
        Op::Replace { key, document, .. } => {
            Outcome::Bool(collection.replace(convert::key(key), convert::document(document))?)
        }
        Op::Delete { key, .. } => Outcome::Bool(collection.delete(convert::key(key))?),
        _ => write_catalog(db, &collection, op)?,
    })
}

fn write_catalog(db: &Db, collection: &Collection, op: &Op) -> holotype::Result<Outcome> {
    let name = collection.name();
    Ok(Outcome::Bool(match op {
        Op::CreateCollection { .. } => db.create_collection(name)?,
        Op::DropCollection { .. } => db.drop_collection(name)?,
        Op::RenameCollection { to, .. } => db.rename_collection(name, to)?,
        Op::ClearCollection { .. } => match collection.clear() {
            Err(Error::UnknownCollection { .. }) => false,
            result => result.map(|()| true)?,
        },
        _ => unreachable!("{op:?} was carried out above"),
    }))
}

fn read(db: &Db, op: &Op) -> holotype::Result<Outcome> {
    let collection = || db.collection(op.collection().expect("this operation names a collection"));
    Ok(match op {
        Op::Get { key, .. } => {
            let found = collection().get(convert::key(key))?;
            Outcome::Document(found.map(|found| decoded(&found)).transpose()?)
        }
        Op::Contains { key, .. } => Outcome::Bool(collection().contains(convert::key(key))?),
        Op::Len { .. } => Outcome::Count(collection().len()?),
        Op::Keys { range, reverse, limit, .. } => {
            Outcome::Keys(keys(&collection(), range, *reverse, *limit)?)
        }
        Op::Scan { range, reverse, limit, .. } => {
            let scan = collection().scan(bounds(range))?;
            Outcome::Entries(entries(if *reverse { scan.reversed() } else { scan }, *limit)?)
        }
        Op::ScanPrefix { prefix, reverse, limit, .. } => {
            let scan = match prefix {
                Prefix::Text(text) => collection().scan_prefix(text)?,
                Prefix::Bytes(bytes) => collection().scan_prefix_bytes(bytes)?,
            };
            Outcome::Entries(entries(if *reverse { scan.reversed() } else { scan }, *limit)?)
        }
        Op::Collections => Outcome::Names(db.collections()),
        Op::Flush => db.flush().map(|()| Outcome::Done)?,
        Op::Verify => match db.verify(true)?.problems.first() {
            None => Outcome::Done,
            Some(problem) => Outcome::Failed(Failure::Corrupt(problem.to_string())),
        },
        // The store has neither yet; it does what they ask for by doing nothing.
        Op::Checkpoint | Op::Clean => Outcome::Done,
        _ => unreachable!("{op:?} is a write"),
    })
}

fn bounds(range: &KeyRange) -> (std::ops::Bound<holotype::Key>, std::ops::Bound<holotype::Key>) {
    (range.from.as_ref().map(convert::key), range.to.as_ref().map(convert::key))
}

fn keys(
    collection: &Collection,
    range: &KeyRange,
    reverse: bool,
    limit: Option<usize>,
) -> holotype::Result<Vec<Key>> {
    let keys = collection.keys(bounds(range))?;
    let keys = if reverse { keys.reversed() } else { keys };
    keys.take(limit.unwrap_or(usize::MAX)).map(|key| Ok(convert::model_key(&key?))).collect()
}

fn entries(scan: holotype::Scan, limit: Option<usize>) -> holotype::Result<Vec<(Key, Document)>> {
    scan.take(limit.unwrap_or(usize::MAX))
        .map(|found| {
            let found = found?;
            Ok((convert::model_key(&found.key().to_key()), decoded(&found)?))
        })
        .collect()
}

fn decoded(found: &DocRef) -> holotype::Result<Document> {
    Ok(convert::model_document(&found.to_document()?))
}

/// Reads all documents of all collections.
///
/// # Errors
/// The first that a read gives.
pub fn contents(db: &Db) -> holotype::Result<Contents> {
    db.collections()
        .into_iter()
        .map(|name| {
            let all = entries(db.collection(name.as_str()).scan(..)?, None)?;
            Ok((name, all.into_iter().collect()))
        })
        .collect()
}

/// What an error says about the operation: certainly not done, or nobody knows.
fn outcome_of(error: Error, op: &Op) -> Outcome {
    let changes = op.is_write() || matches!(op, Op::Flush);
    match error {
        // A crash may show it: after a full disk, until the next write (S-8.5).
        Error::StorageFull { .. } | Error::Io { .. } if changes => Outcome::Unknown,
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

fn refusal_of(error: &Error) -> Option<Refusal> {
    Some(match error {
        Error::UnknownCollection { .. } => Refusal::UnknownCollection,
        Error::InvalidName { .. } => Refusal::InvalidName,
        Error::KeyExists { .. } => Refusal::KeyExists,
        Error::KeyTooLong { .. } => Refusal::KeyTooLong,
        Error::DocumentTooLarge { .. } => Refusal::DocumentTooLarge,
        Error::TooDeep { .. } => Refusal::TooDeep,
        Error::IdsExhausted => Refusal::IdsExhausted,
        Error::LimitReached { .. } => Refusal::LimitReached,
        _ => return None,
    })
}
