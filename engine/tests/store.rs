//! The store through its public face, in memory and on a real file.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Db, Document, Durability, Error, IndexDefinition, Key, Options, Value, doc};

fn n(value: i64) -> Document {
    doc! { "n": value }
}

fn value_of(document: Option<holotype::DocRef>) -> Option<i64> {
    document?.get("n")?.as_i64()
}

fn ids(keys: holotype::Keys) -> Vec<String> {
    keys.map(|key| key.expect("a healthy store").to_string()).collect()
}

//= spec/semantics.md#s-4-6-put
//# A put MUST leave the given document under the given key, whether or not there was one.
//= spec/semantics.md#s-4-8-insert-with-a-key
//# An insert with a key MUST be refused as `KeyExists` when the key has a document, and else put the
//# document.
//= spec/semantics.md#s-4-9-replace
//# A replace MUST put the document when the key has one, and else change nothing; it answers whether the key
//# had one.
//= spec/semantics.md#s-4-10-delete
//# A delete MUST leave the key without a document, and answer whether it had one.
//= spec/semantics.md#s-5-1-point-reads
//# `get` MUST answer the document of the key, equal to the one that was put, or that there is none;
//# `contains` MUST answer whether there is one.
//= spec/semantics.md#s-5-2-count
//# `len` MUST answer the number of documents in the collection.
#[test]
fn what_is_put_is_read_until_it_is_replaced_or_deleted() {
    let db = Db::in_memory();
    let notes = db.collection("notes");
    assert_eq!(notes.insert(n(1)).unwrap(), Key::Int(1));
    notes.put("a", n(2)).unwrap();
    assert_eq!(value_of(notes.get(1).unwrap()), Some(1));
    assert_eq!(value_of(notes.get("a").unwrap()), Some(2));
    assert!(notes.replace("a", n(3)).unwrap());
    assert!(!notes.replace("b", n(3)).unwrap(), "there is nothing to replace");
    assert_eq!(value_of(notes.get("a").unwrap()), Some(3));
    assert!(matches!(notes.insert_with_key("a", n(4)), Err(Error::KeyExists { .. })));
    assert_eq!(notes.len().unwrap(), 2);
    assert!(notes.delete("a").unwrap());
    assert!(!notes.delete("a").unwrap());
    assert!(notes.get("a").unwrap().is_none());
    assert!(!notes.contains("a").unwrap());
    assert_eq!(notes.len().unwrap(), 1);
}

//= spec/semantics.md#s-3-2-the-first-write-creates
//# A write into a name that no collection has MUST create the collection in the same commit, unless the write
//# can only change what is there (replace, delete, S-3.3).
//= spec/semantics.md#s-3-3-unknown-collection
//# A read of a name that no collection has, a replace or a delete in one MUST be refused as
//# `UnknownCollection`.
//= spec/semantics.md#s-3-4-creation
//# Creating a collection MUST be possible when it is there already: the call answers false, and true when it
//# created one.
#[test]
fn a_collection_comes_with_its_first_write_and_reads_before_say_so() {
    let db = Db::in_memory();
    let notes = db.collection("notes");
    assert!(matches!(notes.get(1), Err(Error::UnknownCollection { name }) if name == "notes"));
    assert!(matches!(notes.len(), Err(Error::UnknownCollection { .. })));
    assert!(matches!(notes.delete(1), Err(Error::UnknownCollection { .. })));
    assert!(matches!(notes.replace(1, n(1)), Err(Error::UnknownCollection { .. })));
    assert_eq!(db.collections(), Vec::<String>::new());
    notes.insert(n(1)).unwrap();
    assert_eq!(db.collections(), ["notes"]);
    assert!(!db.create_collection("notes").unwrap());
    assert!(db.create_collection("empty").unwrap());
    assert!(db.collection("empty").is_empty().unwrap());
}

