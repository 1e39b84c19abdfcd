//! What is kept of documents that no block holds whole.

use super::*;
use crate::core::{Core, Expect};
use crate::options::{Durability, Options};
use crate::storage::MemoryStorage;

/// Of two chunks, and not so long that it is written out at once.
const LONG: usize = 200_000;

fn put(core: &Core, documents: &[(i64, &[u8])], durability: Durability) {
    let mut writer = core.writer().expect("it is opened for writing");
    writer.begin().expect("memory refuses nothing");
    for (key, body) in documents {
        writer.txn.put("a", KeyRef::Int(*key), Expect::Anything, body).expect("it is sound");
    }
    writer.commit(durability).expect("memory refuses nothing");
}

/// A store whose log ends where all that it holds is durable.
fn store() -> Core {
    let core = Core::open(Box::new(MemoryStorage::new()), &Options::new()).expect("memory refuses nothing");
    put(&core, &[(0, &[0xA0])], Durability::Buffered);
    core.writer().expect("it is opened for writing").sync().expect("memory refuses nothing");
    core
}

fn documents(core: &Core) -> Arc<Documents> {
    Arc::clone(&core.shared.newest_naming("a").expect("it was created").documents)
}

/// The document of key 1 after the newest commit, seen or not, as the next writer reads it; and where it stands.
fn newest(core: &Core) -> (Located, LogAddress) {
    let documents = documents(core);
    let entry = documents.index.get(KeyRef::Int(1)).expect("it was put");
    (core.shared.locate(documents.id, KeyRef::Int(1), entry).expect("it is sound"), entry.address())
}

/// A long document is read by the next writer, and the commit that put it taken back; another comes to stand at its address, since chunks
/// begin a segment. Whether that is what is read there.
fn what_comes_after_is_read() -> bool {
    let core = store();
    put(&core, &[(1, &[2; LONG])], Durability::Synced);
    assert!(core.shared.visibility.has_pending());
    let at = newest(&core).1;
    (0..3).for_each(|_| assert_eq!(newest(&core).0.body(), [2; LONG]));
    {
        let mut writer = core.writer().expect("it is opened for writing");
        assert!(writer.take_back_unwritten());
    }
    put(&core, &[(1, &[3; LONG])], Durability::Written);
    let (after, at_now) = newest(&core);
    assert_eq!(at_now, at, "the other stands elsewhere, so this shows nothing");
    after.body() == [3; LONG]
}

#[test]
fn what_may_still_be_taken_back_is_not_kept() {
    assert!(what_comes_after_is_read());
}

#[cfg(feature = "seeded")]
#[test]
fn a_document_that_is_kept_before_it_is_settled_is_noticed() {
    use crate::seeded::{Bug, switch_on};
    switch_on(Some(Bug::KeptUnsettled));
    let holds = what_comes_after_is_read();
    switch_on(None);
    assert!(!holds, "the check cannot fail");
}

#[test]
fn a_long_document_is_kept_once_it_is_settled_and_read_twice() {
    for len in [20_000, 300_000] {
        let core = store();
        let body = vec![7; len];
        put(&core, &[(1, &body)], Durability::Buffered);
        (0..3).for_each(|_| assert_eq!(newest(&core).0.body(), body));
        // So much was waiting that it was written out; then the last block alone is not settled.
        let (_, at) = newest(&core);
        assert!(core.shared.log.cache.whole(at).is_none(), "its end is still in the tail");
        put(&core, &[(2, &[7; LONG])], Durability::Written);
        assert_eq!(newest(&core).0.body(), body);
        assert!(core.shared.log.cache.whole(at).is_none(), "it is read for the first time since");
        (0..2).for_each(|_| assert_eq!(newest(&core).0.body(), body));
        let kept = core.shared.log.cache.whole(at).expect("it was read twice");
        let [first, second] = [newest(&core).0, newest(&core).0];
        assert!(std::ptr::eq(first.body(), second.body()) && first.lsn() == kept.lsn);
        assert!(first.key() == KeyRef::Int(1) && first.lsn() < core.progress().visible);
    }
}
