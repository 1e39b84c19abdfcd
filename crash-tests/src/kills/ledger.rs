//! Threads that write to one store, with maintenance and backups beside them, and keep a ledger of it: what a kill leaves must be a ledger
//! whose entries have no gap, each of which is whole.
//!
//! Each commit is a transaction that raises the number of all commits and the number of its thread's, puts an entry under the former,
//! and deletes the entry that has become too old. So half a commit, a commit without the ones before it, one that came back and one
//! that was never made all show.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use holotype::{Db, Document, Durability, Error, WriteTransaction, doc};
use holotype_model::Key;
use holotype_model::check::Rng;

use super::line::Line;
use super::worker::say;
use crate::adapter::{self, Contents};
use crate::convert;

/// Threads that commit.
const THREADS: u64 = 3;
/// Commits of one life, over all threads.
pub(super) const COMMITS: u64 = 60;
/// The newest entries are kept, so that the store has something to clean.
const KEPT: u64 = 40;

const ENTRIES: &str = "entries";
const NUMBERS: &str = "numbers";
/// The key of the number of all commits; each thread has the one of its own.
const ALL: u64 = u64::MAX >> 1;

/// What a kill leaves in a ledger.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Ledger {
    /// Commits, all in all.
    commits: u64,
    /// And of each thread.
    numbers: [u64; THREADS as usize],
}

/// The class of a thread's commit of this number: it takes turns, and begins anew with each thread.
fn class(thread: u64, number: u64) -> Durability {
    [Durability::Buffered, Durability::Written, Durability::Buffered, Durability::Synced]
        [((thread + number) % 4) as usize]
}

/// The entry of a thread's commit of this number.
fn entry(thread: u64, number: u64) -> Document {
    let len = (thread * 37 + number * 11) % 160;
    doc! { "thread": thread as i64, "number": number as i64, "body": "x".repeat(len as usize) }
}

/// Where the backups of the store go.
pub(super) fn backup_of(file: &Path) -> PathBuf {
    file.with_extension("backup")
}

/// Goes on with the ledger: commits from several threads, and everything else from one more. Closes the store.
pub(super) fn keep(db: Db, file: &Path, seed: u64, out: &mut (impl Write + Send)) -> Result<(), String> {
    let found = Ledger::read(&contents(&db)?)?;
    let (out, left) = (Mutex::new(out), AtomicU64::new(COMMITS));
    std::thread::scope(|scope| {
        let (db, out, left) = (&db, &out, &left);
        let writers = (0..THREADS).map(|thread| {
            let number = found.numbers[thread as usize];
            scope.spawn(move || {
                commit_many(db, thread, number, left, |line| {
                    say(&mut **out.lock().expect("nobody panics while speaking"), line)
                })
            })
        });
        let mut workers: Vec<_> = writers.collect();
        workers.push(scope.spawn(move || keep_up(db, file, Rng::seeded(seed), left)));
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a panic".to_owned())?)
    })?;
    db.close().map_err(|error| format!("closing: {error}"))
}

fn commit_many(
    db: &Db,
    thread: u64,
    mut number: u64,
    left: &AtomicU64,
    say: impl Fn(&Line) -> Result<(), String>,
) -> Result<(), String> {
    let take = |left: u64| left.checked_sub(1);
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
        number += 1;
        let mut transaction = db.begin_write().map_err(|error| format!("beginning: {error}"))?;
        write(&transaction, thread, number).map_err(|error| format!("in a transaction: {error}"))?;
        transaction.set_durability(class(thread, number));
        transaction.commit().map_err(|error| format!("committing: {error}"))?;
        say(&Line::Committed(thread, number))?;
    }
    Ok(())
}

fn write(transaction: &WriteTransaction, thread: u64, number: u64) -> holotype::Result<()> {
    let (entries, numbers) = (transaction.collection(ENTRIES), transaction.collection(NUMBERS));
    let before = match numbers.get(ALL as i64) {
        Err(Error::UnknownCollection { .. }) => None,
        found => found?,
    };
    let before = before.and_then(|found| found.get("n")?.as_i64()).unwrap_or(0);
    let all = before + 1;
    entries.put(all, entry(thread, number))?;
    numbers.put(thread as i64, doc! { "n": number as i64 })?;
    numbers.put(ALL as i64, doc! { "n": all })?;
    if all > KEPT as i64 {
        entries.delete(all - KEPT as i64)?;
    }
    Ok(())
}

