//! One opening: by the clock, and then held to what must be found.

use std::path::Path;
use std::time::{Duration, Instant};

use holotype_benches::workload::UniformIds;

use super::Opening;
use crate::contents::{self, Contents, byte_sum, first};
use crate::failure::{Result, expect_equal};
use crate::stores::{Commits, Read, Store};

/// How many documents are read after each opening, to see that they are there.
const PROBES: usize = 1_000;

/// A store that can be filled, closed and opened again. Documents are numbered from 1.
pub trait Reopened: Sized {
    /// Its name and version.
    const WHO: &'static str;

    /// Fills a new store in `directory` with the first documents `1..=count`, sees that all are there when it is opened again, and
    /// closes it.
    fn fill(directory: &Path, count: u64) -> Result<()>;

    /// Opens it again.
    fn reopen(directory: &Path) -> Result<Self>;

    /// A number that tells whether it is the right document that is there: [`Reopened::expected`].
    fn read(&self, number: u64) -> Result<Option<u64>>;

    /// What [`Reopened::read`] must return.
    fn expected(number: u64) -> u64;

    /// Closes it.
    fn finish(self) -> Result<()>;
}

pub fn run<R: Reopened>(directory: &Path, count: u64) -> Result<Opening> {
    let begun = Instant::now();
    let store = R::reopen(directory)?;
    let open = begun.elapsed();
    let middle = count.div_ceil(2);
    let found = store.read(middle)?;
    let first_read = begun.elapsed();

    expect_equal(R::WHO, "the first document read", &Some(R::expected(middle)), &found)?;
    for number in UniformIds::new(count).take(PROBES).map(i64::unsigned_abs) {
        expect_equal(R::WHO, "a document", &Some(R::expected(number)), &store.read(number)?)?;
    }
    store.finish()?;
    Ok(Opening { open: millis(open), first_read: millis(first_read) })
}

pub fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}

impl<S: Store> Reopened for S {
    const WHO: &'static str = S::NAME;

    fn fill(directory: &Path, count: u64) -> Result<()> {
        contents::load::<S>(directory, count)?.close()?;
        contents::check::<S>(directory, Contents::of((1..=count).map(|id| (id, first(id)))))
    }

    fn reopen(directory: &Path) -> Result<Self> {
        S::open(directory, Commits::Unsynced)
    }

    fn read(&self, id: u64) -> Result<Option<u64>> {
        self.session()?.get(id, byte_sum)
    }

    fn expected(id: u64) -> u64 {
        byte_sum(&first(id).encode())
    }

    fn finish(self) -> Result<()> {
        self.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::bison::Bison;
    use crate::stores::each_store;
    use crate::stores::sled::Sled;

    #[test]
    fn every_store_is_filled_opened_and_read() {
        fn opens<R: Reopened>() {
            let directory = tempfile::tempdir().unwrap();
            R::fill(directory.path(), 500).unwrap();
            let opening = run::<R>(directory.path(), 500).unwrap();
            assert!(opening.first_read >= opening.open, "{}", R::WHO);
            let missing = run::<R>(directory.path(), 5_000).map(|_| ()).unwrap_err();
            assert!(missing.to_string().starts_with(R::WHO), "a document that is not there has no figure");
        }
        macro_rules! opens {
            ($store:ty) => {
                opens::<$store>();
            };
        }
        each_store!(opens);
        opens!(Sled);
        opens!(Bison);
    }
}
