//! A query that was checked and bound, and the way in which it is answered.

use std::ops::ControlFlow;

use super::asked::Asked;
use super::bindings::Bindings;
use super::cursor;
use super::keys::KeysWanted;
use super::plan::{
    Answers, Asks, AsksGroups, Chosen, Gathered, GroupRoute, Hint, Part, PlanOrder, Route, choose,
    choose_groups, gather, no_document,
};
use super::sort::{CheckedSort, Order, key_of};
use super::view::{ReadView, Walk};
use super::watch::Watch;
use crate::doc_ref::DocView;
use crate::document::Text;
use crate::error::{Error, Result};
use crate::index::KeyRange;
use crate::query::Filter;
use crate::seeded::{self, Bug};

pub(super) struct Prepared<'c, V> {
    pub(super) view: &'c V,
    pub(super) question: Question,
    pub(super) wanted: KeysWanted,
    pub(super) way: Way,
    pub(super) unordered: bool,
    pub(super) hint: Option<Hint>,
    pub(super) answers: Answers,
    pub(super) skip: u64,
    pub(super) limit: u64,
    /// The place to go on from; empty at the beginning.
    pub(super) place: Vec<u8>,
    pub(super) sort_memory: usize,
    pub(super) watch: Watch,
}

/// What is asked of one document.
#[derive(Debug)]
pub(super) struct Question {
    /// The name of the collection.
    pub(super) collection: Text,
    pub(super) filter: Option<Filter>,
    pub(super) order: Order,
    /// Documents whose place is not greater are not wanted.
    pub(super) after: Option<Vec<u8>>,
}

/// How the answers come into their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// By walking over the keys.
    Keys { reverse: bool },
    /// By a sort.
    Sorted,
}

impl Question {
    /// Whether the document is an answer, but for skip and limit.
    #[inline(always)]
    fn admits(&self, document: DocView<'_>, place: &mut Vec<u8>) -> Result<bool> {
        if let Some(filter) = &self.filter
            && !filter.matches_by(document.raw(), || Some(document.key()))?
        {
            return Ok(false);
        }
        let Some(after) = &self.after else { return Ok(true) };
        self.order.place(document.key(), document.raw(), place)?;
        Ok(*place > *after || seeded::is_on(Bug::CursorIncludesItself) && *place == *after)
    }

    /// The filter, where each document must be asked; with `is_exact`, all that are led to are answers.
    pub(super) fn filter_to_ask(&self, is_exact: bool) -> Option<&Filter> {
        self.filter.as_ref().filter(|_| !is_exact)
    }

    /// What tells a cursor of this query from those of others.
    pub(super) fn identity(&self) -> u64 {
        let filter = self.filter.as_ref().map_or_else(String::new, Filter::identity);
        let sorts: Vec<String> = self.order.sorts.iter().map(CheckedSort::identity).collect();
        let parts = [self.collection.as_str(), &filter].into_iter();
        cursor::identity(parts.chain(sorts.iter().map(String::as_str)))
    }
}

impl<'c, V: ReadView> Prepared<'c, V> {
    pub(super) fn new(
        view: &'c V,
        asked: Asked,
        others: impl FnOnce(&mut Bindings) -> Result<()>,
    ) -> Result<Self> {
        let mut filter = asked.filter?;
        let mut order = Order { sorts: Vec::with_capacity(asked.sorts.len()) };
        for sort in asked.sorts {
            order.sorts.push(sort.checked()?);
        }
        let mut bindings = asked.bound;
        if let Some(filter) = &mut filter {
            bindings.bind_filter(filter)?;
        }
        order.sorts.iter_mut().try_for_each(|sort| bindings.bind_expression(&mut sort.expression))?;
        others(&mut bindings)?;
        bindings.finish()?;
        let wanted = filter.as_ref().map_or_else(KeysWanted::all, |filter| KeysWanted::of(filter.expr()));
        if seeded::is_on(Bug::KeyRangeAnswersAll)
            && !matches!(&wanted, KeysWanted::Range(range) if range.is_all())
        {
            filter = None;
        }
        let way = match order.sorts.as_slice() {
            [] => Way::Keys { reverse: false },
            [sort] if sort.expression.is_key() => Way::Keys { reverse: sort.descending },
            _ => Way::Sorted,
        };
        let mut prepared = Prepared {
            view,
            question: Question { collection: view.name().into(), filter, order, after: None },
            wanted,
            way,
            unordered: asked.unordered,
            hint: asked.hint,
            answers: Answers::Documents,
            skip: asked.skip,
            limit: asked.limit.unwrap_or(u64::MAX),
            place: Vec::new(),
            sort_memory: asked.sort_memory,
            watch: asked.watch,
        };
        if !prepared.question.order.sorts.is_empty() || asked.after.is_some() {
            prepared.check_order()?;
        }
        if let Some(cursor) = asked.after {
            prepared.go_on_from(cursor.query, cursor.place)?;
        }
        prepared.watch.check()?;
        Ok(prepared)
    }

