//! What the hot paths ask of the allocator, of the operating system and of memory: figures that no machine changes.

use std::ops::ControlFlow;

use allocation_counter::{AllocationInfo, measure};
use holotype::query::Filter;
use holotype::storage::{Access, FileStorage};
use holotype::{Db, Durability, Options};
use holotype_benches::calls::CountingStorage;
use holotype_benches::fixture::{Store, documents_of};
use holotype_benches::workload::{COUNT, SMALL_FIELDS, Small, UniformIds, small_document};

/// What `call` answers, and what it asks of the allocator on this thread.
fn count<T>(call: impl FnOnce() -> T) -> (T, AllocationInfo) {
    let mut answer = None;
    let counted = measure(|| answer = Some(call()));
    (answer.expect("it was called"), counted)
}

#[test]
fn allocations_are_counted() {
    let (held, counted) = count(|| std::hint::black_box(vec![0_u8; 1000]));
    assert_eq!((held.len(), counted.count_total, counted.bytes_current), (1000, 1, 1000));
}

/// Bytes of one block of the cache.
const BLOCK_BYTES: u64 = 16 << 10;

/// Inserts that a test looks at, once the store's buffers have grown.
const STEADY: u64 = 20_000;

/// How many inserts of class `durability` allocate at all, and how many blocks the log grew by meanwhile.
fn allocating_inserts(durability: Durability) -> (u64, u64) {
    let store = Store::loaded(STEADY, durability);
    for i in 0..STEADY {
        store.documents.insert(small_document(i as i64)).expect("room");
    }
    let value = Small::new(7);
    let before = store.db.stats().log_end;
    let mut allocating = 0;
    for _ in 0..STEADY {
        let (inserted, counted) = count(|| store.documents.insert_as(&value));
        inserted.expect("room");
        allocating += u64::from(counted.count_total > 0);
    }
    (allocating, (store.db.stats().log_end - before) / BLOCK_BYTES + 1)
}

#[test]
fn an_insert_allocates_only_where_the_log_goes_on_in_another_block() {
    for durability in [Durability::Written, Durability::Buffered] {
        let (allocating, blocks) = allocating_inserts(durability);
        // A block's memory is what the insert leaves behind, as is a page of the index.
        let pages = STEADY / 4096 + 2;
        assert!(
            allocating <= 2 * blocks + pages,
            "{durability:?}: {allocating} of {STEADY} inserts allocated, over {blocks} blocks"
        );
    }
}

#[test]
fn a_lazy_get_allocates_only_for_a_record_that_no_block_holds_whole() {
    let store = Store::loaded(COUNT, Durability::Buffered);
    let log_end = store.db.stats().log_end;
    let field = |id: i64| {
        let document = store.documents.get(id).expect("undamaged").expect("it was put there");
        document.get("id").and_then(|id| id.as_i64())
    };
    assert_eq!(field(1), Some(1));
    let mut allocating = 0;
    for id in 1..=COUNT as i64 {
        let (found, counted) = count(|| field(id));
        assert_eq!(found, Some(id));
        allocating += u64::from(counted.count_total > 0);
    }
    // One record may cross the end of each block, and those of the last block are still in the making.
    let block_count = log_end / BLOCK_BYTES + 1;
    let in_last_block = COUNT / (log_end / BLOCK_BYTES) + 1;
    assert!(
        allocating <= block_count + in_last_block,
        "{allocating} of {COUNT} gets allocated, in {block_count} blocks"
    );
}

#[test]
fn a_miss_allocates_nothing() {
    let store = Store::loaded(10_000, Durability::Buffered);
    assert!(store.documents.delete(77).expect("room"));
    assert!(store.documents.get(77).expect("undamaged").is_none());
    for absent in [77i64, 1_000_000, -1, i64::MAX] {
        let (found, counted) = count(|| store.documents.get(absent).expect("undamaged").is_some());
        assert!(!found);
        assert_eq!(counted.count_total, 0, "a get of {absent}");
    }
}

