//! What can happen to a store, and the word for each in a replay.

use std::fmt;
use std::str::FromStr;

use holotype_model::index::{DefinitionText, PathText};
use holotype_model::update::{Action, By, Change, PathStep};
use holotype_model::{Document, Durability, Key, Op, Value};

/// The collection that single writes go to.
pub(super) const COLLECTION: &str = "a";
/// A key in it.
pub(super) const FIRST_KEY: &str = "k0";
/// The other one, which begins and ends.
const OTHER: &str = "b";

/// Something that happens to a store: a call, a part of one, or the end of a life of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// A put of class `Buffered`, under the key of this number, of this small value.
    Put(u8, u8),
    /// The same, of class `Synced`.
    PutSynced(u8, u8),
    /// A put, of class `Written`, of more than a segment holds.
    Long,
    /// A delete of a key, of class `Buffered`.
    Delete(u8),
    /// One more in the document of a key, of class `Buffered`.
    Increment(u8),
    /// One more in every document, of class `Synced`.
    IncrementAll,
    /// An insert into the other collection, under an id that the store gives.
    Insert,
    /// The other collection ends.
    Drop,
    /// An index of the numbers of the documents is made.
    Index,
    /// It ends.
    Unindex,
    /// A transaction begins.
    Begin,
    /// A put inside the transaction.
    PutInside(u8),
    /// A delete inside the transaction.
    DeleteInside(u8),
    /// One more in every document, inside the transaction.
    IncrementAllInside,
    /// The transaction commits, of class `Synced`.
    Commit,
    /// The transaction is rolled back.
    Rollback,
    /// Everything is made durable.
    Flush,
    /// A put of class `Synced` that nobody waits for.
    Defer(u8),
    /// The first part of a sync: what is placed is handed over.
    BeginSync,
    /// The second: the disk's.
    AskDisk,
    /// The third: what is durable is shown.
    EndSync,
    /// A checkpoint.
    Checkpoint,
    /// A checkpoint, and a put of class `Synced` between the writing of its records and its end.
    CheckpointAround,
    /// A step of maintenance: cleaning, or what else is due.
    Maintain,
    /// A snapshot is taken.
    Snapshot,
    /// The oldest snapshot is let go.
    Release,
    /// A flush during which the disk drops what it was to make durable, and says so.
    SyncFails,
    /// The file may not grow any more.
    Fill,
    /// It may again.
    MakeRoom,
    /// The store is closed.
    Close,
    /// The process is killed.
    Kill,
    /// The power goes.
    Cut,
    /// The process is killed, and a sector of the newest checkpoint is lost.
    LoseCheckpoint,
    /// The process is killed, and the sector is lost in which the record of the first key stands.
    LoseSector,
    /// The store is opened.
    Open,
}

/// A step with the word for it.
fn fixed() -> [(Step, &'static str); 28] {
    [
        (Step::Long, "long"),
        (Step::IncrementAll, "increment-all"),
        (Step::IncrementAllInside, "increment-all-inside"),
        (Step::Insert, "insert"),
        (Step::Drop, "drop"),
        (Step::Index, "index"),
        (Step::Unindex, "unindex"),
        (Step::Begin, "begin"),
        (Step::Commit, "commit"),
        (Step::Rollback, "rollback"),
        (Step::Flush, "flush"),
        (Step::BeginSync, "begin-sync"),
        (Step::AskDisk, "ask-disk"),
        (Step::EndSync, "end-sync"),
        (Step::Checkpoint, "checkpoint"),
        (Step::CheckpointAround, "checkpoint-around"),
        (Step::Maintain, "maintain"),
        (Step::Snapshot, "snapshot"),
        (Step::Release, "release"),
        (Step::SyncFails, "sync-fails"),
        (Step::Fill, "fill"),
        (Step::MakeRoom, "make-room"),
        (Step::Close, "close"),
        (Step::Kill, "kill"),
        (Step::Cut, "cut"),
        (Step::LoseCheckpoint, "lose-checkpoint"),
        (Step::LoseSector, "lose-sector"),
        (Step::Open, "open"),
    ]
}

/// Words that a number follows.
fn numbered(word: &str, number: u8) -> Option<Step> {
    Some(match word {
        "delete" => Step::Delete(number),
        "increment" => Step::Increment(number),
        "put-inside" => Step::PutInside(number),
        "delete-inside" => Step::DeleteInside(number),
        "defer" => Step::Defer(number),
        _ => return None,
    })
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Put(key, value) => write!(f, "put{key}={value}"),
            Step::PutSynced(key, value) => write!(f, "sync{key}={value}"),
            Step::Delete(key) => write!(f, "delete{key}"),
            Step::Increment(key) => write!(f, "increment{key}"),
            Step::PutInside(key) => write!(f, "put-inside{key}"),
            Step::DeleteInside(key) => write!(f, "delete-inside{key}"),
            Step::Defer(key) => write!(f, "defer{key}"),
            step => {
                let known = fixed().into_iter().find(|(known, _)| known == step);
                f.write_str(known.expect("each step without a number has a word").1)
            }
        }
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((step, _)) = fixed().into_iter().find(|(_, word)| *word == text) {
            return Ok(step);
        }
        let unknown = || format!("no step is called {text:?}");
        let number = |text: &str| text.parse::<u8>().map_err(|_| unknown());
        if let Some((place, value)) = text.split_once('=') {
            let value = number(value)?;
            return match (place.strip_prefix("put"), place.strip_prefix("sync")) {
                (Some(key), _) => Ok(Step::Put(number(key)?, value)),
                (_, Some(key)) => Ok(Step::PutSynced(number(key)?, value)),
                _ => Err(unknown()),
            };
        }
        let digits = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
        let (word, digits) = text.split_at(digits);
        numbered(word, number(digits)?).ok_or_else(unknown)
    }
}

