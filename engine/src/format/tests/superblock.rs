use super::super::checksum::crc;
use super::super::index_record::Reference;
use super::super::superblock::{CheckpointRef, SLOT_LEN, SLOT_OFFSETS, Slot, Superblock, parse_slot};
use super::super::{Geometry, Lsn};
use super::{LINEAGE, for_every_bit_flip, hex};
use crate::error::{Clause, Error};
use proptest::prelude::*;

fn geometry() -> Geometry {
    Geometry::new(512, 1 << 20).expect("a legal geometry")
}

fn example() -> Superblock {
    Superblock {
        minor: 0,
        incompatible: 0,
        read_only_compatible: 0,
        compatible: 0,
        geometry: geometry(),
        lineage: LINEAGE,
        instance: [
            0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf,
        ],
        application_id: 0x1122_3344,
        user_version: 7,
        quota: 1 << 30,
        generation: 5,
        incarnation: 3,
        clean: true,
        durable_lsn: Lsn::new(3, 10),
        file_len: 16_384 + (2 << 20),
        checkpoints: [Some(example_checkpoint()), None],
    }
}

fn example_checkpoint() -> CheckpointRef {
    CheckpointRef {
        lsn: Lsn::new(3, 9),
        root: Reference { physical: 1, offset: 512, len: 0x0203, crc: 0xdead_beef },
        replay_physical: 0,
        replay_sequence: 4,
        replay_offset: 1024,
        replay_lsn: Lsn::new(3, 9),
    }
}

