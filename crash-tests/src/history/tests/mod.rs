//! Histories made by hand, to show what the checker accepts and what it does not.

mod against_stateright;
mod by_hand;
mod reduced;

use holotype::Durability;
use holotype_model::Key;

use super::call::{Answer, Call, Doc, Op};
use super::checker::{self, Verdict};
use super::record::Event;
use super::store::{Documents, Store};

/// A history in the making. Calls are numbered from 1 on.
#[derive(Debug, Default)]
struct Told {
    events: Vec<Event>,
}

impl Told {
    /// A call that begins and ends at these times.
    fn call(self, thread: usize, [invoked, returned]: [u64; 2], op: Op, answer: Answer) -> Self {
        self.push(thread, Durability::Synced, invoked, op, Some((returned, answer)))
    }

    /// The same, with a commit that is only in memory.
    fn buffered(self, thread: usize, [invoked, returned]: [u64; 2], op: Op, answer: Answer) -> Self {
        self.push(thread, Durability::Buffered, invoked, op, Some((returned, answer)))
    }

    /// A call that has not returned.
    fn pending(self, thread: usize, invoked: u64, op: Op) -> Self {
        self.push(thread, Durability::Synced, invoked, op, None)
    }

    /// Gives the last call a place in the log.
    fn at_lsn(mut self, lsn: u64) -> Self {
        self.events.last_mut().expect("there is a call").lsn = Some(lsn);
        self
    }

    fn push(
        mut self,
        thread: usize,
        class: Durability,
        invoked: u64,
        op: Op,
        returned: Option<(u64, Answer)>,
    ) -> Self {
        let id = self.events.len() as u32 + 1;
        let call = Call { id, class, op };
        self.events.push(Event { thread, call, invoked, returned, lsn: None });
        self
    }

    fn verdict(&self) -> Verdict {
        checker::explain(&store().with_cuts(), &self.events, checker::STATES_MAX)
    }

    #[track_caller]
    fn is_explained(&self) {
        assert!(matches!(self.verdict(), Verdict::Explained(_)), "{:#?}", self.events);
    }

    #[track_caller]
    fn is_not_explained(&self) {
        assert_eq!(self.verdict(), Verdict::Inexplicable, "{:#?}", self.events);
    }
}

/// What every history begins with: 10 under 1 and under 2.
fn initial() -> Documents {
    [(Key::from(1), doc(10, 0)), (Key::from(2), doc(10, 0))].into()
}

fn store() -> Store {
    Store::new(initial())
}

fn key(key: i64) -> Key {
    Key::Int(key)
}

fn doc(n: i64, by: u32) -> Doc {
    Doc { n, by }
}

fn found(n: i64, by: u32) -> Answer {
    Answer::Found(Some(doc(n, by)))
}

fn all(entries: &[(i64, i64, u32)]) -> Answer {
    Answer::All(entries.iter().map(|(id, n, by)| (key(*id), doc(*n, *by))).collect())
}
