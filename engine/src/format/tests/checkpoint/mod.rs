//! Checkpoints written and read back, from a disk that is a byte string.

/// An array, written as `doc!` writes objects.
macro_rules! array {
    ($($items:tt)*) => { crate::__doc_array!([] $($items)*) };
}

mod damage;
mod edges;
mod forge;
mod hostile;
mod indexes;
mod reading;
mod round_trip;

use super::super::checkpoint::{
    CatalogEntry, Checkpoint, CheckpointWriter, Contents, Limits, LogPosition, PagePointer, PageSink,
    PageSource, Reserved, TableEntry, Unreadable, Written,
};
use super::super::superblock::CheckpointRef;
use super::super::{Geometry, LogAddress, Lsn};
use super::{LINEAGE, hex};
use crate::document::{Document, Key};
use crate::error::Result;

const LSN: Lsn = Lsn::new(3, 9);

/// The smallest geometry there is: a page has at most 448 bytes.
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

/// How many segments of the file are not the checkpoint's.
const LOG_SEGMENTS: u32 = 3;

impl Disk {
    fn new(geometry: Geometry) -> Self {
        Disk { geometry, bytes: vec![0; geometry.segment_offset(LOG_SEGMENTS) as usize], writes: 0 }
    }
}

impl PageSink for Disk {
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

impl PageSource for Disk {
    fn file_len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> Result<()> {
        out.copy_from_slice(&self.bytes[at as usize..][..out.len()]);
        Ok(())
    }
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

/// What a checkpoint is made of.
#[derive(Debug, Clone, PartialEq)]
struct Given {
    collections: Vec<Collection>,
    table: Vec<TableEntry>,
    last: u32,
    log: LogPosition,
    reserved: Reserved,
    kept: Document,
}

impl Given {
    fn new(collections: Vec<Collection>) -> Self {
        Given {
            last: collections.iter().map(|collection| collection.id).max().unwrap_or(0),
            collections,
            table: Vec::new(),
            log: LogPosition { physical: 1, sequence: 7, end: 512 },
            reserved: Reserved { next: Some(2), after: None },
            kept: Document::new(),
        }
    }

    fn write(&self, disk: &mut Disk) -> (CheckpointRef, Written) {
        let mut writer = CheckpointWriter::new(disk.geometry, &LINEAGE, LSN, Lsn::new(3, 8));
        let catalog: Vec<_> =
            self.collections.iter().map(|from| write_tree(from, &mut writer, disk)).collect();
        let contents = Contents {
            catalog: &catalog,
            indexes: &[],
            table: &self.table,
            last: self.last,
            log: self.log,
            reserved: self.reserved,
            kept: &self.kept,
        };
        let written = writer.finish(disk, contents).expect("a checkpoint");
        (reference(&written), written)
    }
}

fn write_tree(from: &Collection, writer: &mut CheckpointWriter, disk: &mut Disk) -> CatalogEntry {
    let mut tree = writer.tree(from.id);
    for (key, value) in &from.entries {
        tree.push(writer, disk, key.as_ref(), *value).expect("room for an entry");
    }
    CatalogEntry {
        id: from.id,
        name: from.name.clone(),
        next: from.next(),
        count: from.entries.len() as u64,
        tree: tree.finish(writer, disk).expect("room for the tree"),
        kept: Document::new(),
    }
}

fn reference(written: &Written) -> CheckpointRef {
    CheckpointRef {
        lsn: LSN,
        root_physical: written.root_physical,
        root_offset: written.root_offset,
        root_crc: written.root_crc,
        replay_physical: 1,
        replay_sequence: 7,
        replay_offset: 128,
        replay_lsn: LSN,
    }
}

/// Reads everything that the checkpoint holds.
fn read(disk: &Disk, reference: &CheckpointRef) -> Result<Given, Unreadable> {
    let mut checkpoint = Checkpoint::open(disk, disk.geometry, &LINEAGE, reference)?;
    let mut collections = Vec::new();
    for entry in checkpoint.catalog()? {
        let mut entries = Vec::new();
        checkpoint.read_tree(&entry, Limits::new(LogAddress(u64::MAX), 4), &mut entries)?;
        collections.push(Collection { id: entry.id, name: entry.name, entries });
    }
    let table = checkpoint.table()?;
    let root = checkpoint.root().clone();
    let (last, log, reserved, kept) = (root.last, root.log, root.reserved, root.kept);
    Ok(Given { collections, table, last, log, reserved, kept })
}

fn segment(sequence: u64, physical: u32) -> TableEntry {
    TableEntry {
        sequence,
        physical,
        first_lsn: Lsn::new(3, 1),
        end: 512,
        stretches: vec![(64, Lsn::new(3, 1)), (128, Lsn::new(u32::MAX, 4))],
        freed: Lsn::ZERO,
        records: 12,
        bytes: 64,
        live: vec![(1, 3), (4, u32::MAX)],
    }
}
