//! Money moves between accounts while others count it: none is made or lost, whoever looks, and whatever a power cut leaves.

use std::sync::{Arc, Mutex as Untracked};

use holotype::seeded::Bug;
use holotype::storage::sim::{Decisions, Level, SimDisk};
use holotype::{Db, DocRef, Document, Durability, Error, Key, Options, Race, Result, Snapshot, doc};
use shuttle::thread;

use super::{Mistake, is_found, run, seeds};

const WRITERS: usize = 3;
const TRANSFERS: i64 = 3;
const ACCOUNTS: i64 = 3;
const START: i64 = 100;
const TOTAL: i64 = ACCOUNTS * START;

/// The class of each writer.
type Classes = [Durability; WRITERS];

const EVERY_CLASS: Classes = [Durability::Synced, Durability::Written, Durability::Buffered];
const BEST_CLASS: Classes = [Durability::Synced; WRITERS];

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
    classes: Classes,
    /// Not seen by the scheduler, and never held across a step of it.
    promises: Untracked<[Promise; WRITERS]>,
}

impl Bank {
    fn open(seed: u64, classes: Classes) -> Arc<Self> {
        let disk = SimDisk::new(64, Level::Sectors);
        disk.set_decisions(Decisions::seeded(seed));
        let options = Options::tiny();
        let db = Db::open_on(disk.clone(), &options).expect("a new disk takes a store");
        let accounts = db.collection("accounts");
        accounts.put_many((0..ACCOUNTS).map(|id| (id, balance(START)))).expect("there is room");
        db.create_collection("journal").expect("there is room");
        Arc::new(Bank { db, disk, options, classes, promises: Untracked::default() })
    }

    fn promises(&self) -> [Promise; WRITERS] {
        *self.promises.lock().expect("no panic with it held")
    }

    fn promise(&self, change: impl FnOnce(&mut [Promise; WRITERS])) {
        change(&mut self.promises.lock().expect("no panic with it held"));
    }

    /// The `n`-th transfer of a writer, between two accounts that others use as well, with a line in the journal: one transaction.
    fn transfer(&self, writer: usize, n: i64) {
        let class = self.classes[writer];
        self.promise(|promises| promises[writer].begun = n);
        let from = (writer as i64 + n) % ACCOUNTS;
        let to = (from + 1) % ACCOUNTS;
        let moved = self.db.write(|tx| {
            tx.set_durability(class);
            let accounts = tx.collection("accounts");
            let amount = 1 + writer as i64;
            let [before_from, before_to] = [accounts.get(from)?, accounts.get(to)?].map(balance_in);
            accounts.put(from, balance(before_from - amount))?;
            accounts.put(to, balance(before_to + amount))?;
            tx.collection("journal").put(line(writer, n), doc! { "n": n }).map(|_| ())
        });
        moved.expect("the disk works");
        self.promise(|promises| {
            let promise = &mut promises[writer];
            promise.returned = n;
            if class == Durability::Synced {
                promise.durable = n;
            }
        });
    }

    /// Changes what it finds and thinks better of it.
    fn give_up(&self) {
        let given_up: Result<()> = self.db.write(|tx| {
            tx.collection("accounts").put(0, balance(0))?;
            tx.collection("journal").clear()?;
            Err(Error::IdsExhausted)
        });
        assert!(matches!(given_up, Err(Error::IdsExhausted)), "{given_up:?}");
    }

    /// All that returned before a flush is durable after it.
    fn flush(&self) {
        let before = self.promises();
        self.db.flush().expect("the disk works");
        self.promise(|promises| {
            for (promise, before) in promises.iter_mut().zip(before) {
                promise.durable = promise.durable.max(before.returned);
            }
        });
    }

    /// Counts in a snapshot, twice with some time between, and in one taken after.
    fn watch(&self) {
        let held = self.db.snapshot();
        let first = count(&held);
        thread::yield_now();
        assert_eq!(count(&held), first, "a snapshot stays as it is");
        let later = count(&self.db.snapshot());
        assert!(
            first.iter().zip(later).all(|(first, later)| *first <= later),
            "the visible state goes one way"
        );
    }

    /// What a power cut at this moment would leave keeps every promise.
    fn cut_power(&self, seed: u64) {
        let promises = self.promises();
        let image = self.disk.fork();
        let begun = self.promises().map(|promise| promise.begun);
        image.set_decisions(Decisions::seeded(seed));
        image.crash();
        let db = Db::open_on(image, &self.options).expect("what a power cut leaves can be opened");
        let left = count(&db.snapshot());
        for (writer, promise) in promises.iter().enumerate() {
            let left = left[writer];
            assert!(left >= promise.durable, "an acknowledged transfer is lost: {left} of {promise:?}");
            assert!(left <= begun[writer], "nothing comes from nowhere");
        }
    }
}

