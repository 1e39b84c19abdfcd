//! Bytes as the life of a store that is copied again and again.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use holotype::storage::Storage;
use holotype::storage::sim::{Decisions, FaultKind, FaultPlan, Level, Nth, SimDisk, SyncLoss};
use holotype::{BackupReport, Db, Document, Durability, Error, Key, Options, Result, doc};

use holotype_crash_tests::input::Input;

/// Longer lives show what shorter ones show.
const STEPS_MAX: usize = 200;

/// Backups that are kept, to go on from.
const KEPT_MAX: usize = 4;

const NAMES: [&str; 3] = ["a", "b", "c"];

/// What a store should hold: under each collection's name its documents.
type Contents = BTreeMap<String, BTreeMap<Key, Document>>;

/// Takes the steps that `bytes` stand for: writes, maintenance, closings, power cuts, and backups, whole ones and such as go on from any
/// that is kept, while others write, on disks that fail, or cancelled.
///
/// # Panics
/// Unless each backup that was told to be whole opens, after a power cut, to the state of the moment at which it was begun; what was
/// promised not to be one is refused as the beginning of another; and the store itself stays what it should be.
pub fn backups(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let options = Options::tiny().segment_bytes(input.pick(&[512, 1024, 4096])).checkpoint_bytes(2048);
    let mut life = Life::begin(options);
    for _ in 0..STEPS_MAX {
        let Some(step) = input.next() else { break };
        life.step(step, &mut input).expect("every step of this target can be taken");
    }
    life.look();
}

/// A backup that is whole.
#[derive(Debug)]
struct Kept {
    disk: SimDisk,
    contents: Contents,
    /// Written to since: it goes its own way.
    is_branch: bool,
}

#[derive(Debug)]
struct Life {
    disk: SimDisk,
    options: Options,
    db: Db,
    now: Writes,
    kept: Vec<Kept>,
}

/// What was written, to compare with.
#[derive(Debug, Default)]
struct Writes {
    contents: Contents,
    /// So that no two documents are alike.
    count: i64,
}

impl Writes {
    /// Makes a change to the store, and to what it should hold.
    fn write(&mut self, db: &Db, choice: u8, input: &mut Input<'_>) -> Result<()> {
        let name = input.pick(&NAMES);
        let durability = input.pick(&[Durability::Synced, Durability::Written, Durability::Buffered]);
        let collection = db.collection(name).with_durability(durability);
        match choice % 8 {
            0..=3 => {
                let (key, document) = (key(input), self.document(input));
                collection.put(&key, &document)?;
                self.contents.entry(name.to_owned()).or_default().insert(key, document);
            }
            4 => {
                let many: Vec<_> =
                    (0..1 + input.byte() % 12).map(|_| (key(input), self.document(input))).collect();
                collection.put_many(many.clone())?;
                self.contents.entry(name.to_owned()).or_default().extend(many);
            }
            5 | 6 => {
                if let Some(documents) = self.contents.get_mut(name) {
                    let key = key(input);
                    assert_eq!(collection.delete(&key)?, documents.remove(&key).is_some(), "delete of {key}");
                }
            }
            _ if input.byte().is_multiple_of(2) => {
                db.drop_collection(name)?;
                self.contents.remove(name);
            }
            _ => {
                if let Some(documents) = self.contents.get_mut(name) {
                    collection.clear()?;
                    documents.clear();
                }
            }
        }
        Ok(())
    }

    fn document(&mut self, input: &mut Input<'_>) -> Document {
        // Around what fills a sector and a segment; the longest are in chunks.
        let len = input.pick(&[0, 20, 40, 64, 100, 300, 440, 1500]);
        self.count += 1;
        doc! { "n": self.count, "text": "x".repeat(len) }
    }
}

impl Life {
    fn begin(options: Options) -> Life {
        let disk = SimDisk::new(64, Level::Sectors);
        let db = Db::open_on(disk.clone(), &options).expect("an empty file becomes a store");
        Life { disk, options, db, now: Writes::default(), kept: Vec::new() }
    }

    fn step(&mut self, step: u8, input: &mut Input<'_>) -> Result<()> {
        match step % 16 {
            0..=5 => self.now.write(&self.db, step / 16, input),
            6 => self.db.maintain().map(|_| ()),
            7 => self.db.checkpoint(),
            8 => self.db.compact().map(|_| ()),
            9 => self.reopen(),
            10 => self.cut_power(input),
            11 => self.branch(input),
            choice => self.back_up(choice == 12, input),
        }
    }

    fn reopen(&mut self) -> Result<()> {
        std::mem::replace(&mut self.db, Db::in_memory()).close()?;
        self.db = Db::open_on(self.disk.clone(), &self.options)?;
        Ok(())
    }

    /// Power goes when all is durable, in any way; what is in the air then is a watermark, a checkpoint or a step of cleaning.
    fn cut_power(&mut self, input: &mut Input<'_>) -> Result<()> {
        self.db.flush()?;
        let cut = self.disk.fork();
        cut.set_decisions(Decisions::seeded(input.short() as u64));
        cut.crash();
        self.db = Db::open_on(cut.clone(), &self.options)?;
        self.disk = cut;
        Ok(())
    }

    /// Somebody writes to a backup: it is a store like any other, and from there on none to go on from.
    fn branch(&mut self, input: &mut Input<'_>) -> Result<()> {
        if self.kept.is_empty() {
            return Ok(());
        }
        let index = usize::from(input.byte()) % self.kept.len();
        let kept = &mut self.kept[index];
        let db = Db::open_on(kept.disk.clone(), &self.options)?;
        let mut writes = Writes { contents: std::mem::take(&mut kept.contents), count: -1000 };
        writes.write(&db, 0, input)?;
        db.close()?;
        (kept.contents, kept.is_branch) = (writes.contents, true);
        kept.look(&self.options);
        Ok(())
    }

