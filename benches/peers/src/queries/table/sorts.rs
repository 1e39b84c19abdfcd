//! Documents in an order.

use crate::queries::data::CATEGORIES;
use crate::queries::questions::{Question, documents, each_entry, few, first, ids, keys, of, whole};

pub static QUESTIONS: &[Question] = &[
    whole(
        "C4, O1: all, sorted",
        |c, _| documents(c.find(..).sort(of("$.value"))),
        "SELECT id, doc FROM bench ORDER BY doc ->> '$.value', id",
        |all, _| ids(all, |_| true),
    ),
    whole(
        "C5: all, sorted by two fields",
        |c, _| documents(c.find(..).sort(of("$.category")).sort(of("$.value"))),
        "SELECT id, doc FROM bench ORDER BY doc ->> '$.category', doc ->> '$.value', id",
        |all, _| ids(all, |_| true),
    ),
    few(
        "C6, O3: the first 100 of a sort",
        |c, _| documents(c.find(..).sort(of("$.value")).limit(100)),
        "SELECT id, doc FROM bench ORDER BY doc ->> '$.value', id LIMIT 100",
        |all, _| first(all, |item| (item.value, item.id)),
    ),
    few(
        "C7: the first 100 of a sort by two fields",
        |c, _| documents(c.find(..).sort(of("$.category")).sort(of("$.value")).limit(100)),
        "SELECT id, doc FROM bench ORDER BY doc ->> '$.category', doc ->> '$.value', id LIMIT 100",
        |all, _| first(all, |item| (CATEGORIES[item.category], item.value, item.id)),
    ),
    whole(
        "O2: all, sorted, keys only",
        |c, _| keys(c.find(..).sort(of("$.value"))),
        "SELECT id FROM bench ORDER BY doc ->> '$.value', id",
        |all, _| ids(all, |_| true),
    ),
    whole(
        "O2: all, sorted, keys and values of the index",
        |c, _| each_entry(c.index("value").range(..)?),
        "SELECT id, doc ->> '$.value' FROM bench ORDER BY 2, id",
        |all, _| ids(all, |_| true),
    )
    .by_index(),
    few(
        "O4: the first 100 of a sort, keys only",
        |c, _| keys(c.find(..).sort(of("$.value")).limit(100)),
        "SELECT id FROM bench ORDER BY doc ->> '$.value', id LIMIT 100",
        |all, _| first(all, |item| (item.value, item.id)),
    ),
    few(
        "O4: the first 100 of a sort, keys and values of the index",
        |c, _| each_entry(c.index("value").range(..)?.take(100)),
        "SELECT id, doc ->> '$.value' FROM bench ORDER BY 2, id LIMIT 100",
        |all, _| first(all, |item| (item.value, item.id)),
    )
    .by_index(),
];
