//! Groups of the documents that a query answers. spec: Q-9.

use std::collections::{BTreeMap, BTreeSet};

use super::asked::Asked;
use super::prepared::Prepared;
use super::sort::{CheckedSort, Sort};
use super::sum::ExactSum;
use super::texts::{IntoExpression, IntoFilter};
use super::view::ReadView;
use super::whole::in_key_order;
use crate::document::{Document, KeyRef, RawDocument, Text, Value};
use crate::error::{Error, Result};
use crate::query::{Expression, Filter, GivenValue};
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aggregate {
    CountDistinct,
    Sum,
    Min,
    Max,
    Avg,
}

const COUNT: &str = "count";

impl Aggregate {
    const ALL: [Aggregate; 5] =
        [Aggregate::CountDistinct, Aggregate::Sum, Aggregate::Min, Aggregate::Max, Aggregate::Avg];

    fn name(self) -> &'static str {
        match self {
            Aggregate::CountDistinct => "count_distinct",
            Aggregate::Sum => "sum",
            Aggregate::Min => "min",
            Aggregate::Max => "max",
            Aggregate::Avg => "avg",
        }
    }
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
    /// As [`Query::run`](crate::Query::run); `SumOverflow` where a sum of ints is no int of 64 bits; `QueryMemory` where
    /// the groups take more than [`sort_memory`](crate::Query::sort_memory).
    pub fn run(self) -> Result<Vec<Document>> {
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
        let mut groups = Groups {
            names: names(&by),
            by,
            aggregates,
            len: 0,
            max: prepared.sort_memory,
            groups: BTreeMap::new(),
        };
        if groups.by.is_empty() {
            let alone = groups.new_group(Vec::new());
            groups.groups.insert(Vec::new(), alone);
        }
        in_key_order(prepared, |key, document| groups.add(key, document))?;
        chosen(groups.finish()?, having.as_ref(), &sorts, self.limit)
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

//= spec/query.md#q-9-5-groups-as-documents
//# A filter over groups and sorts over groups MUST be of these documents.
fn chosen(
    groups: Vec<Document>,
    having: Option<&Filter>,
    sorts: &[CheckedSort],
    limit: Option<u64>,
) -> Result<Vec<Document>> {
    let limit = usize::try_from(limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let mut placed: Vec<(Vec<u8>, Document)> = Vec::new();
    let first = if seeded::is_on(Bug::LimitBeforeHaving) { limit } else { usize::MAX };
    for group in groups.into_iter().take(first) {
        let bytes = group.encode();
        let raw = RawDocument::from_verified(&bytes);
        if having.map_or(Ok(true), |having| having.matches(raw))? {
            let mut place = Vec::new();
            sorts.iter().try_for_each(|sort| sort.put(None, raw, &mut place))?;
            placed.push((place, group));
        }
    }
    // Stable: groups that no sort tells apart keep their order.
    placed.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(placed.into_iter().map(|(_, group)| group).take(limit).collect())
}

struct Groups {
    by: Vec<Expression>,
    names: Vec<Text>,
    aggregates: Vec<(Aggregate, Expression)>,
    /// Bytes that the groups take, about.
    len: usize,
    max: usize,
    /// By the places of what they have in common.
    groups: BTreeMap<Vec<u8>, Group>,
}

struct Group {
    common: Vec<Option<Value>>,
    count: i64,
    states: Vec<State>,
}

/// An aggregate under way.
enum State {
    Places(BTreeSet<Vec<u8>>),
    Sum(ExactSum),
    /// The place and the value.
    Extreme(Option<(Vec<u8>, Value)>),
}

/// In the place of what gives nothing: below every order key.
const NOTHING: u8 = 0;

impl Groups {
    fn new_group(&self, common: Vec<Option<Value>>) -> Group {
        let state = |(kind, _): &(Aggregate, Expression)| match kind {
            Aggregate::CountDistinct => State::Places(BTreeSet::new()),
            Aggregate::Sum | Aggregate::Avg => State::Sum(ExactSum::default()),
            Aggregate::Min | Aggregate::Max => State::Extreme(None),
        };
        Group { common, count: 0, states: self.aggregates.iter().map(state).collect() }
    }

    fn take(&mut self, len: usize) -> Result<()> {
        self.len += len;
        if self.len > self.max { Err(Error::QueryMemory { max: self.max }) } else { Ok(()) }
    }

    //= spec/query.md#q-9-3-groups
    //# A document MUST be in the groups of every combination of what the expressions give of it, once in
    //# each.
    fn add(&mut self, key: KeyRef<'_>, document: RawDocument<'_>) -> Result<()> {
        let mut combinations: Vec<(Vec<u8>, Vec<Option<Value>>)> = vec![(Vec::new(), Vec::new())];
        for expression in &self.by {
            let given = given(expression, key, document)?;
            if let [(place, value)] = given.as_slice() {
                // Most documents are in one group.
                for (places, common) in &mut combinations {
                    places.extend_from_slice(place);
                    common.push(value.clone());
                }
                continue;
            }
            let len = combinations.len() * given.len() * (size_of::<Value>() + size_of::<Vec<u8>>());
            if len > self.max {
                return Err(Error::QueryMemory { max: self.max });
            }
            let each = combinations.iter().flat_map(|(places, common)| {
                given.iter().map(move |(place, value)| {
                    (
                        [places.as_slice(), place].concat(),
                        [common.as_slice(), std::slice::from_ref(value)].concat(),
                    )
                })
            });
            combinations = each.collect();
        }
        for (places, common) in combinations {
            if !self.groups.contains_key(&places) {
                // A value takes about what its order key does.
                self.take(
                    2 * places.len() + size_of::<Group>() + self.aggregates.len() * size_of::<State>(),
                )?;
                let group = self.new_group(common);
                self.groups.insert(places.clone(), group);
            }
            let group = self.groups.get_mut(&places).expect("it was just put there");
            group.count += 1;
            let mut taken = 0;
            for (state, (kind, of)) in group.states.iter_mut().zip(&self.aggregates) {
                of.give(Some(key), document, &mut |value| {
                    taken += state.add(*kind, value)?;
                    Ok(())
                })?;
            }
            self.take(taken)?;
        }
        Ok(())
    }

    //= spec/query.md#q-9-3-groups
    //# Groups MUST come in the order of what the first expression gives, then the second, and so on, with
    //# nothing before every value.
    fn finish(self) -> Result<Vec<Document>> {
        let Groups { names, aggregates, groups, .. } = self;
        let document = |group: Group| {
            let mut document = Document::new();
            for (name, value) in names.iter().zip(group.common) {
                if let Some(value) = value {
                    document.insert(name.clone(), value);
                }
            }
            document.insert(COUNT, group.count);
            for (state, (kind, of)) in group.states.into_iter().zip(&aggregates) {
                let result = state.finish(*kind, of)?;
                if document.get(kind.name()).is_none() {
                    document.insert(kind.name(), Document::new());
                }
                if let (Some(Value::Object(results)), Some(result)) = (document.get_mut(kind.name()), result)
                {
                    results.insert(of.to_string(), result);
                }
            }
            Ok(document)
        };
        groups.into_values().map(document).collect()
    }
}

/// What an expression gives of a document: each place once, with the first value there; or nothing.
fn given(
    expression: &Expression,
    key: KeyRef<'_>,
    document: RawDocument<'_>,
) -> Result<Vec<(Vec<u8>, Option<Value>)>> {
    let mut given: Vec<(Vec<u8>, Option<Value>)> = Vec::new();
    let mut seen = BTreeSet::new();
    expression.give(Some(key), document, &mut |value| {
        let mut place = Vec::new();
        value.encode_order_key(&mut place);
        if expression.is_single() || seen.insert(place.clone()) || seeded::is_on(Bug::GroupedOncePerItem) {
            given.push((place, Some(value.to_value()?)));
        }
        Ok(())
    })?;
    if given.is_empty() {
        given.push((vec![NOTHING], None));
    }
    Ok(given)
}

impl State {
    /// Adds a value; how many bytes more are taken.
    fn add(&mut self, kind: Aggregate, value: &GivenValue<'_, '_>) -> Result<usize> {
        let place = || {
            let mut place = Vec::new();
            value.encode_order_key(&mut place);
            place
        };
        match self {
            State::Places(places) => {
                let place = place();
                let len = place.len() + size_of::<Vec<u8>>();
                return Ok(if places.insert(place) { len } else { 0 });
            }
            State::Sum(sum) => {
                if let Some(number) = value.number() {
                    sum.add(number);
                }
            }
            State::Extreme(extreme) => {
                let place = place();
                // Documents come in the order of keys, so of one place the first stays.
                let is_nearer = extreme.as_ref().is_none_or(|(known, _)| match kind {
                    Aggregate::Min => place < *known,
                    _ => place > *known,
                });
                if is_nearer {
                    *extreme = Some((place, value.to_value()?));
                }
            }
        }
        Ok(0)
    }

    fn finish(self, kind: Aggregate, of: &Expression) -> Result<Option<Value>> {
        Ok(match self {
            State::Places(places) => Some(Value::Int(places.len() as i64)),
            State::Extreme(extreme) => extreme.map(|(_, value)| value),
            State::Sum(sum) if kind == Aggregate::Avg => sum.mean(),
            State::Sum(sum) => {
                let overflow = || Error::SumOverflow { expression: of.to_string() };
                Some(sum.sum().ok_or_else(overflow)?)
            }
        })
    }
}
