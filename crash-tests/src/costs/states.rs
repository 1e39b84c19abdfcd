//! Chapters of many states at a time: those that snapshots hold, those that wait for a sync, and those that are taken back.

use std::ops::ControlFlow;
use std::time::Duration;

use holotype::storage::sim::{CallKind, FaultKind, FaultPlan, Level, Nth, SimDisk};
use holotype::{Collection, Db, Durability, IndexDefinition, Key, Snapshot, Ticket, View};

use super::asked::Heard;
use super::life::{Life, WORDS, document, name};
use crate::story::say;

/// More than a commit that is applied at once has, and than is let go at once.
const MANY: i64 = 700;

fn bytes_key(number: i64) -> Key {
    let mut bytes = (number * 7919 % 4001).to_le_bytes();
    bytes.reverse();
    Key::Bytes(bytes.as_slice().into())
}

/// Changes documents of three collections, so many of each.
fn change(life: &mut Life, round: i64, count: i64) -> Result<(), String> {
    let Some(transaction) = life.call(life.db.begin_write()) else { return Ok(()) };
    for number in (0..count).map(|number| (number * 11 + round * 5) % MANY) {
        let put = document(number + round, (round * 7) as usize);
        if (number + round) % 3 == 0 {
            life.told(transaction.collection("ints").delete(number));
            life.told(transaction.collection("bytes").delete(bytes_key(number)));
            life.call(transaction.collection("texts").put(name(number), put));
        } else {
            life.call(transaction.collection("ints").put(number, &put));
            life.call(transaction.collection("bytes").put(bytes_key(number), put));
            life.told(transaction.collection("texts").delete(name(number)));
        }
    }
    life.call(transaction.commit());
    Ok(())
}

/// All that can be asked of a collection as it was.
fn ask_view(view: &View, heard: &mut Heard) -> holotype::Result<()> {
    heard.number(view.len()?);
    for number in 0..40 {
        heard.number(u64::from(view.contains(number * 13)?));
        heard.number(u64::from(view.contains(name(number * 17))?));
        if let Some(found) = view.get(number * 19)? {
            heard.document(found.key(), found.version(), found.bytes());
        }
        if let Some(found) = view.get(bytes_key(number * 3))? {
            heard.document(found.key(), found.version(), found.bytes());
        }
    }
    for key in view.keys(..)? {
        heard.key(key?.as_ref());
    }
    for key in view.keys(100..=300)?.reversed() {
        heard.key(key?.as_ref());
    }
    for key in view.scan_prefix("12")?.map(|found| found.map(|found| found.key().to_key())) {
        heard.key(key?.as_ref());
    }
    view.scan(..)?.visit(|found| {
        heard.document(found.key(), found.version(), found.bytes());
        ControlFlow::<()>::Continue(())
    })?;
    let mut turned = view.scan(..)?;
    for _ in 0..5 {
        for found in turned.by_ref().take(30) {
            let found = found?;
            heard.document(found.key(), found.version(), found.bytes());
        }
        turned = turned.reversed();
    }
    Ok(())
}

fn ask(snapshot: &Snapshot, heard: &mut Heard) -> holotype::Result<()> {
    heard.number(snapshot.lsn());
    for name in snapshot.collections()? {
        heard.text(&name);
        ask_view(&snapshot.collection(&name)?, heard)?;
    }
    for word in WORDS {
        let Ok(view) = snapshot.collection("ints") else { return Ok(()) };
        let entries = view.index("by_word");
        heard.number(entries.count(word..=word).unwrap_or(1000));
        for key in entries.get(word).map_or_else(|_| Vec::new(), |found| found.keys().collect()) {
            heard.key(key?.as_ref());
        }
    }
    Ok(())
}

fn ask_all(life: &mut Life, snapshots: &[Snapshot]) -> Result<(), String> {
    let mut heard = Heard::default();
    for snapshot in snapshots {
        let asked = ask(snapshot, &mut heard);
        life.call(asked);
    }
    for info in life.db.snapshots() {
        [info.lsn, info.retained_versions, info.pinned_bytes]
            .into_iter()
            .for_each(|number| heard.number(number));
    }
    heard.number(life.db.stats().retained_versions);
    heard.number(life.db.stats().space.pinned_bytes);
    heard.tell(life);
    Ok(())
}

