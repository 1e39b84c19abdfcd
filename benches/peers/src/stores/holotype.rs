//! Holotype. A commit that is not synced is handed to the operating system.

use std::borrow::Borrow;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use holotype::{
    AsKey, Collection, Db, DocView, Document, Durability, KeyRef, Options, Scan, View, WriteTransaction,
};

use super::{Commits, Read, ReadNamed, Session, Snapshots, Store};
use crate::failure::{Failure, Of, Result, expect_equal};

const NAME: &str = "Holotype";

/// The collection of the documents.
const SMALL: &str = "small";

pub struct Holotype {
    db: Db,
}

impl Holotype {
    /// Opens or creates the store in `directory`, as these options say.
    pub fn open_with(directory: &Path, options: &Options) -> Result<Self> {
        let db = Db::open_with(file_in(directory), options).of(NAME, "opening")?;
        db.create_collection(SMALL).of(NAME, "creating the collection")?;
        Ok(Holotype { db })
    }

    pub fn db(&self) -> &Db {
        &self.db
    }

    pub fn documents(&self) -> Collection {
        self.db.collection(SMALL)
    }
}

/// The store's file, which is all there is of it.
pub fn file_in(directory: &Path) -> PathBuf {
    directory.join("store.holo")
}

impl Store for Holotype {
    const NAME: &'static str = NAME;

    type Session<'s> = Documents;

    fn open(directory: &Path, commits: Commits) -> Result<Self> {
        let durability = match commits {
            Commits::Durable => Durability::Synced,
            Commits::Unsynced => Durability::Written,
        };
        Self::open_with(directory, &Options::new().durability(durability))
    }

    fn open_with_cache(directory: &Path, bytes: usize) -> Result<Self> {
        Self::open_with(directory, &Options::new().durability(Durability::Written).cache_bytes(bytes))
    }

    fn clean(self) -> Result<()> {
        self.db.compact().of(NAME, "compacting")?;
        self.close()
    }

    fn session(&self) -> Result<Documents> {
        Ok(Documents { db: self.db.clone(), documents: self.documents() })
    }

    fn close(self) -> Result<()> {
        self.db.close().of(NAME, "closing")
    }
}

/// The same store, whose commits stay in its memory until enough has gathered: beside stores that do so as well.
pub struct Buffered(Holotype);

impl Store for Buffered {
    const NAME: &'static str = NAME;

    type Session<'s> = Documents;

    /// There is no durable commit to be had: whoever asks for one has not asked for this class.
    fn open(directory: &Path, _: Commits) -> Result<Self> {
        Holotype::open_with(directory, &Options::new().durability(Durability::Buffered)).map(Buffered)
    }

    fn session(&self) -> Result<Documents> {
        self.0.session()
    }

    fn close(self) -> Result<()> {
        self.0.close()
    }
}

impl Snapshots for Holotype {
    type Held<'s> = View;
    type HeldNamed<'s> = View;

    fn hold(&self) -> Result<View> {
        self.db.snapshot().collection(SMALL).of(NAME, "taking a snapshot")
    }

    fn hold_named(&self) -> Result<View> {
        self.hold()
    }
}

impl Read for View {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let document = View::get(self, id as i64).of(NAME, "reading a snapshot")?;
        Ok(document.map(|document| read(document.bytes())))
    }
}

impl ReadNamed for View {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let document = View::get(self, name).of(NAME, "reading a snapshot")?;
        Ok(document.map(|document| read(document.bytes())))
    }

    fn scan_named_from(&mut self, from: &str, count: usize, each: impl FnMut(&[u8])) -> Result<()> {
        lend_first(View::scan(self, from..), count, each)
    }
}

pub struct Documents {
    db: Db,
    documents: Collection,
}

impl Read for Documents {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let document = self.documents.get(id as i64).of(NAME, "reading")?;
        Ok(document.map(|document| read(document.bytes())))
    }
}

impl Session for Documents {
    fn put(&mut self, id: u64, document: &Document) -> Result<()> {
        self.documents.put(id as i64, document).of(NAME, "committing")
    }

