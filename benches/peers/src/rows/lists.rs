//! The rows, as steps: what is timed, and what comes before it.

use super::step::{Form, Make, Naming, Step, Work, commits};
use crate::order::shuffled;
use crate::stores::FIRST_NAME;
use crate::ycsb::keys::{Draw, Keys, Random};

/// Documents of a commit while a store is filled, and of one that is timed.
const LOAD: usize = 1_000;
const BATCH: usize = 100;
/// One is too short to be timed.
const COUNTS: usize = 30;

pub const THREADS: u64 = 8;

/// Inserts one by one and in batches, by one thread and by eight, then updates and deletes. Each is of `count` documents, and
/// `count` is a multiple of eight times a hundred.
pub fn writes(count: u64) -> Vec<Step> {
    let ids = |part: u64| part * count + 1..=(part + 1) * count;
    let shares = |part: u64, each: usize| {
        let share = count / THREADS;
        let of_thread = |thread| {
            let from = part * count + thread * share + 1;
            Work::Put(commits(from..from + share, each), Make::First)
        };
        (0..THREADS).map(of_thread).collect()
    };
    let (mut updated, mut deleted) = (shuffled(count, 0), shuffled(count, 1));
    deleted.truncate(count as usize / 2);
    updated.rotate_left(1);
    vec![
        Step::row("insert, 1 thread", vec![Work::Put(commits(ids(0), 1), Make::First)]),
        Step::row("insert, 8 threads", shares(1, 1)),
        Step::row("insert, batches of 100, 1 thread", vec![Work::Put(commits(ids(2), BATCH), Make::First)]),
        Step::row("insert, batches of 100, 8 threads", shares(3, BATCH)),
        Step::row("update, 1 thread", vec![Work::Put(commits(updated, 1), Make::Updated)]),
        Step::row("delete, 1 thread", vec![Work::Delete(deleted)]),
    ]
}

/// Transactions of many puts: `count` new documents, then a fifth of them anew, in no order.
pub fn transactions(count: u64) -> Vec<Step> {
    let mut updated = shuffled(count, 0);
    updated.truncate((count / 5).max(1) as usize);
    vec![
        Step::row("puts in one transaction", vec![Work::Put(vec![(1..=count).collect()], Make::First)]),
        Step::row("a fifth updated in one transaction", vec![Work::Put(vec![updated], Make::Updated)]),
    ]
}

/// A transaction of `count` puts under names of ten bytes, in no order.
pub fn named_transaction(count: u64) -> Vec<Step> {
    let put = Work::PutNamed(vec![shuffled(count, 1)], Naming::Short);
    vec![Step::row("puts under names of 10 bytes in one transaction", vec![put])]
}

/// Reads of `count` documents that were put in the order of their ids, `operations` a row.
pub fn reads(count: u64, operations: usize) -> Vec<Step> {
    let ids = |keys, seed| {
        let (draw, mut random) = (Draw::new(keys, count), Random::new(seed));
        (0..operations).map(|_| draw.scattered(&mut random) + 1).collect::<Vec<u64>>()
    };
    let uniform = |form| vec![Work::Get(ids(Keys::Uniform, 1), form)];
    let zipfian = |form| vec![Work::Get(ids(Keys::Zipfian, 2), form)];
    let absent: Vec<u64> = ids(Keys::Uniform, 3).into_iter().map(|id| id + count).collect();
    let mut steps = vec![
        Step::prepare(Work::Put(commits(1..=count, LOAD), Make::First)),
        Step::Reopen,
        Step::row("get, uniform, all bytes", uniform(Form::Raw)),
        Step::row("get, uniform, decoded", uniform(Form::Decode)),
        Step::row("get, uniform, typed", uniform(Form::Typed)),
        Step::row("get, uniform, one field", uniform(Form::Field)),
        Step::row("get, zipfian, all bytes", zipfian(Form::Raw)),
        Step::row("get, zipfian, decoded", zipfian(Form::Decode)),
    ];
    for threads in [2u64, 4, 8] {
        let of_thread = |thread| {
            let mut ids = ids(Keys::Uniform, 10 + thread);
            ids.truncate(operations / threads as usize);
            Work::Get(ids, Form::Raw)
        };
        steps.push(Step::row(
            format!("get, uniform, all bytes, {threads} threads"),
            (0..threads).map(of_thread).collect(),
        ));
    }
    steps.push(Step::row("get what is not there", vec![Work::Miss(absent)]));
    steps.push(Step::row("count", vec![Work::Count(COUNTS)]));
    steps
}

