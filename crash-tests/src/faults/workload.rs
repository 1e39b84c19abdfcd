//! What the store does while a call fails.

use std::fmt;

use holotype_model::{Durability, Key, Op};

use crate::crash;
use crate::live::Step;

/// A workload, and the disk of which a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Calls of every kind: the disk of the store.
    Calls,
    /// What keeps the file small and makes copies of it, with writes between: the disk of the store.
    Upkeep,
    /// The same: the disk of each copy.
    Copies,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// A step.
    Step(Box<Step>),
    /// A backup, which goes on from the one before where there is one.
    Backup,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 3] = [Part::Calls, Part::Upkeep, Part::Copies];

    /// What is done, for segments of this length.
    pub fn workload(self, segment_bytes: u32) -> Vec<Act> {
        match self {
            Part::Calls => calls(segment_bytes),
            Part::Upkeep | Part::Copies => upkeep(segment_bytes),
        }
    }
}

/// A put of each class, commits of several segments and parts, deletes, a flush, a drop, a transaction,
/// checkpoints, a compaction, another life, changes of one document and of many, and an index from its creation to its end.
fn calls(segment_bytes: u32) -> Vec<Act> {
    let steps = crash::steps(segment_bytes);
    let order = [0, 1, 2, 11, 6, 16, 3, 7, 14, 5, 12, 16, 17, 4, 9, 1, 10, 11];
    let updates = crash::updates(segment_bytes);
    let (put, inc, inc_many, delete_many) = (&updates[0], &updates[4], &updates[2], &updates[3]);
    let indexes = crash::indexes();
    // A creation, writes of which one is refused, a checkpoint, a replacement, a transaction, an end.
    let indexed = [0, 1, 2, 3, 4, 5, 9, 8].map(|index: usize| &indexes[index]);
    let updates = [put, inc, inc_many, delete_many];
    let all = order.iter().map(|index| &steps[*index]).chain(updates).chain(indexed);
    all.map(|step| Act::Step(Box::new(step.clone()))).collect()
}

/// Segments that die, checkpoints that let them be given out again, the file cut at its end; copies, also from a copy.
fn upkeep(segment_bytes: u32) -> Vec<Act> {
    let steps = crash::steps(segment_bytes);
    let step = |index: usize| Act::Step(Box::new(steps[index].clone()));
    let (put, many, checkpoint_and_put, reopen) = (step(0), step(5), step(18), step(14));
    let (from, durability) = ("a".to_owned(), Durability::Synced);
    let clear = Op::ClearCollection { collection: from.clone(), durability };
    let rename = Op::RenameCollection { collection: from.clone(), to: "c".to_owned(), durability };
    let get = Op::Get { collection: from, key: Key::from("x") };
    let call = |op| Act::Step(Box::new(Step::Do(op)));
    let maintain = || Act::Step(Box::new(Step::Maintain));
    vec![
        put.clone(),
        many.clone(),
        call(clear),
        many,
        maintain(),
        Act::Backup,
        call(rename),
        put.clone(),
        maintain(),
        checkpoint_and_put,
        Act::Backup,
        call(get),
        call(Op::Compact),
        put.clone(),
        reopen,
        maintain(),
        Act::Backup,
        put,
    ]
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Calls => "of the store",
            Part::Upkeep => "of the store, kept up and copied",
            Part::Copies => "of each copy",
        })
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Act::Step(step) => step.fmt(f),
            Act::Backup => f.write_str("backup"),
        }
    }
}