/// The bytes of [`example`], put together by hand from the table of F-3.1.
fn example_bytes() -> Vec<u8> {
    let mut bytes = hex("
        48 4f 4c 4f 54 59 50 45  0300 0000  01 000000
        0000000000000000 0000000000000000 0000000000000000
        00020000 00001000
        a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 aa ab ac ad ae af
        c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 ca cb cc cd ce cf
        44332211 07000000 0000004000000000");
    bytes.extend([0; 256]);
    bytes.extend(hex("
        0500000000000000 03000000 01000000 0a00000003000000 0040200000000000
        0900000003000000 01000000 00020000 efbeadde 00000000 0400000000000000 00040000 03020000 0900000003000000"));
    bytes.extend([0; 48 + 28]);
    bytes.extend(hex("eca0cff7"));
    bytes
}

/// Parses a slot after `change`, under a checksum that holds.
fn parse_resealed(superblock: &Superblock, change: impl FnOnce(&mut [u8; SLOT_LEN])) -> Slot {
    let mut bytes = superblock.encode();
    change(&mut bytes);
    let sum = crc(&bytes[..508]);
    bytes[508..].copy_from_slice(&sum.to_le_bytes());
    parse_slot(&bytes, superblock.slot())
}

//= spec/format.md#f-1-1-integers
//= type=test
//# Every integer of fixed width MUST be stored little-endian, whatever the machine.
//= spec/format.md#f-1-4-reserved-bytes
//= type=test
//# A writer MUST set bytes that this page calls reserved to zero.
// spec: F-3.1, F-3.2
#[test]
fn a_slot_is_laid_out_as_the_table_says() {
    let bytes = example().encode();
    assert_eq!(bytes.as_slice(), example_bytes());
    let Slot::Valid(parsed) = parse_slot(&bytes, 1) else { panic!("the slot is valid") };
    assert_eq!(*parsed, example());
}

//= spec/format.md#f-3-3-validity
//= type=test
//# A reader MUST NOT use any field of a slot that is not valid, save its magic and its format version, and
//# these only to say what the file is.
#[test]
fn a_flip_of_any_bit_makes_a_slot_invalid() {
    for_every_bit_flip(&example().encode(), |bit, flipped| {
        let slot = parse_slot(flipped.try_into().expect("a slot"), 1);
        match slot {
            Slot::Foreign => assert!(bit < 64, "only the magic makes a slot foreign, not bit {bit}"),
            Slot::Torn => assert!(bit >= 64, "bit {bit}"),
            other => panic!("bit {bit}: {other:?}"),
        }
    });
}

#[cfg(feature = "seeded")]
#[test]
fn a_reserved_byte_that_is_set_goes_not_unnoticed() {
    crate::seeded::assert_noticed(crate::seeded::Bug::ReservedByteSet, a_slot_is_laid_out_as_the_table_says);
}

// spec: F-3.3
#[test]
fn a_slot_in_the_place_of_the_other_is_invalid() {
    assert_eq!(example().slot(), 1);
    assert!(matches!(parse_slot(&example().encode(), 0), Slot::Torn));
}

#[test]
fn a_slot_never_written_is_blank_and_one_of_other_bytes_foreign() {
    assert!(matches!(parse_slot(&[0; SLOT_LEN], 0), Slot::Blank));
    assert!(matches!(parse_slot(&[0x55; SLOT_LEN], 0), Slot::Foreign));
    let mut almost_blank = [0; SLOT_LEN];
    almost_blank[SLOT_LEN - 1] = 1;
    assert!(matches!(parse_slot(&almost_blank, 0), Slot::Foreign));
}

//= spec/format.md#f-3-4-versions-and-features
//= type=test
//# A reader MUST refuse the file when a valid slot, the newest or not, has a format major other than 3, a
//# checksum kind other than 1, or in its incompatible mask a bit that the reader does not know.
//= spec/versions.md#c-2-1-newer-major
//= type=test
//# The error MUST say which major and minor version the file has.
#[test]
fn another_major_version_checksum_or_unknown_feature_is_a_newer_format() {
    let refused = |slot| match slot {
        Slot::Refused(Error::NewerFormat { major, minor, unknown_features }) => {
            (major, minor, unknown_features)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(parse_resealed(&example(), |bytes| (bytes[8], bytes[10]) = (4, 4))), (4, 4, 0));
    assert_eq!(refused(parse_resealed(&example(), |bytes| bytes[12] = 2)), (3, 0, 0));
    assert_eq!(refused(parse_resealed(&example(), |bytes| bytes[23] = 0x80)), (3, 0, 1 << 63));
}

//= spec/versions.md#c-2-2-newer-minor
//= type=test
//# A reader MUST open a file of its own major and a higher minor version as it opens one of its own, unless a
//# rule of C-2.3 refuses.
// spec: F-3.4
#[test]
fn a_higher_minor_and_compatible_features_change_nothing_and_are_kept() {
    let newer = Superblock { minor: 3, compatible: 0xff, ..example() };
    let Slot::Valid(parsed) = parse_slot(&newer.encode(), 1) else { panic!("the slot is valid") };
    assert_eq!(*parsed, newer);
    assert!(!parsed.read_only());
}

// spec: F-3.4
#[test]
fn an_unknown_read_only_compatible_feature_asks_for_reading_only() {
    let newer = Superblock { read_only_compatible: 1, ..example() };
    let Slot::Valid(parsed) = parse_slot(&newer.encode(), 1) else { panic!("the slot is valid") };
    assert!(parsed.read_only());
}

//= spec/format.md#f-1-4-reserved-bytes
//= type=test
//# A reader MUST ignore the value of reserved bytes in a superblock slot whose checksum holds.
#[test]
fn reserved_bytes_under_a_checksum_that_holds_are_ignored() {
    for reserved in [13, 96, 351, 365, 367, 480, 507] {
        let Slot::Valid(parsed) = parse_resealed(&example(), |bytes| bytes[reserved] = 0xff) else {
            panic!("byte {reserved} is reserved")
        };
        assert_eq!(*parsed, example(), "byte {reserved}");
    }
}

//= spec/format.md#f-2-1-regions
//= type=test
//# A reader MUST report the file as corrupt when a valid slot, the newest or not, has a geometry outside of
//# these bounds.
#[test]
fn a_geometry_out_of_bounds_is_corruption_at_its_place() {
    let slot = parse_resealed(&example(), |bytes| bytes[40..44].copy_from_slice(&500_u32.to_le_bytes()));
    let Slot::Refused(Error::Corrupt(corruption)) = slot else { panic!("{slot:?}") };
    assert_eq!((corruption.at, corruption.clause), (SLOT_OFFSETS[1] + 40, Clause("F-2.1")));
    assert_eq!(corruption.found, 500 << 32 | 1 << 20);
}

//= spec/format.md#f-3-2-checkpoint-reference
//= type=test
//# A reader MUST report the file as corrupt when a valid slot, the newest or not, has a reference of LSN 0
//# with another field that is not zero; an offset at which no index record of the length can be (F-8.11); a
//# replay start whose offset is not a multiple of 8 from `sector` to segment_bytes; or a sequence whose
//# addresses do not fit into 55 bits.
#[test]
fn a_checkpoint_reference_that_points_outside_of_its_segment_is_corruption() {
    let checkpoint = example_checkpoint();
    for (at, broken) in [
        (384 + 12, CheckpointRef { root: Reference { offset: 504, ..checkpoint.root }, ..checkpoint }),
        (384 + 12, CheckpointRef { root: Reference { offset: 513, ..checkpoint.root }, ..checkpoint }),
        (
            384 + 12,
            CheckpointRef { root: Reference { offset: (1 << 20) - 512, ..checkpoint.root }, ..checkpoint },
        ),
        (384 + 12, CheckpointRef { root: Reference { len: 8, ..checkpoint.root }, ..checkpoint }),
        (384 + 12, CheckpointRef { root: Reference { len: 16_385, ..checkpoint.root }, ..checkpoint }),
        (
            384 + 12,
            CheckpointRef { root: Reference { offset: u32::MAX - 7, ..checkpoint.root }, ..checkpoint },
        ),
        (384 + 32, CheckpointRef { replay_offset: 0, ..checkpoint }),
        (384 + 32, CheckpointRef { replay_offset: 1025, ..checkpoint }),
        (384 + 32, CheckpointRef { replay_offset: (1 << 20) + 8, ..checkpoint }),
        (384 + 24, CheckpointRef { replay_sequence: 1 << 35, ..checkpoint }),
    ] {
        let superblock = Superblock { checkpoints: [Some(broken), None], ..example() };
        let slot = parse_slot(&superblock.encode(), 1);
        let Slot::Refused(Error::Corrupt(corruption)) = slot else { panic!("{broken:?}: {slot:?}") };
        assert_eq!((corruption.at, corruption.clause), (SLOT_OFFSETS[1] + at, Clause("F-3.2")), "{broken:?}");
    }
}

// spec: F-3.2
#[test]
fn a_checkpoint_reference_may_name_the_last_place_there_is() {
    let last = CheckpointRef {
        root: Reference { offset: (1 << 20) - 16, len: 16, ..example_checkpoint().root },
        replay_offset: 1 << 20,
        replay_sequence: geometry().sequence_max(),
        ..example_checkpoint()
    };
    let superblock = Superblock { checkpoints: [Some(last), None], ..example() };
    let slot = parse_slot(&superblock.encode(), 1);
    assert!(matches!(slot, Slot::Valid(ref parsed) if **parsed == superblock), "{slot:?}");
}

//= spec/format.md#f-3-2-checkpoint-reference
//= type=test
//# A reader MUST report the file as corrupt when a valid slot, the newest or not, has a reference of LSN 0
//# with another field that is not zero; an offset at which no index record of the length can be (F-8.11); a
//# replay start whose offset is not a multiple of 8 from `sector` to segment_bytes; or a sequence whose
//# addresses do not fit into 55 bits.
#[test]
fn a_reference_to_no_checkpoint_is_all_zeros() {
    for field in [8, 12, 16, 20, 24, 32, 36, 40] {
        let slot = parse_resealed(&example(), |bytes| bytes[432 + field] = 1);
        assert!(matches!(slot, Slot::Refused(Error::Corrupt(_))), "{field}: {slot:?}");
    }
}

fn any_checkpoint(geometry: Geometry) -> impl Strategy<Value = Option<CheckpointRef>> {
    let (start, end) = (geometry.data_start() / 8, geometry.segment_bytes() / 8);
    let parts = (1..=u64::MAX, any::<(u32, u32, u32, u64)>());
    let places = (start..=end - 2, start..=end, 0..=geometry.sequence_max());
    proptest::option::of((parts, places).prop_map(
        |((lsn, (root_physical, root_crc, replay_physical, replay_lsn)), (root, replay, replay_sequence))| {
            CheckpointRef {
                lsn: Lsn(lsn),
                root: Reference { physical: root_physical, offset: root * 8, len: 9, crc: root_crc },
                replay_physical,
                replay_sequence,
                replay_offset: replay * 8,
                replay_lsn: Lsn(replay_lsn),
            }
        },
    ))
}

prop_compose! {
    fn any_superblock()(
        (minor, read_only_compatible, compatible) in any::<(u16, u64, u64)>(),
        (lineage, instance) in any::<([u8; 16], [u8; 16])>(),
        (application_id, user_version, quota) in any::<(u32, u32, u64)>(),
        (generation, incarnation, clean, durable_lsn, file_len) in any::<(u64, u32, bool, u64, u64)>(),
        newest in any_checkpoint(geometry()),
        before in any_checkpoint(geometry()),
    ) -> Superblock {
        Superblock {
            minor, incompatible: 0, read_only_compatible, compatible, geometry: geometry(), lineage,
            instance, application_id, user_version, quota, generation, incarnation, clean,
            durable_lsn: Lsn(durable_lsn), file_len, checkpoints: [newest, before],
        }
    }
}

proptest! {
    #[test]
    fn a_superblock_reads_back_as_it_was_written(superblock in any_superblock()) {
        let slot = parse_slot(&superblock.encode(), superblock.slot());
        let Slot::Valid(parsed) = slot else { panic!("{slot:?}") };
        prop_assert_eq!(*parsed, superblock);
    }

    #[test]
    fn any_bytes_behind_the_magic_are_read_without_panic(bytes: Vec<u8>, at in 8_usize..508, index in 0_usize..2) {
        // With the checksum made to hold, so that the fields are looked at.
        let superblock = Superblock { generation: index as u64, ..example() };
        let _ = parse_resealed(&superblock, |slot| {
            let len = bytes.len().min(508 - at);
            slot[at..at + len].copy_from_slice(&bytes[..len]);
        });
    }
}
