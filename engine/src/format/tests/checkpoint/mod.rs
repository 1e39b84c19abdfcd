//! Checkpoints written and read back, from a disk that is a byte string.

/// An array, written as `doc!` writes objects.
macro_rules! array {
    ($($items:tt)*) => { crate::__doc_array!([] $($items)*) };
}

mod appended;
mod damage;
mod forge;
mod hostile;
mod indexes;
mod reading;
mod round_trip;
mod takeover;

use std::collections::BTreeMap;

use super::super::checkpoint::{
    BaseTree, CatalogEntry, Checkpoint, IndexEntry, IndexSink, IndexSource, IndexWriter, Limits, LogPosition,
    OpenSegment, Output, Root, Table, TableEntry, TableRow, TreeOf, TreeWriter, UnreadLeaf, Written,
};
use super::super::index_record::{IndexPlace, IndexRecord, IndexRecordKind, Reference};
use super::super::superblock::CheckpointRef;
use super::super::{Geometry, LogAddress, Lsn};
use super::{LINEAGE, hex};
use crate::document::{Document, Key};
use crate::error::Result;

const LSN: Lsn = Lsn::new(3, 9);

/// The smallest geometry there is: an index record has at most 448 bytes.
fn tiny() -> Geometry {
    Geometry::new(64, 512).expect("a geometry")
}

/// A file in memory. Its first segments are the log's.
#[derive(Debug, Clone)]
struct Disk {
    geometry: Geometry,
    bytes: Vec<u8>,
    writes: usize,
}

/// How many segments of the file are not for checkpoints.
const LOG_SEGMENTS: u32 = 3;

impl Disk {
    fn new(geometry: Geometry) -> Self {
        Disk { geometry, bytes: vec![0; geometry.segment_offset(LOG_SEGMENTS) as usize], writes: 0 }
    }

    fn segments(&self) -> Vec<u32> {
        (LOG_SEGMENTS..self.geometry.segments_within(self.bytes.len() as u64)).collect()
    }
}

impl IndexSink for Disk {
    fn allocate(&mut self) -> Result<u32> {
        let physical = self.geometry.segments_within(self.bytes.len() as u64);
        self.bytes.resize(self.geometry.segment_end(physical) as usize, 0);
        Ok(physical)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let place = &mut self.bytes[at as usize..][..bytes.len()];
        assert!(place.iter().all(|&byte| byte == 0), "no byte is written twice");
        place.copy_from_slice(bytes);
        self.writes += 1;
        Ok(())
    }
}

impl IndexSource for Disk {
    fn file_len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> Result<()> {
        out.copy_from_slice(&self.bytes[at as usize..][..out.len()]);
        Ok(())
    }
}

fn segments_of(written: &Written) -> Vec<u32> {
    keys(&written.segments)
}

fn keys(segments: &BTreeMap<u32, u64>) -> Vec<u32> {
    segments.keys().copied().collect()
}

/// A collection with what its tree holds.
#[derive(Debug, Clone, PartialEq)]
struct Collection {
    id: u32,
    name: String,
    entries: Vec<(Key, u64)>,
}

impl Collection {
    fn new(id: u32, entries: Vec<(Key, u64)>) -> Self {
        Collection { id, name: format!("collection {id}"), entries }
    }

    fn next(&self) -> u64 {
        let ints =
            self.entries.iter().filter_map(|(key, _)| if let Key::Int(id) = key { Some(*id) } else { None });
        ints.max().map_or(1, |id| (i128::from(id) + 1).max(1) as u64)
    }
}

/// A log segment, with its other stretches and its live records.
#[derive(Debug, Clone, PartialEq)]
struct Segment {
    row: TableRow,
    stretches: Vec<(u32, Lsn)>,
    live: Vec<(u32, u32)>,
}

/// What a checkpoint is made of.
#[derive(Debug, Clone, PartialEq)]
struct Given {
    collections: Vec<Collection>,
    table: Vec<Segment>,
    last: u32,
    reserved: [Option<u32>; 2],
    kept: Document,
}

impl Given {
    fn new(collections: Vec<Collection>) -> Self {
        Given {
            last: collections.iter().map(|collection| collection.id).max().unwrap_or(0),
            collections,
            table: vec![segment(7, 1)],
            reserved: [Some(2), None],
            kept: Document::new(),
        }
    }

    fn write(&self, disk: &mut Disk) -> (CheckpointRef, Written) {
        let writer = IndexWriter::new(disk.geometry, &LINEAGE, LSN, Lsn::new(3, 8), None);
        let (reference, written, _) = self.write_with(disk, writer, LSN);
        (reference, written)
    }

