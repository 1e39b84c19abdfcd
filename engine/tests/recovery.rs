//! The rules of recovery, each by the shortest trace that breaks without it (spec: ). The bytes are edited by
//! hand: what a crash or a fault may leave is enumerated in `crash-tests`; here each rule is shown by itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Background, Db, Document, Durability, Error, Options, Result, doc};

/// A store whose file can be looked at, and changed, as if the machine had stopped.
struct Fixture {
    disk: Arc<MemoryStorage>,
    db: Db,
}

fn fill(disk: &MemoryStorage, bytes: &[u8]) {
    let mut at = 0;
    while at < bytes.len() {
        at += disk.write_at(at as u64, &bytes[at..]).expect("memory takes all");
    }
}

fn options() -> Options {
    Options::new().sector(64).segment_bytes(1024).seed(7).background(Background::Manual)
}

fn body(n: i64) -> Document {
    doc! { "n": n, "text": "sixteen bytes of" }
}

impl Fixture {
    fn on(bytes: &[u8]) -> Result<Fixture> {
        let disk = Arc::new(MemoryStorage::new());
        fill(&disk, bytes);
        let db = Db::open_on(Arc::clone(&disk), &options())?;
        Ok(Fixture { disk, db })
    }

    fn new() -> Fixture {
        Self::on(&[]).expect("an empty file becomes a store")
    }

    /// Puts `n`, and returns the range of the file that the commit changed.
    fn put(&self, n: i64, durability: Durability) -> std::ops::Range<usize> {
        let before = self.bytes();
        self.db.collection("c").with_durability(durability).put(n, body(n)).expect("nothing refuses");
        self.changed_since(&before)
    }

    /// The range of the log that has changed.
    fn changed_since(&self, before: &[u8]) -> std::ops::Range<usize> {
        let after = self.bytes();
        // What the file grew by is zeros until something is placed there.
        let changed = |at: &usize| before.get(*at).unwrap_or(&0) != &after[*at];
        // The superblock slots lie below; a commit of a grown file writes one.
        let log = 16_384..after.len();
        let first = log.clone().find(changed).expect("a commit writes");
        let last = log.rev().find(changed).expect("a commit writes");
        first..last + 1
    }

    /// The file as it is now.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.disk.len().expect("memory has a length") as usize];
        let read = self.disk.read_at(0, &mut bytes).expect("memory can be read");
        let mut done = read;
        while done < bytes.len() {
            done += self.disk.read_at(done as u64, &mut bytes[done..]).expect("memory can be read");
        }
        bytes
    }

    fn keys(&self) -> BTreeSet<i64> {
        match self.db.collection("c").keys(..) {
            Ok(keys) => {
                keys.map(|key| key.expect("a healthy store").to_string().parse().expect("int keys")).collect()
            }
            Err(Error::UnknownCollection { .. }) => BTreeSet::new(),
            Err(error) => panic!("{error}"),
        }
    }
}

fn flipped(mut bytes: Vec<u8>, at: usize) -> Vec<u8> {
    bytes[at] ^= 1;
    bytes
}

/// What a scenario shows: `Ok` where the rule is kept.
type Shown = std::result::Result<(), String>;

fn shown(holds: bool, what: impl std::fmt::Debug) -> Shown {
    if holds { Ok(()) } else { Err(format!("{what:?}")) }
}

//= spec/recovery.md#r-4-3-corrupt
//# A reader MUST refuse a file that the table calls corrupt, with the offset of the place where the log
//# breaks off and the claim.
fn damage_to_a_commit_that_a_later_one_attests_is_corrupt() -> Shown {
    let store = Fixture::new();
    let first = store.put(1, Durability::Synced);
    store.put(2, Durability::Synced);
    let opened = Fixture::on(&flipped(store.bytes(), first.end - 9));
    shown(matches!(opened, Err(Error::Corrupt(_))), opened.map(|store| store.keys()))
}

