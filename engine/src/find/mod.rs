//! Queries over a collection in some state: which documents, in which order, and how many of them. spec: Q-7.
//!
//! | module | what it is |
//! |---|---|
//! | `view` | what a query asks of a collection, a snapshot or a transaction |
//! | `keys` | which keys a filter can admit |
//! | `sort`, `cursor` | the order of answers as bytes, and a place in it as text |
//! | `sorter`, `runs` | sorting in a bounded memory |
//! | `watch` | progress, an end by the caller, a deadline |
//! | `groups`, `grouping`, `given`, `part` | documents put into groups in a bounded memory |
//! | `entry_groups` | groups and distinct values as the entries of an index have them |
//! | `aggregate`, `sum` | what is counted and summed over a group; sums are rounded once |
//! | `plan` | how the documents are found: by keys, or by which indexes |
//! | `prepared`, `found`, `whole` | a query that was checked, its answers, and what is told of all of them |

mod aggregate;
mod answer;
mod asked;
mod bindings;
mod cursor;
mod entry_groups;
mod found;
mod found_keys;
mod given;
mod grouping;
mod groups;
mod in_ranges;
mod keys;
mod part;
mod plan;
mod prepared;
mod projected;
mod runs;
mod sort;
mod sorter;
mod sum;
mod texts;
mod view;
mod watch;
mod whole;

use std::ops::ControlFlow;

use serde::de::DeserializeOwned;

use crate::doc_ref::DocRef;
use crate::document::{AsKey, Document, RawDocument, Text, Value};
use crate::error::{Error, Result};
use crate::handle::{Handle, Reads};
use crate::query::{Expression, Filter, JsonPath};
use crate::sync::{Arc, Instant};
use asked::Asked;
use bindings::Bindings;
use grouping::Groups;
use prepared::Prepared;
use view::ReadView;

pub use asked::SORT_MEMORY_DEFAULT;
pub use cursor::Cursor;
pub use found::{Found, FoundAs};
pub use found_keys::FoundKeys;
pub use groups::GroupBy;
pub(crate) use plan::ranges_of_filter;
pub use plan::{Hint, PlanAccess, PlanActual, PlanIndex, PlanOrder, PlanReads, QueryPlan};
pub use projected::{Projected, ProjectedDoc, Projection};
pub use sort::Sort;
pub use texts::{IntoExpression, IntoFilter};
pub use watch::QueryProgress;

/// A question about the documents of a collection, a snapshot or a transaction. Made by `find`; a call such as
/// [`run`](Self::run) or [`count`](Self::count) answers it.
///
/// What is wrong with a filter, a sort or a cursor is told by that call. Without a sort, answers come in key order.
///
/// ```
/// use holotype::{Db, Sort, doc};
///
/// let birds = Db::in_memory().collection("birds");
/// birds.insert_many([
///     doc! { "name": "Wren", "year": 1859, "tags": ["small", "brown"] },
///     doc! { "name": "Robin", "year": 1831, "tags": ["small"] },
///     doc! { "name": "Heron", "year": 1862, "tags": ["grey"] },
/// ])?;
/// let small = birds.find("@.tags[?@ == 'small'] && @.year >= arg('from')").bind("from", 1800);
/// assert_eq!(small.clone().count()?, 2);
/// let newest = small.sort(Sort::by("$.year").descending()).first()?.expect("there are two");
/// assert_eq!(newest.get("name").and_then(|name| name.as_str()), Some("Wren"));
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a query does nothing until it is run"]
pub struct Query<'c, V> {
    view: &'c V,
    asked: Asked,
}

impl<V> Clone for Query<'_, V> {
    fn clone(&self) -> Self {
        Query { view: self.view, asked: self.asked.clone() }
    }
}

impl<S: Reads> Handle<S> {
    /// Asks for the documents that `filter` admits, in key order unless a sort is given: a text of RFC 9535, a
    /// [`Filter`](crate::query::Filter), or `..` for all. Nothing is read before the query is run.
    pub fn find(&self, filter: impl IntoFilter) -> Query<'_, Self> {
        Query::new(self, filter.into_filter())
    }
}

impl<'c, V> Query<'c, V> {
    fn new(view: &'c V, filter: Result<Option<Filter>>) -> Self {
        Query { view, asked: Asked::new(filter) }
    }
}

impl<'c, V: ReadView> Query<'c, V> {
    /// Gives the parameter `name` a value, wherever the query has `arg('name')`.
    pub fn bind(mut self, name: impl Into<Text>, value: impl Into<Value>) -> Self {
        self.asked.bound.add(name.into(), value.into());
        self
    }

