//! Ranges of keys.

use std::cmp::Ordering;
use std::ops::Bound;

use crate::document::Key;

//= spec/semantics.md#s-5-4-range
//# A scan of a range MUST answer exactly the keys that satisfy both bounds, each of which includes its key,
//# excludes it, or is absent.
/// A range of keys, both ends as the caller gave them.
#[derive(Debug, Clone)]
pub(crate) struct KeyRange {
    pub(crate) from: Bound<Key>,
    pub(crate) to: Bound<Key>,
}

impl KeyRange {
    pub(crate) fn all() -> Self {
        KeyRange { from: Bound::Unbounded, to: Bound::Unbounded }
    }

    /// No key.
    pub(crate) fn none() -> Self {
        let end = || Bound::Excluded(Key::Int(0));
        KeyRange { from: end(), to: end() }
    }

    /// Whether it has no bounds.
    pub(crate) fn is_all(&self) -> bool {
        matches!((&self.from, &self.to), (Bound::Unbounded, Bound::Unbounded))
    }

    //= spec/semantics.md#s-5-5-prefix
    //# A scan of a prefix MUST answer exactly the keys of the prefix's kind, text or bytes, whose payload
    //# begins with that of the prefix.
    /// The text keys that begin with `prefix`.
    pub(crate) fn text_prefix(prefix: &str) -> Self {
        let from = Bound::Included(Key::Text(prefix.into()));
        // The least text above all that begin so: the prefix with its last character raised, where one can be. Bytes in
        // UTF-8 are ordered as characters are.
        let mut above = prefix.to_owned();
        while let Some(last) = above.pop() {
            if let Some(next) = ((last as u32 + 1)..=char::MAX as u32).find_map(char::from_u32) {
                above.push(next);
                return KeyRange { from, to: Bound::Excluded(Key::Text(above.into())) };
            }
        }
        // Every byte string sorts behind every text.
        KeyRange { from, to: Bound::Excluded(Key::Bytes(Box::default())) }
    }

    //= spec/semantics.md#s-5-5-prefix
    //# A scan of a prefix MUST answer exactly the keys of the prefix's kind, text or bytes, whose payload
    //# begins with that of the prefix.
    /// The byte-string keys that begin with `prefix`.
    pub(crate) fn bytes_prefix(prefix: impl Into<Box<[u8]>>) -> Self {
        let prefix = prefix.into();
        KeyRange { to: Self::behind_bytes(&prefix), from: Bound::Included(Key::Bytes(prefix)) }
    }

    /// The end of a range that has all byte-string keys that begin with `prefix`, and none behind them.
    pub(crate) fn behind_bytes(prefix: &[u8]) -> Bound<Key> {
        let kept = prefix.iter().rposition(|byte| *byte != 0xFF).map_or(0, |last| last + 1);
        let mut above = prefix[..kept].to_vec();
        match above.last_mut() {
            Some(last) => {
                *last += 1;
                Bound::Excluded(Key::Bytes(above.into()))
            }
            None => Bound::Unbounded,
        }
    }

    /// What lies behind the range; none where it has no end.
    pub(crate) fn beyond_end(&self) -> Option<KeyRange> {
        self.outside(true)
    }

    /// What lies in front of the range, or, with `reverse`, behind it; none where it has no bound there.
    pub(crate) fn outside(&self, reverse: bool) -> Option<KeyRange> {
        let outside = match if reverse { &self.to } else { &self.from } {
            Bound::Unbounded => return None,
            Bound::Included(key) => Bound::Excluded(key.clone()),
            Bound::Excluded(key) => Bound::Included(key.clone()),
        };
        Some(match reverse {
            true => KeyRange { from: outside, to: Bound::Unbounded },
            false => KeyRange { from: Bound::Unbounded, to: outside },
        })
    }

    pub(crate) fn contains(&self, key: &Key) -> bool {
        use std::ops::RangeBounds;
        (self.from.as_ref(), self.to.as_ref()).contains(key)
    }

    /// Whether no key can lie in it. An inverted range is empty, not an error.
    pub(crate) fn is_empty(&self) -> bool {
        match (&self.from, &self.to) {
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
            (Bound::Included(from), Bound::Included(to)) => from > to,
            (Bound::Included(from) | Bound::Excluded(from), Bound::Included(to) | Bound::Excluded(to)) => {
                from >= to
            }
        }
    }

    /// What of the range lies in `other` as well.
    pub(crate) fn within(&self, other: &KeyRange) -> Self {
        KeyRange {
            from: inner_bound(&self.from, &other.from, Ordering::Greater),
            to: inner_bound(&self.to, &other.to, Ordering::Less),
        }
    }

    /// The part of the range as far as `key`, itself included, in the direction of the walk; all of it where there is none.
    pub(crate) fn up_to(&self, key: Option<Key>, reverse: bool) -> Self {
        let mut range = self.clone();
        let end = if reverse { &mut range.from } else { &mut range.to };
        key.into_iter().for_each(|key| *end = Bound::Included(key));
        range
    }

    /// What of the range lies behind `key`, which need not lie in it, in the direction of the walk.
    pub(crate) fn behind(&self, key: &Key, reverse: bool) -> Self {
        match if reverse { &self.to } else { &self.from } {
            Bound::Included(near) | Bound::Excluded(near)
                if if reverse { near < key } else { near > key } =>
            {
                self.clone()
            }
            _ => self.beyond(key, reverse),
        }
    }

    /// What of the range lies behind all byte strings that begin so; `None` where nothing does.
    pub(crate) fn behind_prefix(self, beginning: &[u8]) -> Option<Self> {
        let Bound::Excluded(next) = Self::behind_bytes(beginning) else { return None };
        let from = match self.from {
            Bound::Included(from) if from >= next => Bound::Included(from),
            Bound::Excluded(from) if from >= next => Bound::Excluded(from),
            _ => Bound::Included(next),
        };
        let range = KeyRange { from, to: self.to };
        (!range.is_empty()).then_some(range)
    }

    /// What is left of the range behind `key`, in the direction of the walk.
    pub(crate) fn beyond(&self, key: &Key, reverse: bool) -> Self {
        let key = Bound::Excluded(key.clone());
        if reverse {
            KeyRange { from: self.from.clone(), to: key }
        } else {
            KeyRange { from: key, to: self.to.clone() }
        }
    }
}

/// That of two bounds which leaves less: where both have a key, the one whose key is `inner` than the other's.
fn inner_bound(a: &Bound<Key>, b: &Bound<Key>, inner: Ordering) -> Bound<Key> {
    let order = match (a, b) {
        (Bound::Unbounded, _) => return b.clone(),
        (_, Bound::Unbounded) => return a.clone(),
        (Bound::Included(x) | Bound::Excluded(x), Bound::Included(y) | Bound::Excluded(y)) => x.cmp(y),
    };
    let is_a = order == inner || order.is_eq() && matches!(a, Bound::Excluded(_));
    if is_a { a.clone() } else { b.clone() }
}