//= spec/format.md#f-5-5-watermark
//# If, at a hand-over, the last frame placed states less than the durable LSN of that moment, the writer MUST
//# place a *watermark frame* that states it before the hand-over.
/// What was placed while the sync was under way claims no more than was known then; the watermark in front of its own hand-over does.
#[cfg(feature = "testing")]
fn damage_to_a_commit_whose_sync_another_one_met_is_corrupt() -> Shown {
    let store = Fixture::new();
    store.put(1, Durability::Synced);
    let before = store.bytes();
    let defer = |n: i64| {
        let tx = store.db.begin_write().expect("nobody writes");
        tx.collection("c").put(n, body(n)).expect("nothing refuses");
        tx.commit_deferred().expect("there is room")
    };
    let first = defer(2);
    let sync = store.db.begin_sync().expect("a healthy disk").expect("a commit waits for it");
    let place = store.changed_since(&before);
    let second = defer(3);
    sync.finish().expect("a healthy disk");
    first.wait().and(second.wait()).map_err(|error| error.to_string())?;
    let opened = Fixture::on(&flipped(store.bytes(), place.end - 9));
    shown(matches!(opened, Err(Error::Corrupt(_))), opened.map(|store| store.keys()))
}

//= spec/format.md#f-5-4-durable-lag
//# The LSN that a frame states MUST NOT be above the highest LSN whose sync had returned success when the
//# frame was placed, and its incarnation MUST be that of the frame.
//= spec/recovery.md#r-4-2-torn-tail
//# A reader MUST drop what lies beyond a torn tail silently: none of it was ever acknowledged as durable.
fn damage_to_a_commit_that_nobody_acknowledged_is_a_torn_tail() -> Shown {
    let store = Fixture::new();
    store.put(1, Durability::Synced);
    let torn = store.put(2, Durability::Written);
    let opened = Fixture::on(&flipped(store.bytes(), torn.start + 40));
    let keys = opened.map(|store| store.keys());
    shown(matches!(&keys, Ok(keys) if *keys == BTreeSet::from([1])), keys)
}

//= spec/format.md#f-1-5-lsn
//# A writer MUST NOT give one LSN to two commits, in any life of the file.
//= spec/semantics.md#s-7-3-after-a-crash
//# A store MUST NOT show a commit that a crash has removed, after any later crash or reopening.
fn what_lay_beyond_a_cut_never_comes_back() -> Shown {
    let store = Fixture::new();
    store.put(1, Durability::Synced);
    let torn = store.put(2, Durability::Written);
    store.put(3, Durability::Written);
    // The power fails: the second commit is torn, the third reached the disk whole. It is put again after the reopen, in the
    // same place and of the same length.
    let reopened =
        Fixture::on(&flipped(store.bytes(), torn.start + 40)).map_err(|error| error.to_string())?;
    reopened.put(2, Durability::Synced);
    let keys = Fixture::on(&reopened.bytes()).map(|store| store.keys());
    shown(matches!(&keys, Ok(keys) if *keys == BTreeSet::from([1, 2])), keys)
}

//= spec/recovery.md#r-3-3-where-to-look
//# A reader MUST then follow the chain: the segment named as `next`, with sequence q + 1, and so on.
fn a_claim_three_segments_on_is_found() -> Shown {
    damage_in_front_of_a_long_batch(|bytes| bytes)
}

// spec
fn a_claim_behind_a_damaged_segment_header_is_found() -> Shown {
    const SECOND_HEADER: usize = 16_384 + 1024;
    damage_in_front_of_a_long_batch(|bytes| flipped(bytes, SECOND_HEADER + 8))
}

/// The batch reaches over several segments, and `more` is damaged besides.
fn damage_in_front_of_a_long_batch(more: fn(Vec<u8>) -> Vec<u8>) -> Shown {
    let store = Fixture::new();
    let first = store.put(1, Durability::Synced);
    // A batch over several segments is handed down by one sync; only what follows it attests it.
    for n in 2..60 {
        let buffered = store.db.collection("c").with_durability(Durability::Buffered);
        buffered.put(n, body(n)).map_err(|error| error.to_string())?;
    }
    store.db.flush().map_err(|error| error.to_string())?;
    store.put(60, Durability::Synced);
    // The slot that named the growth speaks for the batch as well: it is damaged too, and only the chain is left.
    let bytes = flipped(store.bytes(), first.end.next_multiple_of(64) + 40);
    let generation =
        |slot: usize| u64::from_le_bytes(bytes[slot + 352..slot + 360].try_into().expect("eight bytes"));
    let newest = if generation(0) > generation(4096) { 0 } else { 4096 };
    let opened = Fixture::on(&more(flipped(bytes.clone(), newest + 368)));
    shown(matches!(opened, Err(Error::Corrupt(_))), opened.map(|store| store.keys()))
}

