//! Keys and what was found under them, in order: what a look into an index gives, and a walk goes through.
//!
//! The keys' bytes stand back to back in two buffers, so that many keys take few allocations, and none where the page was used before.

use std::cmp::Ordering;
use std::convert::Infallible;
use std::ops::{Bound, Range};

use crate::document::KeyRef;

use super::{Entry, KeyRange};

/// What the map has beside the bytes of a key, about, where nodes are half full.
pub(super) const BESIDE_A_KEY: usize = 30;

/// Entries of an index.
pub(crate) type Entries = Page<Entry>;

/// Keys, and what `E` says of each.
#[derive(Debug, Clone)]
pub(crate) struct Page<E> {
    items: Vec<Item<E>>,
    /// Of the keys that are texts.
    text: String,
    /// Of those that are byte strings.
    bytes: Vec<u8>,
}

/// What stands under one key of a page, which knows the key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item<E> {
    key: KeyAt,
    pub(crate) value: E,
}

/// Where a key is. No key is longer than 16 bits can say.
#[derive(Debug, Clone, Copy)]
enum KeyAt {
    Int(i64),
    Text(usize, u16),
    Bytes(usize, u16),
}

impl<E> Item<E> {
    /// The key, if it is an int.
    #[inline]
    pub(crate) fn int(&self) -> Option<i64> {
        if let KeyAt::Int(int) = self.key { Some(int) } else { None }
    }
}

impl KeyAt {
    #[inline]
    fn key<'a>(&self, text: &'a str, bytes: &'a [u8]) -> KeyRef<'a> {
        match *self {
            KeyAt::Int(int) => KeyRef::Int(int),
            KeyAt::Text(start, len) => KeyRef::Text(&text[start..start + usize::from(len)]),
            KeyAt::Bytes(start, len) => KeyRef::Bytes(&bytes[start..start + usize::from(len)]),
        }
    }
}

impl<E> Default for Page<E> {
    fn default() -> Self {
        Page { items: Vec::new(), text: String::new(), bytes: Vec::new() }
    }
}

impl<E> Page<E> {
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn items(&self) -> &[Item<E>] {
        &self.items
    }

