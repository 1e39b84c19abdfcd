//! One question for both, and what both answer.

use holotype::query::{Expression, Filter};
use holotype::{DocRef, Document, Error, Key, Sort};
use holotype_model as model;

use super::filters::Parameters;
use super::{make, parameters};
use crate::convert;
use crate::input::Input;

pub(super) type Answers = Vec<(Key, Document)>;

/// A question, as the engine is asked and as the model is.
pub(super) struct Question {
    pub(super) text: String,
    pub(super) right: model::query::Query,
    pub(super) filter: Option<Filter>,
    pub(super) sorts: Vec<Sort>,
    /// The memory of its sort or its groups, in bytes.
    pub(super) memory: usize,
}

/// So few that a run holds a document or some, and so many that all are held.
pub(super) const MEMORIES: [usize; 4] = [0, 400, 1500, 1 << 20];

impl Question {
    pub(super) fn new(input: &mut Input<'_>) -> Self {
        let parameters = parameters(input);
        let (mut right_filter, mut filter, mut text) = (None, None, String::from("all"));
        if input.below(4) > 0 {
            let asked = make::filter(input, 3);
            if let (Ok(right), Ok(parsed)) = (model::query::Filter::parse(&asked), Filter::parse(&asked)) {
                (right_filter, filter, text) = (Some(right), Some(parsed), asked);
            }
        }
        let sorts: Vec<_> = (0..input.pick(&[0, 0, 1, 1, 2, 3])).map(|_| sort(input)).collect();
        for (sort, _) in &sorts {
            text = format!("{text}, {} {} {:?}", sort.expression.text, sort.descending, sort.nothing_last);
        }
        let (right_sorts, sorts) = sorts.into_iter().unzip();
        let right = model::query::Query {
            filter: right_filter,
            sorts: right_sorts,
            parameters,
            skip: if input.below(3) == 0 { input.below(4) } else { 0 },
            limit: (input.below(3) == 0).then(|| input.below(6)),
            after: None,
        };
        let memory = input.pick(&MEMORIES);
        text = format!("{text}, {:?}, {:?}, {memory} bytes", right.skip, right.limit);
        Question { text, right, filter, sorts, memory }
    }

    /// The parameters that the question has: others may not be bound.
    pub(super) fn bound(&self) -> impl Iterator<Item = (&String, holotype::Value)> {
        let all: &Parameters = &self.right.parameters;
        let used = all.iter().filter(|(name, _)| self.text.contains(&format!("arg('{name}')")));
        used.map(|(name, value)| (name, convert::value(value)))
    }
}

/// An expression in the normal form, which both parsers take.
pub(super) fn expression(input: &mut Input<'_>, single: bool) -> String {
    loop {
        let text = match input.below(8) {
            0 => "key()".to_owned(),
            1 => {
                let function = input.pick(&["fold", "length", "type", "time"]);
                format!("{function}(@{})", make::segments(input, 0, true))
            }
            2 => format!("add(@{}, arg('x'))", make::segments(input, 0, true)),
            _ => format!("${}", make::segments(input, 1, single)),
        };
        if let Ok(parsed) = Expression::parse(&text) {
            return parsed.to_string();
        }
    }
}

fn sort(input: &mut Input<'_>) -> (model::query::Sort, Sort) {
    let text = expression(input, true);
    let descending = input.below(2) == 0;
    let nothing_last = input.pick(&[None, Some(false), Some(true)]);
    let expression = model::query::Expression::parse(&text).expect("the engine takes it");
    let mut sort = Sort::by(&text);
    if descending {
        sort = sort.descending();
    }
    sort = match nothing_last {
        None => sort,
        Some(false) => sort.nothing_first(),
        Some(true) => sort.nothing_last(),
    };
    (model::query::Sort { expression, descending, nothing_last }, sort)
}

pub(super) fn answers(found: impl Iterator<Item = holotype::Result<DocRef>>) -> Result<Answers, Error> {
    found.map(|found| found.and_then(|found| Ok((found.key().to_key(), found.to_document()?)))).collect()
}

pub(super) fn to_answers(right: &[(model::Key, model::Document)]) -> Answers {
    right.iter().map(|(key, document)| (convert::key(key), convert::document(document))).collect()
}
