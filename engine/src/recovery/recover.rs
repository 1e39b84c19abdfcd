//! Opening: follow the log to its end, and decide what the end means (spec: R-4).

use std::collections::BTreeSet;

use crate::cache::SegmentTable;
use crate::error::{Corruption, Result};
use crate::format::Lsn;
use crate::format::superblock::Superblock;
use crate::index::Layout;
use crate::log::LogEnd;
use crate::seeded::{self, Bug};
use crate::space::{Accounts, FreeSegments};

use super::checkpoint::{Extent, NamedCheckpoints};
use super::claims::{self, Claims};
use super::commit::Commit;
use super::decide::{Decision, Evidence, Follows, Length, decide};
use super::file::File;
use super::replay::Replay;
use super::scan::Scan;
use super::start::Start;

/// What recovery found.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) end: LogEnd,
    /// The highest incarnation met anywhere (spec: ).
    pub(crate) highest_incarnation: u32,
    pub(crate) replay: Replay,
    /// Places that nothing holds.
    pub(crate) free: FreeSegments,
    /// The checkpoints that the slot names.
    pub(crate) checkpoints: NamedCheckpoints,
    /// Commits replayed.
    pub(crate) commits: u64,
}

/// How recovery goes about its work; none of it changes what it finds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// How many bytes of the log are read at a time at most.
    pub(crate) read_unit: usize,
    /// How indexes are laid out in memory.
    pub(crate) layout: Layout,
    /// How much of the checkpoint that it begins with is read.
    pub(crate) extent: Extent,
}

//= spec/media.md#m-2-6-levels
//# A store MUST keep its promises at M2.
//= spec/media.md#m-5-1-any-bytes
//# A store MUST answer every call with the right data or an error, whatever bytes the file holds.
//= spec/recovery.md#r-7-3-close
//# A reader MUST NOT skip any step of recovery because of the clean flag.
//= spec/semantics.md#s-7-1-power-cut
//# After a power cut at any moment, the state MUST be the state after Ck for one k with s <= k <= n.
//= spec/semantics.md#s-7-2-end-of-the-process
//# After the process ends at any moment without a power cut, the state MUST be the state after Ck for one k
//# with w <= k <= n, where Cw is the last commit that is acknowledged written.
/// Follows the log from the state that the slot names to its end, and decides what the end is.
pub(crate) fn recover(file: File<'_>, segments: &SegmentTable, plan: Plan) -> Result<Recovered> {
    let slot = file.slot;
    // spec. A file shorter than it once durably was has lost something, whatever its log says.
    let is_short = file.len < slot.file_len && !seeded::is_on(Bug::ShortFileAccepted);
    let length = if is_short { Length::Short } else { Length::Enough };
    if decide(length, Follows::Nothing, Evidence::Within) == Decision::Corrupt {
        return Err(Corruption::new(file.len, "R-4.1", "the file is shorter than it once was")
            .comparing(slot.file_len, file.len)
            .into());
    }
    let start = Start::find(file, segments, (plan.layout, plan.extent))?;
    let mut log = Following::begin(file, segments, plan, start)?;
    let claims = loop {
        let commit = log.scan.next()?;
        let (follows, claims) = match &commit {
            Some(_) => (Follows::Continuation, Claims::default()),
            None => (Follows::Nothing, claims::search(&mut log.scan)?),
        };
        let highest = claims.highest.max(slot.durable_lsn);
        let is_above = highest > log.scan.lsn() && !seeded::is_on(Bug::ClaimsIgnored);
        let evidence = if is_above { Evidence::Above } else { Evidence::Within };
        match decide(length, follows, evidence) {
            Decision::Replay => log.accept(&commit.expect("a continuation is a commit"))?,
            Decision::Cut => break claims,
            Decision::Corrupt => return Err(lost(&log.scan, highest)),
        }
    };
    let floor = if seeded::is_on(Bug::FreedKeptAtOpening) { Lsn::ZERO } else { slot.reuse_floor() };
    reclaim(&mut log.replay.accounts, segments, floor);
    let count = slot.geometry.segments_within(file.len);
    let mut held = held(slot, &log.replay.accounts, &log.checkpoints, count)?;
    log.scan.check_reserved(&held)?;
    let mut recovered = log.into_recovered(claims);
    if !seeded::is_on(Bug::ReservationGivenOut) {
        held.extend(recovered.end.reserved.iter().flatten());
    }
    recovered.checkpoints.hold_what_is_doubtful(&mut held);
    recovered.free = FreeSegments::around(&held);
    Ok(recovered)
}

