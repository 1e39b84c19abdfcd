//! Many stories, some of them at a time: what a worker does most is to wait for the disk.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::plan::Plan;
use super::{Kills, Tally, Violation};

/// What the threads of a search share.
struct Shared<'a> {
    kills: &'a Kills,
    /// The seed of the next story.
    next: AtomicU64,
    /// Kills so far.
    count: AtomicU64,
    /// Given the kills so far, whether there is to be more.
    goes_on: &'a (dyn Fn(u64) -> bool + Sync),
    found: Mutex<Option<Violation>>,
}

impl Kills {
    /// Lives through the stories that belong to `seed` and those after it, `jobs` at a time, until a violation is found or `goes_on`, which is
    /// told the kills so far, wants no more. There is one kill at least.
    pub fn search(
        &self,
        seed: u64,
        jobs: usize,
        goes_on: &(dyn Fn(u64) -> bool + Sync),
    ) -> (Tally, Option<Violation>) {
        let (next, count, found) = (AtomicU64::new(seed), AtomicU64::new(0), Mutex::default());
        let shared = Shared { kills: self, next, count, goes_on, found };
        let mut all = Tally::default();
        std::thread::scope(|scope| {
            let jobs: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(|| shared.work())).collect();
            for job in jobs {
                all += job.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
        });
        (all, shared.found.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shared<'_> {
    /// One story after the other.
    fn work(&self) -> Tally {
        let mut tally = Tally::default();
        while self.goes_on() {
            let mut counted = tally.kills;
            let goes_on = |tally: &Tally| {
                self.count.fetch_add(tally.kills - counted, Ordering::Relaxed);
                counted = tally.kills;
                self.goes_on()
            };
            let seed = self.next_story();
            if let Err(violation) = self.kills.story(seed, &mut tally, goes_on) {
                *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(violation);
            }
        }
        tally
    }

    /// The next seed whose story is of the kind that is wanted.
    fn next_story(&self) -> u64 {
        loop {
            let seed = self.next.fetch_add(1, Ordering::Relaxed);
            if self.kills.only.is_none_or(|wanted| Plan::work_of(seed) == wanted) {
                return seed;
            }
        }
    }

    fn goes_on(&self) -> bool {
        let count = self.count.load(Ordering::Relaxed);
        let is_over = self.found.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        !is_over && (count == 0 || (self.goes_on)(count))
    }
}
