//! The limits of opening: to read and checksum as many bytes as the checkpoint has, of the same file; and to keep them as well, in
//! memory that is new, once the file is synced (spec: ), as a store must that has its index in memory.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use super::Opening;
use super::reopened::{Reopened, millis};
use crate::failure::{Of, Result, expect_equal};
use crate::place;
use crate::plan::Plan;
use crate::stores::holotype::{Holotype, file_in};
use crate::turns::Contender;
use crate::upkeep;

const NAME: &str = "the limit";

/// How many bytes are read at once.
const PIECE: usize = 256 << 10;

/// The two limits: bytes that are only looked at, and bytes that are kept.
pub fn contenders(plan: &Plan) -> Result<[Contender<Opening>; 2]> {
    let directory = Rc::new(place::files_of(NAME, &plan.directory)?);
    Holotype::fill(directory.path(), plan.many)?;
    let store = Holotype::reopen(directory.path())?;
    let bytes = upkeep::checkpoint(store.db())?;
    store.finish()?;
    // A checkpoint that has no bytes would make any opening look infinitely bad, one that is not there infinitely good.
    expect_equal(
        NAME,
        "whether there is a checkpoint with an entry for each document",
        &true,
        &(bytes > plan.many),
    )?;
    let looked_at = format!("{NAME}: read and checksum the checkpoint's {bytes} bytes");
    let kept =
        format!("{NAME} of an index in memory: sync the file, read them into new memory, checksum them");
    let again = Rc::clone(&directory);
    Ok([
        Contender::new(looked_at, move || look_at(&file_in(directory.path()), bytes)),
        Contender::new(kept, move || keep(&file_in(again.path()), bytes)),
    ])
}

fn look_at(path: &Path, bytes: u64) -> Result<Opening> {
    let mut piece = vec![0; PIECE];
    let begun = Instant::now();
    let file = File::open(path).of(NAME, "opening the file")?;
    let mut checksum = 0;
    for offset in (0..bytes).step_by(PIECE) {
        let len = (bytes - offset).min(PIECE as u64) as usize;
        file.read_exact_at(&mut piece[..len], offset).of(NAME, "reading the file")?;
        checksum = crc32c::crc32c_append(checksum, &piece[..len]);
    }
    std::hint::black_box(checksum);
    let took = millis(begun.elapsed());
    Ok(Opening { open: took, first_read: took })
}

fn keep(path: &Path, bytes: u64) -> Result<Opening> {
    let begun = Instant::now();
    let file = File::options().read(true).write(true).open(path).of(NAME, "opening the file")?;
    file.sync_data().of(NAME, "syncing the file")?;
    let mut kept = vec![0; bytes as usize];
    let mut checksum = 0;
    for (number, piece) in kept.chunks_mut(PIECE).enumerate() {
        file.read_exact_at(piece, (number * PIECE) as u64).of(NAME, "reading the file")?;
        checksum = crc32c::crc32c_append(checksum, piece);
    }
    std::hint::black_box((checksum, &kept));
    let took = millis(begun.elapsed());
    Ok(Opening { open: took, first_read: took })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_is_read_beyond_what_is_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, vec![7; PIECE + 5]).unwrap();
        for limit in [look_at, keep] {
            assert!(limit(&path, PIECE as u64 + 5).is_ok());
            assert!(limit(&path, PIECE as u64 + 6).is_err(), "the file ends there");
        }
    }
}
