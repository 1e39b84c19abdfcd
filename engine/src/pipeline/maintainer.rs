//! Who takes the steps of maintenance: a thread that starts when there is first something to do, or whoever calls; one at a time.

use crate::core::{
    BackupProgress, BackupReport, CompactProgress, CompactReport, Effort, Pressure, Stepped, Upkeep, copy_to,
};
use crate::error::{Error, Result};
use crate::options::Background;
use crate::storage::{FailStop, Storage};
use crate::sync::{
    Arc, AtomicBool, Condvar, Duration, Mutex, MutexGuard, Ordering, Weak, lock, thread, wait, wait_timeout,
};

use super::Store;

/// The steps, and the thread that takes them.
#[derive(Debug, Default)]
pub(super) struct Maintainer {
    /// Held during a step.
    step: Mutex<()>,
    /// A step is being taken.
    is_stepping: AtomicBool,
    signal: Arc<Signal>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

/// A step that is being taken: the only one, for as long as this lives.
struct Step<'a> {
    is_stepping: &'a AtomicBool,
    _one: MutexGuard<'a, ()>,
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        self.is_stepping.store(false, Ordering::Relaxed);
    }
}

#[derive(Debug, Default)]
struct Signal {
    asked: Mutex<Asked>,
    rung: Condvar,
}

#[derive(Debug, Default, Clone, Copy)]
struct Asked {
    work: bool,
    stop: bool,
}

/// Nobody wrote for so long: then there is time to make the file as small as it is to be at rest.
const QUIET: Duration = Duration::from_millis(300);
/// As long as less than this share of a segment is placed meanwhile, nobody writes; nor where it is next to nothing of the file.
const QUIET_SHARE: u64 = 8;
const QUIET_SHARE_OF_FILE: u64 = 4096;
/// A transaction was in the way: tried again after this.
const BUSY: Duration = Duration::from_millis(10);

impl Signal {
    fn is_asked(&self) -> bool {
        let asked = lock(&self.asked);
        asked.work || asked.stop
    }

    /// Waits to be asked; for `longest` at most, if that is given. False once the thread is to end; none when that time is over.
    fn wait(&self, longest: Option<Duration>) -> Option<bool> {
        let mut asked = lock(&self.asked);
        while !asked.work && !asked.stop {
            match longest {
                None => asked = wait(&self.rung, asked),
                Some(longest) => {
                    asked = wait_timeout(&self.rung, asked, longest);
                    if !asked.work && !asked.stop {
                        return None;
                    }
                }
            }
        }
        asked.work = false;
        Some(!asked.stop)
    }

    /// Waits for so long, or until something is asked.
    fn pause(&self, longest: Duration) {
        drop(wait_timeout(&self.rung, lock(&self.asked), longest));
    }

    fn ring(&self, ask: impl FnOnce(&mut Asked)) {
        ask(&mut lock(&self.asked));
        self.rung.notify_all();
    }
}

impl Maintainer {
    /// Waits until nobody else takes a step.
    fn begin_step(&self) -> Step<'_> {
        let _one = lock(&self.step);
        self.is_stepping.store(true, Ordering::Relaxed);
        Step { is_stepping: &self.is_stepping, _one }
    }

    /// Whether somebody takes a step at the moment, and so has the writer now and then.
    pub(super) fn is_stepping(&self) -> bool {
        self.is_stepping.load(Ordering::Relaxed)
    }

    /// Has the thread look at what there is to do.
    fn ask(&self, store: &Arc<Store>) {
        let mut thread = lock(&self.thread);
        if thread.is_none() {
            let (signal, store) = (Arc::clone(&self.signal), Arc::downgrade(store));
            let named = thread::Builder::new().name("holotype-maintain".to_owned());
            // Where there is no thread to be had, the next segment tries again, and writers help themselves.
            *thread = named.spawn(move || run(&store, &signal)).ok();
        }
        self.signal.ring(|asked| asked.work = true);
    }

    /// Ends the thread and waits for it, so that nothing uses the file afterwards.
    pub(super) fn stop(&self) {
        let Some(handle) = lock(&self.thread).take() else { return };
        self.signal.ring(|asked| asked.stop = true);
        if handle.thread().id() != thread::current().id() {
            // A panic of that thread was told by itself; there is nothing to do here but go on.
            let _ = handle.join();
            *lock(&self.signal.asked) = Asked::default();
        }
    }
}

/// How far the log had come at the last look.
#[derive(Debug, Default)]
struct Pace {
    end: u64,
}

