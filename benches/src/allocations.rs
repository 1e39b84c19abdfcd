//! An allocator that counts what one thread asks of it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting by thread: so tests that run side by side do not count each other.
///
/// A test binary makes it the global one:
///
/// ```
/// use holotype_benches::allocations::{Counting, count};
///
/// #[global_allocator]
/// static ALLOCATOR: Counting = Counting;
///
/// let (_, counted) = count(|| Vec::<u8>::with_capacity(10));
/// assert_eq!(counted.allocations, 1);
/// ```
#[derive(Debug)]
pub struct Counting;

/// What a thread asked of the allocator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Blocks asked for, those that were grown or moved included.
    pub allocations: u64,
    /// Bytes that are held now and were not before; negative where more was given back.
    pub live_bytes: i64,
}

thread_local! {
    static COUNTED: Cell<Counted> = const { Cell::new(Counted { allocations: 0, live_bytes: 0 }) };
}

/// What `call` asks of the allocator on this thread.
///
/// # Panics
/// If [`Counting`] is not the global allocator: it would then count nothing and prove anything.
pub fn count<T>(call: impl FnOnce() -> T) -> (T, Counted) {
    let probe = COUNTED.get();
    drop(std::hint::black_box(Box::new(0u8)));
    assert_ne!(
        COUNTED.get().allocations,
        probe.allocations,
        "`Counting` is the global allocator of this program"
    );
    let before = COUNTED.get();
    let result = call();
    let after = COUNTED.get();
    let counted = Counted {
        allocations: after.allocations - before.allocations,
        live_bytes: after.live_bytes - before.live_bytes,
    };
    (result, counted)
}

/// Notes blocks asked for, and bytes by which memory grew. Nothing is noted while a thread ends.
fn note(allocations: u64, bytes: i64) {
    let _ = COUNTED.try_with(|counted| {
        let Counted { allocations: so_far, live_bytes } = counted.get();
        counted.set(Counted { allocations: so_far + allocations, live_bytes: live_bytes + bytes });
    });
}

#[expect(unsafe_code, reason = "an allocator can be had no other way; it forwards every call unchanged")]
// SAFETY: every method forwards to the system's allocator with the arguments that it was given, and returns what that
// returned; so what the trait asks of an allocator holds as it holds there. Counting touches a thread-local cell of plain
// numbers, which neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: the caller keeps the contract of the same method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: the caller keeps the contract of the same method.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        note(0, -(layout.size() as i64));
        // SAFETY: the caller keeps the contract of the same method.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(1, new_size as i64 - layout.size() as i64);
        // SAFETY: the caller keeps the contract of the same method.
        unsafe { System.realloc(block, layout, new_size) }
    }
}
