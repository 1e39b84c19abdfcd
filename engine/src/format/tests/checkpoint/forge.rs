//! Checkpoints put together page by page, each sealed with a checksum that holds, whatever it says.

use super::super::super::page::{PAGE_HEADER_LEN, PageHeader, PageKind};
use super::super::super::varint;
use super::*;
use crate::doc;
use crate::document::Value;

/// A page to be.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) kind: PageKind,
    pub(super) tree: u32,
    pub(super) level: u8,
    pub(super) count: u32,
    pub(super) lower: Vec<u8>,
    pub(super) upper: Vec<u8>,
    pub(super) entries: Vec<u8>,
}

impl Plan {
    fn of(kind: PageKind, count: usize, entries: Vec<u8>) -> Self {
        Plan { kind, tree: 0, level: 0, count: count as u32, lower: Vec::new(), upper: Vec::new(), entries }
    }

    fn leaf(lower: &[u8], upper: &[u8], entries: &[u8]) -> Self {
        let plan = Plan::of(PageKind::Primary, 2, entries.to_vec());
        Plan { tree: 1, lower: lower.to_vec(), upper: upper.to_vec(), ..plan }
    }
}

type Children = fn([PagePointer; 2]) -> Vec<(Vec<u8>, PagePointer)>;

/// A sound checkpoint of one collection, whose tree has a branch and two leaves, for tests to spoil.
pub(super) struct Forged {
    pub(super) left: Plan,
    pub(super) right: Plan,
    pub(super) branch: Plan,
    pub(super) children: Children,
    pub(super) behind_children: Vec<u8>,
    pub(super) top: fn(PagePointer) -> PagePointer,
    pub(super) catalog: Vec<Document>,
    pub(super) table: Vec<Value>,
    pub(super) list: Vec<u64>,
    pub(super) root: Document,
    pub(super) behind_root: Vec<u8>,
    pub(super) spoil_root: fn(&mut Plan),
    pub(super) segment: Forge,
}

/// Places pages in the first segment behind the log's.
#[derive(Debug)]
pub(super) struct Forge {
    pub(super) disk: Disk,
    number: u32,
    offset: u32,
}

pub(super) fn pointer_value(pointer: PagePointer) -> Value {
    array![pointer.number, pointer.physical, pointer.offset]
}

pub(super) fn branch_entries(children: &[(Vec<u8>, PagePointer)], out: &mut Vec<u8>) {
    for (lower, pointer) in children {
        varint::put(out, lower.len() as u64);
        out.extend_from_slice(lower);
        for field in [pointer.number, pointer.physical, pointer.offset] {
            varint::put(out, field.into());
        }
    }
}

impl Forge {
    pub(super) fn new() -> Self {
        let mut disk = Disk::new(Geometry::new(64, 8192).expect("a geometry"));
        disk.allocate().expect("room in memory");
        Forge { disk, number: 0, offset: 64 }
    }

    /// Places a page; where it is, and its checksum.
    pub(super) fn place(&mut self, plan: &Plan) -> (PagePointer, u32) {
        let header = PageHeader {
            number: self.number,
            tree: plan.tree,
            kind: plan.kind,
            level: plan.level,
            entry_count: plan.count,
            lower_fence_len: plan.lower.len() as u32,
            upper_fence_len: plan.upper.len() as u32,
        };
        let mut page = vec![0; PAGE_HEADER_LEN];
        [&plan.lower, &plan.upper, &plan.entries].into_iter().for_each(|part| page.extend_from_slice(part));
        let crc = header.seal(&mut page, &LINEAGE, LSN);
        let pointer = PagePointer { number: self.number, physical: LOG_SEGMENTS, offset: self.offset };
        let at = self.disk.geometry.segment_offset(LOG_SEGMENTS) + u64::from(self.offset);
        self.disk.write_at(at, &page).expect("room in memory");
        self.number += 1;
        self.offset += (page.len() as u32).next_multiple_of(8);
        (pointer, crc)
    }

