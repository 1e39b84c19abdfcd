//! What is read of a record, and what of it is kept.

use super::super::fixtures::{BEFORE, LINEAGE};
use super::*;
use crate::document::KeyRef;
use crate::format::record::{Kind, RecordParts};
use crate::storage::MemoryStorage;

/// The largest block: so a segment has two.
pub(super) const BLOCK: u64 = 16 << 10;

pub(super) fn geometry() -> Geometry {
    Geometry::new(512, 2 * BLOCK as u32).expect("a legal geometry")
}

/// A log of two segments that is all in the file, which is `len` bytes of segments long.
fn log(len: u64) -> Log {
    log_of(2, len)
}

/// A log of so many segments that is all in the file, which is `len` bytes of segments long.
fn log_of(segments: u64, len: u64) -> Log {
    log_up_to(2 * segments * BLOCK, len, Cache::new(1 << 20))
}

/// A log that ends at `end`, in a file which is `len` bytes of segments long.
pub(super) fn log_up_to(end: u64, len: u64, cache: Cache) -> Log {
    let storage = FailStop::new(Box::new(MemoryStorage::new()));
    storage.set_len(geometry().segment_offset(0) + len).expect("memory refuses nothing");
    let log = Log::new(storage, geometry(), LogAddress(end), cache);
    for sequence in 0..end.div_ceil(2 * BLOCK) {
        let lsn = Lsn(BEFORE.next().0 + sequence);
        log.segments.put(Arc::new(Segment::new(&LINEAGE, geometry(), sequence, sequence as u32, lsn)));
    }
    log
}

/// Writes a put of `len` bytes to `at`.
pub(super) fn write(log: &Log, at: u64, len: usize) -> Vec<u8> {
    let (sequence, offset) = geometry().split(LogAddress(at));
    let segment = log.segments.get(sequence).expect("it is there");
    let mut bytes = Vec::new();
    for overhead in [10, 11, 12] {
        let body = vec![9; len - overhead];
        let record =
            RecordParts { key: Some(KeyRef::Int(1)), body: &body, ..RecordParts::nameless(Kind::Put) };
        if record.encoded_len() == len {
            record.encode(segment.last_stretch().seed.at(offset), &mut bytes);
        }
    }
    assert_eq!(bytes.len(), len);
    log.storage.write_all_at(geometry().segment_offset(0) + at, &bytes).expect("memory refuses nothing");
    bytes
}

#[test]
fn a_record_within_a_block_is_lent_from_there_and_one_across_blocks_is_put_together() {
    for (at, len, is_lent) in [
        (1000, 20, true),
        (BLOCK - 200, 200, true),
        (BLOCK - 200, 201, false),
        (BLOCK - 10, 40, false),
        (BLOCK - 100, 8000, false),
        (2 * BLOCK - 200, 200, true),
        (2 * BLOCK + 1000, 20, true),
        (3 * BLOCK - 5, 12, false),
    ] {
        let log = log(4 * BLOCK);
        let bytes = write(&log, at, len);
        let found = log.find(LogAddress(at)).expect("memory can be read");
        assert_eq!(found.bytes()[..len], bytes, "{len} bytes at {at}");
        match found {
            Found::InBlock(_, offset) => assert_eq!((is_lent, u64::from(offset)), (true, at % BLOCK)),
            Found::Copied(copy, _) => assert_eq!((is_lent, copy.len()), (false, len), "{len} bytes at {at}"),
        }
    }
}

#[test]
fn who_looks_for_a_record_has_its_bytes_at_hand_unless_it_is_to_be_put_together() {
    let log = log(4 * BLOCK);
    let (within, across) = (1000, BLOCK - 100);
    let bytes = write(&log, within, 20);
    write(&log, across, 200);
    let look = |at: u64| log.look(LogAddress(at)).expect("memory can be read");
    assert_eq!(look(within).expect("one block has it").bytes()[..20], bytes);
    assert!(look(across).is_none());
}

#[test]
fn no_more_than_its_segment_is_read_of_a_record_whose_length_is_damaged() {
    let log = log(4 * BLOCK);
    let at = 2 * BLOCK - 100;
    let mut bytes = write(&log, at, 90);
    // A length of two bytes in place of one: far more than the segment has.
    bytes[6..8].copy_from_slice(&[0xff, 0x7f]);
    log.storage.write_all_at(geometry().segment_offset(0) + at, &bytes).expect("memory refuses nothing");
    let found = log.find(LogAddress(at)).expect("memory can be read");
    assert_eq!(found.bytes().len(), 100);
    assert!(matches!(log.parse(&found, LogAddress(at)), Err(Error::Corrupt(_))));
}

