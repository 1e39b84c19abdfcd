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
}