fn balance(amount: i64) -> Document {
    doc! { "balance": amount }
}

fn balance_in(row: Option<DocRef>) -> i64 {
    row.and_then(|row| row.get("balance")?.as_i64()).expect("an account has a balance")
}

fn line(writer: usize, n: i64) -> Key {
    Key::Text(format!("{writer}/{n}").as_str().into())
}

/// Looks at all accounts and at the journal, and asserts that no money is made or lost, that no line is missing in front of
/// another, and that the accounts are what the journal says; how many transfers of each writer show.
fn count(snapshot: &Snapshot) -> [i64; WRITERS] {
    let accounts = snapshot.collection("accounts").expect("the collection is there");
    let scan = accounts.scan(..).expect("the snapshot lives");
    let balances: Vec<i64> = scan.map(|row| balance_in(Some(row.expect("the disk can be read")))).collect();
    assert_eq!(balances.iter().sum::<i64>(), TOTAL, "money is made or lost: {balances:?}");
    let journal = snapshot.collection("journal").expect("the collection is there");
    let mut lines = [0; WRITERS];
    let mut expected = [START; ACCOUNTS as usize];
    for (writer, lines) in lines.iter_mut().enumerate() {
        while journal.contains(line(writer, *lines + 1)).expect("the snapshot lives") {
            *lines += 1;
            let (from, amount) = ((writer as i64 + *lines) % ACCOUNTS, 1 + writer as i64);
            expected[from as usize] -= amount;
            expected[((from + 1) % ACCOUNTS) as usize] += amount;
        }
    }
    assert_eq!(
        journal.len().expect("the snapshot lives") as i64,
        lines.iter().sum::<i64>(),
        "a journal has a hole"
    );
    assert_eq!(balances, expected, "a commit shows in part");
    lines
}

/// Writers, one who gives up, one who looks on, one who flushes, and power cuts at any time.
fn day(seed: u64, classes: Classes) {
    let bank = Bank::open(seed, classes);
    let mut threads = Vec::new();
    for writer in 0..WRITERS {
        let bank = Arc::clone(&bank);
        threads.push(thread::spawn(move || (1..=TRANSFERS).for_each(|n| bank.transfer(writer, n))));
    }
    let work: [fn(&Bank, u64); 4] = [
        |bank, _| bank.give_up(),
        |bank, _| bank.watch(),
        |bank, _| (0..2).for_each(|_| bank.flush()),
        |bank, seed| (0..2).for_each(|cut| bank.cut_power(seed + cut)),
    ];
    for work in work {
        let bank = Arc::clone(&bank);
        threads.push(thread::spawn(move || work(&bank, seed)));
    }
    for thread in threads {
        thread.join().expect("no thread panics");
    }
    assert_eq!(count(&bank.db.snapshot()), [TRANSFERS; WRITERS], "every transfer returned");
    bank.cut_power(seed);
}

/// The day of `seed` under its schedule, with `mistake` switched on.
fn run_one(seed: u64, classes: Classes, mistake: Mistake) -> std::result::Result<(), String> {
    mistake.switch_on();
    let ran = run(seed, move || {
        day(seed, classes);
        Ok(())
    });
    Mistake::None.switch_on();
    ran
}

fn holds(count: u64, classes: Classes) {
    for seed in seeds(count) {
        if let Err(what) = run_one(seed, classes, Mistake::None) {
            panic!("schedule {seed} fails; it runs again with HOLOTYPE_SCHEDULE={seed}: {what}");
        }
    }
}

fn shows(mistake: Mistake, symptom: &str, count: u64) {
    is_found(mistake, symptom, count, |seed, mistake| run_one(seed, BEST_CLASS, mistake));
}

#[test]
fn schedules_neither_make_nor_lose_money() {
    holds(6_000, EVERY_CLASS);
}

#[test]
fn schedules_with_shared_syncs_keep_every_promise() {
    holds(3_000, BEST_CLASS);
}

#[test]
fn schedules_show_a_sync_that_is_acknowledged_too_soon() {
    // As one that a power cut loses, or as one that has returned and is not seen: whichever schedule comes first.
    shows(Mistake::Race(Race::WokenIsDone), "transfer", 20_000);
}

#[test]
fn schedules_show_a_wake_up_that_is_lost() {
    shows(Mistake::Bug(Bug::WakeUpLost), "deadlock", 500);
}