//= spec/semantics.md#s-3-6-drop
//# Dropping a collection MUST remove its name, its documents and its largest id in one commit, and answer
//# whether there was one.
#[test]
fn a_dropped_collection_is_gone_and_its_name_begins_anew() {
    let db = Db::in_memory();
    let notes = db.collection("notes");
    notes.insert_many([n(1), n(2)]).unwrap();
    assert!(db.drop_collection("notes").unwrap());
    assert!(!db.drop_collection("notes").unwrap());
    assert!(matches!(notes.len(), Err(Error::UnknownCollection { .. })));
    assert_eq!(notes.insert(n(3)).unwrap(), Key::Int(1), "a new collection counts from 1");
    assert_eq!(notes.len().unwrap(), 1);
}

//= spec/semantics.md#s-3-7-clear
//# Clearing a collection MUST remove all its documents in one commit, keep its name and its largest id, and
//# answer whether there was such a collection.
//= spec/semantics.md#s-3-8-rename
//# Renaming a collection MUST move its documents and its largest id to the new name in one commit, and answer
//# whether there was such a collection.
//= spec/semantics.md#s-3-8-rename
//# A rename to a name that a collection has already MUST be refused as `InvalidName`.
#[test]
fn a_cleared_collection_keeps_its_counter_and_a_renamed_one_its_documents() {
    let db = Db::in_memory();
    let notes = db.collection("notes");
    notes.insert_many([n(1), n(2)]).unwrap();
    notes.clear().unwrap();
    assert!(notes.is_empty().unwrap());
    assert_eq!(notes.insert(n(3)).unwrap(), Key::Int(3));
    assert!(db.rename_collection("notes", "old").unwrap());
    assert!(matches!(notes.len(), Err(Error::UnknownCollection { .. })));
    assert_eq!(value_of(db.collection("old").get(3).unwrap()), Some(3));
    notes.insert(n(4)).unwrap();
    assert!(matches!(db.rename_collection("notes", "old"), Err(Error::InvalidName { .. })));
}

//= spec/semantics.md#s-2-1-nothing-changes
//# A call that is refused, or that reports that it failed, MUST leave the state as it was.
//= spec/semantics.md#s-2-3-key-limit
//# A write that names a text or bytes key of more than 1,024 bytes of payload MUST be refused as
//# `KeyTooLong`.
//= spec/semantics.md#s-3-1-names
//# A creation of, a rename to, an insert or a put into any other name MUST be refused as `InvalidName`.
#[test]
fn names_and_keys_out_of_bounds_are_refused_and_change_nothing() {
    let db = Db::in_memory();
    for name in ["", "$reserved", &"x".repeat(256)] {
        assert!(matches!(db.collection(name).insert(n(1)), Err(Error::InvalidName { .. })), "{name:?}");
    }
    db.collection("x".repeat(255)).insert(n(1)).unwrap();
    let notes = db.collection("notes");
    let long = "k".repeat(1025);
    assert!(matches!(notes.put(long.as_str(), n(1)), Err(Error::KeyTooLong { len: 1025, max: 1024 })));
    notes.put(&long[..1024], n(1)).unwrap();
    assert_eq!(notes.len().unwrap(), 1);
}

