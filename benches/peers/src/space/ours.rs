//! One trial of Holotype: its file at any moment, once upkeep is idle, and compacted.

use std::path::Path;

use super::work::Work;
use crate::extent::{self, Extent};
use crate::failure::{Of, Result, expect_equal};
use crate::stores::Store;
use crate::stores::holotype::{Holotype, file_in};
use crate::upkeep::{self, Accounts};
use crate::{contents, place};

/// What it took.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// At the look where it was highest beside what was live then.
    pub worst: Look,
    /// The greatest length of its file at any look.
    pub highest: u64,
    /// Once nothing was due.
    pub idle: Look,
    pub compacted: Look,
}

/// The file at one moment, and what was live in it.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    pub file: Extent,
    pub live: u64,
    /// The part of `live` that is documents; the rest is two checkpoints.
    pub records: u64,
    pub segment: u64,
}

/// How many segments a file may have beyond a multiple of what is live.
pub const SEGMENTS_BESIDE: u64 = 4;
/// How many bytes it may have beside what is live while it is written to, however little that is.
pub const LEEWAY: u64 = 4 << 20;

impl Look {
    fn at(store: &Holotype, directory: &Path) -> Result<Look> {
        let file = extent::of(Holotype::NAME, directory)?;
        let accounts = Accounts::of(store.db());
        Ok(Look { file, live: accounts.live(), records: accounts.records, segment: accounts.segment })
    }

    /// How many times what is live the file is, without the few segments that it may have beside.
    pub fn times_live(&self) -> f64 {
        self.file.len.saturating_sub(SEGMENTS_BESIDE * self.segment) as f64 / self.live as f64
    }

    /// As [`Look::times_live`], but so that 3.0 is the longer of both bounds: three times, and what is live and 4 MiB.
    pub fn times_live_at_any_moment(&self) -> f64 {
        let beside = (SEGMENTS_BESIDE * self.segment).max(LEEWAY.saturating_sub(2 * self.live));
        self.file.len.saturating_sub(beside) as f64 / self.live as f64
    }

    /// As [`Look::times_live`], with all of the file.
    pub fn times_live_with_all(&self) -> f64 {
        self.file.len as f64 / self.live as f64
    }
}

pub fn run(directory: &Path, work: Work) -> Result<Sizes> {
    let directory = place::files_of(Holotype::NAME, directory)?;
    let directory = directory.path();
    let store = contents::load::<Holotype>(directory, work.count)?;
    let mut worst = Look::at(&store, directory)?;
    let mut highest = worst.file.len;
    let mut look = || {
        let now = Look::at(&store, directory)?;
        highest = highest.max(now.file.len);
        if now.times_live_at_any_moment() > worst.times_live_at_any_moment() {
            worst = now;
        }
        Ok(())
    };
    work.apply(&mut store.session()?, 1, &mut look)?;
    store.db().flush().of(Holotype::NAME, "flushing")?;
    upkeep::settle(store.db(), &mut look)?;
    let idle = Look::at(&store, directory)?;
    holds_as_much(&idle, work)?;

    upkeep::compact(store.db(), &mut look)?;
    let compacted = Look::at(&store, directory)?;
    holds_as_much(&compacted, work)?;
    store.close()?;
    expect_equal(Holotype::NAME, "how many files it has beside its one", &0, &files_beside(directory)?)?;
    contents::check::<Holotype>(directory, work.contents())?;
    Ok(Sizes { worst, highest, idle, compacted })
}

/// What the store calls live is no less than the documents that it was given: an account that is too small would be found here, and
/// one that is too great would show in the table.
fn holds_as_much(look: &Look, work: Work) -> Result<()> {
    let enough = look.records >= work.document_bytes();
    expect_equal(Holotype::NAME, "whether its live records hold the documents", &true, &enough)
}

fn files_beside(directory: &Path) -> Result<usize> {
    let names = std::fs::read_dir(directory).of(Holotype::NAME, "looking at its files")?;
    let file = file_in(directory);
    let mut beside = 0;
    for name in names {
        beside += usize::from(name.of(Holotype::NAME, "looking at its files")?.path() != file);
    }
    Ok(beside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(len: u64) -> Look {
        let file = Extent { len, allocated: len };
        Look { file, live: 1_000, records: 900, segment: 100 }
    }

    #[test]
    fn four_segments_are_beside_the_ratio() {
        assert_eq!(look(2_400).times_live(), 2.0);
        assert_eq!(look(2_400).times_live_with_all(), 2.4);
        assert_eq!(look(300).times_live(), 0.0, "a file of fewer segments has nothing else");
    }

    #[test]
    fn at_any_moment_a_small_file_may_have_four_mebibytes_beside() {
        assert_eq!(look(1_000 + LEEWAY).times_live_at_any_moment(), 3.0);
        let long = Look { live: LEEWAY, ..look(3 * LEEWAY + 400) };
        assert_eq!(long.times_live_at_any_moment(), 3.0);
    }

    #[test]
    fn an_account_that_is_less_than_the_documents_is_a_failure() {
        let work = Work { count: 1_000, change: super::super::work::Change::Rounds(1) };
        assert!(holds_as_much(&look(2_400), work).is_err());
    }
}
