//! What is wrong with a history, said as briefly as can be.

use std::fmt;

use holotype_model::check::{Simplify, minimise};

use super::call::Op;
use super::checker::{self, Verdict};
use super::record::{Event, History};
use super::store::{Documents, Store};

/// States looked at for one question of the reduction, of which there are many.
const STATES_MAX: usize = 50_000;

/// A history that nothing explains.
#[derive(Debug, Clone)]
pub struct Inexplicable {
    /// What the store held at first.
    initial: Documents,
    /// Calls whose answers cannot all be right, whatever else happened.
    held: Vec<Event>,
    /// Calls that do not help, whenever they took effect, or if they did not.
    free: Vec<Event>,
}

/// Looks for an order that explains the history, and for one that explains what each power cut left.
///
/// # Errors
/// The part of it for which there is none.
///
/// # Panics
/// Where the search takes far more states than any history should.
pub fn judge(initial: &Documents, history: &History) -> Result<(), Box<Inexplicable>> {
    let judged = |store: &Store, events: &[Event]| match checker::explain(store, events, checker::STATES_MAX)
    {
        Verdict::Explained(_) => Ok(()),
        Verdict::Inexplicable => Err(Box::new(reduce(initial, store, events))),
        Verdict::Undecided => panic!("a history of {} calls takes too many states", events.len()),
    };
    let store = Store::new(initial.clone());
    judged(&store, &history.events)?;
    let store = store.with_cuts();
    for cut in &history.cuts {
        judged(&store, &until(&history.events, cut))?;
    }
    Ok(())
}

/// The history up to a power cut, and the cut. What had not returned by then may have taken effect or not.
///
/// What came later says nothing about the cut: a commit that the disk had by then may have become visible after it.
fn until(events: &[Event], cut: &Event) -> Vec<Event> {
    let (end, _) = cut.returned.as_ref().expect("a cut was answered when the history was made");
    let mut events = prefix(events, *end);
    events.push(cut.clone());
    events
}

/// What had happened by the time `end`. If an order explains the whole, one explains that.
fn prefix(events: &[Event], end: u64) -> Vec<Event> {
    let begun = events.iter().filter(|event| event.invoked < end);
    let has_returned = |event: &Event| event.returned.as_ref().is_some_and(|(returned, _)| *returned <= end);
    begun
        .map(|event| if has_returned(event) { event.clone() } else { freed(event) })
        .filter(matters)
        .collect()
}

/// The call, with any answer.
fn freed(event: &Event) -> Event {
    Event { returned: None, lsn: None, ..event.clone() }
}

/// Whether a call can explain or contradict anything.
fn matters(event: &Event) -> bool {
    event.returned.is_some() || event.call.op.is_write() || event.call.op == Op::Flush
}

/// The index of a call in a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held(usize);

impl Simplify for Held {
    fn simpler(&self) -> Vec<Self> {
        Vec::new()
    }
}

/// Takes away what the contradiction does not need.
///
/// A call cannot simply be left out: then each read of what it wrote would be a contradiction. But its answer can be forgotten,
/// and with it the time of its return: whatever explains the history with the answer explains it without.
fn reduce(initial: &Documents, store: &Store, events: &[Event]) -> Inexplicable {
    let fails = |events: &[Event]| checker::explain(store, events, STATES_MAX) == Verdict::Inexplicable;
    let mut ends: Vec<u64> = events.iter().filter_map(|event| Some(event.returned.as_ref()?.0)).collect();
    ends.sort_unstable();
    let shortest = ends.into_iter().map(|end| prefix(events, end)).find(|prefix| fails(prefix));
    let events = shortest.unwrap_or_else(|| events.to_vec());
    let with = |held: &[Held]| -> Vec<Event> {
        let kept = |(index, event): (usize, &Event)| {
            if held.contains(&Held(index)) { event.clone() } else { freed(event) }
        };
        events.iter().enumerate().map(kept).filter(matters).collect()
    };
    let all = (0..events.len()).map(Held).collect();
    let (mut held, mut free): (Vec<_>, Vec<_>) = with(&minimise(all, |held| fails(&with(held))))
        .into_iter()
        .partition(|event| event.returned.is_some());
    held.sort_by_key(|event| event.invoked);
    free.sort_by_key(|event| event.invoked);
    Inexplicable { initial: initial.clone(), held, free }
}

impl fmt::Display for Inexplicable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inexplicable { initial, held, free } = self;
        writeln!(f, "no order of these calls explains what they were answered:")?;
        let entries: Vec<_> = initial.iter().map(|(key, doc)| (key.clone(), *doc)).collect();
        writeln!(f, "  at first                 {}", super::call::Answer::All(entries))?;
        for event in held {
            if let Some((returned, answer)) = &event.returned {
                let lsn = event.lsn.map(|lsn| format!(", LSN {lsn:x}")).unwrap_or_default();
                let (thread, invoked) = (event.thread, event.invoked);
                writeln!(
                    f,
                    "  thread {thread} at {invoked:3} to {returned:3}  {}{lsn}: {answer}",
                    event.call
                )?;
            }
        }
        if !free.is_empty() {
            writeln!(f, "nor do these help, if and whenever they took effect:")?;
        }
        for event in free {
            writeln!(f, "  thread {} from {:3} on    {}", event.thread, event.invoked, event.call)?;
        }
        Ok(())
    }
}
