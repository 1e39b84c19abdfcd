//! Checkpoints put together record by record, each sealed with a checksum that holds, whatever it says.

use super::super::super::varint;
use super::*;
use crate::doc;
use crate::document::Value;

/// An index record to be.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) kind: IndexRecordKind,
    pub(super) collection: u32,
    pub(super) body: Vec<u8>,
    /// By how much the LSN that it is sealed with is less than that of the checkpoint.
    pub(super) age: u64,
}

/// A directory entry to be.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) first: Vec<u8>,
    pub(super) reference: Reference,
    pub(super) count: u64,
    pub(super) age: u64,
    pub(super) patch: Option<Over>,
}

/// What an entry says of the patch over its leaf.
#[derive(Debug, Clone)]
pub(super) struct Over {
    pub(super) own: u64,
    pub(super) reference: Reference,
    pub(super) age: u64,
}

impl Entry {
    fn new(first: &[u8], reference: Reference, count: u64) -> Entry {
        Entry { first: first.to_vec(), reference, count, age: 0, patch: None }
    }

    pub(super) fn over(&mut self) -> &mut Over {
        self.patch.as_mut().expect("there is a patch")
    }
}

/// A sound checkpoint of one collection, whose tree has a directory page and two leaves, for tests to spoil.
pub(super) struct Forged {
    pub(super) left: Plan,
    pub(super) right: Plan,
    /// The first key of the right leaf, as the directory has it.
    pub(super) right_first: Vec<u8>,
    /// Over the right leaf, which has so many keys with it.
    pub(super) patch: Option<(Plan, u64)>,
    pub(super) page: Plan,
    /// Changes the entries of the page, and those of the root.
    pub(super) leaves: fn(&mut Vec<Entry>),
    pub(super) top: fn(&mut Vec<Entry>),
    pub(super) behind_top: Vec<u8>,
    pub(super) catalog: Vec<Document>,
    /// Rows of the three byte strings.
    pub(super) table: Vec<Vec<u8>>,
    pub(super) stretches: Vec<Vec<u8>>,
    pub(super) live: Vec<Vec<u8>>,
    pub(super) segments: Vec<u32>,
    pub(super) root: Document,
    pub(super) behind_root: Vec<u8>,
    /// Changes the bodies of the two parts of the root.
    pub(super) parts: [fn(&mut Plan); 2],
    /// Changes what leads from the second part to the first, and from the superblock to the second.
    pub(super) to_parts: [fn(&mut Reference); 2],
    pub(super) disk: Disk,
    offset: u32,
}

pub(super) fn row(sequence: u64, physical: u32, end: u32, freed: u64) -> Vec<u8> {
    let mut row = sequence.to_le_bytes().to_vec();
    row.extend_from_slice(&physical.to_le_bytes());
    row.extend_from_slice(&end.to_le_bytes());
    row.extend_from_slice(&1_u64.to_le_bytes());
    row.extend_from_slice(&freed.to_le_bytes());
    row.extend_from_slice(&hex("07000000 bc020000"));
    row
}

pub(super) fn stretch(sequence: u64, offset: u32) -> Vec<u8> {
    [&sequence.to_le_bytes()[..], &offset.to_le_bytes(), &9_u64.to_le_bytes()].concat()
}

pub(super) fn live(sequence: u64, collection: u32) -> Vec<u8> {
    [&sequence.to_le_bytes()[..], &collection.to_le_bytes(), &4_u32.to_le_bytes()].concat()
}

fn directory(entries: &[Entry]) -> Vec<u8> {
    let mut out = Vec::new();
    for entry in entries {
        out.extend_from_slice(&entry.first);
        entry.reference.put(&mut out);
        varint::put(&mut out, if entry.patch.is_some() { 0 } else { entry.count });
        varint::put(&mut out, entry.age);
        if let Some(over) = &entry.patch {
            varint::put(&mut out, entry.count);
            varint::put(&mut out, over.own);
            over.reference.put(&mut out);
            varint::put(&mut out, over.age);
        }
    }
    out
}

