//! How much one commit may be: memory, and parts.

use holotype::{Db, Document, Error, Options, Value, doc};

use super::Tally;
use super::measured::{Measured, options, say};

/// Bytes of memory of a transaction.
const MOST: usize = 1 << 20;

/// A transaction takes as much memory as it may, and no more; one that was refused for it can be committed in parts.
pub(super) fn memory(tally: &mut Tally) -> Result<(), String> {
    let len = 1000;
    let document = doc! { "p": Value::Bytes(vec![7; len]) };
    let taken = taken(&document, Reads::Nothing)?;
    tally.calls += taken as u64;
    if !(MOST / 2..=MOST).contains(&(taken * len)) {
        return Err(format!("{taken} documents of {len} bytes in a transaction of {MOST} bytes"));
    }
    // What its own reads need is memory of the transaction, too.
    let documents = [Reads::Nothing, Reads::Keys, Reads::Scan].map(taken_of_short);
    let [nothing, keys, scan] = documents;
    let (nothing, keys, scan) = (nothing?, keys?, scan?);
    if keys * 100 > nothing * 92 || scan * 100 > keys * 85 {
        return Err(format!(
            "{nothing} short documents in a transaction; {keys} in one that looks them up, {scan} in one that scans"
        ));
    }
    Ok(())
}

fn taken_of_short(reads: Reads) -> Result<usize, String> {
    taken(&doc! {}, reads)
}

/// What a transaction reads of its own beside its puts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    Nothing,
    Keys,
    Scan,
}

/// How many documents a transaction takes until it is refused. Those are committed.
fn taken(document: &Document, reads: Reads) -> Result<usize, String> {
    let db = create(&options().transaction_bytes(MOST))?;
    let transaction = db.begin_write().map_err(|error| say("beginning", &error))?;
    let a = transaction.collection("a");
    let insert = || a.insert(document);
    let mut count = 0;
    let refused = loop {
        match insert() {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
        if reads != Reads::Nothing {
            a.contains(count as i64).map_err(|error| say("looking", &error))?;
        }
        if reads == Reads::Scan && count == 1 {
            a.scan(..).map_err(|error| say("scanning", &error))?.count();
        }
    };
    if !matches!(refused, Error::TransactionTooLarge { .. }) {
        return Err(say("one document more than a transaction may have", &refused));
    }
    drop(a);
    transaction.commit().map_err(|error| say("committing", &error))?;
    let there = db.collection("a").len().map_err(|error| say("counting", &error))?;
    if there == count as u64 {
        Ok(count)
    } else {
        Err(format!("{there} of {count} documents were committed"))
    }
}

fn create(options: &Options) -> Result<Db, String> {
    Ok(Measured::create(options, 0)?.db)
}

/// A bulk load is of commits of 4 MiB of documents each.
pub(super) fn loads(tally: &mut Tally) -> Result<(), String> {
    let db = create(&options().segment_bytes(1 << 20))?;
    let count = 160;
    let documents = || (0..count).map(|_| doc! { "p": Value::Bytes(vec![7; 64 << 10]) });
    let commits = |work: &dyn Fn() -> holotype::Result<u64>| {
        let mut watch = db.watch(db.stats().lsn).map_err(|error| say("watching", &error))?;
        work().map_err(|error| say("loading", &error))?;
        let mut commits = 0;
        while watch.try_next().map_err(|error| say("watching", &error))?.is_some() {
            commits += 1;
        }
        Ok::<u64, String>(commits)
    };
    db.create_collection("a").map_err(|error| say("creating", &error))?;
    let a = db.collection("a");
    let loaded =
        [commits(&|| a.bulk_load((0_i64..).zip(documents())))?, commits(&|| a.bulk_insert(documents()))?];
    tally.calls += 2 * count;
    if loaded != [3, 3] {
        return Err(format!("10 MiB are loaded in {loaded:?} commits, and not in 3 each"));
    }
    Ok(())
}

//= spec/format.md#f-5-6-parts
//# A writer MUST refuse a commit that needs more than 32,768 parts before it places any of them.
pub(super) fn parts(tally: &mut Tally) -> Result<(), String> {
    let db = create(&Options::tiny())?;
    let inserted =
        db.collection("a").insert_many((0..66_000).map(|_| doc! { "p": Value::Bytes(vec![7; 190]) }));
    tally.calls += 1;
    match inserted {
        Err(Error::LimitReached { .. }) if db.stats().collections == 0 => Ok(()),
        other => {
            Err(format!("33,000 parts of a commit: {:?}, {:#?}", other.map(|keys| keys.len()), db.stats()))
        }
    }
}

/// A document that is too long is refused with the length that one may have.
pub(super) fn longest(tally: &mut Tally) -> Result<(), String> {
    let db = create(&Options::tiny())?;
    let a = db.collection("a");
    let document = |len: usize| doc! { "p": Value::Bytes(vec![7; len]) };
    let refused = a.put(1, document(1 << 20));
    let Err(Error::DocumentTooLarge { max, .. }) = refused else {
        return Err(format!("1 MiB in segments of 512 bytes: {refused:?}"));
    };
    let around = document(1000).encode().len() - 1000;
    tally.calls += 2;
    match (a.put(1, document(max - around)), a.put(1, document(max + max / 10))) {
        (Ok(()), Err(Error::DocumentTooLarge { .. })) => Ok(()),
        other => Err(format!("{max} bytes are said to be the most, and a document of as many: {other:?}")),
    }
}
