//! Steps of maintenance: one at a time, whether the worker takes it, a caller, or a writer that is held up.

use crate::core::{
    BackupProgress, BackupReport, CompactProgress, CompactReport, Core, Effort, Pressure, Purpose, Stepped,
    Upkeep, copy_to,
};
use crate::error::{Error, Result};
use crate::storage::{FailStop, Storage};
use crate::sync::Arc;

use super::Store;
use super::group::{Tasks, Waiter};

impl Store {
    /// Takes one step of maintenance.
    pub(crate) fn step(&self, effort: Effort) -> Result<Stepped> {
        self.alone(|core| core.maintain(effort))
    }

    //= spec/space.md#p-2-3-how-it-is-written
    //# It MUST NOT relocate a record between the choice of c and the publication: an entry of c would lead to
    //# where the record was.
    /// Takes a checkpoint.
    pub(crate) fn checkpoint(&self) -> Result<()> {
        self.alone(|core| core.checkpoint(Purpose::Opening))
    }

    /// Takes a step while nobody else takes one. Tasks are woken behind it: they may take steps themselves.
    fn alone<T>(&self, step: impl FnOnce(&Core) -> Result<T>) -> Result<T> {
        let one = self.steps.begin_step();
        let stepped = step(&self.core);
        let tasks = self.tell_of_step(&stepped);
        drop(one);
        tasks.wake();
        stepped
    }

    /// Copies the store to `destination`. Others go on: a backup is no step of maintenance.
    pub(crate) fn backup<S: Storage + 'static>(
        &self,
        destination: &Arc<S>,
        earlier: Option<&FailStop>,
        progress: impl FnMut(&BackupProgress) -> std::ops::ControlFlow<()>,
    ) -> Result<BackupReport> {
        let begun = self.core.begin_backup();
        self.tell_of_step(&begun).wake();
        copy_to(begun?, destination, earlier, progress)
    }

    /// A step may have made durable, or taken back, what others wait for.
    fn tell_of_step<T>(&self, stepped: &Result<T>) -> Tasks {
        let (_, tasks) = self.tell_progress();
        self.news.tell();
        if stepped.is_ok() { tasks } else { tasks.and(self.tell_poisoned()) }
    }

    /// Takes every step that makes the file smaller.
    pub(crate) fn compact(
        self: &Arc<Self>,
        progress: impl FnMut(&CompactProgress) -> std::ops::ControlFlow<()>,
    ) -> Result<CompactReport> {
        let step = || {
            let stepped = self.step(Effort::All)?;
            if stepped == Stepped::Busy {
                // Waits for the turn as any writer does, and gives it back at once.
                let writer = self.enter()?;
                self.leave(writer);
            }
            Ok(stepped)
        };
        let report = self.core.compact(step, progress);
        let is_complete = report.as_ref().is_ok_and(|report| report.is_complete);
        if !is_complete && self.has_thread() {
            // What it left is for the worker, which may have found nothing to do meanwhile.
            self.worker.maintain(self);
        }
        report
    }

    /// Sees to what the commits of this store have made due: asks the worker; where that is behind, or somebody is at a step already, and the
    /// file near its bound all the same, the thread that writes takes a step; where the file, or the log whose changes must stay in memory, has
    /// become much too long all the same, it takes steps until that is shorter (spec: P-6.3). Steps walk indexes, and what a commit that is
    /// still `open` supersedes is in their way: before a step of its own, the thread waits for it.
    pub(super) fn keep_up(self: &Arc<Self>, due: Upkeep, open: Option<&Waiter>) {
        if due == Upkeep::Nothing {
            return;
        }
        let is_behind = self.steps.is_held() | self.worker.maintain(self);
        // Whatever comes of a step, it changes nothing for the commit.
        while due == Upkeep::Check
            && let Ok(pressure) = self.core.pressure()
            && (pressure == Pressure::Much || pressure == Pressure::Some && is_behind)
        {
            // If that commit fails, its ticket tells.
            open.into_iter().for_each(|open| drop(self.wait(open)));
            if !matches!(self.step(Effort::Keep), Ok(Stepped::Done)) || pressure != Pressure::Much {
                break;
            }
        }
    }

    /// Takes steps until an ordinary commit finds room, or nothing is left to gain.
    pub(super) fn make_room(&self) -> Result<()> {
        loop {
            match self.step(Effort::Room) {
                Ok(Stepped::Done) if self.core.is_still_short()? => {}
                Ok(_) | Err(Error::StorageFull { .. }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}
