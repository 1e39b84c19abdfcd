//! The room against bytes that were put together by hand from `spec/format.md`, and against damage.

mod body;
mod catalog;
mod checkpoint;
mod expected;
mod frame;
mod geometry;
mod index_record;
mod record;
mod segment;
mod superblock;
mod varint;

use super::{Lineage, Lsn, checksum};
use proptest::prelude::*;

/// The lineage of all examples: a0 a1 .. af.
const LINEAGE: Lineage =
    [0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf];

/// The bytes that pairs of hexadecimal digits stand for; white space sets fields apart.
fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        digits.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit as u8).collect();
    assert!(digits.len().is_multiple_of(2), "two digits a byte");
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Calls `check` with each of the byte strings that differ from `bytes` in one bit.
fn for_every_bit_flip(bytes: &[u8], mut check: impl FnMut(usize, &[u8])) {
    let mut flipped = bytes.to_vec();
    for bit in 0..bytes.len() * 8 {
        flipped[bit / 8] ^= 1 << (bit % 8);
        check(bit, &flipped);
        flipped[bit / 8] ^= 1 << (bit % 8);
    }
}

// spec: F-1.3
#[test]
fn the_checksum_is_the_crc_32c_of_rfc_3720() {
    let ascending: Vec<u8> = (0..32).collect();
    let descending: Vec<u8> = (0..32).rev().collect();
    assert_eq!(checksum::crc(&[0; 32]), 0x8a91_36aa);
    assert_eq!(checksum::crc(&[0xff; 32]), 0x62a8_ab43);
    assert_eq!(checksum::crc(&ascending), 0x46dd_794e);
    assert_eq!(checksum::crc(&descending), 0x113f_db5c);
    assert_eq!(checksum::crc(b"123456789"), 0xe306_9283);
}

// spec: F-1.3
#[test]
fn a_checksum_of_parts_is_that_of_the_whole() {
    let whole = b"seed and what it protects";
    for split in 0..=whole.len() {
        let (seed, rest) = whole.split_at(split);
        assert_eq!(checksum::crc_append(checksum::crc(seed), rest), checksum::crc(whole));
    }
}

proptest! {
    #[test]
    fn numbers_count_as_their_bytes(before: u32, value: u32) {
        let bytewise = checksum::crc_append(before, &value.to_le_bytes());
        prop_assert_eq!(checksum::crc_append_u32(before, value), bytewise);
        let twice = u64::from(value) << 32 | u64::from(!value);
        prop_assert_eq!(checksum::crc_append_u64(before, twice), checksum::crc_append(before, &twice.to_le_bytes()));
    }
}

// spec: F-1.5
#[test]
fn an_lsn_orders_by_incarnation_and_then_by_count() {
    let order = [Lsn::ZERO, Lsn::new(0, 1), Lsn::new(1, 1), Lsn::new(1, u32::MAX), Lsn::new(2, 0)];
    assert!(order.is_sorted_by(|a, b| a < b));
    assert_eq!((Lsn::new(7, 9).incarnation(), Lsn::new(7, 9).count()), (7, 9));
    assert_eq!(Lsn::new(7, 9).next(), Lsn::new(7, 10));
    assert_eq!(Lsn::new(7, 9).0, 0x0000_0007_0000_0009);
    assert_eq!(Lsn::new(7, 9).to_string(), "(7, 9)");
}

//= spec/format.md#f-1-5-lsn
//= type=test
//# A writer MUST NOT give one LSN to two commits, in any life of the file.
// spec
#[test]
#[should_panic(expected = "a new incarnation is taken")]
fn a_used_up_incarnation_has_no_next_lsn() {
    let _ = Lsn::new(1, u32::MAX).next();
}
