//! Holotype, in each of its durability classes.

use std::path::Path;

use holotype::{Collection, Db, DocRef, Durability, Key, Options, Value};
use holotype_benches::workload::{SMALL_FIELDS, small_document};

use super::peer::{Class, Peer};
use crate::failure::{Failure, Of, Result, expect_equal};

const NAME: &str = "Holotype";

pub struct Holotype {
    db: Db,
    documents: Collection,
}

fn field_id(document: &DocRef) -> Option<i64> {
    document.get("id").and_then(|id| id.as_i64())
}

impl Holotype {
    fn get(&self, id: i64) -> Result<Option<DocRef>> {
        self.documents.get(id).of(NAME, "reading")
    }
}

impl Peer for Holotype {
    const NAME: &'static str = NAME;

    type Id = i64;

    fn open(path: &Path, class: Class) -> Result<Self> {
        let durability = match class {
            Class::Buffered => Durability::Buffered,
            Class::Written => Durability::Written,
            Class::Synced => Durability::Synced,
        };
        let db = Db::open_with(path, &Options::new().durability(durability)).of(NAME, "opening")?;
        db.create_collection("small").of(NAME, "creating the collection")?;
        let documents = db.collection("small");
        Ok(Holotype { db, documents })
    }

    fn insert(&mut self, i: i64) -> Result<i64> {
        match self.documents.insert(small_document(i)).of(NAME, "inserting")? {
            Key::Int(id) => Ok(id),
            key => Err(Failure::new(NAME, "inserting", format!("an auto id is an integer, not {key}"))),
        }
    }

    fn replace(&mut self, id: i64, i: i64) -> Result<()> {
        let was_there = self.documents.replace(id, small_document(i)).of(NAME, "replacing")?;
        expect_equal(NAME, "whether a replaced document was there", &true, &was_there)
    }

    fn delete(&mut self, id: i64) -> Result<()> {
        let was_there = self.documents.delete(id).of(NAME, "deleting")?;
        expect_equal(NAME, "whether a deleted document was there", &true, &was_there)
    }

    fn decode(&self, id: i64) -> Result<Option<i64>> {
        let Some(document) = self.get(id)? else { return Ok(None) };
        let document = document.to_document().of(NAME, "decoding")?;
        expect_equal(NAME, "fields of a document", &SMALL_FIELDS, &document.len())?;
        Ok(document.get("id").and_then(Value::as_i64))
    }

    fn field(&self, id: i64) -> Result<Option<i64>> {
        Ok(self.get(id)?.as_ref().and_then(field_id))
    }

    fn sum(&self) -> Result<i64> {
        let mut sum = 0;
        for document in self.documents.scan(..).of(NAME, "scanning")? {
            let field = field_id(&document.of(NAME, "scanning")?);
            sum += field.ok_or_else(|| Failure::new(NAME, "scanning", "a field is missing"))?;
        }
        Ok(sum)
    }

    fn absent(&self, i: u64) -> i64 {
        1_000_000 + i as i64
    }

    fn len(&self) -> Result<u64> {
        self.documents.len().of(NAME, "counting")
    }

    fn flush(&mut self) -> Result<()> {
        self.db.flush().of(NAME, "flushing")
    }
}
