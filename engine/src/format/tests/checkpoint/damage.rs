use std::ops::Range;

use super::super::super::page::PAGE_HEADER_LEN;
use super::super::for_every_bit_flip;
use super::*;
use crate::doc;
use crate::document::Key;

/// A checkpoint with something of everything: branches, all kinds of keys, parts of a log segment.
fn everything() -> Given {
    let ints = (0..150).map(|id| (Key::Int(id * 2 + 1), 4 * (1000 - id as u64 * 5)));
    let texts = ["", "a", "ab", "ba"].into_iter().map(|key| (Key::from(key), 6));
    let bytes = [&b""[..], b"\x00", b"\xff\xff"].into_iter().map(|key| (Key::from(key), 7));
    let mut given = Given::new(vec![
        Collection::new(1, ints.chain(texts).chain(bytes).collect()),
        Collection::new(4, Vec::new()),
    ]);
    let live = (1..60).map(|collection| (collection, 3)).collect();
    given.table = vec![segment(6, 0), TableEntry { live, ..segment(7, 1) }];
    given.kept = doc! { "colour": "green" };
    given
}

/// Where in the file the pages lie, told from their lengths.
pub(super) fn page_ranges(disk: &Disk, segments: &[u32]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for &physical in segments {
        let end = disk.geometry.segment_end(physical) as usize;
        let mut at = disk.geometry.segment_offset(physical) as usize + 64;
        while at + PAGE_HEADER_LEN <= end {
            let len = u32::from_le_bytes(disk.bytes[at + 4..at + 8].try_into().expect("four bytes")) as usize;
            if len == 0 {
                break;
            }
            ranges.push(at..at + len);
            at = (at + len).next_multiple_of(8);
        }
    }
    ranges
}

// spec: F-8.1
#[test]
fn a_flip_of_any_bit_of_a_page_is_refused_and_any_other_changes_nothing() {
    let given = everything();
    let mut disk = Disk::new(tiny());
    let (reference, written) = given.write(&mut disk);
    let ranges = page_ranges(&disk, &written.segments);
    assert_eq!(ranges.len(), written.pages as usize);
    let start = disk.geometry.segment_offset(written.segments[0]) as usize;
    let sound = disk.bytes[start..].to_vec();
    for_every_bit_flip(&sound, |bit, flipped| {
        disk.bytes[start..].copy_from_slice(flipped);
        let at = start + bit / 8;
        let is_of_page = ranges.iter().any(|range| range.contains(&at));
        match read(&disk, &reference) {
            Ok(found) => assert!(!is_of_page && found == given, "bit {bit}"),
            Err(Unreadable::Damaged(_)) => assert!(is_of_page, "bit {bit}"),
            Err(Unreadable::Failed(error)) => panic!("bit {bit}: {error}"),
        }
    });
}

//= spec/format.md#f-8-7-root-page
//= type=test
//# It is found by its place; its checksum MUST be the one that the checkpoint reference has.
// spec: F-3.2
#[test]
fn a_reference_that_is_wrong_in_any_field_of_the_root_leads_nowhere() {
    let mut disk = Disk::new(tiny());
    let (reference, _) = everything().write(&mut disk);
    let wrong: [fn(&mut CheckpointRef); 4] = [
        |reference| reference.lsn = Lsn(reference.lsn.0 + 1),
        |reference| reference.root_physical -= 1,
        |reference| reference.root_offset += 8,
        |reference| reference.root_crc ^= 1,
    ];
    for change in wrong {
        let mut reference = reference;
        change(&mut reference);
        assert!(matches!(read(&disk, &reference), Err(Unreadable::Damaged(_))), "{reference:?}");
    }
}

// spec: F-8.1
#[test]
fn a_file_that_is_cut_short_anywhere_is_damage_and_no_failed_read() {
    let mut disk = Disk::new(tiny());
    let (reference, written) = everything().write(&mut disk);
    let used_end = disk.geometry.segment_offset(written.root_physical) + u64::from(written.root_offset);
    let start = disk.geometry.segment_offset(written.segments[0]);
    for len in (start..=used_end).step_by(13) {
        let mut cut = disk.clone();
        cut.bytes.truncate(len as usize);
        assert!(matches!(read(&cut, &reference), Err(Unreadable::Damaged(_))), "{len} bytes");
    }
}

//= spec/format.md#f-8-8-completeness
//= type=test
//# A checkpoint MUST NOT refer to a page of another checkpoint.
#[test]
fn a_page_of_an_earlier_checkpoint_at_the_same_place_is_none_of_this_one() {
    let mut disk = Disk::new(tiny());
    let (reference, _) = everything().write(&mut disk);
    let other = CheckpointRef { lsn: Lsn::new(3, 10), ..reference };
    assert!(matches!(read(&disk, &other), Err(Unreadable::Damaged(_))));
}

/// A disk that refuses to read.
#[derive(Debug)]
struct Broken(u64);

impl PageSource for Broken {
    fn file_len(&self) -> u64 {
        self.0
    }

    fn read_at(&self, at: u64, _: &mut [u8]) -> Result<()> {
        Err(crate::Error::StorageFull { operation: format!("read at offset {at}") })
    }
}

#[test]
fn a_disk_that_refuses_is_no_damage() {
    let mut disk = Disk::new(tiny());
    let (reference, _) = everything().write(&mut disk);
    let broken = Broken(disk.file_len());
    let failed = Checkpoint::open(&broken, tiny(), &LINEAGE, &reference).map(|_| ());
    assert!(matches!(failed, Err(Unreadable::Failed(crate::Error::StorageFull { .. }))), "{failed:?}");
}
