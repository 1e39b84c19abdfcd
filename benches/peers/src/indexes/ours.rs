//! Holotype. Commits are handed to the system.

use std::path::Path;

use holotype::{Collection, Db, Durability, IndexDefinition, Key, Options, Value};

use super::data::{Ask, Came, Field, Item, Place, read};
use super::{Change, Indexed};
use crate::failure::{Of, Result};

const NAME: &str = "Holotype";
const COLLECTION: &str = "bench";

pub struct Holotype {
    db: Db,
    bench: Collection,
}

impl Holotype {
    pub fn open_with(directory: &Path, options: &Options) -> holotype::Result<Self> {
        let db = Db::open_with(directory.join("store.holo"), options)?;
        let bench = db.collection(COLLECTION);
        Ok(Holotype { db, bench })
    }

    pub fn db(&self) -> &Db {
        &self.db
    }

    pub fn documents(&self) -> &Collection {
        &self.bench
    }

    pub fn create(&self, name: &str, paths: &[&str]) -> holotype::Result<bool> {
        self.bench.create_index(IndexDefinition::new(name, paths)?)
    }

    fn put(&self, items: &[Item]) -> Result<()> {
        self.bench.put_many(items.iter().map(|item| (item.id, item.document()))).of(NAME, "putting").map(drop)
    }

    fn find(&self, asks: &[Ask], documents: bool) -> holotype::Result<Came> {
        let mut came = Came::default();
        for ask in asks {
            let index = self.bench.index(ask.field.name());
            let found = match ask.is_one() {
                true => index.get(value(&ask.from))?,
                false => index.range(value(&ask.from)..=value(&ask.to))?,
            };
            if documents {
                for document in found.documents() {
                    came.add(read(document?.bytes()));
                }
                continue;
            }
            for key in found.keys() {
                if let Key::Int(id) = key? {
                    came.add(id);
                }
            }
        }
        Ok(came)
    }
}

fn value(place: &Place) -> Value {
    match place {
        Place::Text(text) => Value::from(&**text),
        Place::Number(number) => Value::from(*number),
    }
}

impl Indexed for Holotype {
    const NAME: &'static str = NAME;

    fn open(directory: &Path, fields: &'static [Field]) -> Result<Self> {
        let options = Options::new().durability(Durability::Written);
        let store = Self::open_with(directory, &options).of(NAME, "opening")?;
        for field in fields {
            store.create(field.name(), &[&format!("$.{}", field.name())]).of(NAME, "making an index")?;
        }
        Ok(store)
    }

    fn close(self) -> Result<()> {
        self.db.close().of(NAME, "closing")
    }

    fn insert(&mut self, items: &[Item]) -> Result<()> {
        self.put(items)
    }

    fn replace(&mut self, items: &[Item]) -> Result<()> {
        self.put(items)
    }

    fn give_up(&mut self, change: Change, item: &Item) -> Option<Result<()>> {
        let give_up = || {
            let transaction = self.db.begin_write()?;
            let bench = transaction.collection(COLLECTION);
            match change {
                Change::Put | Change::Replace => bench.put(item.id, item.document())?,
                Change::Delete => drop(bench.delete(item.id)?),
            }
            transaction.rollback()
        };
        Some(give_up().of(NAME, "giving up a change"))
    }

    fn keys(&mut self, asks: &[Ask]) -> Result<Came> {
        self.find(asks, false).of(NAME, "finding keys")
    }

    fn documents(&mut self, asks: &[Ask]) -> Result<Came> {
        self.find(asks, true).of(NAME, "finding documents")
    }
}
