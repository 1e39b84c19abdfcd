//! Files whose checksums all hold and which a store must refuse all the same.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Db, Error, Options};
use holotype_fuzz::forged;

fn open(image: &[u8]) -> Result<Db, Error> {
    let disk = Arc::new(MemoryStorage::new());
    disk.write_at(0, image).expect("memory refuses nothing");
    Db::open_on(disk, &Options::new().seed(1))
}

//= spec/recovery.md#r-8-1-what-holds-a-place
//# A reader MUST report corruption when a log segment in place and a checkpoint hold one index: once that
//# checkpoint is not named any more, the place would be given out with the segment in it.
#[test]
fn a_table_that_has_a_log_segment_in_the_place_of_the_checkpoint_before_is_refused() {
    // The corpus has an edit for each answer that any edit of a table is given; which one this is changes with the sample.
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/resealed_image");
    let is_refused_so = |edits: &[u8]| match open(&forged(edits)) {
        Err(Error::Corrupt(corruption)) => {
            corruption.clause.0 == "R-8.1" && corruption.what.contains("in the place")
        }
        _ => false,
    };
    let mut edits = fs::read_dir(corpus).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    assert!(edits.any(|edits| is_refused_so(&edits)), "no forgery of the corpus is refused for that");
}
