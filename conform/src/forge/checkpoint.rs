//! The pages of a checkpoint (F-8).

use std::collections::BTreeMap;

use holotype_model::{Document, Key, Value};

use super::log::{Forge, LINEAGE, NONE, SEGMENTS};
use super::{World, cbor, crc, up, varint, zigzag};

/// Kinds of pages.
pub const ROOT: u8 = 1;
/// F-8.5
pub const CATALOG: u8 = 2;
/// F-8.6
pub const TABLE: u8 = 3;
/// F-8.4
pub const PRIMARY: u8 = 4;
/// F-8.9
pub const LIST: u8 = 5;
/// F-8.10
pub const INDEXES: u8 = 6;

/// A place where a page stands: its number, segment and offset (F-8.2).
pub type Pointer = (u32, u32, u32);

/// A page before it has a place.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// What it holds.
    pub kind: u8,
    /// 0 for a leaf.
    pub level: u8,
    /// The collection of a primary page.
    pub tree: u32,
    /// Its fences.
    pub fences: (Vec<u8>, Vec<u8>),
    /// Its entries.
    pub entries: Vec<Vec<u8>>,
    /// The number that it says, if not its own.
    pub number: Option<u32>,
    /// How many entries it says, if not so many.
    pub count: Option<u32>,
}

/// A checkpoint under construction, of the last commit of a file, in one segment of its own.
#[derive(Debug)]
pub struct Pages<'a> {
    forge: &'a mut Forge,
    physical: u32,
    at: u32,
    number: u32,
    crc: u32,
    gap: u32,
}

/// What of a checkpoint is other than it should be.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Fields of the root in place of its own, or more.
    pub root: BTreeMap<String, Value>,
    /// The segments that the list names.
    pub listed: Option<Vec<u32>>,
    /// The catalog's entries.
    pub catalog: Option<Vec<Document>>,
    /// The table's rows.
    pub table: Option<Vec<Value>>,
    /// The entries of each primary leaf, in place of its own.
    pub leaf: Option<Vec<Vec<u8>>>,
    /// What becomes of the maps of the indexes.
    pub indexes: Option<fn(&mut Vec<Document>)>,
    /// What becomes of the entries of the first index, and of their values.
    pub entries: Option<fn(&mut Entries)>,
    /// A field of the reference: offset and bytes.
    pub reference: Option<(usize, Vec<u8>)>,
}

/// The entries of an index, and the value of each.
pub type Entries = Vec<(Vec<u8>, u64)>;

impl<'a> Pages<'a> {
    /// Begins in a segment that nothing else has.
    pub fn begin(forge: &'a mut Forge, physical: u32) -> Self {
        let end = SEGMENTS + (physical as usize + 1) * forge.segment_bytes as usize;
        if forge.data.len() < end {
            forge.data.resize(end, 0);
        }
        let at = forge.sector;
        let mut pages = Pages { forge, physical, at, number: 0, crc: 0, gap: 0 };
        pages.segment_header();
        pages
    }

    fn segment_header(&mut self) {
        let mut header = vec![0; 60];
        header[..4].copy_from_slice(b"HCPK");
        header[4] = 2;
        header[16..24].copy_from_slice(&self.forge.last.to_le_bytes());
        header[36..44].copy_from_slice(&[0xff; 8]);
        header[44..60].copy_from_slice(&LINEAGE);
        let sum = crc(&[&self.physical.to_le_bytes(), &header]);
        header.extend(sum.to_le_bytes());
        let start = self.start();
        self.forge.data[start..start + 64].copy_from_slice(&header);
    }

    fn start(&self) -> usize {
        SEGMENTS + self.physical as usize * self.forge.segment_bytes as usize
    }

    /// Writes a page.
    pub fn page(&mut self, page: &Page) -> Pointer {
        let number = page.number.unwrap_or(self.number);
        let (lower, upper) = &page.fences;
        let body = [&lower[..], upper, &page.entries.concat()].concat();
        let mut bytes = Vec::new();
        bytes.extend((32 + body.len() as u32).to_le_bytes());
        bytes.extend(number.to_le_bytes());
        bytes.extend(page.tree.to_le_bytes());
        bytes.extend([page.kind, page.level, 0, 0]);
        bytes.extend(page.count.unwrap_or(page.entries.len() as u32).to_le_bytes());
        bytes.extend((lower.len() as u32).to_le_bytes());
        bytes.extend((upper.len() as u32).to_le_bytes());
        bytes.extend(body);
        self.crc = crc(&[&LINEAGE, &self.forge.last.to_le_bytes(), &number.to_le_bytes(), &bytes]);
        let start = self.start() + self.at as usize;
        self.forge.data[start..start + 4].copy_from_slice(&self.crc.to_le_bytes());
        self.forge.data[start + 4..start + 4 + bytes.len()].copy_from_slice(&bytes);
        let pointer = (number, self.physical, self.at);
        self.at = up(self.at + 4 + bytes.len() as u32 + self.gap, 8);
        assert!(self.at <= self.forge.segment_bytes, "the checkpoint has room in its segment");
        self.number += 1;
        pointer
    }