#[test]
fn as_many_bytes_are_copied_as_were_asked_for_or_as_there_are() {
    let log = log(4 * BLOCK - 1000);
    let first = write(&log, 1000, 8000);
    let second = write(&log, BLOCK - 100, 12_000);
    let copied = |at: u64, len: usize| log.copy(LogAddress(at), len).expect("memory can be read");
    assert_eq!(copied(1000, 8000), first);
    assert_eq!(copied(1003, 10), first[3..13]);
    assert_eq!(copied(BLOCK - 100, 12_000), second, "across blocks");
    assert_eq!(copied(3 * BLOCK, BLOCK as usize).len() as u64, BLOCK - 1000, "the file ends");
}

#[test]
fn a_whole_block_is_kept_and_one_that_the_file_ends_in_is_read_again() {
    let log = log(2 * BLOCK - 1000);
    let asked = |at: u64| {
        let misses = log.cache.misses();
        let len = log.copy(LogAddress(at), 2).expect("memory can be read").len();
        (len, log.cache.misses() > misses)
    };
    assert_eq!(asked(1000), (2, true));
    assert_eq!(asked(2000), (2, false), "it is kept");
    assert_eq!(asked(2 * BLOCK - 1001), (1, true));
    log.storage.set_len(geometry().segment_end(0)).expect("memory refuses nothing");
    assert_eq!(asked(2 * BLOCK - 1001), (2, true), "the file goes on");
    assert_eq!(asked(2 * BLOCK - 1001), (2, false));
}

#[test]
fn a_record_is_lent_from_the_block_at_hand_where_it_stands_there_and_from_its_own_where_not() {
    let log = log(4 * BLOCK);
    let (here, there) = (write(&log, 1000, 20), write(&log, BLOCK + 1000, 30));
    let sealed = log.sealed_block(LogAddress(1000)).expect("it can be read");
    assert_eq!((sealed.number, &sealed.bytes[1000..1020]), (0, &here[..]));
    // A copy, that nobody else has.
    let segment = Arc::clone(&sealed.segment);
    let at_hand = Arc::new(Block::new(0, sealed.bytes.clone(), segment));
    let found = |at: u64| match log.look_near(LogAddress(at), Some(&at_hand)) {
        Ok(Some(Found::InBlock(block, offset))) => (block, offset as usize),
        other => panic!("{other:?}"),
    };
    let (block, offset) = found(1000);
    assert!(Arc::ptr_eq(&block, &at_hand) && block.bytes[offset..offset + 20] == here);
    let (block, offset) = found(BLOCK + 1000);
    assert!(block.number == 1 && block.bytes[offset..offset + 30] == there);
    assert!(log.sealed_block(LogAddress(4 * BLOCK)).is_none(), "the tail would have it");
}

#[test]
fn a_long_record_is_read_as_it_is_whatever_the_cache_has_of_it() {
    let len = 3 * BLOCK as usize / 2;
    for cached in 0..4 {
        for guess in [0, 5000, len - 1, len, len + 100, 1 << 20] {
            let log = log(4 * BLOCK);
            let bytes = write(&log, 1000, len);
            (0..2).filter(|number| cached >> number & 1 == 1).for_each(|number| drop(log.block(number)));
            let mut out = vec![1, 2, 3];
            let segment = log.append_record(LogAddress(1000), guess, &mut out).expect("memory can be read");
            assert_eq!((&out[..3], &out[3..]), (&[1, 2, 3][..], &bytes[..]), "{cached} {guess}");
            assert_eq!(segment.sequence, 0);
        }
    }
}

#[test]
fn a_long_record_takes_no_room_in_the_cache_beside_the_block_that_it_begins_in() {
    let log = log(4 * BLOCK);
    write(&log, 1000, 3 * BLOCK as usize / 2);
    write(&log, 3 * BLOCK - 100, 200);
    log.find(LogAddress(1000)).expect("memory can be read");
    assert!(log.cache.peek(0).is_some() && log.cache.peek(1).is_none());
    // What stands behind the end of a short one is asked for, too.
    log.find(LogAddress(3 * BLOCK - 100)).expect("memory can be read");
    assert!(log.cache.peek(2).is_some() && log.cache.peek(3).is_some());
}