    /// Places a tree of one leaf.
    pub(super) fn leaf(&mut self, kind: PageKind, entries: &[Vec<u8>]) -> Value {
        let (pointer, _) = self.place(&Plan::of(kind, entries.len(), entries.concat()));
        pointer_value(pointer)
    }

    /// Places the list and the root, which is to have the pages besides.
    pub(super) fn finish(&mut self, list: &[u64], root: Document, behind_root: &[u8]) -> CheckpointRef {
        self.finish_spoilt(list, root, behind_root, |_| {})
    }

    fn finish_spoilt(
        &mut self,
        list: &[u64],
        mut root: Document,
        behind_root: &[u8],
        spoil: fn(&mut Plan),
    ) -> CheckpointRef {
        let list: Vec<_> = list.iter().map(|&physical| encoded(physical)).collect();
        let list = self.leaf(PageKind::SegmentList, &list);
        root.insert("segments", list);
        let mut entries = root.encode();
        entries.extend_from_slice(behind_root);
        let mut plan = Plan::of(PageKind::Root, 1, entries);
        spoil(&mut plan);
        let (pointer, root_crc) = self.place(&plan);
        CheckpointRef {
            lsn: LSN,
            root_physical: pointer.physical,
            root_offset: pointer.offset,
            root_crc,
            replay_physical: 1,
            replay_sequence: 7,
            replay_offset: 512,
            replay_lsn: LSN,
        }
    }
}

fn encoded(value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    varint::put(&mut out, value);
    out
}

/// Value as CBOR: what a document that holds it has behind its name.
fn cbor(value: &Value) -> Vec<u8> {
    let document = doc! { "": value.clone() };
    document.encode()[2..].to_vec()
}

impl Forged {
    pub(super) fn sound() -> Self {
        let branch = Plan { tree: 1, level: 1, ..Plan::of(PageKind::Primary, 2, Vec::new()) };
        Forged {
            // The ints 1 and 2, then 10 and 11, each 100 addresses behind the one before.
            left: Plan::leaf(&[], &[0x0a], &hex("01 02 a006  02 a006")),
            right: Plan::leaf(&[0x0a], &[], &hex("01 14 a006  02 a006")),
            branch,
            children: |[left, right]| vec![(vec![], left), (vec![0x0a], right)],
            behind_children: Vec::new(),
            top: |top| top,
            catalog: vec![doc! { "id": 1, "name": "birds", "next": 12, "count": 4 }],
            table: vec![array![5, 0, 1, 512, [[64, 1], [128, 9]], 0, 7, 700, [[1, 4]]]],
            list: vec![LOG_SEGMENTS.into()],
            root: doc! {
                "lsn": LSN.0 as i64, "last": 1, "log": [1, 7, 512], "reserved": [2, null],
            },
            behind_root: Vec::new(),
            spoil_root: |_| {},
            segment: Forge::new(),
        }
    }

    pub(super) fn read(mut self) -> Result<Given, Unreadable> {
        let (left, _) = self.segment.place(&self.left);
        let (right, _) = self.segment.place(&self.right);
        branch_entries(&(self.children)([left, right]), &mut self.branch.entries);
        self.branch.entries.extend_from_slice(&self.behind_children);
        let (top, _) = self.segment.place(&self.branch);
        let top = pointer_value((self.top)(top));
        for (index, entry) in self.catalog.iter_mut().enumerate() {
            if index == 0 && !entry.contains_key("tree") {
                entry.insert("tree", top.clone());
            }
        }
        let catalog: Vec<_> = self.catalog.iter().map(Document::encode).collect();
        let catalog = self.segment.leaf(PageKind::Catalog, &catalog);
        let table: Vec<_> = self.table.iter().map(cbor).collect();
        let table = self.segment.leaf(PageKind::SegmentTable, &table);
        for (name, pointer) in [("catalog", catalog), ("table", table)] {
            if !self.root.contains_key(name) {
                self.root.insert(name, pointer);
            }
        }
        let reference = self.segment.finish_spoilt(&self.list, self.root, &self.behind_root, self.spoil_root);
        read(&self.segment.disk, &reference)
    }
}