impl Pace {
    /// Whether the log, which ends at `end` now, has hardly gone on since this was asked last. What is made small for somebody who goes on
    /// writing, though slowly, is made long again at once.
    fn is_quiet(&mut self, end: u64, segment_bytes: u32, file_len: u64) -> bool {
        let before = std::mem::replace(&mut self.end, end);
        let hardly = (u64::from(segment_bytes) / QUIET_SHARE).max(file_len / QUIET_SHARE_OF_FILE);
        end.saturating_sub(before) < hardly
    }
}

fn run(store: &Weak<Store>, signal: &Signal) {
    let (mut effort, mut pace) = (Effort::Keep, Pace::default());
    loop {
        let asked = match effort {
            Effort::Rest => signal.wait(None),
            _ => signal.wait(Some(QUIET)),
        };
        let Some(store) = store.upgrade() else { return };
        let Ok((end, file_len)) = store.core.log_end() else { return };
        let is_quiet = pace.is_quiet(end.0, store.core.shared.log.geometry.segment_bytes(), file_len);
        effort = match asked {
            Some(false) => return,
            None if is_quiet => Effort::Rest,
            // Those who write ask for what they need.
            None => continue,
            Some(true) => Effort::Keep,
        };
        loop {
            match store.step(effort) {
                Ok(Stepped::Done) if !signal.is_asked() || effort == Effort::Keep && !is_stopped(signal) => {}
                Ok(Stepped::Busy) if !is_stopped(signal) => signal.pause(BUSY),
                // A failure poisons the store, and every writer is told; a full disk is met again by the next that is asked for.
                _ => break,
            }
        }
    }
}

fn is_stopped(signal: &Signal) -> bool {
    lock(&signal.asked).stop
}

impl Store {
    /// Takes one step of maintenance.
    pub(crate) fn step(&self, effort: Effort) -> Result<Stepped> {
        let _one = self.maintainer.begin_step();
        let stepped = self.core.maintain(effort);
        self.tell_of_step(&stepped);
        stepped
    }

    //= spec/space.md#p-2-3-how-it-is-written
    //# It MUST NOT relocate a record between the choice of c and the publication: an entry of c would lead to
    //# where the record was.
    /// Takes a checkpoint.
    pub(crate) fn checkpoint(&self) -> Result<()> {
        let _one = self.maintainer.begin_step();
        let taken = self.core.checkpoint();
        self.tell_of_step(&taken);
        taken
    }

    /// Copies the store to `destination`. Others go on: a backup is no step of maintenance.
    pub(crate) fn backup<S: Storage + 'static>(
        &self,
        destination: &Arc<S>,
        earlier: Option<&FailStop>,
        progress: impl FnMut(&BackupProgress) -> std::ops::ControlFlow<()>,
    ) -> Result<BackupReport> {
        let begun = self.core.begin_backup();
        self.tell_of_step(&begun);
        copy_to(begun?, destination, earlier, progress)
    }

    /// A step may have made durable, or taken back, what others wait for.
    fn tell_of_step<T>(&self, stepped: &Result<T>) {
        let mut tasks = self.group.learn(&Ok(self.core.progress()));
        if let (Err(error), Ok(mut writer)) = (stepped, self.core.writer()) {
            tasks = tasks.and(self.tell_taken_back(&mut writer, error));
            drop(writer);
            tasks = tasks.and(self.tell_poisoned());
        }
        tasks.wake();
        self.news.tell();
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
        if !is_complete && self.core.shared.options.background == Background::Thread {
            // What it left is for the thread, which may have found nothing to do meanwhile.
            self.maintainer.ask(self);
        }
        report
    }

    /// Sees to what the commits of this store have made due: asks the thread; where that does not keep up, whoever writes takes a step; and
    /// where the file has become much too long all the same, they make it shorter before they go on (spec: P-6.3).
    pub(super) fn keep_up(self: &Arc<Self>, due: Upkeep) {
        if due == Upkeep::Nothing || self.core.shared.options.background != Background::Thread {
            return;
        }
        self.maintainer.ask(self);
        if due == Upkeep::Check {
            // Whatever comes of it, the commit that was made stands.
            while let Ok(pressure @ (Pressure::Some | Pressure::Much)) = self.core.pressure()
                && matches!(self.step(Effort::Keep), Ok(Stepped::Done))
                && pressure == Pressure::Much
            {}
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_writes_slowly_writes_all_the_same() {
        let mut pace = Pace::default();
        for (end, is_quiet) in
            [(100, true), (227, true), (355, false), (483, false), (610, true), (610, true), (400, true)]
        {
            assert_eq!(pace.is_quiet(end, 1024, 4096 * 128), is_quiet, "{end}");
        }
        // Of a long file it is next to nothing.
        for (end, is_quiet) in [(500, true), (628, true), (757, false)] {
            assert_eq!(pace.is_quiet(end, 1024, 4096 * 129), is_quiet, "{end}");
        }
    }
}
