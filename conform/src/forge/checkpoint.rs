//! Checkpoints: index records behind one another, the trees that they make, and the root (F-8).

use std::collections::BTreeMap;

use holotype_model::{Document, Key, Value};

use super::index::{
    DIRECTORY, Entry, IndexRecord, LEAF, PART, Reference, Seal, absent, collection, indexes_of, ints, leaf,
    stretches, table,
};
use super::log::{Forge, LINEAGE, NONE, SEGMENTS, longer};
use super::world::Documents;
use super::{World, cbor, crc, up, varint};

/// A checkpoint under construction, of the last commit of a file.
#[derive(Debug)]
pub struct Checkpoint<'a> {
    forge: &'a mut Forge,
    physical: u32,
    /// Where the next record goes.
    at: u32,
    /// The LSN of the first checkpoint in the segment.
    first: u64,
    gap: u32,
    /// Whether records may stand where none may be.
    is_anywhere: bool,
    /// The segments of its pages and leaves.
    segments: Vec<u32>,
}

/// What of a checkpoint is other than it should be.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Fields of the root in place of its own, or more.
    pub root: BTreeMap<String, Value>,
    /// The catalog's maps.
    pub catalog: Option<Vec<Document>>,
    /// What becomes of the catalog's maps.
    pub maps: Option<fn(&mut Vec<Document>)>,
    /// The entries of each primary leaf, in place of its own.
    pub leaf: Option<Vec<Vec<u8>>>,
    /// What becomes of each index record before it is sealed.
    pub record: Option<fn(&mut IndexRecord)>,
    /// What becomes of the entry of each leaf.
    pub leaf_entry: Option<fn(&mut Entry)>,
    /// What becomes of the entry of each directory page.
    pub page_entry: Option<fn(&mut Entry)>,
    /// What becomes of the maps of the indexes.
    pub indexes: Option<fn(&mut Vec<Document>)>,
    /// What becomes of the entries of the first index, and of their values.
    pub entries: Option<fn(&mut Entries)>,
    /// How many bytes of the root's map a part has; as many as there are if none.
    pub part: Option<usize>,
    /// What becomes of the number of each part.
    pub numbers: Option<fn(u64) -> u64>,
    /// A field of the reference: offset and bytes.
    pub reference: Option<(usize, Vec<u8>)>,
}

/// The entries of an index, and the value of each.
pub type Entries = Vec<(Vec<u8>, u64)>;

impl<'a> Checkpoint<'a> {
    /// Begins in a segment that nothing else has.
    pub fn begin(forge: &'a mut Forge, physical: u32) -> Self {
        let first = forge.last;
        Checkpoint::begin_since(forge, physical, first)
    }

    /// The same, where the first checkpoint in the segment was of this LSN.
    pub fn begin_since(forge: &'a mut Forge, physical: u32, first: u64) -> Self {
        let at = forge.sector;
        let mut checkpoint = Checkpoint::at(forge, (physical, at), first);
        checkpoint.header();
        checkpoint
    }

    /// Begins behind the checkpoint that `reference` names, in the same segment.
    pub fn behind(forge: &'a mut Forge, reference: &[u8]) -> Self {
        let number = |at: usize| u32::from_le_bytes(reference[at..at + 4].try_into().expect("four bytes"));
        let (physical, at) = (number(8), up(number(12) + number(36), forge.sector));
        let header = SEGMENTS + physical as usize * forge.segment_bytes as usize;
        let first = u64::from_le_bytes(forge.data[header + 16..header + 24].try_into().expect("eight bytes"));
        Checkpoint::at(forge, (physical, at), first)
    }

    fn at(forge: &'a mut Forge, (physical, at): (u32, u32), first: u64) -> Self {
        Checkpoint { forge, physical, at, first, gap: 0, is_anywhere: false, segments: Vec::new() }
    }

    /// Goes on in another segment that nothing else has.
    pub fn go_on_in(&mut self, physical: u32) {
        (self.physical, self.at, self.first) = (physical, self.forge.sector, self.forge.last);
        self.header();
    }