/// Reads of `count` documents under names.
pub fn named(count: u64, operations: usize) -> Vec<Step> {
    let ids = |seed| UniformOf { random: Random::new(seed), count }.take(operations).collect::<Vec<u64>>();
    let absent = ids(2).into_iter().map(|id| id + count).collect();
    let prefixes = |len: usize, seed| {
        // Names have eight digits: without the last two, a hundred begin alike.
        let tens = 10u64.pow(8 - len as u32);
        let of = |id: u64| format!("user-{:0len$}", (id / tens).min(count / tens - 1).max(1));
        vec![Work::Prefixes(
            ids(seed).into_iter().take((operations as u64 / tens).max(4) as usize).map(of).collect(),
        )]
    };
    vec![
        Step::prepare(Work::PutNamed(commits(1..=count, LOAD), Naming::User)),
        Step::Reopen,
        Step::row("get by name, uniform", vec![Work::GetNamed(ids(1), Naming::User, Form::Raw)]),
        Step::row("get by name what is not there", vec![Work::MissNamed(absent)]),
        Step::row("scan of a prefix of 10", prefixes(7, 3)),
        Step::row("scan of a prefix of 100", prefixes(6, 4)),
        Step::row("scan of a prefix of 1,000", prefixes(5, 5)),
    ]
}

struct UniformOf {
    random: Random,
    count: u64,
}

impl Iterator for UniformOf {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.random.below(self.count) + 1)
    }
}

/// How documents came to lie where they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    InOrder,
    AtRandom,
    Cleaned,
}

pub const LAYOUTS: [Layout; 3] = [Layout::InOrder, Layout::AtRandom, Layout::Cleaned];

impl Layout {
    pub fn name(self) -> &'static str {
        match self {
            Layout::InOrder => "put in the order of ids",
            Layout::AtRandom => "put at random",
            Layout::Cleaned => "updated at random, then cleaned up",
        }
    }

    fn load(self, count: u64) -> Vec<Step> {
        let put = |ids: Vec<u64>, make| Step::prepare(Work::Put(commits(ids, LOAD), make));
        match self {
            Layout::InOrder => vec![put((1..=count).collect(), Make::First), Step::Reopen],
            Layout::AtRandom => vec![put(shuffled(count, 0), Make::First), Step::Reopen],
            Layout::Cleaned => vec![
                put((1..=count).collect(), Make::First),
                put(shuffled(count, 1), Make::Updated),
                Step::Clean,
            ],
        }
    }
}

/// Scans of `count` documents.
pub fn scans(count: u64, layout: Layout) -> Vec<Step> {
    let mut steps = layout.load(count);
    for (name, form) in [
        ("scan, all bytes", Form::Raw),
        ("scan, one field", Form::Field),
        ("scan, decoded", Form::Decode),
        ("filter that 20 percent pass", Form::Filter(20)),
        ("filter that 1 percent passes", Form::Filter(1)),
    ] {
        steps.push(Step::row(name, vec![Work::Scan(form, 1)]));
    }
    steps.push(Step::row("count", vec![Work::Count(COUNTS)]));
    for len in [10, 100, 1_000, 10_000].into_iter().filter(|len| *len <= count) {
        let from = UniformOf { random: Random::new(len), count: count - len + 1 };
        let ranges = (count / len).clamp(2, 2_000) as usize;
        let work = Work::Ranges(from.take(ranges).collect(), len as usize);
        steps.push(Step::row(format!("ranges of {len}"), vec![work]));
    }
    steps
}

