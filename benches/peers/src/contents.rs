//! The documents that every store gets, and what must be found when it is opened again.

use std::path::Path;

use holotype::{Document, doc};
use holotype_benches::workload::small_document;

use crate::failure::{Result, expect_equal};
use crate::stores::{Commits, Session, Store};

/// The document under `id` as it is first put.
pub fn first(id: u64) -> Document {
    small_document(id as i64)
}

/// The document under `id` once it was updated: other bytes, as many of them, with the same sum. So a reader beside a writer
/// can be held to the sum of what it read, whichever of the two it met.
pub fn updated(id: u64) -> Document {
    doc! { "id": id as i64, "name": "benchmark user", "active": true, "score": 87.5, "tags": ["b", "a"] }
}

/// Reads each byte of a document.
pub fn byte_sum(bytes: &[u8]) -> u64 {
    // 256 bytes at a time fit into 16 bits, which the processor adds eight at once: a row is to measure the store.
    let sums = bytes.chunks(256).map(|part| part.iter().map(|byte| u16::from(*byte)).sum::<u16>());
    sums.map(u64::from).sum()
}

/// What a store holds, in two numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Contents {
    documents: u64,
    sum: u64,
}

impl Contents {
    pub fn of(documents: impl IntoIterator<Item = (u64, Document)>) -> Self {
        let mut contents = Contents::default();
        for (id, document) in documents {
            contents.add(id, &document.encode());
        }
        contents
    }

    /// The order in which documents come does not matter; which bytes stand under which id does.
    fn add(&mut self, id: u64, bytes: &[u8]) {
        let hash = id
            .to_le_bytes()
            .iter()
            .chain(bytes)
            .fold(FNV_BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME));
        self.documents += 1;
        self.sum = self.sum.wrapping_add(hash);
    }
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// How many documents are one commit while a store is loaded.
const BATCH: u64 = 1_000;

/// A new store in `directory` with the first documents under `1..=count`, whose commits are not synced. It was closed and opened
/// again since, so that it has settled what a load leaves behind.
pub fn load<S: Store>(directory: &Path, count: u64) -> Result<S> {
    load_of(directory, Commits::Unsynced, count, first)
}

/// As [`load`], of other documents, and of a store whose commits are of this class from then on.
pub fn load_of<S: Store>(
    directory: &Path,
    commits: Commits,
    count: u64,
    document: fn(u64) -> Document,
) -> Result<S> {
    let store = S::open(directory, Commits::Unsynced)?;
    let mut session = store.session()?;
    for from in (1..=count).step_by(BATCH as usize) {
        let to = (from + BATCH - 1).min(count);
        session.put_all((from..=to).map(|id| (id, document(id))))?;
    }
    drop(session);
    store.close()?;
    S::open(directory, commits)
}

/// Opens the store in `directory` again and holds it to what was put there.
pub fn check<S: Store>(directory: &Path, expected: Contents) -> Result<()> {
    let store = S::open(directory, Commits::Durable)?;
    let found = found_in(&store)?;
    store.close()?;
    expect_equal(S::NAME, "what it holds when opened again", &expected, &found)
}

/// What an open store holds.
pub fn found_in<S: Store>(store: &S) -> Result<Contents> {
    let mut found = Contents::default();
    store.session()?.scan(|id, bytes| found.add(id, bytes))?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_changes_the_contents_but_not_the_sum_of_bytes() {
        for id in [1, 23, 24, 100_000] {
            let (first, updated) = (first(id), updated(id));
            assert_eq!(byte_sum(&first.encode()), byte_sum(&updated.encode()));
            assert_ne!(Contents::of([(id, first)]), Contents::of([(id, updated)]));
        }
    }

    #[test]
    fn documents_under_each_others_ids_are_other_contents() {
        let contents = |ids: [u64; 2]| Contents::of([(ids[0], first(1)), (ids[1], first(2))]);
        assert_ne!(contents([1, 2]), contents([2, 1]));
    }
}
