use super::super::checksum::crc_append;
use super::super::frame::{
    CLAIMS_NOTHING, FRAME_HEADER_LEN, Frame, FrameFault, FrameFlags, FrameHeader, SegmentSeed, check_body,
    is_zeros, parse_header, parse_header_at, write_header,
};
use super::super::record::{Kind, RecordFault, RecordParts, RecordSeed, Replaced, encode_opening};
use super::super::{LogAddress, Lsn};
use super::{LINEAGE, for_every_bit_flip, hex};
use crate::document::KeyRef;
use proptest::prelude::*;

const SEGMENT_BYTES: u32 = 4096;
/// Where the frames of the examples begin.
const AT: u32 = 512;

/// A segment that holds one frame, at [`AT`].
struct Example {
    segment: Vec<u8>,
    frame_seed: SegmentSeed,
    record_seed: RecordSeed,
}

impl Example {
    fn new(sequence: u64, header: FrameHeader, records: &[RecordParts<'_>]) -> Example {
        let frame_seed = SegmentSeed::for_segment(&LINEAGE, sequence);
        let record_seed = RecordSeed::new(&LINEAGE, header.lsn.incarnation(), sequence);
        let mut segment = vec![0; AT as usize + FRAME_HEADER_LEN];
        let crcs: Vec<u32> = records
            .iter()
            .map(|record| record.encode(record_seed.at(segment.len() as u32), &mut segment))
            .collect();
        let body_len = segment.len() - AT as usize - FRAME_HEADER_LEN;
        let header = FrameHeader { body_len: body_len as u32, record_count: crcs.len() as u32, ..header };
        write_header(&mut segment[AT as usize..], &header, frame_seed.at(AT), crcs.into_iter());
        Example { segment, frame_seed, record_seed }
    }

    fn frame(&self) -> &[u8] {
        &self.segment[AT as usize..]
    }

    fn header(&self) -> Option<FrameHeader> {
        parse_header(&self.segment, AT, &self.frame_seed, SEGMENT_BYTES)
    }

    fn check(&self) -> Result<(), FrameFault> {
        let header = self.header().expect("a valid header");
        check_body(&self.segment, AT, &header, (&self.frame_seed, &self.record_seed))
    }

    /// Makes the header's checksum hold for whatever the header says now.
    fn reseal_header(&mut self) {
        let at = AT as usize;
        let sum = crc_append(self.frame_seed.at(AT), &self.segment[at + 4..at + FRAME_HEADER_LEN]);
        self.segment[at..at + 4].copy_from_slice(&sum.to_le_bytes());
    }
}

fn header(lsn: Lsn, durable_lag: u32, flags: FrameFlags) -> FrameHeader {
    FrameHeader { body_crc: 0, lsn, durable_lag, body_len: 0, part: 0, last: true, flags, record_count: 0 }
}

fn put<'a>(key: i64, body: &'a [u8]) -> RecordParts<'a> {
    RecordParts {
        kind: Kind::Put,
        collection: 1,
        commit: 1,
        own_lsn: None,
        replaces: None,
        expiry: None,
        chunked: false,
        key: Some(KeyRef::Int(key)),
        body,
    }
}

/// The second commit of incarnation 1: puts `{"a": 1}` under 1 and deletes it again.
fn put_and_delete() -> Example {
    let delete = RecordParts {
        kind: Kind::Delete,
        replaces: Some(Replaced { value: 4 * 544, ended: &[] }),
        body: &[],
        ..put(1, &[])
    };
    Example::new(0, header(Lsn::new(1, 2), 1, FrameFlags::NONE), &[put(1, b"\xa1\x61a\x01"), delete])
}

