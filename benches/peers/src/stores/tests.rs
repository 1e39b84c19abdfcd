//! What every store must do, and what those that lack something really do.

use super::*;
use crate::contents::{Contents, check, first, found_in, updated};

fn bytes_at(from: &mut impl Read, id: u64) -> Option<Vec<u8>> {
    from.get(id, <[u8]>::to_vec).unwrap()
}

/// What every store does, durable or not, while it is open.
fn does_what_it_is_told<S: Store>(store: &S) {
    let mut session = store.session().unwrap();
    session.put(1, &first(1)).unwrap();
    session.put_all((2..=300).map(|id| (id, first(id)))).unwrap();
    session.put(7, &updated(7)).unwrap();
    session.delete(8).unwrap();

    assert_eq!(bytes_at(&mut session, 7), Some(updated(7).encode()), "{}: the newest is read", S::NAME);
    assert_eq!(bytes_at(&mut session, 8), None, "{}: what was deleted is gone", S::NAME);
    assert_eq!(bytes_at(&mut session, 301), None);
    assert_eq!(session.count().unwrap(), 299, "{}", S::NAME);
    let mut scanned = Vec::new();
    session.scan_from(5, 4, |id, bytes| scanned.push((id, bytes.to_vec()))).unwrap();
    let expected = [(5, first(5)), (6, first(6)), (7, updated(7)), (9, first(9))];
    assert_eq!(
        scanned,
        expected.map(|(id, document)| (id, document.encode())),
        "{}: in order, without the gap",
        S::NAME
    );
    let mut behind = 0;
    session.scan_from(299, 50, |_, _| behind += 1).unwrap();
    assert_eq!(behind, 2, "{}: a scan ends where the documents do", S::NAME);
}

/// What is there once [`does_what_it_is_told`] is through.
fn contents() -> Contents {
    let now = |id| if id == 7 { updated(id) } else { first(id) };
    Contents::of((1..=300).filter(|id| *id != 8).map(|id| (id, now(id))))
}

fn keeps_a_snapshot<S: Snapshots>(commits: Commits) {
    let directory = tempfile::tempdir().unwrap();
    let store = S::open(directory.path(), commits).unwrap();
    let mut session = store.session().unwrap();
    session.put_all((1..=20).map(|id| (id, first(id)))).unwrap();
    let mut held = store.hold().unwrap();
    session.put(7, &updated(7)).unwrap();
    session.delete(8).unwrap();
    assert_eq!(bytes_at(&mut held, 7), Some(first(7).encode()), "a snapshot stays as it was");
    assert_eq!(bytes_at(&mut held, 8), Some(first(8).encode()), "also where one was deleted");
}

#[test]
fn a_snapshot_stays_as_it_was() {
    macro_rules! keeps {
        ($store:ty) => {
            keeps_a_snapshot::<$store>(Commits::Durable);
            keeps_a_snapshot::<$store>(Commits::Unsynced);
        };
    }
    each_snapshot!(keeps);
}

#[test]
fn every_store_reads_the_newest_and_holds_it_all_when_opened_again() {
    fn keeps<S: Store>(commits: Commits) {
        let directory = tempfile::tempdir().unwrap();
        let store = S::open(directory.path(), commits).unwrap();
        does_what_it_is_told(&store);
        assert_eq!(found_in(&store).unwrap(), contents(), "{}", S::NAME);
        if S::LACKS.is_empty() {
            store.close().unwrap();
            check::<S>(directory.path(), contents()).unwrap();
        }
    }
    macro_rules! keeps {
        ($store:ty) => {
            keeps::<$store>(Commits::Durable);
            keeps::<$store>(Commits::Unsynced);
        };
    }
    each_reader!(keeps);
    keeps!(holotype::Buffered);
}