    fn back_up(&mut self, is_full: bool, input: &mut Input<'_>) -> Result<()> {
        let index = usize::from(input.byte());
        let earlier = if is_full { None } else { self.kept.get(index % self.kept.len().max(1)) };
        let is_branch = earlier.is_some_and(|kept| kept.is_branch);
        let earlier = earlier.map(|kept| Box::new(kept.disk.fork()) as Box<dyn Storage>);
        let is_from_earlier = earlier.is_some();
        let disk = Arc::new(SimDisk::new(64, Level::Sectors));
        let plan = plan(input);
        let may_fail = plan.is_some();
        disk.set_faults(plan.unwrap_or_default());
        let contents = self.now.contents.clone();
        let is_cancelled = input.byte() >= 240;
        let mut during = Ok(());
        let (db, now) = (&self.db, &mut self.now);
        let made = db.backup_to_with(&disk, earlier, |_| {
            during = std::mem::replace(&mut during, Ok(())).and_then(|()| meanwhile(db, now, input));
            if is_cancelled { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        during?;
        // Not what the disk may do from here on, but what it has done.
        let (was_hit, disk) = (disk.fault_hits() > 0, disk.fork());
        disk.set_faults(FaultPlan::none());
        match made {
            Ok(report) if report.is_complete => {
                assert!(!is_branch, "a backup that was written to was gone on from: {report:?}");
                self.keep(disk, contents, is_from_earlier, report);
            }
            Ok(_) => assert!(is_cancelled, "nobody cancelled it"),
            Err(Error::InvalidOption { .. }) if is_branch => {}
            Err(error) => assert!(may_fail && was_hit, "nothing hindered it: {error}"),
        }
        Ok(())
    }

    fn keep(&mut self, disk: SimDisk, contents: Contents, is_from_earlier: bool, report: BackupReport) {
        let documents: usize = contents.values().map(BTreeMap::len).sum();
        assert_eq!(report.documents, documents as u64, "{report:?}");
        assert!(is_from_earlier || report.bytes_reused == 0, "{report:?}");
        // It gets its name now, and is durable with it (spec: P-10.3): a power cut takes nothing of it.
        disk.sync_directory().expect("nothing hinders it any more");
        disk.set_decisions(Decisions::path(Vec::new()));
        disk.crash();
        let kept = Kept { disk, contents, is_branch: false };
        kept.look(&self.options);
        if self.kept.len() == KEPT_MAX {
            self.kept.remove(0);
        }
        self.kept.push(kept);
    }

    /// The store and all its backups are what they should be.
    fn look(&self) {
        check(&self.db, &self.now.contents, "the store");
        self.kept.iter().for_each(|kept| kept.look(&self.options));
    }
}

impl Kept {
    fn look(&self, options: &Options) {
        let db =
            Db::open_on(self.disk.fork(), &options.clone().read_only(true)).expect("a backup is a store");
        check(&db, &self.contents, "a backup");
    }
}

/// What others do between two segments that are copied.
fn meanwhile(db: &Db, now: &mut Writes, input: &mut Input<'_>) -> Result<()> {
    match input.byte() {
        choice @ 0..=79 => now.write(db, choice, input),
        80..=99 => db.maintain().map(|_| ()),
        100..=109 => db.checkpoint(),
        _ => Ok(()),
    }
}

/// What goes wrong with the disk of a backup: mostly nothing.
fn plan(input: &mut Input<'_>) -> Option<FaultPlan> {
    let kind = match input.byte() {
        0..=199 => return None,
        200..=209 => FaultKind::Io,
        210..=219 => FaultKind::StorageFull,
        220..=229 => FaultKind::Short,
        230..=239 => FaultKind::ZeroWrite,
        240..=247 => FaultKind::Interrupted,
        248..=251 => FaultKind::Sync(SyncLoss::Dropped),
        _ => FaultKind::Sync(SyncLoss::Kept),
    };
    let nth = Nth::Call(u64::from(input.byte()));
    let plan = FaultPlan::none();
    Some(if input.byte().is_multiple_of(2) { plan.once(nth, kind) } else { plan.from(nth, kind) })
}

fn check(db: &Db, contents: &Contents, what: &str) {
    assert_eq!(db.collections(), contents.keys().cloned().collect::<Vec<_>>(), "{what}");
    for (name, documents) in contents {
        let found: Result<Vec<_>> = db
            .collection(name.as_str())
            .scan(..)
            .expect("it is there")
            .map(|doc| doc.map(|doc| (doc.key().to_key(), doc.bytes().to_vec())))
            .collect();
        let all: Vec<_> = documents.iter().map(|(key, doc)| (key.clone(), doc.encode())).collect();
        assert_eq!(found.expect("every document can be read"), all, "{what}: {name}");
    }
    let report = db.verify(true).expect("it can be read");
    assert!(report.is_clean(), "{what}: {:?}", report.problems);
}

/// Few keys, so that they meet.
fn key(input: &mut Input<'_>) -> Key {
    match input.byte() {
        n @ 0..=191 => Key::Int(i64::from(n % 32)),
        n @ 192..=223 => Key::Text(format!("key {}", n % 8).into()),
        n => Key::Bytes(vec![n; usize::from(n % 4)].into()),
    }
}
