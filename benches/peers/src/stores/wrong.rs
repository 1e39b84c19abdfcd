//! A store that does something else than it is asked for: what is timed must be refused its figures.

use std::borrow::Borrow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use ::holotype::Document;

use super::holotype::{Documents, Holotype};
use super::{Commits, Read, ReadNamed, Session, Store};
use crate::failure::Result;

/// A store that does one thing in twenty wrong, of a kind.
pub struct Wrong<const HOW: u8> {
    right: Holotype,
    calls: AtomicU64,
}

pub const PUTS_NOTHING: u8 = 0;
pub const READS_ANOTHER: u8 = 1;
pub const SCANS_TOO_LITTLE: u8 = 2;
pub const SCANS_FROM_ELSEWHERE: u8 = 3;
pub const ALL_RIGHT: u8 = 4;
pub const DELETES_NOTHING: u8 = 5;
pub const COUNTS_ANOTHER: u8 = 6;

pub struct WrongSession<'s, const HOW: u8> {
    right: Documents,
    calls: &'s AtomicU64,
}

impl<const HOW: u8> WrongSession<'_, HOW> {
    fn is_wrong(&self, how: u8) -> bool {
        HOW == how && self.calls.fetch_add(1, Ordering::Relaxed) % 20 == 7
    }
}

impl<const HOW: u8> Store for Wrong<HOW> {
    const NAME: &'static str = "a store that is wrong";

    type Session<'s> = WrongSession<'s, HOW>;

    fn open(directory: &Path, commits: Commits) -> Result<Self> {
        Ok(Wrong { right: Holotype::open(directory, commits)?, calls: AtomicU64::new(0) })
    }

    fn session(&self) -> Result<WrongSession<'_, HOW>> {
        Ok(WrongSession { right: self.right.session()?, calls: &self.calls })
    }

    fn close(self) -> Result<()> {
        self.right.close()
    }
}

impl<const HOW: u8> Read for WrongSession<'_, HOW> {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let id = if self.is_wrong(READS_ANOTHER) { id % 400 + 1 } else { id };
        self.right.get(id, read)
    }
}

impl<const HOW: u8> ReadNamed for WrongSession<'_, HOW> {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let name = if self.is_wrong(READS_ANOTHER) { &name.replace('8', "9") } else { name };
        self.right.get_named(name, read)
    }

    fn scan_named_from(&mut self, from: &str, count: usize, each: impl FnMut(&[u8])) -> Result<()> {
        let count = if self.is_wrong(SCANS_TOO_LITTLE) { count - 1 } else { count };
        self.right.scan_named_from(from, count, each)
    }
}

impl<const HOW: u8> Session for WrongSession<'_, HOW> {
    fn put(&mut self, id: u64, document: &Document) -> Result<()> {
        if self.is_wrong(PUTS_NOTHING) { Ok(()) } else { self.right.put(id, document) }
    }

    fn put_all<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (u64, D)>) -> Result<()> {
        self.right.put_all(documents)
    }

    fn delete(&mut self, id: u64) -> Result<()> {
        if self.is_wrong(DELETES_NOTHING) { Ok(()) } else { self.right.delete(id) }
    }

    fn scan_from(&mut self, from: u64, count: usize, each: impl FnMut(u64, &[u8])) -> Result<()> {
        let count = if self.is_wrong(SCANS_TOO_LITTLE) { count - 1 } else { count };
        let from = if self.is_wrong(SCANS_FROM_ELSEWHERE) { from + 1 } else { from };
        self.right.scan_from(from, count, each)
    }

    fn scan(&mut self, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        let mut left = if HOW == SCANS_TOO_LITTLE { self.right.count()? - 1 } else { u64::MAX };
        self.right.scan(|id, bytes| {
            if left > 0 {
                left -= 1;
                each(id, bytes);
            }
        })
    }

    fn count(&mut self) -> Result<u64> {
        Ok(self.right.count()? + u64::from(HOW == COUNTS_ANOTHER))
    }

    fn put_named<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (String, D)>) -> Result<()> {
        self.right.put_named(documents)
    }

    fn delete_named(&mut self, names: impl Iterator<Item = String>) -> Result<()> {
        let names: Vec<String> = names.filter(|_| !self.is_wrong(DELETES_NOTHING)).collect();
        self.right.delete_named(names.into_iter())
    }

    fn count_named(&mut self) -> Result<u64> {
        Ok(self.right.count_named()? + u64::from(HOW == COUNTS_ANOTHER))
    }

    fn scan_named(&mut self, prefix: &str, mut each: impl FnMut(&[u8])) -> Result<()> {
        let mut skipped = !self.is_wrong(SCANS_TOO_LITTLE);
        self.right.scan_named(prefix, |bytes| {
            if skipped {
                each(bytes);
            }
            skipped = true;
        })
    }
}