/// Everything that goes on beside the commits, until there are none to come.
fn keep_up(db: &Db, file: &Path, mut rng: Rng, left: &AtomicU64) -> Result<(), String> {
    let backup = backup_of(file);
    while left.load(Ordering::Relaxed) > 0 {
        let done = match rng.below(8) {
            0 => db.checkpoint(),
            1..4 => db.maintain().map(drop),
            4 => db.compact().map(drop),
            5 => db.flush(),
            6 => back_up(db, &backup),
            _ => db.verify(false).map(drop),
        };
        done.map_err(|error| format!("keeping up: {error}"))?;
        std::thread::yield_now();
    }
    Ok(())
}

/// In the place of the backup before, where there is one.
fn back_up(db: &Db, backup: &Path) -> holotype::Result<()> {
    match backup.exists() {
        true => db.backup_from(backup, backup).map(drop),
        false => db.backup(backup).map(drop),
    }
}

fn contents(db: &Db) -> Result<Contents, String> {
    adapter::contents(db).map_err(|error| format!("reading what it holds: {error}"))
}

impl Ledger {
    /// Reads a ledger in which everything fits together.
    ///
    /// # Errors
    /// What does not.
    pub(super) fn read(contents: &Contents) -> Result<Ledger, String> {
        let numbers = numbers(contents)?;
        let of = |key: u64| numbers.get(&key).copied().unwrap_or(0);
        let ledger = Ledger { commits: of(ALL), numbers: std::array::from_fn(|thread| of(thread as u64)) };
        if ledger.numbers.iter().sum::<u64>() != ledger.commits {
            return Err(format!("half a commit: {ledger:?}"));
        }
        ledger.check_entries(contents)?;
        Ok(ledger)
    }

    /// The newest entries are there without a gap, and each is what its thread wrote, in the order in which it did.
    fn check_entries(&self, contents: &Contents) -> Result<(), String> {
        let nothing = BTreeMap::new();
        let entries = contents.documents.get(ENTRIES).unwrap_or(&nothing);
        let expected = (1..=self.commits).rev().take(KEPT as usize);
        if !entries.keys().rev().cloned().eq(expected.map(|number| Key::Int(number as i64))) {
            let keys: Vec<_> = entries.keys().map(Key::to_string).collect();
            return Err(format!("after {} commits, it has the entries {}", self.commits, keys.join(", ")));
        }
        // From the newest back, each thread's numbers go down by one.
        let mut next = self.numbers;
        for (key, found) in entries.iter().rev() {
            let is_next = |thread: &u64| {
                let number = next[*thread as usize];
                number > 0 && convert::model_document(&entry(*thread, number)) == *found
            };
            let thread = (0..THREADS)
                .find(is_next)
                .ok_or_else(|| format!("entry {key} is not what any thread wrote next: {found:?}"))?;
            next[thread as usize] -= 1;
        }
        Ok(())
    }

    /// Whether this may follow `before`, after what the threads said in between.
    pub(super) fn follows(&self, before: &Ledger, lines: &[Line]) -> Result<(), String> {
        // A thread has one commit under way at most, and each that it was told of as strong stands on all before it.
        let (mut least, mut said) = (before.numbers, before.numbers);
        for line in lines {
            let Line::Committed(thread, number) = line else { continue };
            let slot = *thread as usize;
            if *thread >= THREADS || *number != said[slot] + 1 {
                return Err(format!("thread {thread} says {number} after {:?}", said.get(slot)));
            }
            said[slot] = *number;
            if class(*thread, *number) != Durability::Buffered {
                least[slot] = *number;
            }
        }
        let is_closed = lines.contains(&Line::Closed);
        for (thread, number) in self.numbers.into_iter().enumerate() {
            let (least, most) = match is_closed {
                true => (said[thread], said[thread]),
                false => (least[thread], said[thread] + 1),
            };
            if !(least..=most).contains(&number) {
                return Err(format!("thread {thread} is at {number}, and must be from {least} to {most}"));
            }
        }
        Ok(())
    }

