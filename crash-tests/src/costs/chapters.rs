//! The calls of a life, in chapters.

use std::ops::ControlFlow;

use holotype::query::Filter;
use holotype::{Error, IndexDefinition, Key, Update};

use super::life::{Life, WORDS, document, name};
use super::{Chapter, answers, churn, copies, syncs};
use crate::story::{ensure, say};

pub(super) const ALL: &[Chapter] = &[
    ("churn", churn::churn),
    ("what churned is gone", churn::cleared),
    ("documents", documents),
    ("reads", reads),
    ("rest", Life::come_to_rest),
    ("every length", lengths),
    ("the longest keys", longest_keys),
    ("updates", updates),
    ("transactions", transactions),
    ("names in a transaction", names),
    ("beside a sync", syncs::beside_a_sync),
    ("snapshots", snapshots),
    ("what snapshots kept", Life::come_to_rest),
    ("feeds", feeds),
    ("an index", an_index),
    ("queries", queries),
    ("own writes", answers::own_writes),
    ("many leaves", answers::many_leaves),
    ("built beside writes", answers::built_beside_writes),
    ("the past", answers::the_past),
    ("changes by a filter", many),
    ("closed and opened", Life::reopen),
    ("the first reads", first_reads),
    ("backups", copies::backups),
    ("kills", copies::kills),
    ("damage", copies::damage),
    ("another file", copies::another_file),
    ("leaves that were given up", copies::given_up),
    ("limits", copies::limits),
    ("the catalog", catalog),
    ("a queue", queue),
    ("a checkpoint", checkpoint),
    ("compaction", compaction),
    ("a store that only reads", copies::reader),
    ("closed and opened again", Life::reopen),
    ("verify", verify),
    ("all is deleted", deleted),
    ("a cut beside a sync", syncs::cut_beside_a_sync),
    ("the end", Life::come_to_rest),
];

fn documents(life: &mut Life) -> Result<(), String> {
    for number in 0..240 {
        let put = life.db.collection("a").put(number, document(number, number as usize * 7 % 300));
        life.call(put);
        let named = life.db.collection("named").put(name(number), document(number, 10));
        life.call(named);
        if number % 20 == 0 {
            let long = life.db.collection("long").insert(document(number, life.setup.segment * 2));
            life.call(long);
        }
        if number % 8 == 7 {
            life.step()?;
        }
    }
    Ok(())
}

fn reads(life: &mut Life) -> Result<(), String> {
    let mut found = 0;
    for number in (0..480).map(|number| number * 7 % 480) {
        found += u64::from(life.db.collection("a").get(number).map_err(say)?.is_some());
        found += u64::from(life.db.collection("named").contains(name(number)).map_err(say)?);
    }
    life.note("found", found);
    let scanned = life.db.collection("a").scan(100..).map_err(say)?.count()
        + life.db.collection("named").scan_prefix("00").map_err(say)?.count()
        + life.db.collection("long").keys(..).map_err(say)?.count()
        + life.db.collection("long").scan(..).map_err(say)?.count();
    life.note("scanned", scanned as u64);
    let len = life.db.collection("named").len().map_err(say)?;
    life.note("names", len);
    Ok(())
}

/// Documents of every length at which something ends: a varint, a sector, a segment.
fn lengths(life: &mut Life) -> Result<(), String> {
    let around = |len: usize, by: usize| len - by..len + by;
    let segment = life.setup.segment;
    for len in (0..150).chain(around(segment, 40)).chain(around(2 * segment, 12)).step_by(2) {
        let wanted = document(len as i64, len);
        let put = life.db.collection("lengths").put(7, &wanted);
        if life.call(put).is_some() {
            let found = life.db.collection("lengths").get(7).map_err(say)?.ok_or("it is gone")?;
            ensure(found.to_document().map_err(say)? == wanted, || format!("{len} bytes are others"))?;
        }
        if len % 16 == 0 {
            life.step()?;
        }
    }
    life.come_to_rest()
}

/// Keys around the longest that a store with segments of this length takes.
fn longest_keys(life: &mut Life) -> Result<(), String> {
    let put = |key: String| life.db.collection("lengths").put(key, document(0, 0));
    let max = match put("k".repeat(life.setup.segment)) {
        Err(Error::KeyTooLong { max, .. }) => max,
        answer => return Err(format!("a key as long as a segment: {answer:?}")),
    };
    let taken = (max - 2..max + 3).filter(|len| put("k".repeat(*len)).is_ok()).count();
    life.note("taken", taken as u64);
    life.come_to_rest()
}

fn updates(life: &mut Life) -> Result<(), String> {
    for number in 0..240 {
        let a = life.db.collection("a");
        match number % 4 {
            0 => _ = life.call(a.update(number, Update::new().inc("$.n", 1000))),
            1 => _ = life.call(a.put(number, document(number, 40))),
            2 => life.told(a.delete(number)),
            _ => life.told(a.replace(number, document(number, 41))),
        }
        let refused = life.db.collection("named").insert_with_key(name(number), document(0, 0));
        life.call(refused);
        let refused = life.db.collection("named").replace_if(name(number), 1, document(0, 0));
        life.call(refused);
        if number % 16 == 15 {
            life.step()?;
        }
    }
    Ok(())
}

