use super::super::frame::FRAME_HEADER_LEN;
use super::super::{Geometry, LogAddress, SEGMENT_BYTES_MAX, round_up_8};
use crate::error::Error;
use proptest::prelude::*;

fn geometry(sector: u32, segment_bytes: u32) -> Geometry {
    Geometry::new(sector, segment_bytes).expect("a legal geometry")
}

fn any_geometry() -> impl Strategy<Value = Geometry> {
    (6_u32..=12, 3_u32..=14).prop_filter_map("segments up to 64 MiB", |(sector, sectors)| {
        Geometry::new(1 << sector, 1 << (sector + sectors)).ok()
    })
}

// spec: F-2.1
#[test]
fn a_geometry_outside_of_the_bounds_is_refused() {
    for (sector, segment_bytes, option) in [
        (0, 1 << 20, "sector"),
        (32, 1 << 20, "sector"),
        (513, 1 << 20, "sector"),
        (8192, 1 << 20, "sector"),
        (u32::MAX, 1 << 20, "sector"),
        (512, 0, "segment_bytes"),
        (512, 2048, "segment_bytes"),
        (512, (1 << 20) + 512, "segment_bytes"),
        (64, 256, "segment_bytes"),
        (512, 128 << 20, "segment_bytes"),
    ] {
        match Geometry::new(sector, segment_bytes) {
            Err(Error::InvalidOption { option: named, .. }) => assert_eq!(named, option),
            other => panic!("{sector}, {segment_bytes}: {other:?}"),
        }
    }
    for (sector, segment_bytes) in [(64, 512), (512, 4096), (4096, 32_768), (64, 64 << 20), (4096, 64 << 20)]
    {
        let geometry = geometry(sector, segment_bytes);
        assert_eq!((geometry.sector(), geometry.segment_bytes()), (sector, segment_bytes));
    }
    assert_eq!(Geometry::default(), geometry(512, 128 << 10));
}

// spec: F-2.1, F-4.1
#[test]
fn segments_lie_one_behind_the_other_from_16_384_on() {
    let geometry = geometry(512, 1 << 20);
    assert_eq!(geometry.segment_offset(0), 16_384);
    assert_eq!(geometry.segment_offset(3), 16_384 + (3 << 20));
    assert_eq!(geometry.segment_end(3), geometry.segment_offset(4));
    assert_eq!(geometry.data_start(), 512);
}

// spec
#[test]
fn a_segment_is_within_the_file_when_it_begins_before_its_end() {
    let geometry = geometry(64, 512);
    for (file_len, count) in
        [(0, 0), (16_384, 0), (16_385, 1), (16_896, 1), (16_897, 2), (u64::MAX, u32::MAX)]
    {
        assert_eq!(geometry.segments_within(file_len), count, "{file_len}");
    }
}

// spec: F-2.3
#[test]
fn a_new_file_has_room_for_segment_0_or_64_kib() {
    assert_eq!(geometry(64, 512).creation_len(), 16_896);
    assert_eq!(geometry(4096, 32_768).creation_len(), 49_152);
    assert_eq!(geometry(512, 1 << 20).creation_len(), 65_536);
}

// spec: F-2.4
#[test]
fn a_file_doubles_up_to_the_end_of_segment_0_and_grows_by_segments_then() {
    let lens = |geometry: Geometry, count| -> Vec<u64> {
        std::iter::successors(Some(geometry.creation_len()), |&len| Some(geometry.next_len(len)))
            .take(count)
            .collect()
    };
    let end_of_first = 16_384 + (1 << 20);
    assert_eq!(
        lens(geometry(512, 1 << 20), 8),
        [
            65_536,
            131_072,
            262_144,
            524_288,
            1 << 20,
            end_of_first,
            end_of_first + (1 << 20),
            end_of_first + (2 << 20)
        ]
    );
    assert_eq!(lens(geometry(64, 512), 3), [16_896, 17_408, 17_920]);
}

// spec: F-2.4
#[test]
fn a_file_of_an_odd_length_grows_to_the_end_of_a_segment() {
    let geometry = geometry(64, 512);
    assert_eq!(geometry.next_len(0), geometry.creation_len());
    assert_eq!(geometry.next_len(16_384 + 512 + 1), 16_384 + 1024);
}

//= spec/format.md#f-5-2-place
//= type=test
//# A frame MUST begin at an offset that is a multiple of 8, and its header MUST NOT cross a sector boundary.
#[test]
fn a_frame_header_never_crosses_a_sector_boundary() {
    let small = geometry(64, 512);
    // In sectors of 64 a header may begin at 0, 8, .. 32 of each.
    for (offset, place) in [(64, 64), (65, 72), (96, 96), (97, 128), (104, 128), (127, 128), (128, 128)] {
        assert_eq!(small.place(offset), Some(place), "{offset}");
    }
    let usual = geometry(512, 4096);
    for (offset, place) in [(512, 512), (992, 992), (993, 1024), (1000, 1024), (1024, 1024)] {
        assert_eq!(usual.place(offset), Some(place), "{offset}");
    }
}

// spec: F-5.2
#[test]
fn a_segment_ends_where_no_header_fits_any_more() {
    for geometry in [geometry(64, 512), geometry(512, 4096)] {
        let end = geometry.segment_bytes();
        assert_eq!(geometry.place(end - 32), Some(end - 32));
        for offset in [end - 31, end - 8, end - 1, end, end + 1, u32::MAX] {
            assert_eq!(geometry.place(offset), None, "{offset}");
        }
    }
}

