//! Checkpoints, cleaning and all else that keeps the file small.

use std::collections::BTreeMap;
use std::sync::Arc;

use holotype::storage::sim::{Level, SimDisk};
use holotype::storage::{MemoryStorage, Storage};
use holotype::{Background, Change, Db, Durability, Error, Key, Options, Value, doc};

type Contents = BTreeMap<Key, i64>;

fn tiny() -> Options {
    Options::tiny().background(Background::Manual).checkpoint_bytes(2048)
}

fn open(disk: &Arc<MemoryStorage>) -> Db {
    Db::open_on(Arc::clone(disk), &tiny()).expect("nothing is wrong with the file")
}

fn contents(db: &Db) -> Contents {
    let Ok(scan) = db.collection("a").scan(..) else { return Contents::new() };
    scan.map(|doc| {
        let doc = doc.expect("every document can be read");
        (doc.key().to_key(), doc.get("n").and_then(|n| n.as_i64()).expect("each has a number"))
    })
    .collect()
}

fn check(db: &Db, expected: &Contents, when: &str) {
    assert_eq!(&contents(db), expected, "{when}");
    let report = db.verify(true).expect("it can be read");
    assert!(report.is_clean(), "{when}: {:?}", report.problems);
}

/// SplitMix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

//= spec/space.md#p-1-5-accounts
//# A writer MUST change the accounts in the step that changes the entry that they count.
//= spec/space.md#p-9-1-nothing
//# Checkpoint, cleaning, reuse, shrinking, compaction and backup MUST NOT change what any read answers, nor
//# what version a document has (S-7.5).
//= spec/recovery.md#r-9-6-accounts
//# A writer MUST keep the accounts of P-1.5 through replay as if it placed the records itself: they go on
//# from those of the table, and are those that it would have had without the crash.
//= spec/semantics.md#s-7-5-maintenance
//# Verifying, writing a checkpoint and cleaning MUST NOT change the state.
#[test]
fn a_store_that_is_maintained_at_any_time_holds_what_was_put_there() {
    for seed in 0..24 {
        let disk = Arc::new(MemoryStorage::new());
        let (mut db, mut expected, mut rng) = (open(&disk), Contents::new(), seed);
        for step in 0..400 {
            let when = format!("seed {seed}, step {step}");
            let a = db.collection("a");
            let n = i64::from(step);
            match random(&mut rng) % 24 {
                0..=9 => {
                    let key = Key::Int((random(&mut rng) % 40) as i64);
                    let padding = vec![7; (random(&mut rng) % 60) as usize];
                    a.put(key.clone(), doc! { "n": n, "p": Value::Bytes(padding) }).expect("room");
                    expected.insert(key, n);
                }
                10..=11 => {
                    let key = Key::Text(format!("k{}", random(&mut rng) % 20).as_str().into());
                    let padding = vec![7; (random(&mut rng) % 2000) as usize];
                    a.put(key.clone(), doc! { "n": n, "p": Value::Bytes(padding) }).expect("room");
                    expected.insert(key, n);
                }
                12..=15 => {
                    if let Some(key) = expected.keys().nth((random(&mut rng) % 60) as usize).cloned() {
                        assert!(a.delete(&key).expect("nothing hinders it"));
                        expected.remove(&key);
                    }
                }
                16..=18 => _ = db.maintain().expect("nothing hinders it"),
                19 => db.checkpoint().expect("nothing hinders it"),
                20 => {
                    let report = db.compact_with(|progress| {
                        assert!(progress.steps < 10_000, "{when}: goes on for ever: {:#?}", db.stats());
                        std::ops::ControlFlow::Continue(())
                    });
                    assert!(report.expect("nothing hinders it").is_complete);
                }
                21 => {
                    let mut steps = 0;
                    while db.maintain().expect("nothing hinders it") {
                        steps += 1;
                        assert!(steps < 10_000, "{when}: maintenance goes on for ever: {:#?}", db.stats());
                    }
                }
                22 => {
                    drop(a);
                    db.close().expect("nothing hinders it");
                    db = open(&disk);
                }
                _ => check(&db, &expected, &when),
            }
        }
        check(&db, &expected, "at the end");
        db.close().expect("nothing hinders it");
        check(&open(&disk), &expected, "opened again");
    }
}