/// The lengths of values.
pub const SIZES: [usize; 5] = [100, 1_000, 10_000, 100_000, 1 << 20];

/// Puts and reads `bytes` in all for each length of values, each length in a store of its own.
pub fn sizes(bytes: usize, len: usize) -> Vec<Step> {
    let count = (bytes / len).clamp(4, 20_000) as u64;
    let mut read = shuffled(count, 0);
    read.truncate(4_000);
    let each = (LOAD * 1_000 / len).clamp(1, LOAD);
    vec![
        Step::row(
            format!("insert, values of {len}"),
            vec![Work::Put(commits(1..=count, each), Make::Sized(len))],
        ),
        Step::Reopen,
        Step::row(format!("get, values of {len}"), vec![Work::Get(read, Form::Raw)]),
    ]
}

/// What byodb and bolt were compared by: four threads go through all documents, whose values are or are not read.
pub fn whole_scans(count: u64, times: usize) -> Vec<Step> {
    let of = |form| vec![Work::Scan(form, times); 4];
    vec![
        Step::prepare(Work::Put(commits(1..=count, LOAD), Make::Varied)),
        Step::Reopen,
        Step::row("4 threads, values not read: as it was done", of(Form::Unread)),
        Step::row("4 threads, each byte read", of(Form::Raw)),
    ]
}

/// What ToonDB is measured by, with names as its own benches cut them or with names of their own.
pub fn of_toondb(count: u64, singles: u64, operations: usize, naming: Naming) -> Vec<Step> {
    let (draw, mut random) = (Draw::new(Keys::Zipfian, count), Random::new(9));
    let zipfian = (0..operations).map(|_| draw.scattered(&mut random) + 1).collect();
    vec![
        Step::row("one write a transaction", vec![Work::PutNamed(commits(1..=singles, 1), naming)]),
        Step::row("100 writes a transaction", vec![Work::PutNamed(commits(1..=count, BATCH), naming)]),
        Step::row("point reads, zipfian", vec![Work::GetNamed(zipfian, naming, Form::Raw)]),
    ]
}

/// DBX's comparison with stores matched: opened and prepared before the clock starts, each entry put by a call of its own.
pub fn of_dbx(count: u64) -> Vec<Step> {
    let all = || (1..=count).collect();
    vec![
        Step::row("insert", vec![Work::PutNamed(commits(1..=count, 1), Naming::User)]),
        Step::row("get, in order", vec![Work::GetNamed(all(), Naming::User, Form::Raw)]),
        Step::row("scan, each byte read", vec![Work::Prefixes(vec!["user-".to_owned()])]),
    ]
}

/// How many documents a table of [`of_redb`] and [`reads_of_redb`] is about.
#[derive(Debug, Clone, Copy)]
pub struct OfRedb {
    /// Of the one transaction that fills the store.
    pub bulk: u64,
    /// Put in transactions of their own, and in such of a thousand.
    pub singles: u64,
    pub batches: u64,
}

impl OfRedb {
    /// In proportion to a number of documents; `singles` are told apart, since each may wait for a sync.
    pub fn new(documents: u64, singles: u64) -> Self {
        OfRedb { bulk: documents, singles, batches: (documents / LOAD as u64).clamp(1, 100) }
    }

    pub fn singles(self) -> std::ops::RangeInclusive<u64> {
        self.bulk + 1..=self.bulk + self.singles
    }

    pub fn batches(self) -> std::ops::RangeInclusive<u64> {
        let from = self.bulk + self.singles;
        from + 1..=from + self.batches * LOAD as u64
    }

    pub fn documents(self) -> u64 {
        *self.batches().end()
    }
}

/// What redb-bench writes: a load, single documents, batches of a thousand, and half of all removed at once.
pub fn of_redb(size: OfRedb) -> Vec<Step> {
    let put = |ids, each| vec![Work::PutNamed(commits(ids, each), Naming::Random)];
    let half: Vec<u64> = (1..=size.documents() / 2).collect();
    vec![
        Step::row("bulk load, one transaction", put(1..=size.bulk, size.bulk as usize)),
        Step::row("one write a transaction", put(size.singles(), 1)),
        Step::row("1,000 writes a transaction", put(size.batches(), LOAD)),
        Step::row("removal of half, one transaction", vec![Work::DeleteNamed(vec![half], Naming::Random)]),
    ]
}

