//! A storage that counts what the engine asks of it: on a file, each call is one call of the operating system or more.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use holotype::storage::Storage;

/// A storage in front of another, which counts every call.
#[derive(Debug)]
pub struct CountingStorage<S> {
    inner: S,
    calls: Arc<AtomicU64>,
}

/// The number that a [`CountingStorage`] counts up.
#[derive(Debug, Clone)]
pub struct Calls(Arc<AtomicU64>);

impl Calls {
    /// Calls so far.
    #[must_use]
    pub fn so_far(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl<S: Storage> CountingStorage<S> {
    /// A storage in front of `inner`, and the number that it counts up.
    pub fn new(inner: S) -> (Self, Calls) {
        let calls = Arc::new(AtomicU64::new(0));
        (CountingStorage { inner, calls: Arc::clone(&calls) }, Calls(calls))
    }

    fn counted(&self) -> &S {
        self.calls.fetch_add(1, Ordering::SeqCst);
        &self.inner
    }
}

impl<S: Storage> Storage for CountingStorage<S> {
    fn len(&self) -> io::Result<u64> {
        self.counted().len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.counted().set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.counted().read_at(offset, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.counted().write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.counted().sync()
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.counted().sync_directory()
    }
}
