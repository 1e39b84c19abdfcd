//! Keys, and sets of keys that lie side by side in the order.

use std::ops::Bound;

//= spec/values.md#v-3-8-order-of-keys
//# Keys MUST be ordered as the values that they are: ints by number, then texts, then byte strings.
/// What a document is found under. The order is that of values: int < text < bytes, each kind in its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A whole number, such as the ids that a store gives out.
    Int(i64),
    /// Unicode text, in bytewise order.
    Text(String),
    /// A string of bytes.
    Bytes(Vec<u8>),
}

impl Key {
    /// Bytes of payload, on which there is a limit; an int has none.
    pub fn len(&self) -> usize {
        match self {
            Key::Int(_) => 0,
            Key::Text(text) => text.len(),
            Key::Bytes(bytes) => bytes.len(),
        }
    }

    /// Whether there is no payload.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl From<i64> for Key {
    fn from(int: i64) -> Self {
        Key::Int(int)
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Key::Text(text.to_owned())
    }
}

/// The keys between two bounds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyRange {
    /// The lower bound.
    pub from: Bound<Key>,
    /// The upper bound.
    pub to: Bound<Key>,
}

impl KeyRange {
    /// Every key.
    pub const ALL: KeyRange = KeyRange { from: Bound::Unbounded, to: Bound::Unbounded };

    //= spec/semantics.md#s-5-4-range
    //# A scan of a range MUST answer exactly the keys that satisfy both bounds, each of which includes its
    //# key, excludes it, or is absent.
    /// Whether `key` satisfies both bounds.
    pub fn contains(&self, key: &Key) -> bool {
        let above = match &self.from {
            Bound::Included(from) => from <= key,
            Bound::Excluded(from) => from < key,
            Bound::Unbounded => true,
        };
        let below = match &self.to {
            Bound::Included(to) => key <= to,
            Bound::Excluded(to) => key < to,
            Bound::Unbounded => true,
        };
        above && below
    }
}

//= spec/semantics.md#s-5-5-prefix
//# A scan of a prefix MUST answer exactly the keys of the prefix's kind, text or bytes, whose payload begins
//# with that of the prefix.
/// The keys of one kind that begin in one way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Prefix {
    /// Text keys that begin with this text.
    Text(String),
    /// Bytes keys that begin with these bytes.
    Bytes(Vec<u8>),
}

impl Prefix {
    /// Whether `key` is of this kind and begins so.
    pub fn begins(&self, key: &Key) -> bool {
        match (self, key) {
            (Prefix::Text(prefix), Key::Text(text)) => text.starts_with(prefix),
            (Prefix::Bytes(prefix), Key::Bytes(bytes)) => bytes.starts_with(prefix),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= spec/values.md#v-3-8-order-of-keys
    //= type=test
    //# Keys MUST be ordered as the values that they are: ints by number, then texts, then byte strings.
    #[test]
    fn ints_come_before_texts_and_texts_before_bytes() {
        let sorted = [
            Key::Int(i64::MIN),
            Key::Int(-1),
            Key::Int(10),
            Key::from(""),
            Key::from("B"),
            Key::from("a"),
            Key::from("aa"),
            Key::Bytes(vec![]),
            Key::Bytes(vec![255]),
        ];
        assert!(sorted.is_sorted());
    }

    #[test]
    fn a_range_with_its_bounds_in_the_wrong_order_holds_nothing() {
        let range = KeyRange { from: Bound::Included(Key::Int(2)), to: Bound::Included(Key::Int(1)) };
        assert!(!(0..4).any(|int| range.contains(&Key::Int(int))));
    }

    #[test]
    fn a_prefix_holds_keys_of_its_own_kind_only() {
        assert!(Prefix::Text("a".into()).begins(&Key::from("ab")));
        assert!(!Prefix::Text(String::new()).begins(&Key::Int(1)));
        assert!(!Prefix::Text("a".into()).begins(&Key::Bytes(b"ab".to_vec())));
    }
}
