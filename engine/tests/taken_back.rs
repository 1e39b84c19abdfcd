//! What is left of commits that found no room, of which some are in the file already (spec, S-8.5, T-4.8).
#![cfg(feature = "testing")]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Db, Durability, Error, Options, Ticket, doc};

const SEGMENT: u64 = 4096;

/// Where segments begin.
const LOG: u64 = 16 << 10;

/// A disk that may have room in one segment alone, beside the slots.
#[derive(Debug, Clone, Default)]
struct Disk {
    file: Arc<MemoryStorage>,
    /// The segment that was written to last, as a multiple of its length.
    last: Arc<AtomicU64>,
    is_full: Arc<AtomicBool>,
}

impl Disk {
    fn copy(&self) -> io::Result<Disk> {
        let mut bytes = vec![0; self.file.len()? as usize];
        let copy = Disk::default();
        let mut at = 0;
        while at < bytes.len() {
            let read = self.file.read_at(at as u64, &mut bytes[at..])?;
            at += copy.file.write_at(at as u64, &bytes[at..at + read])?;
        }
        Ok(copy)
    }
}

impl Storage for Disk {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let segment = offset / SEGMENT;
        let is_last = self.last.load(Ordering::Relaxed) == segment;
        if offset >= LOG && !is_last && self.is_full.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if offset >= LOG {
            self.last.store(segment, Ordering::Relaxed);
        }
        self.file.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }
}

fn options() -> Options {
    Options::tiny().sector(512).segment_bytes(SEGMENT as u32).durability(Durability::Written)
}

fn defer(db: &Db, key: i64, len: usize) -> Ticket {
    let mut transaction = db.begin_write().unwrap();
    transaction.set_durability(Durability::Synced);
    transaction.collection("a").put(key, doc! { "b": vec![7_u8; len] }).unwrap();
    transaction.commit_deferred().unwrap()
}

fn is_full<T>(answer: &Result<T, Error>) -> bool {
    matches!(answer, Err(Error::StorageFull { .. }))
}

//= spec/transactions.md#t-4-8-no-room
//# When there is no room to hand over what is pending, the pending commits MUST fail as `StorageFull`,
//# all of them, and be taken back: the state is as if they had never been placed (S-8.5).
/// Takes commits back whose first ones are in the file, and flushes then. The first of these has a document of `len` bytes.
fn flush_behind_what_is_taken_back(len: usize) {
    let disk = Disk::default();
    let db = Db::open_on(disk.clone(), &options()).unwrap();
    let a = db.collection("a");
    a.put(0, doc! {}).unwrap();
    let sync = db.begin_sync().unwrap().expect("a commit waits for it");
    // It does not say yet that the one before it is durable: something behind it has to.
    a.put(1, doc! {}).unwrap();
    sync.finish().unwrap();
    let mut tickets: Vec<_> =
        [len, 8, 8].into_iter().zip(2..).map(|(len, key)| defer(&db, key, len)).collect();
    // They go on in another segment.
    tickets.extend((5..13).map(|key| defer(&db, key, 700)));
    disk.is_full.store(true, Ordering::Relaxed);
    assert!(is_full(&db.flush()), "the disk is full");
    disk.is_full.store(false, Ordering::Relaxed);
    for _ in 0..2 {
        db.flush().expect("there is room again, whoever asks for what was taken back");
    }
    for ticket in tickets {
        assert!(is_full(&ticket.wait()));
    }
    assert_eq!(a.len().unwrap(), 2);
    // What a kill leaves may show what was taken back, and never a part of it without what came before.
    let opened = Db::open_on(disk.copy().unwrap(), &options()).unwrap();
    let keys: Vec<_> = opened.collection("a").keys(..).unwrap().map(Result::unwrap).collect();
    assert!(
        keys.len() >= 2 && keys.iter().zip(0_i64..).all(|(key, number)| *key == number.into()),
        "{keys:?}"
    );
    drop(opened);
    a.put(2, doc! {}).unwrap();
    assert_eq!(a.len().unwrap(), 3);
}

#[test]
fn a_flush_behind_commits_that_were_taken_back_finds_room_and_brings_none_of_them_back() {
    let lens = || (8..500).step_by(4);
    lens().for_each(flush_behind_what_is_taken_back);
    #[cfg(feature = "seeded")]
    {
        use holotype::seeded::{Bug, switch_on};
        switch_on(Some(Bug::WatermarkBeforeSeal));
        let is_seen = |len| std::panic::catch_unwind(|| flush_behind_what_is_taken_back(len)).is_err();
        let seen = lens().filter(|len| is_seen(*len)).count();
        switch_on(None);
        assert!(seen > 0, "a watermark in the place of what was taken back goes unnoticed");
    }
}
