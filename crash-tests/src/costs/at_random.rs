//! Lives of stores whose options, and whose calls, are drawn at random: what no chapter was written for.

use std::ops::ControlFlow;
use std::sync::Arc;

use holotype::query::Filter;
use holotype::{
    Background, Change, Durability, Error, IndexDefinition, Options, Snapshot, Ticket, Update, Watch,
};
use holotype_model::check::Rng;

use super::Chapter;
use super::life::{Life, Setup, WORDS, document, name};
use crate::metered::Metered;
use crate::story::{ensure, say};

pub(super) const LIVES: u64 = 24;

pub(super) const CHAPTERS: &[Chapter] =
    &[("calls", calls), ("more calls", calls), ("rest", Life::come_to_rest)];

const CALLS: usize = 160;

const COLLECTIONS: [&str; 3] = ["a", "named", "more"];

/// The life of this number.
pub(super) fn setup(seed: u64) -> Setup {
    let mut random = Rng::seeded(seed);
    let segment = *random.pick(&[512, 1 << 10, 4 << 10, 8 << 10, 32 << 10, 128 << 10]);
    let durability = *random.pick(&[Durability::Buffered, Durability::Written, Durability::Synced]);
    let sector = if segment < 4 << 10 { 64 } else { *random.pick(&[64, 512]) };
    let options = Options::tiny().sector(sector).segment_bytes(segment as u32);
    let options = options.background(Background::Manual).durability(durability).seed(seed);
    let options = options.cache_bytes(segment * *random.pick(&[0, 1, 4, 16, 1000]));
    let options = options.checkpoint_bytes((segment * *random.pick(&[1, 3, 6, 20])) as u64);
    let options = options.flush_bytes(*random.pick(&[1, 500, 20_000]));
    Setup {
        name: format!("at random {seed}"),
        seed,
        segment,
        options: if random.one_in(4) { options.index_bytes(2 << 10) } else { options },
        file_max: random.one_in(6).then_some(40 * segment as u64),
        damaged: 0,
        is_busy: random.one_in(2),
    }
}

/// What the caller has in hand.
#[derive(Default)]
struct Held {
    snapshots: Vec<Snapshot>,
    feeds: Vec<Watch>,
    tickets: Vec<Ticket>,
}

/// How the calls of a chapter are weighted.
struct Mix {
    deletes: usize,
    keys: usize,
    len_max: usize,
    is_maintained: bool,
}

fn calls(life: &mut Life) -> Result<(), String> {
    let mut random = Rng::seeded(life.setup.seed ^ life.chapters << 32);
    let mut held = Held::default();
    let segment = life.setup.segment;
    for _ in 0..4 {
        let mix = Mix {
            deletes: *random.pick(&[5, 15, 30, 50]),
            keys: *random.pick(&[4, 40, 300]),
            len_max: *random.pick(&[1, 60, segment / 4, segment / 2, segment + segment / 2]),
            is_maintained: !random.one_in(4),
        };
        for _ in 0..CALLS {
            call(life, &mut held, &mix, &mut random)?;
            if life.setup.is_busy {
                keep_up(life)?;
            }
        }
        let stats = life.db.stats();
        life.add("file meanwhile", stats.file_bytes);
        life.add("segments meanwhile", stats.segments);
    }
    Ok(())
}

fn call(life: &mut Life, held: &mut Held, mix: &Mix, random: &mut Rng) -> Result<(), String> {
    let key = random.below(mix.keys) as i64;
    let collection = life.db.collection(*random.pick(&COLLECTIONS));
    match random.below(100) {
        call if call < mix.deletes => life.told(collection.delete(key)),
        call if call < 66 => _ = life.call(collection.put(key, document(key, random.below(mix.len_max)))),
        66..70 => _ = life.call(collection.update(key, Update::new().inc("$.n", 1))),
        70..73 => _ = life.call(collection.put(name(key), document(key, 3))),
        73..76 => transaction(life, mix, random)?,
        76 => deferred(life, held, key)?,
        77 if random.one_in(2) => indexes(life, key)?,
        77 => full(life, held, mix, random)?,
        78..80 => beside_a_sync(life, held, key)?,
        80..84 => read(life, held, key)?,
        84..92 if mix.is_maintained => _ = life.step()?,
        84..92 => {}
        92..95 => hold(life, held, random)?,
        95 | 96 => let_go(held, random),
        97 => _ = life.call(life.db.checkpoint()),
        98 => seldom(life, held, key, random)?,
        _ => rare(life, held, key, random)?,
    }
    Ok(())
}

