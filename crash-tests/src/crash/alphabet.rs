//! The steps that sequences are made of.

use holotype_model::{Document, Durability, Key, Op, Value};

use crate::live::Step;

const COLLECTION: &str = "a";

pub(super) fn number(number: i64) -> Document {
    Document::from([("n".to_owned(), Value::Int(number))])
}

/// A document of somewhat more than `len` bytes.
pub(crate) fn blob(len: usize) -> Document {
    Document::from([("b".to_owned(), Value::Bytes((0..len).map(|i| i as u8).collect()))])
}

pub(crate) fn put(key: &str, document: Document, durability: Durability) -> Step {
    Step::Do(Op::Put { collection: COLLECTION.into(), key: Key::from(key), document, durability })
}

pub(super) fn delete(key: &str) -> Step {
    Step::Do(Op::Delete {
        collection: COLLECTION.into(),
        key: Key::from(key),
        durability: Durability::Synced,
    })
}

/// A commit of more bytes than a segment holds, so of several parts. Its documents are small: a record that is torn tells
/// recovery where to stop, so the ways in which the commit may be torn are about as many as its sectors.
fn many(segment_bytes: u32, durability: Durability) -> Step {
    let documents = (0..segment_bytes / 32).map(|_| blob(16)).collect();
    Step::Do(Op::InsertMany { collection: COLLECTION.into(), documents, durability })
}

fn big(segment_bytes: u32) -> Document {
    blob(segment_bytes as usize * 10 / 16)
}

fn put_op(key: &str, document: Document) -> Op {
    Op::Put { collection: COLLECTION.into(), key: Key::from(key), document, durability: Durability::Synced }
}

/// Changes of one key and of another collection, some of them taken back, in one commit.
fn transaction(segment_bytes: u32) -> Step {
    let inside = |op| Op::Inside(Box::new(op));
    Step::All(vec![
        Op::Begin,
        inside(put_op("x", number(5))),
        Op::Savepoint,
        inside(put_op("y", big(segment_bytes))),
        Op::RollbackTo { savepoint: 0 },
        inside(Op::Delete {
            collection: COLLECTION.into(),
            key: Key::from("x"),
            durability: Durability::Synced,
        }),
        inside(put_op("z", number(6))),
        inside(Op::Insert { collection: "b".into(), document: number(7), durability: Durability::Synced }),
        Op::Commit { durability: Durability::Synced },
    ])
}

/// A commit, and a long one during its sync.
fn overlap(segment_bytes: u32) -> Step {
    Step::Overlap(put_op("x", number(8)), put_op("y", big(segment_bytes)))
}

/// Every kind of step, for segments of this length.
pub fn steps(segment_bytes: u32) -> Vec<Step> {
    use Durability::{Buffered, Synced, Written};
    let collection = || COLLECTION.to_owned();
    vec![
        put("x", number(1), Synced),
        put("x", number(2), Buffered),
        put("y", number(3), Written),
        put("x", big(segment_bytes), Synced),
        Step::Do(Op::Insert { collection: collection(), document: number(4), durability: Synced }),
        many(segment_bytes, Synced),
        many(segment_bytes, Written),
        delete("x"),
        Step::Do(Op::Delete { collection: collection(), key: Key::Int(1), durability: Buffered }),
        Step::Do(Op::DropCollection { collection: collection(), durability: Synced }),
        Step::Do(Op::CreateCollection { collection: "b".to_owned(), durability: Synced }),
        Step::Do(Op::Flush),
        transaction(segment_bytes),
        overlap(segment_bytes),
        Step::Reopen,
        Step::Kill,
        Step::Do(Op::Checkpoint),
        Step::Do(Op::Compact),
        Step::DuringCheckpoint(put_op("x", big(segment_bytes))),
        Step::BeforeSlotSync(put_op("x", big(segment_bytes))),
    ]
}

/// The steps that a store takes after a power cut, of which the first is the likeliest to meet what the cut left: the
/// same bytes at the same place, and a commit long enough to reach the next segment.
pub fn followers(segment_bytes: u32) -> Vec<Step> {
    vec![put("x", number(1), Durability::Synced), many(segment_bytes, Durability::Synced)]
}