    fn put_all<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (u64, D)>) -> Result<()> {
        self.put_in_one(documents.map(|(id, document)| (id as i64, document)))
    }

    fn delete(&mut self, id: u64) -> Result<()> {
        let was_there = self.documents.delete(id as i64).of(NAME, "deleting")?;
        expect_equal(NAME, "whether a deleted document was there", &true, &was_there)
    }

    fn scan_from(&mut self, from: u64, count: usize, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        let mut left = count;
        if left == 0 {
            return Ok(());
        }
        self.visit(self.documents.scan(from as i64..), |id, bytes| {
            each(id, bytes);
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }

    fn scan(&mut self, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        self.visit(self.documents.scan(..), |id, bytes| {
            each(id, bytes);
            ControlFlow::Continue(())
        })
    }

    fn count(&mut self) -> Result<u64> {
        self.documents.len().of(NAME, "counting")
    }

    fn put_named<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (String, D)>) -> Result<()> {
        self.put_in_one(documents)
    }

    fn delete_named(&mut self, names: impl Iterator<Item = String>) -> Result<()> {
        let were_there = self.db.write(|tx| -> holotype::Result<bool> {
            let documents = tx.collection(SMALL);
            let mut were_there = true;
            for name in names {
                were_there &= documents.delete(name.as_str())?;
            }
            Ok(were_there)
        });
        expect_equal(NAME, "whether deleted documents were there", &true, &were_there.of(NAME, "deleting")?)
    }

    fn count_named(&mut self) -> Result<u64> {
        self.count()
    }

    fn scan_named(&mut self, prefix: &str, mut each: impl FnMut(&[u8])) -> Result<()> {
        let lend = |document: DocView<'_>| {
            each(document.bytes());
            ControlFlow::<()>::Continue(())
        };
        self.documents.scan_prefix(prefix).and_then(|scan| scan.visit(lend)).of(NAME, "scanning").map(drop)
    }
}

impl ReadNamed for Documents {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let document = self.documents.get(name).of(NAME, "reading")?;
        Ok(document.map(|document| read(document.bytes())))
    }

    fn scan_named_from(&mut self, from: &str, count: usize, each: impl FnMut(&[u8])) -> Result<()> {
        lend_first(self.documents.scan(from..), count, each)
    }
}

/// Lends the first documents of a scan, at most `count`.
fn lend_first(scan: holotype::Result<Scan>, count: usize, mut each: impl FnMut(&[u8])) -> Result<()> {
    let mut left = count;
    if left == 0 {
        return Ok(());
    }
    let lend = |document: DocView<'_>| {
        each(document.bytes());
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    scan.and_then(|scan| scan.visit(lend)).of(NAME, "scanning").map(drop)
}

impl Documents {
    /// Puts documents in one transaction, call by call, as the other stores do.
    fn put_in_one<K: AsKey, D: Borrow<Document>>(
        &self,
        documents: impl Iterator<Item = (K, D)>,
    ) -> Result<()> {
        let mut documents = documents;
        let put_all = |tx: &mut WriteTransaction| {
            let small = tx.collection(SMALL);
            documents.try_for_each(|(key, document)| small.put(key, document))
        };
        self.db.write(put_all).of(NAME, "committing a batch")
    }

    /// Lends the documents of a scan, with their ids.
    fn visit(
        &self,
        scan: holotype::Result<Scan>,
        mut each: impl FnMut(u64, &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut other = Ok(());
        let lend = |document: DocView<'_>| match id_of(document.key()) {
            Ok(id) => each(id, document.bytes()),
            Err(failure) => {
                other = Err(failure);
                ControlFlow::Break(())
            }
        };
        scan.and_then(|scan| scan.visit(lend)).of(NAME, "scanning")?;
        other
    }
}

fn id_of(key: KeyRef<'_>) -> Result<u64> {
    match key {
        KeyRef::Int(id) => u64::try_from(id).of(NAME, "reading an id"),
        other => Err(Failure::new(NAME, "reading an id", format!("{other:?} is no id"))),
    }
}
