//! bison-db: its indexes are in memory, of one field each, and give ids. Each change is handed to the system by itself, and there are no
//! transactions.

use std::path::Path;

use bison_db::{Db, DbOptions, DocId, Document, SyncPolicy, Value};

use super::data::{Ask, Came, Field, Item, Place};
use super::{Change, Indexed};
use crate::failure::{Failure, Of, Result, expect_equal};

const NAME: &str = "bison-db 1.0, one by one";

pub struct Bison(Db);

fn document(item: &Item) -> Document {
    let mut document = Document::new();
    document
        .set("id", item.id)
        .set("text", &*item.text)
        .set("number", item.id)
        .set("score", item.score)
        .set("active", true);
    document
}

fn value(place: &Place) -> Value {
    match place {
        Place::Text(text) => Value::from(&**text),
        Place::Number(number) => Value::from(*number),
    }
}

impl Bison {
    fn find(&self, asks: &[Ask], mut each: impl FnMut(DocId) -> Result<()>) -> Result<()> {
        for ask in asks {
            let (name, from) = (ask.field.name(), value(&ask.from));
            let found = match ask.is_one() {
                true => self.0.find(name, &from),
                false => self.0.range(name, from..=value(&ask.to)),
            };
            found.of(NAME, "finding ids")?.into_iter().try_for_each(&mut each)?;
        }
        Ok(())
    }
}

impl Indexed for Bison {
    const NAME: &'static str = NAME;

    fn open(directory: &Path, fields: &'static [Field]) -> Result<Self> {
        let options = DbOptions::new().sync(SyncPolicy::Manual);
        let mut db = options.open(directory.join("store.bison")).of(NAME, "opening")?;
        for field in fields {
            db.create_index(field.name()).of(NAME, "making an index")?;
        }
        Ok(Bison(db))
    }

    fn close(mut self) -> Result<()> {
        self.0.flush().of(NAME, "closing")
    }

    fn insert(&mut self, items: &[Item]) -> Result<()> {
        // Ids are given in the order of inserts, from 1 on.
        items.iter().try_for_each(|item| {
            let id = self.0.insert(document(item)).of(NAME, "inserting")?;
            expect_equal(NAME, "the id of a document", &(item.id as u64), &id.get())
        })
    }

    fn replace(&mut self, items: &[Item]) -> Result<()> {
        items.iter().try_for_each(|item| {
            let replaced = self.0.update(DocId::from(item.id as u64), document(item));
            expect_equal(NAME, "whether it was there", &true, &replaced.of(NAME, "replacing")?)
        })
    }

    fn give_up(&mut self, _: Change, _: &Item) -> Option<Result<()>> {
        None
    }

    fn keys(&mut self, asks: &[Ask]) -> Result<Came> {
        let mut came = Came::default();
        self.find(asks, |id| Ok(came.add(id.get() as i64)))?;
        Ok(came)
    }

    fn documents(&mut self, asks: &[Ask]) -> Result<Came> {
        let mut came = Came::default();
        self.find(asks, |id| {
            let missing = || Failure::new(NAME, "reading", "an id of a document that is not there");
            let found = self.0.get(id).of(NAME, "reading")?.ok_or_else(missing)?;
            let field = |name| found.get(name).and_then(Value::as_int).unwrap_or_default();
            Ok(came.add(field("id") + field("score")))
        })?;
        Ok(came)
    }
}
