//! Chapters of documents of which a block of the cache has a part, and of those that stand between them.

use std::ops::ControlFlow;

use holotype::{DocRef, Error, Key, Options, Sort, Update};

use super::asked::Heard;
use super::life::{Life, document};
use crate::metered::Metered;
use crate::story::{ensure, say};

/// So many lengths, each with documents of some rounds.
const LENGTHS: usize = 18;
const ROUNDS: usize = 3;
const COUNT: i64 = (2 * LENGTHS * ROUNDS) as i64;

/// Lengths about which a record is placed, or found, in another way.
fn lengths(life: &Life) -> [usize; LENGTHS] {
    let segment = life.setup.segment;
    let block = segment.min(16 << 10);
    [
        0,
        100,
        430,
        470,
        490,
        600,
        block / 4 - 60,
        block / 4 - 30,
        block / 4 + 100,
        block / 2,
        block - 200,
        block - 60,
        block + 40,
        2 * block + 10,
        segment - 130,
        segment + 50,
        3 * segment,
        3 * segment + 300,
    ]
}

/// The document of a key. Each second one is short, so that long ones begin here and there.
fn wanted(life: &Life, key: i64) -> holotype::Document {
    let (number, round) = (key as usize % (2 * LENGTHS), key as usize / (2 * LENGTHS));
    let long = lengths(life)[number / 2] + 29 * round;
    document(key, if number % 2 == 0 { long } else { 23 * number % 190 })
}

pub(super) fn put(life: &mut Life) -> Result<(), String> {
    for key in 0..COUNT {
        let put = life.db.collection("apart").put(key, wanted(life, key));
        life.call(put);
        // It may be in memory, in the file, or on its way from the one to the other.
        for near in [key, key - 1, key - 5, key - 40] {
            let found = life.db.collection("apart").get(near).map_err(say)?;
            if let Some(found) = found {
                ensure(found.to_document().map_err(say)? == wanted(life, near), || {
                    format!("{near} is another")
                })?;
            }
        }
        if key % 9 == 8 {
            life.step()?;
        }
    }
    // What lists the chunks that end makes a record longer, and so does what comes before in its segment.
    let segment = life.setup.segment;
    for len in (segment - 420..segment - 100).step_by(41) {
        life.call(life.db.collection("replaced").put(1, document(1, 9 * segment / 2)));
        life.call(life.db.collection("replaced").put(1, document(1, len)));
    }
    life.told(life.db.drop_collection("replaced"));
    let Some(transaction) = life.call(life.db.begin_write()) else { return Ok(()) };
    for key in (0..COUNT).rev().step_by(5) {
        // What was put is replaced in the same commit, by more chunks, by fewer and by none.
        for other in [key, (key + 2) % COUNT, key] {
            life.call(transaction.collection("apart").put(key, wanted(life, other)));
        }
        life.told(transaction.collection("apart").delete((key + 17) % COUNT));
        life.call(transaction.collection("apart").put((key + 17) % COUNT, wanted(life, (key + 17) % COUNT)));
    }
    life.call(transaction.commit());
    Ok(())
}

