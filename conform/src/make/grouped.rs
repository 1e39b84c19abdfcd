//! Distinct values, groups and sums of a collection: what the model answers.

use std::collections::BTreeMap;

use holotype_model::query::{Aggregate, Expression, Filter, Groups, distinct};
use holotype_model::{Document, Key, Value};

use super::birds::{Documents, birds, pairs, sort};
use super::filters::list;
use super::ladder::{document, object, text};
use super::{Maker, invalid, rejected, valid};
use crate::case::Request;
use crate::question::{Asked, Grouped};

fn members(documents: &Documents) -> Vec<(Key, Document)> {
    documents.iter().map(|(key, document)| (key.clone(), document.clone())).collect()
}

pub(super) fn distinct_values(maker: &mut Maker) {
    let documents = birds();
    for of in ["$.n", "$.t", "$.n[*]", "$..a", "type(@.n)", "key()", "$.missing", "fold(@.t)"] {
        let expression = Expression::parse(of).unwrap_or_else(|error| panic!("{of}: {error}"));
        let values = distinct(&members(&documents), &expression, &BTreeMap::new());
        let asked = Asked { documents: pairs(&documents), ..Asked::default() };
        let name = format!("The distinct values of `{of}`, each as the least key has it");
        let request = Request::Distinct { asked, of: of.to_owned() };
        maker.case(&valid(&["Q-9.1", "Q-9.2"], &["GroupMeaning"]), name, request, list(values));
    }
}

/// What is asked of groups.
#[derive(Debug, Clone, Copy, Default)]
struct Of<'a> {
    by: &'a [&'a str],
    aggregates: &'a [(&'a str, &'a str)],
    having: Option<&'a str>,
    sorts: &'a [&'a str],
    limit: Option<usize>,
}

/// The groups; `None` where a sum is no int.
fn group(maker: &mut Maker, clauses: &[&str], documents: &Documents, of: &Of<'_>) -> Option<Vec<Document>> {
    let Of { by, aggregates, having, sorts, limit } = *of;
    let parse = |text: &str| Expression::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let aggregate = |(name, of): &(&str, &str)| Aggregate { name: (*name).to_owned(), expression: parse(of) };
    let (right_sorts, sort_groups) = sorts.iter().map(|text| sort(text)).unzip();
    let right = Groups {
        by: by.iter().map(|text| parse(text)).collect(),
        aggregates: aggregates.iter().map(aggregate).collect(),
        having: having.map(|text| Filter::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))),
        sorts: right_sorts,
        limit,
        parameters: BTreeMap::new(),
    };
    let owned = |(name, of): &(&str, &str)| ((*name).to_owned(), (*of).to_owned());
    let grouped = Grouped {
        asked: Asked { documents: pairs(documents), ..Asked::default() },
        by: by.iter().map(|text| (*text).to_owned()).collect(),
        aggregates: aggregates.iter().map(owned).collect(),
        having: having.map(str::to_owned),
        sort_groups,
        limit_groups: limit.map(|limit| limit as u64),
    };
    let groups = right.of(&members(documents)).ok();
    let name = format!("Groups by {by:?} with {aggregates:?}, {having:?}, {sorts:?}, {limit:?}");
    let (what, expect) = match &groups {
        Some(groups) => {
            (valid(clauses, &["GroupMeaning"]), list(groups.iter().cloned().map(Value::Object).collect()))
        }
        None => (invalid(clauses, &["GroupMeaning"]), rejected()),
    };
    maker.case(&what, name, Request::Group { grouped }, expect);
    groups
}

