//! Leaves: keys in order, and where their documents lie, both as differences (F-8.4).
//!
//! | `t`            | the key                                                                spec F-8.4 |
//! |---------------:|-----------------------------------------------------------------------------------|
//! | 2d             | an int, the int before plus d; d is not 0                                         |
//! | 1              | an int: a varint, its zigzag form                                                 |
//! | 8s + 3, 8s + 5 | text, bytes: s bytes as in the key before, then a varint length and so many bytes |
//!
//! Ints are found in [stretches](super::stretch); the other keys are read one by one.

use super::entry::{BYTES, INT, OUT_OF_ORDER, TEXT, take_varint, unzigzag, value_fault, zigzag};
use super::stretch::{Ints, Limits, Stretch};
use crate::document::KeyRef;
use crate::document::bytes::shared_len;
use crate::format::varint;

/// What the next entry of a leaf is told as a difference to.
#[derive(Debug, Clone, Default)]
pub(super) struct LeafEncoder {
    last: Last,
    value: u64,
}

/// The key before, in a buffer that is used again.
#[derive(Debug, Clone, Default)]
struct Last {
    /// What `payload` is; none at the start of a leaf, or of a tree.
    kind: Option<LastKind>,
    payload: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastKind {
    Int(i64),
    Text,
    Bytes,
}

impl LeafEncoder {
    /// Whether `key` is above the one before.
    pub(super) fn is_below(&self, key: KeyRef<'_>) -> bool {
        self.last.is_below(key)
    }

    /// Begins a leaf.
    pub(super) fn restart(&mut self) {
        self.last.kind = None;
        self.value = 0;
    }

    /// Appends an entry whose key is above that of the entry before.
    pub(super) fn append(&mut self, out: &mut Vec<u8>, key: KeyRef<'_>, value: u64) {
        match key {
            KeyRef::Int(int) => self.append_int(out, int),
            KeyRef::Text(text) => self.append_payload(out, TEXT, LastKind::Text, text.as_bytes()),
            KeyRef::Bytes(bytes) => self.append_payload(out, BYTES, LastKind::Bytes, bytes),
        }
        varint::put(out, zigzag(value.wrapping_sub(self.value) as i64));
        self.value = value;
    }

    fn append_int(&mut self, out: &mut Vec<u8>, int: i64) {
        match self.last.kind {
            // A difference of 2^63 and more has no even `t`.
            Some(LastKind::Int(before)) if int.checked_sub(before).is_some() => {
                varint::put(out, ((int - before) as u64) << 1);
            }
            _ => {
                varint::put(out, INT);
                varint::put(out, zigzag(int));
            }
        }
        self.last.kind = Some(LastKind::Int(int));
    }

    fn append_payload(&mut self, out: &mut Vec<u8>, t: u64, kind: LastKind, payload: &[u8]) {
        let shared = match self.last.kind {
            Some(before) if before == kind => shared_len(&self.last.payload, payload),
            _ => 0,
        };
        varint::put(out, (shared as u64) << 3 | t);
        varint::put(out, (payload.len() - shared) as u64);
        out.extend_from_slice(&payload[shared..]);
        self.last.kind = Some(kind);
        self.last.payload.truncate(shared);
        self.last.payload.extend_from_slice(&payload[shared..]);
    }
}

/// Who takes what leaves hold.
pub trait Entries {
    /// The int keys of a leaf, in stretches. `entries` are the leaf's bytes, which each stretch is spread out from.
    fn ints(&mut self, entries: &[u8], stretches: &[Stretch]);

    /// Any key, and its value.
    fn key(&mut self, key: KeyRef<'_>, value: u64);
}

/// Reads the entries of leaves. Kept from leaf to leaf for its buffers, and for the last key.
#[derive(Debug, Default)]
pub(super) struct LeafDecoder {
    last: Last,
    stretches: Vec<Stretch>,
}

/// What the bytes of a leaf are to be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf<'a> {
    pub(super) entries: &'a [u8],
    pub(super) count: u32,
    /// The first key, as the directory entry says; none for the entries of a patch, which no directory entry describes.
    pub(super) first: Option<KeyRef<'a>>,
    pub(super) limits: Limits,
}

impl LeafDecoder {
    /// Begins a tree: no key is before its first.
    pub(super) fn restart(&mut self) {
        self.last.kind = None;
    }