/// What a store with a thread of its own does behind a commit: that is woken, and the caller helps where it must.
fn keep_up(life: &mut Life) -> Result<(), String> {
    let [is_woken, is_checked] = life.db.upkeep().map_err(say)?;
    life.add("woken", u64::from(is_woken));
    if is_woken {
        life.step()?;
    }
    let mut goes_on = is_checked;
    while goes_on {
        let [some, much] = life.db.must_writers_help().map_err(say)?;
        life.add("help wanted", u64::from(some) + 1000 * u64::from(much));
        goes_on = some && life.step()? && much;
    }
    Ok(())
}

fn transaction(life: &mut Life, mix: &Mix, random: &mut Rng) -> Result<(), String> {
    let Some(mut transaction) = life.call(life.db.begin_write()) else { return Ok(()) };
    let mut savepoint = transaction.savepoint();
    for _ in 0..random.below(30) {
        let key = random.below(mix.keys) as i64;
        let collection = transaction.collection(*random.pick(&COLLECTIONS));
        match random.below(16) {
            0..4 => life.told(collection.delete(key)),
            4..11 => _ = life.call(collection.put(key, document(key, random.below(mix.len_max)))),
            11 => {
                let update = Update::new().set("$.word", WORDS[key as usize % WORDS.len()]);
                life.call(collection.update(key, update));
            }
            12 => life.told(transaction.rename_collection("more", "less")),
            13 => life.told(transaction.create_collection("less")),
            14 => {
                life.told(transaction.drop_collection("less"));
                savepoint = transaction.savepoint();
            }
            _ => {
                let found = life.call(collection.get(key)).flatten();
                let scanned = life.call(collection.scan(key..)).map_or(0, Iterator::count);
                let a = transaction.collection("a");
                let keys = life.call(a.index("by_word").get(WORDS[key as usize % WORDS.len()]));
                let indexed = keys.map_or(0, |found| found.keys().count());
                // It may be one in which nothing can lie.
                let words =
                    [key as usize, random.below(WORDS.len())].map(|number| WORDS[number % WORDS.len()]);
                let between = life.call(a.index("by_word").range(words[0]..words[1]));
                let between = between.map_or(0, |found| found.reversed().keys().count());
                life.add("read between", between as u64);
                life.add("read of it", u64::from(found.is_some()) + scanned as u64 + indexed as u64);
            }
        }
    }
    if random.one_in(4) {
        life.call(transaction.rollback_to(&savepoint));
        life.call(transaction.collection("a").put(1, document(1, 9)));
    }
    if random.one_in(5) {
        life.call(transaction.rollback());
    } else {
        life.call(transaction.commit());
    }
    Ok(())
}

/// A commit whose end is waited for at some later call.
fn deferred(life: &mut Life, held: &mut Held, key: i64) -> Result<(), String> {
    let Some(transaction) = life.call(life.db.begin_write()) else { return Ok(()) };
    life.call(transaction.collection("a").put(key, document(key, 40)));
    let ticket = life.call(transaction.commit_deferred());
    held.tickets.extend(ticket);
    Ok(())
}

fn beside_a_sync(life: &mut Life, held: &mut Held, key: i64) -> Result<(), String> {
    deferred(life, held, key)?;
    let sync = life.call(life.db.begin_sync()).flatten();
    deferred(life, held, key + 1)?;
    life.step()?;
    if let Some(sync) = sync {
        life.call(sync.finish());
    }
    Ok(())
}

