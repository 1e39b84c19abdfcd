use super::super::index_record::{
    INDEX_RECORD_LEN_MIN, INDEX_RECORD_OVERHEAD_MAX, IndexPlace, IndexRecord, IndexRecordKind, Reference,
};
use super::super::record::RecordFault;
use super::super::{Geometry, Lsn, checksum::crc};
use super::{LINEAGE, for_every_bit_flip, hex};

const PLACE: IndexPlace<'static> =
    IndexPlace { lineage: &LINEAGE, physical: 3, offset: 64, lsn: Lsn::new(2, 9) };

fn example() -> IndexRecord<'static> {
    IndexRecord { kind: IndexRecordKind::Directory, collection: 300, commit: 4, body: b"abc" }
}

fn encoded(record: IndexRecord<'_>, place: &IndexPlace<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    record.encode(place, &mut bytes);
    bytes
}

/// The same bytes under a checksum that holds.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let seed = [&LINEAGE[..], &hex("03000000 0900000002000000 40000000"), &bytes[4..]].concat();
    bytes[..4].copy_from_slice(&crc(&seed).to_le_bytes());
    bytes
}

// spec: F-8.11
#[test]
fn an_index_record_is_as_the_table_says() {
    let bytes = encoded(example(), &PLACE);
    assert_eq!(bytes[4..], hex("11 00 06 ac02 04 616263"));
    assert_eq!(bytes, resealed(bytes.clone()));
    let (record, extent) = IndexRecord::parse(&bytes, &PLACE).expect("it is sound");
    assert_eq!((record, extent.len as u32), (example(), example().encoded_len()));
    let kinds =
        [IndexRecordKind::Leaf, IndexRecordKind::Directory, IndexRecordKind::Root, IndexRecordKind::Patch];
    assert_eq!(kinds.map(IndexRecordKind::byte), [16, 17, 18, 19]);
    let shortest = IndexRecord { collection: 0, commit: 0, body: &[], ..example() };
    assert_eq!(shortest.encoded_len(), INDEX_RECORD_LEN_MIN);
    let body = &vec![0; 16_384 - INDEX_RECORD_OVERHEAD_MAX];
    let longest = IndexRecord { collection: u32::MAX, commit: u32::MAX.into(), body, ..example() };
    assert_eq!(longest.encoded_len(), 16_384);
}

// spec: F-8.11, F-1.3
#[test]
fn a_flip_of_any_bit_and_any_other_place_are_found() {
    let bytes = encoded(example(), &PLACE);
    for_every_bit_flip(&bytes, |bit, flipped| {
        assert!(IndexRecord::parse(flipped, &PLACE).is_err(), "bit {bit}");
        assert!(IndexRecord::find(flipped, &mut IndexPlace { lsn: Lsn::new(2, 5), ..PLACE }).is_err());
    });
    let others = [
        IndexPlace { lineage: &[7; 16], ..PLACE },
        IndexPlace { physical: 4, ..PLACE },
        IndexPlace { offset: 72, ..PLACE },
        IndexPlace { lsn: Lsn::new(2, 10), ..PLACE },
    ];
    for other in others {
        let fault = IndexRecord::parse(&bytes, &other);
        assert!(matches!(fault, Err(RecordFault::Crc { .. })), "{other:?}: {fault:?}");
    }
}

// spec: F-8.11, F-8.12
#[test]
fn what_is_no_index_record_under_a_right_checksum_is_malformed() {
    for (at, byte) in [(4, 15), (4, 20), (5, 1), (8, 0x82), (9, 0x84)] {
        let mut bytes = encoded(IndexRecord { collection: 0x82, body: &[0x80; 3], ..example() }, &PLACE);
        bytes[at] = byte;
        let fault = IndexRecord::parse(&resealed(bytes), &PLACE).map(|(record, _)| record.body.len());
        assert!(matches!(fault, Err(RecordFault::Malformed(_))), "{byte} at {at}: {fault:?}");
    }
}

// spec: F-8.11. Who finds a record without a reference learns its checkpoint from the header of the segment and from `commit`.
#[test]
fn a_record_is_found_by_the_first_lsn_of_its_segment() {
    let bytes = [encoded(example(), &PLACE), vec![0; 20]].concat();
    let mut place = IndexPlace { lsn: Lsn::new(2, 5), ..PLACE };
    let (record, _) = IndexRecord::find(&bytes, &mut place).expect("it is sound");
    assert_eq!((record, place.lsn), (example(), PLACE.lsn));
    for lsn in [Lsn::new(2, 6), Lsn::new(3, 5)] {
        assert!(IndexRecord::find(&bytes, &mut IndexPlace { lsn, ..PLACE }).is_err());
    }
    let beyond = Lsn::new(2, u32::MAX - 3);
    assert!(IndexRecord::find(&bytes, &mut IndexPlace { lsn: beyond, ..PLACE }).is_err());
    for (what, bytes) in
        [("zeros", vec![0; 64]), ("its beginning", bytes[..10].to_vec()), ("nothing", vec![])]
    {
        let fault = IndexRecord::find(&bytes, &mut IndexPlace { lsn: Lsn::new(2, 5), ..PLACE });
        assert!(matches!(fault, Err(RecordFault::Malformed(_))), "{what} are never put under a checksum");
    }
}

// spec: F-8.12
#[test]
fn a_reference_is_three_varints_and_a_checksum() {
    let reference = Reference { physical: 300, offset: 64, len: 9, crc: 0x0403_0201 };
    let mut bytes = Vec::new();
    reference.put(&mut bytes);
    assert_eq!(bytes, hex("ac02 40 09 01020304"));
    for len in 0..bytes.len() {
        assert_eq!(Reference::take(&mut &bytes[..len]), None, "{len} bytes of it");
    }
    bytes.push(7);
    let mut rest = &bytes[..];
    assert_eq!((Reference::take(&mut rest), rest), (Some(reference), &[7][..]));
    assert_eq!(Reference::take(&mut &hex("8080808010 40 09 01020304")[..]), None, "2^32 is no index");
}

// spec: F-8.11, F-8.12
#[test]
fn an_index_record_begins_and_ends_within_the_data_of_its_segment() {
    let geometry = Geometry::new(64, 512).expect("a geometry");
    let at = |offset, len| Reference { physical: 0, offset, len, crc: 0 }.is_possible(geometry);
    assert!([(64, 9), (64, 448), (496, 16), (72, 440)].into_iter().all(|(offset, len)| at(offset, len)));
    let none = [(56, 9), (68, 9), (64, 8), (64, 449), (496, 17), (512, 9), (u32::MAX - 7, 9), (64, u32::MAX)];
    assert!(!none.into_iter().any(|(offset, len)| at(offset, len)));
    let long = Geometry::new(64, 1 << 20).expect("a geometry");
    let at = |len| Reference { physical: 0, offset: 64, len, crc: 0 }.is_possible(long);
    assert!(at(16_384) && !at(16_385));
}
