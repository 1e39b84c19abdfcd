//! What is kept of documents that no block holds whole.

use std::ops::{Bound, ControlFlow};

use super::*;
use crate::core::{Core, Cursor, Expect};
use crate::error::Error;
use crate::index::KeyRange;
use crate::index::PrimaryIndex;
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
        let full = Error::StorageFull { operation: "a write".to_owned() };
        assert!(writer.take_back_unwritten(&full));
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

/// Whether no entry of the index leads to a document whose record has another form than the entry says: short documents and long ones, in
/// the tail and in blocks, read first and read again, alone and on a walk.
fn contradicting_entries_are_damage() -> bool {
    let core = store();
    put(&core, &[(1, &[0xA0]), (300, &[0xA0]), (2, &[2; 20_000]), (3, &[3; 300_000])], Durability::Written);
    let (documents, naming) = (documents(&core), core.shared.naming("a").expect("it was created"));
    let cursor = |key: KeyRef<'_>| {
        let range = KeyRange { from: Bound::Included(key.to_key()), to: Bound::Unbounded };
        Cursor::new(core.shared.register(), Arc::clone(&naming), range)
    };
    let is_damage = |found: Result<()>| matches!(found, Err(Error::Corrupt(_)));
    let mut all = true;
    for _ in 0..2 {
        for key in [1, 300, 2, 3].map(KeyRef::Int) {
            let sound = documents.index.get(key).expect("it was put");
            assert!(core.shared.get(&naming, key).is_ok_and(|found| found.is_some()), "it is visible");
            let read = |entry| core.shared.locate(documents.id, key, entry).map(|_| ());
            (0..3).for_each(|_| read(sound).expect("it is sound"));
            for bits in 1..4 {
                let other = Entry::from_value(sound.value() ^ bits).expect("a record can stand there");
                documents.index.set(key, other);
                all &= is_damage(read(other)) && is_damage(core.shared.get(&naming, key).map(|_| ()));
                all &= is_damage(core.shared.next_document(&mut cursor(key)).map(|_| ()));
                let visit = core.shared.visit::<()>(&mut cursor(key), |_| ControlFlow::Continue(()));
                all &= is_damage(visit.map(|_| ()));
                documents.index.set(key, sound);
            }
        }
        put(&core, &[(4, &[7; LONG])], Durability::Written);
    }
    all
}

#[test]
fn an_entry_that_contradicts_its_record_is_damage_of_its_document() {
    assert!(contradicting_entries_are_damage());
}

#[cfg(feature = "seeded")]
#[test]
fn an_entry_that_is_believed_against_its_record_is_noticed() {
    use crate::seeded::{Bug, switch_on};
    switch_on(Some(Bug::EntryBitsBelieved));
    let holds = contradicting_entries_are_damage();
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
