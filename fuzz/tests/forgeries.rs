//! Files whose checksums all hold and which a store must refuse all the same.

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
    // The place of a log segment, in the table of the newest checkpoint of the aged store.
    let forgery = include_bytes!("../corpus/resealed_image/segment-in-the-checkpoint-before");
    let refused = open(&forged(forgery)).unwrap_err();
    assert!(matches!(&refused, Error::Corrupt(corruption) if corruption.clause.0 == "R-8.1"), "{refused}");
}
