//! The answers of a query, one after the other.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use serde::de::DeserializeOwned;

use super::cursor::Cursor;
use super::keys::KeysWanted;
use super::plan::{Entries, Gathered, PlanActual, Route, no_document};
use super::prepared::{IndexOf, Prepared, Question, Way};
use super::sort::{has_nothing, key_of};
use super::sorter::{Sorted, Sorter};
use super::view::{KeyWalk, ReadView, Walk};
use super::watch::{QueryProgress, Watch};
use crate::db::Db;
use crate::doc_ref::DocRef;
use crate::document::{Key, KeyRef};
use crate::error::{Error, Result};
use crate::indexed::IndexView;
use crate::seeded::{self, Bug};

/// The documents that a query answers. Holds the state in which it began.
#[derive(Debug)]
pub struct Found<W: Walk> {
    walk: W,
    next: Next<EntriesOf<W>>,
    question: Question,
    skip: u64,
    left: u64,
    identity: u64,
    watch: Watch,
    /// The place of the last answer, or the one to go on from; empty at the beginning.
    place: Vec<u8>,
    over: bool,
}

/// Where the next document comes from.
enum Next<E> {
    Walk,
    These(std::vec::IntoIter<Key>),
    Sorted(Sorted),
    /// By the ranges of indexes.
    Gathered(Gathered),
    /// In the order of an index.
    Entries(Box<Entries<E>>),
}

impl<E> std::fmt::Debug for Next<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Next::Walk => "Walk",
            Next::These(_) => "These",
            Next::Sorted(_) => "Sorted",
            Next::Gathered(_) => "Gathered",
            Next::Entries(_) => "Entries",
        })
    }
}

/// A walk over the entries of an index.
type EntriesOf<W> = <<W as Walk>::Index as IndexView>::Entries;

impl<W: Walk> Found<W> {
    //= spec/query.md#q-7-1-query
    //# A query MUST answer from one state, the one in which it began.
    pub(super) fn begin<V: ReadView<Walk = W>>(prepared: Prepared<'_, V>) -> Result<Self> {
        let walk = prepared.walk()?;
        let route = prepared.plan(&walk, true)?.route;
        Self::begin_by(prepared, walk, route)
    }

    /// Begins by a way that was chosen.
    pub(super) fn begin_by<V: ReadView<Walk = W>>(
        mut prepared: Prepared<'_, V>,
        mut walk: W,
        route: Route<W::Index>,
    ) -> Result<Self> {
        let way = prepared.way;
        let next = match (route, way, &prepared.wanted) {
            (Route::Order(order), ..) => {
                let place = prepared.question.after.as_deref();
                Next::Entries(Box::new(Entries::begin(
                    order,
                    place,
                    prepared.wanted.clone(),
                    prepared.sort_memory,
                )))
            }
            (Route::Ranges(parts), Way::Keys { .. }, _) => Next::Gathered(prepared.gather(&walk, &parts)?),
            (route, Way::Sorted, _) => Next::Sorted(sorted(&mut prepared, &mut walk, &route)?),
            (Route::Keys, Way::Keys { reverse: false }, KeysWanted::These(keys)) => {
                Next::These(keys.iter().cloned().collect::<Vec<_>>().into_iter())
            }
            (Route::Keys, Way::Keys { reverse: true }, KeysWanted::These(keys)) => {
                Next::These(keys.iter().rev().cloned().collect::<Vec<_>>().into_iter())
            }
            (Route::Keys, Way::Keys { .. }, KeysWanted::Range(_)) => Next::Walk,
        };
        let Prepared { question, skip, limit, identity, watch, place, .. } = prepared;
        Ok(Found { walk, next, question, skip, left: limit, identity, watch, place, over: false })
    }

    /// Where the query can be gone on from: after what was answered last. Before the first answer, that is the cursor that the query
    /// was given, if any.
    pub fn cursor(&self) -> Option<Cursor> {
        (!self.place.is_empty()).then(|| Cursor { query: self.identity, place: self.place.clone() })
    }

    /// How many documents were looked at so far, and how many of them the filter admitted.
    pub fn progress(&self) -> QueryProgress {
        self.watch.progress()
    }