    /// Leaves room behind every page from here on: what lies between two pages has no meaning (F-8.1).
    pub fn leave_gaps(&mut self, len: u32) {
        self.gap = len;
    }

    /// Writes the pages of the state as it is, but for `changes`. Answers the reference to it (F-3.2).
    pub fn finish(mut self, changes: &Changes) -> Vec<u8> {
        let world = self.forge.world.clone();
        let mut catalog = Vec::new();
        for (id, documents) in world.collections() {
            let entries = documents.entries();
            let mut map = Document::from([
                ("id".to_owned(), Value::Int(i64::from(*id))),
                ("name".to_owned(), Value::from(&*documents.name)),
                ("next".to_owned(), Value::Int(documents.next as i64)),
                ("count".to_owned(), Value::Int(entries.len() as i64)),
            ]);
            if !entries.is_empty() {
                let entries = changes.leaf.clone().unwrap_or_else(|| leaf(&entries));
                let tree = self.page(&Page { kind: PRIMARY, tree: *id, entries, ..Page::default() });
                map.insert("tree".to_owned(), pointer(tree));
            }
            catalog.push(map);
        }
        self.finish_with(catalog, changes)
    }

    /// Writes all but the primary trees.
    pub fn finish_with(mut self, catalog: Vec<Document>, changes: &Changes) -> Vec<u8> {
        let catalog = changes.catalog.clone().unwrap_or(catalog);
        let world = self.forge.world.clone();
        let last_id = world.collections().keys().chain(world.indexes().keys()).max().copied().unwrap_or(0);
        let mut indexes = self.index_trees(&world, changes);
        changes.indexes.iter().for_each(|change| change(&mut indexes));
        let rows = changes.table.clone().unwrap_or_else(|| self.rows());
        let mut root = BTreeMap::from([
            ("lsn".to_owned(), Value::Int(self.forge.last as i64)),
            ("last".to_owned(), Value::Int(i64::from(last_id))),
            (
                "log".to_owned(),
                ints(&[self.forge.physical.into(), self.forge.sequence as i64, self.forge.end.into()]),
            ),
            (
                "reserved".to_owned(),
                Value::Array(self.forge.reserved.iter().map(|index| optional(*index)).collect()),
            ),
        ]);
        if !catalog.is_empty() {
            let entries = catalog.iter().map(cbor::document).collect();
            let at = self.page(&Page { kind: CATALOG, entries, ..Page::default() });
            root.insert("catalog".to_owned(), pointer(at));
        }
        if !indexes.is_empty() {
            let entries = indexes.iter().map(cbor::document).collect();
            let at = self.page(&Page { kind: INDEXES, entries, ..Page::default() });
            root.insert("indexes".to_owned(), pointer(at));
        }
        let entries = rows.iter().map(cbor::value).collect();
        let at = self.page(&Page { kind: TABLE, entries, ..Page::default() });
        root.insert("table".to_owned(), pointer(at));
        let listed = changes.listed.clone().unwrap_or_else(|| vec![self.physical]);
        let entries = listed.iter().map(|index| varint(u64::from(*index))).collect();
        let at = self.page(&Page { kind: LIST, entries, ..Page::default() });
        root.insert("segments".to_owned(), pointer(at));
        root.extend(changes.root.clone());
        root.retain(|_, value| *value != Value::Bytes(b"absent".to_vec()));
        let (_, _, at) =
            self.page(&Page { kind: ROOT, entries: vec![cbor::document(&root)], ..Page::default() });
        self.reference(at, changes)
    }

