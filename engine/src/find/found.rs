//! The answers of a query, one after the other.

use std::marker::PhantomData;
use std::mem;
use std::ops::ControlFlow;

use serde::de::DeserializeOwned;

use super::answer::Answer;
use super::cursor::Cursor;
use super::keys::KeysWanted;
use super::plan::{Answers, Cover, Entries, Gathered, PlanActual, QueryPlan, Route, no_document};
use super::prepared::{IndexOf, Prepared, Question, Way};
use super::sort::{has_nothing, key_of};
use super::sorter::{Sorted, Sorter};
use super::view::{ReadView, Walk};
use super::watch::{QueryProgress, Watch};
use crate::db::Db;
use crate::doc_ref::DocRef;
use crate::document::{Key, KeyRef, RawDocument};
use crate::error::{Error, Result};
use crate::indexed::{IndexStats, IndexView};
use crate::seeded::{self, Bug};

/// The documents that a query answers. Holds the state in which it began.
#[derive(Debug)]
pub struct Found<W: Walk> {
    walk: W,
    next: Next<EntriesOf<W>>,
    taking: Taking,
    made: Made,
    over: bool,
}

/// Which of what comes is an answer, and what was answered so far.
#[derive(Debug)]
struct Taking {
    question: Question,
    /// Whether the filter admits all that comes.
    is_exact: bool,
    skip: u64,
    left: u64,
    watch: Watch,
    /// Whether answers come in any order, so that none has a place in it.
    unordered: bool,
    /// The place of the last answer of a sort, or the one to go on from; empty at the beginning.
    place: Vec<u8>,
    /// The last answer of anything but a sort.
    last: Option<Answer>,
}

/// What answers are made of.
#[derive(Debug)]
enum Made {
    /// Of documents.
    Documents,
    /// Of entries, which have all parts that are asked for.
    Parts(Cover),
    /// Only keys are asked for, and no document is read for these.
    Keys,
}

/// Where the next document comes from.
enum Next<E> {
    Walk,
    /// The documents of these keys, in reverse where the flag is set.
    These(std::vec::IntoIter<Key>, bool),
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
            Next::These(..) => "These",
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

    /// How the query is answered, and what that read: it is run to its end.
    pub(super) fn analyze<V: ReadView<Walk = W>>(prepared: Prepared<'_, V>) -> Result<QueryPlan> {
        let walk = prepared.walk()?;
        let chosen = prepared.plan(&walk, true)?;
        let mut told = chosen.told(&prepared.wanted);
        let (mut found, mut answers) = (Self::begin_by(prepared, walk, chosen.route)?, 0);
        while found.next_answer()?.is_some() {
            answers += 1;
        }
        told.actual = Some(found.taking.watch.actual(answers));
        Ok(told)
    }

    /// Begins by a way that was chosen.
    pub(super) fn begin_by<V: ReadView<Walk = W>>(
        mut prepared: Prepared<'_, V>,
        mut walk: W,
        route: Route<W::Index>,
    ) -> Result<Self> {
        let way = prepared.way;
        let is_exact = route.is_exact();
        let route = if let Way::Keys { reverse } = way {
            route.one_by_one(reverse, prepared.unordered)
        } else {
            route
        };
        let part = match &route {
            Route::Order(order) => Some(&order.part),
            Route::Ranges(parts) if way != Way::Sorted && parts.len() == 1 => parts.first(),
            _ => None,
        };
        // A sort has asked already what the filter and a cursor say.
        let by_order = matches!(route, Route::Order(_)) && !seeded::is_on(Bug::KeysUnfiltered);
        let sorts = way == Way::Sorted && !by_order;
        let admits_all = sorts || is_exact && prepared.question.after.is_none();
        let made = match part {
            _ if matches!(prepared.answers, Answers::Keys) && admits_all => Made::Keys,
            Some(part) if part.covers => Made::Parts(Cover::of(part.index.definition(), part.index.limits())),
            _ => Made::Documents,
        };
        let with_entries = matches!(made, Made::Parts(_));
        let next = match (route, way, &mut prepared.wanted) {
            (Route::Order(order), ..) => {
                let place = prepared.question.after.as_deref();
                Next::Entries(Box::new(Entries::begin(
                    order,
                    place,
                    prepared.wanted.clone(),
                    prepared.sort_memory,
                    with_entries,
                )))
            }
            (Route::Ranges(parts), Way::Keys { .. }, _) => {
                Next::Gathered(prepared.gather(&walk, parts, with_entries)?)
            }
            (route, Way::Sorted, _) => Next::Sorted(sorted(&mut prepared, &mut walk, route)?),
            (Route::Keys, Way::Keys { reverse }, KeysWanted::These(keys)) => {
                Next::These(mem::take(keys).into_iter(), reverse)
            }
            (Route::Keys, Way::Keys { .. }, KeysWanted::Range(_)) => Next::Walk,
        };
        let Prepared { question, skip, limit, watch, place, unordered, .. } = prepared;
        let taking = Taking { question, is_exact, skip, left: limit, watch, unordered, place, last: None };
        Ok(Found { walk, next, taking, made, over: false })
    }

