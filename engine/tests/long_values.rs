//! Documents that no block of the cache holds whole: read, kept in memory, replaced, moved, damaged.

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Background, Collection, Db, Document, Durability, Error, Options, Value, doc};
use std::sync::Arc;

/// Of one record within a block, across one block's end and several, of a segment and a bit more, and of many chunks.
const LENS: [usize; 8] = [3_000, 9_000, 17_000, 40_000, 100_000, 131_000, 140_000, 700_000];

fn document(version: u64, len: usize) -> Document {
    let bytes = (0..len as u64).map(|at| (at.wrapping_mul(version * 2 + 1) >> 3) as u8).collect();
    doc! { "version": version as i64, "bytes": Value::Bytes(bytes) }
}

fn options() -> Options {
    Options::new().background(Background::Manual)
}

/// Reads all, more often than it takes to keep them.
fn expect_all(documents: &Collection, version: u64) {
    for _ in 0..4 {
        for (key, len) in LENS.into_iter().enumerate() {
            let found = documents.get(key as i64).unwrap().unwrap();
            assert_eq!(found.bytes(), document(version, len).encode(), "{len} bytes, version {version}");
        }
    }
    let scanned = documents.scan(..).unwrap().map(|found| found.unwrap().bytes().to_vec());
    assert!(scanned.eq(LENS.map(|len| document(version, len).encode())));
}

#[test]
fn the_newest_version_is_read_wherever_it_stands() {
    // In small segments a document has so many chunks that what stands in front of them becomes longer.
    for (cache_bytes, segment_bytes) in
        [(0, 128 << 10), (2 << 20, 128 << 10), (64 << 20, 128 << 10), (2 << 20, 4096)]
    {
        for durability in [Durability::Buffered, Durability::Written, Durability::Synced] {
            let disk = Arc::new(MemoryStorage::new());
            let options =
                options().cache_bytes(cache_bytes).segment_bytes(segment_bytes).durability(durability);
            let db = Db::open_on(Arc::clone(&disk), &options).unwrap();
            let documents = db.collection("long");
            for version in 1..4 {
                for (key, len) in LENS.into_iter().enumerate() {
                    documents.put(key as i64, document(version, len)).unwrap();
                }
                expect_all(&documents, version);
            }
            db.compact().unwrap();
            expect_all(&documents, 3);
            // What stands in the place of a document that was moved away is no document of its key.
            documents.put(0, document(4, 700_000)).unwrap();
            assert!(documents.delete(1).unwrap() && documents.get(1).unwrap().is_none());
            documents.put(0, document(3, LENS[0])).unwrap();
            documents.put(1, document(3, LENS[1])).unwrap();
            db.compact().unwrap();
            expect_all(&documents, 3);
            assert!(db.verify(true).unwrap().problems.is_empty());
            db.close().unwrap();
            let db = Db::open_on(disk, &options).unwrap();
            expect_all(&db.collection("long"), 3);
        }
    }
}

#[test]
fn documents_that_are_read_again_are_kept_within_the_budget() {
    for (cache_bytes, at_most) in [(1 << 20, 1 << 20), (32 << 20, 32 << 20)] {
        let options = options().cache_bytes(cache_bytes).durability(Durability::Written);
        let db = Db::open_on(MemoryStorage::new(), &options).unwrap();
        let documents = db.collection("long");
        for key in 0..40 {
            documents.put(key, document(1, 40_000)).unwrap();
        }
        for _ in 0..5 {
            for key in 0..40 {
                assert_eq!(documents.get(key).unwrap().unwrap().bytes(), document(1, 40_000).encode());
            }
            let bytes = db.stats().cache_bytes;
            assert!(bytes <= at_most, "{bytes} bytes are held");
        }
        let [one, other] = [documents.get(7).unwrap().unwrap(), documents.get(7).unwrap().unwrap()];
        let is_kept = std::ptr::eq(one.bytes(), other.bytes());
        assert_eq!(is_kept, cache_bytes > 40 * 40_000, "with {cache_bytes} bytes");
    }
}

/// Flips a bit in the midst of the record of key 0, or of its first chunk.
fn damage(disk: &MemoryStorage, body: &[u8]) {
    let mut file = vec![0; Storage::len(disk).unwrap() as usize];
    disk.read_at(0, &mut file).unwrap();
    let part = &body[20_000..20_064];
    let at = file.windows(part.len()).position(|bytes| bytes == part).expect("it was written out") as u64;
    disk.write_at(at + 10, &[part[10] ^ 1]).unwrap();
}

#[test]
fn damage_is_told_until_a_document_was_verified_and_not_to_those_who_have_it_in_memory() {
    for len in [40_000, 700_000] {
        let disk = Arc::new(MemoryStorage::new());
        let db = Db::open_on(Arc::clone(&disk), &options().durability(Durability::Synced)).unwrap();
        // Of bytes that do not come twice.
        let long: Vec<u8> =
            (0..len as u32 / 4).flat_map(|n| n.wrapping_mul(0x9E37_79B9).to_le_bytes()).collect();
        let long = doc! { "bytes": Value::Bytes(long) };
        db.collection("long").put(0, &long).unwrap();
        // What the log ends with may be taken back for all that a reader knows, and is not kept.
        db.collection("long").put(1, document(1, 40_000)).unwrap();
        db.checkpoint().unwrap();
        db.close().unwrap();

        let db = Db::open_on(Arc::clone(&disk), &options()).unwrap();
        let documents = db.collection("long");
        (0..3).for_each(|_| assert_eq!(documents.get(0).unwrap().unwrap().bytes(), long.encode()));
        damage(&disk, &long.encode());
        assert_eq!(documents.get(0).unwrap().unwrap().bytes(), long.encode(), "it is in memory");
        assert!(!db.verify(true).unwrap().problems.is_empty(), "the file is looked at");
        drop((documents, db));

        let db = Db::open_on(disk, &options()).unwrap();
        for _ in 0..3 {
            let found = db.collection("long").get(0);
            assert!(matches!(found, Err(Error::Corrupt(_))), "{found:?}");
        }
    }
}
