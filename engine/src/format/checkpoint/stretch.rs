//! Stretches of int keys in a leaf (F-8.4): found and checked once, and then handed out.
//!
//! All of a large collection is checked in this loop when it is first gone through, so the way of what is common is short:
//! eight entries at once where ids follow one another and addresses grow by what two bytes tell.

use super::entry::{INT, OUT_OF_ORDER, take_varint, unzigzag, value_end, value_fault};
use crate::document::KEY_LEN_MAX;
use crate::format::LogAddress;

/// What the entries of a tree are held to, and where stretches end.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// No value may be as large as this.
    pub(super) value_end: u64,
    /// No stretch has keys of two pages.
    page_shift: u32,
    /// No key is longer.
    pub(super) key_len_max: usize,
}

impl Limits {
    /// No entry may lead to `log_end` or beyond it, and no stretch has keys of two pages, where a page is `1 << page_shift` ints
    /// that begin at a multiple of that.
    #[must_use]
    pub fn new(log_end: LogAddress, page_shift: u32) -> Self {
        assert!(page_shift < u64::BITS - 1, "a page has as many ints as can be counted");
        Limits { value_end: value_end(log_end), page_shift, key_len_max: KEY_LEN_MAX }
    }

    /// Whether an entry may have this value.
    pub(crate) fn admits(&self, value: u64) -> bool {
        value < self.value_end
    }

    /// The same for a tree of entries of an index, which may be as long as these.
    pub(super) fn with_entries(self, key_len_max: usize) -> Self {
        Limits { key_len_max, ..self }
    }
}

/// Entries of one leaf that follow one another, with int keys of one page. Its bytes were checked when it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    first_key: i64,
    first_value: u64,
    /// Entries behind the first.
    more: u32,
    /// Where these stand among the leaf's entries.
    begin: u32,
    end: u32,
}

impl Stretch {
    /// The least of its keys.
    #[must_use]
    pub const fn first_key(&self) -> i64 {
        self.first_key
    }

    /// Hands out the keys and values. `entries` are those of the leaf in which the stretch was found.
    pub fn each(&self, entries: &[u8], mut each: impl FnMut(i64, u64)) {
        let mut rest = &entries[self.begin as usize..self.end as usize];
        let (mut key, mut value) = (self.first_key, self.first_value);
        each(key, value);
        for _ in 0..self.more {
            let mut next = || take_varint(&mut rest).expect("a stretch was checked when it was found");
            key += (next() >> 1) as i64;
            value = value.wrapping_add(unzigzag(next()) as u64);
            each(key, value);
        }
    }
}

/// The ints at the beginning of a leaf: they come before all other keys.
#[derive(Debug)]
pub(super) struct Ints<'a> {
    entries: &'a [u8],
    limits: Limits,
    /// How far the leaf was read.
    pub(super) at: usize,
    /// Entries that are still to come.
    pub(super) left: u32,
    /// The key before.
    pub(super) key: Option<i64>,
    /// The value before.
    pub(super) value: u64,
}

impl<'a> Ints<'a> {
    pub(super) fn new(entries: &'a [u8], count: u32, limits: Limits) -> Self {
        Ints { entries, limits, at: 0, left: count, key: None, value: 0 }
    }

