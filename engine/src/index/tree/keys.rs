//! A few byte strings in order, packed so that one is found with little memory looked at: the leaves and branches of a [tree](super::tree).
//!
//! The strings stand back to back. Beside each is its head, the four bytes behind what all of them begin with, as a number: a look goes
//! through the heads, all at once, and then compares bytes with those of the same head, which is mostly one.

#![expect(clippy::big_endian_bytes, reason = "big-endian bytes compare as the numbers do")]

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::ops::Range;

use crate::document::bytes::{self, shared_len};

/// So many at most.
pub(in crate::index) const KEYS_MAX: usize = 64;

/// None is longer than this: entries of indexes are longer than keys of documents.
const LEN_MAX: usize = 4096;
/// More bytes stand together only until they are split.
const BYTES_FULL: usize = 56 << 10;

/// Where each begins is kept in 16 bits.
const _: () = assert!(BYTES_FULL + LEN_MAX <= u16::MAX as usize);

/// Bytes that may be kept for keys to come, where an eighth of those that are there is less.
const SLACK_MIN: usize = 64;

/// What stands in a place that is not in use: below no head.
const NO_HEAD: i32 = i32::MAX;

#[derive(Debug, Clone)]
pub(super) struct Keys {
    heads: [i32; KEYS_MAX],
    /// Where each begins in `bytes`.
    starts: [u16; KEYS_MAX],
    len: u16,
    /// All of them begin with so many bytes of the first one. It is as many as can be but for where some were taken out since.
    shared: u16,
    bytes: Vec<u8>,
}

impl Default for Keys {
    fn default() -> Self {
        Keys { heads: [NO_HEAD; KEYS_MAX], starts: [0; KEYS_MAX], len: 0, shared: 0, bytes: Vec::new() }
    }
}

/// The first four bytes as a number that is ordered as they are.
fn head(bytes: &[u8]) -> i32 {
    (u32::from_be_bytes(bytes::head(bytes)) ^ 1 << 31) as i32
}

/// The shortest string that is above `left` and not above `right`, which is greater.
pub(super) fn separator<'a>(left: &[u8], right: &'a [u8]) -> &'a [u8] {
    &right[..=shared_len(left, right)]
}

impl Keys {
    pub(super) fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Of all together.
    pub(super) fn bytes_len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether one more of this length may stand with them, or more that are so long together.
    pub(super) fn has_room(&self, len: usize) -> bool {
        self.bytes.len() + len <= BYTES_FULL
    }

    /// Whether they may stand with those of `right`, and what stands between them.
    pub(super) fn has_room_for(&self, right: &Keys, between: usize) -> bool {
        self.has_room(right.bytes.len() + between)
    }

    fn start(&self, at: usize) -> usize {
        if at < self.len() { usize::from(self.starts[at]) } else { self.bytes.len() }
    }

    pub(super) fn get(&self, at: usize) -> &[u8] {
        &self.bytes[self.start(at)..self.start(at + 1)]
    }

    pub(super) fn last(&self) -> &[u8] {
        self.get(self.len() - 1)
    }

    /// The bytes of all in `range`, one behind the other.
    pub(super) fn bytes_of(&self, range: &Range<usize>) -> &[u8] {
        &self.bytes[self.start(range.start)..self.start(range.end)]
    }

