//! The end of a life of the store, and the beginning of the next.

use holotype::Error;
use holotype::storage::sim::{Decisions, SimDisk};
use holotype_model::{Ending, Op, Outcome};

use crate::witness::Witness;

use super::{Feature, Live, Moment, Violation, in_flight, moments, say};

impl Live {
    pub(super) fn reopen(&mut self) -> Result<Vec<Moment>, Violation> {
        self.observe();
        self.witness.record();
        let closed = self.client.close();
        self.at_work.is(Feature::Close);
        let disks = self.witness.take();
        let mut all = Vec::new();
        let ending = match closed {
            Ok(()) if self.oracle.is_poisoned() => {
                return Err("a store that had stopped is closed with success".to_owned());
            }
            Ok(()) => {
                // Until it returns, a close promises no more than a flush.
                let before = in_flight(&self.oracle, &Op::Flush);
                self.oracle.judge(&Op::Flush, &Outcome::Done).map_err(say)?;
                all.extend(moments(disks, &before, &self.oracle));
                Ending::Close
            }
            Err(Error::Poisoned { .. }) if self.oracle.is_poisoned() => Ending::Kill,
            Err(error) => return Err(format!("closing: {error}")),
        };
        let before = self.oracle.clone();
        let opening = self.next_life(ending, self.witness.of_next_life())?;
        let before = if ending == Ending::Close { &self.oracle } else { &before };
        all.extend(moments(opening, before, &self.oracle));
        Ok(all)
    }

    pub(super) fn kill(&mut self) -> Result<Vec<Moment>, Violation> {
        self.observe();
        let before = self.oracle.clone();
        // Power may go before the opening is over: then nothing that it found is promised yet.
        let opening = self.next_life(Ending::Kill, self.witness.of_next_life())?;
        let mut all = moments(opening, &before, &self.oracle);
        // spec. Whatever it did, or left undone: what it answers with from now on is there to stay.
        all.push(Moment { disk: self.disk().fork(), oracle: self.oracle.clone() });
        Ok(all)
    }

    /// Power goes, and what it left open is settled by `choice`.
    pub(super) fn cut_power(&mut self, choice: u64) -> Result<Vec<Moment>, Violation> {
        self.observe();
        self.witness.switch_off();
        self.disk().set_decisions(Decisions::seeded(choice));
        self.disk().crash();
        let opening = self.next_life(Ending::PowerCut, self.witness.of_next_life())?;
        Ok(moments(opening, &self.oracle, &self.oracle))
    }

    /// Ends this life, and begins the next on the same disk. Gives the disk after each change that opening makes.
    fn next_life(&mut self, ending: Ending, witness: Witness) -> Result<Vec<SimDisk>, Violation> {
        self.witness.switch_off();
        let (mut next, opening, survived) = Live::begin(self.setup, witness, self.oracle.clone(), ending)?;
        self.tally.count_ending(ending, survived);
        (next.pairs, next.tally, next.index_calls) = (self.pairs(), self.tally, self.index_calls);
        next.at_work.set_full(self.at_work.is_full());
        *self = next;
        Ok(opening)
    }
}
