//! Which documents there are.

use super::MIDDLE;
use crate::queries::data::{CATEGORIES, PAIRS};
use crate::queries::questions::{
    ByField, Question, any, by_hand, came, documents, few, find, first, id, ids, int_at, keys, one, parts,
    text_at, value_of, whole,
};
use holotype::Hint;

/// The value that the document of this number has, or would have in a larger collection: most are of none.
fn some_value(call: i64) -> i64 {
    call * 7_919 % 1_000_000
}

/// A pair that one document has.
fn pair(call: i64) -> (i64, i64) {
    (call % PAIRS, call / PAIRS % PAIRS)
}

const BY_PAIR: &str = "@.a == arg('a') && @.b == arg('b')";

pub static QUESTIONS: &[Question] = &[
    whole(
        "C1: all documents",
        |c, _| documents(c.find(..)),
        "SELECT id, doc FROM bench",
        |all, _| ids(all, |_| true),
    )
    .beside(|all, _| by_hand(all, |_| true)),
    whole(
        "C2: a filter that 20 percent pass",
        |c, _| documents(any(c, "@.value < 200000")),
        "SELECT id, doc FROM bench WHERE doc ->> '$.value' < 200000",
        |all, _| ids(all, |item| item.value < 200_000),
    )
    .beside(|all, _| by_hand(all, |document| value_of(document) < 200_000))
    .by_field(ByField::Range("value", 0, 199_999)),
    whole(
        "C3: a filter that 1 percent pass",
        |c, _| documents(any(c, "@.value < 10000")),
        "SELECT id, doc FROM bench WHERE doc ->> '$.value' < 10000",
        |all, _| ids(all, |item| item.value < 10_000),
    )
    .beside(|all, _| by_hand(all, |document| value_of(document) < 10_000))
    .by_field(ByField::Range("value", 0, 9_999)),
    one(
        "C8: the first 100",
        |c, _| documents(c.find(..).limit(100)),
        "SELECT id, doc FROM bench LIMIT 100",
        |all, _| first(all, |item| item.id),
    ),
    one(
        "P1: by key",
        |c, call| Ok(came(c.get(call)?.iter().map(id))),
        "SELECT id, doc FROM bench WHERE id = ?1",
        |all, call| ids(all, |item| item.id == call),
    ),
    one(
        "P2: by key, one field",
        |c, call| Ok(came(c.get(call)?.iter().filter_map(|found| found.get("value")?.as_i64()))),
        "SELECT doc ->> '$.value' FROM bench WHERE id = ?1",
        |all, call| came(all.iter().filter(|item| item.id == call).map(|item| item.value)),
    ),
    one(
        "P3: by key, and a filter",
        |c, call| documents(find(c, "key() == arg('k') && @.category == 'Alpha'").bind("k", call)),
        "SELECT id, doc FROM bench WHERE id = ?1 AND doc ->> '$.category' = 'Alpha'",
        |all, call| ids(all, |item| item.id == call && item.category == 0),
    ),
    few(
        "P4: by a value, mostly of none",
        |c, call| documents(find(c, "@.value == arg('v')").bind("v", some_value(call))),
        "SELECT id, doc FROM bench WHERE doc ->> '$.value' = ?1 * 7919 % 1000000",
        |all, call| ids(all, |item| item.value == some_value(call)),
    )
    .beside(|all, call| by_hand(all, |document| value_of(document) == some_value(call)))
    .by_field(ByField::Int("value", some_value)),
    whole(
        "P5: by a category of 5",
        |c, _| documents(any(c, "@.category == 'Alpha'")),
        "SELECT id, doc FROM bench WHERE doc ->> '$.category' = 'Alpha'",
        |all, _| ids(all, |item| item.category == 0),
    )
    .beside(|all, _| by_hand(all, |document| text_at(document, "category") == CATEGORIES[0]))
    .by_field(ByField::Text("category", |_| CATEGORIES[0].to_owned())),
    one(
        "P6: a key that is not there",
        |c, call| Ok(came(c.get(-call)?.iter().map(id))),
        "SELECT id, doc FROM bench WHERE id = -?1",
        |_, _| came(std::iter::empty()),
    ),
    whole(
        "O7: a range",
        |c, _| documents(any(c, "between(@.value, 250000, 750000)")),
        "SELECT id, doc FROM bench WHERE doc ->> '$.value' BETWEEN 250000 AND 750000",
        |all, _| ids(all, |item| MIDDLE.contains(&item.value)),
    )
    .beside(|all, _| by_hand(all, |document| MIDDLE.contains(&value_of(document)))),
    whole(
        "O8: a range, keys only",
        |c, _| keys(any(c, "between(@.value, 250000, 750000)")),
        "SELECT id FROM bench WHERE doc ->> '$.value' BETWEEN 250000 AND 750000",
        |all, _| ids(all, |item| MIDDLE.contains(&item.value)),
    )
    .by_field(ByField::Range("value", 250_000, 750_000)),
    whole(
        "O9: a range, two fields",
        |c, _| parts(any(c, "between(@.value, 250000, 750000)"), ["$.value", "$.category"], "value"),
        "SELECT doc ->> '$.value', doc ->> '$.category' FROM bench WHERE doc ->> '$.value' BETWEEN 250000 AND 750000",
        |all, _| came(all.iter().map(|item| item.value).filter(|value| MIDDLE.contains(value))),
    ),
    whole(
        "O10: a range that has a category",
        |c, _| documents(any(c, "between(@.value, 250000, 750000) && @.category != null")),
        "SELECT id, doc FROM bench WHERE doc ->> '$.value' BETWEEN 250000 AND 750000 AND doc ->> '$.category' IS NOT NULL",
        |all, _| ids(all, |item| MIDDLE.contains(&item.value)),
    ),
    whole(
        "O11: a range, and what is worked out of a field",
        |c, _| {
            let found = any(c, "between(@.value, 250000, 750000)").run()?;
            let mut all = Vec::new();
            for document in found {
                all.extend(document?.get("value").and_then(|value| value.as_i64()).map(|value| value * 2 + 1));
            }
            Ok(came(all.into_iter()))
        },
        "SELECT (doc ->> '$.value') * 2 + 1, id FROM bench WHERE doc ->> '$.value' BETWEEN 250000 AND 750000",
        |all, _| {
            let values = all.iter().map(|item| item.value).filter(|value| MIDDLE.contains(value));
            came(values.map(|value| value * 2 + 1))
        },
    ),
    whole(
        "S1: a range and a category",
        |c, _| documents(any(c, "between(@.value, 250000, 750000) && @.category == 'Beta'")),
        "SELECT id, doc FROM bench WHERE doc ->> '$.value' BETWEEN 250000 AND 750000 AND doc ->> '$.category' = 'Beta'",
        |all, _| ids(all, |item| MIDDLE.contains(&item.value) && item.category == 1),
    )
    .beside(|all, _| {
        by_hand(all, |document| {
            MIDDLE.contains(&value_of(document)) && text_at(document, "category") == CATEGORIES[1]
        })
    }),
    few(
        "S2: one of a list",
        |c, _| documents(any(c, "in(@.group, 1, 50, 99, 500, 999)")),
        "SELECT id, doc FROM bench WHERE doc ->> '$.group' IN (1, 50, 99, 500, 999)",
        |all, _| ids(all, |item| [1, 50, 99, 500, 999].contains(&item.group)),
    )
    .beside(|all, _| by_hand(all, |document| [1, 50, 99, 500, 999].contains(&int_at(document, "group")))),
    whole(
        "S3: a text within a text",
        |c, _| documents(any(c, "contains(@.name, '77')")),
        "SELECT id, doc FROM bench WHERE instr(doc ->> '$.name', '77') > 0",
        |all, _| ids(all, |item| item.id.to_string().contains("77")),
    )
    .beside(|all, _| by_hand(all, |document| text_at(document, "name").contains("77"))),
    few(
        "K1, K3: by two fields",
        |c, call| documents(find(c, BY_PAIR).bind("a", pair(call).0).bind("b", pair(call).1)),
        "SELECT id, doc FROM bench WHERE doc ->> '$.a' = ?1 % 500 AND doc ->> '$.b' = ?1 / 500 % 500",
        |all, call| ids(all, |item| (item.a, item.b) == pair(call)),
    )
    .beside(|all, call| by_hand(all, |document| (int_at(document, "a"), int_at(document, "b")) == pair(call))),
    few(
        "K2: ... by an index on the first",
        |c, call| {
            let (a, b) = pair(call);
            documents(find(c, BY_PAIR).bind("a", a).bind("b", b).hint(Hint::Index("a".to_owned())))
        },
        "SELECT id, doc FROM bench INDEXED BY a WHERE doc ->> '$.a' = ?1 % 500 AND doc ->> '$.b' = ?1 / 500 % 500",
        |all, call| ids(all, |item| (item.a, item.b) == pair(call)),
    )
    .by_index(),
    few(
        "K4: ... by an index on both, keys only",
        |c, call| {
            let (a, b) = pair(call);
            keys(find(c, BY_PAIR).bind("a", a).bind("b", b).hint(Hint::Index("ab".to_owned())))
        },
        "SELECT id FROM bench INDEXED BY ab WHERE doc ->> '$.a' = ?1 % 500 AND doc ->> '$.b' = ?1 / 500 % 500",
        |all, call| ids(all, |item| (item.a, item.b) == pair(call)),
    )
    .by_index(),
    few(
        "K5: ... by a unique index on both, keys only",
        |c, call| {
            let (a, b) = pair(call);
            keys(find(c, BY_PAIR).bind("a", a).bind("b", b).hint(Hint::Index("ab_unique".to_owned())))
        },
        "SELECT id FROM bench INDEXED BY ab_unique WHERE doc ->> '$.a' = ?1 % 500 AND doc ->> '$.b' = ?1 / 500 % 500",
        |all, call| ids(all, |item| (item.a, item.b) == pair(call)),
    )
    .by_index(),
];