#[test]
fn a_record_is_a_long_one_from_a_quarter_of_a_block_on() {
    for (len, is_kept) in [(BLOCK as usize / 4 - 1, true), (BLOCK as usize / 4, false)] {
        let log = log(4 * BLOCK);
        write(&log, BLOCK - 100, len);
        log.find(LogAddress(BLOCK - 100)).expect("memory can be read");
        assert_eq!(log.cache.peek(1).is_some(), is_kept, "{len}");
    }
}

#[test]
fn after_some_long_records_the_next_is_read_without_its_block_until_one_is_short() {
    // A record of a block in each of twelve segments.
    let lengths = |blocks_first: usize, len: usize| {
        let log = log_of(12, 24 * BLOCK);
        for number in 0..12 {
            let len = if number < blocks_first { BLOCK as usize } else { len };
            let at = 2 * BLOCK * number as u64 + 1000;
            let bytes = write(&log, at, len);
            let found = log.find(LogAddress(at)).expect("memory can be read");
            assert_eq!(found.bytes()[..len], bytes);
        }
        let is_cached = |number: u64| log.cache.peek(2 * number).is_some();
        (0..12).filter(|number| is_cached(*number)).count()
    };
    assert_eq!(lengths(12, 0), 8);
    // The first short one is taken for a long one, and read directly; those behind it are not.
    assert_eq!(lengths(10, 50), 8 + 1);
}

#[test]
fn a_file_that_ends_within_a_long_record_gives_what_there_is_of_it() {
    for len in [2000, BLOCK, BLOCK + 2000] {
        let log = log(len);
        let bytes = {
            let whole = self::log(4 * BLOCK);
            write(&whole, 1000, 3 * BLOCK as usize / 2)
        };
        let there = &bytes[..len as usize - 1000];
        log.storage.write_all_at(geometry().segment_offset(0) + 1000, there).expect("memory refuses nothing");
        for guess in [0, bytes.len()] {
            let mut out = Vec::new();
            log.append_record(LogAddress(1000), guess, &mut out).expect("memory can be read");
            assert_eq!(out, there, "{len} {guess}");
        }
        assert!(matches!(
            log.find(LogAddress(1000)).and_then(|found| log.parse(&found, LogAddress(1000)).map(|_| ())),
            Err(Error::Corrupt(_))
        ));
    }
}

#[test]
fn a_block_behind_the_end_of_the_log_is_read_and_not_kept() {
    let storage = FailStop::new(Box::new(MemoryStorage::new()));
    storage.set_len(geometry().segment_offset(0) + 2 * BLOCK).expect("memory refuses nothing");
    // The log ends where its second block begins: the tail has nothing of that yet, and the file has it full of zeros.
    let log = Log::new(storage, geometry(), LogAddress(BLOCK), Cache::new(1 << 20));
    let lsn = Lsn(BEFORE.next().0);
    log.segments.put(Arc::new(Segment::new(&LINEAGE, geometry(), 0, 0, lsn)));
    let both = log.copy(LogAddress(0), 2 * BLOCK as usize).expect("memory can be read");
    assert_eq!(both, vec![0; 2 * BLOCK as usize]);
    assert!(log.cache.get(0).is_some() && log.cache.get(1).is_none(), "what is placed there comes later");
}

#[test]
fn a_short_record_behind_long_ones_keeps_no_memory_but_its_own() {
    let log = log_of(20, 40 * BLOCK);
    let lens = [9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000, 4500];
    let places = (0..).map(|number| number * 2 * BLOCK + BLOCK - 100);
    let places: Vec<u64> = places.take(lens.len()).collect();
    lens.iter().zip(&places).for_each(|(len, at)| drop(write(&log, *at, *len)));
    for (len, at) in lens.iter().zip(&places) {
        let found = log.find(LogAddress(*at)).expect("memory can be read");
        let Found::Copied(bytes, _) = found else { panic!("it lies in two blocks") };
        assert_eq!(bytes.len(), *len);
        assert!(bytes.capacity() <= len / 4 * 5, "{} bytes for {len}", bytes.capacity());
    }
}

