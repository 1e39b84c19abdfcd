//! What is read of a record whose block a full cache turns away.

use super::super::tests::{BLOCK, geometry, log_up_to, write};
use super::*;
use crate::cache::{Block, Cache};

#[test]
fn of_a_block_that_the_cache_turns_away_the_record_alone_is_read() {
    for (at, len, is_alone) in [
        (1000, 20, true),
        (1000, 512, true),
        (1000, 513, true),
        (1000, 4095, true),
        (1000, 4096, false),
        (BLOCK - 200, 600, true),
        (2 * BLOCK - 100, 100, true),
        (3 * BLOCK - 300, 300, true),
    ] {
        let log = log_up_to(4 * BLOCK, 3 * BLOCK, Cache::new(0));
        let bytes = write(&log, at, len);
        let look = || log.look_alone(LogAddress(at)).expect("memory can be read");
        match look() {
            Some(Found::Copied(copy, _)) if is_alone => assert_eq!(copy, bytes, "{len} bytes at {at}"),
            Some(Found::InBlock(..)) if !is_alone => {}
            other => panic!("{len} bytes at {at}: {other:?}"),
        }
        assert_eq!(log.cache.bytes() == 0, is_alone, "{len} bytes at {at}");
        // Asked for again, the block comes in.
        look();
        let found = log.find(LogAddress(at)).expect("memory can be read");
        assert_eq!(found.bytes()[..len], bytes, "{len} bytes at {at}");
        assert!(log.cache.bytes() > 0, "{len} bytes at {at}");
    }
}

#[test]
fn who_reads_on_and_whose_cache_has_room_gets_the_block() {
    for (budget, is_alone) in [(0, false), (1 << 20, true)] {
        let log = log_up_to(4 * BLOCK, 4 * BLOCK, Cache::new(budget));
        write(&log, 1000, 20);
        let look = log.look_for(LogAddress(1000), is_alone).expect("memory can be read");
        assert!(matches!(look, Some(Found::InBlock(..))), "{budget}: {look:?}");
    }
}

#[test]
fn a_record_that_is_not_in_its_place_for_good_is_not_read_alone() {
    // The tail begins with the block that the log ends in.
    let log = log_up_to(BLOCK + 500, 4 * BLOCK, Cache::new(0));
    assert_eq!(log.settled(), LogAddress(BLOCK));
    for (at, len, is_settled) in [(BLOCK - 100, 100, true), (BLOCK - 100, 101, false)] {
        write(&log, at, len);
        let found = log.record_alone(LogAddress(at)).expect("memory can be read");
        assert_eq!(found.is_some(), is_settled, "{len} bytes");
    }
}

#[test]
fn a_record_that_the_file_ends_in_is_read_alone_as_far_as_it_goes() {
    let log = log_up_to(4 * BLOCK, 4 * BLOCK, Cache::new(0));
    for (at, len, there) in [(1000, 20, 0), (1000, 20, 4), (1000, 20, 19), (1000, 600, 599)] {
        log.storage.set_len(geometry().segment_offset(0) + 4 * BLOCK).expect("memory refuses nothing");
        let bytes = write(&log, at, len);
        log.storage.set_len(geometry().segment_offset(0) + at + there).expect("memory refuses nothing");
        let found = log.record_alone(LogAddress(at)).expect("memory can be read");
        let found = found.as_ref().map(Found::bytes);
        let expected = &bytes[..there as usize];
        assert_eq!(found, peek_len(expected).map(|_| expected), "{there} bytes of {len}");
    }
}

#[test]
fn no_record_is_read_alone_whose_length_leads_behind_its_segment() {
    let log = log_up_to(4 * BLOCK, 4 * BLOCK, Cache::new(0));
    let at = 2 * BLOCK - 100;
    let mut bytes = write(&log, at, 90);
    bytes[6..8].copy_from_slice(&[0xff, 0x01]);
    log.storage.write_all_at(geometry().segment_offset(0) + at, &bytes).expect("memory refuses nothing");
    assert!(matches!(log.look_alone(LogAddress(at)), Ok(None)));
}

#[test]
fn a_cache_that_has_room_for_a_block_and_not_for_what_is_known_of_it_turns_it_away() {
    // Shards with room for one block, and for the bytes of another: a cache of 64 MiB has such a rest.
    let budget = 16 * (Block::footprint_of(BLOCK as usize) + BLOCK as usize);
    let log = log_up_to(40 * BLOCK, 40 * BLOCK, Cache::new(budget));
    for number in [0, 16, 32] {
        write(&log, number * BLOCK + 1000, 20);
    }
    let look = |number| log.look_alone(LogAddress(number * BLOCK + 1000)).expect("memory can be read");
    assert!(matches!(look(0), Some(Found::InBlock(..))), "there is room");
    for number in [16, 32] {
        assert!(matches!(look(number), Some(Found::Copied(..))), "block {number} of the same shard");
    }
}