    /// Whether `key` is above all that were read.
    pub(super) fn is_below(&self, key: KeyRef<'_>) -> bool {
        self.last.is_below(key)
    }

    /// Everything up to `key` was read.
    pub(super) fn pass(&mut self, key: KeyRef<'_>) {
        self.last.set(key);
    }

    /// Hands out the entries in order. What was handed out before an error is as wrong as the rest. Returns the largest
    /// int among the keys.
    pub(super) fn decode(
        &mut self,
        leaf: Leaf<'_>,
        to: &mut impl Entries,
    ) -> Result<Option<i64>, &'static str> {
        if leaf.first.is_some_and(|first| !self.last.is_below(first)) {
            return Err(OUT_OF_ORDER);
        }
        let mut ints = Ints::new(leaf.entries, leaf.count, leaf.limits);
        self.stretches.clear();
        while let Some(stretch) = ints.next()? {
            self.stretches.push(stretch);
        }
        let first_int = self.stretches.first().map(Stretch::first_key);
        if first_int.is_some_and(|first| leaf.first.is_some_and(|due| due != KeyRef::Int(first))) {
            return Err(OTHER_FIRST_KEY);
        }
        if !self.stretches.is_empty() {
            to.ints(leaf.entries, &self.stretches);
        }
        self.last.kind = ints.key.map(LastKind::Int);
        self.decode_others(leaf, &ints, to)?;
        if self.last.kind.is_none() {
            return Err("a leaf without entries");
        }
        Ok(ints.key)
    }

    /// The keys behind the ints.
    fn decode_others(
        &mut self,
        leaf: Leaf<'_>,
        ints: &Ints<'_>,
        to: &mut impl Entries,
    ) -> Result<(), &'static str> {
        let (mut rest, mut value) = (&leaf.entries[ints.at..], ints.value);
        for left in (0..ints.left).rev() {
            let key = self.last.read(take_varint(&mut rest)?, &mut rest, leaf.limits.key_len_max)?;
            if left + 1 == leaf.count && leaf.first.is_some_and(|due| due != key) {
                return Err(OTHER_FIRST_KEY);
            }
            value = value.wrapping_add(unzigzag(take_varint(&mut rest)?) as u64);
            if let Some(fault) = value_fault(value, leaf.limits.value_end) {
                return Err(fault);
            }
            to.key(key, value);
        }
        if rest.is_empty() { Ok(()) } else { Err("bytes behind the last entry of a leaf") }
    }
}

const OTHER_FIRST_KEY: &str = "a leaf begins with another key than the directory says";

impl Last {
    fn set(&mut self, key: KeyRef<'_>) {
        let (kind, payload) = match key {
            KeyRef::Int(int) => (LastKind::Int(int), &[][..]),
            KeyRef::Text(text) => (LastKind::Text, text.as_bytes()),
            KeyRef::Bytes(bytes) => (LastKind::Bytes, bytes),
        };
        self.kind = Some(kind);
        self.payload.clear();
        self.payload.extend_from_slice(payload);
    }

    /// Whether `key` is above this one, or there is none.
    fn is_below(&self, key: KeyRef<'_>) -> bool {
        match (self.kind, key) {
            (None, _) | (Some(LastKind::Text), KeyRef::Bytes(_)) => true,
            (Some(LastKind::Int(int)), key) => KeyRef::Int(int) < key,
            (Some(LastKind::Text), KeyRef::Text(text)) => *self.payload < *text.as_bytes(),
            (Some(LastKind::Bytes), KeyRef::Bytes(bytes)) => *self.payload < *bytes,
            (Some(LastKind::Text), KeyRef::Int(_))
            | (Some(LastKind::Bytes), KeyRef::Int(_) | KeyRef::Text(_)) => false,
        }
    }

