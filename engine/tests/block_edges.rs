//! Records that lie across the end of a cached block.

use holotype::storage::MemoryStorage;
use holotype::{Db, Options, doc};

/// Blocks are the unit of the cache, in segments that are longer.
const BLOCK_BYTES: usize = 16 << 10;

#[test]
fn a_record_of_which_only_the_first_bytes_lie_in_a_full_block_is_read_whole() {
    // Whatever the lengths of headers are: the second record begins at each of the last bytes of the first block, and ends in
    // the next, which is the last of the log and not full.
    let second = || doc! { "text": "longer than what is read of a record to learn its length" };
    for blob_len in BLOCK_BYTES - 1400..BLOCK_BYTES - 600 {
        let db = Db::open_on(MemoryStorage::new(), &Options::new().seed(1)).expect("memory refuses nothing");
        let notes = db.collection("notes");
        let ids = notes.insert_many([doc! { "blob": "x".repeat(blob_len) }, second()]);
        let ids = ids.expect("memory refuses nothing");
        let found = notes.get(&ids[1]);
        let found = found.unwrap_or_else(|error| panic!("behind {blob_len} bytes: {error}"));
        let found = found.expect("just put").to_document();
        assert_eq!(found.expect("it is a document"), second());
    }
}
