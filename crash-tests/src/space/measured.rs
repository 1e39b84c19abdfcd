//! A store, its documents, and what its file may hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use holotype::storage::MemoryStorage;
use holotype::{Background, Db, Durability, Error, Options, Stats, Value, doc};

use super::Tally;

/// Length of a sector, and of a segment, in bytes.
const SECTOR: u32 = 512;
pub(crate) const SEGMENT: u32 = 16_384;
/// What stands in front of the first segment, which is not counted where segments are short (spec: P-6.2).
const FRONT: u64 = 16_384;
/// The most that a record has beside its key and its body (spec: F-6.1).
const RECORD_OVERHEAD_MAX: u64 = 40;
/// More steps than any store of a check needs at once.
const STEPS_MAX: u64 = 20_000;

pub(crate) fn options() -> Options {
    Options::tiny()
        .sector(SECTOR)
        .segment_bytes(SEGMENT)
        .checkpoint_bytes(16 * u64::from(SEGMENT))
        .durability(Durability::Written)
        .background(Background::Manual)
        .cache_bytes(4 << 20)
}

/// A store, and beside it what it holds.
pub(crate) struct Measured {
    pub(crate) db: Db,
    pub(crate) disk: Arc<MemoryStorage>,
    /// Versions by key; what each document has beside its version, in bytes.
    versions: BTreeMap<i64, i64>,
    len: usize,
    /// Bytes that were written in one step of maintenance, at most.
    pub(crate) longest_step: u64,
    /// Bytes by which the file was cut.
    pub(crate) given_back: u64,
}

impl Measured {
    /// A new store whose documents have `len` bytes each, and a little.
    pub(crate) fn create(options: &Options, len: usize) -> Result<Self, String> {
        let disk = Arc::new(MemoryStorage::new());
        let db = Db::open_on(Arc::clone(&disk), options).map_err(|error| say("creating", &error))?;
        Ok(Measured { db, disk, versions: BTreeMap::new(), len, longest_step: 0, given_back: 0 })
    }

    pub(crate) fn count(&self) -> usize {
        self.versions.len()
    }

    /// Whether it has this document.
    pub(crate) fn has(&self, key: i64) -> bool {
        self.versions.contains_key(&key)
    }

    pub(crate) fn put(&mut self, key: i64, version: i64) -> Result<(), String> {
        let document = doc! { "n": version, "p": Value::Bytes(vec![7; self.len]) };
        self.db.collection("a").put(key, document).map_err(|error| say("putting", &error))?;
        self.versions.insert(key, version);
        Ok(())
    }

    pub(crate) fn delete(&mut self, key: i64) -> Result<(), String> {
        let gone = self.db.collection("a").delete(key).map_err(|error| say("deleting", &error))?;
        if gone != self.versions.remove(&key).is_some() {
            return Err(format!("document {key} was there and was not"));
        }
        Ok(())
    }

    /// Takes a step of maintenance. Whether there was one to take.
    pub(crate) fn step(&mut self, tally: &mut Tally) -> Result<bool, String> {
        let before = self.db.stats();
        let is_taken = self.db.maintain().map_err(|error| say("maintaining", &error))?;
        let after = self.db.stats();
        self.longest_step = self.longest_step.max(after.written_bytes - before.written_bytes);
        self.given_back += before.file_bytes.saturating_sub(after.file_bytes);
        tally.steps += u64::from(is_taken);
        Ok(is_taken)
    }

    /// Takes steps until nothing is due.
    pub(crate) fn come_to_rest(&mut self, tally: &mut Tally) -> Result<(), String> {
        for _ in 0..STEPS_MAX {
            if !self.step(tally)? {
                return Ok(());
            }
        }
        Err(format!("maintenance goes on for ever: {:#?}", self.db.stats()))
    }

    /// The live bytes (spec: P-1.3), which the store's own figure must agree with.
    fn live_bytes(&self, stats: &Stats) -> Result<u64, String> {
        let count = self.count() as u64;
        let least = count * self.len as u64;
        let most = least + count * (RECORD_OVERHEAD_MAX + 30 + self.len as u64 / 100);
        let live = stats.space.live_bytes;
        if !(least..=most).contains(&live) {
            return Err(format!(
                "{live} live bytes of {count} documents, of which there are {least} to {most}: {stats:#?}"
            ));
        }
        Ok(live + stats.space.checkpoint_bytes)
    }

    //= spec/space.md#p-6-2-bounds
    //# With nothing pinned and no segment unreadable, the file MUST be at most 2.0 times the live bytes and 4 segments once no
    //# maintenance is due, and at most 3.0 times the live bytes and 4 segments at any moment.
    /// Holds the length of the file against `tenths` of the live bytes and so many segments.
    pub(crate) fn is_within(
        &self,
        tenths: u64,
        segments: u64,
        when: &str,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let stats = self.db.stats();
        let live = self.live_bytes(&stats)?;
        let most = live * tenths / 10 + segments * u64::from(SEGMENT);
        let len = stats.file_bytes - FRONT;
        tally.bounds += 1;
        if len > most {
            return Err(format!(
                "{when}: {len} bytes for {live} that are live, where {most} are the most: {stats:#?}"
            ));
        }
        Ok(())
    }

    /// Compacts, and fails where compaction does not end. How many bytes were moved, for a thousand that are live.
    pub(crate) fn compact(&self, tally: &mut Tally) -> Result<u64, String> {
        let report = self.db.compact_with(|progress| {
            tally.steps += 1;
            if progress.steps < STEPS_MAX {
                std::ops::ControlFlow::Continue(())
            } else {
                std::ops::ControlFlow::Break(())
            }
        });
        let report = report.map_err(|error| say("compacting", &error))?;
        if !report.is_complete {
            return Err(format!("compaction goes on for ever: {:#?}", self.db.stats()));
        }
        Ok(report.moved_bytes * 1000 / self.db.stats().space.live_bytes.max(1))
    }

    /// Makes a copy.
    pub(crate) fn back_up(&self) -> Result<(), String> {
        let copied = self.db.backup_to(&Arc::new(MemoryStorage::new()), None);
        copied.map(drop).map_err(|error| say("a backup", &error))
    }

    /// Closes the store and opens it again.
    pub(crate) fn reopen(&mut self, options: &Options) -> Result<(), String> {
        self.db.clone().close().map_err(|error| say("closing", &error))?;
        self.db = Db::open_on(Arc::clone(&self.disk), options).map_err(|error| say("opening", &error))?;
        Ok(())
    }

    /// Everything is there, and in order.
    pub(crate) fn look(&self) -> Result<(), String> {
        let mut expected = self.versions.iter();
        let scan = self.db.collection("a").scan(..).map_err(|error| say("scanning", &error))?;
        for found in scan {
            let found = found.map_err(|error| say("scanning", &error))?;
            let version = found.get("n").and_then(|n| n.as_i64());
            let (key, wanted) = expected.next().ok_or("a document more")?;
            if found.key().to_key() != holotype::Key::Int(*key) || version != Some(*wanted) {
                return Err(format!("document {key} has version {wanted}, and {found:?} was found"));
            }
        }
        if let Some((key, _)) = expected.next() {
            return Err(format!("document {key} is gone"));
        }
        let report = self.db.verify(true).map_err(|error| say("verify", &error))?;
        report.problems.first().map_or(Ok(()), |problem| Err(format!("verify finds {problem}")))
    }
}

pub(crate) fn say(what: &str, error: &Error) -> String {
    format!("{what}: {error}")
}
