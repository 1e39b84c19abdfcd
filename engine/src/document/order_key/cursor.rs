//! Reads bytes of order keys from the front, also where all their bits are inverted.

#![expect(clippy::big_endian_bytes, reason = "big-endian bytes compare as the numbers do")]

/// Why no order key was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The bytes end, and an order key can begin with them.
    Ends,
    /// No order key begins with the bytes.
    Malformed(&'static str),
}

impl Stop {
    /// What is wrong with bytes of which a whole order key is expected.
    pub(crate) fn what(self) -> &'static str {
        match self {
            Stop::Ends => "the order key ends early",
            Stop::Malformed(what) => what,
        }
    }
}

/// A place in bytes.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// What each byte is to be combined with: all bits where they are inverted, else none.
    mask: u8,
}

impl<'a> Cursor<'a> {
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0, mask: 0 }
    }

    /// Reads on with all bits inverted, or with none.
    #[inline]
    pub(crate) fn invert(&mut self, inverted: bool) {
        self.mask = if inverted { 0xff } else { 0 };
    }

    /// Passes over so many bytes, or as many as there are.
    #[inline]
    pub(crate) fn pass(&mut self, len: usize) {
        self.take(len);
    }

    /// How many bytes were read.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The next byte, which stays the next.
    #[inline]
    pub(crate) fn peek(&self) -> Result<u8, Stop> {
        self.bytes.get(self.at).map(|byte| byte ^ self.mask).ok_or(Stop::Ends)
    }

    /// The next byte.
    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, Stop> {
        let byte = self.peek()?;
        self.at += 1;
        Ok(byte)
    }

    /// The next bytes up to `last`, which is among them, or to the end: they still have to be combined with the mask.
    #[inline]
    pub(super) fn until(&mut self, last: u8) -> Masked<'a> {
        let rest = &self.bytes[self.at..];
        let len = memchr::memchr(last ^ self.mask, rest).unwrap_or(rest.len());
        self.take(len)
    }

    /// The next bytes up to two that are `end`, which are passed over too. `None`, and nothing is read, where the bytes do not stand for
    /// themselves: they are inverted, or an `end` among them is escaped.
    #[inline]
    pub(super) fn plain(&mut self, end: u8) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..).filter(|_| self.mask == 0)?;
        let len = memchr::memchr(end, rest)?;
        rest.get(len + 1).filter(|next| **next == end)?;
        self.at += len + 2;
        Some(&rest[..len])
    }

    /// The next `len` bytes, or as many as there are.
    #[inline]
    pub(super) fn take(&mut self, len: usize) -> Masked<'a> {
        let rest = &self.bytes[self.at..];
        let taken = &rest[..len.min(rest.len())];
        self.at += taken.len();
        Masked { bytes: taken, mask: self.mask }
    }

    /// The number that the next eight bytes are, most significant first; nothing is read where fewer are left.
    #[inline]
    pub(super) fn word(&mut self) -> Option<u64> {
        self.word_as(Some)
    }

    /// What `read` makes of that number; nothing is read where it makes nothing of it.
    #[inline(always)]
    pub(super) fn word_as<T>(&mut self, read: impl FnOnce(u64) -> Option<T>) -> Option<T> {
        let word = self.bytes.get(self.at..)?.first_chunk()?;
        let made = read(u64::from_be_bytes(*word) ^ u64::from_le_bytes([self.mask; 8]))?;
        self.at += word.len();
        Some(made)
    }

    /// The least and the greatest number that the next `len` bytes, most significant first, can be. They are the same where
    /// all of these bytes are there.
    #[inline]
    pub(super) fn number(&mut self, len: usize) -> (u64, u64) {
        let taken = self.take(len);
        let there = taken.bytes.iter().fold(0, |number, byte| number << 8 | u64::from(byte ^ taken.mask));
        let missing = 8 * (len - taken.len());
        let least = u128::from(there) << missing;
        let greatest = least | ((1 << missing) - 1);
        (least as u64, greatest as u64)
    }
}

/// Bytes as they stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Masked<'a> {
    bytes: &'a [u8],
    mask: u8,
}

impl Masked<'_> {
    pub(super) fn len(self) -> usize {
        self.bytes.len()
    }

    /// Appends what they stand for.
    pub(super) fn append_to(self, out: &mut Vec<u8>) {
        out.extend(self.bytes.iter().map(|byte| byte ^ self.mask));
    }
}