//= spec/format.md#f-1-1-integers
//= type=test
//# Every integer of fixed width MUST be stored little-endian, whatever the machine.
// spec: F-5.1
#[test]
fn a_frame_is_laid_out_as_the_table_says() {
    let example = put_and_delete();
    let expected = hex("
        cded3a6e 7d7dcbb7 0200000001000000 01000000 1a000000 0080 0000 02000000
        ac8955c1 01 00 07 01 01 01 a1616101
        e3fb3fc6 02 01 05 01 01 8011 01");
    assert_eq!(example.frame(), expected);
    let header = example.header().expect("a valid header");
    assert_eq!((header.lsn, header.part, header.last), (Lsn::new(1, 2), 0, true));
    assert_eq!((header.body_len, header.record_count, header.frame_len()), (26, 2, 64));
    assert_eq!(header.claim(), Some(Lsn::new(1, 1)));
    assert_eq!(example.check(), Ok(()));
}

// spec: F-6.5, R-5.5
#[test]
fn an_opening_frame_is_laid_out_as_the_tables_say() {
    let opening = RecordParts {
        kind: Kind::Opening,
        collection: 0,
        commit: 0,
        key: None,
        body: &encode_opening(Lsn::ZERO, LogAddress(512)),
        ..put(0, &[])
    };
    let flags = FrameFlags::OPENING | FrameFlags::SYSTEM;
    assert_eq!(flags | FrameFlags::SYSTEM, flags);
    let example = Example::new(0, header(Lsn::new(1, 1), CLAIMS_NOTHING, flags), &[opening]);
    let expected = hex("
        131793d2 335ef9fc 0100000001000000 ffffffff 19000000 0080 0500 01000000
        23020598 07 00 12 00 00 0000000000000000 0002000000000000");
    assert_eq!(example.frame(), expected);
    assert_eq!(example.header().and_then(|header| header.claim()), None);
    assert_eq!(example.check(), Ok(()));
}

// spec: F-5.5
#[test]
fn a_watermark_frame_is_a_header_alone() {
    let flags = FrameFlags::WATERMARK | FrameFlags::SYSTEM;
    let mut segment = vec![0; 1024 + FRAME_HEADER_LEN];
    let seed = SegmentSeed::for_segment(&LINEAGE, 9);
    write_header(&mut segment[1024..], &header(Lsn::new(2, 5), 1, flags), seed.at(1024), std::iter::empty());
    assert_eq!(
        segment[1024..],
        hex("09485a6f 28604b33 0500000002000000 01000000 00000000 0080 0600 00000000")
    );
    let parsed = parse_header(&segment, 1024, &seed, SEGMENT_BYTES).expect("a valid header");
    assert_eq!(parsed.claim(), Some(Lsn::new(2, 4)));
    assert!(parsed.flags.contains(FrameFlags::WATERMARK) && parsed.flags.is_known());
    let record_seed = RecordSeed::new(&LINEAGE, 2, 9);
    assert_eq!(check_body(&segment, 1024, &parsed, (&seed, &record_seed)), Ok(()));
}

// spec: F-5.7
#[test]
fn a_flip_of_any_bit_makes_a_frame_invalid_and_of_a_body_bit_leaves_its_header_valid() {
    let example = put_and_delete();
    for_every_bit_flip(example.frame(), |bit, flipped| {
        let mut damaged = put_and_delete();
        damaged.segment[AT as usize..].copy_from_slice(flipped);
        if bit < FRAME_HEADER_LEN * 8 {
            assert_eq!(damaged.header(), None, "bit {bit}");
        } else {
            assert_eq!(damaged.header(), example.header(), "bit {bit}");
            assert!(damaged.check().is_err(), "bit {bit}");
        }
    });
}

// spec: F-5.1
#[test]
fn a_header_is_valid_in_no_other_place_segment_or_store() {
    let example = put_and_delete();
    let valid =
        |segment: &[u8], at, seed: &SegmentSeed| parse_header(segment, at, seed, SEGMENT_BYTES).is_some();
    assert!(valid(&example.segment, AT, &example.frame_seed));
    let mut elsewhere = vec![0; 8];
    elsewhere.extend_from_slice(&example.segment);
    assert!(!valid(&elsewhere, AT + 8, &example.frame_seed));
    assert!(!valid(&example.segment, AT, &SegmentSeed::for_segment(&LINEAGE, 1)));
    assert!(!valid(&example.segment, AT, &SegmentSeed::for_segment(&[0; 16], 0)));
}

// spec: F-5.1
#[test]
fn a_header_does_not_validate_the_body_of_another_life() {
    // The same commit, in the same place, of two lives that wrote other bytes: header of one, body of the other.
    let lsn = header(Lsn::new(1, 2), 1, FrameFlags::NONE);
    let mut mixed = Example::new(0, lsn, &[put(1, b"\xa1\x61a\x01")]);
    let other = Example::new(0, lsn, &[put(1, b"\xa1\x61a\x02")]);
    assert_eq!((mixed.check(), other.check()), (Ok(()), Ok(())));
    let body = AT as usize + FRAME_HEADER_LEN;
    mixed.segment[body..].copy_from_slice(&other.segment[body..]);
    assert!(matches!(mixed.check(), Err(FrameFault::BodyCrc)));
}

// spec: F-6.1
#[test]
fn a_record_of_another_incarnation_makes_its_frame_invalid() {
    let mut example = put_and_delete();
    example.record_seed = RecordSeed::new(&LINEAGE, 2, 0);
    assert!(matches!(example.check(), Err(FrameFault::Record(544, _))));
}

//= spec/format.md#f-5-2-place
//= type=test
//# A frame MUST lie within its segment.
// spec: F-5.7
#[test]
fn a_body_that_does_not_lie_inside_the_segment_makes_the_header_invalid() {
    let mut example = put_and_delete();
    let room = SEGMENT_BYTES - AT - FRAME_HEADER_LEN as u32;
    for (body_len, valid) in [(room, true), (room + 1, false), (u32::MAX, false), (u32::MAX - 31, false)] {
        example.segment[AT as usize + 20..][..4].copy_from_slice(&body_len.to_le_bytes());
        example.reseal_header();
        assert_eq!(example.header().is_some(), valid, "{body_len}");
    }
}

//= spec/recovery.md#r-1-3-bytes-beyond-the-end
//= type=test
//# Bytes of a segment that lie beyond the end of the file MUST be treated as absent: no frame that extends
//# into them is valid.
// spec
#[test]
fn a_header_claims_over_a_body_that_the_file_cuts_off() {
    let mut example = put_and_delete();
    example.segment.truncate(AT as usize + FRAME_HEADER_LEN + 25);
    assert_eq!(example.header().and_then(|header| header.claim()), Some(Lsn::new(1, 1)));
    assert_eq!(example.check(), Err(FrameFault::BeyondData));
    example.segment.truncate(AT as usize + FRAME_HEADER_LEN - 1);
    assert_eq!(example.header(), None);
}

// spec: F-5.2
#[test]
fn a_frame_off_the_multiples_of_8_is_none() {
    let seed = SegmentSeed::for_segment(&LINEAGE, 0);
    for (offset, valid) in [(512, true), (513, false), (516, false), (520, true)] {
        let mut segment = vec![0; offset as usize + FRAME_HEADER_LEN];
        let header = header(Lsn::new(1, 2), 0, FrameFlags::NONE);
        write_header(&mut segment[offset as usize..], &header, seed.at(offset), std::iter::empty());
        let found = parse_header(&segment, offset, &seed, SEGMENT_BYTES);
        assert_eq!(found.is_some(), valid, "{offset}");
        assert_eq!(parse_header_at(&segment[offset as usize..], offset, &seed, SEGMENT_BYTES), found);
    }
}

// spec: F-5.7
#[test]
fn count_0_stands_for_no_commit() {
    let mut example = put_and_delete();
    example.segment[AT as usize + 8..][..4].fill(0);
    example.reseal_header();
    assert_eq!(example.header(), None);
}

// spec: F-5.7
#[test]
fn records_that_are_not_as_many_as_counted_make_a_frame_invalid() {
    let mut example = put_and_delete();
    example.segment[AT as usize + 28] = 3;
    example.reseal_header();
    assert_eq!(example.check(), Err(FrameFault::RecordCount(2)));
}

// spec: F-5.7
#[test]
fn records_that_do_not_fill_the_body_exactly_make_a_frame_invalid() {
    for body_len in [25, 27, 13, 15] {
        let mut example = put_and_delete();
        example.segment.extend([0; 8]);
        example.segment[AT as usize + 20] = body_len;
        example.reseal_header();
        assert!(matches!(example.check(), Err(FrameFault::Record(..))), "{body_len}");
    }
}

// spec: F-5.7
#[test]
fn unknown_flags_leave_a_header_readable_and_are_told_apart() {
    for (flags, known) in [
        (FrameFlags::NONE, true),
        (FrameFlags::OPENING | FrameFlags::WATERMARK | FrameFlags::SYSTEM, true),
        // Encrypted.
        (FrameFlags(8), false),
        (FrameFlags(16), false),
        (FrameFlags(1 << 15), false),
    ] {
        let example = Example::new(0, header(Lsn::new(1, 2), 1, flags), &[put(1, b"\xa0")]);
        let parsed = example.header().expect("a valid header");
        assert_eq!((parsed.flags, parsed.flags.is_known()), (flags, known), "{flags:?}");
        assert_eq!(example.check(), Ok(()));
    }
}

// spec: F-5.4
#[test]
fn a_claim_stays_within_its_incarnation() {
    let claim = |lsn, lag| header(lsn, lag, FrameFlags::NONE).claim();
    assert_eq!(claim(Lsn::new(4, 10), 3), Some(Lsn::new(4, 7)));
    assert_eq!(claim(Lsn::new(4, 10), 10), Some(Lsn::new(4, 0)));
    assert_eq!(claim(Lsn::new(4, 10), 11), None);
    assert_eq!(claim(Lsn::new(4, u32::MAX), CLAIMS_NOTHING), None);
}

// spec: F-5.6
#[test]
fn part_number_and_last_share_their_16_bits() {
    for (part, last) in [(0, true), (0, false), (32_767, false), (32_767, true)] {
        let parts = FrameHeader { part, last, ..header(Lsn::new(1, 2), 0, FrameFlags::NONE) };
        let parsed = Example::new(3, parts, &[]).header().expect("a valid header");
        assert_eq!((parsed.part, parsed.last), (part, last));
    }
}

#[test]
fn records_come_in_log_order_with_their_offsets() {
    let example = put_and_delete();
    let header = example.header().expect("a valid header");
    let found: Vec<_> = Frame { offset: AT, header }
        .records(&example.segment, &example.record_seed)
        .map(|record| record.map(|(offset, record)| (offset, record.kind, record.key)))
        .collect();
    let key = Some(KeyRef::Int(1));
    assert_eq!(found, [Ok((544, Kind::Put, key)), Ok((558, Kind::Delete, key))]);
}

// spec: F-6.3, R-2.7
#[test]
fn a_valid_frame_may_hold_a_record_of_a_newer_version() {
    let unknown = RecordParts { kind: Kind::Reserved(9), key: None, ..put(0, b"?") };
    let example = Example::new(0, header(Lsn::new(1, 2), 1, FrameFlags::NONE), &[unknown, put(1, b"\xa0")]);
    assert_eq!(example.check(), Ok(()));
    let header = example.header().expect("a valid header");
    let mut found = Frame { offset: AT, header }.records(&example.segment, &example.record_seed);
    assert_eq!(found.next(), Some(Err((544, RecordFault::Unsupported(9)))));
    assert_eq!(found.next(), None);
}

#[test]
fn only_zeros_are_zeros() {
    for len in [0, 1, 63, 64, 65, 128, 200] {
        let mut bytes = vec![0; len];
        assert!(is_zeros(&bytes), "{len} of them");
        for at in 0..len {
            bytes[at] = 1;
            bytes[at / 2] = 1;
            assert!(!is_zeros(&bytes), "all but {at} and {}", at / 2);
            (bytes[at], bytes[at / 2]) = (0, 0);
        }
    }
}

proptest! {
    #[test]
    fn a_frame_reads_back_as_it_was_written(
        lsn in (any::<u32>(), 1..=u32::MAX).prop_map(|(incarnation, count)| Lsn::new(incarnation, count)),
        (durable_lag, last, flags, sequence) in any::<(u32, bool, u16, u64)>(),
        part in 0..32_768_u16,
        bodies in proptest::collection::vec((any::<i64>(), any::<Vec<u8>>()), 0..8),
    ) {
        let written = FrameHeader { part, last, ..header(lsn, durable_lag, FrameFlags(flags)) };
        let puts: Vec<_> = bodies.iter().map(|(key, body)| put(*key, body)).collect();
        let example = Example::new(sequence, written, &puts);
        let parsed = example.header().expect("a valid header");
        let FrameHeader { body_crc, body_len, record_count, .. } = parsed;
        prop_assert_eq!(parsed, FrameHeader { body_crc, body_len, record_count, ..written });
        prop_assert_eq!(example.check(), Ok(()));
        let found: Vec<_> = Frame { offset: AT, header: parsed }
            .records(&example.segment, &example.record_seed)
            .map(|record| record.map(|(_, record)| (record.key, record.body.to_vec())))
            .collect();
        let expected: Vec<_> =
            bodies.into_iter().map(|(key, body)| Ok((Some(KeyRef::Int(key)), body))).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn any_bytes_at_any_offset_are_read_without_panic(segment: Vec<u8>, offset: u32, near in 0_u32..64) {
        let seed = SegmentSeed::for_segment(&LINEAGE, 0);
        for offset in [offset, near, near * 8] {
            for segment_bytes in [0, 32, 512, SEGMENT_BYTES, u32::MAX] {
                prop_assert_eq!(parse_header(&segment, offset, &seed, segment_bytes), None);
            }
        }
    }

    #[test]
    fn any_body_under_a_header_that_holds_is_read_without_panic(
        body in proptest::collection::vec(any::<u8>(), 0..200),
        body_len in 0_u32..256,
        record_count in 0_u32..4,
    ) {
        let mut example = put_and_delete();
        example.segment.truncate(AT as usize + FRAME_HEADER_LEN);
        example.segment.extend(body);
        example.segment[AT as usize + 20..][..4].copy_from_slice(&body_len.to_le_bytes());
        example.segment[AT as usize + 28..][..4].copy_from_slice(&record_count.to_le_bytes());
        example.reseal_header();
        let header = example.header().expect("a valid header");
        prop_assert!(example.check().is_err());
        let frame = Frame { offset: AT, header };
        prop_assert!(frame.records(&example.segment, &example.record_seed).count() <= 1);
    }
}