fn transactions(life: &mut Life) -> Result<(), String> {
    for round in 0..12 {
        let Some(mut transaction) = life.call(life.db.begin_write()) else { continue };
        for number in 0..30 {
            let put = transaction.collection("a").put(number * 3 + round, document(number, 60));
            life.call(put);
        }
        let savepoint = transaction.savepoint();
        for number in 0..10 {
            let put = transaction.collection("more").put(name(number), document(number, 200));
            life.call(put);
            life.told(transaction.collection("a").delete(number * 3 + round));
        }
        if round % 3 == 1 {
            life.call(transaction.rollback_to(&savepoint));
        }
        match round % 4 {
            3 => _ = life.call(transaction.rollback()),
            2 => {
                let ticket = life.call(transaction.commit_deferred());
                if let Some(ticket) = ticket {
                    life.call(life.db.flush());
                    life.call(ticket.wait());
                }
            }
            _ => _ = life.call(transaction.commit()),
        }
        life.step()?;
    }
    Ok(())
}

/// What a transaction did to names is undone where it goes back.
fn names(life: &mut Life) -> Result<(), String> {
    let Some(mut transaction) = life.call(life.db.begin_write()) else { return Ok(()) };
    for name in ["long", "named", "a"] {
        life.call(transaction.collection(name).put("used", document(9002, 5)));
    }
    let savepoint = transaction.savepoint();
    life.told(transaction.rename_collection("long", "longer"));
    life.told(transaction.drop_collection("named"));
    life.told(transaction.create_collection("new"));
    for name in ["long", "longer", "named"] {
        life.call(transaction.collection(name).put("meanwhile", document(9003, 5)));
        let len = transaction.collection(name).len().map_err(say)?;
        life.note("documents meanwhile", len);
    }
    life.note("names meanwhile", transaction.collections().len() as u64);
    life.call(transaction.rollback_to(&savepoint));
    life.note("names", transaction.collections().len() as u64);
    for name in ["long", "named"] {
        let len = transaction.collection(name).len().map_err(say)?;
        life.note("documents of one", len);
        life.call(transaction.collection(name).put("here", document(9001, 20)));
    }
    life.call(transaction.commit());
    Ok(())
}

fn snapshots(life: &mut Life) -> Result<(), String> {
    let mut held = Vec::new();
    for round in 0..6 {
        held.push(life.db.snapshot());
        for number in 0..40 {
            life.call(life.db.collection("a").put(number * 5 + round, document(round, 80)));
        }
        let long = life.db.collection("long").put(1 + round % 3, document(round, life.setup.segment));
        life.call(long);
        life.told(life.db.collection("named").delete(name(round * 11)));
        if round % 2 == 1 {
            held.remove(held.len() / 2);
        }
        life.step()?;
    }
    life.note("retained meanwhile", life.db.stats().retained_versions);
    life.note("pinned meanwhile", life.db.stats().space.pinned_bytes);
    for snapshot in &held {
        let a = snapshot.collection("a").map_err(say)?;
        life.note("documents then", a.len().map_err(say)?);
        let there = (0..240).filter(|number| a.contains(*number).is_ok_and(|is_there| is_there)).count();
        life.note("there then", there as u64);
        let documents = a.scan(..).map_err(say)?;
        let bytes =
            documents.map(|found| found.map(|found| found.raw().as_bytes().len())).sum::<Result<usize, _>>();
        life.note("bytes then", bytes.map_err(say)? as u64);
    }
    Ok(())
}

fn feeds(life: &mut Life) -> Result<(), String> {
    let from = life.db.stats().lsn;
    let (Some(mut all), Some(mut half)) = (life.call(life.db.watch(from)), life.call(life.db.watch(from)))
    else {
        return Ok(());
    };
    let mut shown = 0;
    for number in 0..120 {
        life.call(life.db.collection("a").put(number % 30, document(number, 300)));
        if number % 10 == 9 {
            while let Some(commit) = all.try_next().map_err(say)? {
                shown += commit.changes.len() as u64;
            }
            let commit = half.try_next().map_err(say)?;
            shown += commit.map_or(0, |commit| commit.changes.len() as u64);
            life.step()?;
        }
    }
    life.note("shown", shown);
    life.note("pinned meanwhile", life.db.stats().space.pinned_bytes);
    Ok(())
}