// spec: F-2.2
#[test]
fn a_log_address_is_sequence_times_segment_bytes_plus_offset() {
    let geometry = geometry(64, 512);
    assert_eq!(geometry.address(3, 70), LogAddress(3 * 512 + 70));
    assert_eq!(geometry.split(LogAddress(3 * 512 + 70)), (3, 70));
    assert_eq!(geometry.address(3, 512), geometry.address(4, 0));
}

//= spec/format.md#f-2-2-log-address
//= type=test
//# A writer MUST NOT open a segment whose addresses would not fit into 55 bits.
#[test]
fn the_highest_sequence_fills_55_bits() {
    for geometry in [geometry(64, 512), geometry(512, 1 << 20), geometry(4096, SEGMENT_BYTES_MAX)] {
        let last = geometry.address(geometry.sequence_max(), geometry.segment_bytes() - 1);
        assert_eq!(last, LogAddress::MAX);
        assert_eq!(last.0, (1 << 55) - 1);
    }
}

// spec: F-2.2
#[test]
#[should_panic(expected = "55 bits")]
fn no_address_is_made_beyond_55_bits() {
    let geometry = geometry(64, 512);
    let _ = geometry.address(geometry.sequence_max() + 1, 64);
}

#[test]
fn the_longest_records_fill_an_empty_segment() {
    assert_eq!(geometry(64, 512).record_len_max(), 512 - 64 - 32);
    assert_eq!(geometry(512, 1 << 20).record_len_max(), (1 << 20) - 512 - 32);
    assert_eq!(geometry(64, 512).index_record_len_max(), 512 - 64);
    assert_eq!(geometry(512, 1 << 20).index_record_len_max(), 16_384);
}

// spec: F-8.11
#[test]
fn index_records_are_written_so_long_that_a_whole_number_fills_a_segment() {
    for (sector, segment_bytes, len) in
        [(64, 512, 448), (512, 4096, 3584), (512, 16_384, 3968), (512, 1 << 17, 4080), (4096, 1 << 26, 4096)]
    {
        let geometry = geometry(sector, segment_bytes);
        assert_eq!(geometry.index_record_len_written(), len, "{segment_bytes}");
        let left = (segment_bytes - sector) as usize % len;
        assert!(left < 8 * (segment_bytes as usize / len), "{left} left of {segment_bytes}");
    }
}

//= spec/format.md#f-8-11-index-records
//= type=test
//# The CBOR form of a key MUST have at most a third of what is left of the longest index record without
//# 66 bytes, so that a directory page has room for two leaves.
#[test]
fn a_key_has_a_third_of_what_an_index_record_has_left_without_66_bytes() {
    let keys = [(64, 512), (64, 4096), (512, 1 << 17)]
        .map(|(sector, len)| geometry(sector, len).checkpoint_key_len_max());
    assert_eq!(keys, [127, 1322, 5439]);
}

proptest! {
    //= spec/format.md#f-5-2-place
    //= type=test
    //# A frame MUST begin at an offset that is a multiple of 8, and its header MUST NOT cross a sector
    //# boundary.
    #[test]
    fn a_place_is_the_least_that_the_rule_admits(geometry in any_geometry(), offset: u32) {
        let offset = offset % (geometry.segment_bytes() + 64);
        let admits = |place: u32| {
            let end = place + FRAME_HEADER_LEN as u32;
            place.is_multiple_of(8)
                && end <= geometry.segment_bytes()
                && place / geometry.sector() == (end - 1) / geometry.sector()
        };
        let least = (offset..offset + 2 * geometry.sector()).find(|&place| admits(place));
        prop_assert_eq!(geometry.place(offset), least);
    }

    #[test]
    fn rounding_up_reaches_the_next_multiple(geometry in any_geometry(), offset: u32) {
        let offset = offset % (geometry.segment_bytes() + 1);
        prop_assert_eq!(round_up_8(offset), offset.next_multiple_of(8));
        prop_assert_eq!(geometry.round_up_sector(offset), offset.next_multiple_of(geometry.sector()));
        prop_assert_eq!(geometry.round_down_sector(offset), offset / geometry.sector() * geometry.sector());
    }

    #[test]
    fn an_address_splits_into_what_it_was_made_of(geometry in any_geometry(), sequence: u64, offset: u32) {
        let sequence = sequence % (geometry.sequence_max() + 1);
        let offset = offset % geometry.segment_bytes();
        prop_assert_eq!(geometry.split(geometry.address(sequence, offset)), (sequence, offset));
    }

    #[test]
    fn a_grown_file_is_longer_and_ends_where_growth_may_stop(geometry in any_geometry(), len in 0..1_u64 << 40) {
        let grown = geometry.next_len(len);
        prop_assert!(grown > len);
        let whole = grown >= geometry.segment_end(0) && (grown - 16_384) % u64::from(geometry.segment_bytes()) == 0;
        prop_assert!(whole || grown == geometry.creation_len() || grown == 2 * len);
    }
}

#[test]
fn an_address_is_shown_in_hexadecimal() {
    assert_eq!(LogAddress(0x1f8).to_string(), "0x1f8");
}
