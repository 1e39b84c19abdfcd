//! One key sought in the bytes of a leaf.

use std::cmp::Ordering;

use super::entry::{BYTES, INT, TEXT, take_varint, unzigzag, value_fault};
use super::patch::Changes;
use super::stretch::Limits;
use crate::document::KeyRef;
use crate::document::bytes::shared_len;

/// The entries of a leaf as its record has them, and what the patch over it says: both verified by their checksums.
#[derive(Debug)]
pub struct LeafBytes {
    entries: Box<[u8]>,
    changes: Changes,
}

impl LeafBytes {
    pub(super) fn new(entries: &[u8], changes: Changes) -> Self {
        LeafBytes { entries: entries.into(), changes }
    }

    /// What it has under `key`, which is no int; none where what stands in front of the key are no entries. Of what F-8.4 asks, only the
    /// value that is found is checked.
    #[must_use]
    pub fn find(&self, key: KeyRef<'_>, limits: Limits) -> Option<Option<u64>> {
        self.changes.find(key).or_else(|| find(&self.entries, key, limits))
    }

    /// How much memory it takes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.entries.len() + self.changes.memory_bytes()
    }
}

/// The value under `key`, which is no int, in the entries of a leaf. Reads them as far as to that key, and makes no keys of
/// them: of each it is enough to know how much of `key` it begins with.
fn find(mut entries: &[u8], key: KeyRef<'_>, limits: Limits) -> Option<Option<u64>> {
    let (wanted, payload) = match key {
        KeyRef::Int(_) => return None,
        KeyRef::Text(text) => (TEXT, text.as_bytes()),
        KeyRef::Bytes(bytes) => (BYTES, bytes),
    };
    // The key before is below `key`, and begins with so much of it.
    let (mut alike, mut value) = (0, 0_u64);
    while !entries.is_empty() {
        let t = take_varint(&mut entries).ok()?;
        let mut order = Ordering::Less;
        if t == INT {
            take_varint(&mut entries).ok()?;
        } else if t & 1 == 1 {
            let (shared, len) = (t >> 3, take_varint(&mut entries).ok()?);
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            let (suffix, rest) = entries.split_at_checked(len)?;
            entries = rest;
            let kind = t & 7;
            if kind != TEXT && kind != BYTES {
                return None;
            }
            if kind == wanted {
                // A key that shares more differs from `key` at the same byte as the one before, so it is below, too.
                if shared <= alike as u64 {
                    let (shared, sought) = (shared as usize, &payload[shared as usize..]);
                    let common = shared_len(suffix, sought);
                    alike = shared + common;
                    order = suffix[common..].cmp(&sought[common..]);
                }
            } else if kind > wanted {
                order = Ordering::Greater;
            }
        }
        value = value.wrapping_add(unzigzag(take_varint(&mut entries).ok()?) as u64);
        match order {
            Ordering::Less => {}
            Ordering::Equal => return value_fault(value, limits.value_end).is_none().then_some(Some(value)),
            Ordering::Greater => return Some(None),
        }
    }
    Some(None)
}

#[cfg(test)]
mod tests {
    use super::super::entry::VALUE_MIN;
    use super::super::leaf::{Leaf, LeafDecoder, LeafEncoder};
    use super::super::patch::List;
    use super::*;
    use crate::document::Key;
    use crate::format::LogAddress;
    use proptest::collection::{btree_map, vec};
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::Index;
    use std::collections::BTreeMap;

    fn list(entries: &BTreeMap<Key, u64>) -> List {
        let mut list = List::default();
        entries.iter().for_each(|(key, value)| list.push(key.as_ref(), *value));
        list
    }

    fn texts_and_bytes() -> impl Strategy<Value = Key> {
        prop_oneof![
            "[ab\u{e9}]{0,5}".prop_map(|text| Key::Text(text.as_str().into())),
            vec(prop_oneof![Just(0), Just(1), Just(255)], 0..4).prop_map(|bytes| Key::Bytes(bytes.into())),
        ]
    }

    fn any_key() -> impl Strategy<Value = Key> {
        prop_oneof![1 => (-9_i64..9).prop_map(Key::Int), 4 => texts_and_bytes()]
    }

    proptest! {
        #[test]
        fn a_key_is_found_through_the_patch_over_a_leaf(
            own in btree_map(texts_and_bytes(), VALUE_MIN..99, 1..20),
            held in btree_map(texts_and_bytes(), VALUE_MIN..99, 1..20),
            other in texts_and_bytes(),
        ) {
            let (mut encoder, mut entries) = (LeafEncoder::default(), Vec::new());
            own.iter().for_each(|(key, value)| encoder.append(&mut entries, key.as_ref(), *value));
            let leaf = LeafBytes::new(&entries, Changes::between(&list(&own), &list(&held)));
            for key in own.keys().chain(held.keys()).chain([&other]) {
                let found = leaf.find(key.as_ref(), Limits::new(LogAddress(1000), 4));
                prop_assert_eq!(found, Some(held.get(key).copied()), "{:?}", key);
            }
        }

        /// Also with one byte changed: a key that shares less than it could is still a key.
        #[test]
        fn a_key_is_found_where_the_decoder_has_it(
            keys in btree_map(any_key(), VALUE_MIN..99, 1..20),
            other in texts_and_bytes(),
            change in option::of((any::<Index>(), any::<u8>())),
        ) {
            let (mut encoder, mut entries) = (LeafEncoder::default(), Vec::new());
            keys.iter().for_each(|(key, value)| encoder.append(&mut entries, key.as_ref(), *value));
            if let Some((at, byte)) = change {
                *at.get_mut(&mut entries) = byte;
            }
            let limits = Limits::new(LogAddress(1000), 4);
            let leaf = Leaf { entries: &entries, count: keys.len() as u32, first: None, limits };
            let mut decoded = Vec::new();
            let is_leaf = LeafDecoder::default().decode(leaf, &mut decoded).is_ok();
            let sought = keys.keys().chain(decoded.iter().map(|(key, _)| key)).chain([&other]);
            for key in sought.filter(|key| !matches!(key, Key::Int(_))) {
                let found = find(&entries, key.as_ref(), limits);
                let value = decoded.iter().find(|(known, _)| known == key).map(|(_, value)| *value);
                prop_assert!(!is_leaf || found == Some(value), "{key:?}: {found:?}, not {value:?}");
            }
        }
    }
}