pub(super) fn read(life: &mut Life) -> Result<(), String> {
    let mut heard = Heard::default();
    let apart = life.db.collection("apart");
    let mut hear = |found: DocRef| heard.document(found.key(), found.version(), found.bytes());
    for key in (0..COUNT).map(|number| number * 37 % COUNT) {
        if let Some(found) = apart.get(key).map_err(say)? {
            ensure(found.to_document().map_err(say)? == wanted(life, key), || format!("{key} is another"))?;
            hear(found);
        }
    }
    // The long ones in a row, and then the short ones.
    for key in (0..COUNT).filter(|key| key % (2 * LENGTHS as i64) > 24).chain((1..COUNT).step_by(2)) {
        apart.get(key).map_err(say)?.into_iter().for_each(&mut hear);
    }
    for found in apart.scan(..).map_err(say)?.chain(apart.scan(7..50).map_err(say)?.reversed()) {
        hear(found.map_err(say)?);
    }
    let mut turned = apart.scan(3..90).map_err(say)?;
    for _ in 0..4 {
        turned.by_ref().take(12).try_for_each(|found| found.map(&mut hear)).map_err(say)?;
        turned = turned.reversed();
    }
    for limit in [5, 200] {
        let mut left = limit;
        let visited = apart.scan(..).map_err(say)?.visit(|found| {
            left -= 1;
            heard.document(found.key(), found.version(), found.bytes());
            heard.text(&format!("{found:?}"));
            if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        visited.map_err(say)?;
    }
    let found = apart
        .find("@.n >= 20 && @.word != 'oak'")
        .sort(Sort::by("$.n").descending())
        .skip(3)
        .limit(40)
        .keys()
        .map_err(say)?;
    for key in found {
        heard.key(key.map_err(say)?.as_ref());
    }
    heard.tell(life);
    Ok(())
}

/// Documents about as long as a store with short segments takes, under a short key and a long one.
pub(super) fn longest(life: &mut Life) -> Result<(), String> {
    if life.setup.segment <= 2 << 10 {
        for key in [Key::Int(1), Key::from("k".repeat(90))] {
            let longest = life.db.collection("longest");
            let put = |len: usize| longest.put(&key, document(1, len));
            let max = match put(2 << 20) {
                Err(Error::DocumentTooLarge { max, .. }) => max,
                answer => return Err(format!("a document of many segments: {answer:?}")),
            };
            life.note("longest", max as u64);
            let taken = (max - 60..max).step_by(9).filter(|len| put(*len).is_ok()).count();
            life.note("taken", taken as u64);
        }
        longest_key(life)?;
        life.told(life.db.drop_collection("longest"));
        parts(life)?;
    }
    life.come_to_rest()?;
    let moved = life.call(life.db.compact());
    life.note("moved", moved.map_or(0, |report| report.moved_bytes));
    life.come_to_rest()
}

/// A key may be just so long.
fn longest_key(life: &mut Life) -> Result<(), String> {
    let longest = life.db.collection("longest");
    let put = |len: usize| longest.put("k".repeat(len), document(1, 1));
    let max = match put(1000) {
        Err(Error::KeyTooLong { max, .. }) => max,
        answer => return Err(format!("a key of half a segment: {answer:?}")),
    };
    let taken = (0..=max).rev().find(|len| put(*len).is_ok());
    life.note("longest key", max as u64);
    life.note("taken", taken.unwrap_or_default() as u64);
    Ok(())
}

/// A commit may have no more than so many parts: what it ends counts as well, to the byte.
fn parts(life: &mut Life) -> Result<(), String> {
    let db = holotype::Db::open_on(Metered::default(), &Options::tiny()).map_err(say)?;
    db.collection("a").put(-1, document(1, 7000)).map_err(say)?;
    let commit = |rest: usize| {
        let transaction = db.begin_write()?;
        let a = transaction.collection("a");
        for number in 0..936 {
            a.put(number, document(0, 6000))?;
        }
        // In the place of a long one, of which each chunk is named.
        a.put(-1, document(1, 3900))?;
        a.put(-2, document(1, rest))?;
        drop(a);
        transaction.commit()
    };
    let (refused, taken) = (commit(353), commit(352));
    ensure(matches!(refused, Err(Error::LimitReached { .. })), || format!("one byte more is {refused:?}"))?;
    taken.map_err(|error| format!("a byte less is refused: {error}"))?;
    life.note("after so many parts", db.stats().log_end);
    Ok(())
}

/// What is said of documents that are damaged, whatever is asked of them.
pub(super) fn damaged(life: &mut Life) -> Result<(), String> {
    life.db.flush().map_err(say)?;
    let copy = life.file.copy().map_err(say)?;
    let db = life.setup.open(&copy).map_err(say)?;
    let apart = db.collection("apart");
    let mut said = Heard::default();
    // As they were before they are moved.
    let before = db.snapshot();
    life.call(db.compact());
    for key in (0..COUNT).step_by(7) {
        let Some(at) = db.record_offset("apart", &Key::Int(key)) else { continue };
        // In its head, in its key or value, and in the list of its chunks.
        copy.damage(at + [1, 9, 24][key as usize % 3]).map_err(say)?;
    }
    let mut hear = |error: Error| said.text(&error.to_string());
    for key in 0..COUNT {
        apart.get(key).err().into_iter().for_each(&mut hear);
    }
    let mut found = apart.scan(..).map_err(say)?.filter_map(|found| found.map_err(&mut hear).ok()).count();
    found += apart.keys(..).map_err(say)?.filter(Result::is_ok).count();
    let then = before.collection("apart").map_err(say)?;
    for key in (0..COUNT).step_by(3) {
        then.get(key).err().into_iter().for_each(&mut hear);
        then.contains(key).err().into_iter().for_each(&mut hear);
    }
    found += then.keys(..).map_err(say)?.filter_map(|key| key.map_err(&mut hear).ok()).count();
    let visited = apart.scan(1..).map_err(say)?.visit(|_| ControlFlow::<()>::Continue(()));
    visited.err().into_iter().for_each(&mut hear);
    let feed = db.watch(0).and_then(|mut feed| {
        while feed.try_next()?.is_some() {}
        Ok(())
    });
    feed.err().into_iter().for_each(&mut hear);
    for key in 0..COUNT {
        let changed = match key % 5 {
            0 => apart.delete(key).map(drop),
            1 => apart.replace(key, document(key, 40)).map(drop),
            2 => apart.update(key, Update::new().inc("$.n", 1)).map(drop),
            3 => apart.delete_if(key, 5),
            _ => apart.put(key, document(key, 50)),
        };
        changed.err().into_iter().for_each(&mut hear);
    }
    let report = db.verify(true).map_err(say)?;
    for problem in &report.problems {
        said.text(&problem.to_string());
    }
    let len = apart.len().map_err(say)?;
    let asked = copy.asked();
    for (what, count) in [
        ("found of damaged", found as u64),
        ("left of damaged", len),
        ("problems", report.problems.len() as u64),
        ("records", report.records),
        ("reads", asked.reads),
        ("read bytes", asked.read_bytes),
    ] {
        life.note(what, count);
    }
    said.tell(life);
    Ok(())
}
