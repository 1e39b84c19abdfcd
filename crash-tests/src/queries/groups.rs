//! Groups, distinct values and sums.

use holotype::{Db, Document, Error, Sort};
use holotype_model as model;

use super::question::expression;
use super::store::WithScratch;
use super::{MEMORIES, Seen, documents, make};
use crate::convert;
use crate::input::Input;
use crate::story::ensure;

/// Groups of the documents of a collection, and sums of numbers of every size.
///
/// # Errors
/// How engine and model do not agree.
pub fn groups(bytes: &[u8]) -> Result<Seen, String> {
    let mut input = Input::new(bytes);
    let mut seen = Seen::one();
    sums(&mut input)?;
    let parse = |text: &str| model::query::Expression::parse(text);
    let expressions = |input: &mut Input<'_>, most: usize| -> Vec<String> {
        let texts = (0..input.below(most)).map(|_| expression(input, false));
        texts.filter(|text| !text.contains("arg(")).collect()
    };
    let by = expressions(&mut input, 3);
    let mut right = model::query::Groups {
        by: by.iter().map(|text| parse(text)).collect::<Result<_, _>>()?,
        ..Default::default()
    };
    for text in expressions(&mut input, 4) {
        let name = input.pick(&["count_distinct", "sum", "sum", "min", "max", "avg"]).to_owned();
        right.aggregates.push(model::query::Aggregate { name, expression: parse(&text)? });
    }
    let having = input.pick(&["@.count > 1", "@.a", "@.sum[?@ > 0]", "@.max[*] && @.count != 2"]);
    let having = Some(having).filter(|_| input.below(3) == 0);
    right.having = having.map(model::query::Filter::parse).transpose()?;
    let sort = input.pick(&["$.count", "$.a", "$['$.a']", "value($.sum[*])"]);
    let sort = Some(sort).filter(|_| input.below(3) == 0);
    if let Some(by) = sort {
        let expression = parse(by)?;
        right.sorts.push(model::query::Sort { expression, descending: true, nothing_last: None });
        right.limit = Some(input.below(4));
    }
    let documents = documents(&mut input);
    let file = WithScratch::default();
    let birds = file.open()?.collection("birds");
    let pairs = documents.iter().map(|(key, document)| (convert::key(key), convert::document(document)));
    birds.put_many(pairs).map_err(|error| error.to_string())?;
    if documents.is_empty() {
        return Ok(seen);
    }
    let memory = input.pick(&MEMORIES);
    let mut query = birds.find(..).sort_memory(memory).group_by(&by);
    for aggregate in &right.aggregates {
        let of = &aggregate.expression.text;
        query = match aggregate.name.as_str() {
            "count_distinct" => query.count_distinct(of),
            "sum" => query.sum(of),
            "min" => query.min(of),
            "max" => query.max(of),
            _ => query.avg(of),
        };
    }
    if let Some(having) = having {
        query = query.having(having);
    }
    if let (Some(by), Some(limit)) = (sort, right.limit) {
        query = query.sort(Sort::by(by).descending()).limit(limit as u64);
    }
    let members: Vec<_> = documents.into_iter().collect();
    match (right.of(&members), query.run()) {
        (Ok(expected), Ok(found)) => {
            let expected: Vec<Document> = expected.iter().map(convert::document).collect();
            seen.groups += found.len() as u64;
            ensure(found == expected, || {
                format!(
                    "{right:?} of {members:?} in {memory} bytes: {found:?}, and the model has {expected:?}"
                )
            })?;
        }
        (Err(_), Err(Error::SumOverflow { .. })) => seen.overflows += 1,
        (expected, found) => {
            return Err(format!(
                "{right:?} of {members:?} in {memory} bytes: {found:?}, and the model has {expected:?}"
            ));
        }
    }
    seen.spilled = file.asked();
    Ok(seen)
}

/// Sums of numbers of every size: no order of adding may show.
fn sums(input: &mut Input<'_>) -> Result<(), String> {
    let mut numbers: Vec<model::Value> = (0..=input.below(12)).map(|_| make::number(input)).collect();
    if input.below(2) == 0 {
        // What is added and taken away again leaves the small ones.
        let negated = numbers.iter().skip(1).filter_map(|number| match number {
            model::Value::Float(float) => Some(model::Value::Float(-float)),
            _ => None,
        });
        numbers.extend(negated.collect::<Vec<_>>());
    }
    let document = model::Document::from([("n".to_owned(), model::Value::Array(numbers))]);
    let birds = Db::in_memory().collection("birds");
    birds.put(1, convert::document(&document)).map_err(|error| error.to_string())?;
    let expression = model::query::Expression::parse("$.n[*]")?;
    let aggregate =
        |name: &str| model::query::Aggregate { name: name.to_owned(), expression: expression.clone() };
    let aggregates = vec![aggregate("sum"), aggregate("avg")];
    let right = model::query::Groups { aggregates, ..Default::default() };
    let members = [(model::Key::Int(1), document)];
    let found = birds.find(..).group_by(Vec::<&str>::new()).sum("$.n[*]").avg("$.n[*]").run();
    match (right.of(&members), found) {
        (Ok(expected), Ok(found)) if found == [convert::document(&expected[0])] => Ok(()),
        (Err(_), Err(Error::SumOverflow { .. })) => Ok(()),
        (expected, found) => Err(format!("{members:?}: {found:?}, and the model has {expected:?}")),
    }
}