    fn header(&mut self) {
        let end = SEGMENTS + (self.physical as usize + 1) * self.forge.segment_bytes as usize;
        if self.forge.data.len() < end {
            self.forge.data.resize(end, 0);
        }
        let mut header = vec![0; 60];
        header[..4].copy_from_slice(b"HCPK");
        header[4] = 2;
        header[16..24].copy_from_slice(&self.first.to_le_bytes());
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

    /// Goes on at this offset, whether a record may stand there or not.
    pub fn go_on_at(&mut self, at: u32) {
        (self.at, self.is_anywhere) = (at, true);
    }

    /// The documents of a collection, as they are.
    #[must_use]
    pub fn documents(&self, collection: u32) -> Documents {
        self.forge.world.collections()[&collection].clone()
    }

    /// Leaves room behind every record from here on: what lies between two of them has no meaning (F-8.11).
    pub fn leave_gaps(&mut self, len: u32) {
        self.gap = len;
    }

    /// Writes an index record.
    pub fn record(&mut self, record: &IndexRecord) -> Reference {
        let lsn = self.forge.last.wrapping_sub(record.age);
        let commit = (lsn as u32).wrapping_sub(self.first as u32).wrapping_add(record.commit_off);
        let behind = [varint(record.collection.into()), varint(commit.into()), record.body.clone()].concat();
        let length =
            longer(varint((behind.len() as u64).wrapping_add_signed(record.length_off)), record.length_more);
        let later = [vec![record.kind, record.flags], length, behind].concat();
        let Seal { lineage, segment_off, offset_off } = record.seal;
        let [place, offset] = [self.physical + segment_off, self.at + offset_off].map(u32::to_le_bytes);
        let sum = crc(&[&lineage.unwrap_or(LINEAGE), &place, &lsn.to_le_bytes(), &offset, &later]);
        let (start, len) = (self.start() + self.at as usize, 4 + later.len() as u32);
        let has_room = self.at + len <= self.forge.segment_bytes;
        assert!(has_room || self.is_anywhere, "the checkpoint has room in its segment");
        self.forge.data[start..start + 4].copy_from_slice(&sum.to_le_bytes());
        self.forge.data[start + 4..start + len as usize].copy_from_slice(&later);
        let reference = Reference { segment: self.physical, offset: self.at, len, crc: sum };
        self.at = up(self.at + len + self.gap, 8);
        if record.kind != PART && !self.segments.contains(&self.physical) {
            self.segments.push(self.physical);
        }
        reference
    }

    fn changed(&mut self, mut record: IndexRecord, changes: &Changes) -> Reference {
        changes.record.iter().for_each(|change| change(&mut record));
        self.record(&record)
    }

    /// Writes a leaf of these entries, which begins with this key. Answers the entry that leads to it.
    pub fn leaf(&mut self, tree: u32, first: &Key, entries: &[Vec<u8>], changes: &Changes) -> Entry {
        let body = entries.concat();
        let record = IndexRecord { kind: LEAF, collection: tree, body, ..IndexRecord::default() };
        let reference = self.changed(record, changes);
        let mut entry =
            Entry { key: cbor::key(first), reference, count: entries.len() as u64, age: 0, patch: None };
        changes.leaf_entry.iter().for_each(|change| change(&mut entry));
        entry
    }

    /// Writes a directory page of these entries. Answers the entry that leads to it.
    pub fn page(&mut self, tree: u32, entries: &[Entry], changes: &Changes) -> Entry {
        let body = entries.iter().flat_map(Entry::bytes).collect();
        let record = IndexRecord { kind: DIRECTORY, collection: tree, body, ..IndexRecord::default() };
        let reference = self.changed(record, changes);
        let key = entries.first().map_or(Vec::new(), |entry| entry.key.clone());
        let mut entry = Entry {
            key,
            reference,
            count: entries.iter().map(|entry| entry.count).sum(),
            age: 0,
            patch: None,
        };
        changes.page_entry.iter().for_each(|change| change(&mut entry));
        entry
    }

    /// Writes a tree of so many entries a leaf, and so many leaves a page. Answers the `tree` that leads to it.
    pub fn tree(
        &mut self,
        tree: u32,
        entries: &[(Key, u64)],
        (a_leaf, a_page): (usize, usize),
        changes: &Changes,
    ) -> Vec<u8> {
        let leaves: Vec<_> =
            entries.chunks(a_leaf).map(|part| self.leaf(tree, &part[0].0, &leaf(part), changes)).collect();
        leaves.chunks(a_page).flat_map(|part| self.page(tree, part, changes).bytes()).collect()
    }

    /// Writes the state as it is, but for `changes`. Answers the reference to it (F-3.2).
    pub fn finish(mut self, changes: &Changes) -> Vec<u8> {
        let mut catalog = Vec::new();
        for (id, documents) in self.forge.world.clone().collections() {
            let entries = documents.entries();
            let tree = match (entries.first(), &changes.leaf) {
                (None, _) => Vec::new(),
                (Some((first, _)), Some(other)) => {
                    let entry = self.leaf(*id, first, other, changes);
                    self.page(*id, &[entry], changes).bytes()
                }
                (Some(_), None) => self.tree(*id, &entries, (usize::MAX, usize::MAX), changes),
            };
            catalog.push(collection(*id, &documents.name, documents.next, entries.len(), tree));
        }
        self.finish_with(catalog, changes)
    }

    /// Writes all but the primary trees.
    pub fn finish_with(mut self, catalog: Vec<Document>, changes: &Changes) -> Vec<u8> {
        let map = self.root(catalog, changes);
        self.finish_root(&map, changes)
    }

    /// Writes the trees of the indexes. Answers the root's map (F-8.7).
    pub fn root(&mut self, catalog: Vec<Document>, changes: &Changes) -> Vec<u8> {
        let mut catalog = changes.catalog.clone().unwrap_or(catalog);
        changes.maps.iter().for_each(|change| change(&mut catalog));
        let world = self.forge.world.clone();
        let last_id = world.collections().keys().chain(world.indexes().keys()).max().copied().unwrap_or(0);
        let mut indexes = self.index_trees(&world, changes);
        changes.indexes.iter().for_each(|change| change(&mut indexes));
        let forge = &self.forge;
        let log = [forge.physical.into(), forge.sequence as i64, forge.end.into()];
        let reserved = forge.reserved.iter().map(|index| optional(*index)).collect();
        let maps = |maps: Vec<Document>| Value::Array(maps.into_iter().map(Value::Object).collect());
        let mut root = BTreeMap::from(
            [
                ("lsn", Value::Int(forge.last as i64)),
                ("last", Value::Int(i64::from(last_id))),
                ("log", ints(&log)),
                ("reserved", Value::Array(reserved)),
                ("segments", indexes_of(&self.segments)),
                ("catalog", maps(catalog)),
                ("indexes", maps(indexes)),
                ("table", Value::Bytes(table(&forge.table))),
                ("stretches", Value::Bytes(stretches(&forge.table))),
                ("live", Value::Bytes(Vec::new())),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        );
        root.extend(changes.root.clone());
        root.retain(|_, value| *value != absent());
        cbor::document(&root)
    }

    /// Writes the parts of the root. Answers the reference to the last.
    pub fn finish_root(mut self, map: &[u8], changes: &Changes) -> Vec<u8> {
        let mut before: Option<Reference> = None;
        for (number, bytes) in (0u64..).zip(map.chunks(changes.part.unwrap_or(usize::MAX))) {
            let number = changes.numbers.map_or(number, |change| change(number));
            let link = before.map_or(Vec::new(), Reference::bytes);
            let body = [varint(number), link, bytes.to_vec()].concat();
            before = Some(self.changed(IndexRecord { kind: PART, body, ..IndexRecord::default() }, changes));
        }
        self.reference_to(before.expect("a map has bytes"), changes)
    }

    /// Writes the trees of the indexes. Answers the maps that name them.
    fn index_trees(&mut self, world: &World, changes: &Changes) -> Vec<Document> {
        let mut maps = Vec::new();
        for (n, (id, index)) in world.indexes().iter().enumerate() {
            let mut entries: Vec<_> = world.entries(index).into_iter().map(|entry| (entry, 4)).collect();
            let count = entries.len();
            if n == 0 {
                changes.entries.iter().for_each(|change| change(&mut entries));
            }
            let entries: Vec<_> =
                entries.into_iter().map(|(entry, value)| (Key::Bytes(entry), value)).collect();
            let tree = self.tree(*id, &entries, (usize::MAX, usize::MAX), changes);
            maps.push(Document::from([
                ("id".to_owned(), Value::Int(i64::from(*id))),
                ("of".to_owned(), Value::Int(i64::from(index.of))),
                ("index".to_owned(), Value::Object(index.definition.map())),
                ("count".to_owned(), Value::Int(count as i64)),
                ("tree".to_owned(), Value::Bytes(tree)),
            ]));
        }
        maps
    }

    /// What names a root whose last part stands there (F-3.2).
    #[must_use]
    pub fn reference_to(&self, root: Reference, changes: &Changes) -> Vec<u8> {
        let forge = &self.forge;
        let mut reference = Vec::new();
        reference.extend(forge.last.to_le_bytes());
        reference.extend(root.segment.to_le_bytes());
        reference.extend(root.offset.to_le_bytes());
        reference.extend(root.crc.to_le_bytes());
        reference.extend(forge.physical.to_le_bytes());
        reference.extend(forge.sequence.to_le_bytes());
        reference.extend(forge.end.to_le_bytes());
        reference.extend(root.len.to_le_bytes());
        reference.extend(forge.last.to_le_bytes());
        if let Some((at, bytes)) = &changes.reference {
            reference[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        reference
    }
}

fn optional(index: u32) -> Value {
    if index == NONE { Value::Null } else { Value::Int(i64::from(index)) }
}
