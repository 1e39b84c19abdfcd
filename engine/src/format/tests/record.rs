use super::super::checksum::crc_append;
use super::super::record::{
    Kind, PEEK_LEN, RECORD_HEADER_LEN_MAX, RECORD_OVERHEAD_MAX, Record, RecordFault, RecordParts, RecordSeed,
    Replaced, encode_ended, parse, peek_len, verify,
};
use super::super::{LogAddress, Lsn, SEGMENT_BYTES_MAX, varint};
use super::{LINEAGE, for_every_bit_flip, hex};
use crate::document::{KEY_LEN_MAX, KeyRef};
use proptest::prelude::*;

fn put<'a>(key: KeyRef<'a>, body: &'a [u8]) -> RecordParts<'a> {
    RecordParts {
        kind: Kind::Put,
        collection: 1,
        commit: 1,
        own_lsn: None,
        replaces: None,
        expiry: None,
        chunked: false,
        key: Some(key),
        body,
    }
}

fn encode(parts: &RecordParts<'_>, seed: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    parts.encode(seed, &mut bytes);
    bytes
}

/// A record whose checksum holds, of these bytes behind it.
fn sealed(digits: &str) -> Vec<u8> {
    let rest = hex(digits);
    let mut bytes = crc_append(0, &rest).to_le_bytes().to_vec();
    bytes.extend(rest);
    bytes
}

fn parts<'a>(record: &Record<'a>) -> RecordParts<'a> {
    let &Record { kind, collection, commit, own_lsn, replaces, expiry, chunked, key, body, .. } = record;
    RecordParts { kind, collection, commit, own_lsn, replaces, expiry, chunked, key, body }
}

// spec: F-6.1
#[test]
fn a_put_is_laid_out_as_the_table_says() {
    let seed = RecordSeed::new(&LINEAGE, 1, 0).at(544);
    let document = hex("a1 61 61 01");
    let bytes = encode(&put(KeyRef::Int(1), &document), seed);
    assert_eq!(bytes, hex("ac8955c1 01 00 07 01 01 01 a1616101"));
    let record = parse(&bytes, seed).expect("a record");
    assert_eq!(parts(&record), put(KeyRef::Int(1), &document));
    assert_eq!((record.key_bytes, record.len, record.crc), ([1].as_slice(), 14, 0xc155_89ac));
}