fn read(life: &mut Life, held: &mut Held, key: i64) -> Result<(), String> {
    let mut bytes = 0;
    for collection in COLLECTIONS {
        let collection = life.db.collection(collection);
        let found = life.call(collection.get(key)).flatten();
        bytes += found.map_or(0, |found| found.raw().as_bytes().len());
        bytes += life.call(collection.keys(key..key + 20)).map_or(0, Iterator::count);
    }
    for snapshot in &held.snapshots {
        bytes += snapshot.collection("a").and_then(|a| Ok(a.scan(key..)?.count())).unwrap_or(0);
    }
    for feed in &mut held.feeds {
        let commit = life.call(feed.try_next()).flatten();
        for change in commit.iter().flat_map(|commit| &commit.changes) {
            let Change::Put { at, replaced, .. } = change else { continue };
            for place in [Some(*at), *replaced].into_iter().flatten() {
                let found = life.call(life.db.document_at(place)).flatten();
                bytes += found.map_or(1, |found| found.raw().as_bytes().len());
            }
        }
    }
    life.add("read", bytes as u64);
    indexed(life, key)
}

/// What indexes have, where there are any.
fn indexed(life: &mut Life, key: i64) -> Result<(), String> {
    let a = life.db.collection("a");
    let word = WORDS[key as usize % WORDS.len()];
    let keys = life.call(a.index("by_word").get(word)).map_or(0, |found| found.keys().count());
    let counted = life.call(a.index("by_word").count(word..=word)).unwrap_or(0);
    ensure(counted == keys as u64, || format!("{counted} of {word}, and {keys}"))?;
    life.add("of a word", counted);
    let filter = format!("@.n > {key} && @.word != 'elm'");
    let found = life.call(a.find(filter.as_str()).sort("$.word").limit(5).keys()).map_or(0, Iterator::count);
    life.add("of a filter", found as u64);
    Ok(())
}

/// Indexes come and go.
fn indexes(life: &mut Life, key: i64) -> Result<(), String> {
    let definition = match key % 3 {
        0 => IndexDefinition::new("by_word", ["$.word", "-$.n"]),
        1 => IndexDefinition::new("by_n", ["$.n"]).map(IndexDefinition::unique),
        _ => IndexDefinition::new("by_word", ["$.word"]),
    };
    let definition = definition.map_err(say)?;
    let a = life.db.collection("a");
    match key % 4 {
        0 => life.told(a.replace_index(definition)),
        1 => life.told(a.drop_index("by_word")),
        _ => life.told(a.create_index(definition)),
    }
    Ok(())
}

/// There is no room for some writes, and then there is again.
fn full(life: &mut Life, held: &mut Held, mix: &Mix, random: &mut Rng) -> Result<(), String> {
    life.file.fill_after(random.below(4) as u64);
    for _ in 0..1 + random.below(4) {
        match random.below(4) {
            0 => transaction(life, mix, random)?,
            1 => _ = life.step()?,
            2 => {
                let key = random.below(mix.keys) as i64;
                life.told(life.db.collection("a").delete(key));
            }
            _ => {
                let key = random.below(mix.keys) as i64;
                life.call(life.db.collection("a").put(key, document(key, mix.len_max)));
            }
        }
    }
    go_on(life, held)
}

/// The disk is as it should be again. A store that stopped writing is opened anew.
fn go_on(life: &mut Life, held: &mut Held) -> Result<(), String> {
    life.file.mend();
    if matches!(life.db.flush(), Err(Error::Poisoned { .. })) {
        *held = Held::default();
        life.kill()?;
    }
    Ok(())
}

fn verified(life: &mut Life) -> Result<(), String> {
    let report = life.db.verify(true).map_err(say)?;
    let problem = report.problems.first().map(ToString::to_string);
    ensure(problem.is_none(), || format!("verify finds {}", problem.unwrap_or_default()))?;
    life.add("records", report.records);
    Ok(())
}

fn hold(life: &mut Life, held: &mut Held, random: &mut Rng) -> Result<(), String> {
    if random.one_in(2) {
        held.snapshots.push(life.db.snapshot());
    } else {
        let lsn = life.db.stats().lsn;
        let feed = life.call(life.db.watch(lsn - random.below(3) as u64));
        held.feeds.extend(feed);
    }
    Ok(())
}