    /// The next stretch; none where the leaf ends or goes on with a key of another sort.
    pub(super) fn next(&mut self) -> Result<Option<Stretch>, &'static str> {
        if !self.step(None)? {
            return Ok(None);
        }
        let (first_key, first_value) = (self.key.expect("a step leads to a key"), self.value);
        let page = first_key >> self.limits.page_shift;
        let last_key = last_of_page(first_key, self.limits.page_shift);
        let (begin, left) = (self.at, self.left);
        while self.eight(last_key) || self.step(Some(page))? {}
        let (begin, end) = (begin as u32, self.at as u32);
        Ok(Some(Stretch { first_key, first_value, more: left - self.left, begin, end }))
    }

    /// Goes on by one entry, if there is one with an int key; with a page given, only by a difference, and within that page.
    #[inline(always)]
    fn step(&mut self, page: Option<i64>) -> Result<bool, &'static str> {
        if self.left == 0 {
            return Ok(false);
        }
        let mut rest = &self.entries[self.at..];
        let t = take_varint(&mut rest)?;
        let key = if t & 1 == 0 {
            let before = self.key.ok_or("a difference to a key that is no int")?;
            if t == 0 {
                return Err(OUT_OF_ORDER);
            }
            // An even `t` has at most 63 bits of difference, but the sum may still leave the ints.
            before.checked_add_unsigned(t >> 1).ok_or("an int key beyond 64 bits")?
        } else if t == INT && page.is_none() {
            let key = unzigzag(take_varint(&mut rest)?);
            if self.key.is_some_and(|before| before >= key) {
                return Err(OUT_OF_ORDER);
            }
            key
        } else {
            return Ok(false);
        };
        if page.is_some_and(|page| page != key >> self.limits.page_shift) {
            return Ok(false);
        }
        let value = self.value.wrapping_add(unzigzag(take_varint(&mut rest)?) as u64);
        if let Some(fault) = value_fault(value, self.limits.value_end) {
            return Err(fault);
        }
        (self.key, self.value) = (Some(key), value);
        self.at = self.entries.len() - rest.len();
        self.left -= 1;
        Ok(true)
    }

    /// Goes on by eight entries of three bytes, if the next eight are keys that follow one another, none above `last_key`, and values
    /// that each grow by what two bytes tell: then the last value is the largest, and the only one to be looked at.
    #[inline(always)]
    fn eight(&mut self, last_key: i64) -> bool {
        let Some(key) = self.key else { return false };
        let Some(bytes) = self.entries[self.at..].first_chunk::<{ 8 * 3 }>() else { return false };
        if self.left < 8 || last_key - key < 8 {
            return false;
        }
        let Some(growth) = growth_of_eight(bytes) else { return false };
        let value = self.value + growth;
        if !self.limits.admits(value) {
            return false;
        }
        (self.key, self.value) = (Some(key + 8), value);
        self.at += bytes.len();
        self.left -= 8;
        true
    }
}

/// The last key of the page of `key`, which is no more than the last int.
const fn last_of_page(key: i64, page_shift: u32) -> i64 {
    key | ((1 << page_shift) - 1)
}

/// One byte of each eight, set to `byte`.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// By how much the value grows over eight entries of three bytes: `t` for the key that follows, and a varint of two bytes that tells
/// growth. None where one of them is anything else.
fn growth_of_eight(bytes: &[u8; 24]) -> Option<u64> {
    let word = |index: usize| {
        u64::from_le_bytes(*bytes[index * 8..].first_chunk().expect("24 bytes are three words"))
    };
    let words = [word(0), word(1), word(2)];
    // Three words have 24 places, and those of one sort, every third, fall upon each of a word's eight bytes once.
    let gathered = |sort: u32| {
        let place = |index: u32| {
            (0..8)
                .filter(|byte| (index * 8 + byte) % 3 == sort)
                .fold(0, |mask, byte| mask | 0xFF << (byte * 8))
        };
        (0..3).fold(0, |sum, index| sum | words[index as usize] & place(index))
    };
    let (keys, low, high) = (gathered(0), gathered(1), gathered(2));
    let are_next = keys == each(2);
    // The first byte of two goes on, and its lowest bit, the sign, says growth.
    let are_growth = low & each(0x81) == each(0x80);
    // The second one ends the varint, and is not 0: F-1.2.
    let are_last = high & each(0x80) == 0 && (high + each(0x7F)) & each(0x80) == each(0x80);
    let is_all = are_next && are_growth && are_last;
    // Zigzag doubles what grows.
    is_all.then(|| (sum(low & each(0x7F)) + (sum(high) << 7)) / 2)
}

/// The sum of the eight bytes.
const fn sum(word: u64) -> u64 {
    const PAIRS: u64 = 0x00FF_00FF_00FF_00FF;
    let pairs = (word & PAIRS) + (word >> 8 & PAIRS);
    pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48
}

#[cfg(test)]
mod tests {
    use super::super::leaf::{Leaf, LeafDecoder};
    use super::*;
    use crate::document::Key;
    use crate::format::varint;
    use proptest::prelude::*;

