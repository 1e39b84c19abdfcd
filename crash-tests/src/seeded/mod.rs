//! Which check finds which mistake of the engine's catalogue of seeded bugs.

mod checks;
mod table;

pub use checks::{CHECKS, Check, Outcome};
pub use table::{BEGIN, END, found_in, replace_table, table};

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use holotype::seeded::{Bug, switch_on};

/// Bugs that none of [`CHECKS`] catches, and the file of the repository with the test that does. Most need a scenario laid out
/// by hand: damage together with a certain leftover of a power cut, a file that this engine does not write, an order of threads, or a
/// caller that random steps do not have.
pub const ELSEWHERE: &[(Bug, &str)] = &[
    (Bug::IncarnationFromTheSlotAlone, "engine/tests/forged/removed.rs"),
    (Bug::IncarnationStartsOver, "engine/tests/forged/removed.rs"),
    (Bug::IncarnationForEachRefusal, "engine/tests/space.rs"),
    (Bug::BodyChecksumIgnored, "engine/tests/forged/removed.rs"),
    (Bug::PredecessorEndIgnored, "engine/tests/forged/removed.rs"),
    (Bug::FirstSuccessorAlone, "engine/tests/forged/removed.rs"),
    (Bug::ClaimsOfFirstSuccessorAlone, "engine/tests/forged/removed.rs"),
    (Bug::PlaceHeldTwice, "engine/tests/forged/removed.rs"),
    (Bug::RecordOfAnyCheckpoint, "engine/tests/forged/removed.rs"),
    (Bug::StretchesAnywhere, "engine/tests/forged/removed.rs"),
    (Bug::EndedSnapshotAnswers, "engine/tests/snapshots.rs"),
    (Bug::KeptUnsettled, "engine/src/core/read/tests.rs"),
    (Bug::EntryBitsBelieved, "engine/src/core/read/tests.rs"),
    (Bug::WakeUpLost, "engine/src/pipeline/loom.rs"),
    (Bug::ReplacedNotCompared, "engine/tests/forged/removed.rs"),
    (Bug::UndoForgetsAccount, "engine/src/fold.rs"),
    (Bug::SalvageTakesAllForProven, "engine/tests/salvage.rs"),
    (Bug::SalvageForgetsDeletes, "engine/tests/salvage.rs"),
    (Bug::SalvageSkipsTornFrames, "engine/tests/salvage.rs"),
    (Bug::ReservedByteSet, "engine/src/format/tests/superblock.rs"),
    (Bug::AddressesOverrun, "engine/src/log/appender.rs"),
    (Bug::ReadOnlyFeatureIgnored, "engine/tests/forged/removed.rs"),
    (Bug::SlotOverstated, "engine/tests/order_of_writes/main.rs"),
    (Bug::SlotNotReadBack, "engine/tests/order_of_writes/main.rs"),
    (Bug::PartsUncounted, "engine/src/log/pieces/tests.rs"),
    (Bug::CollectionIdsFromTheCatalog, "engine/tests/forged/removed.rs"),
    (Bug::UnknownKeysForgotten, "engine/src/format/tests/checkpoint/round_trip.rs"),
    (Bug::MendedBeforeDecided, "engine/tests/forged/removed.rs"),
    (Bug::BackupUnchecked, "engine/tests/backup.rs"),
    (Bug::BackupOfAnyBranch, "engine/tests/backup.rs"),
    (Bug::TakenOverAfterDamage, "engine/src/core/maintenance/checkpoint/tests/takeover.rs"),
    (Bug::YoungLeafTakenOver, "engine/src/core/maintenance/checkpoint/tests/takeover.rs"),
    (Bug::ChangedBackTakenOver, "engine/src/core/maintenance/checkpoint/tests/takeover.rs"),
    (Bug::DeleteOutlivesUndo, "engine/src/core/give_up/tests.rs"),
    (Bug::TreeOfOneGivenUp, "engine/src/core/give_up/tests.rs"),
    (Bug::PatchAsOldAsItsLeaf, "engine/src/core/maintenance/checkpoint/tests/takeover.rs"),
    (Bug::RangesNotCompared, "engine/src/format/tests/checkpoint/takeover.rs"),
    (Bug::DamageUnderWayIgnored, "engine/src/core/maintenance/checkpoint/tests/takeover.rs"),
    (Bug::GoneCheckpointAsked, "engine/src/core/maintenance/checkpoint/tests/takeover.rs"),
    (Bug::CutSegmentKept, "engine/src/core/room/tests.rs"),
    (Bug::WatermarkBeforeSeal, "crash-tests/tests/waits.rs"),
    (Bug::AnsweredUnsealed, "crash-tests/tests/waits.rs"),
    (Bug::UnreadableRootHoldsNothing, "engine/src/core/maintenance/checkpoint/tests.rs"),
];

