//! Groups, distinct values and parts of documents over collections with indexes: whatever answers them, they are the model's.

use holotype::{Document, Error, Hint, IndexDefinition, PlanAccess, QueryPlan};
use holotype_model as model;

use crate::convert;
use crate::input::Input;
use crate::story::ensure;

const PATHS: [&str; 9] = ["$.a", "$.b", "$.a", "$.a.b", "$.b[0]", "$.a[*]", "$.a[*].b", "$.cc", "$.d"];

/// What is asked beside the question for documents.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) distinct: String,
    pub(super) right: model::query::Groups,
    pub(super) parts: Vec<String>,
    pub(super) right_parts: Vec<model::query::Path>,
}

impl Told {
    /// Of any paths, or of those of an index.
    pub(super) fn new(input: &mut Input<'_>, definitions: &[IndexDefinition]) -> Result<Self, String> {
        let of_index: Vec<String> = match definitions.get(input.below(definitions.len().max(1))) {
            Some(definition) if input.below(4) > 0 => {
                definition.texts().map(|text| text.trim_start_matches('-').to_owned()).collect()
            }
            _ => Vec::new(),
        };
        // No expression, and no projection either, is a function of a path with a fan-out.
        let of_index: Vec<String> =
            of_index.into_iter().filter(|text| model::query::Expression::parse(text).is_ok()).collect();
        let path = |input: &mut Input<'_>| match of_index.as_slice() {
            [] => input.pick(&PATHS).to_owned(),
            of_index => of_index[input.below(of_index.len())].clone(),
        };
        let expression = |text: &str| model::query::Expression::parse(text);
        let by = match input.below(4) {
            0 => Vec::new(),
            1 => vec![path(input)],
            most => of_index.iter().take(most - 1).cloned().collect(),
        };
        let mut right = model::query::Groups {
            by: by.iter().map(|text| expression(text)).collect::<Result<_, _>>()?,
            ..Default::default()
        };
        let kinds = match input.below(3) {
            0 => ["min", "max", "min", "max"],
            1 => ["count_distinct", "min", "max", "sum"],
            _ => ["sum", "avg", "min", "count_distinct"],
        };
        for _ in 0..input.below(3) {
            let name = input.pick(&kinds).to_owned();
            right.aggregates.push(model::query::Aggregate { name, expression: expression(&path(input))? });
        }
        if input.below(4) == 0 {
            right.limit = Some(input.below(3));
        }
        let distinct = path(input);
        let parts = (0..1 + input.below(2)).map(|_| path(input));
        let parts = parts.map(|text| if text.starts_with('$') { text } else { "$.a".to_owned() });
        let parts: Vec<String> = parts.collect();
        let right_parts =
            parts.iter().map(|text| model::query::Path::parse(text)).collect::<Result<_, _>>()?;
        Ok(Told { distinct, right, parts, right_parts })
    }

    pub(super) fn by(&self) -> Vec<&str> {
        self.right.by.iter().map(|by| by.text.as_str()).collect()
    }

    /// The groups of these documents, which are in the order of keys.
    pub(super) fn groups(&self, members: &[(model::Key, model::Document)]) -> Result<Vec<Document>, String> {
        let groups = self.right.of(members).map_err(|_| "a sum beyond the ints".to_owned())?;
        Ok(groups.iter().map(convert::document).collect())
    }
}

