use super::super::Lsn;
use super::super::checksum::{crc, crc_append};
use super::super::segment::{SEGMENT_HEADER_LEN, SegmentHeader, SegmentKind};
use super::{LINEAGE, for_every_bit_flip, hex};
use proptest::prelude::*;

fn at_creation() -> SegmentHeader {
    SegmentHeader {
        kind: SegmentKind::Log,
        sequence: 0,
        first_lsn: Lsn::ZERO,
        durable_lsn: Lsn::ZERO,
        prev_end: 0,
        next: Some(1),
        after: Some(2),
    }
}

//= spec/format.md#f-1-4-reserved-bytes
//= type=test
//# A writer MUST set bytes that this page calls reserved to zero.
// spec: F-4.1, F-4.5
#[test]
fn the_header_of_segment_0_at_creation_is_laid_out_as_the_table_says() {
    let bytes = at_creation().encode(&LINEAGE, 0);
    let expected = hex("
        484c4f47 01 00 0000  0000000000000000 0000000000000000 0000000000000000
        00000000 01000000 02000000  a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 aa ab ac ad ae af  8eb0d20f");
    assert_eq!(bytes.as_slice(), expected);
    assert_eq!(SegmentHeader::parse(&bytes, &LINEAGE, 0), Some(at_creation()));
}

// spec: F-4.1
#[test]
fn the_header_of_a_checkpoint_segment_is_laid_out_as_the_table_says() {
    let header = SegmentHeader {
        kind: SegmentKind::Index,
        sequence: 1,
        first_lsn: Lsn::new(3, 9),
        durable_lsn: Lsn::new(3, 7),
        prev_end: 0,
        next: None,
        after: None,
    };
    let bytes = header.encode(&LINEAGE, 5);
    let expected = hex("
        4843504b 02 00 0000  0100000000000000 0900000003000000 0700000003000000
        00000000 ffffffff ffffffff  a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 aa ab ac ad ae af  b930fa54");
    assert_eq!(bytes.as_slice(), expected);
    assert_eq!(SegmentHeader::parse(&bytes, &LINEAGE, 5), Some(header));
}

// spec: F-4.4
#[test]
fn a_flip_of_any_bit_makes_a_header_invalid() {
    for_every_bit_flip(&at_creation().encode(&LINEAGE, 0), |bit, flipped| {
        assert_eq!(SegmentHeader::parse(flipped, &LINEAGE, 0), None, "bit {bit}");
    });
}

// spec: F-4.4
#[test]
fn a_header_is_valid_in_no_other_place_and_no_other_store() {
    let bytes = at_creation().encode(&LINEAGE, 0);
    assert_eq!(SegmentHeader::parse(&bytes, &LINEAGE, 1), None);
    assert_eq!(SegmentHeader::parse(&bytes, &[0; 16], 0), None);
    assert_eq!(SegmentHeader::parse(&bytes[..63], &LINEAGE, 0), None);
}

// spec: F-4.4
#[test]
fn magic_and_kind_must_agree() {
    for kind in [0, 2, 3, 4] {
        let mut bytes = at_creation().encode(&LINEAGE, 0);
        bytes[4] = kind;
        let sum = crc_append(crc(&0_u32.to_le_bytes()), &bytes[..60]);
        bytes[60..].copy_from_slice(&sum.to_le_bytes());
        assert_eq!(SegmentHeader::parse(&bytes, &LINEAGE, 0), None, "kind {kind}");
    }
}

prop_compose! {
    fn any_header()(
        kind in prop_oneof![Just(SegmentKind::Log), Just(SegmentKind::Index)],
        (sequence, first_lsn, durable_lsn, prev_end) in any::<(u64, u64, u64, u32)>(),
        next in proptest::option::of(0..u32::MAX),
        after in proptest::option::of(0..u32::MAX),
    ) -> SegmentHeader {
        SegmentHeader {
            kind, sequence, first_lsn: Lsn(first_lsn), durable_lsn: Lsn(durable_lsn), prev_end, next, after,
        }
    }
}

proptest! {
    #[test]
    fn a_header_reads_back_as_it_was_written(header in any_header(), lineage: [u8; 16], physical: u32) {
        let bytes = header.encode(&lineage, physical);
        prop_assert_eq!(SegmentHeader::parse(&bytes, &lineage, physical), Some(header));
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2 * SEGMENT_HEADER_LEN)) {
        prop_assert_eq!(SegmentHeader::parse(&bytes, &LINEAGE, 0), None);
    }
}
