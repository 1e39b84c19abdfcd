//! Who writes, and where the threads wait that want to write next.

use crate::core::QueueNumber;
use crate::sync::{Condvar, Instant, thread};

/// Where those wait who wait for a turn: the next one is told, and the others sleep on.
#[derive(Debug)]
pub(super) struct TurnEnded([Condvar; 8]);

impl TurnEnded {
    pub(super) fn new() -> Self {
        TurnEnded(std::array::from_fn(|_| Condvar::new()))
    }

    pub(super) fn of(&self, number: QueueNumber) -> &Condvar {
        &self.0[number.number() as usize % self.0.len()]
    }

    /// Another may wait at the same place, and finds that it was not meant.
    pub(super) fn tell(&self, number: QueueNumber) {
        self.of(number).notify_all();
    }
}

/// A transaction's owner.
#[derive(Debug, Clone)]
pub(super) struct Holder {
    pub(super) thread: thread::ThreadId,
    pub(super) name: String,
    pub(super) since: Instant,
}

impl Holder {
    /// This thread.
    pub(super) fn this(since: Instant) -> Self {
        let current = thread::current();
        let name = match current.name() {
            Some(name) => format!("thread {name:?}"),
            None => format!("{:?}", current.id()),
        };
        Holder { thread: current.id(), name, since }
    }
}
