//! sled, kept apart: on Linux its `flush` ends in `sync_file_range`, which does not ask the disk to empty its cache. So it has no
//! durable commit, and only the workload that shows it apart takes it.

use std::borrow::Borrow;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use holotype::Document;
use sled::{Batch, Db};

use super::{Commits, Read, ReadNamed, Session, Store};
use crate::failure::{Of, Result, expect_equal};

const NAME: &str = "sled 0.34";

/// A store that was let go holds its lock until its own threads have ended, which takes a while where the machine is busy.
const LOCKED_MAX: Duration = Duration::from_secs(10);

pub struct Sled {
    db: Db,
    commits: Commits,
}

impl Store for Sled {
    const NAME: &'static str = NAME;

    type Session<'s> = &'s Sled;

    fn open(directory: &Path, commits: Commits) -> Result<Self> {
        Self::open_as(directory, commits, None)
    }

    fn open_with_cache(directory: &Path, bytes: usize) -> Result<Self> {
        Self::open_as(directory, Commits::Unsynced, Some(bytes as u64))
    }

    fn session(&self) -> Result<&Sled> {
        Ok(self)
    }

    fn close(self) -> Result<()> {
        self.db.flush().of(NAME, "closing")?;
        Ok(())
    }
}

impl Sled {
    fn open_as(directory: &Path, commits: Commits, cache: Option<u64>) -> Result<Self> {
        let path = directory.join("store.sled");
        // A configuration opens a store once.
        let config = || {
            let config = sled::Config::new().path(&path);
            cache.into_iter().fold(config, sled::Config::cache_capacity)
        };
        let until = Instant::now() + LOCKED_MAX;
        loop {
            match config().open() {
                Err(error) if error.to_string().contains("acquire lock") && Instant::now() < until => {
                    thread::sleep(Duration::from_millis(1));
                }
                opened => return Ok(Sled { db: opened.of(NAME, "opening")?, commits }),
            }
        }
    }

    fn committed(&self) -> Result<()> {
        match self.commits {
            Commits::Durable => self.db.flush().map(|_| ()).of(NAME, "flushing"),
            Commits::Unsynced => Ok(()),
        }
    }
}

impl Read for &Sled {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Ok(self.db.get(id.to_be_bytes()).of(NAME, "reading")?.map(|value| read(&value)))
    }
}

impl ReadNamed for &Sled {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Ok(self.db.get(name).of(NAME, "reading")?.map(|value| read(&value)))
    }

    fn scan_named_from(&mut self, from: &str, count: usize, mut each: impl FnMut(&[u8])) -> Result<()> {
        for entry in self.db.range(from..).take(count) {
            each(&entry.of(NAME, "scanning")?.1);
        }
        Ok(())
    }
}

impl Session for &Sled {
    fn put(&mut self, id: u64, document: &Document) -> Result<()> {
        self.db.insert(id.to_be_bytes(), document.encode()).of(NAME, "committing")?;
        self.committed()
    }

    fn put_all<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (u64, D)>) -> Result<()> {
        let mut batch = Batch::default();
        for (id, document) in documents {
            batch.insert(&id.to_be_bytes(), document.borrow().encode());
        }
        self.db.apply_batch(batch).of(NAME, "committing")?;
        self.committed()
    }

    fn delete(&mut self, id: u64) -> Result<()> {
        let was_there = self.db.remove(id.to_be_bytes()).of(NAME, "deleting")?.is_some();
        self.committed()?;
        expect_equal(NAME, "whether a deleted document was there", &true, &was_there)
    }

    fn scan_from(&mut self, from: u64, count: usize, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        for entry in self.db.range(from.to_be_bytes()..).take(count) {
            let (key, value) = entry.of(NAME, "scanning")?;
            let id = <[u8; 8]>::try_from(&*key).of(NAME, "reading an id")?;
            each(u64::from_be_bytes(id), &value);
        }
        Ok(())
    }

    fn scan(&mut self, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        for entry in self.db.iter() {
            let (key, value) = entry.of(NAME, "scanning")?;
            let id = <[u8; 8]>::try_from(&*key).of(NAME, "reading an id")?;
            each(u64::from_be_bytes(id), &value);
        }
        Ok(())
    }

    fn count(&mut self) -> Result<u64> {
        Ok(self.db.len() as u64)
    }

    fn put_named<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (String, D)>) -> Result<()> {
        let mut batch = Batch::default();
        for (name, document) in documents {
            batch.insert(name.as_bytes(), document.borrow().encode());
        }
        self.db.apply_batch(batch).of(NAME, "committing")?;
        self.committed()
    }

    fn delete_named(&mut self, names: impl Iterator<Item = String>) -> Result<()> {
        let mut batch = Batch::default();
        for name in names {
            batch.remove(name.as_bytes());
        }
        self.db.apply_batch(batch).of(NAME, "committing")?;
        self.committed()
    }

    fn count_named(&mut self) -> Result<u64> {
        self.count()
    }

    fn scan_named(&mut self, prefix: &str, mut each: impl FnMut(&[u8])) -> Result<()> {
        for entry in self.db.scan_prefix(prefix) {
            each(&entry.of(NAME, "scanning")?.1);
        }
        Ok(())
    }
}