    /// A leaf of ids from 1 on, whose addresses grow by so much each.
    fn leaf(growths: &[u64]) -> Vec<u8> {
        let mut bytes = vec![INT as u8, 2];
        for (index, growth) in growths.iter().enumerate() {
            if index > 0 {
                bytes.push(2);
            }
            varint::put(&mut bytes, growth * 8);
        }
        bytes
    }

    /// What is found where stretches end at pages of `1 << page_shift` ints.
    fn found(
        entries: &[u8],
        count: u32,
        page_shift: u32,
        end: LogAddress,
    ) -> Result<Vec<(Key, u64)>, &'static str> {
        let mut all = Vec::new();
        let limits = Limits::new(end, page_shift);
        let leaf = Leaf { entries, count, first: Some(crate::document::KeyRef::Int(1)), limits };
        LeafDecoder::default().decode(leaf, &mut all).map(|_| all)
    }

    proptest! {
        // Pages of one int leave nothing that could be looked at by eights.
        #[test]
        fn eight_entries_at_once_are_what_they_are_one_by_one(
            growths in proptest::collection::vec(prop_oneof![40 => 8u64..2048, 1 => 0u64..40_000], 1..120),
            changed in proptest::option::of((any::<prop::sample::Index>(), any::<u8>())),
            end in prop_oneof![1 => 1u64..100_000, 2 => Just(u64::MAX)],
        ) {
            let (mut entries, count) = (leaf(&growths), growths.len() as u32);
            if let Some((index, byte)) = changed {
                let index = index.index(entries.len());
                entries[index] = byte;
            }
            let end = LogAddress(end);
            let one_by_one = found(&entries, count, 0, end);
            for page_shift in [3, 5, 12] {
                prop_assert_eq!(&found(&entries, count, page_shift, end), &one_by_one);
            }
        }
    }

    #[test]
    fn eight_entries_of_three_bytes_are_taken_at_once_and_no_other() {
        let sound = leaf(&[100; 10]);
        let eight = |bytes: &[u8]| growth_of_eight(bytes.first_chunk().expect("eight entries"));
        // The first entry takes four bytes here: its key is told in full.
        assert_eq!(eight(&sound[4..]), Some(8 * 400));
        for (place, byte) in
            [(0, 4), (0, 1), (21, 3), (1, 0x21), (1, 0xA1), (2, 0), (2, 0x80), (23, 0x86), (23, 0)]
        {
            let mut other = sound[4..].to_vec();
            other[place] = byte;
            assert_eq!(eight(&other), None, "{byte:#x} at {place}");
        }
        let (least, most) = (leaf(&[16; 10]), leaf(&[2047; 10]));
        assert_eq!(eight(&least[4..]), Some(8 * 64));
        assert_eq!(eight(&most[4..]), Some(8 * 4 * 2047));
    }

    #[test]
    fn eight_are_taken_at_once_where_the_leaf_and_the_page_have_so_many() {
        let entries = leaf(&[100; 20]);
        // Behind the first entry, which takes four bytes.
        for (left, last_key, is_taken) in [(8, 9, true), (7, 9, false), (8, 8, false), (19, 4095, true)] {
            let limits = Limits::new(LogAddress::MAX, 12);
            let mut ints = Ints { at: 4, key: Some(1), value: 400, ..Ints::new(&entries, left, limits) };
            assert_eq!(ints.eight(last_key), is_taken, "{left} left, as far as {last_key}");
            let (at, left) = if is_taken { (4 + 24, left - 8) } else { (4, left) };
            assert_eq!((ints.at, ints.left), (at, left));
        }
    }

    #[test]
    fn a_page_ends_in_front_of_a_multiple_of_its_length() {
        let ends = [(0, 3), (7, 3), (8, 3), (12, 3), (-1, 3), (-9, 3), (5, 0)]
            .map(|(key, shift)| last_of_page(key, shift));
        assert_eq!(ends, [7, 7, 15, 15, -1, -9, 5]);
        assert_eq!(last_of_page(i64::MAX - 1, 12), i64::MAX);
    }
}
