//! The entries in ranges of an index, which are gone by one after the other.

use super::watch::Watch;
use crate::error::Result;
use crate::index::KeyRange;
use crate::indexed::{EntryWalk, IndexView};

/// The entries of ranges of an index, one after the other.
pub(super) struct InRanges<I: IndexView> {
    index: I,
    /// The ranges that are left.
    left: std::vec::IntoIter<KeyRange>,
    /// The walk over the entries of a range.
    walk: Option<I::Entries>,
    /// Entries of later ranges that begin so are not gone to.
    passed: Option<Vec<u8>>,
    /// Whether the entry that the walk came to is in no group yet.
    pub(super) is_ahead: bool,
    pub(super) watch: Watch,
}

impl<I: IndexView> InRanges<I> {
    pub(super) fn new(index: I, ranges: Vec<KeyRange>, watch: Watch) -> Self {
        InRanges { index, left: ranges.into_iter(), walk: None, passed: None, is_ahead: false, watch }
    }

    /// The entry at hand.
    #[inline]
    pub(super) fn at_hand(&self) -> &[u8] {
        self.walk.as_ref().map_or(&[], EntryWalk::entry)
    }

    /// Whether the entry at hand begins so.
    #[inline]
    pub(super) fn is_at(&self, beginning: &[u8]) -> bool {
        // A comparison with no bytes is slow: it loads from an address that is none.
        beginning.is_empty() || self.at_hand().starts_with(beginning)
    }

    /// Leads to the next entry, unless the one at hand is in no group yet. Whether there is one.
    #[inline]
    pub(super) fn meets(&mut self) -> Result<bool> {
        while !self.is_ahead {
            match &mut self.walk {
                Some(walk) => {
                    self.is_ahead = walk.advance()?;
                    match self.is_ahead {
                        true => self.watch.met_entry()?,
                        false => self.walk = None,
                    }
                }
                None => match self.left.next() {
                    Some(range) => self.begin(range),
                    None => return Ok(false),
                },
            }
        }
        Ok(true)
    }

    /// Passes those of the next entries at hand that begin so. How many there are.
    pub(super) fn pass_at_hand(&mut self, beginning: &[u8]) -> Result<usize> {
        let passed = self.walk.as_mut().map_or(0, |walk| walk.pass(beginning, false));
        self.watch.met_entries(passed as u64)?;
        Ok(passed)
    }

    /// Passes all next entries that begin so, those of later ranges too.
    pub(super) fn pass(&mut self, beginning: &[u8]) -> Result<()> {
        let passed = self.walk.as_mut().map_or(0, |walk| walk.pass(beginning, true));
        if self.left.len() > 0 {
            self.passed = Some(beginning.to_vec());
        }
        self.watch.met_entries(passed as u64)
    }

    /// Begins to walk over a range, but for what was passed.
    fn begin(&mut self, range: KeyRange) {
        let range = match &self.passed {
            Some(beginning) => range.behind_prefix(beginning),
            None => Some(range),
        };
        if let Some(range) = range {
            self.walk = Some(self.index.clone().walk(range));
        }
    }
}