    fn write_with(
        &self,
        disk: &mut Disk,
        mut writer: IndexWriter,
        lsn: Lsn,
    ) -> (CheckpointRef, Written, Option<OpenSegment>) {
        let catalog = self.collections.iter().map(|from| write_tree(from, &mut writer, disk)).collect();
        let root = self.root(lsn, catalog);
        let written = writer.finish(disk, root).expect("a checkpoint");
        (self.reference(lsn, &written), written, writer.open())
    }

    fn root(&self, lsn: Lsn, catalog: Vec<CatalogEntry>) -> Root {
        let mut table = Table::default();
        for Segment { row, stretches, live } in &self.table {
            table.push(*row, stretches.iter().copied(), live.iter().copied());
        }
        Root {
            lsn,
            last: self.last,
            log: self.log(),
            reserved: self.reserved,
            segments: Vec::new(),
            catalog,
            indexes: Vec::new(),
            table,
            kept: self.kept.clone(),
        }
    }

    fn log(&self) -> LogPosition {
        let last = self.table.last().expect("a log has segments").row;
        LogPosition { physical: last.physical, sequence: last.sequence, end: last.end }
    }

    fn reference(&self, lsn: Lsn, written: &Written) -> CheckpointRef {
        let LogPosition { physical, sequence, end } = self.log();
        CheckpointRef {
            lsn,
            root: written.root,
            replay_physical: physical,
            replay_sequence: sequence,
            replay_offset: end,
            replay_lsn: lsn,
        }
    }
}

fn write_tree(from: &Collection, writer: &mut IndexWriter, disk: &mut Disk) -> CatalogEntry {
    let tree = writer.tree(from.id, None);
    fill_tree(tree, from, writer, disk, |_, _| true)
}

fn fill_tree(
    mut tree: TreeWriter,
    from: &Collection,
    writer: &mut IndexWriter,
    disk: &mut Disk,
    is_new: impl Fn(&Key, u64) -> bool,
) -> CatalogEntry {
    for (key, value) in &from.entries {
        tree.push(&mut Output { writer, sink: disk }, (key.as_ref(), *value), is_new(key, *value))
            .expect("room for an entry");
    }
    CatalogEntry {
        id: from.id,
        name: from.name.clone(),
        next: from.next(),
        count: from.entries.len() as u64,
        tree: tree.finish(&mut Output { writer, sink: disk }).expect("room for the tree"),
        kept: Document::new(),
    }
}

/// Reads everything that the checkpoint holds.
fn read(disk: &impl IndexSource, geometry: Geometry, reference: &CheckpointRef) -> Result<Given> {
    let mut checkpoint = Checkpoint::open(disk, geometry, &LINEAGE, reference)?;
    let (root, trees) = checkpoint.parts();
    let mut collections = Vec::new();
    for entry in &root.catalog {
        let mut entries = Vec::new();
        trees.read(TreeOf::from(entry), Limits::new(LogAddress(u64::MAX), 4), &mut entries)?;
        collections.push(Collection { id: entry.id, name: entry.name.clone(), entries });
    }
    let Root { last, reserved, table, kept, .. } = root.clone();
    let segment = |entry: TableEntry<'_>| Segment {
        row: entry.row,
        stretches: entry.stretches().collect(),
        live: entry.live().collect(),
    };
    let table = table.iter().map(segment).collect();
    Ok(Given { collections, table, last, reserved, kept })
}

fn segment(sequence: u64, physical: u32) -> Segment {
    let (first_lsn, freed) = (Lsn::new(3, 1), Lsn::ZERO);
    let row = TableRow { sequence, physical, first_lsn, end: 512, freed, records: 12, bytes: 64 };
    Segment { row, stretches: Vec::new(), live: vec![(1, 3), (4, u32::MAX)] }
}

/// Each index record in the segments of the disk, with the checkpoint that wrote it.
fn records(disk: &Disk, first: Lsn) -> Vec<(Reference, IndexRecordKind, Lsn)> {
    let mut found = Vec::new();
    for physical in disk.segments() {
        let start = disk.geometry.segment_offset(physical) as usize;
        let bytes = &disk.bytes[start..][..disk.geometry.segment_bytes() as usize];
        let mut offset = disk.geometry.data_start();
        while (offset as usize) < bytes.len() {
            let mut place = IndexPlace { lineage: &LINEAGE, physical, offset, lsn: first };
            match IndexRecord::find(&bytes[offset as usize..], &mut place) {
                Ok((record, extent)) => {
                    let (len, crc) = (extent.len as u32, extent.crc);
                    found.push((Reference { physical, offset, len, crc }, record.kind, place.lsn));
                    offset += len.next_multiple_of(8);
                }
                Err(_) => offset += 8,
            }
        }
    }
    found
}
