//! How much of the file is kept for what must go on when the disk is full, as plain data.

//= spec/semantics.md#s-8-5-full-disk
//# Deletes MUST find room that other writes leave to them, as far as the reserve of P-5 goes.
//= spec/space.md#p-5-2-who-may-use-it
//# A delete of whatever the store holds, in commits of one delete each, MUST find room on a disk that is
//# full, where the disk has room for ten segments and a segment for some dozen commits.
/// Who asks for room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// What brings new data: it leaves the reserve alone.
    Ordinary,
    /// What takes more away than it brings: it leaves what cleaning needs.
    Deletes,
    /// The store's own commits.
    Reserve,
}

/// How much of the file is kept, as it was worked out last.
#[derive(Debug, Clone, Default)]
pub(super) struct SpaceBudget {
    /// The length that the file must have for an ordinary commit that opens no segment.
    pub(super) len: u64,
    /// Something has changed on which that rests.
    pub(super) is_stale: bool,
    /// The segment that the log ended in by then.
    pub(super) sequence: u64,
    /// The disk had no room when the file was to grow last.
    pub(super) is_full: bool,
    /// Where the log ended when the file was last cut.
    pub(super) cut_at: u64,
    /// The last commit of a caller's put something.
    pub(super) is_reserve_wanted: bool,
    /// A caller's commit put something since the file was last cut.
    pub(super) is_put_since_cut: bool,
    /// The file may not grow, and has no segment to spare beyond the reserve.
    pub(super) is_tight: bool,
    /// Segments that were opened since it was last held against its bound, and whether the file has grown since.
    pub(super) opened: u64,
    pub(super) has_grown: bool,
    /// Of these segments, those for which a look was asked for.
    pub(super) looked_for: u64,
    /// Records that had died by then, and how many more may before the next check; the documents at the last look.
    pub(super) superseded: u64,
    pub(super) check_after: u64,
    pub(super) documents: u64,
}

/// What is due after a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upkeep {
    Nothing,
    /// Maintenance may have something to do.
    Look,
    /// The file, and the log since the last checkpoint, are to be held against their bounds.
    Check,
}

/// What a file that shrinks keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// What something lies in. The next ordinary commit lets it grow again.
    Held,
    /// And the reserve.
    Reserve,
    /// And the reserve, or what a small store keeps of it.
    AtRest,
}
