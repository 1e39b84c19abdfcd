//! The only import of locks, atomics and threads, so that a checker's own can take their place: loom's under `--cfg loom`
//! (every interleaving and every value that a weak ordering allows, within a bound), shuttle's under `--cfg shuttle`
//! (interleavings at random, of whole stores).
//!
//! `Arc` is the standard library's in all three. No code here orders memory by a reference count, so a checker that
//! branched at each clone would explore the same behaviour many times over. It cannot miss a race by this: it
//! knows nothing of the order that a count makes, and so allows more than a machine does. Time is the machine's, too, and neither
//! checker lets it pass for those who wait: a [`wait_timeout`] there ends by being told, or never.

#[cfg(all(test, loom))]
pub(crate) mod explore;
#[cfg(any(loom, shuttle))]
mod once_lock;
pub(crate) mod race;
#[cfg(loom)]
mod watched;

use std::sync::TryLockError;
pub(crate) use std::sync::{Arc, Weak};
pub(crate) use std::time::{Duration, Instant};

#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::{
    sync::{
        Condvar, Mutex, MutexGuard, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

#[cfg(loom)]
pub(crate) use {
    loom::{
        sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic::Ordering},
        thread,
    },
    watched::{AtomicBool, AtomicU64, AtomicUsize},
};

#[cfg(all(shuttle, not(loom)))]
pub(crate) use shuttle::{
    sync::{
        Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

#[cfg(any(loom, shuttle))]
pub(crate) use once_lock::OnceLock;

/// Locks `mutex`. A panic elsewhere cannot have left the data half changed: every critical section of this crate
/// either only reads, or keeps its invariants at each step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Locks `mutex` if nobody has it; see [`lock`] for why a poisoned lock is as good.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Gives threads their turn that have all that they wait for but a processor: of a system that lets them wait until others have had theirs for
/// milliseconds, whoever works long asks for that. Under a checker, which has every order anyway, nothing is done.
pub(crate) fn give_way() {
    #[cfg(not(any(loom, shuttle)))]
    thread::yield_now();
}

/// Locks `lock` for reading; see [`lock`] for why a poisoned lock is as good.
pub(crate) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Locks `lock` for writing; see [`lock`] for why a poisoned lock is as good.
pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What `lock` guards, for who has it alone; see [`lock`] for why a poisoned lock is as good.
pub(crate) fn own<T>(lock: &mut RwLock<T>) -> &mut T {
    lock.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Waits on `condition`; see [`lock`] for why a poisoned lock is as good.
pub(crate) fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// As [`wait`], for at most `timeout`.
pub(crate) fn wait_timeout<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    timeout: Duration,
) -> MutexGuard<'a, T> {
    condition.wait_timeout(guard, timeout).unwrap_or_else(std::sync::PoisonError::into_inner).0
}
