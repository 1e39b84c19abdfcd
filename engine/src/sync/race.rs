//! Mistakes that only an unlucky interleaving shows, each switched on alone to prove that a checker of interleavings finds it.
//!
//! Apart from the catalogue in `seeded`, whose checks run one thread at a time and could not see these. Outside of builds for
//! loom and shuttle every switch is a constant `false`.

use super::Ordering;

/// A mistake that can be switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(all(shuttle, feature = "testing")),
    expect(unreachable_pub, reason = "public for checks of whole stores under schedules")
)]
pub enum Race {
    /// A value set once is looked at without the order that its mark gives.
    #[cfg(any(loom, shuttle))]
    OnceReadRelaxed,
    /// A block goes to the cache, from where it may be evicted, before the file has its bytes.
    SealedUnwritten,
    /// What the tail keeps is cut from a copy of it, and what was put meanwhile is lost.
    TailCutFromCopy,
    /// A block is read from the file, and cached, though the tail still has more of it, or will have.
    TailNotAsked,
    /// What of the log is settled is asked after a record was read by itself, and not before.
    SettledAskedLate,
    /// A block comes into the cache, and another goes under a lock taken anew.
    EvictedLater,
    /// Keys leave the ordered map before their page is there.
    MapGivenUpFirst,
    /// A key that is in neither place is not looked for in the pages again.
    PageNotAskedAgain,
    /// The length of the ordered map is stored without the order that a look without a lock needs.
    MapLenRelaxed,
    /// Who finds nothing unread looks into the index without the order that the last leaf gives.
    UnreadRelaxed,
    /// An index is in the states from before the commit that made it part of the state.
    IndexSeenEarly,
    /// The visible end is stored without the order that the index needs.
    VisibleRelaxed,
    /// A count is believed before the commit that it comes from is visible.
    LenSeenEarly,
    /// A count is stored without the order that the commit that it comes from needs.
    LenRelaxed,
    /// A count does not ask again whether its state is still the newest.
    CountNotAskedAgain,
    /// Readers are told that a miss proves nothing only after the commit has begun to change the index.
    UnsettledLate,
    /// That a miss proves something again is stored without the order that an ended snapshot needs.
    UnsettledRelaxed,
    /// Readers are not told that commits were taken back.
    TakeBacksUnseen,
    /// A snapshot is asked whether it lives before the look, and not after it.
    LiveAskedFirst,
    /// A sync acknowledges what was handed over while it was under way.
    SyncedWhatCameLater,
    /// Whoever is woken by the end of a sync takes it for the sync that it waited for.
    WokenIsDone,
    /// The end of a turn to write is not told to those who wait for one.
    TurnEndNotTold,
    /// What of a segment is live is decided when the cleaner reads it, and not again when it moves it.
    LivenessAskedEarly,
    /// The sync that a checkpoint's records wait for counts for all that was written by its end, also for what came after its beginning.
    CheckpointSyncCoversLater,
}

/// Switches `race` on, in the place of any other; none switches all off.
#[cfg(all(shuttle, feature = "testing"))]
pub fn switch_on(race: Option<Race>) {
    ON.set(race);
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

/// What a trial can switch on.
#[cfg(all(test, loom))]
pub(crate) trait Mistake: Copy + std::fmt::Debug {
    /// Switches it on in the place of any other of its kind; none switches all off.
    fn switch_on(which: Option<Self>);
}

#[cfg(all(test, loom))]
impl Mistake for Race {
    fn switch_on(race: Option<Self>) {
        ON.set(race);
    }
}

#[cfg(all(test, loom))]
impl Mistake for crate::seeded::Bug {
    fn switch_on(bug: Option<Self>) {
        crate::seeded::switch_on(bug);
    }
}

/// Runs `trial` with `mistake` switched on, and tells in what words it failed, if it did.
#[cfg(all(test, loom))]
pub(crate) fn failure_with<M: Mistake>(mistake: M, trial: impl FnOnce()) -> Option<String> {
    M::switch_on(Some(mistake));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(trial));
    M::switch_on(None);
    let panic = result.err()?;
    let said = panic.downcast_ref::<String>().map(String::as_str);
    Some(said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default().to_owned())
}