fn key(number: u8) -> Key {
    Key::from(format!("k{number}").as_str())
}

fn put(number: u8, document: Document, durability: Durability) -> Op {
    Op::Put { collection: COLLECTION.to_owned(), key: key(number), document, durability }
}

fn small(value: u8) -> Document {
    Document::from([("n".to_owned(), Value::Int(i64::from(value)))])
}

fn delete(number: u8, durability: Durability) -> Op {
    Op::Delete { collection: COLLECTION.to_owned(), key: key(number), durability }
}

fn index() -> String {
    "i".to_owned()
}

fn increment() -> By {
    let path = vec![PathStep::Name("n".to_owned())];
    By::Update(vec![Change::At { path, action: Action::Inc(Value::Int(1)) }])
}

/// A document of more than a segment has no number to add to, and is not admitted.
fn increment_all() -> Op {
    let (collection, filter) = (COLLECTION.to_owned(), "@.n >= 0".to_owned());
    Op::UpdateMany { collection, filter, by: increment(), durability: Durability::Synced }
}

/// What a put that nobody waits for puts, and one that comes in the midst of a checkpoint: told from all others.
const DEFERRED: u8 = 100;
const AMID_CHECKPOINT: u8 = 101;
const INSIDE: u8 = 102;

/// The put that comes in the midst of a checkpoint.
pub(super) fn amid_checkpoint() -> Op {
    put(0, small(AMID_CHECKPOINT), Durability::Synced)
}

impl Step {
    /// The call that the step is, if it is just a call.
    pub(super) fn op(self, segment_bytes: u32) -> Option<Op> {
        use Durability::{Buffered, Synced, Written};
        let inside = |op| Op::Inside(Box::new(op));
        Some(match self {
            Step::Put(key, value) => put(key, small(value), Buffered),
            Step::PutSynced(key, value) => put(key, small(value), Synced),
            Step::Long => {
                let bytes = vec![7; segment_bytes as usize];
                put(0, Document::from([("b".to_owned(), Value::Bytes(bytes))]), Written)
            }
            Step::Delete(key) => delete(key, Buffered),
            Step::Increment(number) => Op::Update {
                collection: COLLECTION.to_owned(),
                key: key(number),
                by: increment(),
                durability: Buffered,
            },
            Step::IncrementAll => increment_all(),
            Step::Insert => {
                Op::Insert { collection: OTHER.to_owned(), document: small(0), durability: Buffered }
            }
            Step::Drop => Op::DropCollection { collection: OTHER.to_owned(), durability: Synced },
            Step::Index => {
                let path = PathText { path: "$.n".to_owned(), descending: false };
                let definition = DefinitionText { paths: vec![path], ..DefinitionText::default() };
                Op::CreateIndex {
                    collection: COLLECTION.to_owned(),
                    index: index(),
                    definition,
                    durability: Synced,
                }
            }
            Step::Unindex => {
                Op::DropIndex { collection: COLLECTION.to_owned(), index: index(), durability: Synced }
            }
            Step::Begin => Op::Begin,
            Step::PutInside(key) => inside(put(key, small(INSIDE), Synced)),
            Step::DeleteInside(key) => inside(delete(key, Synced)),
            Step::IncrementAllInside => inside(increment_all()),
            Step::Commit => Op::Commit { durability: Synced },
            Step::Rollback => Op::Rollback,
            Step::Flush | Step::SyncFails => Op::Flush,
            Step::Defer(key) => put(key, small(DEFERRED), Synced),
            Step::Checkpoint => Op::Checkpoint,
            Step::Maintain => Op::Clean,
            Step::Snapshot => Op::TakeSnapshot,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_read_back_from_its_word() {
        let puts = [Step::Put(1, 2), Step::PutSynced(0, 1)];
        let numbered =
            [Step::Delete(1), Step::Increment(1), Step::PutInside(0), Step::DeleteInside(1), Step::Defer(0)];
        for step in fixed().into_iter().map(|(step, _)| step).chain(puts).chain(numbered) {
            assert_eq!(step.to_string().parse(), Ok(step));
        }
        for wrong in ["", "put", "put=1", "putx=1", "delete", "sit0=1", "begin-", "delete300"] {
            assert!(wrong.parse::<Step>().is_err(), "{wrong:?} is no step");
        }
    }
}
