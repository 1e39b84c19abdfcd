//! To the byte: what is one record, what is cut into chunks, what is refused.

use super::super::fixtures::{KEY, appender, documents, geometry, push, put, record};
use super::super::{Relocation, Replaces};
use super::*;
use crate::document::KeyRef;
use crate::format::{Geometry, Lsn};
use crate::index::{Birth, Entry};

/// A segment of 512 bytes without its header's sector and the header of a frame.
const ROOM: usize = 416;
/// What stands before the key of a record is no longer.
const HEADER: usize = 45;

#[test]
fn a_document_is_cut_into_chunks_once_its_record_could_be_too_long_for_a_segment() {
    for (key, key_len) in [(KeyRef::Int(7), 1), (KEY, 6)] {
        let longest = ROOM - HEADER - key_len;
        for (len, chunks) in [(longest, 0), (longest + 1, 2)] {
            let mut batch = put(key, len);
            appender().place(&mut batch).expect("it fits");
            assert_eq!(batch.chunks.len(), chunks, "{len} bytes behind a key of {key_len}");
            assert_eq!(batch.changes[0].is_chunked, chunks > 0);
        }
    }
}

#[test]
fn the_longest_document_is_the_one_that_the_refusal_of_a_longer_one_names() {
    // A chunk has a number of up to 10 bytes beside header and key. A list has two such, and that of the chunks that die a third; each
    // chunk takes 8 bytes in either.
    let chunk = ROOM - HEADER - 6 - 10;
    let max = (ROOM - HEADER - 6 - 30) / 16 * chunk;
    assert_eq!(max, 7_100);
    let mut batch = put(KEY, max);
    appender().place(&mut batch).expect("it fits");
    assert_eq!(batch.chunks.len(), 20);
    let refused = appender().place(&mut put(KEY, max + 1));
    assert!(matches!(refused, Err(Error::DocumentTooLarge { len: 7_101, max: 7_100 })), "{refused:?}");
}

//= spec/format.md#f-6-7-chunk-list
//= type=test
//# A writer MUST refuse a document whose list of addresses would take more than half of the longest
//# record's room for it.
#[test]
fn the_longest_document_can_be_replaced_by_another_wherever_its_chunks_stand() {
    let mut batch = Batch::default();
    let last = geometry().split(LogAddress::MAX).0;
    let from = Entry::new(LogAddress::MAX, true).with_chunked(true);
    let replaces = Replaces::Version(from, Birth::At(from.address()));
    push(&mut batch, Action::Put, &documents(), KEY, replaces, &[7; 7_100]);
    let chunks = (0..20).map(|number| (0, geometry().address(last - number, 64)));
    batch.superseded.extend(chunks);
    let mut log = appender();
    log.place(&mut batch).expect("both lists fit");
    let put = record(&log, batch.changes[0].address);
    let ended: Vec<_> = put.replaces.expect("it replaces one").ended().collect();
    let expected: Vec<_> = (0..20).rev().map(|number| (last - number, 1)).collect();
    assert_eq!((put.chunked, ended), (true, expected));
}

#[test]
fn the_longest_key_has_room_beside_a_chunk_or_the_list_of_one_in_segments_of_every_length() {
    for sector in (6..=12).map(|bits| 1 << bits) {
        for geometry in (9..=26).filter_map(|bits| Geometry::new(sector, 1 << bits).ok()) {
            let list = HEADER + geometry.checkpoint_key_len_max() + 20 + 8;
            assert!(list <= geometry.record_len_max(), "{geometry:?}");
        }
    }
    let longest = "k".repeat(geometry().checkpoint_key_len_max() - 2);
    assert!(appender().place(&mut put(KeyRef::Text(&longest), 2000)).is_ok());
    let refused = appender().place(&mut put(KeyRef::Text(&(longest + "k")), 0));
    assert!(matches!(refused, Err(Error::KeyTooLong { len: 128, max: 127 })), "{refused:?}");
}

#[test]
fn a_commit_is_refused_once_it_could_need_more_parts_than_there_are() {
    // Of two parts in a row one is at least half full.
    let fit = PARTS_MAX / 2 - 1;
    for (full, rest, is_refused) in [(fit, ROOM - 1, false), (fit, ROOM, true)] {
        let (mut batch, documents) = (Batch::default(), documents());
        let mut put = |bound: usize| {
            push(&mut batch, Action::Put, &documents, KEY, Replaces::Nothing, &vec![7; bound - HEADER - 6]);
        };
        (0..full).for_each(|_| put(ROOM));
        put(rest);
        let refused = appender().refuse_what_cannot_fit(&batch);
        assert_eq!(matches!(refused, Err(Error::LimitReached { .. })), is_refused, "{refused:?}");
        assert_eq!(refused.is_err(), is_refused);
    }
}