/// The log as it is followed, and the state that it has led to.
pub(super) struct Following<'a> {
    pub(super) scan: Scan<'a>,
    replay: Replay,
    checkpoints: NamedCheckpoints,
    segments: &'a SegmentTable,
    commits: u64,
}

impl<'a> Following<'a> {
    pub(super) fn begin(
        file: File<'a>,
        segments: &'a SegmentTable,
        plan: Plan,
        mut start: Start,
    ) -> Result<Self> {
        let scan = Scan::begin(file, plan.read_unit, &start)?;
        let replay = Replay::new(&mut start, plan.layout);
        Ok(Following { scan, replay, checkpoints: start.checkpoints, segments, commits: 0 })
    }

    /// The commit, which comes next, counts: it is carried out.
    pub(super) fn accept(&mut self, commit: &Commit) -> Result<()> {
        self.scan.note_segments(commit, self.segments);
        self.replay.apply(&self.scan, commit, self.segments)?;
        self.scan.accept(commit);
        self.commits += 1;
        Ok(())
    }

    /// What was found. No place counts as free: who goes on to write says which are.
    pub(super) fn into_recovered(self, claims: Claims) -> Recovered {
        let Following { scan, replay, checkpoints, commits, .. } = self;
        let highest_incarnation = claims.incarnation.max(scan.highest_incarnation());
        let free = FreeSegments::around(&BTreeSet::new());
        Recovered { end: scan.into_end(), highest_incarnation, replay, free, checkpoints, commits }
    }
}

//= spec/recovery.md#r-8-1-what-holds-a-place
//# A reader MUST report corruption when a log segment in place and a checkpoint hold one index: once that
//# checkpoint is not named any more, the place would be given out with the segment in it.
//= spec/recovery.md#r-8-2-the-floor
//# A reader MUST report corruption when a log segment in place begins at or beyond the end of the file,
//# whatever `file_len` says: only free places are cut off (P-8.1).
/// The places of the log segments in place, and of the checkpoints, in a file of so many.
fn held(
    slot: &Superblock,
    accounts: &Accounts,
    checkpoints: &NamedCheckpoints,
    count: u32,
) -> Result<BTreeSet<u32>> {
    let by_checkpoints: BTreeSet<u32> =
        checkpoints.named().flat_map(|held| held.segments.keys().copied()).collect();
    // One with a segment beyond the end of the file is damaged, and holds none (spec: F-8.9, F-8.12).
    debug_assert!(by_checkpoints.last().is_none_or(|last| *last < count), "segments of a sound checkpoint");
    let mut by_log: Vec<(u32, u64)> =
        accounts.iter().map(|(sequence, account)| (account.physical, sequence)).collect();
    by_log.sort_by_key(|(physical, _)| *physical);
    let mut before = None;
    for &(physical, sequence) in &by_log {
        let is_taken = before.replace(physical) == Some(physical) || by_checkpoints.contains(&physical);
        let (clause, what) = match physical < count {
            false => ("R-8.2", "a log segment in place beyond the end of the file"),
            true if is_taken && !seeded::is_on(Bug::PlaceHeldTwice) => {
                ("R-8.1", "a log segment in the place of a checkpoint, or of another log segment")
            }
            true => continue,
        };
        let at = slot.geometry.segment_offset(physical);
        return Err(Corruption::new(at, clause, what).comparing(0, sequence).into());
    }
    Ok(by_checkpoints.into_iter().chain(by_log.into_iter().map(|(physical, _)| physical)).collect())
}

/// Takes out the segments that were freed at or below `floor`: nobody holds an older state while a store is opened (spec: ).
fn reclaim(accounts: &mut Accounts, segments: &SegmentTable, floor: Lsn) {
    let free = accounts.iter().filter(|(_, account)| account.is_freed() && account.freed <= floor);
    for sequence in free.map(|(sequence, _)| sequence).collect::<Vec<_>>() {
        accounts.remove(sequence);
        segments.remove(sequence);
    }
}

//= spec/recovery.md#r-4-3-corrupt
//# A reader MUST refuse a file that the table calls corrupt, with the offset of the place where the log
//# breaks off and the claim.
/// The log breaks off although what followed was once durable (spec: ).
fn lost(scan: &Scan<'_>, claim: Lsn) -> crate::Error {
    Corruption::new(scan.file_offset(), "R-4.1", "the log breaks off before a commit that was once durable")
        .comparing(claim.0, scan.lsn().0)
        .into()
}