//= spec/space.md#p-7-1-what-it-does
//# After it the file SHOULD be at most 1.1 times the live bytes, and a few segments.
//= spec/space.md#p-6-2-bounds
//# With nothing pinned and no segment unreadable, the file MUST be at most 2.0 times the live bytes and 4 segments once no
//# maintenance is due, and at most 3.0 times the live bytes and 4 segments at any moment.
#[test]
fn a_file_that_is_updated_for_ever_stays_small() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a.holo");
    let db = Db::open_with(&path, &Options::new().durability(Durability::Written)).expect("a new store");
    let a = db.collection("a");
    let mut most = 0;
    for round in 0..10i64 {
        for id in 1..=10_000i64 {
            a.put(id, doc! { "n": round, "text": "some words that make it somewhat longer" }).expect("room");
            if id % 500 == 0 {
                most = most.max(std::fs::metadata(&path).expect("it is there").len());
            }
        }
    }
    while db.maintain().expect("nothing hinders it") {}
    let stats = db.stats();
    let live = stats.space.live_bytes + stats.space.checkpoint_bytes;
    let segments = 4 * u64::from(stats.segment_bytes);
    assert!(stats.file_bytes <= 2 * live + segments, "{} for {live}: {stats:#?}", stats.file_bytes);
    assert!(most <= (3 * live + segments).max(live + (4 << 20)), "{most} for {live}");
    db.compact().expect("nothing hinders it");
    let stats = db.stats();
    let (file, live) = (stats.file_bytes, stats.space.live_bytes + stats.space.checkpoint_bytes);
    // Where the store's own thread took the last step before, the log may have reserved a place behind the end of the file.
    let segments = segments + u64::from(stats.segment_bytes);
    assert!(file <= live * 11 / 10 + segments, "{file} for {live}: {stats:#?}");
    assert_eq!(a.len().expect("it is there"), 10_000);
    assert!(db.verify(true).expect("it can be read").is_clean());
}

#[test]
fn a_store_of_which_little_is_left_becomes_as_small_as_it_may_be() {
    // spec: P-6.2, P-7.1. What is left has room in one segment: two checkpoints and two places that the log has reserved stand beside it.
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a.holo");
    let db = Db::open_with(&path, &Options::new().durability(Durability::Written)).expect("a new store");
    let a = db.collection("a");
    for id in 1..=10_000i64 {
        a.put(id, doc! { "n": id, "text": "a few words" }).expect("room");
    }
    for id in (1..=10_000i64).filter(|id| id % 10 != 0) {
        a.delete(id).expect("room");
    }
    while db.maintain().expect("nothing hinders it") {}
    let is_within = |factor: u64, segments: u64, when: &str| {
        let stats = db.stats();
        let live = stats.space.live_bytes + stats.space.checkpoint_bytes;
        let bound = 16_384 + live * factor / 10 + segments * u64::from(stats.segment_bytes);
        assert!(stats.file_bytes <= bound, "{} {when}: {stats:#?}", stats.file_bytes);
    };
    is_within(20, 5, "at rest");
    db.compact().expect("nothing hinders it");
    // As above: the store's own thread may have taken the last step before.
    is_within(11, 5, "once compacted");
    assert_eq!(a.len().expect("it is there"), 1_000);
    assert!(db.verify(true).expect("it can be read").is_clean());
}

//= spec/space.md#p-3-6-freed
//# A writer MUST NOT free a segment before it has looked at every record in it that recovery would replay, up
//# to the end of its last frame.
#[test]
fn cleaning_passes_over_no_commit_that_stands_before_an_opening_frame() {
    // spec. Commits of one hand-over share a sector, also at the front of a segment; the next life begins at the next sector.
    let disk = Arc::new(MemoryStorage::new());
    let options = Options::tiny().sector(512).segment_bytes(4096).checkpoint_bytes(1 << 20);
    let open = || Db::open_on(Arc::clone(&disk), &options).expect("a healthy disk");
    let mut there = 0;
    for life in 0..60 {
        let db = open();
        let a = db.collection("a").with_durability(Durability::Buffered);
        for len in [0, 40 * life as usize, 300] {
            a.put(there, doc! { "n": Value::Bytes(vec![7; len]) }).expect("room");
            there += 1;
        }
        db.flush().expect("a healthy disk");
        std::mem::forget(db);
    }
    let db = open();
    db.collection("a").put(0, doc! {}).expect("room");
    db.compact().expect("a healthy disk");
    assert_eq!(db.stats().space.unreadable_segments, 0);
    db.close().expect("a healthy disk");
    let left = open().collection("a").scan(..).expect("it is there").filter(Result::is_ok).count();
    assert_eq!(left as i64, there);
}

