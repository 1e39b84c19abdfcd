//! Chapters of what is asked: within a transaction, of collections that have many leaves, and of their past.

use std::ops::ControlFlow;

use holotype::{Change, Cursor, IndexDefinition, Key, Update};

use super::life::{Life, WORDS, document, name};
use crate::story::{ensure, say};

/// More than an index has in a leaf, and than is read at once.
const MANY: i64 = 1300;

/// A transaction reads what it wrote itself.
pub(super) fn own_writes(life: &mut Life) -> Result<(), String> {
    let Some(mut transaction) = life.call(life.db.begin_write()) else { return Ok(()) };
    let mut sum = 0;
    for number in 0..60 {
        let a = transaction.collection("a");
        match number % 3 {
            0 => _ = life.call(a.put(number * 2, document(number, 25))),
            1 => life.told(a.delete(number * 2)),
            _ => _ = life.call(a.update(number * 2, Update::new().inc("$.n", 5000))),
        }
        life.call(transaction.collection("named").put(name(number * 3), document(4000 + number, 12)));
        let found = transaction.collection("a").get(number).map_err(say)?;
        sum += found.and_then(|found| found.get("n")?.as_i64()).unwrap_or(0);
    }
    life.note("sum", sum as u64);
    for round in 0..3 {
        let savepoint = transaction.savepoint();
        let a = transaction.collection("a");
        for (number, word) in (round * 7..).zip(WORDS) {
            life.call(a.put(number, document(number + 6000, 15)));
            let indexed = a.index("by_word").get(word).map_err(say)?.keys().count();
            life.note("keys", indexed as u64);
        }
        // Another document has this number already.
        let refused = transaction.collection("named").put("other", document(4002, 12));
        life.call(refused);
        let version = a.get(101).map_err(say)?.map_or(0, |found| found.version());
        for version in [version, version + 1, 0] {
            life.call(a.update_if(101, version, Update::new().inc("$.n", 1)));
        }
        let forwards = a.scan(..).map_err(say)?.count();
        let backwards: Vec<_> = a.keys(10..200).map_err(say)?.reversed().take(5).collect();
        ensure(backwards.len() == 5, || format!("{backwards:?}"))?;
        let found = a.find("@.n > 5000 && @.word == 'elm'").keys().map_err(say)?.count();
        let (len, names) = (a.len().map_err(say)?, transaction.collection("named").len().map_err(say)?);
        for (what, count) in
            [("forwards", forwards as u64), ("found", found as u64), ("len", len), ("names", names)]
        {
            life.note(what, count);
        }
        if round == 1 {
            life.call(transaction.rollback_to(&savepoint));
        }
    }
    life.call(transaction.commit());
    Ok(())
}

/// Collections whose indexes have many leaves, read in every direction.
pub(super) fn many_leaves(life: &mut Life) -> Result<(), String> {
    let Some(transaction) = life.call(life.db.begin_write()) else { return Ok(()) };
    for number in 0..MANY {
        life.call(transaction.collection("small").put(number, document(number, 0)));
        life.call(transaction.collection("words").put(name(number), document(number, 0)));
    }
    life.call(transaction.commit());
    for number in (0..MANY).step_by(9) {
        life.told(life.db.collection("small").delete(number));
        if number % 45 == 0 {
            life.step()?;
        }
    }
    life.come_to_rest()?;
    let by_word = IndexDefinition::new("by_word", ["$.word", "$.n"]).map_err(say)?;
    life.told(life.db.collection("small").create_index(by_word));
    life.come_to_rest()?;
    let small = life.db.collection("small");
    for (from, to) in [(0, MANY), (500, 530), (511, 512), (1023, 1025), (MANY, MANY + 9)] {
        let forwards: Vec<_> = keys(small.keys(from..to).map_err(say)?)?;
        let mut backwards: Vec<_> = keys(small.keys(from..to).map_err(say)?.reversed())?;
        backwards.reverse();
        ensure(forwards == backwards, || format!("{forwards:?} and {backwards:?}"))?;
        life.note("keys", forwards.len() as u64);
    }
    let prefix = life.db.collection("words").scan_prefix("12").map_err(say)?;
    life.note("with a prefix", prefix.count() as u64);
    let index = small.index("by_word");
    for word in WORDS {
        let counted = index.count((word, 100)..(word, 1000)).map_err(say)?;
        let reversed = index.range((word, 100)..(word, 1000)).map_err(say)?.reversed().keys();
        life.note("counted", counted);
        life.note("last", first_of(reversed)?);
    }
    let mut after: Option<Cursor> = None;
    for _ in 0..4 {
        let query = small.find("@.n > 200").sort("$.word").limit(100);
        let query = match after.take() {
            Some(cursor) => query.after(cursor),
            None => query,
        };
        let mut found = query.run().map_err(say)?;
        let mut sum = 0;
        for each in found.by_ref() {
            sum += each.map_err(say)?.get("n").and_then(|n| n.as_i64()).unwrap_or(0);
        }
        life.note("sum", sum as u64);
        after = found.cursor();
    }
    life.told(life.db.drop_collection("words"));
    life.come_to_rest()
}

