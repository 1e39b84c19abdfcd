//! What replay makes of the accounts of the segments, as the next checkpoint writes them down.

use std::sync::Arc;

use holotype::format::Lsn;
use holotype::format::body::encode_segment_freed;
use holotype::format::checkpoint::{Table, TableEntry, TableRow};
use holotype::format::frame::FrameFlags;
use holotype::format::record::Kind;
use holotype::format::segment::{SegmentHeader, SegmentKind};
use holotype::storage::MemoryStorage;
use holotype::{Db, Durability, Error, Options, Value, doc};

use super::forge::{End, Forge, Frame, n, nameless, options, put, read_all};

fn sizes() -> Options {
    options().segment_bytes(512).durability(Durability::Synced)
}

/// The segment table of the newest checkpoint.
fn table(bytes: &[u8]) -> Table {
    Forge { bytes: bytes.to_vec() }.root(0).table
}

fn rows(bytes: &[u8]) -> Vec<TableRow> {
    table(bytes).iter().map(|entry| entry.row).collect()
}

fn long(db: &Db, key: i64, len: usize) {
    let document = doc! { "p": Value::Bytes(vec![key as u8; len]) };
    db.collection("c").put(key, document).expect("there is room");
}

/// What was ever placed in a segment, and how much of it is live.
#[derive(Debug, PartialEq, Eq)]
struct Account {
    sequence: u64,
    records: u32,
    bytes: u32,
    live: Vec<(u32, u32)>,
}

fn accounts(disk: &Arc<MemoryStorage>, db: &Db) -> Vec<Account> {
    db.checkpoint().expect("nothing hinders it");
    let account = |entry: TableEntry<'_>| {
        let TableRow { sequence, records, bytes, .. } = entry.row;
        Account { sequence, records, bytes, live: entry.live().collect() }
    };
    table(&read_all(disk)).iter().map(account).collect()
}

/// Something that befalls a store, and what.
type Life = (&'static str, fn(&Db));

//= spec/format.md#f-6-6-replaced-version
//# A writer MUST list all chunks of a version that a put or a delete replaces; of one that a relocated put
//# replaces, those that were moved with it.
//= spec/recovery.md#r-9-6-accounts
//# A writer MUST keep the accounts of P-1.5 through replay as if it placed the records itself: they go on
//# from those of the table, and are those that it would have had without the crash.
#[test]
pub(crate) fn after_a_crash_the_accounts_are_those_that_there_would_have_been_without_it() {
    let lives: [Life; 6] = [
        ("long documents are put", |_| {}),
        ("short ones are put again and deleted", |db| {
            (10..14).for_each(|key| long(db, key, 20));
            (10..12).for_each(|key| long(db, key, 30));
            (11..13).for_each(|key| assert!(db.collection("c").delete(key).expect("nothing hinders it")));
        }),
        ("one is put again", |db| long(db, 2, 1500)),
        ("one is put again as a short one", |db| long(db, 2, 20)),
        ("one is deleted", |db| assert!(db.collection("c").delete(3).expect("nothing hinders it"))),
        ("what is left is moved", |db| {
            (10..40).for_each(|key| long(db, key, 40));
            (10..40).for_each(|key| assert!(db.collection("c").delete(key).expect("nothing hinders it")));
            assert!(db.collection("c").delete(2).expect("nothing hinders it"));
            for _ in 0..60 {
                db.maintain().expect("nothing hinders it");
            }
            assert!(db.stats().space.relocated_bytes > 0, "{:?}", db.stats().space);
        }),
    ];
    for (what, live) in lives {
        let disk = Arc::new(MemoryStorage::new());
        let db = Db::open_on(Arc::clone(&disk), &sizes()).expect("a new store");
        (1..=4).for_each(|key| long(&db, key, 700 + 300 * key as usize));
        live(&db);
        db.flush().expect("nothing hinders it");
        let crashed = Forge { bytes: read_all(&disk) }.disk();
        let expected = accounts(&disk, &db);
        let reopened = Db::open_on(Arc::clone(&crashed), &sizes()).expect("it is sound");
        let mut found = accounts(&crashed, &reopened);
        // The new life may have begun a segment, in which there is nothing yet.
        found.retain(|found| {
            found.records > 0 || expected.iter().any(|known| known.sequence == found.sequence)
        });
        assert_eq!(found, expected, "{what}");
    }
}

/// The log goes on in a new segment where `physical` was.
fn go_on_over(store: &mut Forge, physical: u32) {
    let (end, body) = (store.end(), n(3).encode());
    let header = store.header(end.physical).expect("the log has entered it");
    store.set_header(end.physical, SegmentHeader { next: Some(physical), ..header });
    let over = End { physical, sequence: end.sequence + 1, ..end };
    let first_lsn = end.lsn.next();
    let (kind, durable_lsn, sequence, prev_end) = (SegmentKind::Log, Lsn::ZERO, over.sequence, end.offset);
    let (next, after) = (None, None);
    store.set_header(
        physical,
        SegmentHeader { kind, sequence, first_lsn, durable_lsn, prev_end, next, after },
    );
    store.place(over, 64, &Frame { base: first_lsn.count(), ..Frame::new(first_lsn, vec![put(99, &body)]) });
}

//= spec/recovery.md#r-9-1-the-segments-in-place
//# When the segment that stood there was not freed at or below the start's LSN, the reader MUST report
//# corruption.
#[test]
fn the_log_may_go_on_over_what_was_freed_when_replay_begins_and_not_over_what_was_freed_later() {
    let disk = Arc::new(MemoryStorage::new());
    let db = Db::open_on(Arc::clone(&disk), &sizes()).expect("a new store");
    let mut store = None;
    for round in 0..100 {
        (1..=20).for_each(|key| db.collection("c").put(key, n(round)).expect("there is room"));
        db.maintain().expect("nothing hinders it");
        db.checkpoint().expect("nothing hinders it");
        let bytes = read_all(&disk);
        if rows(&bytes).iter().any(|row| row.freed > Lsn::ZERO) {
            store = Some(Forge { bytes });
            break;
        }
    }
    let mut store = store.expect("cleaning frees what is dead");
    let newest = store.newest().checkpoints[0].expect("there is a checkpoint");
    let mut freed = rows(&store.bytes).into_iter().filter(|row| row.freed > Lsn::ZERO);
    let freed = freed.next().expect("one was found");
    let over = |store: &Forge, physical: u32| {
        let mut store = store.clone();
        go_on_over(&mut store, physical);
        store.open_with(&sizes()).map(|db| db.stats())
    };
    assert!(over(&store, freed.physical).is_ok(), "freed before the checkpoint");
    let row = rows(&store.bytes).iter().position(|row| row.sequence == freed.sequence);
    store.change_row(row.expect("it is in the table"), 24, &newest.lsn.0.to_le_bytes());
    assert!(over(&store, freed.physical).is_ok(), "freed by the last commit of the checkpoint");
    // Another one is freed by the log behind the checkpoint.
    let in_use = rows(&store.bytes).into_iter().find(|row| row.freed == Lsn::ZERO).expect("there is one");
    let body = encode_segment_freed(in_use.sequence, in_use.physical);
    let flags = FrameFlags::SYSTEM;
    let base = store.end().lsn.count();
    store.append(&Frame {
        flags,
        base,
        ..Frame::new(store.end().lsn.next(), vec![nameless(Kind::SegmentFreed, &body)])
    });
    let refused = over(&store, in_use.physical);
    let Err(Error::Corrupt(what)) = refused else { panic!("{refused:?}") };
    assert!(what.to_string().contains("in the place of another"), "{what}");
}
