//! Mistakes that only an unlucky interleaving shows, each switched on alone to prove that a checker of interleavings finds it.
//!
//! Apart from the catalogue in `seeded`, whose checks run one thread at a time and could not see these. Outside of builds for
//! loom and shuttle every switch is a constant `false`.

use super::Ordering;

/// A mistake that can be switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Race {
    /// A value set once is looked at without the order that its mark gives.
    #[cfg(any(loom, shuttle))]
    OnceReadRelaxed,
    /// A block goes to the cache, from where it may be evicted, before the file has its bytes.
    SealedUnwritten,
    /// What the tail keeps is cut from a copy of it, and what was put meanwhile is lost.
    TailCutFromCopy,
    /// A block is read from the file, and cached, though the tail still has more of it.
    TailNotAsked,
    /// A block comes into the cache, and another goes under a lock taken anew.
    EvictedLater,
    /// Keys leave the ordered map before their page is there.
    MapGivenUpFirst,
    /// A key that is in neither place is not looked for in the pages again.
    PageNotAskedAgain,
    /// The length of the ordered map is stored without the order that a look without a lock needs.
    MapLenRelaxed,
}

#[cfg(any(loom, shuttle))]
thread_local! {
    // Both checkers run all threads of one execution on one thread of the machine, so they all see it, and tests
    // that run beside each other do not.
    static ON: std::cell::Cell<Option<Race>> = const { std::cell::Cell::new(None) };
}

/// Whether `race` is switched on.
#[cfg(any(loom, shuttle))]
pub(crate) fn is_on(race: Race) -> bool {
    ON.get() == Some(race)
}

/// Whether `race` is switched on: not in this build.
#[cfg(not(any(loom, shuttle)))]
#[inline(always)]
pub(crate) const fn is_on(_: Race) -> bool {
    false
}

/// `ordering`, or none at all while `race` is switched on.
#[inline(always)]
pub(crate) fn weakened(race: Race, ordering: Ordering) -> Ordering {
    if is_on(race) { Ordering::Relaxed } else { ordering }
}

/// Switches `race` on in the place of any other; none switches all off.
#[cfg(all(test, loom))]
pub(crate) fn switch_on(race: Option<Race>) {
    ON.set(race);
}