    /// Sorts by this where the sorts before it tell no difference: a text such as `"$.year"` or `"fold(@.name)"`, or a [`Sort`].
    pub fn sort(mut self, by: impl Into<Sort>) -> Self {
        self.asked.sorts.push(by.into());
        self
    }

    /// Leaves out the first `count` answers.
    pub fn skip(mut self, count: u64) -> Self {
        self.asked.skip = count;
        self
    }

    /// Answers at most `count` documents.
    pub fn limit(mut self, count: u64) -> Self {
        self.asked.limit = Some(count);
        self
    }

    /// Answers only what comes after this place, which [`Found::cursor`] gave for the same query.
    pub fn after(mut self, cursor: Cursor) -> Self {
        self.asked.after = Some(cursor);
        self
    }

    /// Gives up the order of the answers. There are no sorts and no cursor then.
    pub fn unordered(mut self) -> Self {
        self.asked.unordered = true;
        self
    }

    /// Says which way to take, where the one that is chosen is not the best: an index, or none. It changes what the query costs, never what
    /// it answers.
    pub fn hint(mut self, hint: Hint) -> Self {
        self.asked.hint = Some(hint);
        self
    }

    /// How the query would be answered by [`run`](Self::run), as it is: nothing is read but what the choice takes. [`keys`](Self::keys) and
    /// [`count`](Self::count) may go by entries alone where `run` reads documents.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn explain(self) -> Result<QueryPlan> {
        let prepared = self.prepared()?;
        let walk = prepared.walk()?;
        Ok(prepared.plan(&walk, true)?.told(&prepared.wanted))
    }

    /// As [`explain`](Self::explain), and runs the query to its end: [`QueryPlan::actual`] is what it read and answered.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn analyze(self) -> Result<QueryPlan> {
        Found::analyze(self.prepared()?)
    }

    /// How many bytes a sort, the groups or the distinct values may take in memory while they are made; 64 MiB unless it is said. A
    /// query that needs several of these has as much for each. The rest goes to a file without a name beside the store; a store in
    /// memory has none, and says `QueryMemory`. What is answered in one piece, such as groups, is not counted.
    pub fn sort_memory(mut self, bytes: usize) -> Self {
        self.asked.sort_memory = bytes;
        self
    }

    /// Ends the query with `DeadlinePassed` once this moment has come, whatever was answered by then.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.asked.watch.set_deadline(deadline);
        self
    }

    /// Calls `told` now and then, every 64 documents or so; where it breaks, the query ends with `Cancelled`.
    pub fn progress(
        mut self,
        told: impl Fn(&QueryProgress) -> ControlFlow<()> + Send + Sync + 'static,
    ) -> Self {
        self.asked.watch.tell(Arc::new(told));
        self
    }

    fn prepared(self) -> Result<Prepared<'c, V>> {
        self.prepared_with(|_| Ok(()))
    }

    /// Checks the query; `others` binds what else has parameters.
    fn prepared_with(self, others: impl FnOnce(&mut Bindings) -> Result<()>) -> Result<Prepared<'c, V>> {
        Prepared::new(self.view, self.asked, others)
    }

    /// The documents, one after the other, as one commit left them. The iterator holds that state: what is written meanwhile is not
    /// seen. A sort is done here.
    ///
    /// # Errors
    /// `Query`, `QueryTooDeep`, `PatternTooLarge`, `Parameter`, `InvalidCursor`, `InvalidQuery` where the question is wrong; `UnknownIndex`,
    /// `IndexCannotServe` where a hint is;
    /// `QueryMemory`, `Cancelled`, `DeadlinePassed`; `UnknownCollection`; and what any read may say. The iterator ends after its first `Err`.
    pub fn run(self) -> Result<Found<V::Walk>> {
        Found::begin(self.prepared()?)
    }

    /// The documents as a type of the caller's.
    ///
    /// # Errors
    /// As [`run`](Self::run), and `Serde` where a document is not of that type.
    pub fn find_as<T: DeserializeOwned>(self) -> Result<FoundAs<V::Walk, T>> {
        self.run().map(FoundAs::new)
    }

    /// The keys of the documents. No document has to be read where there is no filter, or an index tells all of it, and the
    /// order is that of keys or of the index.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn keys(self) -> Result<FoundKeys<V::Walk, V::Keys>> {
        FoundKeys::begin(self.prepared()?)
    }

    /// Only these parts of each document.
    pub fn project<P: AsRef<str>>(self, paths: impl IntoIterator<Item = P>) -> Projection<'c, V> {
        let paths = paths.into_iter().map(|path| JsonPath::parse(path.as_ref())).collect();
        Projection::new(self.view, self.asked, paths)
    }

    /// The first document.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn first(self) -> Result<Option<DocRef>> {
        self.at_most(1).run()?.next().transpose()
    }

    /// The only document.
    ///
    /// # Errors
    /// `NotOne` where there is none, or more; and as [`run`](Self::run).
    pub fn one(self) -> Result<DocRef> {
        self.at_most_one()?.ok_or(Error::NotOne { found: 0 })
    }

    /// The only document, if there is one.
    ///
    /// # Errors
    /// `NotOne` where there are more; and as [`run`](Self::run).
    pub fn at_most_one(self) -> Result<Option<DocRef>> {
        let mut found = self.at_most(2).run()?;
        let one = found.next().transpose()?;
        match found.next().transpose()? {
            None => Ok(one),
            Some(_) => Err(Error::NotOne { found: 2 }),
        }
    }

    fn at_most(mut self, count: u64) -> Self {
        self.asked.limit = Some(self.asked.limit.map_or(count, |limit| limit.min(count)));
        self
    }

    /// Whether there is a document.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn exists(self) -> Result<bool> {
        Ok(self.at_most(1).count()? > 0)
    }

    /// How many documents there are. No document has to be read where there is no filter, or an index tells all of it, and
    /// there is no cursor.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn count(self) -> Result<u64> {
        whole::count(self.prepared()?)
    }

    /// The place of a document in the order of the query, to go on from with [`after`](Self::after). The document need not be there.
    ///
    /// # Errors
    /// As [`run`](Self::run); `InvalidQuery` where it is unordered; `DocumentTooLarge`, `TooDeep`.
    pub fn cursor_at(self, key: impl AsKey, document: &Document) -> Result<Cursor> {
        let prepared = self.prepared()?;
        prepared.check_order()?;
        let mut encoded = Vec::new();
        document.encode_into(&mut encoded)?;
        let mut place = Vec::new();
        key.as_key().check_len()?;
        prepared.question.order.place(key.as_key(), RawDocument::from_verified(&encoded), &mut place)?;
        Ok(Cursor { query: prepared.question.identity(), place })
    }

    /// The values that an expression gives of the documents, each once, in the order of values.
    ///
    /// ```
    /// use holotype::{Db, Value, doc};
    ///
    /// let birds = Db::in_memory().collection("birds");
    /// birds.insert_many([doc! { "tags": ["b", "a"] }, doc! { "tags": ["a"] }, doc! {}])?;
    /// assert_eq!(birds.find(..).distinct("$.tags[*]")?, [Value::from("a"), Value::from("b")]);
    /// # Ok::<(), holotype::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn distinct(self, of: impl IntoExpression) -> Result<Vec<Value>> {
        let (prepared, of) = self.prepared_for(of)?;
        Ok(whole::distinct(prepared, of)?.0)
    }

    /// How [`distinct`](Self::distinct) would find the values: an index on what is asked for leads from one to the next.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn explain_distinct(self, of: impl IntoExpression) -> Result<QueryPlan> {
        let (prepared, of) = self.prepared_for(of)?;
        whole::explained(prepared, &Groups { by: vec![of], aggregates: Vec::new() }, true)
    }

    /// As [`explain_distinct`](Self::explain_distinct), with what was read: the values are found.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn analyze_distinct(self, of: impl IntoExpression) -> Result<QueryPlan> {
        let (prepared, of) = self.prepared_for(of)?;
        Ok(whole::distinct(prepared, of)?.1)
    }

    fn prepared_for(self, of: impl IntoExpression) -> Result<(Prepared<'c, V>, Expression)> {
        let mut of = of.into_expression()?;
        let prepared = self.prepared_with(|bindings| bindings.bind_expression(&mut of))?;
        Ok((prepared, of))
    }

    /// Puts the documents into groups: those of which these expressions give the same. A document of which one gives several values, as
    /// `$.tags[*]` does, is in a group for each. Without an expression there is one group of all.
    pub fn group_by<E: IntoExpression>(self, by: impl IntoIterator<Item = E>) -> GroupBy<'c, V> {
        let by = by.into_iter().map(IntoExpression::into_expression).collect();
        GroupBy::new(self.view, self.asked, by)
    }
}
