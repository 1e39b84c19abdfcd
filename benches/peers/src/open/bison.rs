//! bison-db gives its documents ids of its own, one after another from 1: the numbers of the documents.

use std::path::{Path, PathBuf};

use bison_db::DocId;

use super::reopened::Reopened;
use crate::failure::{Result, expect_equal};
pub use crate::load::bison::Bison;
use crate::load::peer::{Class, Peer};

fn file_in(directory: &Path) -> PathBuf {
    directory.join("store.bison")
}

impl Reopened for Bison {
    const WHO: &'static str = Bison::NAME;

    fn fill(directory: &Path, count: u64) -> Result<()> {
        let mut store = Self::reopen(directory)?;
        for number in 1..=count {
            let id = store.insert(number as i64)?;
            expect_equal(Self::WHO, "the id of a document", &DocId::from(number), &id)?;
        }
        store.finish()?;
        let store = Self::reopen(directory)?;
        expect_equal(Self::WHO, "how many documents there are", &count, &store.len()?)?;
        for number in 1..=count {
            expect_equal(Self::WHO, "a document", &Some(Self::expected(number)), &store.read(number)?)?;
        }
        store.finish()
    }

    fn reopen(directory: &Path) -> Result<Self> {
        Peer::open(&file_in(directory), Class::Written)
    }

    fn read(&self, number: u64) -> Result<Option<u64>> {
        Ok(self.field(DocId::from(number))?.map(i64::unsigned_abs))
    }

    fn expected(number: u64) -> u64 {
        number
    }

    fn finish(mut self) -> Result<()> {
        self.flush()
    }
}