#[test]
fn a_store_that_was_made_smaller_opens_after_it_has_gone_on() {
    // spec: F-4.3. The log reserves no place far behind the end of the file.
    let disk = Arc::new(MemoryStorage::new());
    let options = Options::tiny().sector(128).segment_bytes(1024);
    let open = || Db::open_on(Arc::clone(&disk), &options).expect("nothing is wrong with the file");
    for len in (0..400).step_by(20) {
        let db = open();
        let a = db.collection("a");
        a.put("x", doc! { "b": Value::Bytes(vec![7; len]) }).expect("room");
        a.put("y", doc! {}).expect("room");
        db.compact().expect("nothing hinders it");
        a.delete("x").expect("room");
        std::mem::forget(db);
    }
    assert_eq!(open().collection("a").len().expect("it is there"), 1);
}

#[test]
fn a_place_whose_chunks_are_gone_is_gone() {
    // A list stands behind its chunks, in a segment that may be kept for longer.
    for len in (500..1500).step_by(50) {
        let db = Db::open_on(MemoryStorage::new(), &Options::tiny().cache_bytes(0)).expect("a new store");
        let mut watch = db.watch(0).expect("it begins there");
        db.collection("a").put(1, doc! { "b": Value::Bytes(vec![7; len]) }).expect("room");
        let commit = watch.try_next().expect("a healthy disk").expect("one was made");
        let Some(Change::Put { at, .. }) = commit.changes.last() else { panic!("{commit:?}") };
        assert!(db.document_at(*at).expect("a healthy disk").is_some(), "{len} bytes");
        db.compact().expect("nothing hinders it");
        db.document_at(*at).unwrap_or_else(|error| panic!("{len} bytes: {error}"));
    }
}

//= spec/space.md#p-5-2-who-may-use-it
//# A commit that puts a document MUST be refused as `StorageFull` before it eats into the reserve.
//= spec/space.md#p-5-3-full-disk
//# Once space is given back, by cleaning or by the file system, writes MUST succeed again without reopening.
//= spec/semantics.md#s-8-5-full-disk
//# Deletes MUST find room that other writes leave to them, as far as the reserve of P-5 goes.
#[test]
fn a_full_file_takes_deletes_and_then_documents_again() {
    for (segment_bytes, file, len) in
        [(4096, 1 << 20, 200), (128 << 10, 2 << 20, 300), (128 << 10, 8 << 20, 3000)]
    {
        let options = Options::new().segment_bytes(segment_bytes).max_file_bytes(file);
        let options = options.background(Background::Manual).durability(Durability::Buffered);
        let db = Db::open_on(MemoryStorage::new(), &options).expect("a new store");
        let a = db.collection("a");
        let fill = || {
            (0i64..).take_while(|key| a.put(*key, doc! { "b": Value::Bytes(vec![7; len]) }).is_ok()).count()
        };
        let first = fill();
        assert!(first * len > file as usize / 4, "{first} documents of {len} bytes in {file}");
        for key in 0..first as i64 {
            let deleted = a.delete(key).unwrap_or_else(|error| panic!("{key} of {first}, {file}: {error}"));
            assert!(deleted);
        }
        let again = fill();
        assert!(again * 2 > first, "{again} after {first}");
        assert!(db.verify(true).expect("it can be read").is_clean());
    }
}