//= spec/semantics.md#s-4-1-insert-assigns-the-next-id
//# An insert MUST put the document under the int key that is 1 above the collection's largest id, and answer
//# that key.
//= spec/semantics.md#s-4-2-largest-id
//# A put under an int key above the largest id MUST make that key the largest id, whichever call puts.
//= spec/semantics.md#s-4-2-largest-id
//# A store MUST NOT lower the largest id of a collection: not by a delete, a clear, a rename, cleaning, a
//# crash or reopening.
//= spec/semantics.md#s-4-4-ids-run-out
//# An insert that needs an id above 9,223,372,036,854,775,807 MUST be refused as `IdsExhausted`.
#[test]
fn ids_follow_the_largest_key_ever_put_and_end_with_the_integers() {
    let disk = Arc::new(MemoryStorage::new());
    {
        let notes = Db::open_on(Arc::clone(&disk), &Options::new()).unwrap().collection("notes");
        notes.put(-5, n(0)).unwrap();
        assert_eq!(notes.insert(n(1)).unwrap(), Key::Int(1));
        notes.put(10, n(10)).unwrap();
        assert_eq!(notes.insert(n(11)).unwrap(), Key::Int(11));
        assert!(notes.delete(11).unwrap());
    }
    let notes = Db::open_on(disk, &Options::new()).unwrap().collection("notes");
    assert_eq!(
        notes.insert(n(12)).unwrap(),
        Key::Int(12),
        "a deleted id is not issued again, not after a reopen either"
    );
    notes.put(i64::MAX, n(0)).unwrap();
    assert!(matches!(notes.insert(n(0)), Err(Error::IdsExhausted)));
    assert!(matches!(notes.insert_many([n(0)]), Err(Error::IdsExhausted)));
    notes.put("still", n(1)).unwrap();
}

//= spec/semantics.md#s-2-5-depth-limit
//# A write of a document in which arrays and objects nest deeper than 128 levels, the document being level 1,
//# MUST be refused as `TooDeep`.
//= spec/semantics.md#s-4-5-insert-of-many
//# An insert of many documents MUST put them under successive ids, in the order given, in one commit, and
//# answer the keys in that order.
#[test]
fn insert_many_is_one_commit_and_a_bad_document_in_it_leaves_nothing() {
    let db = Db::in_memory();
    let notes = db.collection("notes");
    let keys = notes.insert_many((0..1000).map(n)).unwrap();
    assert_eq!((keys.len(), keys[999].clone()), (1000, Key::Int(1000)));
    let lsn = db.stats().lsn;
    assert_eq!(notes.insert_many(Vec::<Document>::new()).unwrap(), []);
    assert_eq!(db.stats().lsn, lsn, "an empty batch is no commit");
    let mut deep = Value::Int(1);
    for _ in 0..200 {
        deep = Value::Array(vec![deep]);
    }
    assert!(matches!(notes.insert_many([n(1), doc! { "deep": deep }]), Err(Error::TooDeep { .. })));
    assert_eq!((notes.len().unwrap(), db.stats().lsn), (1000, lsn));
}

//= spec/semantics.md#s-5-3-order-of-a-scan
//# A scan MUST answer the keys and documents of one state in the order of the keys, ascending, or descending
//# when asked to.
//= spec/semantics.md#s-5-4-range
//# A scan of a range MUST answer exactly the keys that satisfy both bounds, each of which includes its key,
//# excludes it, or is absent.
#[test]
fn scans_go_by_key_in_either_direction_within_any_bounds() {
    let db = Db::in_memory();
    let mixed = db.collection("mixed");
    mixed.put("b", n(1)).unwrap();
    mixed.put(&[0xFFu8, 1][..], n(2)).unwrap();
    mixed.put(-1, n(3)).unwrap();
    mixed.put("a", n(4)).unwrap();
    mixed.put(7, n(5)).unwrap();
    let all = ["-1", "7", "\"a\"", "\"b\"", "0xff01"];
    assert_eq!(ids(mixed.keys(..).unwrap()), all);
    let mut reversed = ids(mixed.keys(..).unwrap().reversed());
    reversed.reverse();
    assert_eq!(reversed, all);
    assert_eq!(ids(mixed.keys(0..).unwrap()), all[1..]);
    assert_eq!(ids(mixed.keys(..=7).unwrap()), all[..2]);
    assert_eq!(ids(mixed.keys("a".."b").unwrap()), all[2..3]);
    assert_eq!(
        ids(mixed.keys((Bound::Included(9), Bound::Excluded(3))).unwrap()),
        Vec::<String>::new(),
        "an inverted range is empty"
    );
    let mut walk = mixed.keys(..).unwrap();
    assert_eq!(walk.next().unwrap().unwrap(), Key::Int(-1));
    assert_eq!(ids(walk.reversed()), ["0xff01", "\"b\"", "\"a\"", "7"], "what is left, from its other end");
}

