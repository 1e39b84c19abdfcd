//! What can be proven of a damaged store comes back, nothing else does unmarked, and the damaged file stays as it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Db, Durability, Error, Key, Options, SalvageReport, Value, doc, salvage, salvage_to};

const SECTOR: usize = 64;
const SEGMENTS_START: usize = 16_384;

fn disk_of(bytes: &[u8]) -> Arc<MemoryStorage> {
    let disk = Arc::new(MemoryStorage::new());
    let mut at = 0;
    while at < bytes.len() {
        at += disk.write_at(at as u64, &bytes[at..]).expect("memory takes all");
    }
    disk
}

fn bytes_of(disk: &MemoryStorage) -> Vec<u8> {
    let mut bytes = vec![0; disk.len().expect("memory has a length") as usize];
    let mut at = 0;
    while at < bytes.len() {
        at += disk.read_at(at as u64, &mut bytes[at..]).expect("memory can be read");
    }
    bytes
}

/// SplitMix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// What a document says of itself: its number in the history of the store.
type Contents = BTreeMap<(String, Key), i64>;

/// A file, and the truth about it.
struct Specimen {
    bytes: Vec<u8>,
    options: Options,
    live: Contents,
    /// Collection and key of every document that ever was, by number.
    history: Vec<(String, Key)>,
}

/// A store in use, and what was done to it.
struct Maker {
    disk: Arc<MemoryStorage>,
    options: Options,
    db: Db,
    live: Contents,
    history: Vec<(String, Key)>,
}

/// Eight bytes that no other document has.
fn marker(n: i64) -> [u8; 8] {
    let mut state = n as u64;
    random(&mut state).to_le_bytes()
}

impl Maker {
    fn new(options: Options) -> Maker {
        let disk = Arc::new(MemoryStorage::new());
        let db = Db::open_on(Arc::clone(&disk), &options).expect("a new store");
        Maker { disk, options, db, live: Contents::new(), history: Vec::new() }
    }

    fn put(&mut self, collection: &str, key: impl Into<Key>, len: usize) {
        let (key, n) = (key.into(), self.history.len() as i64);
        let filling: Vec<u8> = marker(n).into_iter().cycle().take(len.max(8)).collect();
        let document = doc! { "n": n, "p": Value::Bytes(filling) };
        self.db.collection(collection).put(key.clone(), document).expect("there is room");
        self.history.push((collection.to_owned(), key.clone()));
        self.live.insert((collection.to_owned(), key), n);
    }

    /// Puts documents under the keys from 1 to `count` in one commit.
    fn put_many(&mut self, collection: &str, count: i64) {
        let first = self.history.len() as i64 - 1;
        let documents = (1..=count).map(|key| {
            let n = first + key;
            self.history.push((collection.to_owned(), Key::Int(key)));
            self.live.insert((collection.to_owned(), Key::Int(key)), n);
            let filling: Vec<u8> = marker(n).into_iter().cycle().take(40).collect();
            (key, doc! { "n": n, "p": Value::Bytes(filling) })
        });
        self.db.collection(collection).put_many(documents).expect("there is room");
    }

    fn delete(&mut self, collection: &str, key: impl Into<Key>) {
        let key = key.into();
        assert!(self.db.collection(collection).delete(&key).expect("nothing hinders it"));
        self.live.remove(&(collection.to_owned(), key));
    }

    fn forget(&mut self, collection: &str) {
        self.live.retain(|(name, _), _| name != collection);
    }

    fn maintain(&self) {
        let mut steps = 0;
        while self.db.maintain().expect("nothing hinders it") {
            steps += 1;
            assert!(steps < 1000, "{:#?}", self.db.stats());
        }
    }

    /// The process is killed, so that no checkpoint is taken at its end, and the store is opened again.
    fn reopen(&mut self) {
        self.disk = disk_of(&bytes_of(&self.disk));
        self.db = Db::open_on(Arc::clone(&self.disk), &self.options).expect("nothing is wrong with it");
    }