fn an_index(life: &mut Life) -> Result<(), String> {
    let by_word = IndexDefinition::new("by_word", ["$.word", "-$.n"]).map_err(say)?;
    let by_n = IndexDefinition::new("by_n", ["$.n"]).map_err(say)?;
    life.told(life.db.collection("a").create_index(by_word));
    life.told(life.db.collection("named").create_index(by_n.clone().unique()));
    life.told(life.db.collection("a").create_index(by_n.unique()));
    for number in 0..60 {
        life.call(life.db.collection("a").put(number * 4, document(number, 30)));
        life.call(life.db.collection("named").put(name(number), document(number * 2, 30)));
        if number % 16 == 15 {
            life.step()?;
        }
    }
    for word in WORDS {
        let a = life.db.collection("a");
        let counted = a.index("by_word").count(word..=word).map_err(say)?;
        let keys = a.index("by_word").get(word).map_err(say)?.keys().count();
        ensure(counted == keys as u64, || format!("{counted} of {word}, and {keys}"))?;
        life.note("keys", counted);
    }
    life.come_to_rest()
}

fn queries(life: &mut Life) -> Result<(), String> {
    for filter in ["@.n < 40", "@.word == 'elm'", "@.word == 'elm' && @.n > 100", "key() < 20", "@.n == 5"] {
        let found = life.db.collection("a").find(filter).run().map_err(say)?;
        life.note("found", found.count() as u64);
        let first = life.db.collection("a").find(filter).sort("$.word").limit(3).keys().map_err(say)?;
        life.note("of the first", first.count() as u64);
    }
    Ok(())
}

fn many(life: &mut Life) -> Result<(), String> {
    let filter = |text: &str| Filter::parse(text).map_err(say);
    let a = life.db.collection("a");
    for text in ["@.word == 'oak'", "@.n > 20 && @.n < 60"] {
        let changed = life.call(a.update_many(&filter(text)?, Update::new().set("$.word", "fir")));
        life.note("changed", changed.map_or(0, |report| report.changed));
        life.step()?;
    }
    let deleted = life.call(a.delete_many(&filter("@.word == 'fir' && @.n > 30")?));
    life.note("deleted", deleted.map_or(0, |report| report.changed));
    let none = life.call(a.update_many(&filter("@.n > 0")?, Update::new().set("$.n", 0)));
    life.note("changed", none.map_or(0, |report| report.changed));
    life.come_to_rest()
}

fn first_reads(life: &mut Life) -> Result<(), String> {
    for number in [3, 77, 200, 1000] {
        let before = life.file.asked();
        let found = life.db.collection("a").get(number).map_err(say)?.is_some();
        life.note(if found { "reads for one that is there" } else { "reads for none" }, {
            life.file.asked().reads - before.reads
        });
    }
    let keys = life.db.collection("a").index("by_word").get("elm").map_err(say)?.keys().count();
    life.note("keys", keys as u64);
    Ok(())
}

fn catalog(life: &mut Life) -> Result<(), String> {
    let snapshot = life.db.snapshot();
    life.told(life.db.create_collection("empty"));
    life.told(life.db.rename_collection("more", "fewer"));
    life.told(life.db.rename_collection("fewer", "a"));
    life.call(life.db.collection("fewer").clear());
    life.told(life.db.drop_collection("lengths"));
    life.told(life.db.collection("named").drop_index("by_n"));
    life.come_to_rest()?;
    life.note("pinned meanwhile", life.db.stats().space.pinned_bytes);
    let more = snapshot.collection("more").and_then(|more| more.len()).map_err(say)?;
    life.note("documents then", more);
    drop(snapshot);
    life.come_to_rest()
}

fn queue(life: &mut Life) -> Result<(), String> {
    for number in 0..400 {
        life.call(life.db.collection("queue").put(number, document(number, 150)));
        life.told(life.db.collection("queue").delete(number - 20));
        if number % 10 == 9 {
            life.step()?;
        }
    }
    life.come_to_rest()
}

fn checkpoint(life: &mut Life) -> Result<(), String> {
    for number in 0..4 {
        life.call(life.db.collection("a").put(number, document(number, 20)));
        life.call(life.db.checkpoint());
    }
    life.call(life.db.checkpoint());
    Ok(())
}

fn compaction(life: &mut Life) -> Result<(), String> {
    let mut steps = 0;
    let beside_writes = life.db.compact_with(|_| {
        steps += 1;
        let _ = life.db.collection("a").put(steps % 240, document(steps, 700));
        if steps < 2000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    life.call(beside_writes);
    life.note("steps beside writes", steps as u64);
    let report = life.db.compact();
    if let Some(report) = life.call(report) {
        life.note("moved", report.moved_bytes);
    }
    life.come_to_rest()
}

fn verify(life: &mut Life) -> Result<(), String> {
    for deep in [false, true] {
        let report = life.db.verify(deep).map_err(say)?;
        life.note("records", report.records);
        ensure(report.problems.is_empty(), || format!("{:?}", report.problems))?;
    }
    Ok(())
}

fn deleted(life: &mut Life) -> Result<(), String> {
    for collection in life.db.collections() {
        let keys: Vec<Key> =
            life.db.collection(&collection).keys(..).map_err(say)?.collect::<Result<_, _>>().map_err(say)?;
        for (number, key) in keys.into_iter().enumerate() {
            life.told(life.db.collection(&collection).delete(&key));
            if number % 16 == 15 {
                life.step()?;
            }
        }
    }
    Ok(())
}
