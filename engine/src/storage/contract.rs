//! The contract between the engine and a disk.

use std::fmt::Debug;
use std::io;

use crate::sync::Arc;

#[cfg_attr(
    not(any(test, feature = "testing")),
    expect(unreachable_pub, reason = "public under the feature `testing`")
)]
/// What one unit says to the question of a [`Probe`]. Larger is more, in each number by itself.
pub type Answer = [u64; 2];

/// A file as the engine sees it: bytes from offset 0 to a length, of which some survive a power cut.
///
/// # The contract
///
/// The engine's durability rests on these sentences and on nothing else (`spec/media.md`).
///
/// * Reads see every earlier write and length change of this handle, synced or not.
/// * Until a sync, a write may persist in part: each sector that it touches holds, after a power cut, its old bytes or
///   any bytes that a write since then gave it, each sector by itself, in no order.
/// * When [`sync`](Storage::sync) returns `Ok`, every write and length change that had returned before it was called
///   survives any crash. When it returns an error, none of them is promised anything, now or after a later `Ok`.
/// * A write changes no byte outside its range. Bytes between an old end of the file and a new one read as zeros.
///
/// These are raw calls, as an operating system has them: a read or write may move fewer bytes than it was asked to, or
/// be interrupted ([`io::ErrorKind::Interrupted`]). The engine retries those itself, so an implementation need not.
/// A full disk should be told apart by [`io::ErrorKind::StorageFull`], `QuotaExceeded` or `FileTooLarge`: the store
/// survives it, and stops at any other failure of a write.
///
/// An implementation keeps other processes away from the file for as long as it lives.
pub trait Storage: Send + Sync + Debug {
    /// The length of the file in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Whether the file has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    //= spec/media.md#m-1-3-extension
    //# Bytes between the old end of a file and a new one MUST read as zeros until they are written.
    /// Cuts the file to `len` bytes, or extends it with zeros.
    fn set_len(&self, len: u64) -> io::Result<()>;

    //= spec/media.md#m-1-1-reading-what-was-written
    //# A read MUST return the bytes that the earlier calls of the same handle left there, whether they were
    //# synced or not.
    /// Reads bytes from `offset` on into the front of `out`; how many. 0 at the end of the file, and only there
    /// (or if `out` is empty).
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize>;

    //= spec/media.md#m-1-2-range
    //# A write MUST NOT change a byte outside its range.
    /// Writes bytes from the front of `bytes` to `offset` on, extending the file as needed; how many.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Makes every earlier write, and the length, survive a power cut.
    fn sync(&self) -> io::Result<()>;

    /// Makes the file's own name survive a power cut. Storage without a directory has nothing to do.
    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    /// A new, empty file beside this one, without a name, that is gone once it is let go. `None` where there is no such place, as in
    /// memory. Nothing in it survives a crash, nor need it.
    fn scratch(&self) -> io::Result<Option<Box<dyn Storage>>> {
        Ok(None)
    }

    #[cfg(any(test, feature = "testing"))]
    /// Answers a [`Probe`] in a better way than by reading. Only storage that does not know its own bytes yet has
    /// one; `None` asks the caller to read.
    fn probe(&self, _probe: &Probe<'_>) -> io::Result<Option<Vec<Answer>>> {
        Ok(None)
    }
}

#[cfg(any(test, feature = "testing"))]
/// A question put to each unit of a range by itself, of which only the largest answers matter.
///
/// A search through a whole segment for "the highest claim of any sector" needs to know little about most sectors.
/// Asked this way, a simulated disk need not settle what a sector holds where it makes no difference to the maximum:
/// a search over `k` unsettled sectors has about `k + 1` outcomes in place of `2^k`.
#[derive(Clone, Copy)]
pub struct Probe<'a> {
    /// Where the range begins, in bytes. A multiple of `unit`.
    pub offset: u64,
    /// Its length in bytes. What lies beyond the end of the file is not asked.
    pub len: usize,
    /// The length of a unit in bytes, a multiple of the sector. The last unit may be shorter.
    pub unit: usize,
    /// Given a unit's offset and bytes, its answer, or `None` if it has nothing to say. A pure function, which does not
    /// call the storage itself.
    pub look: &'a dyn Fn(u64, &[u8]) -> Option<Answer>,
}

#[cfg(any(test, feature = "testing"))]
impl Debug for Probe<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Probe { offset, len, unit, .. } = self;
        f.debug_struct("Probe")
            .field("offset", offset)
            .field("len", len)
            .field("unit", unit)
            .finish_non_exhaustive()
    }
}

macro_rules! forward {
    ($pointer:ident) => {
        impl<T: Storage + ?Sized> Storage for $pointer<T> {
            fn len(&self) -> io::Result<u64> {
                (**self).len()
            }

            fn set_len(&self, len: u64) -> io::Result<()> {
                (**self).set_len(len)
            }

            fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
                (**self).read_at(offset, out)
            }

            fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
                (**self).write_at(offset, bytes)
            }

            fn sync(&self) -> io::Result<()> {
                (**self).sync()
            }

            fn sync_directory(&self) -> io::Result<()> {
                (**self).sync_directory()
            }

            fn scratch(&self) -> io::Result<Option<Box<dyn Storage>>> {
                (**self).scratch()
            }

            #[cfg(any(test, feature = "testing"))]
            fn probe(&self, probe: &Probe<'_>) -> io::Result<Option<Vec<Answer>>> {
                (**self).probe(probe)
            }
        }
    };
}

forward!(Arc);
forward!(Box);
