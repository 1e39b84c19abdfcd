//! The physical places of segments that nothing holds.

use std::collections::BTreeSet;

/// Free physical indexes. The lowest is given first, so that what is used gathers at the front of the file and its end can be cut off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FreeSegments {
    /// Below `end`, and held by nobody.
    free: BTreeSet<u32>,
    /// From here on, no index is held by anybody.
    end: u32,
    /// How many segments the file has, how many of those that are free are kept for a checkpoint, and what may lie behind its end.
    limits: Limits,
    /// What was taken since the last [`settle`](Self::settle), in that order.
    taken: Vec<u32>,
}

/// What the log leaves alone when it takes places for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Segments within the file.
    pub(crate) len: u32,
    /// So many that are free, of these, are kept for a checkpoint.
    pub(crate) kept: u32,
    /// Whether the log may reserve places behind the end of the file; and whether it may open a segment there, for which the file has to
    /// grow at once.
    pub(crate) may_grow: bool,
    pub(crate) may_open_behind: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { len: 0, kept: 0, may_grow: true, may_open_behind: true }
    }
}

/// The highest index but one: the highest stands for "none" in a segment header.
const INDEX_MAX: u32 = u32::MAX - 1;

impl FreeSegments {
    /// All indexes but those in `held`.
    pub(crate) fn around(held: &BTreeSet<u32>) -> Self {
        let mut end = 0;
        let between =
            held.iter().flat_map(|index| std::mem::replace(&mut end, index.saturating_add(1))..*index);
        let free = between.collect();
        FreeSegments { free, end, limits: Limits::default(), taken: Vec::new() }
    }

    /// Sets what the log leaves alone.
    pub(crate) fn limit(&mut self, limits: Limits) {
        self.limits = limits;
    }

    //= spec/format.md#f-4-3-chain
    //# A reserved segment MUST NOT be used for anything else until the log has passed it.
    /// A place for a segment that the log opens, for as long as what is placed there is not taken back: the lowest that is free; where no
    /// more are free than are kept, one behind the end of the file, if that may be.
    pub(crate) fn take(&mut self) -> Option<u32> {
        self.take_within(self.limits.may_open_behind)
    }

    /// A place for a segment that the log may open later.
    pub(crate) fn reserve(&mut self) -> Option<u32> {
        self.take_within(self.limits.may_grow)
    }

    fn take_within(&mut self, or_behind: bool) -> Option<u32> {
        let index = if self.within(self.limits.len) > self.limits.kept {
            self.take_for_good()?
        } else {
            or_behind.then(|| self.take_behind(self.limits.len))??
        };
        self.taken.push(index);
        Some(index)
    }

    /// The lowest free index from `len` on.
    fn take_behind(&mut self, len: u32) -> Option<u32> {
        if let Some(index) = self.free.range(len..).next().copied() {
            self.free.remove(&index);
            return Some(index);
        }
        let index = self.end.max(len);
        if index > INDEX_MAX {
            return None;
        }
        self.free.extend(self.end..index);
        self.end = index + 1;
        Some(index)
    }

    /// The lowest free index, until it is [`put`](Self::put) back.
    pub(crate) fn take_for_good(&mut self) -> Option<u32> {
        let index = match self.free.pop_first() {
            Some(index) => index,
            None if self.end > INDEX_MAX => return None,
            None => {
                self.end += 1;
                self.end - 1
            }
        };
        Some(index)
    }

    /// How many were taken since the last time that this was settled.
    pub(crate) fn mark(&self) -> usize {
        self.taken.len()
    }

    /// Gives back what was taken since `mark`.
    pub(crate) fn revert(&mut self, mark: usize) {
        while self.taken.len() > mark
            && let Some(index) = self.taken.pop()
        {
            self.put(index);
        }
    }

    /// What was taken so far stays so.
    pub(crate) fn settle(&mut self) {
        self.taken.clear();
    }

    /// An index is held by nobody any more.
    pub(crate) fn put(&mut self, index: u32) {
        assert!(index < self.end && self.free.insert(index), "segment {index} is freed once");
        while self.end > 0 && self.free.remove(&(self.end - 1)) {
            self.end -= 1;
        }
    }

    /// One above the highest index that somebody holds.
    #[cfg(test)]
    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    /// The lowest index that is free.
    pub(crate) fn lowest(&self) -> u32 {
        self.free.first().copied().unwrap_or(self.end)
    }

    /// How many indexes below `len`, a count of segments, are free.
    pub(crate) fn within(&self, len: u32) -> u32 {
        match len.checked_sub(self.end) {
            Some(behind) => self.free.len() as u32 + behind,
            None => self.free.range(..len).count() as u32,
        }
    }

    /// The least count of segments, `len` or more, within which so many are free.
    pub(crate) fn len_with(&self, len: u32, wanted: u32) -> u32 {
        let missing = wanted.saturating_sub(self.within(len));
        let (mut found, mut to) = (0, len);
        for index in self.free.range(len..).take(missing as usize) {
            (found, to) = (found + 1, index + 1);
        }
        if found == missing { to } else { self.end.max(len).saturating_add(missing - found) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_place_is_given_first_and_what_is_reverted_is_as_it_was() {
        let mut free = FreeSegments::around(&BTreeSet::from([0, 2, 5]));
        assert_eq!((free.end(), free.within(6), free.within(8), free.within(2)), (6, 3, 5, 1));
        let least =
            |len, wanted| (len..).find(|len| free.within(*len) >= wanted).expect("all behind are free");
        for (len, wanted) in (0..9).flat_map(|len| (0..9).map(move |wanted| (len, wanted))) {
            assert_eq!(free.len_with(len, wanted), least(len, wanted), "{wanted} within {len}");
        }
        let before = free.clone();
        let mark = free.mark();
        assert_eq!([free.take(), free.take(), free.take(), free.take()], [1, 3, 4, 6].map(Some));
        free.revert(mark);
        assert_eq!(free, before);
    }

    #[test]
    fn the_log_takes_nothing_of_what_is_kept_for_a_checkpoint() {
        let mut free = FreeSegments::around(&BTreeSet::from([0, 3]));
        free.limit(Limits { len: 6, kept: 2, may_grow: true, may_open_behind: true });
        assert_eq!([free.take(), free.take(), free.take(), free.take()], [1, 2, 6, 7].map(Some));
        assert_eq!((free.within(6), free.end()), (2, 8));
        let before = free.clone();
        free.limit(Limits { len: 6, kept: 2, may_grow: false, may_open_behind: true });
        assert_eq!(free.reserve(), None);
        let mark = free.mark();
        assert_eq!(free.take(), Some(8), "what is opened now makes the file longer");
        free.revert(mark);
        assert_eq!([free.take_for_good(), free.take_for_good()], [4, 5].map(Some));
        free.put(5);
        free.put(4);
        free.limit(before.limits);
        assert_eq!(free, before);
    }

    #[test]
    fn free_places_at_the_end_are_not_held_up() {
        let mut free = FreeSegments::around(&BTreeSet::from([0, 1, 2, 3]));
        free.put(2);
        assert_eq!(free.end(), 4);
        free.put(3);
        assert_eq!((free.end(), free.within(4)), (2, 2));
        assert_eq!(free.take(), Some(2));
    }
}
