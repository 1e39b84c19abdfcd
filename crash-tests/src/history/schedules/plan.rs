//! What the threads of a day do: all of it follows from a seed, and so does who comes first.

use std::cell::RefCell;
use std::collections::BTreeMap;

use holotype::{Db, Durability, Options};
use holotype_model::check::Rng;

use crate::history::call::{Call, Doc, Op};
use crate::history::perform::Hands;
use crate::history::plan::{self, Step};
use crate::history::store::Documents;
use crate::setup::Setup;

/// Segments of 512 bytes: a document or three.
pub(super) const SETUP: Setup = Setup::TINY;

/// Callers, whose calls are of every kind.
const CALLERS: usize = 2;
const CALLS: u32 = 12;

/// What the store has been through when the threads begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Start {
    /// One commit.
    New,
    /// Most of the log is dead, and nothing was cleaned.
    Dead,
    /// Segments are freed, and wait for the checkpoints that have them as freed.
    Freed,
    /// Some places were used again already, some are free.
    Used,
}

thread_local! {
    /// The stores that were prepared, for each start and number of keys.
    static MADE: RefCell<BTreeMap<(Start, usize), Vec<u8>>> = const { RefCell::new(BTreeMap::new()) };
}

/// One day.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) start: Start,
    pub(super) initial: Documents,
    /// The threads that ask for answers.
    pub(super) threads: Vec<Vec<Step>>,
    /// The classes of commits to a collection that nobody asks about, which fill segments.
    pub(super) fills: Vec<Durability>,
    /// Whether the cleaner takes a checkpoint before each of its steps.
    pub(super) checkpoints: Vec<bool>,
}

impl Plan {
    pub(super) fn seeded(seed: u64) -> Self {
        let mut rng = Rng::seeded(seed);
        let keys = plan::keys();
        let keys = &keys[..2 + rng.below(3)];
        let initial = keys.iter().map(|key| (key.clone(), Doc { n: 10, by: 0 })).collect();
        let mut threads = vec![Vec::new(); CALLERS + 2];
        for id in 1..=CALLS {
            let call = Call { id, class: plan::class(&mut rng), op: plan::op(&mut rng, keys) };
            threads[rng.below(CALLERS)].push(Step { yields: 0, call });
        }
        let mut id = CALLS;
        let mut ask = |thread: &mut Vec<Step>, op| {
            id += 1;
            thread.push(Step { yields: 0, call: Call { id, class: Durability::Buffered, op } });
        };
        ask(&mut threads[CALLERS], Op::Snapshot);
        keys.iter().for_each(|key| ask(&mut threads[CALLERS], Op::Get(key.clone())));
        ask(&mut threads[CALLERS], Op::Scan);
        (0..2).for_each(|_| ask(&mut threads[CALLERS + 1], Op::Flush));
        Plan {
            seed,
            start: *rng.pick(&[Start::New, Start::Dead, Start::Freed, Start::Used]),
            initial,
            threads,
            fills: (0..10).map(|_| plan::class(&mut rng)).collect(),
            checkpoints: (0..10).map(|_| rng.one_in(2)).collect(),
        }
    }

    pub(super) fn options(&self) -> Options {
        // The other threads do end their transactions; a cache of a few blocks has reads go to the disk.
        let options = SETUP.options().write_wait(std::time::Duration::from_secs(600));
        options.flush_bytes(if self.seed.is_multiple_of(2) { 1 } else { 1 << 10 })
    }

    /// Makes the store that the threads begin with, where no plan before has made it.
    pub(super) fn prepare(&self) -> Result<(), String> {
        if MADE.with_borrow(|made| !made.contains_key(&self.which())) {
            let bytes = self.make()?;
            MADE.with_borrow_mut(|made| made.insert(self.which(), bytes));
        }
        Ok(())
    }

    /// The bytes of the prepared store.
    pub(super) fn image(&self) -> Vec<u8> {
        MADE.with_borrow(|made| made[&self.which()].clone())
    }

    fn which(&self) -> (Start, usize) {
        (self.start, self.initial.len())
    }

    fn make(&self) -> Result<Vec<u8>, String> {
        let disk = SETUP.disk();
        let said = |error: holotype::Error| format!("preparing a store: {error}");
        let db = Db::open_on(disk.clone(), &self.options()).map_err(said)?;
        let entries: Vec<_> = self.initial.iter().map(|(key, doc)| (key.clone(), *doc)).collect();
        let hands = Hands::new(&db);
        let fill = |times: u32| (0..times).try_for_each(|_| hands.fill(&entries));
        match self.start {
            Start::New => {}
            Start::Dead => fill(4)?,
            Start::Freed => {
                fill(4)?;
                for _ in 0..4 {
                    db.maintain().map_err(said)?;
                }
            }
            Start::Used => {
                for _ in 0..4 {
                    fill(3)?;
                    db.checkpoint().map_err(said)?;
                    while db.maintain().map_err(said)? {}
                }
            }
        }
        // The one commit that all versions which are there at first are of.
        fill(1)?;
        db.close().map_err(said)?;
        Ok(disk.bytes())
    }
}