/// Snapshots of states that are far from each other, which go in another order than they came.
pub(super) fn many(life: &mut Life) -> Result<(), String> {
    let mut held = vec![life.db.snapshot()];
    for (round, count) in [MANY, 40, 5, MANY, 30, 0, 60].into_iter().enumerate() {
        change(life, round as i64, count)?;
        if round == 1 {
            let by_word = IndexDefinition::new("by_word", ["$.word"]).map_err(say)?;
            life.told(life.db.collection("ints").create_index(by_word));
        }
        if round == 4 {
            life.told(life.db.rename_collection("texts", "other texts"));
            life.call(life.db.collection("bytes").clear());
        }
        held.push(life.db.snapshot());
        // Moved documents belong to the states that they belonged to.
        for _ in 0..4 {
            life.step()?;
        }
    }
    held.push(life.db.snapshot());
    life.call(life.db.checkpoint());
    let moved = life.call(life.db.compact());
    life.note("moved", moved.map_or(0, |report| report.moved_bytes));
    ask_all(life, &held)?;
    for place in [3, 7, 0, 2] {
        held.remove(place);
        let (snapshots, retained) = (life.db.stats().snapshots, life.db.stats().retained_versions);
        life.note("snapshots", snapshots);
        life.note("retained", retained);
        ask_all(life, &held)?;
    }
    held.clear();
    life.note("retained at last", life.db.stats().retained_versions);
    // One that may not be so old, and one that is too old at once.
    for age in [3600, 0] {
        let copy = life.file.copy().map_err(say)?;
        let db = life.setup.open_with(&copy, |options| options.snapshot_max_age(Duration::from_secs(age)));
        let Some(db) = life.call(db) else { continue };
        let names = db.snapshot().collections();
        let names = life.call(names).map_or(0, |names| names.len() as u64);
        life.note("names", names);
    }
    let before = life.db.stats().index_bytes;
    for _ in 0..3 {
        life.told(life.db.create_collection("for a moment"));
        life.told(life.db.drop_collection("for a moment"));
    }
    life.note("kept of what has ended", u64::from(life.db.stats().index_bytes > before));
    life.come_to_rest()
}

/// Places a commit that is made durable later.
fn defer(
    db: &Db,
    change: impl FnOnce(&holotype::WriteTransaction) -> holotype::Result<()>,
) -> holotype::Result<Ticket> {
    let mut transaction = db.begin_write()?;
    transaction.set_durability(Durability::Synced);
    change(&transaction)?;
    transaction.commit_deferred()
}

/// What all see of a store, and what a transaction sees of it.
fn ask_now(db: &Db, heard: &mut Heard) -> Result<(), String> {
    for name in db.collections() {
        heard.text(&name);
        let collection: Collection = db.collection(&name);
        heard.number(collection.len().map_err(say)?);
        for number in 0..MANY {
            heard.number(u64::from(collection.contains(number).map_err(say)?));
            if number % 23 == 0
                && let Some(found) = collection.get(number).map_err(say)?
            {
                heard.document(found.key(), found.version(), found.bytes());
            }
        }
        for key in collection.keys(..).map_err(say)?.chain(collection.keys(40..600).map_err(say)?.reversed())
        {
            heard.key(key.map_err(say)?.as_ref());
        }
        for word in WORDS {
            heard.number(collection.index("by_word").count(word..=word).unwrap_or(1000));
            let keys = collection.index("by_word").get(word).map(|found| found.keys().count());
            heard.number(keys.unwrap_or(1000) as u64);
        }
    }
    let stats = db.stats();
    for number in [stats.pending_commits, stats.documents, stats.retained_versions, stats.lsn, stats.log_end]
    {
        heard.number(number);
    }
    Ok(())
}

/// Commits, long and short, that nobody sees until a sync is over.
fn place(db: &Db, round: i64) -> Vec<holotype::Result<Ticket>> {
    let long = defer(db, |transaction| {
        for number in 0..MANY {
            transaction.collection("waits").put(number, document(number + round, 9))?;
        }
        transaction.collection("long").put(1, document(round, 30_000))
    });
    let deletes = defer(db, |transaction| {
        for number in (0..MANY).step_by(2) {
            transaction.collection("waits").delete(number)?;
        }
        transaction.collection("waits").put(4, document(4, 5))?;
        transaction.collection("long").put(1, document(round, 70_000))
    });
    let names = defer(db, |transaction| {
        transaction.rename_collection("long", "longer")?;
        transaction.create_collection("new")?;
        transaction.collection("waits").put(2, document(2, 5)).map(drop)
    });
    let back = defer(db, |transaction| {
        transaction.rename_collection("longer", "long")?;
        transaction.drop_collection("new")?;
        transaction.collection("waits").delete(1).map(drop)
    });
    vec![long, deletes, names, back]
}

