//! Atomics for loom whose every load it sees.
//!
//! Of each atomic, loom 0.7 remembers the last access only, for the choice of the orders that are worth trying: a thread that loads
//! before it stores hides from that choice the loads that others made before, and their order with the store is never tried the other
//! way round. So each load here touches a mark of its thread's own first, and each store touches all marks.

use std::array::from_fn;

use loom::sync::atomic::{self, Ordering};

/// As many threads as a scenario may have.
const THREADS: usize = 4;

#[derive(Debug)]
struct Marks([atomic::AtomicU8; THREADS]);

impl Marks {
    fn new() -> Self {
        Marks(from_fn(|_| atomic::AtomicU8::new(0)))
    }

    /// A read-modify-write, which has one outcome: a load would have one for each store that it may see.
    fn load(&self) {
        let id = format!("{:?}", loom::thread::current().id());
        let number: String = id.chars().filter(char::is_ascii_digit).collect();
        let number: usize = number.parse().expect("loom names threads by numbers");
        self.0[number % THREADS].fetch_add(0, Ordering::Relaxed);
    }

    fn store(&self) {
        self.0.iter().for_each(|mark| mark.store(0, Ordering::Relaxed));
    }
}

macro_rules! watched {
    ($name:ident, $of:ty) => {
        #[derive(Debug)]
        pub(crate) struct $name {
            marks: Marks,
            value: atomic::$name,
        }

        impl $name {
            pub(crate) fn new(value: $of) -> Self {
                $name { marks: Marks::new(), value: atomic::$name::new(value) }
            }

            pub(crate) fn load(&self, order: Ordering) -> $of {
                self.marks.load();
                self.value.load(order)
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(<$of>::default())
            }
        }
    };
}

watched!(AtomicBool, bool);
watched!(AtomicU64, u64);
watched!(AtomicUsize, usize);

impl AtomicBool {
    pub(crate) fn store(&self, value: bool, order: Ordering) {
        self.marks.store();
        self.value.store(value, order);
    }

    pub(crate) fn compare_exchange(
        &self,
        current: bool,
        new: bool,
        success: Ordering,
        failure: Ordering,
    ) -> Result<bool, bool> {
        self.marks.store();
        self.value.compare_exchange(current, new, success, failure)
    }
}

impl AtomicU64 {
    pub(crate) fn store(&self, value: u64, order: Ordering) {
        self.marks.store();
        self.value.store(value, order);
    }
}

macro_rules! changes {
    ($name:ident, $of:ty, $($change:ident),*) => {
        impl $name {
            $(pub(crate) fn $change(&self, by: $of, order: Ordering) -> $of {
                self.marks.store();
                self.value.$change(by, order)
            })*
        }
    };
}

changes!(AtomicBool, bool, swap);
changes!(AtomicU64, u64, swap, fetch_add, fetch_max);
changes!(AtomicUsize, usize, fetch_add, fetch_sub);