    /// The key of `t`, the rest of which begins `rest`. It is no int: those come before it, and were read.
    fn read(&mut self, t: u64, rest: &mut &[u8], len_max: usize) -> Result<KeyRef<'_>, &'static str> {
        if t == INT {
            return Err(OUT_OF_ORDER);
        }
        if t & 1 == 0 {
            return Err("a difference to a key that is no int");
        }
        let kind = match t & 7 {
            TEXT => LastKind::Text,
            BYTES => LastKind::Bytes,
            _ => return Err("an unknown sort of key"),
        };
        self.read_payload(kind, t >> 3, rest, len_max)?;
        self.kind = Some(kind);
        self.key().ok_or("text that is not UTF-8")
    }

    fn read_payload(
        &mut self,
        kind: LastKind,
        shared: u64,
        rest: &mut &[u8],
        len_max: usize,
    ) -> Result<(), &'static str> {
        let is_same_kind = self.kind == Some(kind);
        let shared_max = if is_same_kind { self.payload.len() as u64 } else { 0 };
        if shared > shared_max {
            return Err("a key shares more than the key before has");
        }
        // Both lengths are held against what is there before anything is copied.
        let suffix_len = take_varint(rest)?;
        if suffix_len > rest.len() as u64 {
            return Err("a leaf ends within a key");
        }
        let (suffix, behind) = rest.split_at(suffix_len as usize);
        *rest = behind;
        let shared = shared as usize;
        if shared + suffix.len() > len_max {
            return Err("a key longer than a key may be");
        }
        let is_above = match self.kind {
            // What both share is equal, so what follows it decides.
            Some(before) if before == kind => suffix > &self.payload[shared..],
            Some(LastKind::Bytes) => false,
            Some(LastKind::Int(_) | LastKind::Text) | None => true,
        };
        if !is_above {
            return Err(OUT_OF_ORDER);
        }
        self.payload.truncate(shared);
        self.payload.extend_from_slice(suffix);
        Ok(())
    }

    /// The key, if there is one and it is one.
    fn key(&self) -> Option<KeyRef<'_>> {
        Some(match self.kind? {
            LastKind::Int(int) => KeyRef::Int(int),
            LastKind::Text => KeyRef::Text(std::str::from_utf8(&self.payload).ok()?),
            LastKind::Bytes => KeyRef::Bytes(&self.payload),
        })
    }
}

/// All entries, one by one.
#[cfg(test)]
impl Entries for Vec<(crate::document::Key, u64)> {
    fn ints(&mut self, entries: &[u8], stretches: &[Stretch]) {
        for stretch in stretches {
            stretch.each(entries, |key, value| self.push((crate::document::Key::Int(key), value)));
        }
    }