/// The types of the views have no name in common.
macro_rules! told_by_every_plan {
    ($view:expr, $question:expr, $told:expr, $documents:expr, $hints:expr, $seen:expr) => {{
        let (view, question, told): (_, &Question, &Told) = (&$view, $question, $told);
        let (documents, seen): (&Documents, &mut Seen) = ($documents, $seen);
        let all = model::query::Query { sorts: Vec::new(), skip: 0, limit: None, ..question.right.clone() };
        let members = all.answers(documents);
        let groups = told.groups(&members)?;
        let of = model::query::Expression::parse(&told.distinct)?;
        let values = model::query::distinct(&members, &of, &question.right.parameters);
        let values: Vec<holotype::Value> = values.iter().map(convert::value).collect();
        let part = |(key, document): &(model::Key, model::Document)| {
            convert::document(&model::query::project(key, document, &told.right_parts))
        };
        let parts: Vec<holotype::Document> = question.right.answers(documents).iter().map(part).collect();
        for hint in $hints {
            let of = || format!("{told:?} of {} by {hint:?} of {documents:?}", question.text);
            let say = |error: Error| format!("{error}, {}", of());
            let ask = || {
                let query = match &question.filter {
                    Some(filter) => view.find(filter),
                    None => view.find(..),
                };
                let query = query.sort_memory(question.memory);
                let query = hint.iter().fold(query, |query, hint: &Hint| query.hint(hint.clone()));
                question.bound().fold(query, |query, (name, value)| query.bind(name.as_str(), value))
            };
            let distinct = |plan: Result<holotype::QueryPlan, Error>| told_plan(plan, hint, &of);
            if let Some(plan) = distinct(ask().explain_distinct(&told.distinct))? {
                let found = ask().distinct(&told.distinct).map_err(say)?;
                ensure(found == values, || {
                    format!("{found:?} by {plan:?}, the model has {values:?}, {}", of())
                })?;
                let read = ask().analyze_distinct(&told.distinct).map_err(say)?;
                ensure(read.actual.is_some_and(|read| read.answers == values.len() as u64), || {
                    format!("{read:?}, {}", of())
                })?;
                seen.told(plan.reads);
            }
            let group = || {
                let mut query = ask().group_by(told.by());
                for aggregate in &told.right.aggregates {
                    let of = &aggregate.expression.text;
                    query = match aggregate.name.as_str() {
                        "count_distinct" => query.count_distinct(of),
                        "sum" => query.sum(of),
                        "min" => query.min(of),
                        "max" => query.max(of),
                        _ => query.avg(of),
                    };
                }
                told.right.limit.iter().fold(query, |query, limit| query.limit(*limit as u64))
            };
            if let Some(plan) = distinct(group().explain())? {
                let found = group().run().map_err(say)?;
                ensure(found == groups, || {
                    format!("{found:?} by {plan:?}, the model has {groups:?}, {}", of())
                })?;
                let read = group().analyze().map_err(say)?;
                ensure(read.actual.is_some_and(|read| read.answers == groups.len() as u64), || {
                    format!("{read:?}, {}", of())
                })?;
                seen.told(plan.reads);
            }
            let project = || {
                let query = ask().skip(question.right.skip as u64);
                let query = question.sorts.iter().fold(query, |query, sort| query.sort(sort.clone()));
                let query =
                    question.right.limit.iter().fold(query, |query, limit| query.limit(*limit as u64));
                query.project(&told.parts)
            };
            if let Some(plan) = distinct(project().explain())? {
                let found =
                    project().run().map_err(say)?.map(|part| part.and_then(|part| part.to_document()));
                let found = found.collect::<Result<Vec<holotype::Document>, _>>().map_err(say)?;
                ensure(found == parts, || {
                    format!("{found:?} by {plan:?}, the model has {parts:?}, {}", of())
                })?;
                let read = project().analyze().map_err(say)?;
                ensure(read.actual.is_some_and(|read| read.answers == parts.len() as u64), || {
                    format!("{read:?}, {}", of())
                })?;
                seen.projected += u64::from(plan.reads == holotype::PlanReads::Entries);
            }
        }
    }};
}
pub(super) use told_by_every_plan;

/// The plan, unless the hint is refused. A hint that is taken is kept to.
pub(super) fn told_plan(
    plan: Result<QueryPlan, Error>,
    hint: &Option<Hint>,
    of: impl Fn() -> String,
) -> Result<Option<QueryPlan>, String> {
    let plan = match plan {
        Err(Error::IndexCannotServe { .. }) => return Ok(None),
        plan => plan.map_err(|error| format!("{error}, {}", of()))?,
    };
    let keeps = match (hint, &plan.access) {
        (Some(Hint::Index(name)), PlanAccess::Indexes(parts)) => parts.iter().all(|part| part.index == *name),
        (Some(Hint::Index(_)), _) => false,
        (Some(Hint::Scan), access) => !matches!(access, PlanAccess::Indexes(_)),
        _ => true,
    };
    ensure(keeps, || format!("{plan:?}, {}", of()))?;
    Ok(Some(plan))
}
