//! Chapters in which a copy of the file, or a second handle of it, is what is looked at.

use std::time::Duration;

use holotype::{Corruption, Db, Key, Options};

use super::life::{Life, document, name};
use crate::metered::Metered;
use crate::story::say;

/// What a kill leaves is opened, and read, at one moment after another.
pub(super) fn kills(life: &mut Life) -> Result<(), String> {
    let (mut reads, mut read_bytes, mut written_bytes, mut documents) = (0, 0, 0, 0);
    for number in 0..12 {
        life.call(life.db.collection("a").put(number * 3, document(number, 90)));
        life.told(life.db.collection("named").delete(name(number * 7)));
        if number % 5 == 0 {
            life.call(life.db.collection("long").put(2, document(number, life.setup.segment)));
        }
        if number % 6 == 2 {
            life.step()?;
        }
        let copy = life.file.copy().map_err(say)?;
        let opened = life.setup.open(&copy);
        let Some(db) = life.call(opened) else { continue };
        let put = db.collection("a").put(1, document(number, 10));
        life.call(put);
        documents += db.stats().documents;
        life.call(db.close());
        let asked = copy.asked();
        reads += asked.reads;
        read_bytes += asked.read_bytes;
        written_bytes += asked.written_bytes;
    }
    for (what, count) in [
        ("documents after kills", documents),
        ("reads after kills", reads),
        ("read bytes after kills", read_bytes),
        ("written bytes after kills", written_bytes),
    ] {
        life.note(what, count);
    }
    Ok(())
}

/// What is found wrong where one byte is another, here and there in the file, before it is opened and after it.
pub(super) fn damage(life: &mut Life) -> Result<(), String> {
    life.db.flush().map_err(say)?;
    let (mut said, mut read_bytes) = (Vec::new(), 0);
    let len = life.db.stats().file_bytes;
    let places = life.setup.damaged;
    for number in 0..places {
        let place = number * len / places + number * 37 % 400;
        let copy = life.file.copy().map_err(say)?;
        let damage = |is_now: bool| match number {
            _ if !is_now => Ok(()),
            // Here and there, and all over the file.
            0 => (4096..len).step_by(3001).try_for_each(|place| copy.damage(place)),
            _ => copy.damage(place),
        };
        damage(number % 3 != 0).map_err(say)?;
        let opened = match number % 3 {
            1 => life.setup.read(&copy),
            _ => life.setup.open(&copy),
        };
        damage(number % 3 == 0).map_err(say)?;
        let looked = opened.map(|db| {
            look_for_damage(&db, number % 4 < 3, &mut said)?;
            // What cannot be read is written over, and is well again.
            for number in (0..240).step_by(7) {
                let put = db.collection("a").put(number, document(number, 20));
                said.extend(put.err().map(|error| error.to_string()));
            }
            look_for_damage(&db, false, &mut said)
        });
        said.extend(looked.and_then(|looked| looked).err().map(|error| error.to_string()));
        read_bytes += copy.asked().read_bytes;
    }
    life.note_said(&said);
    life.note("read bytes with damage", read_bytes);
    Ok(())
}

/// What an open store finds where its file is as it was before, or as it came to be later: all of it is sound, and little of it as this
/// store left it.
pub(super) fn another_file(life: &mut Life) -> Result<(), String> {
    let mut said = Vec::new();
    let then = life.file.copy().map_err(say)?;
    for number in 0..40 {
        life.call(life.db.collection("a").put(number * 5, document(number, 60)));
        life.told(life.db.collection("named").delete(name(number * 3)));
        life.told(life.db.collection("small").delete(number * 2));
        if number % 9 == 0 {
            life.call(
                life.db.collection("long").put(2 + number / 9, document(number, life.setup.segment * 2)),
            );
        }
        if number % 10 == 3 {
            life.call(life.db.checkpoint());
        }
    }
    life.db.flush().map_err(say)?;
    let now = life.file.copy().map_err(say)?;
    for (opened, underneath) in [(&then, &now), (&now, &then)] {
        for has_read in [false, true] {
            let file = opened.copy().map_err(say)?;
            let Some(db) = life.call(life.setup.open(&file)) else { continue };
            if has_read {
                look_for_damage(&db, false, &mut said).map_err(say)?;
            }
            file.become_as(underneath).map_err(say)?;
            for collection in ["long", "named", "small", "a"] {
                let documents = db.collection(collection).scan(..).map_err(say)?;
                let found =
                    documents.filter_map(|found| found.map_err(|error| said.push(error.to_string())).ok());
                life.note("bytes", found.map(|found| found.raw().as_bytes().len() as u64).sum());
            }
            let looked = look_for_damage(&db, true, &mut said);
            said.extend(looked.err().map(|error| error.to_string()));
        }
    }
    life.note_said(&said);
    Ok(())
}

