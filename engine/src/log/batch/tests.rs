//! What a commit in the making says of itself.

use super::super::fixtures::{KEY, appender, documents, push, put};
use super::*;
use crate::format::catalog::CatalogChange;
use crate::index::Layout;

fn catalog(change: CatalogChange) -> Batch {
    let mut batch = Batch::default();
    batch.push_catalog(change, None);
    batch
}

fn drop_of_one() -> CatalogChange {
    CatalogChange::Drop { id: 1 }
}

fn rename_of_one() -> CatalogChange {
    CatalogChange::Rename { id: 1, name: "b".into() }
}

fn relocation(chunks: Option<(u64, Vec<Chunk>)>) -> Relocation {
    Relocation { lsn: Lsn::new(1, 2), expiry: None, chunks }
}

/// A version of chunks that stands somewhere.
fn long() -> Replaces {
    let entry = Entry::new(LogAddress(2000), false).with_chunked(true);
    Replaces::Version(entry, Birth::At(entry.address()))
}

fn delete() -> Batch {
    let mut batch = Batch::default();
    push(&mut batch, Action::Delete, &documents(), KEY, Replaces::Nothing, &[]);
    batch
}

#[test]
fn a_commit_frees_where_nothing_in_it_brings_anything() {
    let mut both = delete();
    push(&mut both, Action::Put, &documents(), KEY, Replaces::Nothing, &[]);
    let mut freed = Batch::default();
    freed.push_free(3, 3);
    let mut moved = Batch::default();
    moved.push_relocation(&documents(), KEY, Replaces::Nothing, relocation(None), &[1]);
    let all = [
        (put(KEY, 1), false),
        (delete(), true),
        (both, false),
        (freed, true),
        (moved, true),
        (catalog(drop_of_one()), true),
        (catalog(CatalogChange::Clear { id: 1, new: 2 }), true),
        (catalog(rename_of_one()), false),
    ];
    for (batch, only_frees) in all {
        assert_eq!(batch.only_frees(), only_frees, "{batch:?}");
    }
}

#[test]
fn a_commit_changes_the_catalog_if_one_of_its_changes_does() {
    assert!(!put(KEY, 1).changes_catalog());
    let mut batch = catalog(rename_of_one());
    push(&mut batch, Action::Put, &documents(), KEY, Replaces::Nothing, &[]);
    assert!(batch.changes_catalog());
}

#[test]
fn the_memory_of_a_commit_is_its_bytes_and_its_changes() {
    let mut batch = put(KEY, 100);
    push(&mut batch, Action::Delete, &documents(), KEY, Replaces::Nothing, &[]);
    assert_eq!(batch.memory_bytes(), 6 + 100 + 6 + 2 * size_of::<Change>());
}

#[test]
fn buffers_are_kept_for_the_next_commit_and_given_back_where_they_are_large() {
    const ENOUGH: usize = KEPT_BYTES / 2;
    let mut batch = put(KEY, ENOUGH);
    batch.changes.reserve(ENOUGH / size_of::<Change>());
    batch.clear();
    assert!(batch.bytes.capacity() >= ENOUGH);
    assert!(batch.changes.capacity() >= ENOUGH / size_of::<Change>());
    batch.bytes.reserve(4 * KEPT_BYTES);
    batch.changes.reserve(4 * KEPT_BYTES / size_of::<Change>());
    batch.clear();
    assert!(batch.bytes.capacity() < 2 * KEPT_BYTES);
    assert!(batch.changes.capacity() * size_of::<Change>() < 2 * KEPT_BYTES);
}

#[test]
fn what_is_made_of_chunks_is_told_for_each_change() {
    // The document of the second change alone is longer than a segment.
    let mut batch = put(KEY, 10);
    push(&mut batch, Action::Put, &documents(), KEY, Replaces::Nothing, &[7; 500]);
    assert!(!batch.changes[0].is_chunked && !batch.changes[1].is_chunked, "nothing is placed");
    appender().place(&mut batch).expect("it fits");
    assert!(!batch.changes[0].is_chunked && batch.changes[1].is_chunked);
    // Where all chunks stay, the list moves without them.
    let mut batch = Batch::default();
    let chunks = vec![Chunk::Stays(LogAddress(3000))];
    let moved = relocation(Some((350, chunks)));
    batch.push_relocation(&documents(), KEY, long(), moved, &[]);
    appender().place(&mut batch).expect("it fits");
    assert!(batch.chunks.is_empty() && batch.changes[0].is_chunked);
}

#[test]
fn a_change_supersedes_the_chunks_of_what_it_replaces_and_no_others() {
    let (mut batch, documents) = (Batch::default(), documents());
    push(&mut batch, Action::Put, &documents, KEY, Replaces::Nothing, &[7; 500]);
    push(&mut batch, Action::Put, &documents, KEY, Replaces::Change(0), &[7; 900]);
    for (from, key) in [(4000, KeyRef::Int(1)), (5000, KeyRef::Int(2))] {
        let chunks = vec![Chunk::Stays(LogAddress(3000)), Chunk::Moves(LogAddress(from), 10)];
        let moved = relocation(Some((350, chunks)));
        batch.push_relocation(&documents, key, long(), moved, &[9; 10]);
    }
    appender().place(&mut batch).expect("it fits");
    let superseded = |number: usize| batch.superseded_chunks(number).collect::<Vec<_>>();
    let of_the_first: Vec<_> = batch.chunks_of(0).iter().map(|chunk| chunk.address).collect();
    assert_eq!((of_the_first.len(), batch.chunks_of(1).len()), (2, 3));
    assert_eq!(superseded(0), []);
    assert_eq!(superseded(1), of_the_first);
    assert_eq!((superseded(2), superseded(3)), (vec![LogAddress(4000)], vec![LogAddress(5000)]));
}

#[cfg(feature = "testing")]
#[test]
fn a_forked_commit_speaks_of_the_documents_of_the_fork() {
    let mut batch = put(KEY, 10);
    batch.push_catalog(rename_of_one(), Some(documents()));
    let copies = Arc::new(Documents::new(9, Layout::new(4)));
    let forked = batch.fork(&mut |_| Arc::clone(&copies));
    assert_eq!((forked.changes.len(), forked.body(&forked.changes[0])), (2, &[7; 10][..]));
    assert!(forked.touched(&forked.changes[0]).is_some_and(|touched| touched.documents.id == 9));
    assert!(matches!(&forked.changes[1].action, Action::Catalog(_, Some(begins)) if begins.id == 9));
}

#[test]
fn long_records_are_told_in_the_order_of_the_log() {
    let mut batch = put(KEY, 100);
    let documents = std::sync::Arc::clone(&documents());
    for len in [1000, 20, 100, 100] {
        push(&mut batch, Action::Put, &documents, KEY, Replaces::Nothing, &vec![7; len]);
    }
    batch.changes[4].is_moot = true;
    appender().place(&mut batch).expect("there is room");
    let long = batch.long_records(100);
    // One, the chunks of the second, and the fourth; the second itself is a short list, and the last is not there.
    assert!(batch.chunks.len() > 1);
    assert_eq!(long.len(), 1 + batch.chunks.len() + 1);
    assert_eq!(
        (long[0].start, long[long.len() - 1].start),
        (batch.changes[0].address, batch.changes[3].address)
    );
    assert!(long.is_sorted_by(|one, next| one.end <= next.start), "{long:?}");
    assert_eq!(long[0].end.0 - long[0].start.0, u64::from(batch.changes[0].len));
    assert!(batch.long_records(1000).is_empty());
}
