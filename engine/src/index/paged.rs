//! Dense integer keys: an array of atomics in pages, eight bytes a key, read without a lock.
//!
//! Pages stand in a directory whose levels double, so that growing moves nothing that a reader may be looking at.

use crate::sync::{AtomicU64, OnceLock, Ordering};

use super::Entry;

type Page = Box<[AtomicU64]>;
type Level = Box<[OnceLock<Page>]>;

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
}

/// Where page `number` stands: level k holds 2^k pages.
fn place(number: u64) -> (usize, usize) {
    let level = (number + 1).ilog2();
    (level as usize, (number + 1 - (1 << level)) as usize)
}

impl PagedInts {
    pub(crate) fn new(shift: u32) -> Self {
        PagedInts {
            shift,
            levels: std::array::from_fn(|_| OnceLock::new()),
            end: AtomicU64::new(0),
            count: AtomicU64::new(0),
        }
    }

    /// Keys in a page.
    pub(crate) fn page_len(&self) -> u64 {
        1 << self.shift
    }

    /// The page that `key` belongs to; none for a key that no page can hold.
    pub(crate) fn page_of(&self, key: i64) -> Option<u64> {
        u64::try_from(key).ok().map(|key| key >> self.shift)
    }

    pub(crate) fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    pub(crate) fn page(&self, number: u64) -> Option<&[AtomicU64]> {
        let (level, index) = place(number);
        Some(self.levels.get(level)?.get()?[index].get()?)
    }

    /// The slot of `key`, where its page exists.
    pub(crate) fn slot(&self, key: i64) -> Option<&AtomicU64> {
        let page = self.page(self.page_of(key)?)?;
        Some(&page[(key.unsigned_abs() & (self.page_len() - 1)) as usize])
    }

    /// Brings page `number` into being, filled by `fill` before any reader can see it.
    pub(crate) fn create(&self, number: u64, fill: impl FnOnce(&[AtomicU64])) {
        let page: Page = (0..self.page_len()).map(|_| AtomicU64::new(0)).collect();
        fill(&page);
        let (level, index) = place(number);
        let level = self.levels[level].get_or_init(|| (0..1u64 << level).map(|_| OnceLock::new()).collect());
        assert!(level[index].set(page).is_ok(), "page {number} is created once, by the one writer");
        self.count.fetch_add(1, Ordering::Relaxed);
        self.end.fetch_max(number + 1, Ordering::Release);
    }

    /// How many keys of page `number` have an entry.
    pub(crate) fn filled(&self, number: u64) -> u64 {
        let Some(page) = self.page(number) else { return 0 };
        page.iter().filter(|slot| slot.load(Ordering::Relaxed) != 0).count() as u64
    }

    /// Visits the entries with keys in `from..=to`, in order or in reverse, until `visit` says stop.
    pub(crate) fn walk(&self, from: i64, to: i64, reverse: bool, mut visit: impl FnMut(i64, Entry) -> bool) {
        let from = from.max(0);
        let end = self.end();
        if to < from || end == 0 {
            return;
        }
        let (first, last) = (from as u64 >> self.shift, (to as u64 >> self.shift).min(end - 1));
        let mut step = |number: u64| {
            let Some(page) = self.page(number) else { return true };
            let base = (number << self.shift) as i64;
            let low = (from - base).max(0) as usize;
            let high = ((to - base) as u64).min(self.page_len() - 1) as usize;
            let mut each = |index: usize| match Entry::from_bits(page[index].load(Ordering::Acquire)) {
                Some(entry) => visit(base + index as i64, entry),
                None => true,
            };
            if reverse { (low..=high).rev().all(&mut each) } else { (low..=high).all(&mut each) }
        };
        if reverse {
            let _ = (first..=last).rev().all(&mut step);
        } else {
            let _ = (first..=last).all(&mut step);
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let pages = self.count() as usize * (self.page_len() as usize * size_of::<AtomicU64>());
        let levels = self.levels.iter().filter_map(OnceLock::get).map(|level| size_of_val(&**level));
        pages + levels.sum::<usize>()
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn fork(&self) -> Self {
        let copy = PagedInts::new(self.shift);
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