#[test]
fn a_record_stands_behind_what_is_there_wherever_its_length_stands() {
    // The length is in the first block, in both, or in the second.
    for front in 1..20 {
        let log = log(4 * BLOCK);
        let bytes = write(&log, BLOCK - front, 200);
        let mut out = vec![1, 2, 3];
        log.append_record(LogAddress(BLOCK - front), 0, &mut out).expect("memory can be read");
        assert_eq!((&out[..3], &out[3..]), (&[1, 2, 3][..], &bytes[..]), "{front} bytes in the first");
    }
}

/// Bytes of which none stands where another one does, not far from there.
fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8 ^ (at / 251 % 256) as u8).collect()
}

fn appended(log: &Log, from: u64, len: usize, is_kept: bool) -> Vec<u8> {
    let segment = log.segments.get(0).expect("it is there");
    let mut out = vec![1, 2, 3];
    log.append(&segment, LogAddress(from), len, is_kept, &mut out).expect("memory can be read");
    assert_eq!(out[..3], [1, 2, 3]);
    out.split_off(3)
}

#[test]
fn as_many_bytes_are_appended_as_were_asked_for_wherever_they_are() {
    let bytes = pattern(2 * BLOCK as usize);
    for cached in 0..4 {
        for (from, to) in [(0, 10), (1000, 3000), (1000, BLOCK), (1000, BLOCK + 500), (0, 2 * BLOCK)] {
            for is_kept in [false, true] {
                let log = log(2 * BLOCK);
                log.storage
                    .write_all_at(geometry().segment_offset(0), &bytes)
                    .expect("memory refuses nothing");
                (0..2).filter(|number| cached >> number & 1 == 1).for_each(|number| drop(log.block(number)));
                let found = appended(&log, from, (to - from) as usize, is_kept);
                assert!(found == bytes[from as usize..to as usize], "{from} to {to}, {cached}, {is_kept}");
            }
        }
    }
}

#[test]
fn where_the_file_ends_nothing_more_is_appended_whatever_the_cache_has_behind() {
    let log = log(2 * BLOCK);
    let behind = log.block(1).expect("memory can be read");
    log.storage.set_len(geometry().segment_offset(0) + BLOCK - 100).expect("memory refuses nothing");
    log.cache.put(1, behind);
    assert_eq!(appended(&log, 1000, BLOCK as usize, false).len() as u64, BLOCK - 1100);
}

#[test]
fn where_the_tail_ends_nothing_more_is_appended_whatever_the_file_has_behind() {
    let storage = FailStop::new(Box::new(MemoryStorage::new()));
    storage.set_len(geometry().segment_offset(0) + 2 * BLOCK).expect("memory refuses nothing");
    let log = Log::new(storage, geometry(), LogAddress(0), Cache::new(1 << 20));
    let segment = Arc::new(Segment::new(&LINEAGE, geometry(), 0, 0, Lsn(BEFORE.next().0)));
    log.segments.put(Arc::clone(&segment));
    log.tail.put(&segment, LogAddress(0), &[7; 700], &[]);
    for is_kept in [false, true] {
        assert_eq!(appended(&log, 100, BLOCK as usize, is_kept), [7; 600]);
    }
}

#[test]
fn what_is_too_long_for_one_read_is_read_in_several() {
    let geometry = Geometry::new(512, 4 << 20).expect("a legal geometry");
    let storage = FailStop::new(Box::new(MemoryStorage::new()));
    let bytes = pattern((5 << 20) / 2);
    storage.write_all_at(geometry.segment_offset(0), &bytes).expect("memory refuses nothing");
    let log = Log::new(storage, geometry, LogAddress(4 << 20), Cache::new(1 << 20));
    log.segments.put(Arc::new(Segment::new(&LINEAGE, geometry, 0, 0, Lsn(BEFORE.next().0))));
    for len in [bytes.len() - 1000, bytes.len(), 3 << 20] {
        let there = &bytes[1000..bytes.len().min(1000 + len)];
        assert!(appended(&log, 1000, len, false) == there, "{len}");
    }
}

#[test]
fn a_quarter_more_memory_than_a_record_has_bytes_is_kept() {
    for (capacity, len, is_more) in [(100, 80, false), (101, 80, true), (80, 80, false), (1, 0, true)] {
        assert_eq!(apart::is_roomy(capacity, len), is_more, "{capacity} for {len}");
    }
}
