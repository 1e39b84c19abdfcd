//! Long lives of commits that nobody waits for at once, on a disk that is full now and then: whatever is taken back, the feed played
//! back is the state, its positions stay, and a snapshot is what it was.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Db, DocRef, Durability, Error, Key, Options, Snapshot, Ticket, doc};
use holotype_crash_tests::follower::Follower;
use holotype_model::check::Rng;

const LIVES: u64 = 60;
const STEPS: u64 = 120;

/// Memory that takes only so many more writes; fewer than none: any number.
#[derive(Debug)]
struct Disk {
    inner: MemoryStorage,
    room: AtomicI64,
}

impl Storage for Disk {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.inner.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        match self.room.load(Ordering::Relaxed) {
            0 => return Err(io::ErrorKind::StorageFull.into()),
            room if room > 0 => self.room.store(room - 1, Ordering::Relaxed),
            _ => {}
        }
        self.inner.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }
}

type Contents = BTreeMap<Key, i64>;

fn entry(found: holotype::Result<DocRef>) -> (Key, i64) {
    let found = found.expect("a healthy disk");
    (found.key().to_key(), found.get("n").and_then(|n| n.as_i64()).expect("every document has it"))
}

fn contents(db: &Db) -> Contents {
    db.collection("a").scan(..).map_or_else(|_| Contents::new(), |scan| scan.map(entry).collect())
}

fn contents_of(snapshot: &Snapshot) -> Contents {
    let Ok(view) = snapshot.collection("a") else { return Contents::new() };
    let contents: Contents = view.scan(..).expect("no age limit").map(entry).collect();
    assert_eq!(view.len().expect("no age limit"), contents.len() as u64);
    contents
}

struct Life {
    rng: Rng,
    disk: Arc<Disk>,
    db: Db,
    tickets: Vec<Ticket>,
    snapshots: Vec<(Snapshot, Contents)>,
    follower: Follower,
}

impl Life {
    fn options() -> Options {
        Options::tiny().count_max(12)
    }

    fn begin(seed: u64) -> Life {
        let disk = Arc::new(Disk { inner: MemoryStorage::new(), room: AtomicI64::new(-1) });
        let db = Db::open_on(Arc::clone(&disk), &Self::options()).expect("there is room");
        let (rng, follower) = (Rng::seeded(seed), Follower::begin(&db).expect("a new store"));
        Life { rng, disk, db, tickets: Vec::new(), snapshots: Vec::new(), follower }
    }

    /// Goes on until the steps are over, or the store has stopped writing. How many steps there were.
    fn live(mut self) -> u64 {
        for step in 0..STEPS {
            let room = if self.rng.one_in(6) { self.rng.below(3) as i64 } else { -1 };
            self.disk.room.store(room, Ordering::Relaxed);
            let goes_on = self.step();
            self.disk.room.store(-1, Ordering::Relaxed);
            if !goes_on {
                return step;
            }
            self.look();
            if step % 10 == 0 && !self.verifies() {
                return step;
            }
        }
        STEPS
    }

    /// False where the store has stopped writing: a disk that was full in the midst of what cannot be taken back.
    fn step(&mut self) -> bool {
        match self.rng.below(10) {
            0..=5 => return self.commit(),
            6 => self.wait(),
            7 => self.snapshots.push((self.db.snapshot(), contents(&self.db))),
            8 if !self.snapshots.is_empty() => {
                let gone = self.rng.below(self.snapshots.len());
                self.snapshots.swap_remove(gone);
            }
            9 if self.rng.one_in(4) => return self.reopen(),
            _ => {}
        }
        true
    }

    fn commit(&mut self) -> bool {
        let mut tx = match self.db.begin_write() {
            Ok(tx) => tx,
            Err(Error::Poisoned { .. }) => return false,
            Err(error) => panic!("{error}"),
        };
        tx.set_durability([Durability::Synced, Durability::Written, Durability::Buffered][self.rng.below(3)]);
        let mut savepoint = None;
        for _ in 0..=self.rng.below(6) {
            let key = self.rng.below(12) as i64;
            let len = if self.rng.one_in(8) { self.rng.below(900) } else { self.rng.below(60) };
            match self.rng.below(6) {
                0..=2 => {
                    let document = doc! { "n": self.rng.below(100) as i64, "t": "x".repeat(len) };
                    tx.collection("a").put(key, document).expect("it is small enough");
                }
                3 => drop(tx.collection("a").delete(key)),
                4 => savepoint = Some(tx.savepoint()),
                _ => savepoint.iter().for_each(|to| tx.rollback_to(to).expect("it is this one's")),
            }
        }
        match tx.commit_deferred() {
            Ok(ticket) => self.tickets.push(ticket),
            Err(Error::StorageFull { .. }) => {}
            Err(Error::Poisoned { .. }) => return false,
            Err(error) => panic!("{error}"),
        }
        if self.rng.one_in(2) {
            self.wait();
        }
        true
    }

    fn wait(&mut self) {
        for ticket in self.tickets.drain(..) {
            match ticket.wait() {
                Ok(_) | Err(Error::StorageFull { .. } | Error::Poisoned { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn reopen(&mut self) -> bool {
        self.disk.room.store(-1, Ordering::Relaxed);
        self.snapshots.clear();
        self.wait();
        let before = contents(&self.db);
        if self.db.clone().close().is_err() {
            return false;
        }
        let disk = Arc::clone(&self.disk);
        self.db = Db::open_on(disk, &Self::options()).expect("a healthy disk");
        assert_eq!(contents(&self.db), before);
        self.follower = Follower::begin(&self.db).expect("a healthy disk");
        true
    }

    fn look(&mut self) {
        for (snapshot, was) in &self.snapshots {
            assert_eq!(&contents_of(snapshot), was, "a snapshot is what it was");
        }
        self.follower.catch_up(&self.db).unwrap_or_else(|what| panic!("{what}"));
    }

    fn verifies(&self) -> bool {
        match self.db.verify(true) {
            Ok(report) => assert!(report.is_clean(), "{report:?}"),
            Err(Error::Poisoned { .. }) => return false,
            Err(error) => panic!("{error}"),
        }
        true
    }
}

#[test]
fn whatever_is_taken_back_feed_and_snapshots_hold() {
    let steps: u64 = (0..LIVES).map(|seed| Life::begin(seed).live()).sum();
    assert!(steps > LIVES * STEPS / 4, "most lives end early: {steps} steps in all");
}
