//! One trial of a store that does its upkeep when it likes.

use std::path::Path;

use super::work::Work;
use crate::extent::{self, Extent};
use crate::failure::Result;
use crate::stores::Store;
use crate::{contents, place};

/// What a store took.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Once it was closed.
    pub closed: Extent,
    /// The greatest length of its files at any look.
    pub highest: u64,
}

/// How many documents a store replaces in a commit that syncs each: one by one would take an hour.
pub const SYNCED_BATCH: usize = 100;

pub fn run<S: Store>(directory: &Path, work: Work) -> Result<Sizes> {
    let directory = place::files_of(S::NAME, directory)?;
    let store = contents::load::<S>(directory.path(), work.count)?;
    let mut highest = 0;
    let mut session = store.session()?;
    work.apply(&mut session, if S::SYNCS_ALWAYS { SYNCED_BATCH } else { 1 }, || {
        highest = highest.max(extent::of(S::NAME, directory.path())?.len);
        Ok(())
    })?;
    drop(session);
    store.close()?;
    let closed = extent::of(S::NAME, directory.path())?;
    contents::check::<S>(directory.path(), work.contents())?;
    Ok(Sizes { closed, highest: highest.max(closed.len) })
}
