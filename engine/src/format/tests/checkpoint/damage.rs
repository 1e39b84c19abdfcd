use super::super::for_every_bit_flip;
use super::*;
use crate::doc;
use crate::document::Key;

/// A checkpoint with something of everything: several directory pages, all kinds of keys, a root in parts.
fn everything() -> Given {
    let ints = (0..150).map(|id| (Key::Int(id * 2 + 1), 4 * (1000 - id as u64 * 5)));
    let long = (0..20).map(|n| format!("b{n:02}{:090}", 0));
    let texts = ["", "a", "ab"].map(String::from).into_iter().chain(long).map(|key| (Key::from(key), 6));
    let bytes = [&b""[..], b"\x00", b"\xff\xff"].into_iter().map(|key| (Key::from(key), 7));
    let mut given = Given::new(vec![
        Collection::new(1, ints.chain(texts).chain(bytes).collect()),
        Collection::new(4, Vec::new()),
    ]);
    let live = (1..60).map(|collection| (collection, 3)).collect();
    let stretches = vec![(128, Lsn::new(3, 2)), (192, Lsn::new(3, 4))];
    given.table = vec![segment(6, 0), Segment { live, stretches, ..segment(7, 1) }];
    given.kept = doc! { "colour": "green" };
    given
}

// spec: F-8.11, F-8.12
#[test]
fn a_flip_of_any_bit_of_an_index_record_is_refused_and_any_other_changes_nothing() {
    let given = everything();
    let mut disk = Disk::new(tiny());
    let (reference, written) = given.write(&mut disk);
    let found = records(&disk, LSN);
    let kinds = |kind| found.iter().filter(|(_, found, _)| *found == kind).count();
    assert!(kinds(IndexRecordKind::Directory) > 1 && kinds(IndexRecordKind::Root) > 1, "{found:?}");
    let ranges: Vec<_> = found
        .iter()
        .map(|(reference, ..)| {
            let at = reference.at(tiny()) as usize;
            at..at + reference.len as usize
        })
        .collect();
    let start = disk.geometry.segment_offset(segments_of(&written)[0]) as usize;
    let sound = disk.bytes[start..].to_vec();
    for_every_bit_flip(&sound, |bit, flipped| {
        disk.bytes[start..].copy_from_slice(flipped);
        let at = start + bit / 8;
        let is_of_record = ranges.iter().any(|range| range.contains(&at));
        match read(&disk, tiny(), &reference) {
            Ok(found) => assert!(!is_of_record && found == given, "bit {bit}"),
            Err(crate::Error::Corrupt(_)) => assert!(is_of_record, "bit {bit}"),
            Err(error) => panic!("bit {bit}: {error}"),
        }
    });
}

// spec: F-3.2, F-8.12
#[test]
fn a_reference_that_is_wrong_in_any_field_of_the_root_leads_nowhere() {
    let mut disk = Disk::new(tiny());
    let (reference, _) = everything().write(&mut disk);
    let wrong: [fn(&mut CheckpointRef); 5] = [
        |reference| reference.lsn = Lsn(reference.lsn.0 + 1),
        |reference| reference.root.physical -= 1,
        |reference| reference.root.offset -= 8,
        |reference| reference.root.len -= 1,
        |reference| reference.root.crc ^= 1,
    ];
    for change in wrong {
        let mut reference = reference;
        change(&mut reference);
        assert!(matches!(read(&disk, tiny(), &reference), Err(crate::Error::Corrupt(_))), "{reference:?}");
    }
}

// spec: F-8.11, F-8.12
#[test]
fn a_file_that_is_cut_short_anywhere_is_damage_and_no_failed_read() {
    let mut disk = Disk::new(tiny());
    let (reference, written) = everything().write(&mut disk);
    let used_end = written.root.at(tiny()) + u64::from(written.root.len) - 1;
    let start = disk.geometry.segment_offset(segments_of(&written)[0]);
    for len in (start..=used_end).step_by(13) {
        let mut cut = disk.clone();
        cut.bytes.truncate(len as usize);
        assert!(matches!(read(&cut, tiny(), &reference), Err(crate::Error::Corrupt(_))), "{len} bytes");
    }
}

// spec: F-8.11
#[test]
fn records_of_an_earlier_checkpoint_at_the_same_place_are_none_of_this_one() {
    let mut disk = Disk::new(tiny());
    let (reference, _) = everything().write(&mut disk);
    let lsn = Lsn::new(3, 10);
    let other = CheckpointRef { lsn, replay_lsn: lsn, ..reference };
    assert!(matches!(read(&disk, tiny(), &other), Err(crate::Error::Corrupt(_))));
}

/// A disk that refuses to read.
#[derive(Debug)]
struct Broken(u64);

impl IndexSource for Broken {
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
    assert!(matches!(failed, Err(crate::Error::StorageFull { .. })), "{failed:?}");
}