//= spec/semantics.md#s-5-5-prefix
//# A scan of a prefix MUST answer exactly the keys of the prefix's kind, text or bytes, whose payload begins
//# with that of the prefix.
#[test]
fn prefixes_end_where_they_should() {
    let db = Db::in_memory();
    let c = db.collection("c");
    for key in ["a", "ab", "ab\u{10FFFF}", "ac", "b", "\u{D7FF}x", "\u{E000}"] {
        c.put(key, n(0)).unwrap();
    }
    for key in [&[1u8][..], &[1, 0xFF], &[1, 0xFF, 3], &[2], &[0xFF, 0xFF]] {
        c.put(key, n(0)).unwrap();
    }
    let text = |prefix: &str| c.scan_prefix(prefix).unwrap().filter(Result::is_ok).count();
    assert_eq!(["a", "ab", "ab\u{10FFFF}", "\u{D7FF}", "", "z"].map(text), [4, 2, 1, 1, 7, 0]);
    let bytes = |prefix: &[u8]| c.scan_prefix_bytes(prefix).unwrap().count();
    assert_eq!([&[1u8][..], &[1, 0xFF], &[0xFF], &[], &[3]].map(bytes), [3, 2, 1, 5, 0]);
}

//= spec/semantics.md#s-5-3-order-of-a-scan
//# A scan MUST answer the keys and documents of one state in the order of the keys, ascending, or descending
//# when asked to.
#[test]
fn a_scan_sees_the_state_that_it_began_with() {
    let db = Db::in_memory();
    let c = db.collection("c");
    c.insert_many((1..=1000).map(n)).unwrap();
    let mut scan = c.scan(..).unwrap();
    let backwards = c.scan(..).unwrap().reversed();
    assert_eq!(value_of(Some(scan.next().unwrap().unwrap())), Some(1));
    for id in 1..=1000 {
        match id % 3 {
            0 => assert!(c.delete(id).unwrap()),
            1 => c.put(id, n(-id)).unwrap(),
            _ => {}
        }
    }
    c.insert_many((1..=100).map(n)).unwrap();
    assert!(db.stats().retained_versions > 0);
    let seen: Vec<_> = scan.map(|doc| value_of(Some(doc.unwrap())).unwrap()).collect();
    assert_eq!(seen, (2..=1000).collect::<Vec<_>>());
    db.drop_collection("c").unwrap();
    let seen: Vec<_> = backwards.map(|doc| value_of(Some(doc.unwrap())).unwrap()).collect();
    assert_eq!(seen, (1..=1000).rev().collect::<Vec<_>>());
    assert_eq!((db.stats().retained_versions, db.stats().snapshots), (0, 0), "nothing is kept for nobody");
}

#[test]
fn the_memory_of_indexes_is_told_until_it_is_given_back() {
    let db = Db::in_memory();
    let c = db.collection("c");
    c.insert_many((1..=1000).map(n)).unwrap();
    let of_documents = db.stats().index_bytes;
    c.create_index(IndexDefinition::new("by_n", ["$.n"]).unwrap()).unwrap();
    let of_both = db.stats().index_bytes;
    assert!(of_documents >= 8 * 1000 && of_both > 2 * of_documents, "{of_documents} and {of_both}");
    let snapshot = db.snapshot();
    db.rename_collection("c", "d").unwrap();
    assert_eq!(db.stats().index_bytes, of_both, "what has two names is there once");
    db.drop_collection("d").unwrap();
    assert_eq!(db.stats().index_bytes, of_both, "a snapshot sees it still");
    drop(snapshot);
    db.create_collection("other").unwrap();
    assert_eq!(db.stats().index_bytes, 0, "nothing is kept for nobody");
}

