//! Dense integer keys: an array of atomics in pages, eight bytes a key, read without a lock.
//!
//! Pages stand in a directory whose levels double, so that growing moves nothing that a reader may be looking at.

use crate::sync::{AtomicU64, OnceLock, Ordering};

use super::Entry;

type Page = Box<[AtomicU64]>;
type Level = Box<[OnceLock<Page>]>;

/// The page directory stays within this many times the pages that exist, so that a far key cannot blow it up.
pub(super) const DIRECTORY_SLACK: u64 = 4;

/// Pages 0 .. 2^LEVELS - 1 can be held; the density rule of the owner keeps far below that.
const LEVELS: usize = 40;

#[derive(Debug)]
pub(crate) struct PagedInts {
    /// A page holds `1 << shift` keys.
    shift: u32,
    levels: [OnceLock<Level>; LEVELS],
    /// Number of the last page that exists, plus one.
    end: AtomicU64,
    /// How many pages exist.
    count: AtomicU64,
    /// How many keys are still to come, at most: pages for them may stand as far out as these would make them.
    expected: AtomicU64,
}

/// Where page `number` stands: level k holds 2^k pages.
fn place(number: u64) -> (usize, usize) {
    let level = (number + 1).ilog2();
    (level as usize, (number + 1 - (1 << level)) as usize)
}

/// Shows the entries of the first `limit` of these slots that have one. How many there were.
fn show_some<'a>(
    slots: impl Iterator<Item = (i64, &'a AtomicU64)>,
    limit: usize,
    show: &mut impl FnMut(i64, Entry),
) -> usize {
    let mut left = limit;
    for (key, slot) in slots {
        if left == 0 {
            break;
        }
        if let Some(entry) = Entry::from_bits(slot.load(Ordering::Acquire)) {
            show(key, entry);
            left -= 1;
        }
    }
    limit - left
}

impl PagedInts {
    pub(crate) fn new(shift: u32) -> Self {
        PagedInts {
            shift,
            levels: std::array::from_fn(|_| OnceLock::new()),
            end: AtomicU64::new(0),
            count: AtomicU64::new(0),
            expected: AtomicU64::new(0),
        }
    }

    pub(super) fn page_shift(&self) -> u32 {
        self.shift
    }

    /// Keys in a page.
    pub(crate) fn page_len(&self) -> u64 {
        1 << self.shift
    }

    /// The page that `key` belongs to; none for a key that no page can hold.
    pub(crate) fn page_of(&self, key: i64) -> Option<u64> {
        u64::try_from(key).ok().map(|key| key >> self.shift)
    }

    /// The first key of a page, and the last.
    pub(super) fn ends_of(&self, number: u64) -> (i64, i64) {
        let first = (number << self.shift) as i64;
        (first, first + (self.page_len() - 1) as i64)
    }

    pub(crate) fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// So many keys are to come. Called before there are readers.
    pub(crate) fn expect(&self, count: u64) {
        self.expected.store(count, Ordering::Relaxed);
    }

    /// Pages of this number and above are too far out for the pages that exist, or that are to come.
    pub(super) fn far(&self) -> u64 {
        let expected = self.expected.load(Ordering::Relaxed) >> self.shift;
        DIRECTORY_SLACK * (self.count().max(expected) + 1)
    }

    #[inline]
    pub(crate) fn page(&self, number: u64) -> Option<&[AtomicU64]> {
        Some(self.cell(number)?.get()?)
    }

    #[inline]
    fn cell(&self, number: u64) -> Option<&OnceLock<Page>> {
        let (level, index) = place(number);
        Some(&self.levels.get(level)?.get()?[index])
    }

    /// Where in its page the entry of `key` stands.
    fn place_in_page(&self, key: i64) -> usize {
        (key.unsigned_abs() & (self.page_len() - 1)) as usize
    }

    /// The slot of `key`, where its page exists.
    #[inline]
    pub(crate) fn slot(&self, key: i64) -> Option<&AtomicU64> {
        Some(&self.page(self.page_of(key)?)?[self.place_in_page(key)])
    }

    /// Brings page `number` into being, filled by `fill` before any reader can see it.
    pub(crate) fn create(&self, number: u64, fill: impl FnOnce(&[AtomicU64])) {
        let page: Page = (0..self.page_len()).map(|_| AtomicU64::new(0)).collect();
        fill(&page);
        let cell = self.add(number);
        assert!(cell.set(page).is_ok(), "page {number} is created once, by the one writer");
        self.note(number);
    }

    /// The place of page `number`, made where there is none yet.
    fn add(&self, number: u64) -> &OnceLock<Page> {
        let (level, index) = place(number);
        let level = self.levels[level].get_or_init(|| (0..1u64 << level).map(|_| OnceLock::new()).collect());
        &level[index]
    }

    /// There is one page more.
    fn note(&self, number: u64) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.end.fetch_max(number + 1, Ordering::Release);
    }

    /// How many keys of page `number` have an entry.
    pub(crate) fn filled(&self, number: u64) -> u64 {
        let Some(page) = self.page(number) else { return 0 };
        page.iter().filter(|slot| slot.load(Ordering::Relaxed) != 0).count() as u64
    }

    /// Shows up to `limit` entries with keys in `from..=to`, in order or in reverse. How many these are.
    pub(crate) fn walk(
        &self,
        (from, to): (i64, i64),
        reverse: bool,
        limit: usize,
        mut show: impl FnMut(i64, Entry),
    ) -> usize {
        let from = from.max(0);
        let end = self.end();
        if to < from || end == 0 {
            return 0;
        }
        let (first, last) = (from as u64 >> self.shift, (to as u64 >> self.shift).min(end - 1));
        let mut left = limit;
        let mut step = |number: u64| {
            let Some(page) = self.page(number) else { return true };
            let base = (number << self.shift) as i64;
            let low = (from - base).max(0) as usize;
            let high = ((to - base) as u64).min(self.page_len() - 1) as usize;
            let slots = (base + low as i64..).zip(&page[low..=high]);
            left -= if reverse {
                let slots = page[low..=high].iter().enumerate().rev();
                show_some(slots.map(|(index, slot)| (base + (low + index) as i64, slot)), left, &mut show)
            } else {
                show_some(slots, left, &mut show)
            };
            left > 0
        };
        if reverse {
            let _ = (first..=last).rev().all(&mut step);
        } else {
            let _ = (first..=last).all(&mut step);
        }
        limit - left
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let pages = self.count() as usize * (self.page_len() as usize * size_of::<AtomicU64>());
        let levels = self.levels.iter().filter_map(OnceLock::get).map(|level| size_of_val(&**level));
        pages + levels.sum::<usize>()
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn fork(&self) -> Self {
        let copy = PagedInts::new(self.shift);
        copy.expect(self.expected.load(Ordering::Relaxed));
        for number in 0..self.end() {
            if let Some(page) = self.page(number) {
                copy.create(number, |slots| {
                    for (to, from) in slots.iter().zip(page) {
                        to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
                    }
                });
            }
        }
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_hold_every_page_once() {
        let mut seen = std::collections::BTreeSet::new();
        for number in 0..1000 {
            let (level, index) = place(number);
            assert!(index < 1 << level, "page {number} lies inside its level");
            assert!(seen.insert((level, index)), "page {number} has a place of its own");
        }
    }
}
