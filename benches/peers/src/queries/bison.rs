//! bison-db: documents by one field, of which it answers the ids alone.

use std::path::Path;

use bison_db::{Db, DbOptions, Document, SyncPolicy, Value};

use super::Answers;
use super::data::{CATEGORIES, Item};
use super::questions::{ByField, Came, Question, came};
use crate::failure::{Of, Result};

pub struct Bison(Db);

fn document(item: &Item) -> Document {
    let mut document = Document::new();
    document
        .set("id", item.id)
        .set("name", format!("User {}", item.id))
        .set("value", item.value)
        .set("text", format!("{:050}", item.value * 31))
        .set("category", CATEGORIES[item.category])
        .set("group", item.group);
    document
}

impl Answers for Bison {
    const NAME: &'static str = "bison-db, ids";

    fn load(directory: &Path, items: &[Item]) -> Result<Self> {
        let path = directory.join("store");
        let mut db = DbOptions::new().sync(SyncPolicy::Manual).open(path).of(Self::NAME, "opening")?;
        for item in items {
            db.insert(document(item)).of(Self::NAME, "loading")?;
        }
        Ok(Bison(db))
    }

    fn ask(&self, question: &Question, call: i64) -> Option<Result<Came>> {
        let found = match question.by_field? {
            ByField::Int(field, value) => self.0.find(field, &Value::from(value(call))),
            ByField::Text(field, value) => self.0.find(field, &Value::from(value(call))),
            ByField::Below(field, end) => self.0.range(field, Value::from(i64::MIN)..Value::from(end)),
            ByField::Range(field, from, to) => self.0.range(field, Value::from(from)..=Value::from(to)),
        };
        // Ids are given in the order of inserts, from 1 on.
        let ids = found.of(Self::NAME, question.row);
        Some(ids.map(|ids| came(ids.into_iter().map(|id| id.get() as i64))))
    }
}
