//! A walk over a key range, a page at a time, that can turn round.

use std::ops::Bound;
use std::vec::IntoIter;

use crate::document::Key;
use crate::index::KeyRange;

/// Entries looked up first: few, since many a walk ends early.
const PAGE_LEN_FIRST: usize = 32;
/// Entries looked up at a time in the end: enough that the index lock costs little.
const PAGE_LEN_MAX: usize = 256;

/// Where a walk stands; `E` is what it finds under a key.
#[derive(Debug)]
pub(super) struct Walk<E> {
    /// What is left of the range; none when the index has no more.
    rest: Option<KeyRange>,
    reverse: bool,
    /// How many entries are to be looked up next.
    page_len: usize,
    page: IntoIter<(Key, E)>,
}

impl<E> Walk<E> {
    pub(super) fn new(range: KeyRange) -> Self {
        Walk { rest: Some(range), reverse: false, page_len: PAGE_LEN_FIRST, page: Vec::new().into_iter() }
    }

    pub(super) fn is_reverse(&self) -> bool {
        self.reverse
    }

    /// How many entries of the index the page that is due looks at.
    pub(super) fn page_len(&self) -> usize {
        self.page_len
    }

    /// What the page has next.
    pub(super) fn next_in_page(&mut self) -> Option<(Key, E)> {
        self.page.next()
    }

    /// All that the page has, which is then empty.
    pub(super) fn take_page(&mut self) -> IntoIter<(Key, E)> {
        std::mem::take(&mut self.page)
    }

    /// What the page has behind that, in the order of the walk.
    pub(super) fn left_in_page(&self) -> &[(Key, E)] {
        self.page.as_slice()
    }

    /// The range that the next page begins; none where the walk is over.
    pub(super) fn take_rest(&mut self) -> Option<KeyRange> {
        self.rest.take()
    }

    /// Of `range`, the index had these entries in front. Returns the part that they cover; the rest is left for later.
    pub(super) fn cover<T>(&mut self, range: &KeyRange, found: &[(Key, T)]) -> KeyRange {
        let Some((last, _)) = found.last().filter(|_| found.len() == self.page_len) else {
            return range.clone();
        };
        self.page_len = (self.page_len * 2).min(PAGE_LEN_MAX);
        self.rest = Some(range.beyond(last, self.reverse));
        range.clone().up_to(last, self.reverse)
    }

    /// Goes back to before `range` was taken.
    pub(super) fn begin_again(&mut self, range: KeyRange) {
        self.rest = Some(range);
    }

    /// Goes on with these, which are in the order of the walk.
    pub(super) fn fill(&mut self, page: Vec<(Key, E)>) {
        self.page = page.into_iter();
    }

    /// Walks what is left from its other end.
    pub(super) fn reverse(&mut self) {
        // The looked-up entries lie at the near end of what is left: they are put back.
        if let (Some((first, _)), Some((last, _))) =
            (self.page.as_slice().first(), self.page.as_slice().last())
        {
            let (low, high) = if self.reverse { (last, first) } else { (first, last) };
            let (low, high) = (Bound::Included(low.clone()), Bound::Included(high.clone()));
            self.rest = Some(match self.rest.take() {
                None => KeyRange { from: low, to: high },
                Some(rest) if self.reverse => KeyRange { from: rest.from, to: high },
                Some(rest) => KeyRange { from: low, to: rest.to },
            });
            self.page = Vec::new().into_iter();
        }
        self.reverse = !self.reverse;
    }
}