/// Others write while an index is built, and look at what is there of it.
pub(super) fn built_beside_writes(life: &mut Life) -> Result<(), String> {
    let by_n = IndexDefinition::new("unique_n", ["$.n"]).map_err(say)?.unique();
    for last_step in [2, i64::MAX] {
        let (small, mut steps) = (life.db.collection("small"), 0);
        let built = small.create_index_with(by_n.clone(), false, |_| {
            steps += 1;
            // Twice the number of another for a moment, one that comes, and one that goes.
            if steps % 16 == 1 {
                let _ = small.put(steps, document(steps + 1, 0));
                let _ = small.put(steps, document(steps, 0));
                let _ = small.put(MANY + steps, document(MANY + steps, 0));
                let _ = small.delete(MANY - steps);
            }
            if steps < last_step { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        life.call(built);
        life.note("steps of a build", steps as u64);
    }
    let index = life.db.collection("small");
    let index = index.index("unique_n");
    let entries = index.check(|_| ()).map_err(say)?;
    life.note("entries", entries);
    let counted = index.count(..).map_err(say)?;
    life.note("counted", counted);
    let renamed = life.db.collection("small").rename_index("unique_n", "n");
    life.told(renamed);
    let replaced = life.db.collection("small").replace_index(by_n);
    life.told(replaced);
    let dropped = life.db.collection("small").drop_index("n");
    life.told(dropped);
    life.come_to_rest()
}

fn keys(keys: impl Iterator<Item = holotype::Result<Key>>) -> Result<Vec<Key>, String> {
    keys.collect::<Result<_, _>>().map_err(say)
}

fn first_of(mut keys: impl Iterator<Item = holotype::Result<Key>>) -> Result<u64, String> {
    Ok(match keys.next().transpose().map_err(say)? {
        Some(Key::Int(key)) => key as u64,
        _ => 0,
    })
}

/// Feeds from every commit that there may be, and the documents that they name.
pub(super) fn the_past(life: &mut Life) -> Result<(), String> {
    let lsn = life.db.stats().lsn;
    let incarnation = lsn >> 32 << 32;
    for from in [0, 1, lsn - 1, lsn, lsn + 1, incarnation, incarnation + 1, (lsn + incarnation) / 2] {
        let Some(mut feed) = life.call(life.db.watch(from)) else { continue };
        let (mut commits, mut there) = (0, 0);
        while let Some(commit) = feed.try_next().map_err(say)? {
            commits += 1;
            for change in &commit.changes {
                let Change::Put { at, replaced, .. } = change else { continue };
                for place in [Some(*at), *replaced].into_iter().flatten() {
                    there += u64::from(life.db.document_at(place).map_err(say)?.is_some());
                }
            }
        }
        life.note("commits", commits);
        life.note("documents", there);
    }
    Ok(())
}