#[test]
fn damage_in_what_is_dead_does_not_keep_maintenance_going_for_ever() {
    let disk = Arc::new(MemoryStorage::new());
    let options = Options::new().segment_bytes(4096).background(Background::Manual);
    let db = Db::open_on(Arc::clone(&disk), &options.durability(Durability::Buffered)).expect("a new store");
    for key in 0..300 {
        db.collection("a").put(key, doc! { "n": key, "p": "some more of it" }).expect("room");
    }
    for key in 0..300 {
        db.collection("a").delete(key).expect("room");
    }
    db.flush().expect("a healthy disk");
    let mut byte = [0];
    disk.read_at(16_384 + 2 * 4096 + 2000, &mut byte).expect("memory");
    disk.write_at(16_384 + 2 * 4096 + 2000, &[byte[0] ^ 1]).expect("memory");
    let report = db.compact_with(|progress| {
        assert!(progress.steps < 10_000, "it goes on for ever");
        std::ops::ControlFlow::Continue(())
    });
    assert!(report.expect("nothing hinders it").is_complete);
    assert_eq!(db.stats().space.unreadable_segments, 1);
}

/// Documents with these keys, each of the same length, each in a commit of its own.
fn filled(options: &Options, keys: std::ops::Range<i64>) -> (Arc<MemoryStorage>, Db) {
    let disk = Arc::new(MemoryStorage::new());
    let db = Db::open_on(Arc::clone(&disk), options).expect("a new store");
    for key in keys {
        db.collection("a").put(key, doc! { "n": key, "p": Value::Bytes(vec![7; 40]) }).expect("room");
    }
    (disk, db)
}

//= spec/space.md#p-2-2-what-it-is-of
//# Catalog, id counters, document counts and segment table MUST be copied in the step that chooses c.
#[cfg(feature = "testing")]
#[test]
fn a_checkpoint_is_of_the_moment_at_which_it_was_begun() {
    let (disk, db) = filled(&tiny(), 0..40);
    db.create_collection("b").expect("room");
    let mut checkpoint = db.begin_checkpoint().expect("memory").expect("there are commits");
    // What changes while it is written is in the log behind it, and would be carried out twice if it were in it.
    db.rename_collection("b", "c").expect("room");
    db.create_collection("d").expect("room");
    db.drop_collection("c").expect("room");
    let a = db.collection("a");
    a.insert(doc! { "n": 40 }).expect("room");
    assert!(a.delete(3).expect("memory"));
    while checkpoint.step().expect("memory") {
        a.put(5, doc! { "n": 55 }).expect("room");
    }
    a.put(6, doc! { "n": 66 }).expect("room");
    checkpoint.finish().expect("memory");
    let expected = contents(&db);
    db.flush().expect("memory");
    std::mem::forget(db);
    let db = open(&disk);
    check(&db, &expected, "opened from the checkpoint");
    assert_eq!(db.collections(), ["a", "d"]);
    assert_eq!(db.collection("a").insert(doc! { "n": 0 }).expect("room"), Key::Int(41));
}

//= spec/space.md#p-2-6-at-close
//# A writer SHOULD take a checkpoint when it closes a store whose log since the last one is not short, so
//# that the next opening is.
#[test]
fn a_store_that_is_closed_behind_much_log_takes_a_checkpoint() {
    for (keys, is_taken) in [(0..400, true), (0..2, false)] {
        let options = Options::new().sector(64).segment_bytes(4096).background(Background::Manual);
        let (disk, db) = filled(&options, keys);
        db.close().expect("nothing hinders it");
        let db = Db::open_on(disk, &options).expect("it is sound");
        let behind = db.stats().space.log_since_checkpoint;
        assert_eq!(db.stats().space.checkpoint_bytes > 0, is_taken);
        assert!(!is_taken || behind < 4096, "{behind} bytes of log are read at opening");
    }
}

//= spec/space.md#p-3-1-victims
//# A writer SHOULD choose the one that gives back the most for what it costs, as its accounts tell.
#[test]
fn the_segment_with_the_least_to_move_is_cleaned_first() {
    let options = Options::new().sector(64).segment_bytes(4096).background(Background::Manual);
    let (_, db) = filled(&options, 0..400);
    let a = db.collection("a");
    // Of some segments a third is dead, of one in the middle all but one document.
    for key in (0..300).filter(|key| key % 3 == 0) {
        a.delete(key).expect("room");
    }
    for key in (150..230).filter(|key| key % 20 != 1) {
        a.delete(key).expect("room");
    }
    let mut moved = Vec::new();
    for _ in 0..1000 {
        let before = db.stats().space.relocated_bytes;
        let freed = db.stats().space.reclaimable_bytes;
        if !db.maintain().expect("nothing hinders it") {
            break;
        }
        let stats = db.stats().space;
        if stats.relocated_bytes > before || stats.reclaimable_bytes > freed {
            moved.push(stats.relocated_bytes - before);
        }
    }
    let others = moved[1..].iter().filter(|bytes| **bytes > 4 * moved[0]).count();
    assert!(moved[0] > 0 && others > 3, "{moved:?}");
}