pub(super) fn pending(life: &mut Life) -> Result<(), String> {
    life.call(life.db.collection("waits").put(3, document(3, 3)));
    let by_word = IndexDefinition::new("by_word", ["$.word"]).map_err(say)?;
    life.told(life.db.collection("waits").create_index(by_word));
    let mut heard = Heard::default();
    let mut held = Vec::new();
    for round in 0..2 {
        held.push(life.db.snapshot());
        let mut tickets = place(&life.db, round);
        ask_now(&life.db, &mut heard)?;
        let sync = life.call(life.db.begin_sync()).flatten();
        tickets.extend(place(&life.db, round + 10));
        held.push(life.db.snapshot());
        ask_now(&life.db, &mut heard)?;
        if let Some(sync) = sync {
            life.call(sync.finish());
        }
        ask_now(&life.db, &mut heard)?;
        for snapshot in &held {
            life.call(ask(snapshot, &mut heard));
        }
        if round == 0 {
            held.remove(0);
        }
        for ticket in tickets {
            let Some(ticket) = life.call(ticket) else { continue };
            let is_durable = ticket.is_durable();
            life.told(is_durable);
            let waited = ticket.wait();
            heard.number(life.call(waited).unwrap_or(7));
        }
        ask_now(&life.db, &mut heard)?;
    }
    drop(held);
    life.note("retained", life.db.stats().retained_versions);
    heard.tell(life);
    life.come_to_rest()
}

/// A store of its own, on a disk that can be made to fail.
fn on_a_disk(life: &mut Life) -> Result<(Db, SimDisk), String> {
    let disk = SimDisk::new(64, Level::Sectors);
    let db = Db::open_on(disk.clone(), &life.setup.options).map_err(say)?;
    let waits = db.collection("waits");
    let put = waits.put_many((0..80).map(|number| (number, document(number, 20))));
    life.call(put);
    let by_word = IndexDefinition::new("by_word", ["$.word"]).map_err(say)?;
    life.told(waits.create_index(by_word));
    life.call(db.collection("long").put(1, document(1, 40_000)));
    life.call(db.flush());
    Ok((db, disk))
}

/// Commits that wait find no room: all is as if they had never been placed.
pub(super) fn taken_back(life: &mut Life) -> Result<(), String> {
    let (db, disk) = on_a_disk(life)?;
    let mut heard = Heard::default();
    for (round, first) in [0, 0, 1, 3].into_iter().enumerate() {
        let before = db.snapshot();
        let mut tickets = place(&db, round as i64);
        let meanwhile = db.snapshot();
        let transaction = db.begin_write().map_err(say)?;
        heard.number(transaction.collection("waits").len().map_err(say)?);
        // Where the first writes come through, some of it is in the file.
        disk.set_faults(FaultPlan::none().from(Nth::Of(CallKind::Write, first), FaultKind::StorageFull));
        let flushed = if round == 1 { db.checkpoint() } else { db.flush() };
        life.call(flushed);
        let put = transaction.collection("waits").put(5, document(5, 1));
        life.call(put);
        life.call(transaction.commit());
        disk.set_faults(FaultPlan::none());
        ask_now(&db, &mut heard)?;
        for snapshot in [&before, &meanwhile] {
            life.call(ask(snapshot, &mut heard));
        }
        if round == 2 {
            tickets.extend(place(&db, 20));
        }
        for ticket in tickets {
            let waited = ticket.and_then(Ticket::wait);
            heard.number(life.call(waited).unwrap_or(7));
        }
        let put = db.collection("waits").put(1000 + round as i64, document(1, 60));
        life.call(put);
        ask_now(&db, &mut heard)?;
    }
    let index = db.collection("waits");
    let entries = index.index("by_word").check(|problem| heard.text(&problem.to_string()));
    heard.number(life.call(entries).unwrap_or(0));
    let report = life.call(db.verify(true));
    heard.number(report.map_or(0, |report| report.records + 1000 * report.problems.len() as u64));
    drop(index);
    life.call(db.close());
    let opened = Db::open_on(disk.clone(), &life.setup.options);
    if let Some(db) = life.call(opened) {
        ask_now(&db, &mut heard)?;
    }
    life.note("writes of the disk", disk.calls().of(CallKind::Write));
    heard.tell(life);
    Ok(())
}

/// After a failed sync, or write, nothing is written any more, and what was there is read.
pub(super) fn failed(life: &mut Life) -> Result<(), String> {
    let mut heard = Heard::default();
    for call in [CallKind::Sync, CallKind::Write] {
        let (db, disk) = on_a_disk(life)?;
        let tickets = place(&db, 1);
        disk.set_faults(FaultPlan::none().once(Nth::Of(call, 0), FaultKind::Io));
        life.call(db.flush());
        for ticket in tickets {
            let Some(ticket) = life.call(ticket) else { continue };
            let is_durable = ticket.is_durable();
            life.told(is_durable);
            let waited = ticket.wait();
            life.call(waited);
        }
        life.call(db.collection("waits").put(1, document(1, 1)));
        life.told(db.maintain());
        life.call(db.begin_write().map(drop));
        ask_now(&db, &mut heard)?;
        let report = life.call(db.verify(true));
        heard.number(report.map_or(0, |report| report.records + 1000 * report.problems.len() as u64));
        life.call(db.close());
        let opened = Db::open_on(disk.clone(), &life.setup.options);
        if let Some(db) = life.call(opened) {
            ask_now(&db, &mut heard)?;
        }
    }
    heard.tell(life);
    Ok(())
}