#[test]
fn a_cached_get_asks_nothing_of_the_operating_system() {
    let directory = tempfile::tempdir().expect("a directory for the store");
    let path = directory.path().join("counted.holo");
    let file =
        FileStorage::open(&path, Access::ReadWrite { create: true, create_new: true }).expect("a new file");
    let (storage, calls) = CountingStorage::new(file);
    let db = Db::open_on(storage, &Options::new().durability(Durability::Buffered)).expect("an empty file");
    let documents = documents_of(&db);
    documents.insert_many((1..=10_000).map(small_document)).expect("room");
    db.flush().expect("room");
    assert!(calls.so_far() > 0, "writing goes through the storage that counts");
    let before = calls.so_far();
    for id in UniformIds::new(10_000).take(10_000) {
        let document = documents.get(id).expect("undamaged").expect("it was put there");
        assert_eq!(document.to_document().expect("a document").len(), SMALL_FIELDS);
    }
    assert_eq!(documents.scan(..).expect("it was created").count(), 10_000);
    assert_eq!(calls.so_far(), before);
}

#[test]
fn a_written_insert_is_one_call_and_a_buffered_one_a_small_part_of_one() {
    let calls_each = |durability: Durability| {
        let store = Store::loaded_alone(STEADY, durability);
        let before = store.db.stats();
        for i in 0..STEADY {
            store.documents.insert(small_document(i as i64)).expect("room");
        }
        let after = store.db.stats();
        // Zeros go in front of the log in pieces of 64 KiB.
        let zero_fills = (after.file_bytes - before.file_bytes) / (64 << 10);
        (after.writes - before.writes - zero_fills, after.syncs - before.syncs)
    };
    let (writes, syncs) = calls_each(Durability::Written);
    let segment_ends = 8;
    assert!((STEADY..STEADY + segment_ends).contains(&writes), "{writes} writes");
    assert_eq!(syncs, 0, "the operating system alone holds what is `Written`");
    let (writes, syncs) = calls_each(Durability::Buffered);
    // One at the end of a segment, into which some 950 of these commits go.
    assert!((1..STEADY / 500).contains(&writes), "{writes} writes");
    assert_eq!(syncs, 0);
}

#[test]
fn the_index_keeps_an_auto_id_in_at_most_twelve_bytes() {
    let directory = Store::loaded(COUNT, Durability::Buffered).close();
    let path = holotype_benches::fixture::path_in(directory.path());
    // A cache of nothing: what is held after opening is the index, and what a store holds however small it is.
    let options = Options::new().cache_bytes(0);
    let (db, counted) = count(|| {
        let db = Db::open_with(&path, &options).expect("it was closed in order");
        // Its pages are filled when they are first asked for.
        let documents = documents_of(&db);
        assert!((1..=COUNT as i64).all(|id| documents.contains(id).expect("undamaged")));
        db
    });
    let stats = db.stats();
    assert_eq!(stats.documents, COUNT);
    let held = (counted.bytes_current - stats.cache_bytes as i64) as f64 / COUNT as f64;
    assert!(held <= 12.0, "{held} bytes a document in all");
    let told = stats.index_bytes as f64 / COUNT as f64;
    assert!((8.0..=12.0).contains(&told), "{told} bytes a document by the store's own account");
}

#[test]
fn a_query_that_matches_nothing_allocates_nothing_for_a_document() {
    let store = Store::loaded(STEADY, Durability::Buffered);
    store.db.flush().expect("room");
    let none = Filter::parse("@.absent == 1 && fold(@.name) == 'nobody' || length(@) < 0").expect("a filter");
    let asked = || store.documents.find(&none).count();
    // A document that lies in two blocks is put together.
    let walked = || {
        store.documents.scan(..).expect("it is there").visit(|document| {
            assert!(document.get("absent").is_none());
            ControlFlow::<()>::Continue(())
        })
    };
    // The cache takes a block once it is asked for again.
    for _ in 0..3 {
        assert_eq!(asked().expect("undamaged"), 0);
    }
    let (asked, walked) = (count(asked).1.count_total, count(walked).1.count_total);
    assert!(asked <= walked + 32, "{asked} allocations, and {walked} of a scan");
}