fn a_file_shorter_than_it_durably_was_is_corrupt() -> Shown {
    let store = Fixture::new();
    for n in 1..40 {
        store.put(n, Durability::Synced);
    }
    let mut bytes = store.bytes();
    // What is cut off held nothing yet, so no commit is missed.
    let end = bytes.iter().rposition(|byte| *byte != 0).expect("a store is not all zeros") + 1;
    bytes.truncate(end.next_multiple_of(64));
    let opened = Fixture::on(&bytes);
    shown(matches!(opened, Err(Error::Corrupt(_))), opened.map(|store| store.keys()))
}

//= spec/format.md#f-1-6-sectors
//# A writer MUST NOT write again to a sector of a log segment that holds bytes of an acknowledged commit.
fn one_damaged_sector_never_takes_a_batch_and_its_witness() -> Shown {
    let disk = Arc::new(MemoryStorage::new());
    let options = Options::new().segment_bytes(65_536).seed(7);
    let db = Db::open_on(Arc::clone(&disk), &options).map_err(|error| error.to_string())?;
    let store = Fixture { disk, db };
    let first = store.put(1, Durability::Synced);
    store.put(2, Durability::Synced);
    let mut bytes = store.bytes();
    let sector = (first.end - 9) / 512 * 512;
    bytes[sector..sector + 512].fill(0);
    let disk = Arc::new(MemoryStorage::new());
    fill(&disk, &bytes);
    let opened = Db::open_on(disk, &options);
    shown(matches!(opened, Err(Error::Corrupt(_))), opened.map(|db| db.collections()))
}

#[test]
fn the_rules_of_recovery_hold() {
    for (name, scenario) in [
        ("attested", damage_to_a_commit_that_a_later_one_attests_is_corrupt as fn() -> Shown),
        #[cfg(feature = "testing")]
        ("attested by a watermark", damage_to_a_commit_whose_sync_another_one_met_is_corrupt),
        ("torn", damage_to_a_commit_that_nobody_acknowledged_is_a_torn_tail),
        ("beyond the cut", what_lay_beyond_a_cut_never_comes_back),
        ("chain", a_claim_three_segments_on_is_found),
        ("damaged header", a_claim_behind_a_damaged_segment_header_is_found),
        ("sector", one_damaged_sector_never_takes_a_batch_and_its_witness),
        ("short", a_file_shorter_than_it_durably_was_is_corrupt),
    ] {
        assert_eq!(scenario(), Ok(()), "{name}");
    }
}

#[test]
fn a_store_cut_short_at_any_length_is_refused_or_whole() {
    let store = Fixture::new();
    for n in 1..6 {
        store.put(n, Durability::Synced);
    }
    let bytes = store.bytes();
    for len in 1..bytes.len() {
        match Fixture::on(&bytes[..len]) {
            Ok(opened) => panic!("cut to {len} of {} bytes, it opened with {:?}", bytes.len(), opened.keys()),
            Err(Error::Corrupt(_) | Error::NotHolotype { .. }) => {}
            Err(error) => panic!("cut to {len} bytes: {error}"),
        }
    }
}

//= spec/recovery.md#r-2-4-parts
//# A reader MUST NOT accept any part of a commit before all of its parts, the part with LAST included, are
//# valid.
#[test]
fn of_a_torn_commit_of_many_parts_nothing_is_there_and_what_comes_next_is_found() {
    let store = Fixture::new();
    store.put(1, Durability::Synced);
    let before = store.bytes();
    let many = (10..60).map(|n| (n, body(n)));
    store.db.collection("c").with_durability(Durability::Written).put_many(many).expect("there is room");
    let parts = store.changed_since(&before);
    assert!(parts.len() > 2 * 1024, "it has a part in each of several segments");
    for at in parts.clone().step_by(64) {
        let mut torn = store.bytes();
        torn[at / 64 * 64..at / 64 * 64 + 64].fill(0);
        let Ok(next) = Fixture::on(&torn) else { panic!("without the sector at {at}") };
        assert_eq!(next.keys(), BTreeSet::from([1]), "without the sector at {at}");
        next.put(2, Durability::Synced);
        // The first parts are still whole; the opening frame of the next life stands behind the first commit.
        let keys = Fixture::on(&next.bytes()).map(|store| store.keys());
        assert_eq!(keys.ok(), Some(BTreeSet::from([1, 2])), "without the sector at {at}");
    }
}

