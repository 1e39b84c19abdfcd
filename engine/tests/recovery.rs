//! The rules of recovery, each by the shortest trace that breaks without it (spec: ). The bytes are edited by
//! hand: what a crash or a fault may leave is enumerated in `crash-tests`; here each rule is shown by itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Db, Document, Durability, Error, Options, Result, doc};

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
    Options::new().sector(64).segment_bytes(1024).seed(7)
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
        let changed = |at: &usize| before.get(*at) != after.get(*at);
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

fn damage_to_a_commit_that_a_later_one_attests_is_corrupt() -> Shown {
    let store = Fixture::new();
    let first = store.put(1, Durability::Synced);
    store.put(2, Durability::Synced);
    let opened = Fixture::on(&flipped(store.bytes(), first.end - 9));
    shown(matches!(opened, Err(Error::Corrupt(_))), opened.map(|store| store.keys()))
}

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

fn damage_to_a_commit_that_nobody_acknowledged_is_a_torn_tail() -> Shown {
    let store = Fixture::new();
    store.put(1, Durability::Synced);
    let torn = store.put(2, Durability::Written);
    let opened = Fixture::on(&flipped(store.bytes(), torn.start + 40));
    let keys = opened.map(|store| store.keys());
    shown(matches!(&keys, Ok(keys) if *keys == BTreeSet::from([1])), keys)
}

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

fn a_claim_three_segments_on_is_found() -> Shown {
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
    let bytes = flipped(store.bytes(), first.end + 64 + 40);
    let generation =
        |slot: usize| u64::from_le_bytes(bytes[slot + 352..slot + 360].try_into().expect("eight bytes"));
    let newest = if generation(0) > generation(4096) { 0 } else { 4096 };
    let opened = Fixture::on(&flipped(bytes.clone(), newest + 368));
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
