//! A schedule in which threads are of unequal speed: some stand still while others do a lot, and then others do.
//!
//! Where each step goes to any thread alike, none stands still for long: and it takes a thousand steps of others to free a place, to have two
//! checkpoints know of it, and to use it again, before a reader that was about to read there goes on.

use holotype_model::check::Rng;
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

/// For so many steps at most the speeds stay as they are.
const EPOCH_STEPS: usize = 4_000;

/// A schedule from a seed.
#[derive(Debug)]
pub(super) struct Uneven {
    rng: Rng,
    has_run: bool,
    /// How many steps are left of this epoch, and what the speeds in it follow from.
    left: usize,
    epoch: u64,
}

impl Uneven {
    pub(super) fn new(seed: u64) -> Self {
        Uneven { rng: Rng::seeded(seed), has_run: false, left: 0, epoch: 0 }
    }

    /// How often a thread is chosen, beside the others.
    fn speed(&self, task: TaskId) -> usize {
        let number = self.epoch.wrapping_add(usize::from(task) as u64 * 0x1_0001);
        *Rng::seeded(number).pick(&[0, 0, 1, 1, 16])
    }
}

impl Scheduler for Uneven {
    fn new_execution(&mut self) -> Option<Schedule> {
        let is_first = !self.has_run;
        self.has_run = true;
        is_first.then(|| Schedule::new(0))
    }

    fn next_task(&mut self, runnable: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        if self.left == 0 {
            self.left = 1 + self.rng.below(EPOCH_STEPS);
            self.epoch = self.rng.next_u64();
        }
        self.left -= 1;
        let speeds: Vec<usize> = runnable.iter().map(|task| self.speed(task.id())).collect();
        let sum: usize = speeds.iter().sum();
        if sum == 0 {
            // All stand still who could go on: then the speeds change.
            self.left = 0;
            return Some(runnable[self.rng.below(runnable.len())].id());
        }
        let mut rest = self.rng.below(sum);

        for (task, speed) in runnable.iter().zip(speeds) {
            if rest < speed {
                return Some(task.id());
            }
            rest -= speed;
        }
        unreachable!("the rest is below the sum of the speeds")
    }

    fn next_u64(&mut self) -> u64 {
        self.rng.next_u64()
    }
}