    pub(super) fn db(&self) -> &Db {
        self.walk.db()
    }

    /// The document of any key, in the state of the query.
    pub(super) fn document(&self, key: KeyRef<'_>) -> Result<Option<DocRef>> {
        self.walk.document(key)
    }

    //= spec/query.md#q-7-3-skip-and-limit
    //# Of the documents in order, a query MUST leave out the first, as many as it skips, and answer the next
    //# ones, as many as its limit allows.
    pub(super) fn next_document(&mut self) -> Result<Option<DocRef>> {
        while self.left > 0 {
            let document = match &mut self.next {
                Next::Sorted(sorted) => match next_sorted(sorted, &mut self.skip, &mut self.place)? {
                    // What the state of a walk had once, it has still.
                    Some(key) => self.walk.document(key.as_ref())?,
                    None => return Ok(None),
                },
                Next::Walk => match self.walk.next_document()? {
                    Some(document) => Some(document),
                    None => return Ok(None),
                },
                Next::These(keys) => match keys.next() {
                    Some(key) => self.walk.document(key.as_ref())?,
                    None => return Ok(None),
                },
                Next::Gathered(keys) => match keys.next()? {
                    Some(key) => Some(self.walk.document(key.as_ref())?.ok_or_else(no_document)?),
                    None => return Ok(None),
                },
                Next::Entries(entries) => {
                    match entries.next(&self.walk, &self.question.order, &mut self.watch)? {
                        Some(key) => Some(self.walk.document(key.as_ref())?.ok_or_else(no_document)?),
                        None => return Ok(None),
                    }
                }
            };
            let Some(document) = document else { continue };
            if !matches!(self.next, Next::Sorted(_)) && !self.admits(&document)? {
                continue;
            }
            self.left -= 1;
            return Ok(Some(document));
        }
        Ok(None)
    }

    /// Whether a document that was walked to is an answer; notes its place.
    fn admits(&mut self, document: &DocRef) -> Result<bool> {
        let (key, raw) = (document.key(), document.raw());
        let filter = &self.question.filter;
        let mut admitted = filter.as_ref().map_or(Ok(true), |filter| filter.matches_with_key(key, raw))?;
        // A walk over keys begins behind the place to go on from; one in the order of an index, near to it.
        let forgets = seeded::is_on(Bug::CursorAmongTies);
        if admitted
            && !forgets
            && let Some(after) = &self.question.after
        {
            let mut place = Vec::new();
            self.question.order.place(key, raw, &mut place)?;
            admitted = place > *after;
        }
        self.watch.scanned(admitted)?;
        if admitted && self.skip > 0 {
            self.skip -= 1;
            return Ok(false);
        }
        if admitted {
            self.question.order.place(key, raw, &mut self.place)?;
        }
        Ok(admitted)
    }

    /// How much was read of indexes and of documents.
    pub(super) fn actual(&self, answers: u64) -> PlanActual {
        let documents = self.watch.progress().scanned;
        PlanActual { entries: self.watch.entries(), documents, answers }
    }
}

/// The key of the next answer of a sort; its place is put into `place`.
fn next_sorted(sorted: &mut Sorted, skip: &mut u64, place: &mut Vec<u8>) -> Result<Option<Key>> {
    // At the end, the place of the last answer stays.
    let mut next = Vec::new();
    loop {
        if !sorted.next(&mut next)? {
            return Ok(None);
        }
        if *skip == 0 {
            break;
        }
        *skip -= 1;
    }
    *place = next;
    let key =
        key_of(place).ok_or(Error::Decode { at: 0, what: "the file of a sort holds something else" })?;
    Ok(Some(key))
}

