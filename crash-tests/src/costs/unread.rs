//! Chapters of leaves of the index that were not read since the store was opened, and of what stands in for them.

use holotype::{Db, IndexDefinition, Sort};

use super::asked::Heard;
use super::life::{Life, WORDS, document, name};
use crate::metered::Metered;
use crate::story::say;

/// More than are looked at together.
const MANY: i64 = 1500;

pub(super) fn unread(life: &mut Life) -> Result<(), String> {
    let Some(transaction) = life.call(life.db.begin_write()) else { return Ok(()) };
    for number in 0..MANY {
        life.call(transaction.collection("leaves").put(number, document(number, 0)));
    }
    life.call(transaction.commit());
    let Some(transaction) = life.call(life.db.begin_write()) else { return Ok(()) };
    for number in 0..300 {
        life.call(transaction.collection("named").put(name(number), document(number, 0)));
    }
    life.call(transaction.commit());
    let by_word = IndexDefinition::new("by_word", ["$.word", "$.n"]).map_err(say)?;
    life.told(life.db.collection("leaves").create_index(by_word));
    life.call(life.db.checkpoint());
    life.call(life.db.checkpoint());
    for question in 0..12 {
        life.reopen()?;
        let before = life.file.asked();
        let mut heard = Heard::default();
        let asked = ask(&life.db, question, &mut heard);
        life.call(asked);
        life.note("reads for a question", life.file.asked().reads - before.reads);
        heard.tell(life);
    }
    Ok(())
}

fn ask(db: &Db, question: i64, heard: &mut Heard) -> holotype::Result<()> {
    let (leaves, named) = (db.collection("leaves"), db.collection("named"));
    let index = leaves.index("by_word");
    match question {
        0 => heard.number(index.count(WORDS[1]..)?),
        1 => heard.number(index.count((WORDS[1], 100)..(WORDS[2], 1400))?),
        2 => heard.number(index.count(..WORDS[0])? + index.count(WORDS[0]..=WORDS[0])?),
        3 => {
            heard.number(leaves.find("key() > 100 && key() < 1400 && @.n < 5000").count()?);
            heard.number(leaves.find("@.word == 'elm' && @.n > 100").count()?);
        }
        4 => {
            for key in leaves.keys(..)?.reversed().take(40) {
                heard.key(key?.as_ref());
            }
            let mut turned = leaves.keys(600..1500)?;
            for _ in 0..6 {
                for key in turned.by_ref().take(70) {
                    heard.key(key?.as_ref());
                }
                turned = turned.reversed();
            }
        }
        5 => {
            for number in 0..60 {
                heard.number(u64::from(leaves.contains(number * 41)?));
                heard.number(u64::from(named.contains(name(number * 7))?));
            }
        }
        6 => {
            heard.number(named.scan_prefix("0")?.count() as u64);
            heard.number(named.keys("5".."7")?.reversed().count() as u64);
        }
        7 => {
            // Changes before anything else is known.
            for number in 0..20 {
                heard.number(u64::from(leaves.delete(number * 101)?));
                leaves.put(number * 103, document(number * 103 + 5000, 2))?;
                heard.number(u64::from(leaves.contains(number * 101 + 1)?));
            }
            heard.number(leaves.len()?);
            heard.number(leaves.keys(..)?.count() as u64);
        }
        8 => {
            let snapshot = db.snapshot();
            leaves.put(7, document(7, 1))?;
            db.checkpoint()?;
            heard.number(snapshot.collection("leaves")?.keys(..400)?.count() as u64);
            heard.number(snapshot.collection("leaves")?.len()?);
        }
        9 => {
            let entries = index.check(|problem| heard.text(&problem.to_string()));
            heard.number(entries?);
        }
        10 => {
            let report = db.verify(true)?;
            [report.records, report.entries, report.documents, report.problems.len() as u64]
                .into_iter()
                .for_each(|number| heard.number(number));
        }
        _ => {
            for key in index.range((WORDS[3], 0)..)?.reversed().keys().take(500) {
                heard.key(key?.as_ref());
            }
            heard
                .number(leaves.find("@.n >= 0").sort(Sort::by("$.n").descending()).limit(3).keys()?.count()
                    as u64);
        }
    }
    Ok(())
}

/// Damages some bytes of the newest checkpoint, or of the one before.
fn damage(db: &Db, file: &Metered, which: usize, number: u64) -> Result<(), String> {
    for place in &db.checkpoint_places()[which] {
        let len = place.end - place.start;
        for part in 0..3 {
            file.damage(place.start + (len * (3 * part + number) / 9 + 61 * number + 40) % len)
                .map_err(say)?;
        }
    }
    Ok(())
}

/// What cannot be read of a checkpoint is taken from another one: from that before it, or from one that came since.
pub(super) fn of_other_checkpoints(life: &mut Life) -> Result<(), String> {
    let mut heard = Heard::default();
    for number in [0, 1, 3, 4, 5, 7] {
        let copy = life.file.copy().map_err(say)?;
        let opened = life.setup.open_with(&copy, |options| match number % 2 {
            0 => options,
            _ => options.index_bytes(3 << 10),
        });
        let Some(db) = life.call(opened) else { continue };
        if number >= 4 {
            // Both of the slots name others by then.
            for round in 0..3 {
                let leaves = db.collection("leaves");
                let changed = leaves
                    .put(round * 700, document(round, 3))
                    .and_then(|()| leaves.keys(..900)?.try_for_each(|key| key.map(drop)));
                life.call(changed);
                life.call(db.checkpoint());
            }
        }
        damage(&db, &copy, 0, number)?;
        if number % 4 == 3 {
            damage(&db, &copy, 1, number)?;
        }
        for question in [5, 1, 4, 0, 6, 11, 9] {
            let asked = ask(&db, question, &mut heard);
            life.call(asked);
        }
        let (mut found, mut said) = (0, 0);
        for key in db.collection("leaves").keys(..).map_err(say)? {
            match key {
                Ok(_) => found += 1,
                Err(_) => said += 1,
            }
        }
        life.note("found", found);
        life.note("not told", said);
        life.call(db.collection("leaves").put(3, document(3, 3)));
        life.call(db.checkpoint());
        life.call(db.checkpoint());
        let asked = ask(&db, 10, &mut heard);
        life.call(asked);
        heard.number(copy.asked().reads);
        heard.number(copy.asked().read_places);
        heard.number(db.stats().leaves_given_up);
        life.call(db.close());
        let again = life.setup.open(&copy);
        if let Some(again) = life.call(again) {
            life.call(ask(&again, 4, &mut heard));
            life.call(ask(&again, 0, &mut heard));
        }
    }
    heard.tell(life);
    life.reopen()
}