// spec: F-6.1, F-6.4, F-6.7, F-6.8
#[test]
fn a_relocated_put_with_every_field_is_laid_out_as_the_table_says() {
    let seed = RecordSeed::new(&LINEAGE, 3, 70).at(4096);
    let chunk_list = hex("0a 01 0010000000000000");
    // Of the chunks one stood in the segment 3, two in the segment 300.
    let ended = encode_ended(vec![300, 3, 300]);
    let relocated = RecordParts {
        kind: Kind::RelocatedPut,
        collection: 300,
        commit: 128,
        own_lsn: Some(Lsn::new(2, 70_000)),
        replaces: Some(Replaced { value: 4 * 1000 + 3, ended: &ended }),
        expiry: Some(-1),
        chunked: true,
        ..put(KeyRef::Text("k"), &chunk_list)
    };
    let bytes = encode(&relocated, seed);
    let expected = hex("
        b913c1e3 03 0b 28 ac02 8001 7011010002000000 a31f 02 03 01 ac02 02 ffffffffffffffff
        616b 0a 01 0010000000000000");
    assert_eq!(bytes, expected);
    assert_eq!(parse(&bytes, seed).map(|record| parts(&record)), Ok(relocated));
}

// spec: F-6.1
#[test]
fn a_flip_of_any_bit_makes_a_record_invalid() {
    let seed = RecordSeed::new(&LINEAGE, 1, 0).at(544);
    let mut bytes = encode(&put(KeyRef::Text("key"), b"\xa1\x61a\x01"), seed);
    // With bytes behind it, so that a longer length still finds some.
    let len = bytes.len();
    bytes.extend([0; 300]);
    for_every_bit_flip(&bytes[..len], |bit, flipped| {
        let mut damaged = bytes.clone();
        damaged[..len].copy_from_slice(flipped);
        assert!(verify(&damaged, seed).is_err(), "bit {bit}");
        assert!(parse(&damaged, seed).is_err(), "bit {bit}");
    });
}

// spec: F-6.1
#[test]
fn a_record_is_valid_in_no_other_place_and_no_other_life() {
    let seed = RecordSeed::new(&LINEAGE, 1, 5).at(544);
    let bytes = encode(&put(KeyRef::Int(1), b"\xa0"), seed);
    assert!(parse(&bytes, seed).is_ok());
    for other in [
        RecordSeed::new(&LINEAGE, 1, 5).at(552),
        RecordSeed::new(&LINEAGE, 1, 6).at(544),
        RecordSeed::new(&LINEAGE, 2, 5).at(544),
        RecordSeed::new(&[0; 16], 1, 5).at(544),
    ] {
        assert!(matches!(parse(&bytes, other), Err(RecordFault::Crc { .. })));
    }
}

//= spec/format.md#f-1-3-checksums
//= type=test
//# A reader MUST verify a checksum before it uses any byte under it, except to find how many bytes the
//# checksum covers; such a length MUST be checked against its bounds first.
#[test]
fn a_length_beyond_the_bytes_given_is_reported_and_not_followed() {
    let bytes = encode(&put(KeyRef::Int(1), &[7; 300]), 0);
    for len in 0..8 {
        assert_eq!(parse(&bytes[..len], 0), Err(RecordFault::TooShort { needed: None }), "{len}");
    }
    for len in 8..bytes.len() {
        assert_eq!(
            parse(&bytes[..len], 0),
            Err(RecordFault::TooShort { needed: Some(bytes.len()) }),
            "{len}"
        );
    }
    assert!(parse(&bytes, 0).is_ok());
}

// spec: F-1.3
#[test]
fn a_length_that_no_segment_holds_is_none() {
    for (payload, len) in [
        (u64::from(SEGMENT_BYTES_MAX) - 1, Some(SEGMENT_BYTES_MAX as usize - 1 + 10)),
        (u64::from(SEGMENT_BYTES_MAX), None),
        (u64::MAX, None),
    ] {
        let mut bytes = vec![0; 6];
        varint::put(&mut bytes, payload);
        bytes.resize(PEEK_LEN, 0);
        assert_eq!(peek_len(&bytes), len, "{payload}");
        assert_eq!(parse(&bytes, 0), Err(RecordFault::TooShort { needed: len }), "{payload}");
    }
}

//= spec/format.md#f-6-3-kinds
//= type=test
//# A reader MUST refuse a frame that is to be replayed and holds a record of a kind below 128 that it does
//# not know.
#[test]
fn an_unknown_kind_below_128_is_refused_and_kind_0_is_damage() {
    for kind in 9..128 {
        let bytes = sealed(&format!("{kind:02x} 00 02 00 00"));
        assert_eq!(parse(&bytes, 0), Err(RecordFault::Unsupported(kind)));
    }
    assert_eq!(parse(&sealed("00 00 02 00 00"), 0), Err(RecordFault::Malformed("a record of kind 0")));
}

//= spec/format.md#f-6-3-kinds
//= type=test
//# A reader MUST skip a record of a kind of 128 or more that it does not know.
#[test]
fn an_unknown_kind_from_128_on_is_skipped_whatever_its_flags() {
    for kind in 128..=255 {
        let bytes = sealed(&format!("{kind:02x} ff 05 02 03 aa bb cc"));
        let record = parse(&bytes, 0).expect("a record to skip");
        assert_eq!((record.kind, record.collection, record.commit), (Kind::Skippable(kind), 2, 3));
        assert_eq!((record.body, record.len), ([0xaa, 0xbb, 0xcc].as_slice(), bytes.len()));
    }
}

//= spec/format.md#f-6-4-flags
//= type=test
//# A reader MUST refuse a record of a kind below 128 that has a reserved flag or coding set.
#[test]
fn a_reserved_flag_or_coding_is_refused() {
    for flags in [0x10, 0x20, 0x40, 0x80, 0xf0] {
        let bytes = sealed(&format!("01 {flags:02x} 04 01 01 01 a0"));
        assert_eq!(parse(&bytes, 0), Err(RecordFault::Unsupported(flags)));
    }
}

//= spec/format.md#f-6-4-flags
//= type=test
//# A reader MUST skip an extension block that it does not know.
#[test]
fn an_extension_block_is_skipped() {
    let record = sealed("01 04 08 01 01 03 ee ee ee 05 a0");
    let record = parse(&record, 0).expect("a record");
    assert_eq!((record.key, record.body), (Some(KeyRef::Int(5)), [0xa0].as_slice()));
    let cut_short = sealed("01 04 04 01 01 03 ee");
    assert_eq!(parse(&cut_short, 0), Err(RecordFault::Malformed("extension block")));
}

// spec: F-6.1, F-6.3, F-2.2
#[test]
fn fields_that_are_missing_or_out_of_range_are_damage() {
    for (digits, what) in [
        ("01 00 00", "collection id"),
        ("01 00 01 01", "commit"),
        ("01 00 06 8080808010 01", "collection id"), // 2^32
        ("01 00 02 8100", "collection id"),          // 1 in two bytes
        ("01 00 06 01 8080808010", "commit"),
        ("01 00 02 01 01", "key"),
        ("01 00 03 01 01 f6", "key"), // null
        ("03 00 05 01 01 00 00 00", "own LSN"),
        ("03 00 0b 01 01 0000000000000000 01", "a relocated put that replaces nothing"),
        ("01 01 02 01 01", "version replaced"),
        ("01 01 03 01 01 01", "version replaced"), // address 0
        ("01 01 0b 01 01 808080808080808002", "version replaced"), // 4 x 2^55
        ("01 01 03 01 01 06", "version replaced"), // chunks, and no list
        ("01 01 04 01 01 06 01", "version replaced"), // a pair is missing
        ("01 01 05 01 01 06 01 05", "version replaced"), // half of it
        ("01 01 06 01 01 06 01 05 00", "version replaced"), // no chunk
        ("01 01 08 01 01 06 02 05 01 05 01", "version replaced"), // one segment twice
        ("01 01 08 01 01 06 02 05 01 04 01", "version replaced"), // the wrong order
        ("01 02 04 01 01 00 00", "expiry"),
        ("02 00 04 01 01 01 00", "a delete with a body"),
        ("04 00 03 01 01 01", "a chunk without its number"),
        ("06 00 03 00 00 00", "a segment-freed body has 12 bytes"),
        ("07 00 03 00 00 00", "an opening body has 16 bytes"),
        ("08 00 03 00 00 00", "a commit-time body has 8 bytes"),
        ("01 08 04 01 01 01 a0", "not a chunk list"),
        ("02 08 03 01 01 01", "a chunk list in a record that holds no document"),
    ] {
        assert_eq!(parse(&sealed(digits), 0), Err(RecordFault::Malformed(what)), "{digits}");
    }
}

// spec: F-2.2
#[test]
fn the_last_log_address_is_one() {
    let replaces = Some(Replaced { value: LogAddress::MAX.0 << 2, ended: &[] });
    let written = RecordParts { replaces, ..put(KeyRef::Int(1), b"\xa0") };
    let bytes = encode(&written, 0);
    assert_eq!(parse(&bytes, 0).map(|record| parts(&record)), Ok(written));
}

#[test]
fn the_longest_header_and_overhead_are_as_stated() {
    let longest = RecordParts {
        kind: Kind::RelocatedPut,
        collection: u32::MAX,
        commit: u32::MAX,
        own_lsn: Some(Lsn(u64::MAX)),
        replaces: Some(Replaced { value: LogAddress::MAX.0 << 2 | 1, ended: &[] }),
        expiry: Some(i64::MAX),
        ..put(KeyRef::Int(0), &[])
    };
    // A body so long that the length field is as long as it gets.
    let key = [0; KEY_LEN_MAX];
    let body = vec![0; 1 << 21];
    let with_body = RecordParts { key: Some(KeyRef::Bytes(&key)), body: &body, ..longest };
    assert_eq!(with_body.encoded_len(), RECORD_OVERHEAD_MAX + body.len());
    assert_eq!(RECORD_OVERHEAD_MAX, RECORD_HEADER_LEN_MAX + 3 + KEY_LEN_MAX);
}

#[test]
#[should_panic(expected = "the kind says whether there is a key")]
fn a_put_without_a_key_is_not_written() {
    encode(&RecordParts { key: None, ..put(KeyRef::Int(1), &[]) }, 0);
}

#[derive(Debug, Clone)]
enum OwnedKey {
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl OwnedKey {
    fn as_ref(&self) -> KeyRef<'_> {
        match self {
            OwnedKey::Int(key) => KeyRef::Int(*key),
            OwnedKey::Text(key) => KeyRef::Text(key),
            OwnedKey::Bytes(key) => KeyRef::Bytes(key),
        }
    }
}

fn any_key() -> impl Strategy<Value = OwnedKey> {
    prop_oneof![
        any::<i64>().prop_map(OwnedKey::Int),
        ".{0,40}".prop_map(OwnedKey::Text),
        proptest::collection::vec(any::<u8>(), 0..300).prop_map(OwnedKey::Bytes),
    ]
}

/// The value of a version.
pub(super) fn any_value() -> impl Strategy<Value = u64> {
    4..=LogAddress::MAX.0 << 2 | 3
}

/// The list of the chunks that die with it.
pub(super) fn any_list() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(0..1u64 << 46, 0..9).prop_map(encode_ended)
}