fn sorted<V: ReadView>(
    prepared: &mut Prepared<'_, V>,
    walk: &mut V::Walk,
    route: &Route<IndexOf<V>>,
) -> Result<Sorted> {
    let db = walk.db().clone();
    let skip = if seeded::is_on(Bug::SkipWithinLimit) { 0 } else { prepared.skip };
    let wanted = skip.saturating_add(prepared.limit);
    let mut sorter = Sorter::new(wanted, prepared.sort_memory, &db.core().shared.log.storage);
    let order = prepared.question.order.clone();
    prepared.pass(walk, route, |key, document, place| {
        order.place(key, document, place)?;
        if seeded::is_on(Bug::NothingDropped) && has_nothing(place) {
            return Ok(ControlFlow::Continue(()));
        }
        sorter.push(place).map(ControlFlow::Continue)
    })?;
    sorter.finish()
}

impl<W: Walk> Iterator for Found<W> {
    type Item = Result<DocRef>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let next = self.next_document().transpose();
        self.over = !matches!(next, Some(Ok(_)));
        if seeded::is_on(Bug::QueryErrorDropped) { next.filter(Result::is_ok) } else { next }
    }
}

impl<W: Walk> std::iter::FusedIterator for Found<W> {}

/// The documents that a query answers, as a type of the caller's.
#[derive(Debug)]
pub struct FoundAs<W: Walk, T> {
    found: Found<W>,
    types: PhantomData<fn() -> T>,
}

impl<W: Walk, T> FoundAs<W, T> {
    pub(super) fn new(found: Found<W>) -> Self {
        FoundAs { found, types: PhantomData }
    }

    /// As [`Found::cursor`].
    pub fn cursor(&self) -> Option<Cursor> {
        self.found.cursor()
    }
}

impl<W: Walk, T: DeserializeOwned> Iterator for FoundAs<W, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        self.found.next().map(|document| document?.to_type())
    }
}

/// The keys of the documents that a query answers. Holds the state in which it began.
#[derive(Debug)]
pub struct FoundKeys<W: Walk, K>(Keys<W, K>);

#[derive(Debug)]
enum Keys<W: Walk, K> {
    /// From the index of keys alone: how many are to be left out, and how many are due.
    Index(K, u64, u64),
    /// From the entries of indexes alone, as many.
    Gathered(Box<Gathered>, u64, u64),
    Documents(Box<Found<W>>),
}

impl<W: Walk, K: KeyWalk> FoundKeys<W, K> {
    pub(super) fn begin<V: ReadView<Walk = W, Keys = K>>(mut prepared: Prepared<'_, V>) -> Result<Self> {
        if let Way::Keys { reverse } = prepared.way
            && prepared.question.filter.is_none()
            && !prepared.names_an_index()
        {
            let keys = prepared.view.walk_keys(prepared.range())?;
            let keys = if reverse { keys.turned() } else { keys };
            return Ok(FoundKeys(Keys::Index(keys, prepared.skip, prepared.limit)));
        }
        let walk = prepared.walk()?;
        let route = prepared.plan(&walk, true)?.route;
        if let Route::Ranges(parts) = &route
            && prepared.way != Way::Sorted
            && parts.iter().all(|part| part.is_exact)
        {
            let gathered = prepared.gather(&walk, parts)?;
            return Ok(FoundKeys(Keys::Gathered(Box::new(gathered), prepared.skip, prepared.limit)));
        }
        Ok(FoundKeys(Keys::Documents(Box::new(Found::begin_by(prepared, walk, route)?))))
    }
}

impl<W: Walk, K: KeyWalk> Iterator for FoundKeys<W, K> {
    type Item = Result<Key>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Keys::Index(keys, skip, left) => {
                while *skip > 0 {
                    *skip -= 1;
                    if let error @ (None | Some(Err(_))) = keys.next() {
                        *left = 0;
                        return error;
                    }
                }
                *left = left.checked_sub(1)?;
                keys.next()
            }
            Keys::Gathered(keys, skip, left) => {
                while *skip > 0 && *left > 0 {
                    *skip -= 1;
                    match keys.next() {
                        Ok(Some(_)) => {}
                        end => {
                            *left = 0;
                            return end.transpose();
                        }
                    }
                }
                *left = left.checked_sub(1)?;
                let next = keys.next().transpose();
                if !matches!(next, Some(Ok(_))) {
                    *left = 0;
                }
                next
            }
            Keys::Documents(found) => found.next().map(|document| Ok(document?.key().to_key())),
        }
    }
}