impl Forged {
    pub(super) fn sound() -> Self {
        let leaf = |body: &str| Plan { kind: IndexRecordKind::Leaf, collection: 1, body: hex(body), age: 0 };
        let mut disk = Disk::new(Geometry::new(64, 8192).expect("a geometry"));
        disk.allocate().expect("room in memory");
        Forged {
            // The ints 1 and 2, then 10 and 11, each 100 addresses behind the one before.
            left: leaf("01 02 a006  02 a006"),
            right: leaf("01 14 a006  02 a006"),
            right_first: vec![10],
            patch: None,
            page: Plan { kind: IndexRecordKind::Directory, collection: 1, body: Vec::new(), age: 0 },
            leaves: |_| {},
            top: |_| {},
            behind_top: Vec::new(),
            catalog: vec![doc! { "id": 1, "name": "birds", "next": 12 }],
            table: vec![row(5, 0, 512, 0), row(7, 1, 512, 0)],
            stretches: vec![stretch(5, 128)],
            live: vec![live(5, 1)],
            segments: vec![LOG_SEGMENTS],
            root: doc! {
                "lsn": LSN.0 as i64, "last": 1, "log": [1, 7, 512], "reserved": [2, null],
                "indexes": [],
            },
            behind_root: Vec::new(),
            parts: [|_| {}; 2],
            to_parts: [|_| {}; 2],
            disk,
            offset: 64,
        }
    }

    /// With this patch over the right leaf, which has so many keys with it.
    pub(super) fn with_patch(&mut self, body: &str, count: u64) {
        let plan = Plan { kind: IndexRecordKind::Patch, collection: 1, body: hex(body), age: 0 };
        self.patch = Some((plan, count));
    }

    /// Places a record in the first segment behind the log's.
    pub(super) fn place(&mut self, plan: &Plan) -> Reference {
        let (physical, offset) = (LOG_SEGMENTS, self.offset);
        let record =
            IndexRecord { kind: plan.kind, collection: plan.collection, commit: 0, body: &plan.body };
        let mut bytes = Vec::new();
        let lsn = Lsn(LSN.0 - plan.age);
        let place = IndexPlace { lineage: &LINEAGE, physical, offset, lsn };
        let crc = record.encode(&place, &mut bytes);
        let at = self.disk.geometry.segment_offset(physical) + u64::from(offset);
        self.disk.write_at(at, &bytes).expect("room in memory");
        self.offset += (bytes.len() as u32).next_multiple_of(8);
        Reference { physical, offset, len: bytes.len() as u32, crc }
    }

    /// The map of the root.
    fn map(&mut self) -> Vec<u8> {
        let (left, right) = (self.left.clone(), self.right.clone());
        let first = self.right_first.clone();
        let mut leaves =
            vec![Entry::new(&[1], self.place(&left), 2), Entry::new(&first, self.place(&right), 2)];
        if let Some((patch, count)) = self.patch.clone() {
            let over = Over { own: 2, reference: self.place(&patch), age: patch.age };
            (leaves[1].count, leaves[1].patch) = (count, Some(over));
        }
        (self.leaves)(&mut leaves);
        let mut page = self.page.clone();
        page.body = [directory(&leaves), page.body].concat();
        let count = leaves.iter().fold(0, |count: u64, leaf| count.saturating_add(leaf.count));
        let mut top = vec![Entry::new(&[1], self.place(&page), count)];
        (self.top)(&mut top);
        let top = [directory(&top), self.behind_top.clone()].concat();
        for (name, value) in [("tree", Value::Bytes(top)), ("count", Value::Int(count as i64))] {
            if let Some(entry) = self.catalog.first_mut().filter(|entry| !entry.contains_key(name)) {
                entry.insert(name, value);
            }
        }
        let catalog = self.catalog.iter().cloned().map(Value::Object).collect();
        let segments = self.segments.iter().flat_map(|index| index.to_le_bytes()).collect();
        for (name, value) in [
            ("catalog", Value::Array(catalog)),
            ("table", Value::Bytes(self.table.concat())),
            ("stretches", Value::Bytes(self.stretches.concat())),
            ("live", Value::Bytes(self.live.concat())),
            ("segments", Value::Bytes(segments)),
        ] {
            if !self.root.contains_key(name) {
                self.root.insert(name, value);
            }
        }
        [self.root.encode(), self.behind_root.clone()].concat()
    }

    pub(super) fn read(mut self) -> Result<Given> {
        let map = self.map();
        let (first, second) = map.split_at(map.len() / 2);
        let part = |body| Plan { kind: IndexRecordKind::Root, collection: 0, body, age: 0 };
        let mut plan = part([&[0], first].concat());
        (self.parts[0])(&mut plan);
        let mut reference = self.place(&plan);
        (self.to_parts[0])(&mut reference);
        let mut body = vec![1];
        reference.put(&mut body);
        let mut plan = part([&body, second].concat());
        (self.parts[1])(&mut plan);
        let mut root = self.place(&plan);
        (self.to_parts[1])(&mut root);
        let reference = CheckpointRef {
            lsn: LSN,
            root,
            replay_physical: 1,
            replay_sequence: 7,
            replay_offset: 512,
            replay_lsn: LSN,
        };
        read(&self.disk, self.disk.geometry, &reference)
    }
}
