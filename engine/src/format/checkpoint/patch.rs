//! Patches: what differs between a leaf of an earlier checkpoint and the keys that a checkpoint has in its place (F-8.16).

use super::leaf::{Entries, Leaf, LeafDecoder, LeafEncoder};
use super::stretch::{Limits, Stretch};
use crate::document::KeyRef;
use crate::format::index_record::Reference;
use crate::format::{Lsn, varint};
use crate::seeded::{self, Bug};

/// The patch over a leaf, as the directory has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Patch {
    pub(super) reference: Reference,
    /// LSN of the checkpoint that wrote it.
    pub(super) lsn: Lsn,
    /// The number of keys in the record of the leaf.
    pub(super) own: u64,
}

/// Entries, one behind the other.
#[derive(Debug, Clone, Default)]
pub(super) struct List {
    /// As CBOR.
    keys: Vec<u8>,
    values: Vec<u64>,
}

impl List {
    pub(super) fn push(&mut self, key: KeyRef<'_>, value: u64) {
        key.encode_into(&mut self.keys);
        self.values.push(value);
    }

    pub(super) fn len(&self) -> u64 {
        self.values.len() as u64
    }

    fn memory_bytes(&self) -> usize {
        self.keys.capacity() + self.values.capacity() * size_of::<u64>()
    }

    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.values.clear();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (KeyRef<'_>, u64)> {
        let mut rest = &self.keys[..];
        self.values.iter().map(move |value| {
            let (key, len) = KeyRef::decode_long(rest).expect("keys that were encoded here");
            rest = &rest[len..];
            (key, *value)
        })
    }
}

impl Entries for List {
    fn ints(&mut self, entries: &[u8], stretches: &[Stretch]) {
        for stretch in stretches {
            stretch.each(entries, |key, value| self.push(KeyRef::Int(key), value));
        }
    }

    fn key(&mut self, key: KeyRef<'_>, value: u64) {
        self.push(key, value);
    }
}

/// What a patch says.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    /// Keys; their values say nothing.
    removed: List,
    put: List,
}

impl Changes {
    /// What makes the entries of a leaf those that are `held`.
    pub(super) fn between(leaf: &List, held: &List) -> Changes {
        let mut changes = Changes::default();
        let mut leaf = leaf.iter().peekable();
        for (key, value) in held.iter() {
            while let Some((gone, value)) = leaf.next_if(|(old, _)| *old < key) {
                changes.removed.push(gone, value);
            }
            if leaf.next_if(|(old, _)| *old == key).is_none_or(|(_, old)| old != value) {
                changes.put.push(key, value);
            }
        }
        leaf.for_each(|(gone, value)| changes.removed.push(gone, value));
        changes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.removed.len() + self.put.len() == 0
    }

    /// The body of the patch.
    pub(super) fn encode(&self) -> Vec<u8> {
        let (mut body, mut encoder) = (Vec::new(), LeafEncoder::default());
        varint::put(&mut body, self.removed.len());
        varint::put(&mut body, self.put.len());
        body.extend_from_slice(&self.removed.keys);
        self.put.iter().for_each(|(key, value)| encoder.append(&mut body, key, value));
        body
    }

    //= spec/format.md#f-8-16-patches
    //# A reader MUST take a checkpoint for damaged when a patch has another number of keys than it says, or bytes
    //# behind its last entry; when a key is not above the one before it, of those removed or of those put; when a
    //# key that is removed is not in the record of the leaf, or is put; and when the record of the leaf begins with
    //# another key than the leaf with its patch.
    pub(super) fn decode(mut body: &[u8], limits: Limits) -> Result<Changes, &'static str> {
        let mut number = || varint::take(&mut body).ok_or("a patch without its numbers");
        let (removed, put) = (number()?, number()?);
        let mut changes = Changes::default();
        for _ in 0..removed {
            let (key, len) = KeyRef::decode_long(body).map_err(|_| "a patch removes what is no key")?;
            changes.removed.push(key, 0);
            body = &body[len..];
        }
        // A patch has no more keys than bytes.
        let count = u32::try_from(put).map_err(|_| "a patch of too few entries")?;
        if count > 0 {
            let leaf = Leaf { entries: body, count, first: None, limits };
            LeafDecoder::default().decode(leaf, &mut changes.put)?;
        } else if !body.is_empty() {
            return Err("bytes behind the last key of a patch");
        }
        Ok(changes)
    }

    /// What it says of a key: that it is put, or removed; nothing where that of the leaf stands.
    pub(super) fn find(&self, key: KeyRef<'_>) -> Option<Option<u64>> {
        let find = |list: &List| list.iter().find(|(found, _)| *found == key).map(|(_, value)| value);
        let removed = || find(&self.removed).filter(|_| !seeded::is_on(Bug::RemovedComesBack));
        find(&self.put).map(Some).or_else(|| removed().map(|_| None))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.removed.memory_bytes() + self.put.memory_bytes()
    }

    /// Hands out the entries of the leaf with the patch over it, in the order of keys.
    pub(super) fn apply(
        &self,
        leaf: &List,
        mut each: impl FnMut(KeyRef<'_>, u64),
    ) -> Result<(), &'static str> {
        let (mut removed, mut put) = (self.removed.iter().peekable(), self.put.iter().peekable());
        for (key, value) in leaf.iter() {
            while let Some((new, value)) = put.next_if(|(new, _)| *new < key) {
                each(new, value);
            }
            let new = put.next_if(|(new, _)| *new == key);
            let is_removed = removed.next_if(|(gone, _)| *gone == key).is_some();
            match new {
                Some(_) if is_removed => return Err("a patch removes a key that it puts"),
                Some((_, value)) => each(key, value),
                None if is_removed && !seeded::is_on(Bug::RemovedComesBack) => {}
                None => each(key, value),
            }
        }
        put.for_each(|(new, value)| each(new, value));
        match removed.next() {
            Some(_) => Err("a patch removes a key that its leaf does not have, or keys out of order"),
            None => Ok(()),
        }
    }
}
