//! The steps that a life is made of.

use std::fmt;

use holotype_model::check::{self, Simplify};
use holotype_model::{Ending, Op};

/// One step of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A call.
    Do(Op),
    /// Calls, one after the other: a transaction, from its begin to its end.
    All(Vec<Op>),
    /// Two writes of class `Synced`. The second is placed while the sync for the first is under way.
    Overlap(Op, Op),
    /// Maintenance until nothing is due.
    Maintain,
    /// A checkpoint, and this call when the first of its records are written.
    DuringCheckpoint(Op),
    /// A checkpoint, and this call when a slot that names it is written and not yet synced.
    BeforeSlotSync(Op),
    /// A backup, and these steps once its first segment is copied.
    DuringBackup(Vec<Step>),
    /// A call that builds an index, and one of these steps each time that some documents are gone through. At their end the build is
    /// cancelled, or goes on.
    DuringBuild {
        /// The creation or replacement.
        op: Op,
        /// The steps.
        steps: Vec<Step>,
        /// Whether it is cancelled then.
        is_cancelled: bool,
    },
    /// The first two documents of the collection change places, in one call.
    Swap(String),
    /// The first document of the collection is inserted once more.
    Copy(String),
    /// A checkpoint that one slot names, and then no more is done for it: as where there is no room for the other.
    HalfPublish,
    /// A call in which one write to the disk finds no room.
    NoRoom {
        /// Which, counted from the last one of the call, 0, and around its first one.
        write: u64,
        /// The call.
        op: Op,
    },
    /// A call whose first sync fails. After that the store writes no more.
    FailSync(Op),
    /// The disk has no room for a longer file from now on.
    Fill,
    /// It has again.
    MakeRoom,
    /// Somebody begins to follow the change feed, and listens at the next look. There are two of these at most: the older one goes.
    Follow,
    /// The follower of this number, the oldest being 0, listens now.
    CatchUp(usize),
    /// Everything is read, through snapshots and by followers too, and held against the model.
    Look,
    /// The store is closed and opened again.
    Reopen,
    /// The process is killed, and the store opened again.
    Kill,
    /// The power is cut, and the store opened again. The number settles what the cut left.
    PowerCut(u64),
}

impl Step {
    /// Whether it says something about a store that stopped writing.
    pub(super) fn is_for_stopped(&self) -> bool {
        match self {
            Step::Do(op) => !matches!(op, Op::Checkpoint | Op::Clean | Op::Compact | Op::Verify),
            Step::All(_) | Step::MakeRoom | Step::Look | Step::Reopen | Step::Kill | Step::PowerCut(_) => {
                true
            }
            _ => false,
        }
    }
}

impl From<check::Step> for Step {
    fn from(step: check::Step) -> Step {
        match step {
            check::Step::Do(op) => Step::Do(op),
            check::Step::End(Ending::Close, _) => Step::Reopen,
            check::Step::End(Ending::Kill, _) => Step::Kill,
            check::Step::End(Ending::PowerCut, choice) => Step::PowerCut(choice),
        }
    }
}

impl Simplify for Step {
    fn simpler(&self) -> Vec<Self> {
        match self {
            Step::Do(op) => check::Step::Do(op.clone()).simpler().into_iter().map(Step::from).collect(),
            Step::DuringBackup(steps) => with_one_less(steps).map(Step::DuringBackup).collect(),
            Step::DuringBuild { op, steps, is_cancelled } => {
                let during = |steps| Step::DuringBuild { op: op.clone(), steps, is_cancelled: *is_cancelled };
                let alone = (!is_cancelled).then(|| Step::Do(op.clone()));
                alone.into_iter().chain(with_one_less(steps).map(during)).collect()
            }
            Step::NoRoom { write, op } => {
                let fewer = write.checked_sub(1).map(|write| Step::NoRoom { write, op: op.clone() });
                fewer.into_iter().collect()
            }
            Step::PowerCut(choice) => [0, 1, 2, 3, choice % 256]
                .into_iter()
                .filter(|smaller| smaller < choice)
                .map(Step::PowerCut)
                .collect(),
            _ => Vec::new(),
        }
    }
}

/// The steps without each of them.
fn with_one_less(steps: &[Step]) -> impl Iterator<Item = Vec<Step>> + '_ {
    (0..steps.len()).map(|gone| {
        let mut steps = steps.to_vec();
        steps.remove(gone);
        steps
    })
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Do(op) => write!(f, "{op}"),
            Step::All(ops) => {
                let ops: Vec<String> = ops.iter().map(Op::to_string).collect();
                f.write_str(&ops.join(", "))
            }
            Step::Overlap(first, second) => write!(f, "{first}, and during its sync {second}"),
            Step::Maintain => f.write_str("maintain"),
            Step::DuringCheckpoint(op) => write!(f, "checkpoint, and in its midst {op}"),
            Step::BeforeSlotSync(op) => write!(f, "checkpoint, and before the sync of its slot {op}"),
            Step::DuringBackup(steps) => write!(f, "backup, and in its midst {}", list(steps)),
            Step::DuringBuild { op, steps, is_cancelled } => {
                let end = if *is_cancelled { ", then cancelled" } else { "" };
                write!(f, "{op}, and in its midst {}{end}", list(steps))
            }
            Step::Swap(collection) => write!(f, "swap two documents of {collection:?}"),
            Step::Copy(collection) => write!(f, "insert a copy into {collection:?}"),
            Step::HalfPublish => f.write_str("checkpoint, named by one slot alone"),
            Step::NoRoom { write, op } => write!(f, "{op}, with no room for the last write but {write}"),
            Step::FailSync(op) => write!(f, "{op}, with a sync that fails"),
            Step::Fill => f.write_str("the disk is full"),
            Step::MakeRoom => f.write_str("the disk has room again"),
            Step::Follow => f.write_str("follow"),
            Step::CatchUp(number) => write!(f, "follower {number} listens"),
            Step::Look => f.write_str("look"),
            Step::Reopen => f.write_str("close, open"),
            Step::Kill => f.write_str("kill, open"),
            Step::PowerCut(choice) => write!(f, "power cut (choice {choice:#x}), open"),
        }
    }
}

fn list(steps: &[Step]) -> String {
    steps.iter().map(Step::to_string).collect::<Vec<_>>().join(", ")
}