//= spec/space.md#p-3-4-what-is-never-moved
//# Deletes and catalog records MUST NOT be moved, nor any dead record.
#[test]
fn what_is_dead_is_not_moved() {
    let (_, db) = filled(&tiny(), 0..100);
    for key in 0..100 {
        assert!(db.collection("a").delete(key).expect("room"));
    }
    db.compact().expect("nothing hinders it");
    let space = db.stats().space;
    assert!(space.relocated_bytes < 500, "the records that free segments, and nothing else: {space:?}");
    assert!(db.verify(true).expect("it can be read").is_clean());
}

//= spec/space.md#p-3-7-unreadable-victims
//# A record MUST be verified before it is moved.
//= spec/space.md#p-3-7-unreadable-victims
//# A segment with a frame or a live record that does not verify, or that the disk refuses to read, MUST be left
//# as it is, and reported; cleaning goes on with others.
#[test]
fn a_live_record_that_is_damaged_stays_where_it_is() {
    let (disk, db) = filled(&tiny().segment_bytes(4096).cache_bytes(0), 0..200);
    db.flush().expect("memory");
    // In the middle of the body of document 30.
    let mut bytes = vec![0; 4 * 4096];
    let read = disk.read_at(16_384, &mut bytes).expect("memory");
    let wanted = doc! { "n": 30i64, "p": Value::Bytes(vec![7; 40]) }.encode();
    let at = bytes[..read].windows(wanted.len()).position(|bytes| bytes == wanted).expect("it is there") + 20;
    disk.write_at(16_384 + at as u64, &[8]).expect("memory");
    for key in (0..200).filter(|key| key % 10 != 0) {
        db.collection("a").delete(key).expect("room");
    }
    let report = db.compact().expect("nothing hinders it");
    assert!(report.is_complete);
    assert_eq!(db.stats().space.unreadable_segments, 1);
    assert!(db.stats().space.relocated_bytes > 0, "the others go on");
    let mut byte = [0];
    disk.read_at(16_384 + at as u64, &mut byte).expect("memory");
    assert_eq!(byte, [8], "it stands where it stood");
    // Anew, so that nothing of it is in memory.
    db.close().expect("nothing hinders it");
    let db = Db::open_on(disk, &tiny()).expect("a checkpoint lies behind it");
    let found = db.collection("a").get(30).map(|found| found.is_some());
    assert!(matches!(found, Err(holotype::Error::Corrupt(_))), "{found:?}");
    for key in (0..200).step_by(10).filter(|key| *key != 30) {
        assert!(db.collection("a").get(key).expect("it is sound").is_some(), "{key}");
    }
    let problems = db.verify(true).expect("it can be read").problems;
    assert!(!problems.is_empty(), "it is reported");
}

//= spec/space.md#p-3-8-bounded-steps
//# A writer MUST let waiting writers in between two steps.
//= spec/space.md#p-7-1-what-it-does
//# After it the file SHOULD be at most 1.1 times the live bytes, and a few segments.
#[test]
fn a_compacted_file_is_as_small_as_it_gets_whatever_was_done_before() {
    for (seed, count, rounds, left) in
        [(1, 40_000, 4, 1), (2, 40_000, 2, 1), (3, 40_000, 0, 10), (4, 40_000, 0, 2), (5, 20_000, 3, 3)]
    {
        let options = Options::new().durability(Durability::Written).background(Background::Manual);
        let db = Db::open_on(Arc::new(MemoryStorage::new()), &options).expect("nothing hinders it");
        let (a, mut rng) = (db.collection("a"), seed);
        let document = |n: i64| doc! { "n": n, "name": "somebody", "tags": ["a", "b"] };
        a.put_many((0..count).map(|n| (n, document(n)))).expect("room");
        for step in 0..rounds * count {
            a.put((random(&mut rng) % count as u64) as i64, document(step)).expect("room");
            if step % 64 == 0 {
                db.maintain().expect("nothing hinders it");
            }
        }
        for n in (0..count).filter(|n| n % left != 0) {
            a.delete(n).expect("nothing hinders it");
        }
        assert!(db.compact().expect("nothing hinders it").is_complete);
        let stats = db.stats();
        let live = stats.space.live_bytes + stats.space.checkpoint_bytes;
        // The superblocks come before the first segment.
        let most = live * 11 / 10 + 4 * u64::from(stats.segment_bytes) + (16 << 10);
        assert!(
            stats.file_bytes <= most,
            "case {seed}: {} bytes, {most} at most, for {live} that are live",
            stats.file_bytes
        );
    }
}

