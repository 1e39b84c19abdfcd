//! Groups of the documents that a query answers. spec: Q-9.

#![expect(clippy::big_endian_bytes, reason = "big-endian bytes compare as the numbers do")]

use super::aggregate::Aggregate;
use super::asked::Asked;
use super::grouping::{COUNT, Group, Groups};
use super::part::{Part, foreign};
use super::plan::QueryPlan;
use super::prepared::Prepared;
use super::sort::{CheckedSort, Sort};
use super::sorter::Sorter;
use super::texts::{IntoExpression, IntoFilter};
use super::view::ReadView;
use super::whole::{explained, grouped};
use crate::document::{Document, RawDocument, Text};
use crate::error::Result;
use crate::query::{Expression, Filter};
use crate::seeded::{self, Bug};

/// A question about groups of documents. Made by [`Query::group_by`](crate::Query::group_by).
///
/// ```
/// use holotype::{Db, Sort, doc};
///
/// let birds = Db::in_memory().collection("birds");
/// birds.insert_many([
///     doc! { "place": "hedge", "seen": 2 },
///     doc! { "place": "barn", "seen": 5 },
///     doc! { "place": "hedge", "seen": 1 },
/// ])?;
/// let places = birds.find(..).group_by(["$.place"]).sum("$.seen").having("@.count > 1").run()?;
/// assert_eq!(places, [doc! { "place": "hedge", "count": 2, "sum": { "$.seen": 3 } }]);
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a query does nothing until it is run"]
pub struct GroupBy<'c, V> {
    view: &'c V,
    asked: Asked,
    by: Vec<Result<Expression>>,
    aggregates: Vec<(Aggregate, Result<Expression>)>,
    having: Result<Option<Filter>>,
    sorts: Vec<Sort>,
    limit: Option<u64>,
}

impl<'c, V: ReadView> GroupBy<'c, V> {
    pub(super) fn new(view: &'c V, asked: Asked, by: Vec<Result<Expression>>) -> Self {
        GroupBy { view, asked, by, aggregates: Vec::new(), having: Ok(None), sorts: Vec::new(), limit: None }
    }

    fn with(mut self, aggregate: Aggregate, of: impl IntoExpression) -> Self {
        self.aggregates.push((aggregate, of.into_expression()));
        self
    }

    /// How many different values this gives in each group.
    pub fn count_distinct(self, of: impl IntoExpression) -> Self {
        self.with(Aggregate::CountDistinct, of)
    }

    /// The sum of the numbers that this gives in each group: exact for ints, rounded once where there are floats.
    pub fn sum(self, of: impl IntoExpression) -> Self {
        self.with(Aggregate::Sum, of)
    }

    /// The least value that this gives in each group.
    pub fn min(self, of: impl IntoExpression) -> Self {
        self.with(Aggregate::Min, of)
    }

    /// The greatest value that this gives in each group.
    pub fn max(self, of: impl IntoExpression) -> Self {
        self.with(Aggregate::Max, of)
    }

    /// The mean of the numbers that this gives in each group, rounded once.
    pub fn avg(self, of: impl IntoExpression) -> Self {
        self.with(Aggregate::Avg, of)
    }

    /// Only groups that this filter admits, as documents.
    pub fn having(mut self, filter: impl IntoFilter) -> Self {
        self.having = filter.into_filter();
        self
    }

    /// Sorts the groups, as documents.
    pub fn sort(mut self, by: impl Into<Sort>) -> Self {
        self.sorts.push(by.into());
        self
    }

    /// Answers at most `count` groups.
    pub fn limit(mut self, count: u64) -> Self {
        self.limit = Some(count);
        self
    }

    /// The groups, each as a document, in the order of what they have in common unless they are sorted.
    ///
    /// # Errors
    /// As [`Query::run`](crate::Query::run); `SumOverflow` where a sum of ints is no int of 64 bits.
    pub fn run(self) -> Result<Vec<Document>> {
        let (prepared, groups, chosen) = self.checked()?;
        Ok(chosen.of(prepared, groups)?.0)
    }

