//! The LSN: a commit's place in the order of the log (F-1.5).

use std::fmt;

/// A commit's place in the order of the log: the incarnation in the high 32 bits, the count within it in the
/// low 32. LSNs only grow along the log and no value ever names two commits.
///
/// ```
/// # #[cfg(feature = "testing")] {
/// use holotype::format::Lsn;
/// let last = Lsn::new(3, 41);
/// assert!(last < last.next() && last.next() < Lsn::new(4, 1));
/// assert_eq!(last.to_string(), "(3, 41)");
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lsn(pub u64);

impl Lsn {
    /// (0, 0): nothing yet.
    pub const ZERO: Lsn = Lsn(0);

    /// The LSN (`incarnation`, `count`).
    #[must_use]
    pub const fn new(incarnation: u32, count: u32) -> Lsn {
        // spec: F-1.5.
        Lsn((incarnation as u64) << 32 | count as u64)
    }

    /// Which opening for writing made the commit.
    #[must_use]
    pub const fn incarnation(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The commit's number within its incarnation, from 1 on; the opening frame has 1.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0 as u32
    }

    //= spec/format.md#f-1-5-lsn
    //# A writer MUST NOT give one LSN to two commits, in any life of the file.
    /// The LSN of the commit that follows in the same incarnation.
    ///
    /// # Panics
    /// If the incarnation's counts are used up: the writer takes a new incarnation before that (R-7.4).
    #[must_use]
    pub const fn next(self) -> Lsn {
        assert!(self.count() < u32::MAX, "a new incarnation is taken before the counts of one are used up");
        Lsn(self.0 + 1)
    }
}

impl fmt::Display for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.incarnation(), self.count())
    }
}