    fn finish(self) -> Specimen {
        // No copy shows damage to the very last batch (spec: ): so that has no documents.
        self.db.create_collection("end").expect("nothing hinders it");
        let report = self.db.verify(true).expect("it can be read");
        assert!(report.is_clean(), "{:?}", report.problems);
        let Maker { disk, options, live, history, .. } = self;
        Specimen { bytes: bytes_of(&disk), options, live, history }
    }
}

/// A store that has seen everything: checkpoints, cleaned and reused segments, lives, drops, a clear, long documents; and a log that goes on
/// behind the newest checkpoint.
fn lived_in() -> Specimen {
    let mut maker = Maker::new(Options::tiny().checkpoint_bytes(2048));
    maker.put("gone", 1, 40);
    for n in 1..=30i64 {
        maker.put("a", n, 20);
    }
    maker.put("b", "long", 1500);
    maker.put("cleared", 7, 10);
    for round in 0..4 {
        for n in (1..=30i64).filter(|n| n % 3 != round % 3) {
            maker.put("a", n, 30);
        }
        maker.maintain();
    }
    maker.db.drop_collection("gone").expect("nothing hinders it");
    maker.forget("gone");
    maker.db.collection("cleared").clear().expect("nothing hinders it");
    maker.forget("cleared");
    maker.put("cleared", 8, 10);
    for n in 20..=25i64 {
        maker.delete("a", n);
    }
    maker.db.checkpoint().expect("nothing hinders it");
    maker.reopen();
    maker.put("b", "other", 900);
    maker.put("new", "k", 30);
    for n in 1..=8i64 {
        maker.put("a", n, 25);
    }
    maker.delete("a", 9);
    maker.reopen();
    maker.delete("a", 10);
    maker.put("a", 11, 12);
    maker.delete("b", "other");
    maker.put("cleared", 9, 10);
    maker.finish()
}

/// A store of one segment, without a checkpoint.
fn young() -> Specimen {
    let mut maker = Maker::new(Options::tiny().segment_bytes(8192));
    for n in 1..=12i64 {
        maker.put("a", n, 20);
    }
    maker.delete("a", 3);
    maker.put("b", "x", 300);
    maker.reopen();
    maker.put("a", 4, 20);
    maker.delete("a", 5);
    maker.finish()
}

/// A store of one segment, most of which is one commit.
fn loaded() -> Specimen {
    let mut maker = Maker::new(Options::tiny().segment_bytes(8192));
    maker.put("a", 99, 20);
    maker.put_many("a", 30);
    maker.finish()
}

/// A store with a life that the seed settles, up to a moment in the middle of it.
fn random_life(seed: u64) -> Specimen {
    let mut maker = Maker::new(Options::tiny().checkpoint_bytes(1024 << (seed % 4)));
    let mut rng = seed;
    for _ in 0..150 + random(&mut rng) % 100 {
        let name = ["a", "b", "c"][(random(&mut rng) % 3) as usize];
        match random(&mut rng) % 40 {
            0..=22 => {
                let key = (random(&mut rng) % 15) as i64;
                let len = if random(&mut rng).is_multiple_of(10) {
                    700
                } else {
                    8 + (random(&mut rng) % 60) as usize
                };
                maker.put(name, key, len);
            }
            23..=30 => {
                let keys: Vec<_> = maker.live.keys().cloned().collect();
                if let Some((name, key)) = keys.get((random(&mut rng) % 40) as usize) {
                    maker.delete(name, key.clone());
                }
            }
            31 => {
                maker.db.drop_collection(name).expect("nothing hinders it");
                maker.forget(name);
            }
            32 => {
                // There may be none.
                let _ = maker.db.collection(name).clear();
                maker.forget(name);
            }
            33 => maker.db.checkpoint().expect("nothing hinders it"),
            34 => maker.reopen(),
            _ => _ = maker.db.maintain().expect("nothing hinders it"),
        }
    }
    maker.finish()
}

/// What a damaged file must and may give.
struct Verdict {
    report: SalvageReport,
    /// Live documents that came back, in their collection or in a list apart.
    back: Vec<(String, Key)>,
}