    /// How the groups would be found: by documents, or by the entries of an index where these have all that is asked for.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn explain(self) -> Result<QueryPlan> {
        let (prepared, groups, _) = self.checked()?;
        explained(prepared, &groups, false)
    }

    /// As [`explain`](Self::explain), with what was read: the groups are found.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn analyze(self) -> Result<QueryPlan> {
        let (prepared, groups, chosen) = self.checked()?;
        Ok(chosen.of(prepared, groups)?.1)
    }

    fn checked(self) -> Result<(Prepared<'c, V>, Groups, Chosen)> {
        let mut by: Vec<Expression> = self.by.into_iter().collect::<Result<_>>()?;
        let aggregates = self.aggregates.into_iter().map(|(kind, of)| Ok((kind, of?)));
        let mut aggregates: Vec<(Aggregate, Expression)> = aggregates.collect::<Result<_>>()?;
        let mut having = self.having?;
        let mut sorts: Vec<CheckedSort> = self.sorts.into_iter().map(Sort::checked).collect::<Result<_>>()?;
        let prepared = Prepared::new(self.view, self.asked, |bindings| {
            let of_aggregates = aggregates.iter_mut().map(|(_, of)| of);
            let of_sorts = sorts.iter_mut().map(|sort| &mut sort.expression);
            let mut all = by.iter_mut().chain(of_aggregates).chain(of_sorts);
            all.try_for_each(|expression| bindings.bind_expression(expression))?;
            having.iter_mut().try_for_each(|filter| bindings.bind_filter(filter))
        })?;
        let (names, limit) = (names(&by), self.limit.unwrap_or(u64::MAX));
        let of = aggregates.iter().map(|(_, of)| of.to_string().into()).collect();
        let chosen = Chosen { names, of, having, sorts, limit };
        Ok((prepared, Groups { by, aggregates }, chosen))
    }
}

/// The names of the expressions in a group's document. spec: Q-9.5.
fn names(by: &[Expression]) -> Vec<Text> {
    let is_aggregate = |name: &str| name == COUNT || Aggregate::ALL.iter().any(|kind| kind.name() == name);
    by.iter()
        .map(|expression| match expression.last_name() {
            Some(name)
                if !is_aggregate(name)
                    && by.iter().filter(|other| other.last_name() == Some(name)).count() == 1 =>
            {
                name.clone()
            }
            _ => expression.to_string().into(),
        })
        .collect()
}

/// Which groups are answered, and in which order.
struct Chosen {
    names: Vec<Text>,
    /// What the aggregates are of, as text.
    of: Vec<Text>,
    having: Option<Filter>,
    sorts: Vec<CheckedSort>,
    limit: u64,
}

impl Chosen {
    //= spec/query.md#q-9-5-groups-as-documents
    //# A filter over groups and sorts over groups MUST be of these documents.
    fn of<V: ReadView>(
        &self,
        prepared: Prepared<'_, V>,
        groups: Groups,
    ) -> Result<(Vec<Document>, QueryPlan)> {
        let memory = prepared.sort_memory;
        let mut groups = grouped(prepared, groups, false)?;
        let db = groups.db.clone();
        let storage = &db.core().shared.log.storage;
        let mut sorter = (!self.sorts.is_empty()).then(|| Sorter::new(self.limit, memory, storage));
        let mut chosen = Vec::new();
        let (mut number, mut part, mut place) = (0_u64, Vec::new(), Vec::new());
        // A sum beyond the ints is refused in any group, whatever the limit.
        let to_the_end =
            sorter.is_some() || groups.asked.aggregates.iter().any(|(kind, _)| *kind == Aggregate::Sum);
        while to_the_end || (chosen.len() as u64) < self.limit {
            let Some(group) = groups.next()? else { break };
            if seeded::is_on(Bug::LimitBeforeHaving) && number == self.limit {
                break;
            }
            number += 1;
            if sorter.is_some() {
                part.clear();
                group.put(&mut part);
            }
            let document = group.document(&groups.asked, &self.names, &self.of)?;
            if !self.is_wanted(&document, sorter.is_some().then_some(&mut place))? {
                continue;
            }
            let Some(sorter) = &mut sorter else {
                if (chosen.len() as u64) < self.limit {
                    chosen.push(document);
                }
                continue;
            };
            // Groups that no sort tells apart keep their order.
            place.extend_from_slice(&number.to_be_bytes());
            place.extend_from_slice(&part);
            place.extend_from_slice(&(part.len() as u64).to_le_bytes());
            sorter.push(&place)?;
        }
        let Some(sorter) = sorter else {
            let answers = chosen.len() as u64;
            return Ok((chosen, groups.told(answers)));
        };
        let mut sorted = sorter.finish()?;
        while (chosen.len() as u64) < self.limit && sorted.next(&mut place)? {
            let (front, len) = place.split_last_chunk().ok_or_else(foreign)?;
            let start = front.len().checked_sub(u64::from_le_bytes(*len) as usize).ok_or_else(foreign)?;
            let group = Group::take(&groups.asked, &mut Part(&front[start..]))?;
            chosen.push(group.document(&groups.asked, &self.names, &self.of)?);
        }
        let answers = chosen.len() as u64;
        Ok((chosen, groups.told(answers)))
    }

    /// Whether the filter admits a group. What the sorts give of it is put into `place`.
    fn is_wanted(&self, group: &Document, place: Option<&mut Vec<u8>>) -> Result<bool> {
        if self.having.is_none() && place.is_none() {
            return Ok(true);
        }
        let encoded = group.encode();
        let raw = RawDocument::from_verified(&encoded);
        if let Some(place) = place {
            place.clear();
            self.sorts.iter().try_for_each(|sort| sort.put(None, raw, place))?;
        }
        self.having.as_ref().map_or(Ok(true), |having| having.matches(raw))
    }
}
