//! By ints, texts, parts of objects and items of arrays: by the index itself, and by a filter. Documents are decoded.

use crate::queries::data::{self, Item, day, guid, text};
use crate::queries::questions::{
    ByField, Came, Question, by_hand, each_decoded, few, find, ids, int_at, keys, one, whole,
};

/// How many documents the range of ints admits, and that of texts and that of days.
const INTS: i64 = 1_024;
const TEXTS: i64 = 1_000;

fn is_of_alpha(all: &[Item], _: i64) -> Came {
    ids(all, |item| data::CATEGORIES[item.category] == "Alpha")
}

fn is_called(all: &[Item], call: i64) -> Came {
    ids(all, |item| item.id == call)
}

pub static QUESTIONS: &[Question] = &[
    one(
        "I1, M3: by an int",
        |c, call| each_decoded(c.index("n").get(call)?.documents()),
        "SELECT id, doc FROM bench WHERE doc ->> '$.n' = ?1",
        is_called,
    )
    .decoded()
    .by_index(),
    one(
        "I2: by a text",
        |c, call| each_decoded(c.index("text").get(text(call))?.documents()),
        "SELECT id, doc FROM bench WHERE doc ->> '$.text' = ?2",
        is_called,
    )
    .with_texts(|call| vec![text(call)])
    .decoded()
    .by_index(),
    whole(
        "I3: by a part of an object, a fifth of all",
        |c, _| each_decoded(c.index("city").get("Alpha")?.documents()),
        "SELECT id, doc FROM bench WHERE doc ->> '$.address.city' = 'Alpha'",
        is_of_alpha,
    )
    .decoded()
    .by_index(),
    whole(
        "I4: by an item of an array, a fifth of all",
        |c, _| each_decoded(c.index("tags").get("Alpha")?.documents()),
        "SELECT id, doc FROM tags JOIN bench USING (id) WHERE tag = 'Alpha'",
        is_of_alpha,
    )
    .decoded()
    .by_index(),
    whole(
        "I5: by a part of an item of an array, a fifth of all",
        |c, _| each_decoded(c.index("sku").get("Alpha")?.documents()),
        "SELECT id, doc FROM skus JOIN bench USING (id) WHERE sku = 'Alpha'",
        is_of_alpha,
    )
    .decoded()
    .by_index(),
    whole(
        "I6: a range of 1,024 ints",
        |c, call| each_decoded(c.index("n").range(call..call + INTS)?.documents()),
        "SELECT id, doc FROM bench WHERE doc ->> '$.n' >= ?1 AND doc ->> '$.n' < ?1 + 1024",
        |all, call| ids(all, |item| (call..call + INTS).contains(&item.id)),
    )
    .decoded()
    .by_index(),
    whole(
        "I7: a range of 1,000 texts",
        |c, call| each_decoded(c.index("text").range(text(call)..text(call + TEXTS))?.documents()),
        "SELECT id, doc FROM bench WHERE doc ->> '$.text' >= ?2 AND doc ->> '$.text' < ?3",
        |all, call| ids(all, |item| (call..call + TEXTS).contains(&item.id)),
    )
    .with_texts(|call| vec![text(call), text(call + TEXTS)])
    .decoded()
    .by_index(),
    one(
        "I8: by a UUID",
        |c, call| each_decoded(c.index("guid").get(guid(call))?.documents()),
        "SELECT id, doc FROM bench WHERE doc ->> '$.guid' = ?2",
        is_called,
    )
    .with_texts(|call| vec![guid(call)])
    .decoded()
    .by_index(),
    whole(
        "I9: a range of 1,000 days",
        |c, call| each_decoded(c.index("day").range(day(call)..day(call + TEXTS))?.documents()),
        "SELECT id, doc FROM bench WHERE doc ->> '$.day' >= ?2 AND doc ->> '$.day' < ?3",
        |all, call| ids(all, |item| (call..call + TEXTS).contains(&item.id)),
    )
    .with_texts(|call| vec![day(call), day(call + TEXTS)])
    .decoded()
    .by_index(),
    few(
        "I10: as I8, by a filter",
        |c, call| each_decoded(find(c, "@.guid == arg('g')").bind("g", guid(call)).run()?),
        "SELECT id, doc FROM bench WHERE doc ->> '$.guid' = ?2",
        is_called,
    )
    .with_texts(|call| vec![guid(call)])
    .decoded(),
    whole(
        "I11: as I9, by a filter",
        |c, call| {
            let range = find(c, "@.day >= arg('from') && @.day < arg('to')");
            each_decoded(range.bind("from", day(call)).bind("to", day(call + TEXTS)).run()?)
        },
        "SELECT id, doc FROM bench WHERE doc ->> '$.day' >= ?2 AND doc ->> '$.day' < ?3",
        |all, call| ids(all, |item| (call..call + TEXTS).contains(&item.id)),
    )
    .with_texts(|call| vec![day(call), day(call + TEXTS)])
    .decoded(),
    few(
        "I15: as I1, by a filter",
        |c, call| each_decoded(find(c, "@.n == arg('n')").bind("n", call).run()?),
        "SELECT id, doc FROM bench WHERE doc ->> '$.n' = ?1",
        is_called,
    )
    .decoded(),
    few(
        "I16: as I2, by a filter",
        |c, call| each_decoded(find(c, "@.text == arg('t')").bind("t", text(call)).run()?),
        "SELECT id, doc FROM bench WHERE doc ->> '$.text' = ?2",
        is_called,
    )
    .with_texts(|call| vec![text(call)])
    .decoded(),
    whole(
        "as I4, by a filter",
        |c, _| each_decoded(find(c, "@.tags[?@ == 'Alpha']").run()?),
        "SELECT id, doc FROM bench WHERE EXISTS (SELECT 1 FROM json_each(doc, '$.tags') WHERE value = 'Alpha')",
        is_of_alpha,
    )
    .decoded()
    .or_by_index("SELECT id, doc FROM tags JOIN bench USING (id) WHERE tag = 'Alpha'"),
    few(
        "B1, B2: by an int, by a filter, keys only",
        |c, call| keys(find(c, "@.n == arg('n')").bind("n", call)),
        "SELECT id FROM bench WHERE doc ->> '$.n' = ?1",
        is_called,
    )
    .beside(|all, call| by_hand(all, |document| int_at(document, "n") == call))
    .by_field(ByField::Int("n", |call| call)),
];