impl Specimen {
    fn salvage(&self, bytes: &[u8], what: &str) -> Result<Verdict, Error> {
        let (source, destination) = (disk_of(bytes), Arc::new(MemoryStorage::new()));
        let report = salvage_to(Arc::clone(&source), Arc::clone(&destination))?;
        assert_eq!(bytes_of(&source), bytes, "{what}: the source is as it was");
        let db = Db::open_on(destination, &self.options).expect("it is a sound store");
        let mut back = Vec::new();
        for collection in &report.collections {
            let documents = contents(&db, &collection.name);
            assert_eq!(documents.len() as u64, collection.documents, "{what}: {report:?}");
            for (key, n) in documents {
                let (name, real_key) = &self.history[n as usize];
                assert_eq!(&key, real_key, "{what}: a document is under another key");
                assert!(collection.is_name_made_up || *name == collection.name, "{what}: {report:?}");
                let live = self.live.get(&(name.clone(), key.clone()));
                assert_eq!(live, Some(&n), "{what}: {name}/{key:?} is not what it was: {report:#?}");
                back.push((name.clone(), key));
            }
            let Some(stale) = &collection.stale_name else { continue };
            let documents = contents(&db, stale);
            assert_eq!(documents.len() as u64, collection.stale, "{what}");
            for (key, n) in documents {
                let (name, real_key) = &self.history[n as usize];
                assert_eq!(&key, real_key, "{what}: a document is under another key");
                if self.live.get(&(name.clone(), key.clone())) == Some(&n) {
                    back.push((name.clone(), key));
                }
            }
            // No id is issued twice.
            if let Ok(Key::Int(next)) = db.collection(&collection.name).insert(doc! {}) {
                let largest = back.iter().filter(|(name, _)| *name == collection.name);
                let largest =
                    largest.filter_map(|(_, key)| if let Key::Int(id) = key { Some(*id) } else { None });
                assert!(largest.max().is_none_or(|largest| largest < next), "{what}");
            }
        }
        Ok(Verdict { report, back })
    }

    /// Damages a range, and checks that what stood outside of it is back.
    fn damage(&self, range: std::ops::Range<usize>, how: Damage) -> SalvageReport {
        let what = format!("{how:?} at {}..{}", range.start, range.end);
        let mut bytes = self.bytes.clone();
        let mut seed = range.start as u64;
        for byte in &mut bytes[range.clone()] {
            *byte = match how {
                Damage::Zeros => 0,
                Damage::Noise => random(&mut seed) as u8,
            };
        }
        let Verdict { report, back } = self.salvage(&bytes, &what).expect(&what);
        // A record begins up to so many bytes before the marker in it.
        let near = &self.bytes[range.start.saturating_sub(96)..(range.end + 96).min(self.bytes.len())];
        let mut long = 0;
        for ((name, key), n) in &self.live {
            let mut is_damaged = near.windows(8).any(|window| window == marker(*n));
            if !is_damaged && !back.contains(&(name.clone(), key.clone())) {
                // The list of a long document's chunks has no marker; a sector hits the list of one.
                let count = self.bytes.windows(8).filter(|window| *window == marker(*n)).count();
                is_damaged = count > 40 && long == 0;
                long += 1;
            }
            let is_back = back.contains(&(name.clone(), key.clone()));
            assert!(is_back || is_damaged, "{what}: {name}/{key:?}, number {n}, is lost: {report:#?}");
            let is_told = report.may_miss_more || report.lost.iter().any(|lost| lost.key == *key);
            assert!(is_back || is_told, "{what}: nobody is told that {name}/{key:?} is lost");
        }
        report
    }
}

#[derive(Debug, Clone, Copy)]
enum Damage {
    Zeros,
    Noise,
}

fn contents(db: &Db, name: &str) -> Vec<(Key, i64)> {
    let scan = db.collection(name).scan(..).expect("the report names it");
    scan.map(|doc| {
        let doc = doc.expect("every document can be read");
        let n = doc.get("n").and_then(|n| n.as_i64()).expect("each has a number");
        let filling = doc.get("p").and_then(|p| p.as_bytes().map(<[u8]>::to_vec)).expect("each is filled");
        assert!(filling.iter().zip(marker(n).iter().cycle()).all(|(a, b)| a == b), "a document is mixed up");
        (doc.key().to_key(), n)
    })
    .collect()
}

