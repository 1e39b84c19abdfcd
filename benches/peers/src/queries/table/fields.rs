//! Of one document of many fields.

use crate::queries::questions::{Came, Ours, Question, count, find, one};

const fn field(row: &'static str, ours: Ours, sql: &'static str) -> Question {
    one(row, ours, sql, |_, _| Came { count: 1, sum: 1 })
}

pub static QUESTIONS: &[Question] = &[
    field(
        "F1: an early field",
        |c, _| count(find(c, "@.f001 == 1")),
        "SELECT COUNT(*) FROM bench WHERE doc ->> '$.f001' = 1",
    ),
    field(
        "F2: a field in the middle",
        |c, _| count(find(c, "@.f100 == 100")),
        "SELECT COUNT(*) FROM bench WHERE doc ->> '$.f100' = 100",
    ),
    field(
        "F3: a late field",
        |c, _| count(find(c, "@.f199 == 199")),
        "SELECT COUNT(*) FROM bench WHERE doc ->> '$.f199' = 199",
    ),
    field(
        "F4: a field that is not there",
        |c, _| count(find(c, "!@.none")),
        "SELECT COUNT(*) FROM bench WHERE doc ->> '$.none' IS NULL",
    ),
    field(
        "F5: a nested field",
        |c, _| count(find(c, "@.nest.deep.n == 7")),
        "SELECT COUNT(*) FROM bench WHERE doc ->> '$.nest.deep.n' = 7",
    ),
    field(
        "F6: a late text",
        |c, _| count(find(c, "@.late == 'a text at the end'")),
        "SELECT COUNT(*) FROM bench WHERE doc ->> '$.late' = 'a text at the end'",
    ),
];
