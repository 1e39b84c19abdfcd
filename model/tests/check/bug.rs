//! The ways in which the toy store can be wrong, each the shape of a real mistake.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bug {
    /// Deleted documents come back when the store is opened again.
    ForgetsDeletesOnReopen,
    /// The next id follows from the documents that are there at opening.
    ReissuesIdAfterDeleteAndReopen,
    /// Each document of a batch is a commit of its own.
    SplitsBatches,
    /// A reverse scan takes the first entries and turns them round.
    LimitsBeforeReversing,
    /// A scan sorts negative ints behind the others.
    SortsIntsUnsigned,
    /// A bound that excludes its key includes it.
    KeepsExcludedBound,
    /// A prefix of text finds bytes keys as well.
    PrefixCrossesKinds,
    /// `Synced` means `Written`.
    LosesAcknowledgedCommit,
    /// A flush syncs nothing.
    FlushLies,
    /// `Written` means `Buffered`.
    LosesWrittenAtKill,
    /// What a crash took comes back with the next opening.
    RevivesLostCommits,
    /// A crash takes a commit from the middle.
    LeavesHoles,
    /// A refused write has created its collection.
    RefusalCreates,
    /// A collection that is created again goes on with its old ids.
    DropKeepsIds,
    /// A cleared collection begins with its ids again.
    ClearResetsIds,
    /// A rename covers a collection that is there.
    RenameCovers,
    /// An insert with a key covers a document that is there.
    InsertCovers,
    /// Past the largest id comes the smallest.
    WrapsIds,
    /// -0.0 comes back as 0.0.
    LosesSignOfZero,
    /// The empty text as a key is a panic.
    PanicsOnEmptyKey,
    /// Writes go on after one whose outcome is unknown.
    WritesAfterUnknown,
    /// A write that failed is visible.
    ShowsCommitInDoubt,
    /// A write that failed for want of room has been done.
    AppliesWhatFailed,
    /// Readers see an open transaction.
    ShowsTransaction,
    /// A write beside a transaction is let in, and the transaction covers it.
    LetsWritersIn,
    /// Each change of a transaction is a commit of its own.
    CommitsInPieces,
    /// The class of a transaction's commit is of no account.
    BuffersTransactions,
    /// A refusal inside a transaction takes back all before it.
    RefusalUndoesTransaction,
    /// Ids that a rolled back transaction gave out stay used.
    RollbackKeepsIds,
    /// Ids that were given out after a savepoint stay used when it is gone back to.
    SavepointKeepsIds,
    /// A savepoint is gone once it was gone back to.
    SavepointServesOnce,
    /// Going back to a savepoint leaves those after it.
    KeepsLaterSavepoints,
    /// A snapshot does not show a collection that was dropped since.
    SnapshotLosesWhatIsDropped,
    /// A snapshot shows the newest document of each of its keys.
    SnapshotFollowsReplaces,
    /// A conditional write asks for a document only.
    IgnoresVersions,
    /// A document that was put over by an equal one counts as unchanged.
    ComparesDocumentsForVersions,
}
