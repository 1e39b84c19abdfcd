//! The version that a record replaces (F-6.6).

use super::super::{LogAddress, varint};

/// The bit of a version's value that says that its record is a relocated put.
pub(crate) const RELOCATED: u64 = 0b01;
/// The one that says that its body is a chunk list.
pub(crate) const CHUNKED: u64 = 0b10;
/// The address stands above the bits.
pub(crate) const ADDRESS_SHIFT: u32 = 2;

/// The longest value.
pub const REPLACED_LEN_MAX: usize = varint::len(LogAddress::MAX.0 << ADDRESS_SHIFT | 0b11);
/// A pair of the list takes at most so much for each chunk that it counts: it counts one at least, and a sequence has at most 46 bits.
pub const ENDED_CHUNK_LEN_MAX: usize = 8;

const _: () = assert!(REPLACED_LEN_MAX == 9);
const _: () = assert!(varint::len(LogAddress::MAX.0 >> 9) + varint::len(0x7f) == ENDED_CHUNK_LEN_MAX);

/// The version that a record replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaced<'a> {
    /// Its address and two bits, as an index has them (F-8.4).
    pub value: u64,
    /// The list of the chunks that die with it, as [`encode_ended`] makes one; empty where the value says that it has none.
    pub ended: &'a [u8],
}

impl<'a> Replaced<'a> {
    /// Where it stands.
    #[must_use]
    pub const fn address(self) -> LogAddress {
        LogAddress(self.value >> ADDRESS_SHIFT)
    }

    /// Whether its body is a chunk list.
    #[must_use]
    pub const fn is_chunked(self) -> bool {
        self.value & CHUNKED != 0
    }

    /// Whether its record is a relocated put.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub const fn is_relocated(self) -> bool {
        self.value & RELOCATED != 0
    }

    pub(super) const fn len(self) -> usize {
        varint::len(self.value) + self.ended.len()
    }

    pub(super) fn encode_into(self, out: &mut Vec<u8>) {
        assert_eq!(self.is_chunked(), !self.ended.is_empty(), "a version of chunks has a list of them");
        varint::put(out, self.value);
        out.extend_from_slice(self.ended);
    }

    /// Reads one off the front of `bytes`, with what follows it. `None` where it has another form than F-6.6 asks for.
    #[inline]
    pub(super) fn parse(bytes: &'a [u8]) -> Option<(Replaced<'a>, &'a [u8])> {
        let (value, len) = varint::get(bytes)?;
        let (replaced, rest) = (Replaced { value, ended: &[] }, &bytes[len..]);
        let address = replaced.address();
        if address.0 == 0 || address > LogAddress::MAX {
            return None;
        }
        if !replaced.is_chunked() {
            return Some((replaced, rest));
        }
        let len = ended_len(rest)?;
        Some((Replaced { ended: &rest[..len], ..replaced }, &rest[len..]))
    }

    /// The segments in which chunks die with it, by sequence, and how many of them in each.
    pub fn ended(self) -> impl Iterator<Item = (u64, u64)> + 'a {
        let mut pairs = self.ended;
        varint::take(&mut pairs);
        std::iter::from_fn(move || pair(&mut pairs))
    }
}

/// The list of the chunks that die with a version, which stand in these segments: one sequence a chunk, in any order.
#[must_use]
pub fn encode_ended(mut sequences: Vec<u64>) -> Vec<u8> {
    sequences.sort_unstable();
    let runs = || sequences.chunk_by(|a, b| a == b);
    let mut list = Vec::new();
    varint::put(&mut list, runs().count() as u64);
    for run in runs() {
        varint::put(&mut list, run[0]);
        varint::put(&mut list, run.len() as u64);
    }
    list
}

fn pair(rest: &mut &[u8]) -> Option<(u64, u64)> {
    Some((varint::take(rest)?, varint::take(rest)?))
}

/// The length of the list at the start of `bytes`, if it is one.
fn ended_len(bytes: &[u8]) -> Option<usize> {
    let (mut rest, mut above) = (bytes, None);
    for _ in 0..varint::take(&mut rest)? {
        let (sequence, chunks) = pair(&mut rest)?;
        if chunks == 0 || above.is_some_and(|above| sequence <= above) {
            return None;
        }
        above = Some(sequence);
    }
    Some(bytes.len() - rest.len())
}