/// The version of this value, with this list if it is of chunks.
pub(super) fn replaced(value: u64, list: &[u8]) -> Replaced<'_> {
    Replaced { value, ended: if value & 2 == 0 { &[] } else { list } }
}

proptest! {
    #[test]
    fn a_record_reads_back_as_it_was_written(
        key in any_key(),
        (collection, commit, own_lsn, expiry) in any::<(u32, u32, u64, Option<i64>)>(),
        is_moved in any::<bool>(),
        (replaces, list) in (proptest::option::of(any_value()), any_list()),
        (body, behind, seed) in any::<(Vec<u8>, Vec<u8>, u32)>(),
    ) {
        let kind = if is_moved { Kind::RelocatedPut } else { Kind::Put };
        let own_lsn = is_moved.then_some(Lsn(own_lsn));
        let replaces = replaces.or(is_moved.then_some(4)).map(|value| replaced(value, &list));
        let written = RecordParts {
            kind, collection, commit, own_lsn, replaces, expiry, chunked: false, key: Some(key.as_ref()), body: &body,
        };
        let mut bytes = vec![0x99; 3];
        let crc = written.encode(seed, &mut bytes);
        let mut bytes = bytes.split_off(3);
        let len = bytes.len();
        prop_assert_eq!(len, written.encoded_len());
        prop_assert_eq!(peek_len(&bytes), Some(len));
        bytes.extend(behind);
        let record = parse(&bytes, seed).expect("a record");
        prop_assert_eq!(parts(&record), written);
        prop_assert_eq!((record.len, record.crc), (len, crc));
        prop_assert_eq!(KeyRef::decode(record.key_bytes).expect("a key"), (key.as_ref(), record.key_bytes.len()));
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes: Vec<u8>, seed: u32) {
        let _ = peek_len(&bytes);
        let _ = parse(&bytes, seed);
    }

    #[test]
    fn any_fields_under_a_checksum_that_holds_are_read_without_panic(
        (kind, flags) in (0_u8..=10, any::<u8>()),
        payload in proptest::collection::vec(prop_oneof![0_u8..4, any::<u8>()], 0..60),
    ) {
        let mut rest = vec![kind, flags, payload.len() as u8];
        rest.extend(&payload);
        let mut bytes = crc_append(7, &rest).to_le_bytes().to_vec();
        bytes.extend(rest);
        prop_assert_eq!(verify(&bytes, 7).map(|extent| extent.len), Ok(bytes.len()));
        match parse(&bytes, 7) {
            // What reads as a record is what would be written, but for an extension block, which is dropped.
            Ok(record) if flags & 4 == 0 => prop_assert_eq!(encode(&parts(&record), 7), bytes),
            Ok(_) | Err(RecordFault::Malformed(_) | RecordFault::Unsupported(_)) => {}
            Err(fault) => prop_assert!(false, "{fault:?}"),
        }
    }
}