fn every_sector(specimen: &Specimen) {
    let (mut stale, mut whole, mut sectors) = (0, 0, 0);
    for start in (0..specimen.bytes.len()).step_by(SECTOR) {
        if (512..4096).contains(&start) || (4608..SEGMENTS_START).contains(&start) {
            continue;
        }
        for how in [Damage::Zeros, Damage::Noise] {
            let report = specimen.damage(start..(start + SECTOR).min(specimen.bytes.len()), how);
            sectors += 1;
            stale += u64::from(report.stale > 0);
            whole += u64::from(report.is_complete());
        }
    }
    println!("{sectors} damaged sectors: {whole} without a loss, {stale} with documents that may be stale");
    assert!(stale > 0 && whole > 0);
}

#[test]
fn a_sound_store_is_copied_whole() {
    for specimen in [lived_in(), young()] {
        let Verdict { report, back } = specimen.salvage(&specimen.bytes, "sound").expect("it is sound");
        assert!(report.is_complete() && report.problems.is_empty(), "{report:?}");
        assert_eq!(back.len(), specimen.live.len());
    }
}

//= spec/space.md#p-11-2-proof
//# It MUST go into a list apart, and never into its collection: a collection whose name ends in `.stale`.
//= spec/space.md#p-11-3-ids
//# The next id of a salvaged collection MUST be above every int key that was seen for it anywhere.
//= spec/space.md#p-11-4-the-report
//# Every document that was known to be there and is not in its collection MUST be in the report, with its
//# place.
#[test]
fn after_any_one_damaged_sector_what_is_undamaged_is_back_and_nothing_deleted_is_unmarked() {
    every_sector(&lived_in());
}

//= spec/space.md#p-11-3-ids
//= type=test
//# The next id of a salvaged collection MUST be above every int key that was seen for it anywhere.
#[test]
fn an_id_of_a_commit_that_does_not_count_is_not_given_out_again() {
    let mut maker = Maker::new(Options::tiny().durability(Durability::Synced));
    for id in 1..=5_i64 {
        maker.put("a", id, 40);
    }
    maker.db.flush().expect("memory takes all");
    let written = maker.db.collection("a").with_durability(Durability::Written);
    for (id, number) in [(6_i64, 5), (100, 6)] {
        let document = doc! { "n": number, "p": Value::Bytes(marker(number).to_vec()) };
        written.put(id, document).expect("there is room");
    }
    // The log breaks off though more of it was durable; and behind that, a commit is torn in front of one that is whole.
    let mut bytes = bytes_of(&maker.disk);
    for number in [2, 5] {
        let wanted = marker(number);
        let at = bytes.windows(wanted.len()).position(|at| at == wanted).expect("it was written");
        bytes[at] ^= 0x55;
    }
    let destination = Arc::new(MemoryStorage::new());
    let report = salvage_to(disk_of(&bytes), Arc::clone(&destination)).expect("there is something");
    assert_eq!(report.documents + report.stale, 4, "{report:?}");
    let db = Db::open_on(destination, &maker.options).expect("it is a sound store");
    assert!(!db.collection("a").contains(100).expect("it can be read"));
    assert!(matches!(db.collection("a").insert(doc! {}), Ok(Key::Int(101..))));
}

#[test]
fn a_young_store_survives_any_one_damaged_sector() {
    every_sector(&young());
}

#[test]
fn of_a_damaged_commit_all_that_is_undamaged_is_back() {
    every_sector(&loaded());
}

#[test]
fn whatever_a_store_has_lived_through_a_damaged_sector_brings_nothing_wrong_back() {
    for seed in 0..30 {
        let specimen = random_life(seed);
        let first = SEGMENTS_START + (seed as usize % 7) * SECTOR;
        for start in (first..specimen.bytes.len()).step_by(7 * SECTOR) {
            specimen.damage(start..(start + SECTOR).min(specimen.bytes.len()), Damage::Noise);
        }
        specimen.damage(0..SEGMENTS_START, Damage::Zeros);
    }
}