/// Bugs of which no check says more than that a life costs something else, and the file of the repository with the test that says
/// what is wrong.
pub const SAID_BY_A_TEST: &[(Bug, &str)] = &[
    (Bug::WatermarkForgotten, "engine/tests/recovery.rs"),
    (Bug::DamagedHeaderEndsTheChain, "engine/tests/recovery.rs"),
    (Bug::SectorOfTwoCheckpoints, "engine/src/format/tests/checkpoint/appended.rs"),
    (Bug::OpenSegmentNotKept, "engine/src/core/maintenance/checkpoint/tests.rs"),
    (Bug::ReplacedLeftOut, "engine/tests/forged/removed.rs"),
    (Bug::ReplacedBitWrong, "engine/tests/forged/removed.rs"),
    (Bug::EndedChunkLeftOut, "engine/tests/forged/removed.rs"),
    (Bug::GrowthNotZeroed, "engine/tests/order_of_writes/main.rs"),
    (Bug::ReservationGivenOut, "engine/tests/order_of_writes/main.rs"),
    (Bug::IndexSegmentFromEarlier, "engine/tests/backup.rs"),
    (Bug::EndedLeftUnread, "engine/src/core/demand/tests.rs"),
    (Bug::GivenUpPastItsCheckpoint, "engine/src/core/give_up/tests.rs"),
    (Bug::GivenUpFromOneAlone, "engine/src/core/give_up/tests.rs"),
    (Bug::GivenUpUnderASnapshot, "engine/src/core/give_up/tests.rs"),
    (Bug::DeleteNotKept, "engine/src/core/give_up/tests.rs"),
    (Bug::PatchOverAPatch, "engine/src/format/tests/checkpoint/takeover.rs"),
    (Bug::AgesFromTheRoot, "engine/src/format/tests/checkpoint/takeover.rs"),
    (Bug::SparseTakenOver, "engine/src/core/maintenance/checkpoint/tests/takeover.rs"),
    (Bug::HoleTakenForReserve, "engine/src/core/room/tests.rs"),
    (Bug::IncarnationSlotNotSynced, "engine/tests/order_of_writes/main.rs"),
    (Bug::PlaceBeforeSlot, "engine/tests/order_of_writes/main.rs"),
    (Bug::SeenIsAcknowledged, "engine/tests/order_of_writes/main.rs"),
    (Bug::ListOfAnyLength, "engine/src/log/pieces/tests.rs"),
    (Bug::UnreadableIsNothing, "engine/src/core/demand/tests.rs"),
    (Bug::VerifiedOneWay, "engine/src/core/indexes/check.rs"),
];

/// A check that turned red.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its name.
    pub check: &'static str,
    /// After how many cases.
    pub cases: u64,
    /// After how many seconds, of this check alone.
    pub seconds: f64,
    /// What it said.
    pub what: String,
}

/// A bug, and what finds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The bug.
    pub bug: Bug,
    /// The checks that turn red: the first alone, or all.
    pub found_by: Vec<Found>,
    /// The file with the test that finds it, where no check does.
    pub elsewhere: Option<&'static str>,
}

/// The file of the test that finds `bug`, where no check does.
pub fn elsewhere(bug: Bug) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(known, _)| *known == bug).map(|(_, file)| *file)
}

/// Whether some of [`CHECKS`] is to find `bug`.
pub fn is_for_a_check(bug: Bug) -> bool {
    elsewhere(bug).is_none()
}

/// Switches `bug` on and runs the checks, up to the first that turns red, or `every` one.
pub fn try_bug(bug: Bug, every: bool) -> Row {
    try_with(bug, every, CHECKS.iter())
}

/// As [`try_bug`], up to the first that turns red, but the check of the name `likely` before all others.
pub fn try_bug_first_by(bug: Bug, likely: &str) -> Row {
    let (first, others): (Vec<_>, Vec<_>) = CHECKS.iter().partition(|(name, _)| *name == likely);
    try_with(bug, false, first.into_iter().chain(others))
}

fn try_with<'a>(bug: Bug, every: bool, checks: impl Iterator<Item = &'a Check>) -> Row {
    let mut found_by = Vec::new();
    for check in checks {
        found_by.extend(try_check(bug, check));
        if !every && !found_by.is_empty() {
            break;
        }
    }
    Row { bug, found_by, elsewhere: elsewhere(bug) }
}

fn try_check(bug: Bug, (name, check): &Check) -> Option<Found> {
    let start = Instant::now();
    switch_on(Some(bug));
    let outcome = catch_unwind(AssertUnwindSafe(check));
    switch_on(None);
    let (cases, what) = match outcome {
        Ok(Ok(_)) => return None,
        Ok(Err(found)) => found,
        // An assertion of the engine noticed first.
        Err(_) => (0, "a panic".to_owned()),
    };
    Some(Found { check: name, cases, seconds: start.elapsed().as_secs_f64(), what })
}