    /// Where the query can be gone on from: after what was answered last. Before the first answer, that is the cursor that the query
    /// was given, if any. A query that is unordered has none.
    pub fn cursor(&self) -> Option<Cursor> {
        let mut place = self.taking.place.clone();
        if let Some(last) = &self.taking.last {
            self.taking.question.order.place(last.key(), last.raw(), &mut place).ok()?;
        }
        (!place.is_empty()).then(|| Cursor { query: self.taking.question.identity(), place })
    }

    /// How many documents were looked at so far, and how many of them the filter admitted.
    pub fn progress(&self) -> QueryProgress {
        self.taking.watch.progress()
    }

    pub(super) fn db(&self) -> &Db {
        self.walk.db()
    }

    /// What was read so far.
    pub(super) fn actual(&self) -> PlanActual {
        self.taking.watch.actual(0)
    }

    /// The document of any key, in the state of the query.
    pub(super) fn document(&self, key: KeyRef<'_>) -> Result<Option<DocRef>> {
        self.walk.document(key)
    }

    pub(super) fn next_document(&mut self) -> Result<Option<DocRef>> {
        match (&self.next, &self.made) {
            (Next::Walk, _) => return self.next_walked(),
            (Next::Entries(_), Made::Documents) => return self.next_of_entries(),
            _ => {}
        }
        match self.next_answer()? {
            None => Ok(None),
            Some(Answer::Whole(document)) => Ok(Some(document)),
            Some(Answer::Parts(key, _)) => self.walk.document(key.as_ref()),
        }
    }

