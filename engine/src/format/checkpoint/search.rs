//! One key sought in the bytes of a leaf.

use std::cmp::Ordering;

use super::entry::{BYTES, INT, TEXT, take_varint, unzigzag, value_fault};
use super::leaf::{ENDS_WITHIN_A_KEY, UNKNOWN_KIND, common_prefix};
use super::patch::Changes;
use super::records::Unreadable;
use super::stretch::Limits;
use crate::document::KeyRef;

/// A leaf as its record has it, and what the patch over it says: verified by their checksums, and not taken apart.
#[derive(Debug)]
pub struct LeafBytes {
    entries: Box<[u8]>,
    changes: Changes,
    /// Where the record lies.
    at: u64,
}

impl LeafBytes {
    pub(super) fn new(entries: &[u8], changes: Changes, at: u64) -> Self {
        LeafBytes { entries: entries.into(), changes, at }
    }

    /// What it has under `key`, which is no int. Its entries are read as far as to that key, and are held to no clause but that.
    ///
    /// # Errors
    /// As [`Unreadable`] says.
    pub fn find(&self, key: KeyRef<'_>, limits: Limits) -> Result<Option<u64>, Unreadable> {
        match self.changes.find(key) {
            Some(changed) => Ok(changed),
            None => find(&self.entries, key, limits)
                .map_err(|what| Unreadable::damaged(self.at, "F-8.4", what, 0, 0)),
        }
    }

    /// How much memory it takes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.entries.len() + self.changes.memory_bytes()
    }
}

/// The value under `key`, which is no int, in the entries of a leaf. Reads them as far as to that key, and makes no keys of
/// them: of each it is enough to know how much of `key` it begins with.
fn find(mut entries: &[u8], key: KeyRef<'_>, limits: Limits) -> Result<Option<u64>, &'static str> {
    let (wanted, payload) = match key {
        KeyRef::Int(_) => return Err("an int is sought among other keys"),
        KeyRef::Text(text) => (TEXT, text.as_bytes()),
        KeyRef::Bytes(bytes) => (BYTES, bytes),
    };
    // The key before is below `key`, and begins with so much of it.
    let (mut alike, mut value) = (0, 0_u64);
    while !entries.is_empty() {
        let t = take_varint(&mut entries)?;
        let mut order = Ordering::Less;
        if t == INT {
            take_varint(&mut entries)?;
        } else if t & 1 == 1 {
            let (shared, len) = (t >> 3, take_varint(&mut entries)?);
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            let (suffix, rest) = entries.split_at_checked(len).ok_or(ENDS_WITHIN_A_KEY)?;
            entries = rest;
            let kind = t & 7;
            if kind != TEXT && kind != BYTES {
                return Err(UNKNOWN_KIND);
            }
            if kind == wanted {
                // One that shares more than that with the key before differs from `key` where that one does: it is below, too.
                if shared <= alike as u64 {
                    let (shared, sought) = (shared as usize, &payload[shared as usize..]);
                    let common = common_prefix(suffix, sought);
                    alike = shared + common;
                    order = suffix[common..].cmp(&sought[common..]);
                }
            } else if kind > wanted {
                order = Ordering::Greater;
            }
        }
        value = value.wrapping_add(unzigzag(take_varint(&mut entries)?) as u64);
        match order {
            Ordering::Less => {}
            Ordering::Equal => return value_fault(value, limits.value_end).map_or(Ok(Some(value)), Err),
            Ordering::Greater => return Ok(None),
        }
    }
    Ok(None)
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
            let leaf = LeafBytes::new(&entries, Changes::between(&list(&own), &list(&held)), 0);
            for key in own.keys().chain(held.keys()).chain([&other]) {
                let found = leaf.find(key.as_ref(), Limits::new(LogAddress(1000), 4));
                prop_assert_eq!(found.ok(), Some(held.get(key).copied()), "{:?}", key);
            }
        }

        /// Byte by byte changed, too: a key that shares less than it could is still a key.
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
                prop_assert!(!is_leaf || found == Ok(value), "{key:?}: {found:?}, not {value:?}");
            }
        }
    }
}