#[test]
fn without_either_superblock_everything_is_back_where_it_was() {
    for specimen in [lived_in(), young()] {
        for how in [Damage::Zeros, Damage::Noise] {
            let report = specimen.damage(0..SEGMENTS_START, how);
            assert!(report.is_geometry_inferred && report.is_complete(), "{report:#?}");
            assert_eq!(report.documents, specimen.live.len() as u64);
        }
    }
}

//= spec/space.md#p-11-2-proof
//# It MUST go into a list apart, and never into its collection: a collection whose name ends in `.stale`.
#[test]
fn without_any_checkpoint_what_may_be_stale_is_in_lists_apart() {
    let mut stale = 0;
    for specimen in (0..8).map(random_life).chain([lived_in()]) {
        let mut bytes = specimen.bytes.clone();
        for at in (SEGMENTS_START..bytes.len()).step_by(512) {
            if bytes[at..].starts_with(b"HCPK") {
                bytes[at..at + 512].fill(0);
            }
        }
        let Verdict { report, back } = specimen.salvage(&bytes, "no checkpoint").expect("there is the log");
        assert_eq!(back.len(), specimen.live.len(), "{report:#?}");
        assert!(report.stale == 0 || report.may_miss_more, "{report:#?}");
        stale += report.stale;
    }
    assert!(stale > 0, "nothing shows what becomes of it");
}

#[test]
fn of_a_file_cut_anywhere_nothing_wrong_comes_back() {
    for specimen in [lived_in(), young()] {
        let mut salvaged = 0;
        for len in (0..specimen.bytes.len()).step_by(SECTOR / 2) {
            match specimen.salvage(&specimen.bytes[..len], &format!("cut to {len}")) {
                Ok(_) => salvaged += 1,
                // An empty file may be a creation that has just begun.
                Err(Error::Incomplete) if len == 0 => {}
                // There is no log at all.
                Err(Error::NotHolotype { .. } | Error::Corrupt(_)) if len <= SEGMENTS_START => {}
                Err(Error::NotHolotype { .. }) if len < SEGMENTS_START + SECTOR => {}
                Err(error) => panic!("cut to {len}: {error}"),
            }
        }
        assert!(salvaged > 100);
    }
}

//= spec/space.md#p-11-1-what-it-is
//# Salvage MUST NOT write to its source, nor replace a file.
#[test]
fn salvage_writes_one_new_file_and_touches_no_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let (source, rescued) = (directory.path().join("a.holo"), directory.path().join("b.holo"));
    let specimen = young();
    std::fs::write(&source, &specimen.bytes).expect("there is room");
    let report = salvage(&source, &rescued).expect("it is sound");
    assert!(report.is_complete());
    assert_eq!(std::fs::read(&source).expect("it is there"), specimen.bytes);
    let refused = salvage(&source, &rescued).expect_err("it exists");
    assert!(matches!(refused, Error::CannotOpen { .. }), "{refused}");
    let refused = salvage(&source, &source).expect_err("it exists");
    assert!(matches!(refused, Error::CannotOpen { .. }), "{refused}");
    let held = Db::open(&source).expect("it is sound");
    let third = directory.path().join("c.holo");
    assert!(matches!(salvage(&source, &third), Err(Error::Locked { .. })));
    drop(held);
    std::fs::write(&source, b"no store").expect("there is room");
    assert!(matches!(salvage(&source, &third), Err(Error::NotHolotype { .. })));
    assert_eq!(
        std::fs::read_dir(directory.path()).expect("it is there").count(),
        2,
        "nothing is left behind"
    );
}

/// Checks are shown to fail: each mistake that salvage could make turns one of the above red.
#[cfg(feature = "seeded")]
#[test]
fn every_seeded_mistake_of_salvage_is_caught() {
    use holotype::seeded::{Bug, switch_on};
    let checks: [(Bug, fn() -> Specimen); 3] = [
        (Bug::SalvageTakesAllForProven, lived_in),
        (Bug::SalvageForgetsDeletes, lived_in),
        (Bug::SalvageSkipsTornFrames, loaded),
    ];
    for (bug, specimen) in checks {
        switch_on(Some(bug));
        let caught = std::panic::catch_unwind(|| every_sector(&specimen()));
        switch_on(None);
        assert!(caught.is_err(), "{bug:?} turns no check red");
    }
}
