//! What has just room, and what is one byte too long; and what a writer says of what it has placed.

use super::super::super::page::PAGE_HEADER_LEN;
use super::damage::page_ranges;
use super::*;
use crate::document::Value;
use crate::{Error, doc};

/// So many bytes that this version does not know.
fn kept(len: usize) -> Document {
    doc! { "x": Value::Bytes(vec![7; len]) }
}

fn finish(catalog: &[CatalogEntry], table: &[TableEntry], kept: &Document) -> Result<(Disk, Written)> {
    let given = Given::new(Vec::new());
    let (log, reserved) = (given.log, given.reserved);
    let mut disk = Disk::new(tiny());
    let mut writer = CheckpointWriter::new(disk.geometry, &LINEAGE, LSN, LSN);
    let written =
        writer.finish(&mut disk, Contents { catalog, indexes: &[], table, last: 9, log, reserved, kept })?;
    Ok((disk, written))
}

fn named(id: u32, kept: Document) -> CatalogEntry {
    CatalogEntry { id, name: format!("{id}"), next: 1, count: 0, tree: None, kept }
}

/// What is written grows until it has no room: the last that had has filled a page up to `full`.
fn fills_a_page_or_is_refused(full: usize, finish: impl Fn(usize) -> Result<(Disk, Written)>) {
    let mut longest = 0;
    for len in 0..tiny().page_len_max() {
        match finish(len) {
            Ok((disk, written)) => {
                let pages = page_ranges(&disk, &written.segments);
                let longest_now = pages.iter().map(ExactSizeIterator::len).max().expect("there is a root");
                assert!(longest_now >= longest, "{len} bytes had room, and fewer had none");
                longest = longest_now;
            }
            Err(Error::LimitReached { .. }) => assert_eq!(longest, full, "{len} bytes"),
            Err(error) => panic!("{len} bytes: {error}"),
        }
    }
    assert!(finish(tiny().page_len_max()).is_err());
}

// spec: F-8.1
#[test]
fn an_entry_of_the_catalog_and_a_root_may_fill_a_page_and_no_more() {
    let full = tiny().page_len_max();
    fills_a_page_or_is_refused(full, |len| finish(&[named(1, kept(len))], &[], &Document::new()));
    // The root is measured before the list is written: where that lies may take 15 bytes, and takes four here.
    fills_a_page_or_is_refused(full - 11, |len| finish(&[], &[], &kept(len)));
}

// spec: F-8.6
#[test]
fn parts_of_a_segment_whose_numbers_are_the_longest_have_room_in_a_page() {
    let live = (0..400).map(|n| (u32::MAX - 400 + n, u32::MAX)).collect();
    let (sequence, records, bytes) = (1 << 40, u64::MAX, u64::MAX);
    let mut given = Given::new(Vec::new());
    given.table = vec![TableEntry { sequence, records, bytes, live, freed: LSN, ..segment(0, 1) }];
    let mut disk = Disk::new(tiny());
    let (reference, written) = given.write(&mut disk);
    assert_eq!(read(&disk, &reference).expect("a sound checkpoint").table, given.table);
    assert!(written.pages > 400 * 11 / 448, "{written:?}");
}

#[test]
#[should_panic(expected = "collections are in the order of their ids")]
fn two_collections_of_one_id_are_no_catalog() {
    let _ = finish(&[named(4, Document::new()), named(4, Document::new())], &[], &Document::new());
}

#[test]
#[should_panic(expected = "log segments are in the order of their sequences")]
fn two_log_segments_of_one_sequence_are_no_table() {
    let _ = finish(&[], &[segment(4, 0), segment(4, 1)], &Document::new());
}

