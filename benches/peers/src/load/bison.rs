//! bison-db, an append-only document store: `Manual` hands each document to the operating system, `Always` syncs each.

use std::path::Path;

use bison_db::{Db, DbOptions, DocId, Document, SyncPolicy, Value};
use holotype_benches::workload::SMALL_FIELDS;

use super::peer::{Class, Peer};
use crate::failure::{Failure, Of, Result, expect_equal};

const NAME: &str = "bison-db 1.0";

pub struct Bison {
    db: Db,
}

fn small_document(i: i64) -> Document {
    let mut document = Document::new();
    document
        .set("id", i)
        .set("name", "benchmark user")
        .set("active", true)
        .set("score", 87.5f64)
        .set("tags", Value::Array(vec![Value::from("a"), Value::from("b")]));
    document
}

impl Bison {
    fn get(&self, id: DocId) -> Result<Option<Document>> {
        self.db.get(id).of(NAME, "reading")
    }
}

fn field_id(document: &Document) -> Option<i64> {
    document.get("id").and_then(Value::as_int)
}

impl Peer for Bison {
    const NAME: &'static str = NAME;

    type Id = DocId;

    fn open(path: &Path, class: Class) -> Result<Self> {
        let sync = match class {
            Class::Written => SyncPolicy::Manual,
            Class::Synced => SyncPolicy::Always,
            Class::Buffered => return Err(Failure::new(NAME, "opening", "it hands over every write")),
        };
        Ok(Bison { db: DbOptions::new().sync(sync).open(path).of(NAME, "opening")? })
    }

    fn insert(&mut self, i: i64) -> Result<DocId> {
        self.db.insert(small_document(i)).of(NAME, "inserting")
    }

    fn replace(&mut self, id: DocId, i: i64) -> Result<()> {
        let was_there = self.db.update(id, small_document(i)).of(NAME, "replacing")?;
        expect_equal(NAME, "whether a replaced document was there", &true, &was_there)
    }

    fn delete(&mut self, id: DocId) -> Result<()> {
        let was_there = self.db.delete(id).of(NAME, "deleting")?;
        expect_equal(NAME, "whether a deleted document was there", &true, &was_there)
    }

    fn decode(&self, id: DocId) -> Result<Option<i64>> {
        let Some(document) = self.get(id)? else { return Ok(None) };
        expect_equal(NAME, "fields of a document", &SMALL_FIELDS, &document.len())?;
        Ok(field_id(&document))
    }

    fn field(&self, id: DocId) -> Result<Option<i64>> {
        // There is no way to a field but through the whole document.
        Ok(self.get(id)?.as_ref().and_then(field_id))
    }

    fn sum(&self) -> Result<i64> {
        let field = |id| self.field(id)?.ok_or_else(|| Failure::new(NAME, "scanning", "a field is missing"));
        self.db.ids().map(field).sum()
    }

    fn absent(&self, i: u64) -> DocId {
        DocId::from(1_000_000 + i)
    }

    fn len(&self) -> Result<u64> {
        Ok(self.db.len() as u64)
    }

    fn flush(&mut self) -> Result<()> {
        self.db.flush().of(NAME, "flushing")
    }
}