#[test]
fn documents_longer_than_a_segment_are_kept_whole() {
    let disk = Arc::new(MemoryStorage::new());
    let options = Options::new().segment_bytes(4096);
    let text = |len: usize| (0..len).map(|i| char::from(b'a' + (i % 26) as u8)).collect::<String>();
    let lens = [3000, 3900, 3960, 4000, 4096, 10_000, 100_000, 700_000];
    {
        let db = Db::open_on(Arc::clone(&disk), &options).unwrap();
        for len in lens {
            db.collection("long").put(len as i64, doc! { "text": text(len) }).unwrap();
        }
        assert!(db.verify(true).unwrap().is_clean());
        let huge = db.collection("long").put(1, doc! { "text": text(3_000_000) });
        assert!(matches!(huge, Err(Error::DocumentTooLarge { max, .. }) if max == 758_632), "{huge:?}");
    }
    let db = Db::open_on(disk, &options).unwrap();
    for len in lens {
        let found = db.collection("long").get(len as i64).unwrap().unwrap();
        assert_eq!(found.get("text").and_then(|found| found.as_str()), Some(text(len).as_str()));
    }
    assert!(db.verify(true).unwrap().is_clean());
}

//= spec/semantics.md#s-6-6-close
//# When a store has been closed with success, every commit MUST survive a power cut.
//= spec/semantics.md#s-7-4-reopening
//# Reopening a store that was closed with success MUST give the state after Cn.
//= spec/format.md#f-7-4-order-in-a-commit
//# A record MUST follow the catalog record that creates its collection in the log.
#[test]
fn every_durability_class_is_there_after_a_close() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.holo");
    {
        let db = Db::open(&path).unwrap();
        for (i, class) in
            [Durability::Buffered, Durability::Written, Durability::Synced].into_iter().enumerate()
        {
            db.collection("c").with_durability(class).insert(n(i as i64)).unwrap();
        }
        db.collection("c").with_durability(Durability::Buffered).insert(n(3)).unwrap();
        db.close().unwrap();
    }
    let db = Db::open(&path).unwrap();
    let found: Vec<_> =
        db.collection("c").scan(..).unwrap().map(|doc| value_of(Some(doc.unwrap())).unwrap()).collect();
    assert_eq!(found, [0, 1, 2, 3]);
}

#[test]
fn one_process_writes_and_a_closed_store_refuses() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.holo");
    let db = Db::open(&path).unwrap();
    db.collection("c").insert(n(1)).unwrap();
    assert!(matches!(Db::open(&path), Err(Error::Locked { path: at }) if at == path));
    let other = db.clone();
    db.close().unwrap();
    assert!(matches!(other.collection("c").insert(n(2)), Err(Error::Closed)));
    assert_eq!(value_of(other.collection("c").get(1).unwrap()), Some(1), "reads go on");
    drop(other);
    let reader = Db::open_with(&path, &Options::new().read_only(true)).unwrap();
    let second = Db::open_with(&path, &Options::new().read_only(true)).unwrap();
    assert!(matches!(reader.collection("c").insert(n(2)), Err(Error::ReadOnly)));
    assert_eq!(value_of(second.collection("c").get(1).unwrap()), Some(1));
    assert!(second.verify(true).unwrap().is_clean());
}

#[test]
fn paths_that_cannot_be_a_store_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    assert!(Db::open(directory.path()).is_err());
    let missing = directory.path().join("missing.holo");
    let opened = Db::open_with(&missing, &Options::new().create(false));
    assert!(matches!(opened, Err(Error::NotFound { .. })), "{opened:?}");
    let text = directory.path().join("text.txt");
    std::fs::write(&text, "this is not a store\n".repeat(2000)).unwrap();
    assert!(matches!(Db::open(&text), Err(Error::NotHolotype { .. })));
    assert_eq!(std::fs::read_to_string(&text).unwrap().len(), 40_000, "and is left as it was");
}

