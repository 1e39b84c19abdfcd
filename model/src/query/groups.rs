//! Groups.

use std::cmp::Ordering;

use super::distinct::{Parameters, first_of_each_place};
use super::exact::Exact;
use super::{Expression, Filter, Sort};
use crate::key::Key;
use crate::value::{Document, Value};

/// What is computed of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// `count_distinct`, `sum`, `min`, `max` or `avg`.
    pub name: String,
    /// Of what.
    pub expression: Expression,
}

/// A question for groups.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Groups {
    /// What a group has in common.
    pub by: Vec<Expression>,
    /// What is computed beside the count.
    pub aggregates: Vec<Aggregate>,
    /// Which groups.
    pub having: Option<Filter>,
    /// In which order.
    pub sorts: Vec<Sort>,
    /// How many at most.
    pub limit: Option<usize>,
    /// The bound parameters.
    pub parameters: Parameters,
}

/// A sum of ints that is no int.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SumOverflow;

type Commons = Vec<Option<Value>>;

fn compare(a: &Commons, b: &Commons) -> Ordering {
    let ascending = |a: &Option<Value>, b: &Option<Value>| match (a, b) {
        (Some(a), Some(b)) => a.order_cmp(b),
        _ => a.is_some().cmp(&b.is_some()),
    };
    a.iter().zip(b).map(|(a, b)| ascending(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

impl Groups {
    //= spec/query.md#q-9-3-groups
    //# A document MUST be in the groups of every combination of what the expressions give of it, once in
    //# each.
    fn commons(&self, key: &Key, document: &Document) -> Vec<Commons> {
        self.by.iter().fold(vec![Vec::new()], |commons, expression| {
            let given = first_of_each_place(expression.values(Some(key), document, &self.parameters));
            let given: Vec<Option<Value>> =
                if given.is_empty() { vec![None] } else { given.into_iter().map(Some).collect() };
            let with = |common: Commons, value: &Option<Value>| [common, vec![value.clone()]].concat();
            commons.iter().flat_map(|common| given.iter().map(|value| with(common.clone(), value))).collect()
        })
    }

    //= spec/query.md#q-9-3-groups
    //# Groups MUST come in the order of what the first expression gives, then the second, and so on, with
    //# nothing before every value.
    //= spec/query.md#q-9-5-groups-as-documents
    //# A filter over groups and sorts over groups MUST be of these documents.
    /// The groups of documents, which are in the order of keys.
    ///
    /// # Errors
    /// Where a sum is beyond the ints.
    pub fn of(&self, documents: &[(Key, Document)]) -> Result<Vec<Document>, SumOverflow> {
        let mut groups: Vec<(Commons, Vec<(Key, Document)>)> = Vec::new();
        if self.by.is_empty() {
            groups.push((Vec::new(), Vec::new()));
        }
        for (key, document) in documents {
            for common in self.commons(key, document) {
                let member = (key.clone(), document.clone());
                match groups.iter_mut().find(|(known, _)| compare(known, &common).is_eq()) {
                    Some((_, members)) => members.push(member),
                    None => groups.push((common, vec![member])),
                }
            }
        }
        groups.sort_by(|(a, _), (b, _)| compare(a, b));
        let mut found = groups
            .iter()
            .map(|(common, members)| self.document(common, members))
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(having) = &self.having {
            found.retain(|group| having.admits(None, group, &self.parameters));
        }
        found.sort_by(|a, b| {
            let value = |sort: &Sort, group| sort.expression.values(None, group, &self.parameters).pop();
            let orders = self.sorts.iter().map(|sort| sort.order(&value(sort, a), &value(sort, b)));
            orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        });
        found.truncate(self.limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    /// spec.
    fn name(&self, of: &Expression) -> String {
        let aggregates = ["count", "count_distinct", "sum", "min", "max", "avg"];
        match of.last_name() {
            Some(name)
                if !aggregates.contains(&name.as_str())
                    && self.by.iter().filter(|other| other.last_name().as_ref() == Some(&name)).count()
                        == 1 =>
            {
                name
            }
            _ => of.text.clone(),
        }
    }

    fn document(&self, common: &Commons, members: &[(Key, Document)]) -> Result<Document, SumOverflow> {
        let mut group = Document::new();
        for (expression, value) in self.by.iter().zip(common) {
            if let Some(value) = value {
                group.insert(self.name(expression), value.clone());
            }
        }
        group.insert("count".to_owned(), Value::Int(members.len() as i64));
        for Aggregate { name, expression } in &self.aggregates {
            let values: Vec<Value> = members
                .iter()
                .flat_map(|(key, document)| expression.values(Some(key), document, &self.parameters))
                .collect();
            let mut places = first_of_each_place(values.clone());
            places.sort_by(Value::order_cmp);
            let result = match name.as_str() {
                "count_distinct" => Some(Value::Int(places.len() as i64)),
                "min" => places.first().cloned(),
                "max" => places.last().cloned(),
                "sum" => Some(Exact::of(&values).sum().ok_or(SumOverflow)?),
                _ => Exact::of(&values).mean(),
            };
            let under = group.entry(name.clone()).or_insert_with(|| Value::Object(Document::new()));
            if let (Value::Object(fields), Some(result)) = (under, result) {
                fields.insert(expression.text.clone(), result);
            }
        }
        Ok(group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &[Value]) -> Option<Value> {
        Exact::of(values).sum()
    }

    //= spec/query.md#q-9-4-aggregates
    //= type=test
    //# Otherwise `sum`, and always `avg`, MUST be the float that is nearest to the exact result, rounded
    //# once, half to even. The exact sum of no numbers is 0, and 0 as a float is 0.0.
    #[test]
    fn a_sum_is_rounded_once() {
        let floats = |floats: &[f64]| floats.iter().copied().map(Value::Float).collect::<Vec<_>>();
        assert_eq!(sum(&floats(&[1e308, 1.0, -1e308])), Some(Value::Float(1.0)));
        assert_eq!(sum(&floats(&[1e16, 1.0, 1.0])), Some(Value::Float(1e16 + 2.0)));
        assert_eq!(sum(&floats(&[f64::MAX, f64::MAX])), Some(Value::Float(f64::INFINITY)));
        assert_eq!(sum(&floats(&[5e-324, 5e-324])), Some(Value::Float(1e-323)));
        assert_eq!(sum(&floats(&[0.1; 10])), Some(Value::Float(1.0)));
        assert_eq!(sum(&floats(&[-0.0])), Some(Value::Float(0.0)));
        assert_eq!(Exact::of(&floats(&[1.0, 2.0])).mean(), Some(Value::Float(1.5)));
        assert_eq!(
            Exact::of(&[Value::Int(1), Value::Int(1), Value::Int(2)]).mean(),
            Some(Value::Float(4.0 / 3.0))
        );
    }

    //= spec/query.md#q-9-4-aggregates
    //= type=test
    //# If every number is an int, `sum` is an int. A sum beyond the ints of V-1.2 MUST be refused, as
    //# `SumOverflow`.
    #[test]
    fn a_sum_of_ints_is_exact_or_none() {
        let ints = |ints: &[i64]| ints.iter().copied().map(Value::Int).collect::<Vec<_>>();
        assert_eq!(sum(&ints(&[i64::MAX, 1, -1])), Some(Value::Int(i64::MAX)));
        assert_eq!(sum(&ints(&[i64::MAX, 1])), None);
        assert_eq!(sum(&ints(&[i64::MIN])), Some(Value::Int(i64::MIN)));
        assert_eq!(sum(&ints(&[])), Some(Value::Int(0)));
    }
}