//= spec/recovery.md#r-5-1-no-valid-slot
//# A read-only open MUST report that it is incomplete; a writer MAY create the store anew.
#[test]
fn an_unfinished_creation_is_incomplete_to_a_reader_and_made_anew_by_a_writer() {
    let whole = Fixture::new().bytes();
    let mut header_alone = vec![0; whole.len()];
    header_alone[16_384..16_448].copy_from_slice(&whole[16_384..16_448]);
    for (what, bytes) in [("zeros", vec![0; whole.len()]), ("a header alone", header_alone)] {
        let disk = Arc::new(MemoryStorage::new());
        fill(&disk, &bytes);
        let read = Db::open_on(Arc::clone(&disk), &options().read_only(true)).map(|db| db.stats());
        assert!(matches!(read, Err(Error::Incomplete)), "{what}: {read:?}");
        let store = Fixture::on(&bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
        store.put(1, Durability::Synced);
        assert_eq!(Fixture::on(&store.bytes()).map(|store| store.keys()).ok(), Some(BTreeSet::from([1])));
    }
}

//= spec/recovery.md#r-6-3-ended-between-its-slots
//# A reader MUST NOT report an unwritten slot as damage.
#[test]
fn a_slot_that_creation_did_not_come_to_is_no_damage_and_one_that_was_written_is() {
    let disk = |bytes: &[u8]| {
        let disk = Arc::new(MemoryStorage::new());
        fill(&disk, bytes);
        disk
    };
    let store = Fixture::new();
    let creation = store.bytes();
    store.put(1, Durability::Synced);
    let with_a_commit = store.bytes();
    // With slot A as creation writes it, and `b` all over slot B.
    let is_damaged = |of: &[u8], b: u8| {
        let mut bytes = of.to_vec();
        bytes[..512].copy_from_slice(&creation[..512]);
        bytes[4096..4608].fill(b);
        let db = Db::open_on(disk(&bytes), &options().read_only(true)).expect("one slot is enough");
        let problems = db.verify(true).expect("it can be read").problems;
        assert!(problems.iter().all(|problem| problem.at == 4096), "{problems:?}");
        let salvaged = holotype::salvage_to(disk(&bytes), disk(&[])).expect("there is a store");
        assert!(salvaged.is_complete(), "{salvaged:?}");
        assert_eq!(salvaged.problems.is_empty(), problems.is_empty(), "{salvaged:?}");
        let writer = Fixture::on(&bytes).expect("one slot is enough");
        assert!(writer.db.verify(true).expect("it can be read").is_clean(), "a writer writes it");
        assert_ne!(writer.bytes()[4096..4608], [b; 512]);
        !problems.is_empty()
    };
    assert!(!is_damaged(&creation, 0), "the creation ended before it");
    assert!(is_damaged(&creation, 1), "no creation leaves that");
    assert!(is_damaged(&with_a_commit, 0), "slot B is written before the first commit");
}

//= spec/recovery.md#r-5-1-no-valid-slot
//# When neither slot is valid otherwise, a reader MUST report the file as corrupt if either slot begins with
//# the magic, and else as not a Holotype file.
#[test]
fn without_a_valid_slot_a_file_with_the_magic_is_corrupt_and_any_other_is_no_store() {
    let store = Fixture::new();
    store.put(1, Durability::Synced);
    let mut bytes = store.bytes();
    bytes[100] ^= 1;
    bytes[4096 + 100] ^= 1;
    let opened = Fixture::on(&bytes).map(|store| store.keys());
    assert!(matches!(opened, Err(Error::Corrupt(_))), "{opened:?}");
    bytes[0] = b'h';
    assert!(matches!(Fixture::on(&bytes), Err(Error::Corrupt(_))), "one of them is enough");
    bytes[4096] = b'h';
    assert!(matches!(Fixture::on(&bytes), Err(Error::NotHolotype { .. })));
}

//= spec/recovery.md#r-5-2-checkpoint-fallback
//# When it names two and neither can be read whole, the reader MUST report the file as corrupt.
#[test]
fn where_neither_checkpoint_can_be_read_the_file_is_corrupt() {
    let store = Fixture::new();
    for n in 1..=2 {
        store.put(n, Durability::Synced);
        store.db.checkpoint().expect("memory refuses nothing");
    }
    let mut bytes = store.bytes();
    // Both slots name the same two: the last part of the root of each.
    let roots = [384, 432].map(|named| {
        let field =
            |at: usize| u32::from_le_bytes(bytes[named + at..][..4].try_into().expect("four bytes")) as usize;
        let at = 16_384 + 1024 * field(8) + field(12);
        at..at + field(36)
    });
    assert_ne!(roots[0], roots[1]);
    for root in roots {
        assert_eq!(Fixture::on(&bytes).map(|store| store.keys()).ok(), Some(BTreeSet::from([1, 2])));
        bytes[root].fill(0);
    }
    let opened = Fixture::on(&bytes).map(|store| store.keys());
    assert!(matches!(opened, Err(Error::Corrupt(_))), "{opened:?}");
}

//= spec/recovery.md#r-5-3-sync-before-answering
//# A read-only open MUST NOT write.
#[test]
fn a_read_only_open_changes_nothing_though_a_slot_is_torn() {
    let store = Fixture::new();
    store.put(1, Durability::Synced);
    let bytes = flipped(store.bytes(), 4096 + 100);
    let disk = Arc::new(MemoryStorage::new());
    fill(&disk, &bytes);
    let db = Db::open_on(Arc::clone(&disk), &options().read_only(true)).expect("one slot is enough");
    assert!(db.collection("c").contains(1).expect("it is there"));
    drop(db);
    let read = Fixture { db: Db::in_memory(), disk }.bytes();
    assert!(read == bytes, "it is as it was");
}

/// Each rule taken away alone must turn its scenario red: otherwise the scenario shows nothing.
#[cfg(feature = "seeded")]
mod removed {
    use super::*;
    use holotype::seeded::{Bug, switch_on};

    fn red(bug: Bug, scenario: fn() -> Shown) {
        switch_on(Some(bug));
        let shown = scenario();
        switch_on(None);
        assert!(shown.is_err(), "{bug:?} went unnoticed");
    }

    #[test]
    fn without_the_watermark_damage_passes_for_a_torn_tail() {
        red(Bug::ClaimsIgnored, damage_to_a_commit_that_a_later_one_attests_is_corrupt);
    }

    #[test]
    fn without_a_watermark_frame_a_commit_placed_during_a_sync_hides_damage_to_the_one_before() {
        red(Bug::WatermarkForgotten, damage_to_a_commit_whose_sync_another_one_met_is_corrupt);
    }

    #[test]
    fn with_watermarks_that_overstate_a_torn_tail_passes_for_damage() {
        red(Bug::DurabilityOverstated, damage_to_a_commit_that_nobody_acknowledged_is_a_torn_tail);
    }

    #[test]
    fn without_a_new_incarnation_leftovers_come_back() {
        red(Bug::IncarnationKept, what_lay_beyond_a_cut_never_comes_back);
    }

    #[test]
    fn a_search_that_ends_with_the_segment_misses_the_claim() {
        red(Bug::ClaimsNotFollowedAlongTheChain, a_claim_three_segments_on_is_found);
    }

    #[test]
    fn a_search_that_ends_at_a_damaged_header_misses_the_claim() {
        red(Bug::DamagedHeaderEndsTheChain, a_claim_behind_a_damaged_segment_header_is_found);
    }

    #[test]
    fn where_batches_share_a_sector_one_that_is_damaged_takes_them_all() {
        red(Bug::SectorSharedAcrossSyncs, one_damaged_sector_never_takes_a_batch_and_its_witness);
    }

    #[test]
    fn a_growth_that_no_slot_names_can_be_cut_off_unnoticed() {
        red(Bug::GrowthNotNamed, a_file_shorter_than_it_durably_was_is_corrupt);
    }

    #[test]
    fn without_the_length_in_the_slot_a_lost_end_goes_unnoticed() {
        red(Bug::ShortFileAccepted, a_file_shorter_than_it_durably_was_is_corrupt);
    }
}