pub(super) fn groups(maker: &mut Maker) {
    let all = birds();
    const BY: [&[&str]; 8] = [
        &[],
        &["$.t"],
        &["$.n"],
        &["$.n[*]"],
        &["$.t", "$.n"],
        &["$.n[*]", "$.t"],
        &["type(@.n)"],
        &["$.missing"],
    ];
    for by in BY {
        group(maker, &["Q-9.3", "Q-9.5"], &all, &Of { by, ..Of::default() });
        let aggregates = [("count_distinct", "$.n"), ("min", "$.n"), ("max", "$.n")];
        group(maker, &["Q-9.4"], &all, &Of { by, aggregates: &aggregates, ..Of::default() });
    }
    group(maker, &["Q-9.5"], &all, &Of { by: &["$.t"], having: Some("@.count > 1"), ..Of::default() });
    let max = [("max", "$.t")];
    let sorts = ["value($.max[*]) desc", "$.n"];
    let of = Of { by: &["$.n"], aggregates: &max, having: Some("@.max"), sorts: &sorts, limit: None };
    group(maker, &["Q-9.5"], &all, &of);
    group(
        maker,
        &["Q-9.5"],
        &all,
        &Of { by: &["$.n"], sorts: &["$.n desc first"], limit: Some(3), ..Of::default() },
    );
    group(
        maker,
        &["Q-9.3"],
        &Documents::new(),
        &Of { aggregates: &[("sum", "$.n"), ("avg", "$.n")], ..Of::default() },
    );
    group(maker, &["Q-9.3"], &Documents::new(), &Of { by: &["$.n"], ..Of::default() });
    let same = BTreeMap::from([(
        Key::Int(1),
        document([("a", object([("n", Value::Int(1))])), ("n", Value::Int(2))]),
    )]);
    group(maker, &["Q-9.5"], &same, &Of { by: &["$.a.n", "$.n"], ..Of::default() });
    let count = BTreeMap::from([(Key::Int(1), document([("count", Value::Int(9)), ("sum", Value::Int(8))]))]);
    group(
        maker,
        &["Q-9.5"],
        &count,
        &Of { by: &["$.count", "$.sum"], aggregates: &[("sum", "$.count")], ..Of::default() },
    );
}

/// The sum, and the mean if there is one; `None` where the sum is no int.
type Sums = Option<(Value, Option<Value>)>;

/// Numbers, and what they are together: written down, and held to the model.
pub(super) fn sums(maker: &mut Maker) {
    use Value::{Float, Int};
    let cases: Vec<(Vec<Value>, Sums)> = vec![
        (vec![], Some((Int(0), None))),
        (vec![Int(1), Int(2)], Some((Int(3), Some(Float(1.5))))),
        (vec![Int(1), Float(2.0)], Some((Float(3.0), Some(Float(1.5))))),
        (vec![Float(0.1); 10], Some((Float(1.0), Some(Float(0.1))))),
        (vec![Float(1e308), Float(1.0), Float(-1e308)], Some((Float(1.0), Some(Float(1.0 / 3.0))))),
        (
            vec![Float(1e16), Float(1.0), Float(1.0)],
            Some((Float(1e16 + 2.0), Some(Float(3333333333333334.0)))),
        ),
        (vec![Float(f64::MAX), Float(f64::MAX)], Some((Float(f64::INFINITY), Some(Float(f64::MAX))))),
        (vec![Float(5e-324), Float(5e-324)], Some((Float(1e-323), Some(Float(5e-324))))),
        (vec![Float(-0.0)], Some((Float(0.0), Some(Float(0.0))))),
        (vec![Float(f64::NAN), Int(1)], Some((Float(f64::NAN), Some(Float(f64::NAN))))),
        (vec![Float(f64::INFINITY), Int(1)], Some((Float(f64::INFINITY), Some(Float(f64::INFINITY))))),
        (
            vec![Float(f64::INFINITY), Float(f64::NEG_INFINITY)],
            Some((Float(f64::NAN), Some(Float(f64::NAN)))),
        ),
        (vec![Int(i64::MAX), Int(1), Int(-1)], Some((Int(i64::MAX), Some(Float(3074457345618258602.0))))),
        (
            vec![Int((1 << 53) + 1), Float(0.0)],
            Some((Float(9_007_199_254_740_992.0), Some(Float(4_503_599_627_370_496.5)))),
        ),
        (vec![Int(i64::MAX), Int(1)], None),
        (vec![Int(i64::MIN), Int(-1)], None),
        (vec![text("1"), Value::Bool(true), Value::Null, Int(4)], Some((Int(4), Some(Float(4.0))))),
    ];
    for (numbers, expected) in cases {
        let documents = BTreeMap::from([(Key::Int(1), document([("n", Value::Array(numbers.clone()))]))]);
        let asked = [("sum", "$.n[*]"), ("avg", "$.n[*]")];
        let groups = group(maker, &["Q-9.4"], &documents, &Of { aggregates: &asked, ..Of::default() });
        let of = |name: &str, groups: &[Document]| match &groups[0][name] {
            Value::Object(fields) => fields.get("$.n[*]").cloned(),
            other => panic!("{other:?}"),
        };
        match (expected, groups) {
            (Some((sum, avg)), Some(groups)) => {
                assert_eq!((of("sum", &groups), of("avg", &groups)), (Some(sum), avg), "{numbers:?}");
            }
            (None, None) => {}
            (expected, groups) => panic!("{numbers:?}: {expected:?}, {groups:?}"),
        }
    }
}
