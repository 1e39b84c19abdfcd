//! Strict serializability: threads call the real store, and for what they were told there must be an order of their calls, each
//! at one moment between its invocation and its return, that explains all of it (spec: T-2.2).
//!
//! | file | what it is |
//! |---|---|
//! | [`call`] | what is asked and answered |
//! | [`store`] | the sequential specification |
//! | [`checker`] | the search for an order |
//! | [`plan`] | what the threads do, from a seed |
//! | [`disk`] | a simulated disk that takes its time |
//! | [`record`](mod@record) | making a history |
//! | [`explain`] | judging one, and saying briefly what is wrong |
//! | `schedules` | the same under schedules from a seed, with a cleaner, and a power cut at each sync |
//!
//! Power cuts are calls too: one of the threads copies the disk and goes on, and what is found on the copy must be the state at
//! that moment, or one since the last durable commit. A reader that was shown a commit returned before that moment, so its commit
//! is in front of the cut in any order: if the disk did not have it, nothing explains that (spec: T-4.2).
//!
//! The operations follow from the seed, and who comes first does not: a contradiction may need several runs to be met again, so
//! it is printed with every call that has to do with it.

pub mod call;
pub mod checker;
pub mod disk;
pub mod explain;
mod perform;
pub mod plan;
pub mod record;
#[cfg(all(test, shuttle, feature = "seeded"))]
mod schedules;
mod snapshots;
pub mod store;
#[cfg(test)]
mod tests;
mod transact;

use std::fmt;
use std::ops::AddAssign;
#[cfg(not(shuttle))]
use std::thread::yield_now;

#[cfg(shuttle)]
use shuttle::thread::yield_now;

use plan::Plan;

/// How much was done. A run that met none of something has shown nothing about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Histories made and explained.
    pub histories: u64,
    /// Calls in them.
    pub calls: u64,
    /// Pairs of calls of two threads, one of them a write, of which neither had returned when the other was invoked.
    pub overlaps: u64,
    /// Power cuts.
    pub cuts: u64,
    /// How often snapshots were read again.
    pub snapshots_read: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.histories += other.histories;
        self.calls += other.calls;
        self.overlaps += other.overlaps;
        self.cuts += other.cuts;
        self.snapshots_read += other.snapshots_read;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { histories, calls, overlaps, cuts, snapshots_read } = self;
        write!(
            f,
            "{histories} histories, {calls} calls, {overlaps} overlaps with a write, {cuts} power cuts, "
        )?;
        write!(f, "{snapshots_read} second looks at snapshots")
    }
}

/// Makes the history that belongs to `seed`, and looks for the order that explains it.
///
/// # Errors
/// What is wrong, with the seed: several lines.
pub fn check(seed: u64) -> Result<Tally, String> {
    let plan = Plan::seeded(seed);
    let wrong = |what: &dyn fmt::Display| format!("seed {seed}, {}: {what}", plan.setup.name);
    let history = record::record(&plan).map_err(|what| wrong(&what))?;
    explain::judge(&plan.initial, &history).map_err(|what| wrong(&what))?;
    Ok(Tally {
        histories: 1,
        calls: (history.events.len() + history.cuts.len()) as u64,
        overlaps: overlaps(&history.events),
        cuts: history.cuts.len() as u64,
        snapshots_read: history.snapshots_read,
    })
}

fn overlaps(events: &[record::Event]) -> u64 {
    let span = |event: &record::Event| {
        let returned = event.returned.as_ref().map_or(u64::MAX, |(returned, _)| *returned);
        (event.invoked, returned)
    };
    let is_overlap = |one: &record::Event, other: &record::Event| {
        let ((begin, end), (other_begin, other_end)) = (span(one), span(other));
        one.thread < other.thread
            && (one.call.op.is_write() || other.call.op.is_write())
            && begin < other_end
            && other_begin < end
    };
    let pairs = events.iter().flat_map(|one| events.iter().map(move |other| (one, other)));
    pairs.filter(|(one, other)| is_overlap(one, other)).count() as u64
}