    /// How long each in `range` is.
    pub(super) fn lens(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = usize> {
        range.map(|at| self.start(at + 1) - self.start(at))
    }

    /// How many heads are below this one.
    fn below(&self, head: i32) -> usize {
        // All of them, also those not in use: a length that the compiler knows takes a few instructions of 16 bytes each.
        self.heads.iter().map(|other| i32::from(*other < head)).sum::<i32>() as usize
    }

    /// Where `key` stands, or else where it would.
    #[inline]
    pub(super) fn search(&self, key: &[u8]) -> Result<usize, usize> {
        let shared = &self.bytes[..usize::from(self.shared)];
        let Some(rest) = key.strip_prefix(shared) else {
            return Err(if key < shared { 0 } else { self.len() });
        };
        self.search_from(self.below(head(rest)), head(rest), key)
    }

    /// As [`search`](Self::search) of a key that does not stand before `from`, and mostly not far behind it.
    pub(super) fn search_on(&self, from: usize, key: &[u8]) -> Result<usize, usize> {
        let near = (from..from + 2).find(|at| *at >= self.len() || key <= self.get(*at));
        let Some(at) = near else { return self.search(key) };
        if at < self.len() && self.get(at) == key { Ok(at) } else { Err(at) }
    }

    /// As [`search`](Self::search) in the last node of its level, `is_last`: keys that come in order stand behind all others there.
    #[inline]
    pub(super) fn search_of_last(&self, key: &[u8], is_last: bool) -> Result<usize, usize> {
        let is_behind = is_last && self.len() > 0 && self.last() < key;
        if is_behind { Err(self.len()) } else { self.search(key) }
    }

    /// Where `key` stands.
    #[inline(always)]
    pub(super) fn find(&self, key: &[u8]) -> Option<usize> {
        // One that begins otherwise is none of them, whichever it is compared with.
        let head = head(key.get(usize::from(self.shared)..)?);
        let at = self.below(head);
        if at < self.len() && self.get(at) == key {
            return Some(at);
        }
        self.search_from(at, head, key).ok()
    }

    /// As [`search`](Self::search) among those with this head, the first of which stands at `from`, if there are any.
    #[inline(always)]
    fn search_from(&self, mut from: usize, head: i32, key: &[u8]) -> Result<usize, usize> {
        let same = self.heads[from..self.len()].iter().take_while(|other| **other == head).count();
        let mut to = from + same;
        while from < to {
            let middle = from.midpoint(to);
            match self.get(middle).cmp(key) {
                Ordering::Less => from = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => to = middle,
            }
        }
        Err(from)
    }

    /// Puts `key` where `search` says that it would stand.
    pub(super) fn insert(&mut self, at: usize, key: &[u8]) {
        assert!(self.len() < KEYS_MAX && key.len() <= LEN_MAX, "there is room for a key");
        let (len, start, end) = (self.len(), self.start(at), self.bytes.len());
        self.reserve(key.len());
        self.bytes.resize(end + key.len(), 0);
        self.bytes.copy_within(start..end, start + key.len());
        self.bytes[start..start + key.len()].copy_from_slice(key);
        self.starts.copy_within(at..len, at + 1);
        self.starts[at] = start as u16;
        self.starts[at + 1..=len].iter_mut().for_each(|start| *start += key.len() as u16);
        self.heads.copy_within(at..len, at + 1);
        self.len += 1;
        // Between two others it begins as they do.
        if !(at == 0 || at == len) || !self.fit() {
            self.heads[at] = head(&key[usize::from(self.shared)..]);
        }
    }

    pub(super) fn remove(&mut self, at: usize) {
        let (len, start, end) = (self.len(), self.start(at), self.start(at + 1));
        self.bytes.drain(start..end);
        self.starts.copy_within(at + 1..len, at);
        self.starts[at..len - 1].iter_mut().for_each(|later| *later -= (end - start) as u16);
        self.heads.copy_within(at + 1..len, at);
        self.heads[len - 1] = NO_HEAD;
        self.len -= 1;
        if self.len == 0 {
            self.shared = 0;
        }
        if self.bytes.capacity() > 2 * self.bytes.len() + SLACK_MIN {
            self.bytes.shrink_to_fit();
        }
    }

    /// Takes out those from `at` on.
    pub(super) fn split_off(&mut self, at: usize) -> Keys {
        let mut right = Keys { bytes: self.bytes.split_off(self.start(at)), ..Keys::default() };
        let base = self.bytes.len() as u16;
        for (to, from) in right.starts.iter_mut().zip(&self.starts[at..self.len()]) {
            *to = from - base;
        }
        (right.len, self.len) = (self.len - at as u16, at as u16);
        self.heads[at..].fill(NO_HEAD);
        self.bytes.shrink_to_fit();
        self.fit();
        if !right.fit() {
            right.set_heads(0);
        }
        right
    }

    /// Puts these behind, which come in order, and have room.
    pub(super) fn extend<'k>(&mut self, more: impl Iterator<Item = &'k [u8]> + Clone) {
        self.bytes.reserve_exact(more.clone().map(<[u8]>::len).sum());
        let from = self.len();
        for key in more {
            self.starts[self.len()] = self.bytes.len() as u16;
            self.bytes.extend_from_slice(key);
            self.len += 1;
        }
        if !self.fit() {
            self.set_heads(from);
        }
    }

    /// Puts those of `right` behind.
    pub(super) fn append(&mut self, right: &Keys) {
        self.extend((0..right.len()).map(|at| right.get(at)));
    }

    /// No room that is not used.
    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
    }

    /// Room for as much as `left` has: where keys come in order, as many will come.
    pub(super) fn reserve_as(&mut self, left: &Keys) {
        self.bytes.reserve_exact(left.bytes.len());
    }

    /// An eighth more than there is, since there are many of these, and most stay as they are.
    fn reserve(&mut self, more: usize) {
        if self.bytes.capacity() - self.bytes.len() < more {
            self.bytes.reserve_exact(more + (self.bytes.len() / 8).max(SLACK_MIN));
        }
    }

    /// Sets what all begin with, as the first and the last of them do. Whether that changed, and all heads with it.
    fn fit(&mut self) -> bool {
        let shared = if self.len == 0 { 0 } else { shared_len(self.get(0), self.last()) as u16 };
        let changed = shared != self.shared;
        if changed {
            self.shared = shared;
            self.set_heads(0);
        }
        changed
    }

    fn set_heads(&mut self, from: usize) {
        for at in from..self.len() {
            self.heads[at] = head(&self.get(at)[usize::from(self.shared)..]);
        }
    }
}

#[cfg(test)]
impl Keys {
    /// Holds them to how they are kept.
    pub(super) fn check(&self) {
        let len = self.len();
        let all: Vec<_> = (0..len).map(|at| self.get(at)).collect();
        assert!(all.is_sorted_by(|a, b| a < b));
        assert_eq!(all.concat(), self.bytes);
        let shared = all.first().map_or(&[][..], |first| &first[..self.shared_len()]);
        assert!(self.shared_len() == shared.len() && all.iter().all(|key| key.starts_with(shared)));
        assert!(all.iter().zip(&self.heads).all(|(key, found)| head(&key[shared.len()..]) == *found));
        assert!(self.heads[len..].iter().all(|head| *head == NO_HEAD));
    }

    pub(super) fn shared_len(&self) -> usize {
        usize::from(self.shared)
    }

    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}
