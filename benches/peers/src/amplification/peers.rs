//! How many bytes each store has written for each byte of documents that are updated, class against class.
//!
//! It is told in two ways. What a store hands down by calls is what the system accounts to a process of its own (`wchar`), which nothing
//! else on the machine bears on; a store that writes through a map makes no such calls. What the disk wrote is the device's own account,
//! for every store alike, but of whoever wrote meanwhile. A page that is changed again before it was written out counts once there: where
//! commits are not synced, all files are, at even distances.
//!
//! The system's account of pages that a process made dirty (`write_bytes`) is neither: where the cache has large folios, all of one
//! counts for each page that changes in it, so that to overwrite 4 KiB with a sync was accounted for as 2 MiB.

use std::path::Path;

use crate::failure::{Failure, Of, Result, expect_equal};
use crate::order::shuffled;
use crate::place::{self, Disk};
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::rows::bolt::{self, Ask};
use crate::rows::calls::one_by_one;
use crate::rows::model::Model;
use crate::rows::step::{Make, Step, Work, commits};
use crate::stores::{Class, Commits, Lack, Store, each_of};
use crate::turns::{Contender, repeat};
use crate::ycsb::documents::VALUE;
use crate::{child, contents, extent};

/// The name of the work as that of a child.
pub const NAME: &str = "written";

/// Documents of one length.
#[derive(Debug, Clone, Copy)]
struct Kind {
    /// Of a document, in bytes, as it is named, and at most.
    name: &'static str,
    len_max: usize,
    is_long: bool,
    /// One for so many of the documents that are asked for.
    of: u64,
}

const KINDS: [Kind; 2] = [
    Kind { name: "56", len_max: 56, is_long: false, of: 1 },
    Kind { name: "1,000", len_max: VALUE + 32, is_long: true, of: 4 },
];

/// Updates of each document before the count begins, and counted ones.
const WARMING: u64 = 2;
const UPDATES: u64 = 3;

/// How many updates are a durable commit. In other classes each is one.
const BATCH: usize = 100;

/// Documents of a commit while a store is filled.
const LOAD: usize = 1_000;

/// All files are synced so many times while each document is updated once.
const SYNCS: u64 = 10;

/// What one trial showed.
#[derive(Debug, Clone, Copy)]
struct Written {
    /// By calls, for each byte of an encoded document; none where a store writes through a map.
    handed: Option<f64>,
    /// By the disk, for each byte of an encoded document, where the system tells.
    disk: Option<f64>,
    /// In the end, for each byte of an encoded document that is there.
    files: f64,
    bytes: u64,
}

/// Prints a table for each class.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    for class in Class::ALL {
        let workload = format!("bytes written while documents are updated, {}", class.name());
        for (at, kind) in KINDS.into_iter().enumerate() {
            for mut contender in contenders(plan, class, at) {
                repeat(&mut contender, 1)?;
                report.add(records(&workload, &contender, kind));
            }
            eprintln!("{workload}: {} bytes", kind.name);
        }
        println!("## {workload}\n\n{}\n{}", head(plan, class), report.table(&workload));
    }
    Ok(())
}

fn head(plan: &Plan, class: Class) -> String {
    let commits = match class {
        Class::Durable => format!("commits of {BATCH} updates"),
        _ => format!("each update a commit; all files synced after each {} % of the documents", 100 / SYNCS),
    };
    let [short, long] = [0, 1].map(|at| count_of(plan, at));
    format!(
        "{short} documents of {} bytes and {long} of {}, updated at random, a tenth of them at a time; {WARMING} updates of each on average before the count and {UPDATES} counted; {commits}. *Handed down* is by calls: byodb-rust makes none to write, as it maps its file. *The disk* is the whole machine's: it means something where nothing else writes. Until fjall has gathered 64 MiB, it writes its log and merges nothing: that takes more documents. Left out: ToonDB (opened again, it may hold older versions), and byodb-rust where a value is too long for it.\n",
        KINDS[0].name, KINDS[1].name
    )
}

fn contenders(plan: &Plan, class: Class, at: usize) -> Vec<Contender<Written>> {
    let mut all = Vec::new();
    macro_rules! add {
        ($store:ty) => {
            all.extend(contender::<$store>(plan, class, at))
        };
    }
    each_of!(class, add);
    if class != Class::Kept {
        let (directory, count) = (plan.directory.clone(), count_of(plan, at));
        let trial = |program| {
            Contender::new(bolt::NAME, move || trial_of_bolt(program, &directory, class, at, count))
        };
        all.extend(bolt::program().ok().map(trial));
    }
    all
}

fn count_of(plan: &Plan, at: usize) -> u64 {
    (plan.documents / KINDS[at].of).max(500)
}

/// None for a store that cannot be held to what it replaced.
fn contender<S: Store>(plan: &Plan, class: Class, at: usize) -> Option<Contender<Written>> {
    let lacks = Lack::any::<S>(|lack| matches!(lack, Lack::Replaced(_) | Lack::Reopened(_)));
    if lacks || KINDS[at].len_max > S::VALUE_MAX {
        return None;
    }
    let (directory, count) = (plan.directory.clone(), count_of(plan, at));
    Some(Contender::new(S::NAME, move || trial::<S>(&directory, class, at, count)))
}

