//! Counts, sums and ends of all documents or of a range.

use super::MIDDLE;
use crate::queries::questions::{Came, NONE, Question, added, came, count, few, find, of, one, only, whole};

pub static QUESTIONS: &[Question] = &[
    one(
        "C9: count",
        |c, _| count(c.find(..)),
        "SELECT COUNT(*) FROM bench",
        |all, _| Came { count: 1, sum: all.len() as i64 },
    ),
    whole(
        "A1: sum",
        |c, _| Ok(only(&c.find(..).group_by(NONE).sum(of("$.value")).run()?, "sum", "$.value")),
        "SELECT SUM(doc ->> '$.value') FROM bench",
        |all, _| Came { count: 1, sum: all.iter().map(|item| item.value).sum() },
    )
    .beside(|all, _| added(all, |value| value)),
    whole(
        "A2: count of those that have a field",
        |c, _| count(find(c, "@.value")),
        "SELECT COUNT(doc ->> '$.value') FROM bench",
        |all, _| Came { count: 1, sum: all.len() as i64 },
    )
    .beside(|all, _| added(all, |value| i64::from(value >= 0))),
    few(
        "A3: least",
        |c, _| Ok(only(&c.find(..).group_by(NONE).min(of("$.value")).run()?, "min", "$.value")),
        "SELECT MIN(doc ->> '$.value') FROM bench",
        |all, _| came(all.iter().map(|item| item.value).min().into_iter()),
    ),
    few(
        "A4: greatest",
        |c, _| Ok(only(&c.find(..).group_by(NONE).max(of("$.value")).run()?, "max", "$.value")),
        "SELECT MAX(doc ->> '$.value') FROM bench",
        |all, _| came(all.iter().map(|item| item.value).max().into_iter()),
    ),
    whole(
        "A5: count of a range",
        |c, _| count(find(c, "between(@.value, 250000, 750000)")),
        "SELECT COUNT(*) FROM bench WHERE doc ->> '$.value' BETWEEN 250000 AND 750000",
        |all, _| Came {
            count: 1,
            sum: all.iter().filter(|item| MIDDLE.contains(&item.value)).count() as i64,
        },
    )
    .beside(|all, _| added(all, |value| i64::from(MIDDLE.contains(&value)))),
    whole(
        "A6: sum of a range",
        |c, _| {
            let range = find(c, "between(@.value, 250000, 750000)");
            Ok(only(&range.group_by(NONE).sum(of("$.value")).run()?, "sum", "$.value"))
        },
        "SELECT SUM(doc ->> '$.value') FROM bench WHERE doc ->> '$.value' BETWEEN 250000 AND 750000",
        |all, _| {
            let values = all.iter().map(|item| item.value);
            Came { count: 1, sum: values.filter(|value| MIDDLE.contains(value)).sum() }
        },
    )
    .beside(|all, _| added(all, |value| if MIDDLE.contains(&value) { value } else { 0 })),
];
