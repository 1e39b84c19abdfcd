//! native_db, typed records over redb 2. A record here is a document's bytes under its key. It has no commit without a sync, so it
//! takes part where commits are durable.

use std::borrow::Borrow;
use std::path::Path;
use std::sync::LazyLock;

use holotype::Document;
use native_db::{Builder, Database, Models, ToKey, native_db, transaction::RTransaction};
use native_model::{Model, native_model};
use serde::{Deserialize, Serialize};

use super::{Commits, Read, ReadNamed, Session, Snapshots, Store};
use crate::failure::{Of, Result, expect_equal};

const NAME: &str = "native_db 0.8";

#[derive(Serialize, Deserialize)]
#[native_model(id = 1, version = 1)]
#[native_db]
struct Small {
    #[primary_key]
    id: u64,
    #[serde(with = "serde_bytes")]
    body: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
#[native_model(id = 2, version = 1)]
#[native_db]
struct Named {
    #[primary_key]
    name: String,
    #[serde(with = "serde_bytes")]
    body: Vec<u8>,
}

/// They outlive every database that is opened with them.
static MODELS: LazyLock<Models> = LazyLock::new(|| {
    let mut models = Models::new();
    models.define::<Small>().expect("the type has a model");
    models.define::<Named>().expect("the type has a model");
    models
});

pub struct NativeDb {
    db: Database<'static>,
}

impl NativeDb {
    fn open_as(directory: &Path, builder: &Builder) -> Result<Self> {
        let path = directory.join("store.native");
        let db = if path.exists() { builder.open(&MODELS, path) } else { builder.create(&MODELS, path) };
        Ok(NativeDb { db: db.of(NAME, "opening")? })
    }
}

impl Store for NativeDb {
    const NAME: &'static str = NAME;

    const SYNCS_ALWAYS: bool = true;

    type Session<'s> = &'s NativeDb;

    /// Each commit is durable, whatever is asked for.
    fn open(directory: &Path, _: Commits) -> Result<Self> {
        Self::open_as(directory, &Builder::new())
    }

    fn open_with_cache(directory: &Path, bytes: usize) -> Result<Self> {
        Self::open_as(directory, Builder::new().set_cache_size(bytes))
    }

    fn session(&self) -> Result<&NativeDb> {
        Ok(self)
    }

    fn clean(mut self) -> Result<()> {
        self.db.compact().of(NAME, "compacting")?;
        Ok(())
    }

    fn close(self) -> Result<()> {
        Ok(())
    }
}

impl Snapshots for NativeDb {
    type Held<'s> = RTransaction<'s>;
    type HeldNamed<'s> = RTransaction<'s>;

    fn hold(&self) -> Result<RTransaction<'_>> {
        self.db.r_transaction().of(NAME, "beginning to read")
    }

    fn hold_named(&self) -> Result<RTransaction<'_>> {
        self.hold()
    }
}

impl Read for RTransaction<'_> {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let small: Option<Small> = RTransaction::get(self).primary(id).of(NAME, "reading")?;
        Ok(small.map(|small| read(&small.body)))
    }
}

impl ReadNamed for RTransaction<'_> {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let named: Option<Named> = RTransaction::get(self).primary(name).of(NAME, "reading")?;
        Ok(named.map(|named| read(&named.body)))
    }

    fn scan_named_from(&mut self, from: &str, count: usize, mut each: impl FnMut(&[u8])) -> Result<()> {
        let scan = self.scan().primary::<Named>().of(NAME, "scanning")?;
        for named in scan.range(from..).of(NAME, "scanning")?.take(count) {
            each(&named.of(NAME, "scanning")?.body);
        }
        Ok(())
    }
}

impl Read for &NativeDb {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Read::get(&mut self.hold()?, id, read)
    }
}

impl ReadNamed for &NativeDb {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        self.hold()?.get_named(name, read)
    }

    fn scan_named_from(&mut self, from: &str, count: usize, each: impl FnMut(&[u8])) -> Result<()> {
        self.hold()?.scan_named_from(from, count, each)
    }
}

impl Session for &NativeDb {
    fn put(&mut self, id: u64, document: &Document) -> Result<()> {
        self.put_all([(id, document)].into_iter())
    }

    fn put_all<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (u64, D)>) -> Result<()> {
        let transaction = self.db.rw_transaction().of(NAME, "beginning a transaction")?;
        for (id, document) in documents {
            let small = Small { id, body: document.borrow().encode() };
            transaction.upsert(small).of(NAME, "putting")?;
        }
        transaction.commit().of(NAME, "committing")
    }

    fn delete(&mut self, id: u64) -> Result<()> {
        let transaction = self.db.rw_transaction().of(NAME, "beginning a transaction")?;
        let small: Option<Small> = transaction.get().primary(id).of(NAME, "reading")?;
        let was_there = small.is_some();
        if let Some(small) = small {
            transaction.remove(small).of(NAME, "deleting")?;
        }
        transaction.commit().of(NAME, "committing")?;
        expect_equal(NAME, "whether a deleted document was there", &true, &was_there)
    }

    fn count(&mut self) -> Result<u64> {
        self.hold()?.len().primary::<Small>().of(NAME, "counting")
    }

    fn scan_from(&mut self, from: u64, count: usize, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        let transaction = self.hold()?;
        let scan = transaction.scan().primary::<Small>().of(NAME, "scanning")?;
        for small in scan.range(from..).of(NAME, "scanning")?.take(count) {
            let small = small.of(NAME, "scanning")?;
            each(small.id, &small.body);
        }
        Ok(())
    }

    fn scan(&mut self, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        let transaction = self.hold()?;
        let scan = transaction.scan().primary::<Small>().of(NAME, "scanning")?;
        for small in scan.all().of(NAME, "scanning")? {
            let small = small.of(NAME, "scanning")?;
            each(small.id, &small.body);
        }
        Ok(())
    }

    fn put_named<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (String, D)>) -> Result<()> {
        let transaction = self.db.rw_transaction().of(NAME, "beginning a transaction")?;
        for (name, document) in documents {
            let named = Named { name, body: document.borrow().encode() };
            transaction.upsert(named).of(NAME, "putting")?;
        }
        transaction.commit().of(NAME, "committing")
    }

    fn delete_named(&mut self, names: impl Iterator<Item = String>) -> Result<()> {
        let transaction = self.db.rw_transaction().of(NAME, "beginning a transaction")?;
        let mut were_there = true;
        for name in names {
            // What is removed is named by the whole record.
            let named: Option<Named> = transaction.get().primary(name).of(NAME, "reading")?;
            match named {
                Some(named) => transaction.remove(named).map(drop).of(NAME, "deleting")?,
                None => were_there = false,
            }
        }
        transaction.commit().of(NAME, "committing")?;
        expect_equal(NAME, "whether deleted documents were there", &true, &were_there)
    }

    fn count_named(&mut self) -> Result<u64> {
        self.hold()?.len().primary::<Named>().of(NAME, "counting")
    }

    fn scan_named(&mut self, prefix: &str, mut each: impl FnMut(&[u8])) -> Result<()> {
        let transaction = self.hold()?;
        let scan = transaction.scan().primary::<Named>().of(NAME, "scanning")?;
        for named in scan.start_with(prefix).of(NAME, "scanning")? {
            each(&named.of(NAME, "scanning")?.body);
        }
        Ok(())
    }
}