    //= spec/query.md#q-7-4-cursors
    //# A store MUST refuse a cursor of a query of another collection, or with another filter, other bound
    //# values or other sorts.
    //= spec/query.md#q-7-4-cursors
    //# The documents before a cursor and those after it MUST be all documents of the query, each once.
    fn go_on_from(&mut self, query: u64, place: Vec<u8>) -> Result<()> {
        if query != self.question.identity() && !seeded::is_on(Bug::CursorOfAnyQuery) {
            return Err(Error::InvalidCursor { what: "it is of another query" });
        }
        let key = key_of(&place).expect("it was decoded when the cursor was made");
        match self.way {
            Way::Keys { reverse } => {
                let wanted = std::mem::replace(&mut self.wanted, KeysWanted::all());
                self.wanted = wanted.beyond(&key, reverse);
            }
            Way::Sorted => self.question.after = Some(place.clone()),
        }
        self.place = place;
        Ok(())
    }

    /// Whether the query has an order, which sorts and cursors are of.
    ///
    /// # Errors
    /// `InvalidQuery`.
    pub(super) fn check_order(&self) -> Result<()> {
        match self.unordered {
            true => Err(Error::InvalidQuery { what: "one that is unordered has neither sorts nor a cursor" }),
            false => Ok(()),
        }
    }

    /// The keys that are walked over: all that can be wanted, and what lies between.
    pub(super) fn range(&self) -> KeyRange {
        self.wanted.hull().unwrap_or_else(KeyRange::none)
    }

    /// Begins to walk.
    pub(super) fn walk(&self) -> Result<V::Walk> {
        let walk = self.view.walk(self.range())?;
        Ok(if self.way == (Way::Keys { reverse: true }) { walk.turned() } else { walk })
    }

    /// Whether the caller wants it by an index.
    pub(super) fn names_an_index(&self) -> bool {
        matches!(self.hint, Some(Hint::Index(_)))
    }

    /// How the documents are found, in the state of `walk`. Whether the order of the answers is of any matter is said by `in_order`.
    pub(super) fn plan(&self, walk: &V::Walk, in_order: bool) -> Result<Chosen<IndexOf<V>>> {
        let order = match self.way {
            _ if !in_order || self.unordered => PlanOrder::Any,
            Way::Keys { .. } => PlanOrder::Keys,
            Way::Sorted => PlanOrder::Sort,
        };
        let asks = self.asks(order);
        match choose(walk, asks) {
            // An index that has the order alone is no help where that is of no matter, and no mistake either.
            Err(Error::IndexCannotServe { .. }) if order == PlanOrder::Any && self.way == Way::Sorted => {
                let mut chosen = choose(walk, Asks { order: PlanOrder::Sort, ..asks })?;
                chosen.route = Route::Keys;
                Ok(chosen)
            }
            chosen => chosen,
        }
    }

    fn asks(&self, order: PlanOrder) -> Asks<'_> {
        Asks {
            filter: self.question.filter.as_ref(),
            answers: &self.answers,
            sorts: &self.question.order.sorts,
            wanted: &self.wanted,
            order,
            most: self.skip.saturating_add(self.limit),
            unordered: self.unordered,
            hint: self.hint.as_ref(),
        }
    }

    /// How groups of all documents that the filter admits are found, in the state of `walk`.
    pub(super) fn plan_groups(
        &self,
        walk: &V::Walk,
        groups: AsksGroups<'_>,
    ) -> Result<GroupRoute<IndexOf<V>>> {
        choose_groups(walk, self.asks(PlanOrder::Any), groups)
    }

    /// The keys of all documents that lie in the ranges of indexes and that the query can want, in its order of keys.
    pub(super) fn gather(
        &mut self,
        walk: &V::Walk,
        parts: Vec<Part<IndexOf<V>>>,
        with_entries: bool,
    ) -> Result<Gathered> {
        let storage = &walk.db().core().shared.log.storage;
        let how = (self.way == (Way::Keys { reverse: true }), with_entries);
        gather(parts, &self.wanted, how, self.sort_memory, storage, &mut self.watch)
    }

    /// Lends each answer to `each`, skip and limit apart, in the order of keys, or in that order turned round.
    pub(super) fn pass(
        &mut self,
        walk: &mut V::Walk,
        route: Route<IndexOf<V>>,
        mut each: impl FnMut(DocView<'_>, &mut Vec<u8>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut gathered = match route {
            Route::Ranges(parts) => Some(self.gather(walk, parts, false)?),
            _ => None,
        };
        let (question, watch) = (&self.question, &mut self.watch);
        let mut place = Vec::new();
        let mut one = |document: DocView<'_>| {
            let admitted = question.admits(document, &mut place)?;
            watch.scanned(admitted)?;
            if admitted { each(document, &mut place) } else { Ok(ControlFlow::Continue(())) }
        };
        if let Some(gathered) = &mut gathered {
            while let Some(key) = gathered.next()? {
                let document = walk.document(key.as_ref())?.ok_or_else(no_document)?;
                if one(document.view())?.is_break() {
                    break;
                }
            }
            return Ok(());
        }
        if let KeysWanted::These(keys) = &self.wanted {
            for key in keys {
                if let Some(document) = walk.document(key.as_ref())?
                    && one(document.view())?.is_break()
                {
                    break;
                }
            }
            return Ok(());
        }
        let end = walk.lend(|document| match one(document) {
            Ok(ControlFlow::Continue(())) => ControlFlow::Continue(()),
            Ok(ControlFlow::Break(())) => ControlFlow::Break(Ok(())),
            Err(error) => ControlFlow::Break(Err(error)),
        })?;
        end.unwrap_or(Ok(()))
    }
}

/// An index in the state of a walk.
pub(super) type IndexOf<V> = <<V as ReadView>::Walk as Walk>::Index;
