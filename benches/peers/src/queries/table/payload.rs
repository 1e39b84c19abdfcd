//! By a text of its own, beside a long text.

use crate::queries::data::Item;
use crate::queries::questions::{ByField, Came, Question, came, documents, few, find, ids, keys, parts};

fn name(call: i64) -> String {
    format!("key_{call}")
}

fn is_called(all: &[Item], call: i64) -> Came {
    ids(all, |item| item.id == call)
}

pub static QUESTIONS: &[Question] = &[
    few(
        "V1: by a text",
        |c, call| documents(find(c, "@.name == arg('n')").bind("n", name(call))),
        "SELECT id, doc FROM bench WHERE doc ->> '$.name' = ?2",
        is_called,
    )
    .with_texts(|call| vec![name(call)]),
    few(
        "V2: by a text, keys only",
        |c, call| keys(find(c, "@.name == arg('n')").bind("n", name(call))),
        "SELECT id FROM bench WHERE doc ->> '$.name' = ?2",
        is_called,
    )
    .with_texts(|call| vec![name(call)])
    .by_field(ByField::Text("name", name)),
    few(
        "V3: by a text, a short field",
        |c, call| parts(find(c, "@.name == arg('n')").bind("n", name(call)), ["$.value"], "value"),
        "SELECT doc ->> '$.value' FROM bench WHERE doc ->> '$.name' = ?2",
        |all, call| came(all.iter().filter(|item| item.id == call).map(|item| item.value)),
    )
    .with_texts(|call| vec![name(call)]),
    few(
        "V4: by a text, the long text",
        |c, call| {
            let found = find(c, "@.name == arg('n')").bind("n", name(call)).run()?;
            let mut lens = Vec::new();
            for document in found {
                lens.extend(document?.get("payload").and_then(|text| Some(text.as_str()?.len() as i64)));
            }
            Ok(came(lens.into_iter()))
        },
        "SELECT length(doc ->> '$.payload') FROM bench WHERE doc ->> '$.name' = ?2",
        |all, call| came(all.iter().filter(|item| item.id == call).map(|_| 1_000)),
    )
    .with_texts(|call| vec![name(call)]),
];
