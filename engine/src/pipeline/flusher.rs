//! The thread that makes `Buffered` commits durable in time.

use crate::error::Error;
use crate::sync::{
    Arc, AtomicBool, Condvar, Duration, Mutex, Ordering, Weak, lock, thread, wait, wait_timeout,
};

use super::Store;

/// Starts when it is first needed, sleeps while there is nothing to do, and ends with the store: a thousand idle stores cost nothing.
#[derive(Debug, Default)]
pub(super) struct Flusher {
    bell: Arc<Bell>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

/// What the thread is asked for. What comes later is more urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Asked {
    #[default]
    Nothing,
    /// To flush when it is time.
    Work,
    /// To flush now.
    Hurry,
    /// To end.
    Stop,
}

#[derive(Debug, Default)]
struct Bell {
    asked: Mutex<Asked>,
    rung: Condvar,
    /// Something is asked for. Every commit that wants work done looks here, so that only the first one rings.
    is_asked: AtomicBool,
}

impl Bell {
    fn ring(&self, ask: Asked) {
        let mut asked = lock(&self.asked);
        *asked = ask.max(*asked);
        self.is_asked.store(true, Ordering::SeqCst);
        self.rung.notify_all();
    }

    /// Nothing is asked for any more.
    fn answer(&self, asked: &mut Asked) {
        *asked = Asked::Nothing;
        self.is_asked.store(false, Ordering::SeqCst);
    }

    /// Waits until there is something to do, and then for `interval`, so that there is more of it. False once the thread is to end.
    ///
    /// What is asked for from here on is done in the next round: what it is asked for may have come too late for this one.
    fn wait(&self, interval: Duration) -> bool {
        let mut asked = lock(&self.asked);
        while *asked == Asked::Nothing {
            asked = wait(&self.rung, asked);
        }
        if *asked == Asked::Work {
            asked = wait_timeout(&self.rung, asked, interval);
        }
        if *asked == Asked::Stop {
            return false;
        }
        self.answer(&mut asked);
        true
    }
}

impl Flusher {
    /// Has what is placed made durable in time.
    pub(super) fn ask(&self, store: &Arc<Store>) {
        if !self.bell.is_asked.load(Ordering::SeqCst) {
            self.ring(store, Asked::Work);
        }
    }

    /// Has what is placed made durable now.
    pub(super) fn hurry(&self, store: &Arc<Store>) {
        self.ring(store, Asked::Hurry);
    }

    fn ring(&self, store: &Arc<Store>, ask: Asked) {
        let mut thread = lock(&self.thread);
        if thread.is_none() {
            let (bell, interval) = (Arc::clone(&self.bell), store.core.shared.options.flush_interval);
            let store = Arc::downgrade(store);
            let named = thread::Builder::new().name("holotype-flush".to_owned());
            // Where there is no thread to be had, the next commit tries again, and `flush` works in any case.
            *thread = named.spawn(move || run(&store, &bell, interval)).ok();
        }
        if thread.is_some() {
            self.bell.ring(ask);
        }
    }

    /// Ends the thread and waits for it, so that nothing uses the file afterwards.
    pub(super) fn stop(&self) {
        let Some(handle) = lock(&self.thread).take() else { return };
        self.bell.ring(Asked::Stop);
        // It may be that very thread: a task that it woke had the last handle.
        if handle.thread().id() != thread::current().id() {
            // A panic of that thread was told by itself; there is nothing to do here but go on.
            let _ = handle.join();
            self.bell.answer(&mut lock(&self.bell.asked));
        }
    }
}

//= spec/transactions.md#t-4-7-buffered-commits
//# A store SHOULD make `Buffered` commits durable within a stated interval, and MUST hand them over once a
//# stated number of bytes is waiting.
fn run(store: &Weak<Store>, bell: &Bell, interval: Duration) {
    while bell.wait(interval) {
        let Some(store) = store.upgrade() else { return };
        // A failure poisons the store, and every writer is told. A full disk is tried again.
        if let Err(Error::StorageFull { .. }) = store.flush() {
            bell.ring(Asked::Work);
        }
        store.end_old_snapshots();
    }
}
