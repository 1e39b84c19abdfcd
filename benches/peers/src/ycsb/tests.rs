use std::borrow::Borrow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use holotype::Document;

use super::*;
use crate::stores::holotype::Documents;
use crate::stores::{Read, Session};

const SIZE: Size = Size { documents: 400, operations: 200, stride: 4 };

fn run_in_a_directory<S: Store>() -> Result<Vec<Figures>> {
    let directory = tempfile::tempdir().unwrap();
    trial::run::<S>(directory.path(), Commits::Unsynced, SIZE)
}

#[test]
fn every_store_does_the_same_in_every_mix() {
    let mut all = Vec::new();
    macro_rules! add {
        ($store:ty) => {
            all.push(run_in_a_directory::<$store>().unwrap())
        };
    }
    each_store!(add);
    add!(Sled);
    add!(Buffered);
    let done = |figures: &[Figures]| figures.iter().map(|row| row.done).collect::<Vec<_>>();
    for figures in &all {
        assert_eq!(figures.len(), trial::rows().count());
        assert!(figures.iter().all(|row| row.per_second > 0.0 && row.p99_micros >= row.p50_micros));
        assert_eq!(done(figures), done(&all[0]));
    }
}

#[test]
fn a_mix_that_only_reads_writes_nothing_and_the_others_do_both() {
    for (figures, (mix, _, _)) in run_in_a_directory::<Holotype>().unwrap().iter().zip(trial::rows()) {
        assert!(figures.done.returned > 0 && figures.done.distinct > 10, "{}", mix.name);
        assert_eq!(figures.done.written == 0, mix.name == "C", "{}", mix.name);
    }
}

/// A store that does one thing in twenty wrong, of a kind.
struct Wrong<const HOW: u8> {
    right: Holotype,
    calls: AtomicU64,
}

const PUTS_NOTHING: u8 = 0;
const READS_ANOTHER: u8 = 1;
const SCANS_TOO_LITTLE: u8 = 2;
const SCANS_FROM_ELSEWHERE: u8 = 3;
const ALL_RIGHT: u8 = 4;

struct WrongSession<'s, const HOW: u8> {
    right: Documents<'s>,
    calls: &'s AtomicU64,
}

impl<const HOW: u8> WrongSession<'_, HOW> {
    fn is_wrong(&self, how: u8) -> bool {
        HOW == how && self.calls.fetch_add(1, Ordering::Relaxed) % 20 == 7
    }
}

impl<const HOW: u8> Store for Wrong<HOW> {
    const NAME: &'static str = "a store that is wrong";

    type Session<'s> = WrongSession<'s, HOW>;

    fn open(directory: &Path, commits: Commits) -> Result<Self> {
        Ok(Wrong { right: Holotype::open(directory, commits)?, calls: AtomicU64::new(0) })
    }

    fn session(&self) -> Result<WrongSession<'_, HOW>> {
        Ok(WrongSession { right: self.right.session()?, calls: &self.calls })
    }

    fn close(self) -> Result<()> {
        self.right.close()
    }
}

impl<const HOW: u8> Read for WrongSession<'_, HOW> {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let id = if self.is_wrong(READS_ANOTHER) { id % 400 + 1 } else { id };
        self.right.get(id, read)
    }
}

impl<const HOW: u8> Session for WrongSession<'_, HOW> {
    fn put(&mut self, id: u64, document: &Document) -> Result<()> {
        if self.is_wrong(PUTS_NOTHING) { Ok(()) } else { self.right.put(id, document) }
    }

    fn put_all<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (u64, D)>) -> Result<()> {
        self.right.put_all(documents)
    }

    fn delete(&mut self, id: u64) -> Result<()> {
        self.right.delete(id)
    }

    fn scan_from(&mut self, from: u64, count: usize, each: impl FnMut(u64, &[u8])) -> Result<()> {
        let count = if self.is_wrong(SCANS_TOO_LITTLE) { count - 1 } else { count };
        let from = if self.is_wrong(SCANS_FROM_ELSEWHERE) { from + 1 } else { from };
        self.right.scan_from(from, count, each)
    }

    fn scan(&mut self, each: impl FnMut(u64, &[u8])) -> Result<()> {
        self.right.scan(each)
    }
}

#[test]
fn a_store_that_did_something_else_has_no_figures() {
    run_in_a_directory::<Wrong<ALL_RIGHT>>().unwrap();
    let failures = [
        run_in_a_directory::<Wrong<PUTS_NOTHING>>(),
        run_in_a_directory::<Wrong<READS_ANOTHER>>(),
        run_in_a_directory::<Wrong<SCANS_TOO_LITTLE>>(),
        run_in_a_directory::<Wrong<SCANS_FROM_ELSEWHERE>>(),
    ];
    for (how, failure) in failures.into_iter().enumerate() {
        let failure = failure.expect_err("it did something else").to_string();
        assert!(failure.starts_with("a store that is wrong"), "{how}: {failure}");
    }
}

#[test]
fn no_store_is_in_a_class_that_is_not_its_own() {
    let plan = Plan::parse(["ycsb".to_owned()].into_iter()).unwrap();
    let names = |class: Class| class.contenders(&plan).into_iter().map(|one| one.name).collect::<Vec<_>>();
    let is_in = |class, name: &str| names(class).iter().any(|of| of.starts_with(name));
    assert!(CLASSES.into_iter().all(|class| names(class)[0] == Holotype::NAME));
    assert!(is_in(Class::Kept, "sled") && is_in(Class::Kept, "redb"));
    assert!(!is_in(Class::Written, "sled") && !is_in(Class::Written, "redb"));
    assert!(!is_in(Class::Durable, "sled") && is_in(Class::Durable, "redb"));
}

#[test]
fn a_mix_that_writes_has_a_bound_of_its_class() {
    let limits = Limits {
        lookup: 100.0,
        checksum: 50.0,
        write: 1_000.0,
        overwrite_synced: 100_000.0,
        ..Limits::default()
    };
    let bound = |name: &str, class| {
        bound_nanos(MIXES.iter().find(|mix| mix.name == name).unwrap(), class, &limits).round()
    };
    assert_eq!(bound("C", Class::Durable), 150.0);
    assert_eq!(bound("A", Class::Written), 75.0 + 525.0);
    assert_eq!(bound("F", Class::Written), 150.0 + 525.0);
    assert_eq!(bound("B", Class::Durable), 143.0 + 5_003.0 - 1.0);
}