    fn key(&mut self, key: KeyRef<'_>, value: u64) {
        self.push((key.to_key(), value));
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{VALUE_END, VALUE_MIN, is_value, value_end};
    use super::*;
    use crate::format::LogAddress;

    fn encode(keys: &[KeyRef<'_>]) -> Vec<u8> {
        let (mut encoder, mut out) = (LeafEncoder::default(), Vec::new());
        encoder.restart();
        keys.iter().for_each(|&key| encoder.append(&mut out, key, VALUE_MIN));
        out
    }

    // spec: F-8.4
    #[test]
    fn a_key_takes_what_it_differs_in_from_the_one_before() {
        let [one, none] = [VALUE_MIN as u8 * 2, 0];
        let ints = [KeyRef::Int(5), KeyRef::Int(7)];
        assert_eq!(encode(&ints), [INT as u8, 10, one, 4, none]);
        let texts = [KeyRef::Text("ab"), KeyRef::Text("ad")];
        let text = TEXT as u8;
        assert_eq!(encode(&texts), [text, 2, b'a', b'b', one, 1 << 3 | text, 1, b'd', none]);
        let kinds = [KeyRef::Text("a"), KeyRef::Bytes(b"a")];
        let nothing_shared = [text, 1, b'a', one, BYTES as u8, 1, b'a', none];
        assert_eq!(encode(&kinds), nothing_shared, "a text is no beginning of bytes");
    }

    // spec: F-8.4
    #[test]
    fn ints_in_one_page_may_be_further_apart_than_a_difference_can_say() {
        let keys = [KeyRef::Int(i64::MIN), KeyRef::Int(i64::MAX)];
        let entries = encode(&keys);
        let limits = Limits::new(LogAddress::MAX, 12);
        let leaf = Leaf { entries: &entries, count: 2, first: Some(keys[0]), limits };
        let mut found = Vec::new();
        assert_eq!(LeafDecoder::default().decode(leaf, &mut found), Ok(Some(i64::MAX)));
        assert_eq!(found, keys.map(|key| (key.to_key(), VALUE_MIN)));
    }

    //= spec/format.md#f-8-4-primary-leaves
    //= type=test
    //# A reader MUST take a checkpoint for damaged when an address in it is 0, or not below that where the log ended at the checkpoint (F-8.7).
    #[test]
    fn a_value_lies_between_the_first_record_and_the_end_of_the_log() {
        let at_the_ends = [VALUE_MIN - 1, VALUE_MIN, VALUE_END - 1, VALUE_END];
        assert_eq!(at_the_ends.map(is_value), [false, true, true, false]);
        let end = value_end(LogAddress(100));
        let faults = [VALUE_MIN - 1, VALUE_MIN, end - 1, end, VALUE_END - 1, VALUE_END]
            .map(|value| value_fault(value, end));
        let (none, beyond) =
            (Some("an address that no record has"), Some("an entry that leads beyond the end of the log"));
        assert_eq!(faults, [none, None, None, beyond, beyond, none]);
        assert_eq!(value_end(LogAddress(u64::MAX)), VALUE_END);
        assert_eq!(
            value_end(LogAddress::MAX),
            VALUE_END - VALUE_MIN,
            "the last address is none below itself"
        );
    }

    // spec: F-8.13
    #[test]
    fn the_first_key_of_a_leaf_is_that_of_the_directory_and_above_the_last_leaf() {
        let keys = [KeyRef::Text("b"), KeyRef::Text("d")];
        let limits = Limits::new(LogAddress::MAX, 12);
        for count in 1..=2 {
            let entries = encode(&keys[..count]);
            let decode = |decoder: &mut LeafDecoder, first| {
                let leaf = Leaf { entries: &entries, count: count as u32, first: Some(first), limits };
                decoder.decode(leaf, &mut Vec::new())
            };
            let mut decoder = LeafDecoder::default();
            assert_eq!(decode(&mut decoder, KeyRef::Text("a")), Err(OTHER_FIRST_KEY));
            decoder.restart();
            assert_eq!(decode(&mut decoder, keys[0]), Ok(None));
            assert_eq!(decode(&mut decoder, keys[0]), Err(OUT_OF_ORDER), "the same leaf again");
            decoder.restart();
            assert_eq!(decode(&mut decoder, keys[0]), Ok(None), "of another tree");
        }
    }

    #[test]
    fn keys_of_all_kinds_are_compared_as_they_are_ordered() {
        let keys = [
            KeyRef::Int(-1),
            KeyRef::Int(4),
            KeyRef::Text(""),
            KeyRef::Text("b"),
            KeyRef::Bytes(b""),
            KeyRef::Bytes(b"a"),
        ];
        for (index, last) in keys.into_iter().enumerate() {
            let mut encoder = LeafEncoder::default();
            assert!(encoder.is_below(last), "there is none before");
            encoder.append(&mut Vec::new(), last, VALUE_MIN);
            let above = keys.map(|key| encoder.is_below(key));
            assert_eq!(above, std::array::from_fn(|other| other > index), "{last:?}");
        }
    }
}
