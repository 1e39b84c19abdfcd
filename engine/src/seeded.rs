//! The catalogue of seeded bugs: mistakes that real stores made, in the shape that they would have here, each switched on
//! alone to prove that some check catches it.
//!
//! Without the feature `seeded` every switch is a constant `false`, and the compiler takes the bugs out.

macro_rules! catalogue {
    ($($(#[doc = $doc:literal])* $bug:ident),* $(,)?) => {
        /// A mistake that can be switched on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(not(feature = "seeded"), expect(unreachable_pub, reason = "public under the feature `seeded`"))]
        pub enum Bug {
            $($(#[doc = $doc])* $bug),*
        }

        impl Bug {
            /// All of them.
            #[cfg(feature = "seeded")]
            pub const ALL: &'static [Bug] = &[$(Bug::$bug),*];

            /// The mistake, in a sentence.
            #[cfg(feature = "seeded")]
            pub fn what(self) -> &'static str {
                match self {
                    $(Bug::$bug => concat!($($doc),*).trim()),*
                }
            }
        }
    };
}

catalogue! {
    /// A bound of a filter over `key()` that includes its key leaves it out.
    KeyRangeHalfOpen,
    /// A filter for keys that begin so leaves out the key that is the beginning itself.
    PrefixTooNarrow,
    /// A filter that bounds the keys is not asked of the documents in between.
    KeyRangeAnswersAll,
    /// A sort leaves out documents that have nothing to sort by.
    NothingDropped,
    /// Nothing and null are one place in a sort.
    NothingIsNull,
    /// A descending sort puts nothing last, whatever it says.
    NothingTurned,
    /// A descending sort puts a text before those that it begins.
    DescendingByLength,
    /// A cursor is taken by any query.
    CursorOfAnyQuery,
    /// A query goes on with the document of the cursor.
    CursorIncludesItself,
    /// A cursor of which a sign was changed is taken.
    CursorUnchecked,
    /// The limit of a sort counts what is skipped.
    SkipWithinLimit,
    /// The last run of a sort beyond its memory is not merged.
    RunForgotten,
    /// A mean is that of a sum that was rounded before.
    MeanOfRoundedSum,
    /// A sum of ints beyond 64 bits wraps.
    SumWraps,
    /// A distinct value is shown as the last document gives it.
    LastValueShown,
    /// A document that gives one value twice is in its group twice.
    GroupedOncePerItem,
    /// What several runs hold of one group is answered as several groups.
    PartsOfGroupsApart,
    /// The limit of groups counts those that the filter over groups leaves out.
    LimitBeforeHaving,
    /// A range of an index for what is less than a value begins with the documents that have none.
    RangeFromNothing,
    /// A range of an index for what is greater than a value has values of other types too.
    RangeOfManyKinds,
    /// A range of an index for texts that begin so goes on behind them.
    PrefixTooWide,
    /// The ends of a range of an index whose path is descending are not turned round.
    DescendingNotTurned,
    /// Entries whose values are cut are counted as if these were whole.
    CutTupleCounted,
    /// Documents whose values are cut in an index are answered as its entries are ordered.
    CutTupleSorted,
    /// A sparse index is read for documents of which it has no entry.
    SparseIndexServesAll,
    /// A document is answered once for each entry of it that an index has.
    AnsweredPerEntry,
    /// A sort by an index has nothing where the index has it, whatever the sort says.
    NothingAsIndexed,
    /// Documents that a sort does not tell apart are answered as an index has them.
    TiesAsIndexed,
    /// A query in a transaction reads indexes as the transaction found them.
    IndexWithoutOwnWrites,
    /// Only one side of an `||` is looked up in an index.
    UnionOfOneSide,
    /// The least value of an index is nothing where a document has none.
    ExtremeOfNothing,
    /// Of values that are equal, the first entry of an index tells which is shown, whatever its key.
    FirstEntryShown,
    /// Of values that are equal, the one that came first is the least or the greatest, whatever its key.
    ExtremeOfAnyKey,
    /// A document is counted once for each entry of a group.
    ItemsCounted,
    /// What an index cut off is answered as if it were not there.
    CutTupleAnswers,
    /// Groups of entries have documents that the filter does not admit.
    EntriesUnfiltered,
    /// Keys in the order of an index are those of documents that the filter does not admit, too.
    KeysUnfiltered,
    /// What a filter says of a function of a path is looked up in an index on the path.
    FunctionOfPathForgotten,
    /// What `in` lists is looked for as if it were written in order.
    ListedAsWritten,
    /// A range of an index has a constant, and not what the function of it gives.
    FunctionOfConstantForgotten,
    /// An index on a function of a path has the value of the path.
    FunctionNotApplied,
    /// What a file says of the functions of an index is forgotten at opening.
    FunctionsNotStored,
    /// A partial index has entries of all documents.
    PartialOfAll,
    /// What a file says of the filter of an index is forgotten at opening.
    FilterNotStored,
    /// A document that the filter of an index did not admit gets no entry when a change makes it one that it does.
    FilterOfOldDocument,
    /// A document that a change takes out of the filter of an index keeps its entries.
    LeavingEntryKept,
    /// A partial index is read for any query.
    PartialIndexServesAll,
    /// A partial index is read where one part of its filter is asked for, and not all.
    PartialIndexServesSome,
    /// A query in the order of an index goes on from a cursor with the first document that sorts alike.
    CursorAmongTies,
    /// A query goes on after its deadline.
    DeadlineIgnored,
    /// A query that fails on its way ends as if it were done.
    QueryErrorDropped,
    /// A filter runs though a parameter is not bound.
    UnboundRuns,
    /// A count is that of all documents, whatever the filter.
    CountWithoutFilter,
    /// In a comparison, nothing equals null.
    NothingEqualsNull,
    /// A filter is printed without the parentheses around an "or".
    PrintedWithoutParentheses,
    /// A patch of which an operation fails leaves what those before it made.
    PatchAppliedHalf,
    /// Ints are added as floats.
    IncThroughFloat,
    /// A value is moved into itself.
    MovedIntoItself,
    /// The test of a patch compares by equality, where 1 is not 1.0.
    TestByEquality,
    /// A null of a merge patch comes into what it creates.
    NullMerged,
    /// An array that is capped keeps its first items.
    CapKeepsTheFirst,
    /// A pull compares by equality, where 1 is not 1.0.
    PullByEquality,
    /// An object into which an update over bytes puts a field keeps its count.
    CountOfFieldsKept,
    /// A document that an update leaves equal is written.
    EqualWritten,
    /// An update that names a version changes any.
    VersionOfUpdateIgnored,
    /// A unique index refuses an insert on conflict for the document of another key.
    ConflictOfIndexRefused,
    /// An update of many documents changes each twice.
    ManyUpdatedTwice,
    /// An update of many documents leaves out those that cannot be changed, and says nothing of it.
    ManyAppliedHalf,
    /// The end of the log is always a torn tail, whatever attests that it went on.
    ClaimsIgnored,
    /// Recovery looks for claims in the last segment only.
    ClaimsNotFollowedAlongTheChain,
    /// A damaged segment header ends the search for claims.
    DamagedHeaderEndsTheChain,
    /// A file shorter than it once was is taken as it is.
    ShortFileAccepted,
    /// A reopened store goes on in the incarnation of its predecessor.
    IncarnationKept,
    /// A new incarnation is one above the slot's, whatever stands beyond the end of the log.
    IncarnationFromTheSlotAlone,
    /// Behind the last incarnation the first comes again.
    IncarnationStartsOver,
    /// A write that changes nothing is answered though the end of the log is not sealed behind what was taken back.
    AnsweredUnsealed,
    /// Each call that finds no room for an opening frame takes another incarnation.
    IncarnationForEachRefusal,
    /// The opening frame is not waited for.
    OpeningFrameNotSynced,
    /// The opening frame of an incarnation does not wait for the slot that names it.
    IncarnationSlotNotSynced,
    /// Any opening frame counts, whatever it names.
    OpeningFrameNamesIgnored,
    /// A commit counts when its first part is there.
    FirstPartIsEnough,
    /// A frame's body counts without the checksum that ties it to its header.
    BodyChecksumIgnored,
    /// A record is read whatever its checksum says.
    RecordChecksumIgnored,
    /// What was verified once in a block counts for the records beside it.
    NeighbourVerified,
    /// A document is kept though what was read of it may still be taken back.
    KeptUnsettled,
    /// An entry of the index may lead to a record of another form than it says.
    EntryBitsBelieved,
    /// A segment counts as the successor wherever its predecessor ended.
    PredecessorEndIgnored,
    /// The successor of a segment is opened in some free place, and not in the one that is named.
    NextPassedOver,
    /// Where no successor is named, the log goes on only in the first segment whose header fits.
    FirstSuccessorAlone,
    /// Where no successor is named, claims are looked for only in the first segment whose header fits.
    ClaimsOfFirstSuccessorAlone,
    /// A log segment may stand in the place of a checkpoint that is still named.
    PlaceHeldTwice,
    /// A checkpoint whose root cannot be read for a moment holds no place.
    UnreadableRootHoldsNothing,
    /// The stretches of a segment in a checkpoint are taken wherever they begin.
    StretchesAnywhere,
    /// A synced commit returns before the sync.
    SyncSkipped,
    /// A commit of class `Written` stays in the process until somebody syncs.
    WrittenNotHandedOver,
    /// A commit of class `Written` hands over what was placed before it, and not itself.
    HandedOverBeforePlaced,
    /// The sync comes before the write that it is for.
    SyncBeforeWrite,
    /// What recovery accepted is not synced before it is answered with.
    RecoveryNotSynced,
    /// A superblock is written over the newest one.
    SlotWrittenInPlace,
    /// The slot names the grown length before it is durable.
    GrowthNamedBeforeSync,
    /// The slot is never told of a grown length.
    GrowthNotNamed,
    /// An invalid slot is left until the first commit.
    InvalidSlotNotMended,
    /// A frame goes on in the sector that the last sync covered.
    SectorSharedAcrossSyncs,
    /// No watermark frame is placed.
    WatermarkForgotten,
    /// A frame states itself to be durable.
    DurabilityOverstated,
    /// Slot A is written without waiting for what it speaks of.
    CreationInOneSync,
    /// The name of a new file is not made durable.
    DirectoryNotSynced,
    /// The id counter is taken from the documents that are there at opening.
    IdsFromLiveDocuments,
    /// Deletes are forgotten at opening.
    DeletesNotReplayed,
    /// A dropped collection comes back at opening.
    DropNotReplayed,
    /// A collection that was cleared is full again at opening.
    ClearNotReplayed,
    /// A change that is meant for one version of a document is made to any.
    VersionNotCompared,
    /// The index changes before the write that it rests on.
    IndexBeforeWrite,
    /// A commit becomes visible record by record.
    CommitVisibleInPieces,
    /// Superseded versions are not kept for those who need them.
    VersionsNotRetained,
    /// A synced commit is seen before it is durable.
    VisibleBeforeDurable,
    /// A failed sync is taken for a good one by those who wait for it.
    FailedSyncAcknowledged,
    /// A commit is acknowledged once it is seen, though the slot of a new incarnation is still to come.
    SeenIsAcknowledged,
    /// The end of a sync is not told to those who wait.
    WakeUpLost,
    /// A snapshot that was ended goes on answering.
    EndedSnapshotAnswers,
    /// Writing goes on after a failed write or sync.
    FailureForgotten,
    /// A short write is taken for a whole one.
    ShortWriteAccepted,
    /// A call that was merely interrupted has failed.
    InterruptedNotRepeated,
    /// A full disk stops the store as any failure does.
    FullDiskPoisons,
    /// A commit that found no room stays, though the caller was told that it failed.
    FullDiskCommitKept,
    /// The log goes on behind commits that were taken back for want of room, and is not sealed first.
    TakenBackNotSealed,
    /// What is durable is attested by a frame behind commits that were taken back, before that place is sealed.
    WatermarkBeforeSeal,
    /// A commit that could not be placed leaves its traces.
    PlacementNotTakenBack,
    /// A scan goes on behind an error, without what could not be read.
    ScanSkipsErrors,
    /// The records of a checkpoint are not waited for before a slot names it.
    CheckpointNotSynced,
    /// A checkpoint is of commits that are not handed over yet.
    CheckpointOfUnwritten,
    /// Only one slot names a new checkpoint, and the places of the one before the last are given out.
    CheckpointInOneSlot,
    /// A new checkpoint is named without the one before.
    CheckpointNamedAlone,
    /// What the one before the last checkpoint held is given out before a slot names the new one.
    CheckpointFreedBeforeSlots,
    /// A slot is written before the other one, written just before, is synced.
    SlotsInOneSync,
    /// A slot is written whatever has become of the other one.
    SlotNotReadBack,
    /// A checkpoint says of the log where it stood when its root was written.
    ReplayFromTheRoot,
    /// An index record counts wherever its checksum holds, of whatever checkpoint it is.
    RecordOfAnyCheckpoint,
    /// A checkpoint begins in the sector in which the one before ended.
    SectorOfTwoCheckpoints,
    /// The next checkpoint is written over the one that was named last.
    OpenSegmentNotKept,
    /// At opening, segments stay in place that were freed before both checkpoints.
    FreedKeptAtOpening,
    /// The next checkpoint names one that could not be read as the one before.
    UnreadableCheckpointNamed,
    /// A freed segment is given out before any checkpoint has it as freed.
    ReuseWithoutCheckpoint,
    /// A freed segment is given out once the newest checkpoint has it as freed.
    ReuseAfterNewestCheckpoint,
    /// A checkpoint that begins a life of the store is given places before the slot of that life.
    PlaceBeforeSlot,
    /// A freed segment is given out though a snapshot needs what lies in it.
    PinsIgnored,
    /// A freed segment is given out though a watch has yet to read it.
    WatchersIgnored,
    /// Of several watches, only the newest one keeps the segments that it has yet to read.
    NewestWatcherAlone,
    /// A snapshot keeps a superseded long document's record, and not its chunks.
    ChunksNotRetained,
    /// A version that is moved counts as made by the commit that moves it.
    RelocationTakesNewLsn,
    /// In replay, what a record says that it replaces is not compared with what is there.
    ReplacedNotCompared,
    /// A record of a document without chunks does not say what it replaces.
    ReplacedLeftOut,
    /// A record names what it replaces as moved if it was not, and as not moved if it was.
    ReplacedBitWrong,
    /// The first chunk of a version is not among those that die with it.
    EndedChunkLeftOut,
    /// A commit that is taken back leaves the accounts of what it replaced as it made them.
    UndoForgetsAccount,
    /// The chunks of a document stay in a segment that is freed.
    ChunksLeftBehind,
    /// Ordinary commits may use the last of the file.
    NoReserve,
    /// The opening frame of a commit that is refused for want of room takes what it needs from the reserve.
    OpeningFromTheReserve,
    /// What is moved goes on in new segments though the file has no room for a checkpoint.
    CheckpointLeftWithoutRoom,
    /// Salvage takes every version for the newest of its key, whatever part of the log is missing.
    SalvageTakesAllForProven,
    /// Salvage does not see deletes.
    SalvageForgetsDeletes,
    /// Salvage looks for records in whole frames only.
    SalvageSkipsTornFrames,
    /// A freed segment is given out while a backup copies it.
    BackupWithoutHold,
    /// A backup takes its name whatever the check of it found.
    BackupUnchecked,
    /// A backup takes an index segment from an earlier one that has one in the same place.
    IndexSegmentFromEarlier,
    /// Any backup of the lineage is gone on from, whatever became of it.
    BackupOfAnyBranch,
    /// The file is cut before the slots name the shorter length.
    TruncatedBeforeSlots,
    /// A slot is written with a reserved byte set.
    ReservedByteSet,
    /// A segment is opened though its addresses do not fit into 55 bits.
    AddressesOverrun,
    /// The file grows, and what was there before is not written over with zeros.
    GrowthNotZeroed,
    /// At opening, what lies behind the length that the newest slot names is taken for a part of the file.
    HoleTakenForReserve,
    /// A writer opens a file with a feature that only readers may pass over.
    ReadOnlyFeatureIgnored,
    /// A slot states the last commit that was placed to be durable.
    SlotOverstated,
    /// At opening, the places that the last segment reserves are taken for free.
    ReservationGivenOut,
    /// Nobody asks whether a commit takes more parts than can be numbered.
    PartsUncounted,
    /// Nobody asks how much of a record the list of a document's chunks takes.
    ListOfAnyLength,
    /// The next collection id is taken from the collections that a checkpoint has.
    CollectionIdsFromTheCatalog,
    /// A checkpoint is written without the keys of the root that this version does not know.
    UnknownKeysForgotten,
    /// An invalid slot is written before anything is known of the log, whoever opens the file.
    MendedBeforeDecided,
    /// An index keeps what the former version of a document gave.
    EntryNotRemoved,
    /// At opening, what the checkpoint has of a document that the log has changed stays in its indexes.
    RemovalLostInReplay,
    /// A unique index takes whatever is written.
    UniqueNotChecked,
    /// A document may not be written again where a unique index has its own entry.
    OwnEntryViolates,
    /// While an index is built, a change of a document that was gone through is not entered.
    BuildMissesWrites,
    /// While an index is built, an entry that was gathered is entered though a change has taken it away since.
    WithdrawnEntryBuilt,
    /// A key that replay deleted comes back with the leaf that has it.
    DeletedComesBack,
    /// A leaf that is read takes the place of what the log has put since.
    LeafOverwrites,
    /// What a damaged leaf had is taken from the other checkpoint alone, without the log since.
    RebuiltWithoutLog,
    /// Keys that no checkpoint has in records which can be read count as not there.
    UnreadableIsNothing,
    /// After a leaf was found damaged, the checkpoint that it is of is named again.
    DamagedLeafNamed,
    /// A checkpoint takes over leaves of the newest one, beside which it will be named.
    LeavesOfTheNewest,
    /// What changed since the newest checkpoint is written, and not what changed since the one whose leaves are taken over.
    ChangedSinceTheNewest,
    /// A leaf is taken over though a document of it was moved.
    MovedLeafTakenOver,
    /// A leaf is taken over though a document of it was deleted.
    DeletedLeafTakenOver,
    /// Leaves of an index are taken over of a checkpoint since which another life of the store changed it.
    IndexTakenOverUnknown,
    /// Leaves are taken over of the base after the newest checkpoint was found damaged, so that the base is named beside it.
    TakenOverAfterDamage,
    /// A leaf of the base is taken over in the place of an unread one that is younger than the base.
    YoungLeafTakenOver,
    /// A leaf that changed since the base, and changed back, is taken over as if it had not.
    ChangedBackTakenOver,
    /// What is deleted of a leaf that was read is not kept, though the leaf may be given up.
    DeleteNotKept,
    /// A delete that was taken back still counts once the leaf is given up.
    DeleteOutlivesUndo,
    /// A leaf is given up of a checkpoint that is not the newest, which may have left its place free.
    GivenUpPastItsCheckpoint,
    /// Entries are given up that only the newest checkpoint has.
    GivenUpFromOneAlone,
    /// What is in memory of a tree is given up that the checkpoint before does not have.
    TreeOfOneGivenUp,
    /// A leaf of an index is given up while a snapshot is older than its entries.
    GivenUpUnderASnapshot,
    /// A leaf is given up while a call rests on it.
    GivenUpBesideAReader,
    /// The patch over a leaf is left out when the leaf is read.
    PatchForgotten,
    /// A key that a patch removes from its leaf is there when the leaf is read.
    RemovedComesBack,
    /// A patch tells the difference to the leaf with the patch that was over it, and stands over the leaf alone.
    PatchOverAPatch,
    /// A directory page is taken over though a leaf of it has another patch.
    PatchedPageTakenOver,
    /// A leaf with a patch over it counts as old as its record is.
    PatchAsOldAsItsLeaf,
    /// A leaf of the base is taken over in the place of an unread one, in whose range the log has changes.
    ChangedLeafTakenOver,
    /// A leaf of the base is taken over in the place of an unread one with the same first key, whatever its range.
    RangesNotCompared,
    /// A checkpoint that takes leaves over is named though the newest one was found damaged while it was written.
    DamageUnderWayIgnored,
    /// An unread leaf that is damaged is sought in the checkpoints that were named at opening, whatever the slots name now.
    GoneCheckpointAsked,
    /// The ages in a directory page that was taken over count from the root.
    AgesFromTheRoot,
    /// However little of a segment is held, leaves in it are taken over.
    SparseTakenOver,
    /// A checkpoint goes on in a segment that was cut off.
    CutSegmentKept,
    /// A scan passes over what is unread.
    UnreadPassedOver,
    /// A checkpoint is named while a collection that has ended, and that a snapshot has, is unread.
    EndedLeftUnread,
    /// While an index is built, it refuses writes already.
    BuildRefusesWrites,
    /// An index is built on though the collection was cleared, or commits were taken back meanwhile.
    BuiltFromTwoStates,
    /// Uniqueness is asked of the state before the transaction.
    UniqueInOldState,
    /// A value that a transaction has freed is not free in it.
    FreedValueRefused,
    /// Uniqueness is asked after each change of a call, and not after the call.
    UniqueWithinCall,
    /// What a call did that is refused stays in its transaction.
    RefusedCallKept,
    /// Nothing is a value in a unique index.
    NothingIsUnique,
    /// Two long tuples are the same where their entries have the same of them.
    LongTuplesByTheirCut,
    /// A wildcard in the path of an index leaves out the fields of objects.
    MembersLeftOut,
    /// An entry does not tell `1.0` and `-0.0` from ints.
    MarksForgotten,
    /// A sparse index has entries of nothing.
    SparseIgnored,
    /// The end of a range of an index that is nothing is taken for null.
    EndOfNothingIsNull,
    /// Entries that are removed are not kept for those who need them.
    EntriesNotRetained,
    /// A commit that is taken back leaves its entries in the indexes.
    UndoForgetsEntries,
    /// A transaction that goes back to a savepoint keeps the entries made since.
    RollbackForgetsEntries,
    /// A collection that is cleared keeps the entries of its indexes.
    ClearKeepsEntries,
    /// At opening, an index that began in the log lacks the documents of the checkpoint.
    CreatedInLogNotBuilt,
    /// At opening, an index is back that was dropped.
    DroppedIndexBack,
    /// The leaves of another index are taken for those of an index.
    LeavesOfAnotherIndex,
    /// A read of an index that goes on behind a place begins anew.
    PlaceIgnored,
    /// Verification does not tell an entry of an index that no document gives.
    VerifiedOneWay,
}

#[cfg(any(feature = "seeded", all(test, any(loom, shuttle))))]
thread_local! {
    static ON: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
}

/// Whether `bug` is switched on in this thread.
#[cfg(any(feature = "seeded", all(test, any(loom, shuttle))))]
pub(crate) fn is_on(bug: Bug) -> bool {
    ON.get() == Some(bug)
}

/// The bug that is switched on in this thread: a thread that starts others passes it on to them.
#[cfg(feature = "seeded")]
pub fn switched_on() -> Option<Bug> {
    ON.get()
}

/// Whether `bug` is switched on: not in this build.
#[cfg(not(any(feature = "seeded", all(test, any(loom, shuttle)))))]
#[inline(always)]
pub(crate) const fn is_on(_: Bug) -> bool {
    false
}

/// Switches `bug` on in this thread, in the place of any other; none switches all off.
#[cfg(any(feature = "seeded", all(test, any(loom, shuttle))))]
#[cfg_attr(not(feature = "seeded"), expect(unreachable_pub, reason = "public under the feature `seeded`"))]
pub fn switch_on(bug: Option<Bug>) {
    ON.set(bug);
}

/// Asserts that `check` passes, and no longer does with `bug` switched on.
#[cfg(feature = "seeded")]
pub fn assert_noticed(bug: Bug, check: fn()) {
    check();
    switch_on(Some(bug));
    let noticed = std::panic::catch_unwind(check).is_err();
    switch_on(None);
    assert!(noticed, "{bug:?} went unnoticed");
}
