//! The engine's way to any storage: retries what is no failure, and stops at what is.
//!
//! One place keeps the rule that a failed sync is final. After one, the kernel may have dropped the pages it could not
//! write and marked them clean, so a sync that succeeds afterwards proves nothing about them. A write that failed leaves
//! unknown bytes in its range. In both cases every later write, length change and sync is refused until the file is
//! opened anew; reads go on. A full disk is the exception: the call did nothing that matters, and may succeed later.

use std::io;

#[cfg(any(test, feature = "testing"))]
use super::Probe;
use super::Storage;
use super::contract::Answer;
use crate::error::{Error, Result};
use crate::seeded::{self, Bug};
use crate::sync::{Arc, AtomicU64, Mutex, OnceLock, Ordering, lock};

/// Interruptions of one call without any progress, after which they count as a failure: no call may hang.
const INTERRUPTS_MAX: u32 = 1_000;

/// Zeros are written in pieces of at most this: larger ones make later overwrites slow on some file systems.
pub(crate) const ZERO_FILL_BYTES: usize = 64 << 10;

static ZEROS: [u8; ZERO_FILL_BYTES] = [0; ZERO_FILL_BYTES];

/// How much a probe reads at a time from storage that has no better way.
const PROBE_READ_LEN: usize = 64 << 10;

/// A storage that stops writing for good after the first failure that leaves its state unknown.
#[derive(Debug)]
pub(crate) struct FailStop {
    inner: Arc<dyn Storage>,
    /// The failure that came first, which stopped it.
    cause: OnceLock<String>,
    /// Held across a sync (spec: M-3.3). An operating system reports a failed write-back to one caller only; with two syncs under way
    /// the other could return `Ok` for the very bytes that were lost.
    one_sync: Mutex<()>,
    pub(crate) calls: Calls,
}

/// Writes and syncs that were asked of the storage since it was opened. Calls that were repeated count each time.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) writes: AtomicU64,
    pub(crate) written_bytes: AtomicU64,
    pub(crate) syncs: AtomicU64,
}

impl FailStop {
    pub(crate) fn new(inner: Box<dyn Storage>) -> Self {
        Self::over(inner.into())
    }

    /// Another way to the same storage, for reading: nothing is written through it.
    pub(crate) fn to_read(&self) -> Self {
        Self::over(Arc::clone(&self.inner))
    }

    fn over(inner: Arc<dyn Storage>) -> Self {
        FailStop { inner, cause: OnceLock::default(), one_sync: Mutex::new(()), calls: Calls::default() }
    }