fn let_go(held: &mut Held, random: &mut Rng) {
    match random.below(3) {
        0 if !held.snapshots.is_empty() => {
            held.snapshots.swap_remove(random.below(held.snapshots.len()));
        }
        1 if !held.feeds.is_empty() => {
            held.feeds.swap_remove(random.below(held.feeds.len()));
        }
        _ => held.tickets.clear(),
    }
}

/// Backups, collections that come and go, and all of maintenance at once.
fn seldom(life: &mut Life, held: &mut Held, key: i64, random: &mut Rng) -> Result<(), String> {
    match random.below(10) {
        0 => {
            let copy = Metered::default();
            life.call(life.db.backup_to(&Arc::new(copy.clone()), None));
            life.add("places of a copy", copy.asked().written_places);
            life.add("contents of a copy", copy.asked().written_contents >> 32);
        }
        1 => life.told(life.db.drop_collection("more")),
        2 => life.told(life.db.rename_collection("more", "less")),
        3 => {
            life.told(life.db.drop_collection("less"));
            life.call(life.db.collection("named").clear());
        }
        4 => life.come_to_rest()?,
        5 => verified(life)?,
        7 => {
            let keys = (key..key + 40).chain(key + 10..key + 15).rev();
            let documents = keys.map(|key| (key, document(key, 5)));
            life.call(life.db.collection("a").bulk_load(documents));
        }
        6 => {
            let filter = Filter::parse("@.word == 'oak' || @.n < 7").map_err(say)?;
            let change = Update::new().set("$.word", "fir");
            let report = life.call(life.db.collection("a").update_many(&filter, change));
            life.add("changed", report.map_or(0, |report| report.changed));
        }
        _ => {
            let tickets = std::mem::take(&mut held.tickets);
            life.call(life.db.flush());
            for ticket in tickets {
                life.call(ticket.wait());
            }
            life.call(life.db.collection("long").put(key, document(key, 3 * life.setup.segment)));
        }
    }
    Ok(())
}

/// The end of a process, compaction, and a disk that fails.
fn rare(life: &mut Life, held: &mut Held, key: i64, random: &mut Rng) -> Result<(), String> {
    match random.below(8) {
        0 => {
            *held = Held::default();
            life.reopen()
        }
        1 => {
            *held = Held::default();
            life.kill()
        }
        2 | 3 => {
            let report = life.db.compact();
            let moved = life.call(report).map_or(0, |report| report.moved_bytes);
            life.add("moved", moved);
            Ok(())
        }
        4 => {
            let mut steps = 0;
            let beside_writes = life.db.compact_with(|_| {
                steps += 1;
                let _ = life.db.collection("a").put(key + steps % 3, document(steps, 20));
                if steps < 40 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            life.call(beside_writes);
            Ok(())
        }
        5 => {
            life.file.fail_reads();
            life.step()?;
            let scanned = life.call(life.db.collection("a").scan(..));
            life.add("scanned", scanned.map_or(0, |scanned| scanned.filter(Result::is_ok).count() as u64));
            let got = life.call(life.db.collection("named").get(name(key))).flatten();
            life.add("got", u64::from(got.is_some()));
            go_on(life, held)
        }
        6 => {
            // The slot that was written last is made whole again before the other one is written.
            life.file.damage(4096 * random.below(2) as u64 + 40).map_err(say)?;
            life.call(life.db.checkpoint());
            Ok(())
        }
        _ => without_syncs(life, held, key),
    }
}

/// The disk keeps nothing more: what the store says then, and what there is after it was killed.
fn without_syncs(life: &mut Life, held: &mut Held, key: i64) -> Result<(), String> {
    deferred(life, held, key)?;
    life.file.fail_syncs();
    life.call(life.db.flush());
    life.call(life.db.collection("a").put(key, document(key, 5)));
    life.step()?;
    for ticket in std::mem::take(&mut held.tickets) {
        life.call(ticket.wait());
    }
    life.add("documents meanwhile", life.db.stats().documents);
    go_on(life, held)
}
