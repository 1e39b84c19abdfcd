//! A thousand documents, of which each is decoded.

use crate::queries::data::CATEGORIES;
use crate::queries::questions::{ByField, Question, each_decoded, find, ids, whole};

pub static QUESTIONS: &[Question] = &[
    whole(
        "M1: all documents, decoded",
        |c, _| each_decoded(c.find(..).run()?),
        "SELECT id, doc FROM bench",
        |all, _| ids(all, |_| true),
    )
    .decoded(),
    whole(
        "M2: by a category of 5, decoded",
        |c, _| each_decoded(find(c, "@.category == 'Alpha'").run()?),
        "SELECT id, doc FROM bench WHERE doc ->> '$.category' = 'Alpha'",
        |all, _| ids(all, |item| item.category == 0),
    )
    .decoded()
    .by_field(ByField::Text("category", |_| CATEGORIES[0].to_owned())),
];