    /// The key of one of the items.
    #[inline]
    pub(crate) fn key(&self, item: &Item<E>) -> KeyRef<'_> {
        item.key.key(&self.text, &self.bytes)
    }

    /// The bytes of the key of one of the items, if it is a text.
    #[inline]
    pub(crate) fn text(&self, item: &Item<E>) -> Option<&[u8]> {
        let KeyAt::Text(start, len) = item.key else { return None };
        Some(&self.text.as_bytes()[start..start + usize::from(len)])
    }

    /// Those of the items, which are in order, whose keys lie in `range`.
    pub(super) fn within(&self, range: &KeyRange) -> &[Item<E>] {
        let in_front = |is_in_front: &dyn Fn(KeyRef<'_>) -> bool| {
            self.items.partition_point(|item| is_in_front(self.key(item)))
        };
        let begin = match &range.from {
            Bound::Unbounded => 0,
            Bound::Included(from) => in_front(&|key| key < from.as_ref()),
            Bound::Excluded(from) => in_front(&|key| key <= from.as_ref()),
        };
        let end = match &range.to {
            Bound::Unbounded => self.items.len(),
            Bound::Included(to) => in_front(&|key| key <= to.as_ref()),
            Bound::Excluded(to) => in_front(&|key| key < to.as_ref()),
        };
        self.items.get(begin..end).unwrap_or_default()
    }

    /// Roughly the memory that some of these take in the map, in bytes, where nodes are half full.
    pub(super) fn bytes_in_map(&self, is_of: impl Fn(&E) -> bool) -> u64 {
        let of = self.iter().filter(|(_, value)| is_of(value));
        of.map(|(key, _)| (key.payload_len() + BESIDE_A_KEY) as u64).sum()
    }

    pub(crate) fn last_key(&self) -> Option<KeyRef<'_>> {
        self.items.last().map(|last| self.key(last))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (KeyRef<'_>, &E)> {
        self.items.iter().map(|item| (self.key(item), &item.value))
    }

    /// Takes all out, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.text.clear();
        self.bytes.clear();
    }

    pub(crate) fn reserve(&mut self, more: usize) {
        self.items.reserve(more);
    }

    #[inline]
    pub(super) fn push_int(&mut self, key: i64, value: E) {
        self.items.push(Item { key: KeyAt::Int(key), value });
    }

    pub(crate) fn push(&mut self, key: KeyRef<'_>, value: E) {
        let key = match key {
            KeyRef::Int(int) => KeyAt::Int(int),
            KeyRef::Text(text) => {
                self.text.push_str(text);
                KeyAt::Text(self.text.len() - text.len(), text.len() as u16)
            }
            KeyRef::Bytes(bytes) => {
                self.bytes.extend_from_slice(bytes);
                KeyAt::Bytes(self.bytes.len() - bytes.len(), bytes.len() as u16)
            }
        };
        self.items.push(Item { key, value });
    }

    /// Appends texts that stand one behind the other in `texts`, and have these lengths; `reverse`, the last one first.
    pub(super) fn push_texts(
        &mut self,
        texts: &str,
        lens: impl DoubleEndedIterator<Item = usize>,
        values: impl DoubleEndedIterator<Item = E>,
        reverse: bool,
    ) {
        let start = self.text.len();
        self.text.push_str(texts);
        self.push_placed(KeyAt::Text, start..self.text.len(), lens, values, reverse);
    }

    /// As [`push_texts`](Self::push_texts), of byte strings.
    pub(super) fn push_byte_strings(
        &mut self,
        bytes: &[u8],
        lens: impl DoubleEndedIterator<Item = usize>,
        values: impl DoubleEndedIterator<Item = E>,
        reverse: bool,
    ) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.push_placed(KeyAt::Bytes, start..self.bytes.len(), lens, values, reverse);
    }

    fn push_placed(
        &mut self,
        place: impl Fn(usize, u16) -> KeyAt,
        Range { mut start, mut end }: Range<usize>,
        lens: impl DoubleEndedIterator<Item = usize>,
        values: impl DoubleEndedIterator<Item = E>,
        reverse: bool,
    ) {
        if reverse {
            self.items.extend(lens.rev().zip(values.rev()).map(|(len, value)| {
                end -= len;
                Item { key: place(end, len as u16), value }
            }));
        } else {
            self.items.extend(lens.zip(values).map(|(len, value)| {
                start += len;
                Item { key: place(start - len, len as u16), value }
            }));
        }
    }

    /// Takes these items out.
    pub(super) fn remove(&mut self, range: Range<usize>) {
        self.items.drain(range);
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }

    /// Brings what stands from `start` on into order, or into that of `reverse`. Of one key's items, the first stays.
    pub(crate) fn put_in_order(&mut self, start: usize, reverse: bool) {
        let Page { items, text, bytes } = self;
        let order = |a: &Item<E>, b: &Item<E>| {
            let order = a.key.key(text, bytes).cmp(&b.key.key(text, bytes));
            if reverse { order.reverse() } else { order }
        };
        items[start..].sort_by(order);
        let mut at = 0;
        items.dedup_by(|later, earlier| {
            at += 1;
            at > start && order(earlier, later) == Ordering::Equal
        });
    }

    /// The same keys, with what `change` makes of each one's value, and without those of which it makes nothing.
    pub(crate) fn try_filter_map<T, X>(
        self,
        mut change: impl FnMut(KeyRef<'_>, E) -> Result<Option<T>, X>,
    ) -> Result<Page<T>, X> {
        let Page { items, text, bytes } = self;
        let mut kept = Vec::with_capacity(items.len());
        for Item { key, value } in items {
            let value = change(key.key(&text, &bytes), value)?;
            kept.extend(value.map(|value| Item { key, value }));
        }
        Ok(Page { items: kept, text, bytes })
    }

    /// As [`try_filter_map`](Self::try_filter_map), where nothing can go wrong.
    pub(crate) fn filter_map<T>(self, mut change: impl FnMut(KeyRef<'_>, E) -> Option<T>) -> Page<T> {
        let Ok(page) = self.try_filter_map(|key, value| Ok::<_, Infallible>(change(key, value)));
        page
    }
}

#[cfg(test)]
impl<E: Copy> Page<E> {
    pub(super) fn text_len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn items_capacity(&self) -> usize {
        self.items.capacity()
    }

    /// The keys, owned.
    pub(crate) fn to_vec(&self) -> Vec<(crate::document::Key, E)> {
        self.iter().map(|(key, value)| (key.to_key(), *value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Key;

    fn page(keys: &[(Key, u8)]) -> Page<u8> {
        let mut page = Page::default();
        keys.iter().for_each(|(key, value)| page.push(key.as_ref(), *value));
        page
    }

    /// One of each kind, in order.
    fn keys() -> Vec<(Key, u8)> {
        let keys =
            [Key::Int(-7), Key::Int(7), Key::from(""), Key::from("é"), Key::from([]), Key::from([255, 0])];
        keys.into_iter().zip(1..).collect()
    }

    #[test]
    fn a_page_gives_back_the_keys_that_were_put_there() {
        let page = page(&keys());
        assert_eq!(page.to_vec(), keys());
        assert_eq!((page.len(), page.last_key()), (6, Some(KeyRef::Bytes(&[255, 0]))));
        assert_eq!(Page::<u8>::default().last_key(), None);
        let mut cleared = page.clone();
        cleared.clear();
        assert_eq!(cleared.to_vec(), []);
        cleared.push(KeyRef::Text("x"), 1);
        assert_eq!(cleared.to_vec(), [(Key::from("x"), 1)]);
        assert_eq!((cleared.text.len(), cleared.bytes.len()), (1, 0), "what was there is gone");
        cleared.reserve(1000);
        assert!(cleared.items_capacity() > 1000, "beside the one that is there");
    }

    #[test]
    fn keys_that_stand_one_behind_the_other_come_in_one_piece_and_in_either_order() {
        for reverse in [false, true] {
            let mut page = page(&keys()[2..5]);
            page.push_texts("aéb", [1, 0, 3].into_iter(), 11..14, reverse);
            page.push_byte_strings(&[9, 8, 7], [2, 1].into_iter(), 14..16, reverse);
            let mut texts = [(Key::from("a"), 11), (Key::from(""), 12), (Key::from("éb"), 13)];
            let mut bytes = [(Key::from([9, 8]), 14), (Key::from([7]), 15)];
            if reverse {
                texts.reverse();
                bytes.reverse();
            }
            assert_eq!(page.to_vec(), [&keys()[2..5], &texts, &bytes].concat());
        }
    }

    #[test]
    fn of_one_key_the_first_stays_and_what_stands_in_front_stays_as_it_is() {
        let mixed = ["b", "b", "c", "a", "c", "b"].map(Key::from);
        let mixed: Vec<_> = mixed.into_iter().zip(1..).collect();
        let pairs = |pairs: &[(&str, u8)]| -> Vec<_> {
            pairs.iter().map(|(key, value)| (Key::from(*key), *value)).collect()
        };
        for (start, reverse, expected) in [
            (0, false, pairs(&[("a", 4), ("b", 1), ("c", 3)])),
            (0, true, pairs(&[("c", 3), ("b", 1), ("a", 4)])),
            (1, false, pairs(&[("b", 1), ("a", 4), ("b", 2), ("c", 3)])),
            (3, true, pairs(&[("b", 1), ("b", 2), ("c", 3), ("c", 5), ("b", 6), ("a", 4)])),
            (2, true, pairs(&[("b", 1), ("b", 2), ("c", 3), ("b", 6), ("a", 4)])),
            (6, false, mixed.clone()),
        ] {
            let mut page = page(&mixed);
            page.put_in_order(start, reverse);
            assert_eq!(page.to_vec(), expected, "from {start}");
        }
        let mut sorted = page(&keys());
        sorted.put_in_order(0, true);
        assert!(sorted.to_vec().iter().eq(keys().iter().rev()), "every kind");
    }

    #[test]
    fn values_are_changed_under_their_keys() {
        let kept =
            page(&keys()).filter_map(|key, value| (key != KeyRef::Int(7)).then_some(u32::from(value) * 10));
        let expected = keys().into_iter().filter(|(key, _)| *key != Key::Int(7));
        assert_eq!(
            kept.to_vec(),
            expected.map(|(key, value)| (key, u32::from(value) * 10)).collect::<Vec<_>>()
        );
        let failed =
            page(&keys()).try_filter_map(|_, value| if value == 3 { Err(value) } else { Ok(Some(value)) });
        assert_eq!(failed.map(|page| page.len()), Err(3));
    }
}