#[test]
fn others_write_between_two_steps_of_a_compaction() {
    let (_, db) = filled(&tiny(), 0..100);
    for key in (0..100).filter(|key| key % 4 != 0) {
        db.collection("a").delete(key).expect("room");
    }
    let mut written = 0;
    let report = db.compact_with(|_| {
        let other = db.clone();
        // Another thread: this one would not notice that it holds the turn itself.
        let put = std::thread::spawn(move || other.collection("a").put(1000, doc! { "n": 1 }));
        put.join().expect("it does not panic").expect("room");
        written += 1;
        std::ops::ControlFlow::Continue(())
    });
    report.expect("nothing hinders it");
    assert!(written > 5);
    assert!(db.verify(true).expect("it can be read").is_clean());
}

//= spec/space.md#p-2-3-how-it-is-written
//# It MUST NOT relocate a record between the choice of c and the publication: an entry of c would lead to
//# where the record was.
//= spec/space.md#p-3-3-one-step
//# Whether a record is live, and the placing of its relocation, MUST be one step in which nobody else places
//# a commit, and in which nothing is pending.
#[test]
fn those_who_write_while_records_are_moved_and_checkpoints_taken_lose_nothing() {
    let disk = Arc::new(MemoryStorage::new());
    let db = open(&disk);
    let a = db.collection("a").with_durability(Durability::Written);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0..60 {
                (0..20).for_each(|key| a.put(key, doc! { "n": 100 * round + key }).expect("room"));
            }
        });
        let is_over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    db.checkpoint().expect("nothing hinders it");
                }
            });
            while !writer.is_finished() {
                db.maintain().expect("nothing hinders it");
            }
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    });
    let expected: Contents = (0..20).map(|key| (Key::Int(key), 5900 + key)).collect();
    check(&db, &expected, "the last round is there");
    db.flush().expect("memory");
    std::mem::forget((a, db));
    check(&open(&disk), &expected, "opened from the newest checkpoint");
}

//= spec/space.md#p-8-1-what-is-cut
//# The file MUST NOT become shorter than segment 0.
#[test]
fn a_file_never_becomes_shorter_than_its_first_segment() {
    for (segment_bytes, keys) in [(512, 40), (4096, 200), (128 << 10, 2000)] {
        let (_, db) = filled(&tiny().segment_bytes(segment_bytes), 0..keys);
        (0..keys).for_each(|key| _ = db.collection("a").delete(key).expect("room"));
        assert!(db.stats().file_bytes > 16_384 + u64::from(segment_bytes));
        db.compact().expect("nothing hinders it");
        let len = db.stats().file_bytes;
        assert!(len >= 16_384 + u64::from(segment_bytes), "{len}");
    }
}

type Act = Box<dyn FnOnce() + Send>;

/// Does something else, once, when a range is read.
#[derive(Default)]
struct Meddled {
    inner: MemoryStorage,
    at: std::sync::Mutex<Option<(std::ops::Range<u64>, Act)>>,
}

impl std::fmt::Debug for Meddled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}

impl Storage for Meddled {
    fn len(&self) -> std::io::Result<u64> {
        self.inner.len()
    }