//= spec/format.md#f-8-2-page-pointer
//= type=test
//# A reader MUST take a checkpoint for damaged when a pointer leads to a place where no page can begin,
//# or into a segment that the checkpoint's list (F-8.9) does not name.
#[test]
fn a_page_begins_where_its_segment_and_the_file_have_room_for_its_header() {
    let mut disk = Disk::new(tiny());
    let (reference, written) = Given::new(Vec::new()).write(&mut disk);
    let at = disk.geometry.segment_offset(written.root_physical);
    let root_at = |disk: &Disk, root_offset| match read(disk, &CheckpointRef { root_offset, ..reference }) {
        Err(Unreadable::Damaged(corruption)) => (corruption.what, corruption.expected, corruption.found),
        other => panic!("{root_offset}: {other:?}"),
    };
    let last = 512 - PAGE_HEADER_LEN as u32;
    assert_eq!(root_at(&disk, last).0, "a page with a length that cannot be", "there are zeros");
    let beyond = "a page beyond the end of its segment";
    assert_eq!(root_at(&disk, last + 8), (beyond, 512, u64::from(last) + 8));
    disk.bytes.truncate(at as usize + 300);
    assert_eq!(root_at(&disk, 272), (beyond, 300, 272), "the file ends first");
}

#[test]
fn a_writer_says_what_it_has_placed_and_where() {
    let mut disk = Disk::new(Geometry::new(64, 1 << 20).expect("a geometry"));
    let mut writer = CheckpointWriter::new(disk.geometry, &LINEAGE, LSN, LSN);
    assert_eq!((writer.bytes(), writer.segments()), (0, &[][..]));
    let entries = (1..2000).map(|id| (Key::Int(id), 4 * (id as u64 + 500))).collect();
    let entry = write_tree(&Collection::new(1, entries), &mut writer, &mut disk);
    let (placed, segments) = (writer.bytes(), writer.segments().to_vec());
    assert_eq!(segments, [LOG_SEGMENTS]);
    let kept = &Document::new();
    let Given { log, reserved, .. } = Given::new(Vec::new());
    let contents = Contents {
        catalog: std::slice::from_ref(&entry),
        indexes: &[],
        table: &[],
        last: 1,
        log,
        reserved,
        kept,
    };
    let written = writer.finish(&mut disk, contents).expect("a checkpoint");
    assert_eq!(written.segments, segments);
    let start = disk.geometry.segment_offset(LOG_SEGMENTS);
    let ends: Vec<_> =
        page_ranges(&disk, &segments).into_iter().map(|page| page.end as u64 - start).collect();
    let top = entry.tree.expect("it has documents");
    let top_end = ends.iter().find(|end| **end > u64::from(top.offset));
    assert_eq!(Some(&placed), top_end, "the top is the last page of a tree");
    assert_eq!(Some(&written.bytes), ends.last());
    assert_eq!(disk.writes, 1, "what is short goes down at once");
}

#[test]
fn pages_fill_a_segment_and_an_entry_that_needs_more_has_a_page_of_its_own() {
    let geometry = Geometry::new(512, 128 << 10).expect("a geometry");
    let (len, len_max) = (geometry.page_len_written(), geometry.page_len_max());
    let data_len = (geometry.segment_bytes() - geometry.data_start()) as usize;
    assert_eq!((len, len_max, data_len % len), (16_320, 16_384, 0));
    // Between the two is what an entry, and the root, may have, first and behind others.
    let long = |id| named(id, kept(len_max - PAGE_HEADER_LEN - 40));
    for catalog in
        [vec![long(1)], vec![named(1, Document::new()), long(2), long(3), named(4, Document::new())]]
    {
        let given = Given::new(Vec::new());
        let (log, reserved, kept) = (given.log, given.reserved, kept(len_max - PAGE_HEADER_LEN - 100));
        let mut disk = Disk::new(geometry);
        let mut writer = CheckpointWriter::new(geometry, &LINEAGE, LSN, LSN);
        let contents =
            Contents { catalog: &catalog, indexes: &[], table: &[], last: 9, log, reserved, kept: &kept };
        let written = writer.finish(&mut disk, contents).expect("there is room");
        let mut checkpoint =
            Checkpoint::open(&disk, geometry, &LINEAGE, &reference(&written)).expect("it is sound");
        assert_eq!(checkpoint.catalog().expect("it is sound"), catalog);
        assert_eq!(checkpoint.root().kept, kept);
        assert!(PAGE_HEADER_LEN + catalog[catalog.len() / 2].kept.encode().len() > len);
    }
}
