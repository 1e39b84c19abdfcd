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
    stop: Arc<Stop>,
}

#[derive(Debug, Default)]
struct Stop {
    asked: Mutex<bool>,
    told: Condvar,
}

impl Stop {
    /// Waits for `interval`. False once the thread is to end.
    fn wait(&self, interval: Duration) -> bool {
        let asked = lock(&self.asked);
        if *asked {
            return false;
        }
        !*wait_timeout(&self.told, asked, interval)
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
        let (stop, interval) = (Arc::new(Stop::default()), store.core.options.flush_interval);
        let (told, store) = (Arc::clone(&stop), Arc::downgrade(store));
        let spawned = thread::Builder::new()
            .name("holotype-flush".to_owned())
            .spawn(move || run(&store, &told, interval));
        match spawned {
            Ok(handle) => *running = Some(Running { handle, stop }),
            // There is no thread to be had: the next commit tries again, and `flush` works in any case.
            Err(_) => self.is_started.store(false, Ordering::Release),
        }
    }

    /// Ends the thread and waits for it, so that nothing uses the file afterwards.
    pub(super) fn stop(&self) {
        let running = lock(&self.thread).take();
        if let Some(Running { handle, stop }) = running {
            *lock(&stop.asked) = true;
            stop.told.notify_all();
            // A panic of that thread was told by itself; there is nothing to do here but go on.
            let _ = handle.join();
            self.is_started.store(false, Ordering::Release);
        }
    }
}

fn run(store: &Weak<Store>, stop: &Stop, interval: Duration) {
    while stop.wait(interval) {
        let Some(store) = store.upgrade() else { return };
        // A failure poisons the store, and every writer is told. A full disk is tried again.
        let _ = store.flush();
        store.end_old_snapshots();
    }
}