    fn set_len(&self, len: u64) -> std::io::Result<()> {
        self.inner.set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> std::io::Result<usize> {
        let mut at = self.at.lock().expect("nobody panics with it");
        let meets = at
            .as_ref()
            .is_some_and(|(range, _)| offset < range.end && range.start < offset + out.len() as u64);
        let act = if meets { at.take() } else { None };
        drop(at);
        if let Some((_, act)) = act {
            act();
        }
        self.inner.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> std::io::Result<usize> {
        self.inner.write_at(offset, bytes)
    }

    fn sync(&self) -> std::io::Result<()> {
        self.inner.sync()
    }
}

//= spec/space.md#p-9-2-places-that-move
//# A read whose record does not verify, or whose segment is not in place, MUST look its key up again, and
//# read again when the answer is another.
#[test]
fn a_record_that_moves_while_it_is_read_is_found_where_it_went() {
    let disk = Arc::new(Meddled::default());
    let options = tiny().cache_bytes(0);
    let db = Db::open_on(Arc::clone(&disk), &options).expect("a new store");
    let a = db.collection("a");
    a.put(-1, doc! { "n": 4711 }).expect("room");
    for key in 0..40 {
        a.put(key, doc! { "n": key, "p": Value::Bytes(vec![7; 40]) }).expect("room");
    }
    db.checkpoint().expect("nothing hinders it");
    drop(a);
    db.close().expect("nothing hinders it");
    // Anew, so that nothing of it is in memory.
    let db = Db::open_on(Arc::clone(&disk), &options).expect("nothing is wrong with it");
    let a = db.collection("a");
    let other = db.clone();
    let act = move || {
        // The record moves, its segment is given out again, and something else is written there.
        let a = other.collection("a");
        (0..40).for_each(|key| _ = a.delete(key).expect("room"));
        other.compact().expect("nothing hinders it");
        for key in 100..200 {
            a.put(key, doc! { "n": key, "p": Value::Bytes(vec![9; 40]) }).expect("room");
        }
    };
    let first_segment = 16_384..16_384 + 512;
    *disk.at.lock().expect("nobody panics with it") = Some((first_segment, Box::new(act)));
    let found = a.get(-1).expect("it is not damaged").expect("it is there");
    assert_eq!(found.get("n").and_then(|n| n.as_i64()), Some(4711));
    assert!(disk.at.lock().expect("nobody panics with it").is_none(), "it was met in the midst of its move");
    assert!(db.stats().space.relocated_bytes > 0);
}

//= spec/space.md#p-4-2-retained-versions
//# A writer MUST NOT give out the place of a segment in which a pinned record stands.
//= spec/space.md#p-4-3-feeds
//# A writer MUST NOT give out the place of a segment that holds a commit which a live feed has not shown yet.
#[test]
fn what_a_snapshot_or_a_feed_still_needs_is_not_given_out_again() {
    for (is_read, is_shown) in [(true, false), (false, true), (true, true)] {
        let (_, db) = filled(&tiny().cache_bytes(0), 0..60);
        let a = db.collection("a");
        let snapshot = is_read.then(|| db.snapshot());
        let mut feed = is_shown.then(|| db.watch(db.stats().lsn).expect("it begins now"));
        for round in 0..4 {
            // Each round supersedes all there is, gives back what it can, and writes over it.
            for key in 0..60 {
                a.put(key, doc! { "n": 100 * (round + 1) + key, "p": Value::Bytes(vec![9; 40]) })
                    .expect("room");
            }
            db.compact().expect("nothing hinders it");
            assert!(db.stats().space.pinned_bytes > 0 || !is_read);
        }
        if let Some(snapshot) = snapshot {
            for key in 0..60 {
                let view = snapshot.collection("a").expect("it was there");
                let found = view.get(key).expect("it is kept").expect("it was there");
                assert_eq!(found.get("n").and_then(|n| n.as_i64()), Some(key));
            }
        }
        if let Some(feed) = feed.as_mut() {
            let mut shown = 0;
            while let Some(commit) = feed.try_next().expect("it is kept") {
                let [Change::Put { key, .. }] = &commit.changes[..] else { panic!("{commit:?}") };
                assert_eq!(key, &Key::Int(shown % 60));
                shown += 1;
            }
            assert_eq!(shown, 240);
        }
    }
}

//= spec/space.md#p-5-4-at-rest
//# A file within the bound of P-6.2 at rest, or into which a document was put since it was cut last, SHOULD NOT be cut before at least
//# half as many bytes of log were written since then as the cut gives back: so that a store that writes little does not take
//# and give back its reserve for ever.
#[test]
fn a_store_that_writes_little_does_not_give_its_reserve_back_for_ever() {
    let updates = |a: &holotype::Collection, round| a.put(round % 20, doc! { "n": round });
    // A queue: what is put is taken out again.
    let queue = |a: &holotype::Collection, round: i64| {
        a.put(100 + round, doc! { "n": round })?;
        a.delete(100 + round).map(drop)
    };
    gives_its_reserve_back_seldom(|a, round| updates(a, round).map(drop));
    gives_its_reserve_back_seldom(queue);
}

fn gives_its_reserve_back_seldom(work: impl Fn(&holotype::Collection, i64) -> holotype::Result<()>) {
    let (_, db) = filled(&tiny().segment_bytes(4096), 0..20);
    let begun = db.stats();
    let (mut cuts, mut given_back) = (0, 0);
    for round in 0..600 {
        work(&db.collection("a"), round).expect("room");
        loop {
            let before = db.stats().file_bytes;
            if !db.maintain().expect("nothing hinders it") {
                break;
            }
            let cut = before.saturating_sub(db.stats().file_bytes);
            (cuts, given_back) = (cuts + u64::from(cut > 0), given_back + cut);
        }
    }
    let written = db.stats().log_end - begun.log_end;
    // What it had to spare at the beginning was written before that.
    let most = 2 * written + begun.file_bytes;
    assert!(given_back <= most, "{given_back} given back in {cuts} cuts, {written} written");
    assert!(cuts > 1);
}

//= spec/recovery.md#r-5-4-new-incarnation
//= type=test
//# Where the opening frame finds no room, and so nothing of the incarnation is handed over, the writer MUST
//# keep it for its next attempt, and write no slot for it again: a call that is tried again and again on a
//# full disk would use up the incarnations.
#[test]
fn a_put_that_is_refused_again_and_again_writes_one_slot() {
    let disk = SimDisk::new(512, Level::Sectors);
    disk.set_capacity(Some(68 << 10));
    let options = Options::tiny().sector(512).segment_bytes(4096);
    let body = doc! { "b": Value::Bytes(vec![7; 1024]) };
    let (mut count, mut refused) = (0, Vec::new());
    let mut db = Db::open_on(disk.clone(), &options).expect("a new store");
    // Until one life more finds no room at all, nor anything to win back.
    for _ in 0..20 {
        refused.clear();
        while refused.len() < 10 {
            match db.collection("a").put(count, &body) {
                Ok(()) => count += 1,
                Err(Error::StorageFull { .. }) => refused.push(db.stats().superblock_generation),
                Err(error) => panic!("{error}"),
            }
        }
        db.close().expect("nothing is in the way");
        db = Db::open_on(disk.clone(), &options).expect("it was closed");
    }
    assert_eq!(refused[0], refused[9]);
    for key in 0..count {
        assert!(db.collection("a").delete(key).expect("there is room for deletes"));
    }
    while db.maintain().expect("nothing is in the way") {}
    db.collection("a").put(-1, &body).expect("there is room again");
}

/// Checks are shown to fail: an incarnation for each refusal turns the check above red.
#[cfg(feature = "seeded")]
#[test]
fn an_incarnation_for_each_refusal_is_noticed() {
    use holotype::seeded::{Bug, assert_noticed};
    assert_noticed(Bug::IncarnationForEachRefusal, a_put_that_is_refused_again_and_again_writes_one_slot);
}

/// Checks are shown to fail: a place that is given out too soon turns the check above red.
#[cfg(feature = "seeded")]
#[test]
fn a_place_that_is_given_out_too_soon_is_noticed() {
    use holotype::seeded::{Bug, switch_on};
    for bug in [Bug::PinsIgnored, Bug::WatchersIgnored] {
        switch_on(Some(bug));
        let check = std::panic::catch_unwind(what_a_snapshot_or_a_feed_still_needs_is_not_given_out_again);
        switch_on(None);
        assert!(check.is_err(), "{bug:?} goes unnoticed");
    }
}
