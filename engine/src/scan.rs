//! Iterators over documents and keys: owned, so that they can be kept and sent, and fused.

use std::ops::{
    Bound, ControlFlow, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive,
};

use crate::core::Cursor;
use crate::db::Db;
use crate::doc_ref::{DocRef, DocView};
use crate::document::{AsKey, Key, KeyRef};
use crate::error::Result;
use crate::index::{Documents, KeyRange};
use crate::indexed::At;
use crate::seeded::{self, Bug};
use crate::sync::Arc;

/// A range of keys: `..` for all, or a range of anything that is a key, such as `1..=9` or `"a".."b"`.
pub trait KeyBounds {
    /// The two ends.
    fn into_bounds(self) -> (Bound<Key>, Bound<Key>);

    #[doc(hidden)]
    #[expect(private_interfaces, reason = "called by this crate alone")]
    fn into_range(self) -> KeyRange
    where
        Self: Sized,
    {
        let (from, to) = self.into_bounds();
        KeyRange { from, to }
    }
}

fn owned<K: AsKey>(bound: Bound<&K>) -> Bound<Key> {
    bound.map(|key| key.as_key().to_key())
}

impl KeyBounds for RangeFull {
    fn into_bounds(self) -> (Bound<Key>, Bound<Key>) {
        (Bound::Unbounded, Bound::Unbounded)
    }
}

macro_rules! are_bounds {
    ($($range:ty),*) => {
        $(impl<K: AsKey> KeyBounds for $range {
            fn into_bounds(self) -> (Bound<Key>, Bound<Key>) {
                (owned(self.start_bound()), owned(self.end_bound()))
            }
        })*
    };
}

are_bounds!((Bound<K>, Bound<K>), Range<K>, RangeInclusive<K>, RangeFrom<K>, RangeTo<K>, RangeToInclusive<K>);

/// The documents of a key range, each as [`Collection::get`](crate::Collection::get) gives it. Holds a snapshot while it lives.
#[derive(Debug)]
pub struct Scan(Walk);

//= spec/semantics.md#s-5-7-keys-alone
//# A scan of keys MUST answer the keys that a scan with the same arguments answers, without the documents.
/// The keys of a range. Holds a snapshot while it lives.
#[derive(Debug)]
pub struct Keys(Walk);

#[derive(Debug)]
struct Walk {
    db: Db,
    cursor: Cursor,
    /// After an error there is no more: what follows it could not be trusted to be what follows.
    over: bool,
}

impl Walk {
    fn over(At { db, snapshot, naming }: At, range: KeyRange) -> Self {
        Walk { db, cursor: Cursor::new(snapshot, naming, range), over: false }
    }

    fn step<T>(&mut self, mut next: impl FnMut(&Db, &mut Cursor) -> Result<Option<T>>) -> Option<Result<T>> {
        if self.over {
            return None;
        }
        let mut found = next(&self.db, &mut self.cursor).transpose();
        while seeded::is_on(Bug::ScanSkipsErrors) && matches!(found, Some(Err(_))) {
            found = next(&self.db, &mut self.cursor).transpose();
        }
        self.over = !matches!(found, Some(Ok(_)));
        found
    }
}

impl Scan {
    pub(crate) fn over(at: At, range: KeyRange) -> Self {
        Scan(Walk::over(at, range))
    }

    /// What is left of the scan, from its other end.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.0.cursor.reverse();
        self
    }

    /// Lends each document of what is left of the scan to `each`, in order, until that breaks; then answers with what it broke with. The
    /// same documents as by iterating, in a fraction of the time where they are small: none is owned, but for those that stand in more than
    /// one block, or in the end of the log that is still in memory.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use holotype::{Db, doc};
    ///
    /// let db = Db::in_memory();
    /// let birds = db.collection("birds");
    /// birds.insert_many([doc! { "seen": 2 }, doc! { "seen": 40 }, doc! { "seen": 1 }])?;
    /// let mut seen = 0;
    /// let often = birds.scan(..)?.visit(|bird| {
    ///     let times = bird.get("seen").and_then(|seen| seen.as_i64()).unwrap_or(0);
    ///     seen += times;
    ///     if times > 10 { ControlFlow::Break(bird.key().to_key()) } else { ControlFlow::Continue(()) }
    /// })?;
    /// assert_eq!((often, seen), (Some(2.into()), 42));
    /// # Ok::<(), holotype::Error>(())
    /// ```
    ///
    /// # Errors
    /// As the iterator gives them; what `each` was lent before stands. Where the iterator has given one already, nothing is lent.
    pub fn visit<B>(mut self, each: impl FnMut(DocView<'_>) -> ControlFlow<B>) -> Result<Option<B>> {
        self.visit_rest(each)
    }

    /// As [`visit`](Self::visit), after which the scan is over.
    pub(crate) fn visit_rest<B>(
        &mut self,
        mut each: impl FnMut(DocView<'_>) -> ControlFlow<B>,
    ) -> Result<Option<B>> {
        if self.0.over {
            return Ok(None);
        }
        self.0.over = true;
        let Walk { db, cursor, .. } = &mut self.0;
        let end = db.core().shared.visit(cursor, |visited| each(DocView::new(visited)))?;
        Ok(end.break_value())
    }

    /// The next document of which `is` holds. Others are not moved.
    pub(crate) fn next_by(&mut self, mut is: impl FnMut(&DocRef) -> Result<bool>) -> Result<Option<DocRef>> {
        let next = self.0.step(|db, cursor| {
            while let Some(located) = db.core().shared.next_document(cursor)? {
                let document = DocRef::new(located);
                if is(&document)? {
                    return Ok(Some(document));
                }
            }
            Ok(None)
        });
        next.transpose()
    }

    /// The store that is scanned.
    pub(crate) fn store(&self) -> &Db {
        &self.0.db
    }

    /// The collection.
    pub(crate) fn documents(&self) -> &Documents {
        &self.0.cursor.naming().documents
    }

    /// The collection in the state that the scan holds.
    pub(crate) fn at(&self) -> At {
        let Walk { db, cursor, .. } = &self.0;
        let (snapshot, naming) = (Arc::clone(cursor.snapshot()), Arc::clone(cursor.naming()));
        At { db: db.clone(), snapshot, naming }
    }

    /// How many documents the collection has in the state that the scan holds.
    pub(crate) fn len_in_its_state(&self) -> Result<u64> {
        let Walk { db, cursor, .. } = &self.0;
        db.core().shared.len_at(cursor.snapshot(), &cursor.naming().documents)
    }

    /// The document of any key, in the state that the scan holds.
    pub(crate) fn in_its_state(&self, key: KeyRef<'_>) -> Result<Option<DocRef>> {
        let Walk { db, cursor, .. } = &self.0;
        let found = db.core().shared.get_at(cursor.snapshot(), &cursor.naming().documents, key)?;
        Ok(found.map(DocRef::new))
    }
}

impl Iterator for Scan {
    type Item = Result<DocRef>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.step(|db, cursor| Ok(db.core().shared.next_document(cursor)?.map(DocRef::new)))
    }
}

impl std::iter::FusedIterator for Scan {}

impl Keys {
    pub(crate) fn over(at: At, range: KeyRange) -> Self {
        Keys(Walk::over(at, range))
    }

    /// What is left of the keys, from the other end.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.0.cursor.reverse();
        self
    }
}

impl Iterator for Keys {
    type Item = Result<Key>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.step(|db, cursor| Ok(db.core().shared.next_entry(cursor)?.map(|(key, _)| key.to_key())))
    }
}

impl std::iter::FusedIterator for Keys {}
