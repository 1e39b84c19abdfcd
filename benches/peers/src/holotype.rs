//! Holotype, in each of its durability classes.

use std::path::Path;

use holotype::{Collection, Db, DocRef, Durability, Key, Options, Value};
use holotype_benches::workload::{SMALL_FIELDS, small_document};

use crate::peer::{Class, Peer};

pub struct Holotype {
    db: Db,
    documents: Collection,
}

fn field_id(document: &DocRef) -> Option<i64> {
    document.get("id").and_then(|id| id.as_i64())
}

impl Holotype {
    fn get(&self, id: i64) -> Option<DocRef> {
        self.documents.get(id).expect("undamaged")
    }
}

impl Peer for Holotype {
    const NAME: &'static str = "Holotype";

    type Id = i64;

    fn open(path: &Path, class: Class) -> Self {
        let durability = match class {
            Class::Buffered => Durability::Buffered,
            Class::Written => Durability::Written,
            Class::Synced => Durability::Synced,
        };
        let db = Db::open_with(path, &Options::new().durability(durability)).expect("a store");
        db.create_collection("small").expect("a legal name");
        let documents = db.collection("small");
        Holotype { db, documents }
    }

    fn insert(&mut self, i: i64) -> i64 {
        match self.documents.insert(small_document(i)).expect("room") {
            Key::Int(id) => id,
            key => panic!("an auto id is an integer, not {key}"),
        }
    }

    fn replace(&mut self, id: i64, i: i64) {
        assert!(self.documents.replace(id, small_document(i)).expect("room"), "it was there");
    }

    fn delete(&mut self, id: i64) {
        assert!(self.documents.delete(id).expect("room"), "it was there");
    }

    fn decode(&self, id: i64) -> Option<i64> {
        let document = self.get(id)?.to_document().expect("a document");
        assert_eq!(document.len(), SMALL_FIELDS);
        document.get("id").and_then(Value::as_i64)
    }

    fn field(&self, id: i64) -> Option<i64> {
        field_id(&self.get(id)?)
    }

    fn sum(&self) -> i64 {
        let documents = self.documents.scan(..).expect("it was created");
        documents.map(|document| field_id(&document.expect("undamaged")).expect("a small document")).sum()
    }

    fn absent(&self, i: u64) -> i64 {
        1_000_000 + i as i64
    }

    fn len(&self) -> u64 {
        self.documents.len().expect("it was created")
    }

    fn flush(&mut self) {
        self.db.flush().expect("room");
    }
}
