//! Two threads write to one place, in turns, without a lock.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

static mut PLACE: u64 = 0;

/// Whose turn it is; as `Relaxed`, it orders nothing else.
static TURN: AtomicU64 = AtomicU64::new(0);

fn write(own: u64) {
    for n in 0..black_box(100) {
        while TURN.load(Ordering::Relaxed) % 2 != own {
            std::thread::yield_now();
        }
        // SAFETY: there is none, which is the point.
        unsafe { PLACE = black_box(n) };
        TURN.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() {
    let other = std::thread::spawn(|| write(1));
    write(0);
    other.join().expect("it does not panic");
    // SAFETY: the other thread has ended.
    println!("wrote {} from two threads, and nobody noticed", unsafe { PLACE });
}