fn look_for_damage(db: &Db, deep: bool, said: &mut Vec<String>) -> holotype::Result<()> {
    said.extend(db.verify(deep)?.problems.iter().map(Corruption::to_string));
    for (collection, index) in [("a", "by_word"), ("named", "by_n"), ("small", "by_word")] {
        let collection = db.collection(collection);
        let checked = collection.index(index).check(|problem| said.push(problem.to_string()));
        said.extend(checked.err().map(|error| error.to_string()));
    }
    said.extend(db.collection("a").scan(..)?.filter_map(Result::err).map(|error| error.to_string()));
    Ok(())
}

/// Leaves of the index are given up and read again, some of them damaged meanwhile.
pub(super) fn given_up(life: &mut Life) -> Result<(), String> {
    let mut said = Vec::new();
    for number in 0..6 {
        let copy = life.file.copy().map_err(say)?;
        let opened = life.setup.open_with(&copy, |options| options.index_bytes(4 << 10));
        let Some(db) = life.call(opened) else { continue };
        let small = db.collection("small");
        for key in 0..40 {
            life.call(small.put(key * 31 + number, document(key * 31 + number, 1)));
            if key % 10 == 9 {
                life.call(db.checkpoint());
            }
        }
        let mut found = small.keys(..).map_err(say)?.count() + small.keys(..).map_err(say)?.count();
        let len = db.stats().file_bytes;
        (4096..len).step_by(700 + 300 * number as usize).try_for_each(|at| copy.damage(at)).map_err(say)?;
        for key in small.keys(..).map_err(say)? {
            match key {
                Ok(_) => found += 1,
                Err(error) => said.push(error.to_string()),
            }
        }
        life.note("found", found as u64);
        life.note("given up", db.stats().leaves_given_up);
    }
    life.note_said(&said);
    Ok(())
}

/// How much a transaction takes, and a load; and a snapshot that is too old.
pub(super) fn limits(life: &mut Life) -> Result<(), String> {
    let short = |options: Options| options.transaction_bytes(20_000).snapshot_max_age(Duration::ZERO);
    let opened = life.setup.open_with(&life.file.copy().map_err(say)?, short);
    let Some(db) = life.call(opened) else { return Ok(()) };
    for (len, ask_every) in [(0, i64::MAX), (100, i64::MAX), (3000, i64::MAX), (0, 4), (100, 1)] {
        let transaction = db.begin_write().map_err(say)?;
        let put = |number: i64| {
            if (number + 1) % ask_every == 0 {
                // It keeps in mind what it was asked for.
                transaction.collection("a").index("by_word").get("oak").map(drop)?;
            }
            transaction.collection("a").put(number, document(number, len))
        };
        life.note("taken", (0..2000).take_while(|number| put(*number).is_ok()).count() as u64);
        let scanned = transaction.collection("a").scan(..).map_err(say)?.count();
        life.note("scanned", scanned as u64);
        life.call(transaction.commit());
    }
    let snapshot = db.snapshot();
    life.call(db.collection("a").put(1, document(1, 1)));
    life.note("snapshots", db.snapshots().len() as u64);
    let too_old = snapshot.collection("a").and_then(|a| a.get(1));
    life.call(too_old);
    let empty = life.setup.open(&Metered::default()).map_err(say)?;
    let load = empty.collection("load").bulk_insert((0..500).map(|number| document(number, 20_000)));
    life.call(load);
    life.note("commits of a load", empty.stats().lsn & 0xffff);
    life.note("loaded", empty.stats().documents);
    Ok(())
}

pub(super) fn backups(life: &mut Life) -> Result<(), String> {
    let (first, second) = (Metered::default(), Metered::default());
    let mut steps = 0;
    let whole = life.db.backup_to_with(&std::sync::Arc::new(first.clone()), None, |_| {
        steps += 1;
        // It goes on beside writes and maintenance.
        let _ = life.db.collection("a").put(steps, document(steps, 120));
        let _ = life.db.maintain();
        std::ops::ControlFlow::Continue(())
    });
    life.call(whole);
    for number in 0..30 {
        life.call(life.db.collection("a").put(number, document(number, 50)));
    }
    let more = life.db.backup_to(&std::sync::Arc::new(second.clone()), Some(Box::new(first.clone())));
    life.call(more);
    for copy in [&first, &second] {
        let asked = copy.asked();
        life.note("writes of a copy", asked.writes);
        life.note("bytes of a copy", asked.written_bytes);
        life.note("syncs of a copy", asked.syncs);
        life.note("contents of a copy", asked.written_contents >> 32);
    }
    life.note("steps of a copy", steps as u64);
    Ok(())
}

pub(super) fn reader(life: &mut Life) -> Result<(), String> {
    life.db.flush().map_err(say)?;
    let reader: Db = life.setup.read(&life.file).map_err(say)?;
    let sum = reader.collection("a").scan(..).map_err(say)?.map(|found| match found?.key().to_key() {
        Key::Int(key) => Ok(key as u64),
        _ => Ok(0),
    });
    life.note("sum of keys", sum.sum::<holotype::Result<u64>>().map_err(say)?);
    Ok(())
}