    //= spec/query.md#q-7-3-skip-and-limit
    //# Of the documents in order, a query MUST leave out the first, as many as it skips, and answer the next
    //# ones, as many as its limit allows.
    pub(super) fn next_answer(&mut self) -> Result<Option<Answer>> {
        let taking = &mut self.taking;
        while taking.left > 0 {
            let answer = match &mut self.next {
                Next::Walk => return Ok(self.next_walked()?.map(Answer::Whole)),
                Next::Sorted(sorted) => match next_sorted(sorted, &mut taking.skip, &mut taking.place)? {
                    // What the state of a walk had once, it has still.
                    Some(key) => self.walk.document(key.as_ref())?.map(Answer::Whole),
                    None => return Ok(None),
                },
                Next::These(keys, reverse) => match if *reverse { keys.next_back() } else { keys.next() } {
                    Some(key) => self.walk.document(key.as_ref())?.map(Answer::Whole),
                    None => return Ok(None),
                },
                Next::Gathered(keys) => match keys.next_with_entry()? {
                    Some((key, entry)) => Some(of_entry(&self.walk, &self.made, &key, &entry)?),
                    None => return Ok(None),
                },
                Next::Entries(_) if matches!(self.made, Made::Documents) => {
                    return Ok(self.next_of_entries()?.map(Answer::Whole));
                }
                Next::Entries(entries) => {
                    match entries.advance(&self.walk, &taking.question.order, &mut taking.watch)? {
                        true => Some(of_entry(&self.walk, &self.made, entries.key(), entries.entry())?),
                        false => return Ok(None),
                    }
                }
            };
            let Some(answer) = answer else { continue };
            let is_answer = match self.next {
                Next::Sorted(_) => taking.takes_sorted()?,
                _ => taking.takes(&answer)?,
            };
            if is_answer {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    /// The key of the next document.
    pub(super) fn next_key(&mut self) -> Option<Result<Key>> {
        self.step(|found| match found.made {
            Made::Keys => found.next_key_alone(),
            _ => Ok(found.next_answer()?.map(Answer::into_key)),
        })
    }

    /// The next key, without a document. All that comes is an answer.
    fn next_key_alone(&mut self) -> Result<Option<Key>> {
        while self.taking.left > 0 {
            let next = match &mut self.next {
                Next::Sorted(sorted) => next_sorted(sorted, &mut self.taking.skip, &mut self.taking.place)?,
                Next::Gathered(keys) => keys.next()?,
                Next::Entries(entries) => {
                    let advanced =
                        entries.advance(&self.walk, &self.taking.question.order, &mut self.taking.watch)?;
                    advanced.then(|| entries.key().clone())
                }
                Next::Walk | Next::These(..) => unreachable!("of these, the filter is asked"),
            };
            let Some(key) = next else { return Ok(None) };
            match self.next {
                Next::Sorted(_) => self.taking.watch.sorted()?,
                _ => {
                    self.taking.watch.scanned(true)?;
                    self.taking.watch.made();
                }
            }
            if self.taking.skip > 0 {
                self.taking.skip -= 1;
                continue;
            }
            self.taking.left -= 1;
            return Ok(Some(key));
        }
        Ok(None)
    }

    fn step<T>(&mut self, next: impl FnOnce(&mut Self) -> Result<Option<T>>) -> Option<Result<T>> {
        if self.over {
            return None;
        }
        let next = next(self).transpose();
        self.over = !matches!(next, Some(Ok(_)));
        if seeded::is_on(Bug::QueryErrorDropped) { next.filter(Result::is_ok) } else { next }
    }

    /// The next answer of a walk over keys. Documents that are none are dropped where they were found.
    fn next_walked(&mut self) -> Result<Option<DocRef>> {
        let taking = &mut self.taking;
        if taking.left == 0 {
            return Ok(None);
        }
        self.walk.next_that(|document| taking.takes_whole(document))
    }

    /// The next document in the order of an index.
    fn next_of_entries(&mut self) -> Result<Option<DocRef>> {
        let Next::Entries(entries) = &mut self.next else { return Ok(None) };
        let taking = &mut self.taking;
        while taking.left > 0 && entries.advance(&self.walk, &taking.question.order, &mut taking.watch)? {
            let document = self.walk.document(entries.key().as_ref())?.ok_or_else(no_document)?;
            if taking.takes_whole(&document)? {
                return Ok(Some(document));
            }
        }
        Ok(None)
    }
}

impl Taking {
    /// Whether what a sort gave is an answer: all of it is.
    fn takes_sorted(&mut self) -> Result<bool> {
        self.watch.sorted()?;
        self.left -= 1;
        Ok(true)
    }

    /// Whether a document, or what is made of its entry, is an answer, which is noted as the last then.
    fn takes(&mut self, answer: &Answer) -> Result<bool> {
        match answer {
            Answer::Whole(document) => self.takes_whole(document),
            Answer::Parts(key, bytes) => {
                let is_answer = self.is_answer(RawDocument::from_verified(bytes), || key.as_ref())?;
                self.watch.made();
                if is_answer && !self.unordered {
                    self.last = Some(answer.clone());
                }
                Ok(is_answer)
            }
        }
    }

    /// As [`takes`](Self::takes).
    #[inline]
    fn takes_whole(&mut self, document: &DocRef) -> Result<bool> {
        let is_answer = self.is_answer(document.raw(), || document.key())?;
        if is_answer && !self.unordered {
            self.last = Some(Answer::Whole(document.clone()));
        }
        Ok(is_answer)
    }

    /// Whether the filter admits a document that the query did not answer before, and that it does not skip.
    #[inline]
    fn is_answer<'k>(&mut self, document: RawDocument<'_>, key: impl Fn() -> KeyRef<'k>) -> Result<bool> {
        let filter = self.question.filter_to_ask(self.is_exact);
        let mut admitted = filter.map_or(Ok(true), |filter| filter.matches_by(document, || Some(key())))?;
        // A walk over keys begins behind the place to go on from; one in the order of an index, near to it.
        if admitted
            && let Some(after) = &self.question.after
            && !seeded::is_on(Bug::CursorAmongTies)
        {
            let mut place = Vec::new();
            self.question.order.place(key(), document, &mut place)?;
            admitted = place > *after;
        }
        self.watch.scanned(admitted)?;
        if admitted && self.skip > 0 {
            self.skip -= 1;
            return Ok(false);
        }
        self.left -= u64::from(admitted);
        Ok(admitted)
    }
}

/// What an entry has of its document, where that is enough, or else the document.
fn of_entry<W: Walk>(walk: &W, made: &Made, key: &Key, entry: &[u8]) -> Result<Answer> {
    if let Made::Parts(cover) = made
        && let Some(bytes) = cover.document(entry)?
    {
        return Ok(Answer::Parts(key.clone(), bytes));
    }
    Ok(Answer::Whole(walk.document(key.as_ref())?.ok_or_else(no_document)?))
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
    route: Route<IndexOf<V>>,
) -> Result<Sorted> {
    let db = walk.db().clone();
    let skip = if seeded::is_on(Bug::SkipWithinLimit) { 0 } else { prepared.skip };
    let wanted = skip.saturating_add(prepared.limit);
    let mut sorter = Sorter::new(wanted, prepared.sort_memory, &db.core().shared.log.storage);
    let order = prepared.question.order.clone();
    prepared.pass(walk, route, |document, place| {
        order.place(document.key(), document.raw(), place)?;
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
        self.step(Self::next_document)
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
