//! The questions, each in both languages, and what a model says that it comes to.

use holotype::Value;

use super::data::{CATEGORIES, GROUPS, Item};
use super::questions::{
    Asked, ByField, Came, NONE, Ours, Question, by_hand, came, count, counts, documents, first, grouped, ids,
    int, keys, only, value_of,
};

const fn whole(
    row: &'static str,
    ours: Ours,
    sql: &'static str,
    right: fn(&[Item], i64) -> Came,
) -> Question {
    Question { row, asked: Asked::Whole, ours, by_hand: None, sql, by_field: None, right }
}

const fn one(row: &'static str, ours: Ours, sql: &'static str, right: fn(&[Item], i64) -> Came) -> Question {
    Question { row, asked: Asked::One, ours, by_hand: None, sql, by_field: None, right }
}

const fn beside(by_hand: Ours, question: Question) -> Question {
    Question { by_hand: Some(by_hand), ..question }
}

const fn by_field(by_field: ByField, question: Question) -> Question {
    Question { by_field: Some(by_field), ..question }
}

/// The value that the document of this number has, or would have in a larger collection: most are of none.
fn some_value(call: i64) -> i64 {
    call * 7_919 % 1_000_000
}

pub static QUESTIONS: &[Question] = &[
    whole(
        "C1: all documents",
        |c, _| documents(c.find(..)),
        "SELECT id, doc FROM bench",
        |all, _| ids(all, |_| true),
    ),
    beside(
        |c, _| by_hand(c, |document| value_of(document) < 200_000),
        by_field(
            ByField::Below("value", 200_000),
            whole(
                "C2: a filter that 20 percent pass",
                |c, _| documents(c.find("@.value < 200000")),
                "SELECT id, doc FROM bench WHERE doc ->> '$.value' < 200000",
                |all, _| ids(all, |item| item.value < 200_000),
            ),
        ),
    ),
    beside(
        |c, _| by_hand(c, |document| value_of(document) < 10_000),
        by_field(
            ByField::Below("value", 10_000),
            whole(
                "C3: a filter that 1 percent pass",
                |c, _| documents(c.find("@.value < 10000")),
                "SELECT id, doc FROM bench WHERE doc ->> '$.value' < 10000",
                |all, _| ids(all, |item| item.value < 10_000),
            ),
        ),
    ),
    whole(
        "C4: all, sorted",
        |c, _| documents(c.find(..).sort("$.value")),
        "SELECT id, doc FROM bench ORDER BY doc ->> '$.value', id",
        |all, _| ids(all, |_| true),
    ),
    whole(
        "C5: all, sorted by two fields",
        |c, _| documents(c.find(..).sort("$.category").sort("$.value")),
        "SELECT id, doc FROM bench ORDER BY doc ->> '$.category', doc ->> '$.value', id",
        |all, _| ids(all, |_| true),
    ),
    whole(
        "C6: the first 100 of a sort",
        |c, _| documents(c.find(..).sort("$.value").limit(100)),
        "SELECT id, doc FROM bench ORDER BY doc ->> '$.value', id LIMIT 100",
        |all, _| first(all, |item| (item.value, item.id)),
    ),
    whole(
        "C7: the first 100 of a sort by two fields",
        |c, _| documents(c.find(..).sort("$.category").sort("$.value").limit(100)),
        "SELECT id, doc FROM bench ORDER BY doc ->> '$.category', doc ->> '$.value', id LIMIT 100",
        |all, _| first(all, |item| (CATEGORIES[item.category], item.value, item.id)),
    ),
    one(
        "C8: the first 100",
        |c, _| documents(c.find(..).limit(100)),
        "SELECT id, doc FROM bench LIMIT 100",
        |all, _| first(all, |item| item.id),
    ),
    one(
        "C9: count",
        |c, _| count(c.find(..)),
        "SELECT COUNT(*) FROM bench",
        |all, _| Came { count: 1, sum: all.len() as i64 },
    ),
    whole(
        "C10: groups of 5, count and mean",
        |c, _| Ok(counts(&c.find(..).group_by(["$.category"]).avg("$.value").run()?)),
        "SELECT COUNT(*), AVG(doc ->> '$.value') FROM bench GROUP BY doc ->> '$.category'",
        |all, _| grouped(all, |item| item.category as i64, |_| true),
    ),
    one(
        "P1: by key",
        |c, call| Ok(came(c.get(call)?.iter().map(|found| int(&found.key().to_key())))),
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
        |c, call| documents(c.find("key() == arg('k') && @.category == 'Alpha'").bind("k", call)),
        "SELECT id, doc FROM bench WHERE id = ?1 AND doc ->> '$.category' = 'Alpha'",
        |all, call| ids(all, |item| item.id == call && item.category == 0),
    ),
    by_field(
        ByField::Int("value", some_value),
        whole(
            "P4: by a value, mostly of none",
            |c, call| documents(c.find("@.value == arg('v')").bind("v", some_value(call))),
            "SELECT id, doc FROM bench WHERE doc ->> '$.value' = ?1 * 7919 % 1000000",
            |all, call| ids(all, |item| item.value == some_value(call)),
        ),
    ),
    beside(
        |c, _| {
            by_hand(c, |document| document.get("category").and_then(|text| text.as_str()) == Some("Alpha"))
        },
        by_field(
            ByField::Text("category", |_| CATEGORIES[0].to_owned()),
            whole(
                "P5: by a category of 5",
                |c, _| documents(c.find("@.category == 'Alpha'")),
                "SELECT id, doc FROM bench WHERE doc ->> '$.category' = 'Alpha'",
                |all, _| ids(all, |item| item.category == 0),
            ),
        ),
    ),
    one(
        "P6: a key that is not there",
        |c, call| Ok(came(c.get(-call)?.iter().map(|found| int(&found.key().to_key())))),
        "SELECT id, doc FROM bench WHERE id = -?1",
        |_, _| Came::default(),
    ),
    beside(
        |c, _| {
            let all = by_hand(c, |document| (250_000..=750_000).contains(&value_of(document)))?;
            Ok(Came { count: 1, sum: all.count as i64 })
        },
        whole(
            "A5: count of a range",
            |c, _| count(c.find("between(@.value, 250000, 750000)")),
            "SELECT COUNT(*) FROM bench WHERE doc ->> '$.value' BETWEEN 250000 AND 750000",
            |all, _| Came {
                count: 1,
                sum: all.iter().filter(|item| (250_000..=750_000).contains(&item.value)).count() as i64,
            },
        ),
    ),
    whole(
        "A1: sum",
        |c, _| Ok(only(&c.find(..).group_by(NONE).sum("$.value").run()?, "sum")),
        "SELECT SUM(doc ->> '$.value') FROM bench",
        |all, _| Came { count: 1, sum: all.iter().map(|item| item.value).sum() },
    ),
    whole(
        "A3: least",
        |c, _| Ok(only(&c.find(..).group_by(NONE).min("$.value").run()?, "min")),
        "SELECT MIN(doc ->> '$.value') FROM bench",
        |all, _| came(all.iter().map(|item| item.value).min().into_iter()),
    ),
    whole(
        "A6: sum of a range",
        |c, _| {
            let range = c.find("between(@.value, 250000, 750000)");
            Ok(only(&range.group_by(NONE).sum("$.value").run()?, "sum"))
        },
        "SELECT SUM(doc ->> '$.value') FROM bench WHERE doc ->> '$.value' BETWEEN 250000 AND 750000",
        |all, _| {
            let values = all.iter().map(|item| item.value);
            Came { count: 1, sum: values.filter(|value| (250_000..=750_000).contains(value)).sum() }
        },
    ),
    whole(
        "G1: groups of 1,000, count",
        |c, _| Ok(counts(&c.find(..).group_by(["$.group"]).run()?)),
        "SELECT COUNT(*), doc ->> '$.group' FROM bench GROUP BY 2",
        |all, _| grouped(all, |item| item.group, |_| true),
    ),
    whole(
        "G2: groups of 1,000, count, sum and mean",
        |c, _| Ok(counts(&c.find(..).group_by(["$.group"]).sum("$.value").avg("$.value").run()?)),
        "SELECT COUNT(*), doc ->> '$.group', SUM(doc ->> '$.value'), AVG(doc ->> '$.value') FROM bench GROUP BY 2",
        |all, _| grouped(all, |item| item.group, |_| true),
    ),
    whole(
        "G3: groups of a range",
        |c, _| Ok(counts(&c.find("between(@.group, 250, 749)").group_by(["$.group"]).run()?)),
        "SELECT COUNT(*), doc ->> '$.group' FROM bench WHERE doc ->> '$.group' BETWEEN 250 AND 749 GROUP BY 2",
        |all, _| grouped(all, |item| item.group, |item| (250..=749).contains(&item.group)),
    ),
    whole(
        "G5: one group, having",
        |c, _| Ok(counts(&c.find("@.group == 250").group_by(["$.group"]).having("@.count >= 1").run()?)),
        "SELECT COUNT(*), doc ->> '$.group' FROM bench WHERE doc ->> '$.group' = 250 GROUP BY 2 HAVING COUNT(*) >= 1",
        |all, _| grouped(all, |item| item.group, |item| item.group == 250),
    ),
    whole(
        "D1: distinct values",
        |c, _| Ok(came(c.find(..).distinct("$.value")?.iter().filter_map(Value::as_i64))),
        "SELECT DISTINCT doc ->> '$.value' FROM bench ORDER BY 1",
        |all, _| {
            came(all.iter().map(|item| item.value).collect::<std::collections::BTreeSet<_>>().into_iter())
        },
    ),
    whole(
        "D3: count of distinct groups",
        |c, _| {
            let groups = c.find(..).group_by(NONE).count_distinct("$.group").run()?;
            let count = groups[0].get("count_distinct").and_then(|all| all.get("$.group")?.as_i64());
            Ok(came(count.into_iter()))
        },
        "SELECT COUNT(DISTINCT doc ->> '$.group') FROM bench",
        |all, _| Came { count: 1, sum: (all.len() as i64).min(GROUPS) },
    ),
    whole(
        "S1: a range and a category",
        |c, _| documents(c.find("between(@.value, 250000, 750000) && @.category == 'Beta'")),
        "SELECT id, doc FROM bench WHERE doc ->> '$.value' BETWEEN 250000 AND 750000 AND doc ->> '$.category' = 'Beta'",
        |all, _| ids(all, |item| (250_000..=750_000).contains(&item.value) && item.category == 1),
    ),
    whole(
        "S2: one of a list",
        |c, _| documents(c.find("in(@.group, 1, 50, 99, 500, 999)")),
        "SELECT id, doc FROM bench WHERE doc ->> '$.group' IN (1, 50, 99, 500, 999)",
        |all, _| ids(all, |item| [1, 50, 99, 500, 999].contains(&item.group)),
    ),
    whole(
        "S3: a text within a text",
        |c, _| documents(c.find("contains(@.name, '77')")),
        "SELECT id, doc FROM bench WHERE instr(doc ->> '$.name', '77') > 0",
        |all, _| ids(all, |item| item.id.to_string().contains("77")),
    ),
    by_field(
        ByField::Range("value", 250_000, 750_000),
        whole(
            "O8: a range, keys only",
            |c, _| keys(c.find("between(@.value, 250000, 750000)")),
            "SELECT id FROM bench WHERE doc ->> '$.value' BETWEEN 250000 AND 750000",
            |all, _| ids(all, |item| (250_000..=750_000).contains(&item.value)),
        ),
    ),
    by_field(
        ByField::Text("name", |call| format!("User {call}")),
        whole(
            "V1: by a text of its own",
            |c, call| documents(c.find("@.name == arg('n')").bind("n", format!("User {call}"))),
            "SELECT id, doc FROM bench WHERE doc ->> '$.name' = 'User ' || ?1",
            |all, call| ids(all, |item| item.id == call),
        ),
    ),
];

