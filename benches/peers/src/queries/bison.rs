//! bison-db: documents by one field, of which it answers the ids alone.

use std::path::Path;

use bison_db::{Db, DbOptions, Document, SyncPolicy, Value};

use super::Answers;
use super::data::Item;
use super::questions::{ByField, Came, Question, came};
use super::set::Set;
use crate::failure::{Of, Result};

pub struct Bison(Db);

/// The fields that it can be asked for: those at the top that hold no other values.
fn document(of: &holotype::Document) -> Document {
    let mut document = Document::new();
    for (name, value) in of.iter() {
        match value {
            holotype::Value::Int(int) => document.set(name, *int),
            holotype::Value::Text(text) => document.set(name, &**text),
            _ => continue,
        };
    }
    document
}

/// The names of the fields, each its own index: it has none over several, and none of parts.
fn fields(set: &Set) -> impl Iterator<Item = &'static str> {
    let one = |paths: &[&'static str]| match paths {
        [path] => path.strip_prefix("$.").filter(|name| !name.contains(['.', '['])),
        _ => None,
    };
    set.indexes.iter().filter_map(move |index| one(index.paths))
}

impl Answers for Bison {
    const NAME: &'static str = "bison-db, ids";

    fn load(directory: &Path, set: &Set, items: &[Item], indexed: bool) -> Result<Self> {
        let path = directory.join("store");
        let mut db = DbOptions::new().sync(SyncPolicy::Manual).open(path).of(Self::NAME, "opening")?;
        for item in items {
            db.insert(document(&(set.document)(item))).of(Self::NAME, "loading")?;
        }
        for field in fields(set).filter(|_| indexed) {
            db.create_index(field).of(Self::NAME, "making indexes")?;
        }
        Ok(Bison(db))
    }

    fn ask(&self, question: &Question, call: i64) -> Option<Result<Came>> {
        let found = match question.by_field? {
            ByField::Int(field, value) => self.0.find(field, &Value::from(value(call))),
            ByField::Text(field, value) => self.0.find(field, &Value::from(value(call))),
            ByField::Range(field, from, to) => self.0.range(field, Value::from(from)..=Value::from(to)),
        };
        // Ids are given in the order of inserts, from 1 on.
        let ids = found.of(Self::NAME, question.row);
        Some(ids.map(|ids| came(ids.into_iter().map(|id| id.get() as i64))))
    }
}
