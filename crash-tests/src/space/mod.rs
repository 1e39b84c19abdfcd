//! How long a file may be, and what it may cost to keep it that short: workloads of several shapes, and at each step the bounds of
//! `spec/space.md`.
//!
//! | file | job |
//! |---|---|
//! | `measured` | a store, its documents, and what its file may hold |
//! | `shapes` | the workloads |
//! | `bill` | what they cost |
//! | `rest` | what is left behind: by commits one by one, at close, and in the order of keys |
//! | `transactions` | how much one commit may be |

mod bill;
mod measured;
mod rest;
mod shapes;
mod transactions;

pub(crate) use measured::{Measured, options, say};

use std::fmt;

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls that wrote.
    pub calls: u64,
    /// Steps of maintenance and of compaction.
    pub steps: u64,
    /// Times at which the length of a file was held against its bound.
    pub bounds: u64,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { calls, steps, bounds } = self;
        write!(
            f,
            "{calls} writes, {steps} steps of maintenance, {bounds} lengths of a file held against their bounds"
        )
    }
}

/// A story, and its name.
type Story = (&'static str, fn(&mut Tally) -> Result<(), String>);

const STORIES: &[Story] = &[
    ("updates of any document", |tally| shapes::run(&shapes::UPDATES, tally)),
    ("updates of a few documents", |tally| shapes::run(&shapes::FEW, tally)),
    ("a queue", |tally| shapes::run(&shapes::QUEUE, tally)),
    ("most is deleted", |tally| shapes::run(&shapes::DELETED, tally)),
    ("documents alone are added", |tally| shapes::run(&shapes::ADDED, tally)),
    ("a store of a few segments", |tally| shapes::run(&shapes::SMALL, tally)),
    ("long documents", |tally| shapes::run(&shapes::LONG, tally)),
    ("a backup in the midst", |tally| shapes::run(&shapes::COPIED, tally)),
    ("bursts", |tally| shapes::run(&shapes::BURSTS, tally)),
    ("tides", |tally| shapes::run(&shapes::TIDES, tally)),
    ("a file that may not grow", |tally| shapes::run(&shapes::LIMITED, tally)),
    ("compacted again and again", |tally| shapes::run(&shapes::COMPACTED, tally)),
    ("close", rest::close),
    ("transactions", transactions::memory),
    ("bulk loads", transactions::loads),
    ("parts of a commit", transactions::parts),
    ("commits one by one", rest::one_by_one),
    ("order of keys", rest::order),
    ("small stores", rest::small),
    ("longest documents", transactions::longest),
];

/// Tells every story.
///
/// # Errors
/// What a store did that it may not do.
pub fn every_check() -> Result<Tally, (Tally, String)> {
    let mut tally = Tally::default();
    for (name, story) in STORIES {
        story(&mut tally).map_err(|what| (tally, format!("{name}: {what}")))?;
    }
    Ok(tally)
}