/// A load in the order of names, of a store of its own.
pub fn sorted_load_of_redb(count: u64) -> Vec<Step> {
    let mut ids: Vec<u64> = (1..=count).collect();
    ids.sort_by_cached_key(|id| Naming::Random.name(*id));
    let put = Work::PutNamed(vec![ids], Naming::Random);
    vec![Step::row("sorted load, one transaction", vec![put])]
}

/// What redb-bench reads, in documents that were loaded in no order.
pub fn reads_of_redb(count: u64) -> Vec<Step> {
    let drawn = |seed, len| UniformOf { random: Random::new(seed), count }.take(len).collect::<Vec<u64>>();
    let get = |seed, len| Work::GetNamed(drawn(seed, len), Naming::Random, Form::Raw);
    let from = drawn(3, count as usize / 2).into_iter().map(|id| Naming::Random.name(id)).collect();
    let mut steps = vec![
        Step::prepare(Work::PutNamed(commits(1..=count, LOAD), Naming::Random)),
        Step::Reopen,
        Step::row("len()", vec![Work::CountNamed(COUNTS)]),
        Step::row("random reads", vec![get(1, count as usize)]),
        Step::row("range scans of 10", vec![Work::RangesNamed(from, 10, Form::Raw)]),
    ];
    for threads in [4, 8] {
        let share = count as usize / threads;
        let works = (0..threads).map(|thread| get(10 + thread as u64, share)).collect();
        steps.push(Step::row(format!("random reads, {threads} threads"), works));
    }
    steps
}

/// What CSharpDB's collections are put by: `singles` one by one, by one thread and by several with ids of their own, and `count` in
/// batches of a hundred.
pub fn puts_of_csharpdb(count: u64, singles: u64) -> Vec<Step> {
    let put = |ids, each| Work::PutNamed(commits(ids, each), Naming::Entry);
    let mut next = singles + count + 1;
    let mut steps = vec![
        Step::row("put", vec![put(1..=singles, 1)]),
        Step::row("put, batches of 100", vec![put(singles + 1..=singles + count, BATCH)]),
    ];
    for threads in [4, 8] {
        let share = singles / threads;
        let works =
            (0..threads).map(|thread| put(next + thread * share..=next + (thread + 1) * share - 1, 1));
        steps.push(Step::row(format!("put, {threads} threads"), works.collect()));
        next += threads * share;
    }
    steps
}

/// What CSharpDB's collections are asked for by key; each document that is found becomes the application's type.
pub fn gets_of_csharpdb(count: u64, operations: usize) -> Vec<Step> {
    let get = |ids| vec![Work::GetNamed(ids, Naming::Entry, Form::Entry)];
    let drawn = UniformOf { random: Random::new(42), count }.take(operations).collect();
    vec![
        Step::prepare(Work::PutNamed(commits(1..=count, LOAD), Naming::Entry)),
        Step::Reopen,
        Step::row("get one and the same: as it is", get(vec![count / 2; operations])),
        Step::row("get at random", get(drawn)),
    ]
}

/// What CSharpDB's collections of a thousand documents are scanned by, so many times: 20 percent pass the filter.
pub fn scans_of_csharpdb(times: usize) -> Vec<Step> {
    const COUNT: usize = 1_000;
    let scan = |form| vec![Work::RangesNamed(vec![FIRST_NAME.to_owned(); times], COUNT, form)];
    vec![
        Step::prepare(Work::PutNamed(commits(1..=COUNT as u64, LOAD), Naming::Entry)),
        Step::Reopen,
        Step::row("scan of 1,000", scan(Form::Entry)),
        Step::row("filter, decoded first: as it is", scan(Form::EntryThenFilter)),
        Step::row("filter, by the field where it lies", scan(Form::FilterThenEntry)),
    ]
}