#[test]
fn an_empty_store_takes_at_most_64_kib() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.holo");
    drop(Db::open(&path).unwrap());
    assert!(std::fs::metadata(&path).unwrap().len() <= 65_536);
}

//= spec/semantics.md#s-8-5-full-disk
//# A write that finds no room MUST fail, and leave the store able to read, and to write again once there is
//# room.
//= spec/durability.md#d-5-1-before-the-acknowledgement
//# A want of room MUST show before the commit is acknowledged, as a failure of its call or of a call in front
//# of it.
#[test]
fn a_full_file_refuses_and_loses_nothing() {
    let db = Db::open_on(MemoryStorage::new(), &Options::new().segment_bytes(4096).max_file_bytes(57_344))
        .unwrap();
    let c = db.collection("c").with_durability(Durability::Written);
    let mut count = 0i64;
    let full = loop {
        match c.insert(doc! { "n": count, "text": "x".repeat(200) }) {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(full, Error::StorageFull { .. }), "{full}");
    assert!(count > 10);
    assert_eq!(c.len().unwrap(), count as u64);
    assert!(db.verify(true).unwrap().is_clean());
    db.flush().unwrap();
}

//= spec/semantics.md#s-1-4-all-or-nothing
//# A store MUST NOT show a state that holds a part of a commit, to any reader, at any time, or after any
//# crash.
//= spec/transactions.md#t-1-2-the-visible-state
//# The visible state MUST NOT go back while a store is open.
//= spec/transactions.md#t-1-3-whole-commits
//# A reader MUST see all changes of a commit, or none.
#[test]
fn readers_on_other_threads_see_whole_commits() {
    let db = Db::in_memory();
    let c = db.collection("c").with_durability(Durability::Written);
    c.put_many([("a", n(0)), ("b", n(0))]).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    let seen: Vec<_> =
                        c.scan("a"..="b").unwrap().map(|doc| value_of(Some(doc.unwrap())).unwrap()).collect();
                    assert_eq!(seen.len(), 2);
                    assert_eq!(seen[0], seen[1], "a commit is seen whole");
                    assert!(seen[0] >= last, "time does not go back");
                    last = value_of(c.get("a").unwrap()).unwrap();
                    assert!(last >= seen[0]);
                }
            });
        }
        for i in 1..3000 {
            c.put_many([("a", n(i)), ("b", n(i))]).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// A storage that answers no more once `broken` is set, and has no room for a write while `full` is.
#[derive(Debug, Default)]
struct Breakable {
    inner: MemoryStorage,
    broken: AtomicBool,
    full: AtomicBool,
}

impl Storage for Breakable {
    fn len(&self) -> std::io::Result<u64> {
        self.inner.len()
    }

    fn set_len(&self, len: u64) -> std::io::Result<()> {
        self.inner.set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> std::io::Result<usize> {
        if self.broken.load(Ordering::Relaxed) {
            return Err(std::io::Error::other("unplugged"));
        }
        self.inner.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> std::io::Result<usize> {
        if self.broken.load(Ordering::Relaxed) {
            return Err(std::io::Error::other("unplugged"));
        }
        if self.full.load(Ordering::Relaxed) {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.inner.write_at(offset, bytes)
    }

    fn sync(&self) -> std::io::Result<()> {
        self.inner.sync()
    }
}

//= spec/semantics.md#s-8-3-no-writes-after-an-unknown-outcome
//# After a write or a flush whose outcome is unknown, a store MUST refuse each further write and flush with a
//# failure until it is reopened.
//= spec/durability.md#d-4-2-stopping-is-for-good
//# A store that has stopped writing MUST NOT begin to write again through the same handle, whatever later
//# calls of the storage return.
#[test]
fn after_a_failed_write_the_handle_writes_no_more_and_what_it_holds_can_be_read() {
    let disk = Arc::new(Breakable::default());
    let db = Db::open_on(Arc::clone(&disk), &Options::new()).unwrap();
    let c = db.collection("c");
    c.insert(n(1)).unwrap();
    disk.broken.store(true, Ordering::Relaxed);
    assert!(matches!(c.insert(n(2)), Err(Error::Io { .. })));
    disk.broken.store(false, Ordering::Relaxed);
    assert!(matches!(c.insert(n(3)), Err(Error::Poisoned { .. })));
    assert!(matches!(db.flush(), Err(Error::Poisoned { .. })));
    assert_eq!(value_of(c.get(1).unwrap()), Some(1));
    assert_eq!(c.len().unwrap(), 1);
    drop((c, db));
    let reopened = Db::open_on(disk, &Options::new()).unwrap();
    assert_eq!(reopened.collection("c").len().unwrap(), 1);
    reopened.collection("c").insert(n(4)).unwrap();
}

#[test]
fn a_scan_ends_after_its_first_error() {
    let disk = Arc::new(Breakable::default());
    {
        let db = Db::open_on(Arc::clone(&disk), &Options::new()).unwrap();
        db.collection("c").insert_many((0..10_000).map(n)).unwrap();
    }
    let db = Db::open_on(Arc::clone(&disk), &Options::new().cache_bytes(0)).unwrap();
    let mut scan = db.collection("c").scan(..).unwrap();
    assert!(scan.next().unwrap().is_ok());
    disk.broken.store(true, Ordering::Relaxed);
    let rest: Vec<_> = scan.by_ref().collect();
    assert!(rest[..rest.len() - 1].iter().all(Result::is_ok), "an error comes last");
    assert!(rest[rest.len() - 1].is_err());
    disk.broken.store(false, Ordering::Relaxed);
    assert!(scan.next().is_none(), "what follows an error is not what follows");
}

//= spec/space.md#p-5-3-full-disk
//# Once space is given back, by cleaning or by the file system, writes MUST succeed again without reopening.
//= spec/semantics.md#s-8-5-full-disk
//# A write that finds no room MUST fail, and leave the store able to read, and to write again once there is
//# room.
//= spec/semantics.md#s-8-5-full-disk
//# A store MUST NOT let a write that failed for want of room take effect later.
#[test]
fn what_found_no_room_is_taken_back_and_never_comes_later() {
    let disk = Arc::new(Breakable::default());
    let db = Db::open_on(Arc::clone(&disk), &Options::new()).unwrap();
    let c = db.collection("c");
    c.put(1, n(1)).unwrap();
    disk.full.store(true, Ordering::Relaxed);
    for _ in 0..2 {
        assert!(matches!(c.insert_with_key(2, n(2)), Err(Error::StorageFull { .. })));
        assert!(!c.contains(2).unwrap());
    }
    assert_eq!(value_of(c.get(1).unwrap()), Some(1), "reads go on");
    disk.full.store(false, Ordering::Relaxed);
    assert!(!c.delete(99).unwrap());
    assert!(!c.contains(2).unwrap(), "a call that has nothing to do with it does not bring it");
    c.insert_with_key(2, n(20)).unwrap();
    assert!(db.verify(true).unwrap().is_clean());
    drop((c, db));
    let c = Db::open_on(disk, &Options::new()).unwrap().collection("c");
    assert_eq!((value_of(c.get(2).unwrap()), c.len().unwrap()), (Some(20), 2));
}

#[test]
fn a_close_after_a_full_disk_seals_what_was_taken_back() {
    let disk = Arc::new(Breakable::default());
    let db = Db::open_on(Arc::clone(&disk), &Options::new()).unwrap();
    db.collection("c").put(1, n(1)).unwrap();
    disk.full.store(true, Ordering::Relaxed);
    assert!(matches!(db.collection("c").put(2, n(2)), Err(Error::StorageFull { .. })));
    disk.full.store(false, Ordering::Relaxed);
    db.close().unwrap();
    let db = Db::open_on(disk, &Options::new()).unwrap();
    assert_eq!(ids(db.collection("c").keys(..).unwrap()), ["1"]);
}

#[test]
fn documents_that_are_made_from_the_store_itself_can_be_put_into_it() {
    let db = Db::in_memory();
    let c = db.collection("c");
    c.insert_many((0..3).map(n)).unwrap();
    let copies = c.scan(..).unwrap().map(|doc| {
        c.put("touched", n(1)).unwrap();
        doc.unwrap().to_document().unwrap()
    });
    assert_eq!(c.insert_many(copies).unwrap().len(), 3);
    assert_eq!(c.len().unwrap(), 7);
}

#[test]
fn a_file_of_the_length_of_a_new_store_that_is_somebody_elses_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mine");
    for place in [0, 16_384] {
        let mut bytes = vec![0; 65_536];
        bytes[place..place + 8].copy_from_slice(b"precious");
        std::fs::write(&path, &bytes).unwrap();
        assert!(matches!(Db::open(&path), Err(Error::NotHolotype { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
}

//= spec/recovery.md#r-5-4-new-incarnation
//# Where a slot was invalid, a writer MUST do this at opening.
#[test]
fn a_deep_check_tells_of_a_damaged_slot_before_the_next_writer_mends_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.holo");
    {
        let db = Db::open(&path).unwrap();
        db.collection("c").insert(n(1)).unwrap();
        db.close().unwrap();
    }
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4096 + 40] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let damaged = Db::open_with(&path, &Options::new().read_only(true)).unwrap().verify(true).unwrap();
    assert_eq!(damaged.problems.len(), 1, "{damaged:?}");
    assert_eq!(damaged.problems[0].at, 4096);
    let mended = Db::open(&path).unwrap();
    assert!(mended.verify(true).unwrap().is_clean());
}

//= spec/semantics.md#s-3-9-list-of-names
//# The list of collections MUST hold each name once, in bytewise order, empty collections included.
#[test]
fn the_list_of_collections_is_in_bytewise_order_with_the_empty_ones() {
    let db = Db::in_memory();
    for name in ["b", "é", "aa", "Z", "a", "ä"] {
        assert!(db.create_collection(name).unwrap());
    }
    db.collection("a").insert(n(1)).unwrap();
    db.rename_collection("b", "c").unwrap();
    assert_eq!(db.collections(), ["Z", "a", "aa", "c", "ä", "é"]);
}

//= spec/durability.md#d-2-1-where-a-class-comes-from
//# A store MUST NOT give a commit a class that is weaker than the one that was asked for.
#[test]
fn the_class_of_a_transaction_goes_before_that_of_the_handle_and_that_before_the_options() {
    let weak = Options::new().durability(Durability::Buffered);
    let db = Db::open_on(MemoryStorage::new(), &weak.background(holotype::Background::Manual)).unwrap();
    let is_durable = || db.stats().durable_lsn >= db.stats().lsn;
    db.collection("c").put(1, n(1)).unwrap();
    assert!(!is_durable(), "as the options say");
    db.collection("c").with_durability(Durability::Synced).put(1, n(1)).unwrap();
    assert!(is_durable(), "as the handle says");
    let mut tx = db.begin_write().unwrap();
    tx.set_durability(Durability::Synced);
    tx.collection("c").put(1, n(1)).unwrap();
    tx.commit().unwrap();
    assert!(is_durable(), "as the transaction says");
    let db = Db::open_on(MemoryStorage::new(), &Options::new()).unwrap();
    db.collection("c").put(1, n(1)).unwrap();
    assert!(db.stats().durable_lsn >= db.stats().lsn, "where nobody says anything");
}