    /// Writes the trees of the indexes. Answers the maps that name them.
    fn index_trees(&mut self, world: &World, changes: &Changes) -> Vec<Document> {
        let mut maps = Vec::new();
        for (n, (id, index)) in world.indexes().iter().enumerate() {
            let mut entries: Vec<_> = world.entries(index).into_iter().map(|entry| (entry, 4)).collect();
            let mut map = Document::from([
                ("id".to_owned(), Value::Int(i64::from(*id))),
                ("of".to_owned(), Value::Int(i64::from(index.of))),
                ("index".to_owned(), Value::Object(index.definition.map())),
                ("count".to_owned(), Value::Int(entries.len() as i64)),
            ]);
            if n == 0 {
                changes.entries.iter().for_each(|change| change(&mut entries));
            }
            if !entries.is_empty() {
                let entries: Vec<_> =
                    entries.into_iter().map(|(entry, value)| (Key::Bytes(entry), value)).collect();
                let page = Page { kind: PRIMARY, tree: *id, entries: leaf(&entries), ..Page::default() };
                map.insert("tree".to_owned(), pointer(self.page(&page)));
            }
            maps.push(map);
        }
        maps
    }

    fn rows(&self) -> Vec<Value> {
        let row = |row: &super::log::Row| {
            let stretches = row.stretches.iter().map(|(at, first)| ints(&[i64::from(*at), *first as i64]));
            Value::Array(vec![
                Value::Int(row.sequence as i64),
                Value::Int(i64::from(row.physical)),
                Value::Int(row.first as i64),
                Value::Int(i64::from(row.end)),
                Value::Array(stretches.collect()),
                Value::Int(row.freed as i64),
                Value::Int(0),
                Value::Int(0),
                Value::Array(Vec::new()),
            ])
        };
        self.forge.table.iter().map(row).collect()
    }

    fn reference(&self, root: u32, changes: &Changes) -> Vec<u8> {
        let forge = &self.forge;
        let mut reference = Vec::new();
        reference.extend(forge.last.to_le_bytes());
        reference.extend(self.physical.to_le_bytes());
        reference.extend(root.to_le_bytes());
        reference.extend(self.crc.to_le_bytes());
        reference.extend(forge.physical.to_le_bytes());
        reference.extend(forge.sequence.to_le_bytes());
        reference.extend(forge.end.to_le_bytes());
        reference.extend([0; 4]);
        reference.extend(forge.last.to_le_bytes());
        if let Some((at, bytes)) = &changes.reference {
            reference[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        reference
    }
}

/// What stands for a field of the root that is to be left out.
#[must_use]
pub fn absent() -> Value {
    Value::Bytes(b"absent".to_vec())
}

/// An array of ints.
#[must_use]
pub fn ints(ints: &[i64]) -> Value {
    Value::Array(ints.iter().copied().map(Value::Int).collect())
}

/// A page pointer in a map.
#[must_use]
pub fn pointer((number, physical, at): Pointer) -> Value {
    ints(&[number.into(), physical.into(), at.into()])
}

fn optional(index: u32) -> Value {
    if index == NONE { Value::Null } else { Value::Int(i64::from(index)) }
}

/// The entries of a primary leaf (F-8.4): keys in order, and four times the log address of each, with its two bits.
#[must_use]
pub fn leaf(entries: &[(Key, u64)]) -> Vec<Vec<u8>> {
    let (mut out, mut past, mut before) = (Vec::new(), None::<&Key>, 0u64);
    for (key, value) in entries {
        let head = match (key, past) {
            (Key::Int(int), Some(Key::Int(past))) => varint(2 * int.wrapping_sub(*past) as u64),
            (Key::Int(int), _) => [varint(1), zigzag(*int)].concat(),
            (Key::Text(text), Some(Key::Text(past))) => sharing(3, past.as_bytes(), text.as_bytes()),
            (Key::Text(text), _) => sharing(3, &[], text.as_bytes()),
            (Key::Bytes(bytes), Some(Key::Bytes(past))) => sharing(5, past, bytes),
            (Key::Bytes(bytes), _) => sharing(5, &[], bytes),
        };
        out.push([head, zigzag(value.wrapping_sub(before) as i64)].concat());
        (past, before) = (Some(key), *value);
    }
    out
}

fn sharing(sort: u64, past: &[u8], bytes: &[u8]) -> Vec<u8> {
    let shared = past.iter().zip(bytes).take_while(|(a, b)| a == b).count();
    let rest = &bytes[shared..];
    [varint(8 * shared as u64 + sort), varint(rest.len() as u64), rest.to_vec()].concat()
}