#[cfg(feature = "seeded")]
#[test]
fn what_nobody_counts_goes_not_unnoticed() {
    use crate::seeded::{Bug, assert_noticed};
    let longest = the_longest_document_is_the_one_that_the_refusal_of_a_longer_one_names;
    assert_noticed(Bug::ListOfAnyLength, longest);
    assert_noticed(Bug::PartsUncounted, a_commit_is_refused_once_it_could_need_more_parts_than_there_are);
}

/// A version that moves, made of two chunks of which one stays where it is.
fn moved() -> Batch {
    let mut batch = Batch::default();
    let chunks = vec![Chunk::Stays(LogAddress(3000)), Chunk::Moves(LogAddress(4000), 100)];
    let relocation = Relocation { lsn: Lsn::new(1, 2), expiry: Some(1_234_567), chunks: Some((350, chunks)) };
    let from = Entry::new(LogAddress(2000), true).with_chunked(true);
    let replaces = Replaces::Version(from, Birth::At(from.address()));
    batch.push_relocation(&documents(), KEY, replaces, relocation, &[9; 100]);
    batch
}

#[test]
fn the_bound_of_a_chunk_that_moves_and_of_its_list_is_that_of_what_they_hold() {
    let batch = moved();
    let bound = appender().bound_of_chunks(&batch, 0).expect("it fits");
    assert_eq!(bound, HEADER + 6 + 10 + 100 + HEADER + 6 + 20 + 2 * 8 + 10 + 8);
}

#[test]
fn the_list_says_what_a_put_says_and_the_chunks_say_none_of_it() {
    let (mut log, mut batch) = (appender(), moved());
    log.place(&mut batch).expect("it fits");
    let (chunk, list) = (record(&log, batch.chunks[0].address), record(&log, batch.changes[0].address));
    assert_eq!((chunk.kind, chunk.expiry, chunk.own_lsn), (Kind::Chunk, None, None));
    assert_eq!((list.kind, list.expiry, list.chunked), (Kind::RelocatedPut, Some(1_234_567), true));
    assert_eq!(list.own_lsn, Some(Lsn::new(1, 2)));
    // The chunk that moves stood in the segment with the address 4000.
    let ended = list.replaces.map(|replaced| (replaced.value, replaced.ended().collect()));
    assert_eq!(ended, Some((4 * 2000 + 3, vec![(7, 1)])));

    let (mut log, mut batch) = (appender(), Batch::default());
    let replaced = Entry::new(LogAddress(1000), false);
    let replaces = Replaces::Version(replaced, Birth::At(replaced.address()));
    push(&mut batch, Action::Put, &documents(), KEY, replaces, &[7; 400]);
    log.place(&mut batch).expect("it fits");
    assert_eq!(record(&log, batch.chunks[0].address).replaces, None);
    assert_eq!(
        record(&log, batch.changes[0].address).replaces,
        Some(Replaced { value: 4 * 1000, ended: &[] })
    );
}

#[test]
fn a_version_that_moves_keeps_its_expiry() {
    let (mut log, mut batch) = (appender(), Batch::default());
    let relocation = Relocation { lsn: Lsn::new(1, 2), expiry: Some(77), chunks: None };
    let from = LogAddress(2000);
    let replaces = Replaces::Version(Entry::new(from, false), Birth::At(from));
    batch.push_relocation(&documents(), KEY, replaces, relocation, &[9; 10]);
    log.place(&mut batch).expect("it fits");
    assert_eq!(record(&log, batch.changes[0].address).expiry, Some(77));
}

#[test]
fn a_record_may_end_with_its_segment() {
    let two = |second: usize| {
        let (mut log, mut batch) = (appender(), put(KEY, 150));
        let documents = documents();
        push(&mut batch, Action::Put, &documents, KeyRef::Int(1), Replaces::Nothing, &vec![8; second]);
        log.place(&mut batch).expect("it fits");
        let lens = [batch.changes[0].len as usize, batch.changes[1].len as usize];
        (log.end().segment.sequence, log.end().offset, lens)
    };
    let (_, _, [first, second]) = two(200);
    let fills = 200 + ROOM - first - second;
    assert_eq!(two(fills), (0, 512, [first, ROOM - first]));
    assert_eq!(two(fills + 1).0, 1);
}
