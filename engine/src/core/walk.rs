//! A walk over a key range, a page at a time, that can turn round.

use std::ops::Bound;

use crate::document::{Key, KeyRef};
use crate::index::{Entries, Item, KeyRange, Page};

/// Entries looked up first: few, since many a walk ends early.
const PAGE_LEN_FIRST: usize = 16;
/// Entries looked up at a time in the end: enough that the index lock costs little.
const PAGE_LEN_MAX: usize = 256;
/// Once so many keys of one page were passed, the next page is this long again: it may be passed, too.
const PAGE_LEN_PASSED: usize = 64;

/// Where a walk stands; `E` is what it finds under a key.
#[derive(Debug)]
pub(super) struct Walk<E> {
    /// What is left of the range; none when the index has no more.
    pub(super) rest: Option<KeyRange>,
    reverse: bool,
    /// How many entries are to be looked up next.
    page_len: usize,
    /// Looked up already, in the order of the walk.
    page: Page<E>,
    /// How many of the page the walk has gone through.
    gone: usize,
}

impl<E: Copy> Walk<E> {
    pub(super) fn new(range: KeyRange) -> Self {
        Walk { rest: Some(range), reverse: false, page_len: PAGE_LEN_FIRST, page: Page::default(), gone: 0 }
    }

    pub(super) fn is_reverse(&self) -> bool {
        self.reverse
    }

    /// How many entries of the index the page that is due looks at, at least.
    pub(super) fn page_len(&self) -> usize {
        self.page_len
    }

    /// What the page has next, which the walk has then gone through.
    #[inline]
    pub(super) fn next_in_page(&mut self) -> Option<Item<E>> {
        let next = self.page.items().get(self.gone).copied()?;
        self.gone += 1;
        Some(next)
    }

    /// The bytes of the key that the walk has gone through last, if that is a byte string.
    #[inline]
    pub(super) fn met_bytes(&self) -> &[u8] {
        let met = self.page.items().get(self.gone.wrapping_sub(1));
        if let Some(KeyRef::Bytes(bytes)) = met.map(|item| self.page.key(item)) { bytes } else { &[] }
    }

    /// The key of an item of the page.
    #[inline]
    pub(super) fn key(&self, item: &Item<E>) -> KeyRef<'_> {
        self.page.key(item)
    }

    /// What the page has behind that, in the order of the walk.
    #[inline]
    pub(super) fn left_in_page(&self) -> &[Item<E>] {
        &self.page.items()[self.gone..]
    }

    /// Passes the page's next keys as long as they begin so, as the byte string does that the walk met last; with `all`,
    /// those of later pages too. Returns how many the page had. The walk must go upwards.
    pub(super) fn pass(&mut self, beginning: &[u8], all: bool) -> usize {
        let left = self.left_in_page();
        let has_it = |bytes: &[u8]| beginning.is_empty() || bytes.starts_with(beginning);
        let begins_so = |item: &Item<E>| matches!(self.page.key(item), KeyRef::Bytes(bytes) if has_it(bytes));
        // Often few do: steps that double find one that does not, and a search within the last step the first.
        let (mut known, mut next) = (0, 1);
        while left.get(next - 1).is_some_and(begins_so) {
            (known, next) = (next, next * 2);
        }
        let passed = known + left[known..left.len().min(next)].partition_point(begins_so);
        self.gone += passed;
        if all && self.left_in_page().is_empty() {
            self.rest = self.rest.take().and_then(|rest| rest.behind_prefix(beginning));
            self.page_len = if passed < PAGE_LEN_PASSED { self.page_len } else { PAGE_LEN_PASSED };
        }
        passed
    }

    /// The page, and from where on the walk has not gone through it. It is given back by [`fill`](Self::fill), if at all.
    pub(super) fn take_page(&mut self) -> (Page<E>, usize) {
        (std::mem::take(&mut self.page), std::mem::take(&mut self.gone))
    }

    /// Memory for the next page: that of the one that the walk has gone through.
    pub(super) fn emptied_page(&mut self) -> Page<E> {
        let (mut page, _) = self.take_page();
        page.clear();
        page.reserve(self.page_len);
        page
    }

    /// The range that the next page begins; none where the walk is over.
    pub(super) fn take_rest(&mut self) -> Option<KeyRange> {
        self.rest.take()
    }

    /// Of `range`, the index had these entries in front: the rest is left for later. Returns the last key that they cover; none
    /// where they cover the range.
    pub(super) fn cover(&mut self, range: &KeyRange, found: &Entries) -> Option<Key> {
        let last = found.last_key().filter(|_| found.len() >= self.page_len)?.to_key();
        self.page_len = (self.page_len * 2).min(PAGE_LEN_MAX);
        self.rest = Some(range.beyond(&last, self.reverse));
        Some(last)
    }

    /// Goes on with these, which are in the order of the walk.
    pub(super) fn fill(&mut self, page: Page<E>) {
        (self.page, self.gone) = (page, 0);
    }

    /// Walks what is left from its other end.
    pub(super) fn reverse(&mut self) {
        self.put_back();
        self.reverse = !self.reverse;
    }

    /// Passes what does not lie behind `key`, in the direction of the walk.
    pub(super) fn go_behind(&mut self, key: &Key) {
        self.put_back();
        self.rest = self.rest.take().map(|rest| rest.behind(key, self.reverse));
    }

    /// The looked-up entries lie at the near end of what is left: they are put back.
    fn put_back(&mut self) {
        if let [first, ..] = self.left_in_page()
            && let [.., last] = self.left_in_page()
        {
            let (low, high) = if self.reverse { (last, first) } else { (first, last) };
            let [low, high] = [low, high].map(|item| Bound::Included(self.key(item).to_key()));
            self.rest = Some(match self.rest.take() {
                None => KeyRange { from: low, to: high },
                Some(rest) if self.reverse => KeyRange { from: rest.from, to: high },
                Some(rest) => KeyRange { from: low, to: rest.to },
            });
            self.fill(Page::default());
        }
    }
}