    /// The same handle over a copy of the storage, stopped if this one is.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn fork(&self, inner: Box<dyn Storage>) -> Self {
        let Calls { writes, written_bytes, syncs } = &self.calls;
        let [writes, written_bytes, syncs] =
            [writes, written_bytes, syncs].map(|count| AtomicU64::new(count.load(Ordering::Relaxed)));
        let fork = FailStop { calls: Calls { writes, written_bytes, syncs }, ..Self::over(inner.into()) };
        if let Some(cause) = self.cause.get() {
            fork.poison(cause.clone());
        }
        fork
    }

    pub(crate) fn is_poisoned(&self) -> bool {
        self.cause.get().is_some()
    }

    //= spec/media.md#m-3-2-failure
    //# After any error from a sync a store MUST refuse every further write, change of length and sync of that
    //# handle.
    //= spec/durability.md#d-4-2-stopping-is-for-good
    //# A store that has stopped writing MUST NOT begin to write again through the same handle, whatever later
    //# calls of the storage return.
    /// Refuses every write from now on (spec: M-3.2). The first cause is the one that is told.
    pub(crate) fn poison(&self, cause: String) {
        self.cause.get_or_init(|| cause);
    }

    //= spec/semantics.md#s-8-3-no-writes-after-an-unknown-outcome
    //# After a write or a flush whose outcome is unknown, a store MUST refuse each further write and flush
    //# with a failure until it is reopened.
    /// [`Error::Poisoned`] if a failure has stopped this handle.
    pub(crate) fn check_writable(&self) -> Result<()> {
        match self.cause.get() {
            None => Ok(()),
            Some(cause) => Err(Error::Poisoned { cause: cause.clone() }),
        }
    }

    pub(crate) fn len(&self) -> Result<u64> {
        uninterrupted(|| self.inner.len()).map_err(|source| io_error("look-up of the file's length", source))
    }

    /// Reads `len` bytes from `offset` on; fewer where the file ends.
    pub(crate) fn read_up_to(&self, offset: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        let have = self.read_full(offset, &mut bytes)?;
        bytes.truncate(have);
        Ok(bytes)
    }

    //= spec/media.md#m-4-1-interruptions-and-short-transfers
    //# A store MUST repeat an interrupted call, and continue a read or write that moved fewer bytes than it
    //# was asked to.
    //= spec/media.md#m-4-5-reads
    //# Reads MUST go on after a handle has stopped writing.
    /// Reads from `offset` on until `out` is full or the file ends; how many bytes there were.
    pub(crate) fn read_full(&self, offset: u64, out: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while done < out.len() {
            let rest = &mut out[done..];
            match uninterrupted(|| self.inner.read_at(offset + done as u64, rest)) {
                Ok(0) => break,
                Ok(len) => done += len,
                Err(source) => {
                    return Err(io_error(&format!("read of {} bytes at offset {offset}", out.len()), source));
                }
            }
        }
        Ok(done)
    }

    //= spec/media.md#m-4-1-interruptions-and-short-transfers
    //# A store MUST repeat an interrupted call, and continue a read or write that moved fewer bytes than it
    //# was asked to.
    //= spec/media.md#m-4-2-writes-of-nothing
    //# A store MUST treat a write that reports zero bytes as failed.
    /// Writes all of `bytes` at `offset`. After [`Error::StorageFull`] some of them may be there.
    pub(crate) fn write_all_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.check_writable()?;
        let mut done = 0;
        while done < bytes.len() {
            let written = uninterrupted(|| {
                self.calls.writes.fetch_add(1, Ordering::Relaxed);
                match self.inner.write_at(offset + done as u64, &bytes[done..]) {
                    // spec: M-4.2. It would never end.
                    Ok(0) => Err(io::ErrorKind::WriteZero.into()),
                    written => written,
                }
            });
            let len = written.map_err(|source| {
                self.failed_change(&format!("write of {} bytes at offset {offset}", bytes.len()), source)
            })?;
            self.calls.written_bytes.fetch_add(len as u64, Ordering::Relaxed);
            done += if seeded::is_on(Bug::ShortWriteAccepted) { bytes.len() } else { len };
        }
        Ok(())
    }

    pub(crate) fn set_len(&self, len: u64) -> Result<()> {
        self.check_writable()?;
        uninterrupted(|| self.inner.set_len(len))
            .map_err(|source| self.failed_change(&format!("change of the file's length to {len}"), source))
    }

    //= spec/media.md#m-3-3-one-at-a-time
    //# Of two syncs under way on one handle, a store MUST NOT begin the second before the first has returned.
    /// On `Ok`, every write that had returned before survives a power cut (spec: M-3.1).
    pub(crate) fn sync(&self) -> Result<()> {
        let _one = lock(&self.one_sync);
        // Asked under the lock: the sync that this one waited for may have failed.
        self.check_writable()?;
        uninterrupted(|| {
            self.calls.syncs.fetch_add(1, Ordering::Relaxed);
            self.inner.sync()
        })
        .map_err(|source| self.stop("sync", source))
    }

    /// A file for what a query cannot hold in memory; `None` where the storage has no place for one.
    pub(crate) fn scratch(&self) -> Result<Option<FailStop>> {
        let scratch = uninterrupted(|| self.inner.scratch());
        let scratch = scratch.map_err(|source| io_error("creation of a file to sort in", source))?;
        Ok(scratch.map(FailStop::new))
    }

    pub(crate) fn sync_directory(&self) -> Result<()> {
        let _one = lock(&self.one_sync);
        self.check_writable()?;
        uninterrupted(|| self.inner.sync_directory())
            .map_err(|source| self.stop("sync of the directory", source))
    }

    //= spec/format.md#f-2-4-growth
    //# A writer MUST fill a grown range with zeros before it places a frame or an index record in it.
    /// Writes zeros from `from` to `to`, so that the range is allocated before anything is placed in it.
    pub(crate) fn zero_fill(&self, from: u64, to: u64) -> Result<()> {
        let mut at = from;
        while at < to {
            let len = ZEROS.len().min((to - at) as usize);
            self.write_all_at(at, &ZEROS[..len])?;
            at += len as u64;
        }
        Ok(())
    }

    /// Puts a question to each unit of a range. Of the answers only the largest numbers count: one may be missing, or
    /// merged with another, where that does not change those.
    pub(crate) fn probe(
        &self,
        offset: u64,
        len: usize,
        unit: usize,
        look: &dyn Fn(u64, &[u8]) -> Option<Answer>,
    ) -> Result<Vec<Answer>> {
        assert!(unit > 0, "a unit has bytes");
        // A simulated disk has a better way.
        #[cfg(any(test, feature = "testing"))]
        if let Some(answers) = uninterrupted(|| self.inner.probe(&Probe { offset, len, unit, look }))
            .map_err(|source| io_error(&format!("read of {len} bytes at offset {offset}"), source))?
        {
            return Ok(answers);
        }
        let mut answers = Vec::new();
        let mut bytes = vec![0; len.min(PROBE_READ_LEN.next_multiple_of(unit))];
        let mut done = 0;
        while done < len {
            let wanted = bytes.len().min(len - done);
            let have = self.read_full(offset + done as u64, &mut bytes[..wanted])?;
            for (index, unit_bytes) in bytes[..have].chunks(unit).enumerate() {
                answers.extend(look(offset + (done + index * unit) as u64, unit_bytes));
            }
            if have < wanted {
                break;
            }
            done += have;
        }
        Ok(answers)
    }

    //= spec/media.md#m-4-3-failed-writes
    //# After a write or a change of length that failed for any reason but M-4.4, a store MUST refuse further
    //# writes as it does after a failed sync.
    //= spec/media.md#m-4-4-full-disk
    //# When a write or an extension fails for want of room (ENOSPC, EDQUOT, EFBIG), a store MUST NOT stop:
    //# nothing acknowledged is lost, reads go on, and writes work again once there is room.
    /// A write or length change failed: only for want of room is the handle as good as before (spec: M-4.3, M-4.4).
    fn failed_change(&self, operation: &str, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
                if !seeded::is_on(Bug::FullDiskPoisons) =>
            {
                Error::StorageFull { operation: operation.to_owned() }
            }
            _ => self.stop(operation, source),
        }
    }

    fn stop(&self, operation: &str, source: io::Error) -> Error {
        let error = io_error(operation, source);
        if !seeded::is_on(Bug::FailureForgotten) {
            self.poison(error.to_string());
        }
        error
    }
}

fn io_error(operation: &str, source: io::Error) -> Error {
    Error::Io { operation: operation.to_owned(), source: Arc::new(source) }
}

//= spec/media.md#m-4-1-interruptions-and-short-transfers
//# A store MUST repeat an interrupted call, and continue a read or write that moved fewer bytes than it was
//# asked to.
/// Repeats a call for as long as it is merely interrupted (spec: M-4.1).
fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut interrupts = 0;
    loop {
        match call() {
            Err(error)
                if error.kind() == io::ErrorKind::Interrupted
                    && interrupts < INTERRUPTS_MAX
                    && !seeded::is_on(Bug::InterruptedNotRepeated) =>
            {
                interrupts += 1;
            }
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests;
