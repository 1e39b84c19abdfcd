//! What a story consists of, from its seed.

use std::time::Duration;

use holotype::{Background, Document, Options};
use holotype_model::check::{Rng, Step};
use holotype_model::{Durability, Op};

use super::assignment::Work;
use super::process::Moment;
use crate::random;
use crate::setup::Setup;

/// One story in so many is a ledger.
const LEDGER_EVERY: u64 = 4;
/// And one in so many is of commands.
const COMMANDS_EVERY: u64 = 4;
/// Lives of a story of commands: a creation is killed in the first ones alone.
const COMMAND_LIVES: usize = 12;
/// Calls of a story: some forty lives.
const CALLS: usize = 1000;
/// Lives of a ledger.
const LEDGER_LIVES: usize = 40;
/// Lines that a worker says before it has done anything: that it opens, and that it has opened.
const LINES_OF_OPENING: usize = 2;
/// A step of the store's own threads is not refused but waited for.
const WAIT: Duration = Duration::from_secs(60);
/// So short that the store's own thread flushes within the life of a worker.
const FLUSH_INTERVAL: Duration = Duration::from_millis(2);

/// Sizes and kind of a story, and how many lives it has.
#[derive(Debug)]
pub(super) struct Plan {
    seed: u64,
    pub(super) setup: Setup,
    pub(super) work: Work,
    /// The calls of each life; none in a ledger, where the threads make their own.
    pub(super) lives: Vec<Vec<Op>>,
}

impl Plan {
    pub(super) fn new(seed: u64, documents: &[Document]) -> Plan {
        let setups = [Setup::TINY, Setup::SECTORS, Setup::LARGE, Setup::SMALL, Setup::DEFAULT];
        let setup = setups[(seed % setups.len() as u64) as usize];
        let work = Self::work_of(seed);
        let lives = match work {
            Work::Calls => Vec::new(),
            Work::Ledger => vec![Vec::new(); LEDGER_LIVES],
            Work::Commands => vec![Vec::new(); COMMAND_LIVES],
        };
        if work != Work::Calls {
            return Plan { seed, setup, work, lives };
        }
        let mut lives = vec![Vec::new()];
        for step in random::steps(seed, CALLS, setup, documents) {
            match step {
                Step::Do(op) => lives.last_mut().expect("there is one at least").push(op),
                Step::End(..) => lives.push(Vec::new()),
            }
        }
        Plan { seed, setup, work: Work::Calls, lives }
    }

    /// Of which kind the story is.
    pub(super) fn work_of(seed: u64) -> Work {
        match seed {
            _ if seed % LEDGER_EVERY == LEDGER_EVERY - 1 => Work::Ledger,
            _ if seed % COMMANDS_EVERY == 1 => Work::Commands,
            _ => Work::Calls,
        }
    }

    /// How the store is opened: in half of the stories, with threads of its own.
    pub(super) fn options(&self) -> Options {
        let options = self.setup.options();
        if self.work == Work::Calls && self.seed.is_multiple_of(2) {
            return options;
        }
        options.background(Background::Thread).write_wait(WAIT).flush_interval(FLUSH_INTERVAL)
    }

    /// Numbers for one life, the same in its worker and in its parent.
    pub(super) fn rng(&self, life: u64) -> Rng {
        let mut rng = Rng::seeded(self.seed);
        Rng::seeded(rng.next_u64() ^ life)
    }

    /// When the worker of this life is killed.
    pub(super) fn moment(&self, life: u64) -> Moment {
        let mut rng = self.rng(life);
        let ops = &self.lives[life as usize];
        let calls = if self.work == Work::Ledger { super::ledger::COMMITS as usize } else { ops.len() };
        let heavy: Vec<usize> = (0..ops.len()).filter(|index| is_heavy(&ops[*index])).collect();
        let lines = match rng.below(8) {
            0 => 1,
            1..5 if !heavy.is_empty() => LINES_OF_OPENING + rng.pick(&heavy),
            // Behind the last line, a worker closes the store, and ends.
            _ => LINES_OF_OPENING + rng.below(calls + 2),
        };
        let below = *rng.pick(&[1, 50, 300, 1000, 5000]);
        Moment { lines, delay: Duration::from_micros(rng.below(below) as u64) }
    }
}

/// Whether a call takes long enough that a kill is likely to meet it.
fn is_heavy(op: &Op) -> bool {
    op.durability() == Some(Durability::Synced)
        || matches!(op, Op::Flush | Op::Checkpoint | Op::Clean | Op::Compact | Op::Commit { .. })
}
