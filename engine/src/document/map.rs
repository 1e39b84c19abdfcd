//! A `Document` as a map: its fields in the order in which they are encoded.

use std::cmp::Ordering;
use std::fmt;

use super::{Document, Text, Value};

//= spec/encoding.md#e-3-2-order-of-names
//# Fields MUST stand in the bytewise order of their encoded names.
/// The order of encoded field names: the head of a longer text is larger, so length goes first. spec: E-3.2.
#[inline]
pub(crate) fn key_cmp(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

impl Document {
    /// A document with no fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// A document with no fields yet, and room for `capacity` of them.
    pub fn with_capacity(capacity: usize) -> Self {
        Document { entries: Vec::with_capacity(capacity) }
    }

    /// The document of entries in any order; the name that comes twice, if one does.
    pub(super) fn from_entries(mut entries: Vec<(Text, Value)>) -> Result<Self, Text> {
        let order = |a: &(Text, Value), b: &(Text, Value)| key_cmp(a.0.as_bytes(), b.0.as_bytes());
        if !entries.is_sorted_by(|a, b| order(a, b).is_lt()) {
            entries.sort_by(order);
            if let Some(twice) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return Err(twice[0].0.clone());
            }
        }
        Ok(Document { entries })
    }

    /// The document of entries that the decoder found in order.
    pub(super) fn from_sorted(entries: Vec<(Text, Value)>) -> Self {
        debug_assert!(
            entries.is_sorted_by(|(a, _), (b, _)| key_cmp(a.as_bytes(), b.as_bytes()).is_lt()),
            "the decoder refuses fields out of order"
        );
        Document { entries }
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|(other, _)| key_cmp(other.as_bytes(), name.as_bytes()))
    }

    /// Sets the field `name`, and returns what it held before.
    pub fn insert(&mut self, name: impl Into<Text>, value: impl Into<Value>) -> Option<Value> {
        let (name, value) = (name.into(), value.into());
        if self.entries.last().is_none_or(|(last, _)| key_cmp(last.as_bytes(), name.as_bytes()).is_lt()) {
            self.entries.push((name, value));
            return None;
        }
        match self.find(&name) {
            Ok(at) => Some(std::mem::replace(&mut self.entries[at].1, value)),
            Err(at) => {
                self.entries.insert(at, (name, value));
                None
            }
        }
    }

    /// The field `name`. [`pointer`](Self::pointer) leads into nested values.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.find(name).ok().map(|at| &self.entries[at].1)
    }

    /// The field `name`, to change it in place.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.find(name).ok().map(|at| &mut self.entries[at].1)
    }

    /// Takes the field `name` out, and returns what it held.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.find(name).ok().map(|at| self.entries.remove(at).1)
    }

    /// Whether there is a field `name`.
    pub fn contains_key(&self, name: &str) -> bool {
        self.find(name).is_ok()
    }

    /// How many fields there are, those of nested objects not counted.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes all fields out.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The fields, in the order in which they are encoded.
    pub fn iter(&self) -> Fields<'_> {
        Fields { entries: self.entries.iter() }
    }

    /// The names, in the order in which they are encoded.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    /// The values, in the order in which they are encoded.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> + DoubleEndedIterator {
        self.entries.iter().map(|(_, value)| value)
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Where a name comes twice, the later value stays.
impl<K: Into<Text>, V: Into<Value>> FromIterator<(K, V)> for Document {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(fields: I) -> Self {
        let mut entries: Vec<_> =
            fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        // The sort is stable: from the back, the first of equal names is the one that came last.
        entries.reverse();
        entries.sort_by(|(a, _): &(Text, Value), (b, _)| key_cmp(a.as_bytes(), b.as_bytes()));
        entries.dedup_by(|later, kept| later.0 == kept.0);
        Document { entries }
    }
}

impl<K: Into<Text>, V: Into<Value>> Extend<(K, V)> for Document {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, fields: I) {
        for (name, value) in fields {
            self.insert(name, value);
        }
    }
}

impl<K: Into<Text>, V: Into<Value>, const N: usize> From<[(K, V); N]> for Document {
    fn from(fields: [(K, V); N]) -> Self {
        fields.into_iter().collect()
    }
}

/// The fields of a document. See [`Document::iter`].
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    entries: std::slice::Iter<'a, (Text, Value)>,
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a str, &'a Value);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.entries.next().map(|(name, value)| (name.as_str(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl DoubleEndedIterator for Fields<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.entries.next_back().map(|(name, value)| (name.as_str(), value))
    }
}

impl ExactSizeIterator for Fields<'_> {}
impl std::iter::FusedIterator for Fields<'_> {}

impl<'a> IntoIterator for &'a Document {
    type Item = (&'a str, &'a Value);
    type IntoIter = Fields<'a>;

    fn into_iter(self) -> Fields<'a> {
        self.iter()
    }
}

impl IntoIterator for Document {
    type Item = (Text, Value);
    type IntoIter = std::vec::IntoIter<(Text, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}
