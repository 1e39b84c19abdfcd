//! Those who wait, for a sync or for a turn: in every order of their steps. A wake-up that is lost shows as a deadlock, which loom finds.

use super::Store;
use super::group::{Goal, Group};
use crate::core::{Core, Expect, Progress};
use crate::document::KeyRef;
use crate::error::{Error, Result};
use crate::format::Lsn;
use crate::options::{Background, Durability, Options};
use crate::seeded::Bug;
use crate::storage::MemoryStorage;
use crate::sync::explore::{PREEMPTIONS, every_order, is_found};
use crate::sync::race::Race;
use crate::sync::{Arc, Mutex, lock, thread};

/// A log of which only the LSNs are left, and those who wait for it.
struct Waiting {
    group: Arc<Group>,
    log: Mutex<Log>,
    /// What becomes of each sync, in turn; those after the last succeed.
    fate: fn(u64) -> Fate,
}

#[derive(Debug, Default)]
struct Log {
    placed: u64,
    durable: u64,
    gone: Vec<u64>,
    syncs: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Works,
    Fails,
    FindsNoRoom,
}

const TOO_SOON: &str = "acknowledged before it is durable";

impl Waiting {
    fn new(fate: fn(u64) -> Fate) -> Arc<Self> {
        let progress = Progress { durable: Lsn(0), visible: Lsn(0) };
        Arc::new(Waiting { group: Arc::new(Group::new(progress)), log: Mutex::default(), fate })
    }

    /// Places a commit and waits until it is visible. A success is asked whether it is one.
    fn commit(&self) -> Result<()> {
        let mut log = lock(&self.log);
        log.placed += 1;
        let lsn = log.placed;
        let waiter = self.group.join(Goal::Visible(Lsn(lsn)));
        drop(log);
        let outcome = waiter.wait(|| self.sync());
        let log = lock(&self.log);
        assert!(outcome.is_err() || lsn <= log.durable && !log.gone.contains(&lsn), "{TOO_SOON}");
        outcome
    }

    /// One sync: what is placed is handed over, then the disk works, with nothing held.
    fn sync(&self) -> Result<Progress> {
        let mut log = lock(&self.log);
        let (handed_over, fate) = (log.placed, (self.fate)(log.syncs));
        log.syncs += 1;
        if fate == Fate::FindsNoRoom {
            let error = Error::StorageFull { operation: "a write".to_owned() };
            let first = log.durable + 1;
            log.gone.extend(first..=handed_over);
            self.group.took_back((Lsn(first), Lsn(handed_over), error.clone())).wake();
            return Err(error);
        }
        drop(log);
        if fate == Fate::Fails {
            return Err(Error::Poisoned { cause: "a sync failed".to_owned() });
        }
        lock(&self.log).durable = handed_over;
        Ok(Progress { durable: Lsn(handed_over), visible: Lsn(handed_over) })
    }

    /// Three commits at once; what became of them.
    fn three_commits(self: &Arc<Self>) -> [Result<()>; 3] {
        let threads = [(); 2].map(|()| {
            let waiting = Arc::clone(self);
            thread::spawn(move || waiting.commit())
        });
        let own = self.commit();
        let [first, second] = threads.map(|thread| thread.join().expect("nobody panics"));
        [own, first, second]
    }
}

fn the_disk_works() {
    let outcomes = Waiting::new(|_| Fate::Works).three_commits();
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
}

fn the_first_sync_fails() {
    let waiting = Waiting::new(|sync| if sync == 0 { Fate::Fails } else { Fate::Works });
    let outcomes = waiting.three_commits();
    assert!(outcomes.iter().all(Result::is_err), "a failed sync is final: {outcomes:?}");
    assert_eq!(lock(&waiting.log).syncs, 1, "nobody tries again");
}

fn the_first_sync_finds_no_room() {
    let waiting = Waiting::new(|sync| if sync == 0 { Fate::FindsNoRoom } else { Fate::Works });
    let outcomes = waiting.three_commits();
    let told = outcomes.iter().filter(|outcome| matches!(outcome, Err(Error::StorageFull { .. }))).count();
    let gone = lock(&waiting.log).gone.len();
    assert!(told > 0 && told == gone, "who found no room is told, and nobody else: {outcomes:?}");
}

/// A transaction holds the turn while two commits of their own come, and each is let in.
fn writers_take_turns() {
    let mut options = Options::new().sector(512).segment_bytes(8192).cache_bytes(1 << 16).seed(1);
    options.background = Background::Manual;
    options.check.page_shift = 1;
    let core = Core::open(Box::new(MemoryStorage::new()), &options).expect("memory takes a store");
    let store = Arc::new(Store::new(core));
    let put = |store: &Arc<Store>, key| {
        // {"n": 0}
        let body = [0xa1, 0x61, b'n', 0];
        let put = store
            .autocommit(Durability::Buffered, |txn| txn.put("c", KeyRef::Int(key), Expect::Anything, &body));
        assert!(put.expect("the turn comes"));
    };
    put(&store, 0);
    let turn = store.take_turn().expect("nobody is in the way");
    let others = [1, 2].map(|key| {
        let store = Arc::clone(&store);
        thread::spawn(move || put(&store, key))
    });
    drop(turn);
    for other in others {
        other.join().expect("nobody panics");
    }
}

#[test]
fn every_commit_is_told_that_it_is_durable_and_not_before() {
    println!("{} executions", every_order(PREEMPTIONS, the_disk_works));
}

#[test]
fn a_failed_sync_reaches_all_who_wait() {
    println!("{} executions", every_order(PREEMPTIONS, the_first_sync_fails));
}

#[test]
fn who_found_no_room_is_told_and_who_came_later_goes_on() {
    println!("{} executions", every_order(PREEMPTIONS, the_first_sync_finds_no_room));
}

#[test]
fn everybody_who_waits_for_a_turn_gets_it() {
    println!("{} executions", every_order(PREEMPTIONS - 1, writers_take_turns));
}

#[test]
fn loom_finds_a_wake_up_that_is_lost() {
    is_found(Bug::WakeUpLost, "deadlock", PREEMPTIONS, the_disk_works);
}

#[test]
fn loom_finds_an_acknowledgement_by_the_sync_before() {
    is_found(Race::WokenIsDone, TOO_SOON, PREEMPTIONS, the_disk_works);
}

#[test]
fn loom_finds_a_failed_sync_that_is_acknowledged() {
    is_found(Bug::FailedSyncAcknowledged, TOO_SOON, PREEMPTIONS, the_first_sync_fails);
}

#[test]
fn loom_finds_a_turn_whose_end_is_not_told() {
    is_found(Race::TurnEndNotTold, "deadlock", PREEMPTIONS - 1, writers_take_turns);
}