    /// Whether a backup may hold this, of a store that holds `now`.
    pub(super) fn came_before(&self, now: &Ledger) -> Result<(), String> {
        match self.numbers.iter().zip(&now.numbers).all(|(then, now)| then <= now) {
            true => Ok(()),
            // What it read was durable by then.
            false => Err(format!("a backup holds {self:?}, and the store {now:?}")),
        }
    }

    pub(super) fn commits(&self) -> u64 {
        self.commits
    }
}

fn numbers(contents: &Contents) -> Result<BTreeMap<u64, u64>, String> {
    let Some(numbers) = contents.documents.get(NUMBERS) else { return Ok(BTreeMap::new()) };
    let number = |(key, found): (&Key, &holotype_model::Document)| match (key, found.get("n")) {
        (Key::Int(key), Some(holotype_model::Value::Int(n))) if found.len() == 1 && *n > 0 => {
            Ok((*key as u64, *n as u64))
        }
        _ => Err(format!("a number that nobody wrote: {key} {found:?}")),
    };
    numbers.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(commits: u64) -> Contents {
        let db = Db::in_memory();
        for n in 0..commits {
            let transaction = db.begin_write().unwrap();
            write(&transaction, n % THREADS, n / THREADS + 1).unwrap();
            transaction.commit().unwrap();
        }
        contents(&db).unwrap()
    }

    fn lines(commits: &[(u64, u64)]) -> Vec<Line> {
        commits.iter().map(|(thread, number)| Line::Committed(*thread, *number)).collect()
    }

    #[test]
    fn a_ledger_is_read_at_every_length() {
        for commits in [0, 1, 2, KEPT - 1, KEPT, KEPT + 1, 2 * KEPT] {
            assert_eq!(Ledger::read(&kept(commits)).map(|ledger| ledger.commits), Ok(commits));
        }
    }

    #[test]
    fn half_a_commit_shows() {
        let mut halves = Vec::new();
        for (collection, key) in [(ENTRIES, 50_i64), (ENTRIES, 30), (NUMBERS, 0), (NUMBERS, ALL as i64)] {
            let mut half = kept(50);
            assert!(half.documents.get_mut(collection).unwrap().remove(&Key::Int(key)).is_some());
            halves.push(half);
        }
        let (mut older, newer) = (kept(50), kept(51));
        older.documents.insert(NUMBERS.to_owned(), newer.documents[NUMBERS].clone());
        halves.push(older);
        let mut undeleted = kept(50);
        let entry = convert::model_document(&entry(0, 4));
        undeleted.documents.get_mut(ENTRIES).unwrap().insert(Key::Int(10), entry);
        halves.push(undeleted);
        for half in halves {
            assert!(Ledger::read(&half).is_err(), "{half:?}");
        }
    }

    #[test]
    fn a_strong_commit_that_was_said_must_be_there_and_a_weak_one_may() {
        let before = Ledger::default();
        let found = |numbers: [u64; 3]| Ledger { commits: numbers.iter().sum(), numbers };
        // Thread 0: its first is written, its second buffered.
        assert_eq!((class(0, 1), class(0, 2)), (Durability::Written, Durability::Buffered));
        let said = lines(&[(0, 1), (0, 2)]);
        for number in 1..=3 {
            assert_eq!(found([number, 0, 0]).follows(&before, &said), Ok(()));
        }
        assert!(found([0, 0, 0]).follows(&before, &said).is_err(), "a written commit is gone");
        assert!(found([4, 0, 0]).follows(&before, &said).is_err(), "two commits nobody was told of");
        assert!(found([2, 2, 0]).follows(&before, &said).is_err(), "two of another thread");
        let closed = [said, vec![Line::Closed]].concat();
        assert_eq!(found([2, 0, 0]).follows(&before, &closed), Ok(()));
        assert!(found([1, 0, 0]).follows(&before, &closed).is_err(), "lost by a close");
    }

    #[test]
    fn a_thread_that_forgets_what_it_was_told_is_found_out() {
        let found = Ledger { commits: 2, numbers: [2, 0, 0] };
        assert!(found.follows(&Ledger::default(), &lines(&[(0, 2)])).is_err());
        assert!(found.follows(&found, &lines(&[(0, 1)])).is_err());
        assert!(found.follows(&found, &lines(&[(7, 1)])).is_err());
    }
}