const fn field(row: &'static str, ours: Ours, sql: &'static str) -> Question {
    one(row, ours, sql, |_, _| Came { count: 1, sum: 1 })
}

/// Of one document of many fields.
pub static FIELDS: &[Question] = &[
    field(
        "F1: an early field",
        |c, _| count(c.find("@.f001 == 1")),
        "SELECT COUNT(*) FROM wide WHERE doc ->> '$.f001' = 1",
    ),
    field(
        "F2: a field in the middle",
        |c, _| count(c.find("@.f100 == 100")),
        "SELECT COUNT(*) FROM wide WHERE doc ->> '$.f100' = 100",
    ),
    field(
        "F3: a late field",
        |c, _| count(c.find("@.f199 == 199")),
        "SELECT COUNT(*) FROM wide WHERE doc ->> '$.f199' = 199",
    ),
    field(
        "F4: a field that is not there",
        |c, _| count(c.find("!@.none")),
        "SELECT COUNT(*) FROM wide WHERE doc ->> '$.none' IS NULL",
    ),
    field(
        "F5: a nested field",
        |c, _| count(c.find("@.nest.deep.n == 7")),
        "SELECT COUNT(*) FROM wide WHERE doc ->> '$.nest.deep.n' = 7",
    ),
    field(
        "F6: a late text",
        |c, _| count(c.find("@.late == 'a text at the end'")),
        "SELECT COUNT(*) FROM wide WHERE doc ->> '$.late' = 'a text at the end'",
    ),
];
