//! Money moves between accounts while others count it: none is made or lost, whoever looks, and whatever a power cut leaves.

use std::collections::BTreeMap;
use std::sync::Mutex as Untracked;

use super::{every_seed, is_found};
use crate::seeded::Bug;
use crate::storage::sim::{Decisions, Level, SimDisk};
use crate::sync::{Arc, thread};
use crate::{Collection, Db, Document, Durability, Key, Options, doc};

const WRITERS: i64 = 3;
const TRANSFERS: i64 = 3;
const START: i64 = 100;
/// Two accounts for each writer.
const TOTAL: i64 = 2 * WRITERS * START;

const CLASSES: [Durability; 3] = [Durability::Synced, Durability::Written, Durability::Buffered];

/// How many transfers of each writer must survive a power cut, and how many it has begun.
#[derive(Debug, Clone, Copy, Default)]
struct Promise {
    returned: i64,
    durable: i64,
    begun: i64,
}

struct Bank {
    db: Db,
    disk: SimDisk,
    options: Options,
    /// Not seen by the scheduler, and never held across a step of it.
    promises: Untracked<[Promise; WRITERS as usize]>,
}

impl Bank {
    fn open(seed: u64) -> Arc<Self> {
        let disk = SimDisk::new(64, Level::Sectors);
        disk.set_decisions(Decisions::seeded(seed));
        let options = Options::tiny();
        let db = Db::open_on(disk.clone(), &options).expect("a new disk takes a store");
        let accounts = db.collection("accounts");
        accounts.put_many((0..2 * WRITERS).map(|id| (id, balance(START)))).expect("there is room");
        Arc::new(Bank { db, disk, options, promises: Untracked::default() })
    }

    fn accounts(&self) -> Collection {
        self.db.collection("accounts")
    }

    fn promise(&self, change: impl FnOnce(&mut [Promise; WRITERS as usize])) {
        change(&mut self.promises.lock().expect("no panic with it held"));
    }

    /// The `n`-th transfer of a writer, between its two accounts, with a line in the journal: one commit.
    fn transfer(&self, writer: i64, n: i64) {
        let class = CLASSES[writer as usize % CLASSES.len()];
        self.promise(|promises| promises[writer as usize].begun = n);
        let accounts = self.accounts().with_durability(class);
        let rows: [(Key, Document); 3] = [
            (Key::Int(2 * writer), balance(START - n)),
            (Key::Int(2 * writer + 1), balance(START + n)),
            (line(writer, n), doc! { "n": n }),
        ];
        accounts.put_many(rows).expect("the disk works");
        self.promise(|promises| {
            let promise = &mut promises[writer as usize];
            promise.returned = n;
            if class == Durability::Synced {
                promise.durable = n;
            }
        });
    }

    /// All that returned before a flush is durable after it.
    fn flush(&self) {
        let before = *self.promises.lock().expect("no panic with it held");
        self.db.flush().expect("the disk works");
        self.promise(|promises| {
            for (promise, before) in promises.iter_mut().zip(before) {
                promise.durable = promise.durable.max(before.returned);
            }
        });
    }

    /// What a power cut at this moment would leave keeps every promise.
    fn cut_power(&self, seed: u64) {
        let promises = *self.promises.lock().expect("no panic with it held");
        let image = self.disk.fork();
        let begun = self.promises.lock().expect("no panic with it held").map(|promise| promise.begun);
        image.set_decisions(Decisions::seeded(seed));
        image.crash();
        let db = Db::open_on(image, &self.options).expect("what a power cut leaves can be opened");
        let left = count(&db.collection("accounts"));
        for (writer, promise) in promises.iter().enumerate() {
            let durable = left[writer];
            assert!(durable >= promise.durable, "an acknowledged transfer is lost: {durable} of {promise:?}");
            assert!(durable <= begun[writer], "nothing comes from nowhere");
        }
    }
}

fn balance(amount: i64) -> Document {
    doc! { "balance": amount }
}

fn line(writer: i64, n: i64) -> Key {
    Key::Text(format!("{writer}/{n}").as_str().into())
}

/// Looks at all accounts in one scan, asserts that the sum is right and that the journals are whole; how many transfers of each
/// writer show.
fn count(accounts: &Collection) -> [i64; WRITERS as usize] {
    let mut balances = BTreeMap::new();
    let mut lines = [0; WRITERS as usize];
    for row in accounts.scan(..).expect("the collection is there") {
        let row = row.expect("the disk can be read");
        match row.key().to_key() {
            Key::Int(id) => {
                let balance = row.get("balance").and_then(|balance| balance.as_i64()).expect("a balance");
                balances.insert(id, balance);
            }
            Key::Text(line) => {
                let writer = line.as_str().split('/').next().and_then(|writer| writer.parse::<usize>().ok());
                lines[writer.expect("a line begins with its writer")] += 1;
            }
            other => panic!("no row has the key {other:?}"),
        }
    }
    assert_eq!(balances.values().sum::<i64>(), TOTAL, "money is made or lost: {balances:?}");
    for (writer, lines) in (0..WRITERS).zip(lines) {
        assert_eq!(balances[&(2 * writer + 1)], START + lines, "a commit shows in part: {balances:?}");
    }
    lines
}

/// Writers of every class, one who counts twice, one who flushes, and power cuts at any time.
fn a_day(seed: u64) {
    let bank = Bank::open(seed);
    let mut threads = Vec::new();
    for writer in 0..WRITERS {
        let bank = Arc::clone(&bank);
        threads.push(thread::spawn(move || (1..=TRANSFERS).for_each(|n| bank.transfer(writer, n))));
    }
    let work: [fn(&Bank, u64); 3] = [
        |bank, _| {
            let first = count(&bank.accounts());
            let second = count(&bank.accounts());
            assert!(first.iter().zip(second).all(|(a, b)| *a <= b), "time runs one way");
        },
        |bank, _| {
            bank.flush();
            bank.flush();
        },
        |bank, seed| {
            bank.cut_power(seed);
            thread::yield_now();
            bank.cut_power(seed + 1);
        },
    ];
    for work in work {
        let bank = Arc::clone(&bank);
        threads.push(thread::spawn(move || work(&bank, seed)));
    }
    for thread in threads {
        thread.join().expect("no thread panics");
    }
    assert_eq!(count(&bank.accounts()), [TRANSFERS; WRITERS as usize], "every transfer returned");
    bank.cut_power(seed);
}

#[test]
fn money_is_neither_made_nor_lost_under_any_schedule() {
    every_seed(8_000, a_day);
}

#[test]
fn a_schedule_shows_a_commit_that_is_visible_in_pieces() {
    println!("schedule {}", is_found(Bug::CommitVisibleInPieces, "money is made or lost", 200, a_day));
}