#[test]
fn what_was_cleaned_up_is_still_there_under_a_small_cache() {
    fn keeps<S: Store>() {
        if !S::LACKS.is_empty() {
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let store = S::open(directory.path(), Commits::Unsynced).unwrap();
        does_what_it_is_told(&store);
        store.clean().unwrap();
        let store = S::open_with_cache(directory.path(), 1 << 20).unwrap();
        assert_eq!(found_in(&store).unwrap(), contents(), "{}", S::NAME);
    }
    macro_rules! keeps {
        ($store:ty) => {
            keeps::<$store>()
        };
    }
    each_reader!(keeps);
}

#[test]
fn documents_have_names_and_come_in_the_order_of_them() {
    fn named<S: Store>() {
        let directory = tempfile::tempdir().unwrap();
        let store = S::open(directory.path(), Commits::Unsynced).unwrap();
        let mut session = store.session().unwrap();
        session.put_named((0..300).map(|id| (format!("user-{id:03}"), first(id)))).unwrap();
        let found = session.get_named("user-117", <[u8]>::to_vec).unwrap();
        assert_eq!(found, Some(first(117).encode()), "{}", S::NAME);
        assert_eq!(session.get_named("user-1170", |_| ()).unwrap(), None);
        let mut scanned = Vec::new();
        session.scan_named("user-11", |bytes| scanned.push(bytes.to_vec())).unwrap();
        let expected: Vec<_> = (110..120).map(|id| first(id).encode()).collect();
        assert_eq!(scanned, expected, "{}", S::NAME);
    }
    macro_rules! named {
        ($store:ty) => {
            named::<$store>()
        };
    }
    each_reader!(named);
}

#[test]
fn other_contents_than_expected_are_a_failure_of_the_store() {
    fn refuses<S: Store>() {
        let directory = tempfile::tempdir().unwrap();
        let store = S::open(directory.path(), Commits::Unsynced).unwrap();
        store.session().unwrap().put(1, &first(1)).unwrap();
        store.close().unwrap();
        let failure = check::<S>(directory.path(), Contents::of([(1, updated(1))])).unwrap_err();
        assert!(failure.to_string().starts_with(S::NAME), "{failure}");
    }
    macro_rules! refuses {
        ($store:ty) => {
            refuses::<$store>();
        };
    }
    each_reader!(refuses);
}

/// Whether four threads that begin to scan at once each see every document.
fn shows_all_to_each_of_many<S: Store>(store: &S) -> bool {
    // As many as it takes a while to put in order.
    const COUNT: u64 = 40_000;
    store.session().unwrap().put_all((1..=COUNT).map(|id| (id, first(id)))).unwrap();
    let start = std::sync::Barrier::new(4);
    let count = || {
        start.wait();
        let mut count = 0;
        store.session().unwrap().scan(|_, _| count += 1).unwrap();
        count == COUNT
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|saw_all| *saw_all).count() == 4
    })
}

/// A store is not left out of a row for what it does.
#[test]
fn what_a_store_is_said_to_lack_it_lacks() {
    fn lacks<S: Store>() {
        for lack in S::LACKS {
            // What comes in no order may come in the right one by chance, but not many times.
            let right = (0..20).all(|_| {
                let directory = tempfile::tempdir().unwrap();
                let store = S::open(directory.path(), Commits::Durable).unwrap();
                let mut session = store.session().unwrap();
                if let Lack::ScannedAtOnce(_) = lack {
                    return shows_all_to_each_of_many::<S>(&store);
                }
                session.put_all((1..=20).map(|id| (id, first(id)))).unwrap();
                let expected = match lack {
                    Lack::Reopened(_) | Lack::ScannedAtOnce(_) => {
                        Contents::of((1..=20).map(|id| (id, first(id))))
                    }
                    Lack::Replaced(_) => {
                        (1..=20).for_each(|id| session.put(id, &updated(id)).unwrap());
                        Contents::of((1..=20).map(|id| (id, updated(id))))
                    }
                    Lack::Deleted(_) => {
                        (1..=10).for_each(|id| session.delete(id).unwrap());
                        Contents::of((11..=20).map(|id| (id, first(id))))
                    }
                };
                drop(session);
                store.close().unwrap();
                check::<S>(directory.path(), expected).is_ok()
            });
            assert!(!right, "{} does not lack {lack:?}", S::NAME);
        }
    }
    macro_rules! lacks {
        ($store:ty) => {
            lacks::<$store>();
        };
    }
    each_reader!(lacks);
}