fn records(workload: &str, contender: &Contender<Written>, kind: Kind) -> Vec<Record> {
    let done = contender.trials.last().map(|written| format!("{} bytes of documents put", written.bytes));
    let row = |row: &str, figure: fn(&Written) -> f64| Record {
        done: done.clone(),
        ..Record::of([workload, row], ("times", Better::Less), contender, figure)
    };
    let is_told = |of: fn(&Written) -> Option<f64>| contender.trials.iter().all(|trial| of(trial).is_some());
    let name = kind.name;
    let mut all = Vec::new();
    if is_told(|written| written.handed) {
        let handed = |written: &Written| written.handed.unwrap_or_default();
        all.push(row(&format!("handed down : updated documents of {name} bytes"), handed));
    }
    if is_told(|written| written.disk) {
        let disk = |written: &Written| written.disk.unwrap_or_default();
        all.push(row(&format!("the disk : updated documents of {name} bytes"), disk));
    }
    all.push(row(&format!("files : documents of {name} bytes, in the end"), |written| written.files));
    all
}

fn trial<S: Store>(directory: &Path, class: Class, at: usize, count: u64) -> Result<Written> {
    let directory = place::files_of(S::NAME, directory)?;
    let work = [NAME, class.name(), &at.to_string(), &count.to_string(), S::NAME];
    let told = child::run(S::NAME, &work, directory.path())?;
    figures((S::NAME, S::WRITES_BY_MAP), directory.path(), class, count, told)
}

