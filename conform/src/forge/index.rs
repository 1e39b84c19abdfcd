//! What a checkpoint is made of, as bytes: index records, references and entries that lead to them, leaves, rows and maps (F-8.4 to F-8.15).

use holotype_model::{Document, Key, Value};

use super::log::Row;
use super::{varint, zigzag};

/// Kinds of index records (F-8.11).
pub const LEAF: u8 = 16;
/// F-8.13
pub const DIRECTORY: u8 = 17;
/// F-8.7
pub const PART: u8 = 18;
/// A patch over a leaf.
pub const PATCH: u8 = 19;

/// The place of an index record, and what must stand there (F-8.12).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reference {
    /// The physical index of its segment.
    pub segment: u32,
    /// Its offset in the segment.
    pub offset: u32,
    /// Its length.
    pub len: u32,
    /// Its CRC field.
    pub crc: u32,
}

impl Reference {
    /// As it stands in an entry or in a part of a root.
    #[must_use]
    pub fn bytes(self) -> Vec<u8> {
        let place = [self.segment, self.offset, self.len].map(|number| varint(number.into()));
        [place.concat(), self.crc.to_le_bytes().to_vec()].concat()
    }
}

/// A directory entry (F-8.13).
#[derive(Debug, Clone, Default)]
pub struct Entry {
    /// The first key of what it leads to, as CBOR.
    pub key: Vec<u8>,
    /// What it leads to.
    pub reference: Reference,
    /// How many keys there are.
    pub count: u64,
    /// By how much the LSN of what it leads to is less than that of the record that has it.
    pub age: u64,
    /// What stands over the leaf.
    pub patch: Option<Patch>,
}

/// What a directory entry says of the patch over a leaf (F-8.13).
#[derive(Debug, Clone, Default)]
pub struct Patch {
    /// How many keys the leaf has without it.
    pub own: u64,
    /// Where it stands.
    pub reference: Reference,
    /// By how much its LSN is less than that of the record that has the entry.
    pub age: u64,
}

impl Entry {
    /// As it stands in a page or a tree.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let count = if self.patch.is_some() { 0 } else { self.count };
        let mut bytes = [self.key.clone(), self.reference.bytes(), varint(count), varint(self.age)].concat();
        if let Some(patch) = &self.patch {
            bytes.extend([varint(self.count), varint(patch.own)].concat());
            bytes.extend([patch.reference.bytes(), varint(patch.age)].concat());
        }
        bytes
    }
}

/// What of the seed of an index record is other than it should be (F-8.11).
#[derive(Debug, Clone, Copy, Default)]
pub struct Seal {
    /// The lineage in place of its own.
    pub lineage: Option<[u8; 16]>,
    /// How many segments further on it says to stand.
    pub segment_off: u32,
    /// How many bytes further on it says to stand.
    pub offset_off: u32,
}

/// An index record before it has a place.
#[derive(Debug, Clone, Default)]
pub struct IndexRecord {
    /// F-8.11
    pub kind: u8,
    /// 0, if it is right.
    pub flags: u8,
    /// The collection or index of its tree.
    pub collection: u32,
    /// How many commits the commit field says too many.
    pub commit_off: u32,
    /// How many bytes more the length takes than it needs.
    pub length_more: usize,
    /// How many bytes the length says too many.
    pub length_off: i64,
    /// By how much the LSN that it is sealed with is less than that of the checkpoint.
    pub age: u64,
    /// What else of its seed is other than it should be.
    pub seal: Seal,
    /// What it holds.
    pub body: Vec<u8>,
}

/// The map of a collection (F-8.5).
#[must_use]
pub fn collection(id: u32, name: &str, next: u64, count: usize, tree: Vec<u8>) -> Document {
    Document::from([
        ("id".to_owned(), Value::Int(i64::from(id))),
        ("name".to_owned(), Value::from(name)),
        ("next".to_owned(), Value::Int(next as i64)),
        ("count".to_owned(), Value::Int(count as i64)),
        ("tree".to_owned(), Value::Bytes(tree)),
    ])
}

/// Rows of the segment table (F-8.6).
#[must_use]
pub fn table(rows: &[Row]) -> Vec<u8> {
    let row = |row: &Row| {
        let (numbers, lsns) = ([row.physical, row.end], [row.first, row.freed]);
        let bytes = |fields: &[u32]| fields.iter().flat_map(|field| field.to_le_bytes()).collect::<Vec<_>>();
        let lsns = lsns.iter().flat_map(|lsn| lsn.to_le_bytes()).collect();
        [row.sequence.to_le_bytes().to_vec(), bytes(&numbers), lsns, bytes(&[0, 0])].concat()
    };
    rows.iter().flat_map(row).collect()
}

/// Rows of the stretches that are not the first of their segment (F-8.14).
#[must_use]
pub fn stretches(rows: &[Row]) -> Vec<u8> {
    let others = |row: &Row| row.stretches.iter().skip(1).map(|other| (row.sequence, *other)).collect();
    rows.iter().flat_map::<Vec<_>, _>(others).flat_map(|(sequence, other)| stretch(sequence, other)).collect()
}

/// The row of a stretch: its sequence, its offset and its first LSN.
#[must_use]
pub fn stretch(sequence: u64, (at, first): (u32, u64)) -> Vec<u8> {
    [&sequence.to_le_bytes()[..], &at.to_le_bytes(), &first.to_le_bytes()].concat()
}

/// A row of live records (F-8.15): of a segment, in a collection.
#[must_use]
pub fn live(sequence: u64, collection: u32, count: u32) -> Vec<u8> {
    [&sequence.to_le_bytes()[..], &collection.to_le_bytes(), &count.to_le_bytes()].concat()
}

/// Physical indexes as `segments` has them (F-8.9).
#[must_use]
pub fn indexes_of(segments: &[u32]) -> Value {
    Value::Bytes(segments.iter().flat_map(|index| index.to_le_bytes()).collect())
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

/// The entries of a leaf (F-8.4): keys in order, and four times the log address of each, with its two bits.
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

/// Where the index records of a segment stand that has been given no gaps, from the first data byte on.
#[must_use]
pub fn records_in(segment: &[u8]) -> Vec<std::ops::Range<usize>> {
    let (mut at, mut found) = (64, Vec::new());
    while let Some(head) = segment.get(at..at + 9) {
        let is_one = (LEAF..=PATCH).contains(&head[4]);
        let [low, high] = [head[6], head[7]].map(usize::from);
        let (len, digits) = if low < 0x80 { (low, 1) } else { (low & 0x7f | high << 7, 2) };
        if is_one {
            found.push(at..at + 6 + digits + len);
        }
        at = if is_one { (at + 6 + digits + len).next_multiple_of(8) } else { at + 8 };
    }
    found
}
