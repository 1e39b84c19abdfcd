//! The thread that makes `Buffered` commits durable in time.

use crate::sync::{Arc, AtomicBool, Condvar, Duration, Mutex, Ordering, Weak, lock, thread, wait_timeout};

use super::Store;

/// Starts when it is first needed, and ends with the store: a thousand idle stores have no thread.
#[derive(Debug, Default)]
pub(super) struct Flusher {
    is_started: AtomicBool,
    thread: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    handle: thread::JoinHandle<()>,
    bell: Arc<Bell>,
}

/// What the thread is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// To flush when it is time.
    Nothing,
    /// To flush now.
    Hurry,
    /// To end.
    Stop,
}

#[derive(Debug)]
struct Bell {
    asked: Mutex<Asked>,
    rung: Condvar,
}

impl Bell {
    fn ring(&self, ask: Asked) {
        let mut asked = lock(&self.asked);
        if *asked != Asked::Stop {
            *asked = ask;
        }
        self.rung.notify_all();
    }

    /// Waits for `interval`, or until it is rung. False once the thread is to end.
    fn wait(&self, interval: Duration) -> bool {
        let mut asked = lock(&self.asked);
        if *asked == Asked::Nothing {
            asked = wait_timeout(&self.rung, asked, interval);
        }
        let goes_on = *asked != Asked::Stop;
        if goes_on {
            *asked = Asked::Nothing;
        }
        goes_on
    }
}

impl Flusher {
    pub(super) fn start(&self, store: &Arc<Store>) {
        if self.is_started.load(Ordering::Acquire) {
            return;
        }
        let mut running = lock(&self.thread);
        if self.is_started.swap(true, Ordering::AcqRel) {
            return;
        }
        let bell = Arc::new(Bell { asked: Mutex::new(Asked::Nothing), rung: Condvar::new() });
        let (heard, interval) = (Arc::clone(&bell), store.core.options.flush_interval);
        let store = Arc::downgrade(store);
        let spawned = thread::Builder::new()
            .name("holotype-flush".to_owned())
            .spawn(move || run(&store, &heard, interval));
        match spawned {
            Ok(handle) => *running = Some(Running { handle, bell }),
            // There is no thread to be had: the next commit tries again, and `flush` works in any case.
            Err(_) => self.is_started.store(false, Ordering::Release),
        }
    }

    /// Has the thread flush now rather than when it is time.
    pub(super) fn hurry(&self) {
        if let Some(running) = &*lock(&self.thread) {
            running.bell.ring(Asked::Hurry);
        }
    }

    /// Ends the thread and waits for it, so that nothing uses the file afterwards.
    pub(super) fn stop(&self) {
        let running = lock(&self.thread).take();
        if let Some(Running { handle, bell }) = running {
            bell.ring(Asked::Stop);
            // It may be that very thread: a task that it woke had the last handle.
            if handle.thread().id() != thread::current().id() {
                // A panic of that thread was told by itself; there is nothing to do here but go on.
                let _ = handle.join();
            }
            self.is_started.store(false, Ordering::Release);
        }
    }
}

fn run(store: &Weak<Store>, bell: &Bell, interval: Duration) {
    while bell.wait(interval) {
        let Some(store) = store.upgrade() else { return };
        // A failure poisons the store, and every writer is told. A full disk is tried again.
        let _ = store.flush();
        store.end_old_snapshots();
    }
}