fn figures(
    (who, by_map): (&'static str, bool),
    directory: &Path,
    class: Class,
    count: u64,
    [handed, disk, bytes]: [u64; 3],
) -> Result<Written> {
    // Whoever hands each commit down writes all of it; what is kept in memory may be written less often than it changes.
    let is_enough = by_map || handed > 0 && (class == Class::Kept || handed >= bytes);
    expect_equal(who, "whether the system saw it write its documents", &true, &is_enough)?;
    let times = |written: u64| written as f64 / bytes as f64;
    let each = bytes as f64 / (count / SYNCS * SYNCS * UPDATES) as f64;
    let files = extent::of(who, directory)?.len as f64 / (each * count as f64);
    let (handed, disk) = ((!by_map).then(|| times(handed)), (disk > 0).then(|| times(disk)));
    Ok(Written { handed, disk, files, bytes })
}

/// The child: tells how many bytes it handed down, how many the disk wrote, and how many bytes of documents they were for.
pub fn child(class: &str, at: &str, count: &str, who: &str, directory: &Path) -> Result<()> {
    let class = Class::ALL.into_iter().find(|known| known.name() == class);
    let class = class.ok_or_else(|| Failure::new(NAME, "reading what to do", "no such class"))?;
    let at: usize = at.parse().of(NAME, "reading what to do")?;
    let count: u64 = count.parse().of(NAME, "reading what to do")?;
    macro_rules! work_if_it_is {
        ($store:ty) => {
            if who == <$store>::NAME {
                child::tell(&work::<$store>(directory, class, KINDS[at], count)?);
                return Ok(());
            }
        };
    }
    each_of!(class, work_if_it_is);
    Err(Failure::new(NAME, "reading what to do", format!("{who} is no store of the class")))
}

/// What is asked for, before the count begins and while it goes on: in each work a tenth of the documents, drawn at random, get
/// another version.
struct Lists {
    load: Work,
    warming: Vec<Work>,
    counted: Vec<Work>,
}

impl Lists {
    fn new(class: Class, kind: Kind, count: u64) -> Self {
        let put = |ids, each, version: u64| {
            let version = u16::try_from(version).expect("versions are few");
            Work::Put(commits(ids, each), Make::Version { is_long: kind.is_long, version })
        };
        let update = |version| {
            let mut ids = shuffled(count, version);
            ids.truncate((count / SYNCS) as usize);
            put(ids, if class == Class::Durable { BATCH } else { 1 }, version)
        };
        let from = WARMING * SYNCS + 1;
        Lists {
            load: put((1..=count).collect(), LOAD, 0),
            warming: (1..from).map(update).collect(),
            counted: (from..from + UPDATES * SYNCS).map(update).collect(),
        }
    }

    /// Of the documents that are put while it is counted, encoded.
    fn bytes(&self) -> u64 {
        let len = |work: &Work| match work {
            Work::Put(commits, make) => {
                commits.iter().flatten().map(|id| make.document(*id).encode().len() as u64).sum::<u64>()
            }
            other => unreachable!("{other:?} updates nothing"),
        };
        self.counted.iter().map(len).sum()
    }
}

/// How many bytes were handed down, how many the disk wrote (none where the system does not tell), and how many bytes of documents they
/// were for.
fn work<S: Store>(directory: &Path, class: Class, kind: Kind, count: u64) -> Result<[u64; 3]> {
    let (disk, lists) = (Disk::under(directory), Lists::new(class, kind, count));
    let now = || Ok([child::handed_down(S::NAME)?, disk.as_ref().map_or(0, Disk::written)]);
    let mut model = Model::default();
    let mut apply = |store: &S, works: &[Work]| -> Result<()> {
        let mut session = store.session()?;
        for work in works {
            model.after(work);
            one_by_one::<S>(&mut session, work)?;
            if class.commits() == Commits::Unsynced {
                place::sync(S::NAME, directory)?;
            }
        }
        Ok(())
    };
    let store = S::open(directory, class.commits())?;
    apply(&store, std::slice::from_ref(&lists.load))?;
    store.close()?;
    let store = S::open(directory, class.commits())?;
    apply(&store, &lists.warming)?;
    place::sync(S::NAME, directory)?;
    let before: [u64; 2] = now()?;
    apply(&store, &lists.counted)?;
    store.close()?;
    place::sync(S::NAME, directory)?;
    let after = now()?;
    contents::check::<S>(directory, model.contents())?;
    Ok([after[0] - before[0], after[1] - before[1], lists.bytes()])
}

/// Its program is a process of its own as it is.
fn trial_of_bolt(program: &Path, directory: &Path, class: Class, at: usize, count: u64) -> Result<Written> {
    let directory = place::files_of(bolt::NAME, directory)?;
    let lists = Lists::new(class, KINDS[at], count);
    let bytes = lists.bytes();
    let steps = |works: Vec<Work>| works.into_iter().map(Step::prepare).collect::<Vec<Step>>();
    let (load, warming, counted) = (Step::prepare(lists.load), steps(lists.warming), steps(lists.counted));
    let mut model = Model::default();
    let mut ask =
        |asked: &[Ask<'_>]| bolt::ask(program, directory.path(), class.commits(), asked, &mut model);
    ask(&[Ask::Step(&load)])?;
    // It tells once a file is synced: where commits are not, after each work.
    let disk = Disk::under(directory.path());
    let written = Ask::Written(disk.as_ref().map(Disk::account));
    let tells = (class.commits() == Commits::Unsynced).then_some(written);
    let each = |step| [Some(Ask::Step(step)), tells].into_iter().flatten();
    let mut asked: Vec<Ask<'_>> = warming.iter().flat_map(each).collect();
    let before = asked.len();
    asked.push(written);
    asked.extend(counted.iter().flat_map(each));
    asked.push(written);
    let told = ask(&asked)?;
    let [before, after] = [before, asked.len() - 1].map(|at| told[at].done);
    let (handed, disk) = (after.sum - before.sum, after.documents - before.documents);
    figures((bolt::NAME, false), directory.path(), class, count, [handed, disk, bytes])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::wrong::{PUTS_NOTHING, Wrong};

    #[test]
    fn every_store_holds_what_it_was_asked_to_write() {
        for class in Class::ALL {
            macro_rules! holds {
                ($store:ty) => {
                    if !Lack::any::<$store>(|lack| matches!(lack, Lack::Replaced(_) | Lack::Reopened(_))) {
                        let directory = tempfile::tempdir().unwrap();
                        let [_, _, bytes] = work::<$store>(directory.path(), class, KINDS[0], 500).unwrap();
                        assert!((70_000..90_000).contains(&bytes), "{bytes}");
                    }
                };
            }
            each_of!(class, holds);
        }
    }

    #[test]
    fn bbolt_is_asked_for_the_same() {
        let Ok(program) = bolt::program() else { return };
        for class in [Class::Written, Class::Durable] {
            let directory = tempfile::tempdir().unwrap();
            let written = trial_of_bolt(program, directory.path(), class, 0, 500).unwrap();
            assert!(written.handed.unwrap() > 1.0, "{written:?}");
            assert_eq!(written.bytes, Lists::new(class, KINDS[0], 500).bytes());
        }
    }

    #[test]
    fn a_store_that_leaves_out_an_update_has_no_figure() {
        let directory = tempfile::tempdir().unwrap();
        assert!(work::<Wrong<PUTS_NOTHING>>(directory.path(), Class::Written, KINDS[0], 500).is_err());
    }

    #[test]
    fn who_handed_down_less_than_its_documents_has_no_figure() {
        let directory = tempfile::tempdir().unwrap();
        let figures = |class, by_map, handed| {
            figures(("a store", by_map), directory.path(), class, 500, [handed, 0, 1_000])
        };
        assert!(figures(Class::Written, false, 999).is_err() && figures(Class::Kept, false, 0).is_err());
        assert_eq!(figures(Class::Durable, false, 2_000).unwrap().handed, Some(2.0));
        assert_eq!(figures(Class::Durable, true, 0).unwrap().handed, None, "it makes no calls to write");
    }

    #[test]
    fn a_child_knows_only_stores_of_the_class() {
        assert!(child("durable", "0", "500", "sled 0.34", Path::new(".")).is_err());
        assert!(child("forever", "0", "500", "sled 0.34", Path::new(".")).is_err());
    }
}
