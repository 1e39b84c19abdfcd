//! Opening after a crash: the file as it stands while the store is open, with much log since the last checkpoint.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use holotype::{Background, Durability, Options};
use tempfile::TempDir;

use super::Opening;
use super::reopened::{Reopened, millis};
use crate::contents::{self, Contents, byte_sum, first, updated};
use crate::failure::{Of, Result, expect_equal};
use crate::order::shuffled;
use crate::place;
use crate::plan::Plan;
use crate::stores::holotype::{Holotype, file_in};
use crate::stores::{Commits, Read, Session, Store};
use crate::turns::Contender;
use crate::upkeep::{self, Accounts};

/// How much log there is since the checkpoint: as much as is there, by default, when the next becomes due.
const LOG_BYTES: u64 = 16 << 20;

/// A checkpoint that never becomes due.
const NEVER: u64 = 1 << 40;

pub fn contender(plan: &Plan) -> Result<Contender<Opening>> {
    let (parent, count) = (plan.directory.clone(), plan.many);
    let made = Rc::new(place::files_of(Holotype::NAME, &parent)?);
    Holotype::fill(made.path(), count)?;
    let (image, expected) = crashed(made, count)?;
    Ok(Contender::new("Holotype, after a crash with 16 MiB of log", move || {
        run(&parent, &image, count, expected)
    }))
}

/// The file after a crash, in a directory that it keeps.
struct Image {
    path: PathBuf,
    _directory: Rc<TempDir>,
}

/// Updates documents until there is as much log as there should be; what the file holds then.
fn crashed(directory: Rc<TempDir>, count: u64) -> Result<(Image, Contents)> {
    let options = Options::new().durability(Durability::Written).background(Background::Manual);
    let store = Holotype::open_with(directory.path(), &upkeep::checkpoint_after(options, NEVER))?;
    upkeep::checkpoint(store.db())?;
    let begun_at = Accounts::of(store.db()).log_end;
    let mut is_updated = vec![false; count as usize];
    let mut session = store.session()?;
    'filling: for round in 0.. {
        for id in shuffled(count, round) {
            if id.is_multiple_of(64) && Accounts::of(store.db()).log_end - begun_at >= LOG_BYTES {
                break 'filling;
            }
            session.put(id, &updated(id))?;
            is_updated[id as usize - 1] = true;
        }
    }
    store.db().flush().of(Holotype::NAME, "flushing")?;
    let path = directory.path().join("crashed");
    std::fs::copy(file_in(directory.path()), &path).of(Holotype::NAME, "copying its file")?;
    let now = |(id, is_updated): (u64, &bool)| (id, if *is_updated { updated(id) } else { first(id) });
    let contents = Contents::of((1..=count).zip(&is_updated).map(now));
    Ok((Image { path, _directory: directory }, contents))
}

/// Opens a copy: once it was opened, there is nothing to recover.
fn run(parent: &Path, image: &Image, count: u64, expected: Contents) -> Result<Opening> {
    let directory = place::files_of(Holotype::NAME, parent)?;
    std::fs::copy(&image.path, file_in(directory.path())).of(Holotype::NAME, "copying its file")?;
    let begun = Instant::now();
    let store = Holotype::open(directory.path(), Commits::Unsynced)?;
    let open = begun.elapsed();
    let found = store.session()?.get(count.div_ceil(2), byte_sum)?;
    let first_read = begun.elapsed();
    let sum = byte_sum(&first(count.div_ceil(2)).encode());
    expect_equal(Holotype::NAME, "the first document read", &Some(sum), &found)?;
    expect_equal(Holotype::NAME, "what it holds after a crash", &expected, &contents::found_in(&store)?)?;
    store.close()?;
    Ok(Opening { open: millis(open), first_read: millis(first_read) })
}
