//! Whose turn it is to write. A value: who waits does so elsewhere, and asks again.

use std::collections::VecDeque;

/// Names one who waits to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueNumber(u64);

impl QueueNumber {
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

/// The order of writers: of those who wait, first come, first served.
///
/// A commit of its own needs no turn beyond the lock on the writer, which it holds from begin to end; but it passes those who wait no oftener
/// than another transaction does.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// A transaction holds the turn.
    pub(crate) is_held: bool,
    waiting: VecDeque<QueueNumber>,
    last: u64,
    /// How often somebody else has come in since the first of them began to be the first.
    passed: u32,
    /// The first of them is told that there may be a turn for it, and has not looked since.
    is_told: bool,
}

/// Whoever finds the turn free passes the first of those who wait at most so often. Waking it takes about as long as a short transaction
/// does: if nobody wrote meanwhile, threads that commit a batch each would wait for each other's waking half of the time.
const PASSED_MAX: u32 = 4;

impl Turn {
    //= spec/transactions.md#t-2-9-waiting-for-the-writer
    //# One that finds nobody writing MAY go ahead of them, a bounded number of times in a row.
    /// Queues up. None where nobody writes, and nobody has waited through too many turns: then it is the caller's turn at once.
    pub(crate) fn queue_up(&mut self) -> Option<QueueNumber> {
        if !self.is_held && (self.waiting.is_empty() || self.passed < PASSED_MAX) {
            self.passed += u32::from(!self.waiting.is_empty());
            return None;
        }
        self.last += 1;
        self.waiting.push_back(QueueNumber(self.last));
        Some(QueueNumber(self.last))
    }

    /// Whether it is the turn of `number`; then it waits no longer.
    pub(crate) fn has_come(&mut self, number: QueueNumber) -> bool {
        let come = !self.is_held && self.waiting.front() == Some(&number);
        if come {
            self.waiting.pop_front();
            (self.passed, self.is_told) = (0, false);
        } else if self.waiting.front() == Some(&number) {
            // It came too late, and has to be told again.
            self.is_told = false;
        }
        come
    }

    /// `number` waits no longer: it has lost patience.
    pub(crate) fn give_up(&mut self, number: QueueNumber) {
        if self.waiting.front() == Some(&number) {
            (self.passed, self.is_told) = (0, false);
        }
        self.waiting.retain(|other| *other != number);
    }

    /// The one that is to be told that there may be a turn for it, if there is one.
    pub(crate) fn tell_next(&mut self) -> Option<QueueNumber> {
        if self.is_held || self.is_told {
            return None;
        }
        let first = self.waiting.front().copied()?;
        self.is_told = true;
        Some(first)
    }

    /// Keeps the turn beyond the lock on the writer.
    pub(crate) fn hold(&mut self) {
        assert!(!self.is_held, "one writer at a time");
        self.is_held = true;
    }

    /// Lets the next one have it.
    pub(crate) fn release(&mut self) {
        assert!(self.is_held, "who holds the turn gives it away");
        self.is_held = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_are_let_in_in_the_order_in_which_they_came() {
        let mut turn = Turn::default();
        assert_eq!(turn.queue_up(), None, "nobody is in the way");
        turn.hold();
        let [second, third] = [turn.queue_up(), turn.queue_up()].map(|number| number.expect("one writes"));
        assert!(!turn.has_come(second));
        turn.release();
        assert!(!turn.has_come(third), "the second waits for longer");
        turn.give_up(second);
        assert!(turn.has_come(third) && turn.tell_next().is_none());
    }

    //= spec/transactions.md#t-2-9-waiting-for-the-writer
    //= type=test
    //# One that finds nobody writing MAY go ahead of them, a bounded number of times in a row.
    #[test]
    fn nobody_who_waits_is_passed_for_ever() {
        let mut turn = Turn::default();
        turn.hold();
        let [first, second] = [turn.queue_up(), turn.queue_up()].map(|number| number.expect("one writes"));
        let mut last = vec![second];
        for next in [first, second] {
            for _ in 0..PASSED_MAX {
                turn.release();
                assert_eq!(turn.queue_up(), None, "it finds nobody writing");
                turn.hold();
                assert!(!turn.has_come(next));
            }
            turn.release();
            last.push(turn.queue_up().expect("they have waited for long enough"));
            assert!(turn.has_come(next));
            turn.hold();
        }
        turn.release();
        // Who loses patience leaves the next one no worse off.
        (0..PASSED_MAX).for_each(|_| assert_eq!(turn.queue_up(), None));
        turn.give_up(last[1]);
        assert_eq!(turn.queue_up(), None);
        assert!(!turn.has_come(last[1]) && turn.has_come(last[2]));
    }

    #[test]
    fn the_first_is_told_once_until_it_has_looked() {
        let mut turn = Turn::default();
        turn.hold();
        let [first, second] = [turn.queue_up(), turn.queue_up()].map(|number| number.expect("one writes"));
        assert_eq!(turn.tell_next(), None, "it is not free");
        turn.release();
        assert_eq!([turn.tell_next(), turn.tell_next()], [Some(first), None]);
        turn.hold();
        assert!(!turn.has_come(second) && !turn.has_come(first), "somebody came before it");
        turn.release();
        assert_eq!([turn.tell_next(), turn.tell_next()], [Some(first), None]);
        assert!(turn.has_come(first));
        assert_eq!(turn.tell_next(), Some(second));
        turn.give_up(second);
        let third = {
            turn.hold();
            turn.queue_up().expect("one writes")
        };
        turn.release();
        assert_eq!(turn.tell_next(), Some(third));
    }
}
