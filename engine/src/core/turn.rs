//! Whose turn it is to write. A value: who waits does so elsewhere, and asks again.

use std::collections::VecDeque;

/// Names one who waits to write, or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

impl Ticket {
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

/// The order of writers: first come, first served.
///
/// A commit of its own needs no turn beyond the lock on the writer, which it holds from begin to end; but it does not pass anybody who
/// waits.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    holder: Option<Ticket>,
    waiting: VecDeque<Ticket>,
    last: u64,
}

impl Turn {
    /// Queues up. None where nobody writes or waits: then it is the caller's turn at once.
    pub(crate) fn queue_up(&mut self) -> Option<Ticket> {
        if self.holder.is_none() && self.waiting.is_empty() {
            return None;
        }
        self.last += 1;
        self.waiting.push_back(Ticket(self.last));
        Some(Ticket(self.last))
    }

    /// Whether it is the turn of `ticket`; then it waits no longer.
    pub(crate) fn has_come(&mut self, ticket: Ticket) -> bool {
        let come = self.holder.is_none() && self.waiting.front() == Some(&ticket);
        if come {
            self.waiting.pop_front();
        }
        come
    }

    /// `ticket` waits no longer: it has lost patience.
    pub(crate) fn give_up(&mut self, ticket: Ticket) {
        self.waiting.retain(|other| *other != ticket);
    }

    /// Keeps the turn beyond the lock on the writer.
    pub(crate) fn hold(&mut self) -> Ticket {
        assert!(self.holder.is_none(), "one writer at a time");
        self.last += 1;
        self.holder = Some(Ticket(self.last));
        Ticket(self.last)
    }

    /// Lets the next one have it.
    pub(crate) fn release(&mut self, ticket: Ticket) {
        assert_eq!(self.holder, Some(ticket), "who holds the turn gives it away");
        self.holder = None;
    }

    /// Whether a transaction holds the turn.
    pub(crate) fn is_held(&self) -> bool {
        self.holder.is_some()
    }

    /// Whether anybody waits.
    pub(crate) fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_are_let_in_in_the_order_in_which_they_came() {
        let mut turn = Turn::default();
        assert_eq!(turn.queue_up(), None, "nobody is in the way");
        let first = turn.hold();
        let [second, third] = [turn.queue_up(), turn.queue_up()].map(|ticket| ticket.expect("one writes"));
        assert!(!turn.has_come(second));
        turn.release(first);
        assert!(!turn.has_come(third), "the second waits for longer");
        let late = turn.queue_up().expect("nobody passes those who wait");
        turn.give_up(second);
        assert!(turn.has_come(third) && turn.is_waited_for());
        assert!(turn.has_come(late) && !turn.is_waited_for());
    }
}
