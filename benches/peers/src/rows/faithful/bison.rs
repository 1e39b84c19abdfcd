//! bison-db's own program beside redb: it flushes once, redb commits once and durably, and bison-db decodes what it reads where redb
//! takes the length. What is matched is the workload `load`.

use std::path::Path;
use std::time::Instant;

use bison_db::{Db as BisonDb, Value as BisonValue};
use holotype::{Db, Durability, Options, Value, doc};
use redb::{ReadableDatabase, TableDefinition};

use crate::failure::{Of, Result, expect_equal};
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::turns::{Contender, take_turns};
use crate::{extent, place};

const HEAD_TO_HEAD: &str = "bison-db's head to head with redb, as it is";

/// What is put under every key there.
const PAYLOAD: [u8; 64] = [0xCD; 64];

/// Inserts a second, nanoseconds a read, and bytes of files a record.
type Head = [f64; 3];

/// Prints the table.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let count = plan.documents;
    let contender = |name: &'static str, run: fn(&Path, u64) -> Result<[f64; 2]>| {
        let directory = plan.directory.clone();
        Contender::new(name, move || -> Result<Head> {
            let directory = place::files_of(name, &directory)?;
            let [insert, read] = run(directory.path(), count)?;
            let len = extent::of(name, directory.path())?.len;
            Ok([insert, read, len as f64 / count as f64])
        })
    };
    let mut contenders = [
        contender("Holotype", head_of_holotype),
        contender("bison-db 1.0", head_of_bison),
        contender("redb 4.5, one durable transaction", head_of_redb),
    ];
    take_turns(HEAD_TO_HEAD, &mut contenders, plan.trials)?;
    for contender in &contenders {
        let rows = [
            ("insert and one flush", "records a second", Better::More),
            ("read, uniform", "ns", Better::Less),
            ("file", "bytes a record", Better::Less),
        ];
        let record = |(at, (row, unit, better))| {
            let record = Record::of([HEAD_TO_HEAD, row], (unit, better), contender, |head: &Head| head[at]);
            Record { done: Some(format!("{count} records put, {count} read")), ..record }
        };
        report.add(rows.into_iter().enumerate().map(record).collect());
    }
    println!("## {HEAD_TO_HEAD}\n\n{}", report.table(HEAD_TO_HEAD));
    Ok(())
}

/// Reads as many records as there are, in the order of the generator that is used there; what each takes, and what all come to.
fn read_all(who: &'static str, count: u64, mut read: impl FnMut(u64) -> Result<usize>) -> Result<f64> {
    let mut state = 0xA5A5_1234u64 | 1;
    let begun = Instant::now();
    let mut bytes = 0;
    for _ in 0..count {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes += read(state % count + 1)?;
    }
    let nanos = begun.elapsed().as_secs_f64() * 1e9 / count as f64;
    expect_equal(who, "how many bytes were read", &(count as usize * PAYLOAD.len()), &bytes)?;
    Ok(nanos)
}

fn head_of_holotype(directory: &Path, count: u64) -> Result<[f64; 2]> {
    const WHO: &str = "Holotype";
    let options = Options::new().durability(Durability::Buffered);
    let path = directory.join("head.holo");
    let db = Db::open_with(&path, &options).of(WHO, "opening")?;
    db.create_collection("records").of(WHO, "creating the collection")?;
    let records = db.collection("records");
    let begun = Instant::now();
    for _ in 0..count {
        let record = doc! { "v": 1i64, "data": Value::Bytes(PAYLOAD.to_vec()) };
        records.insert(&record).of(WHO, "inserting")?;
    }
    db.flush().of(WHO, "flushing")?;
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    drop(records);
    db.close().of(WHO, "closing")?;
    let db = Db::open_with(&path, &options).of(WHO, "opening")?;
    let records = db.collection("records");
    let nanos = read_all(WHO, count, |id| {
        let record = records.get(id as i64).of(WHO, "reading")?;
        let Some(record) = record else { return Ok(0) };
        let record = record.to_document().of(WHO, "decoding")?;
        Ok(record.get("data").and_then(Value::as_bytes).map_or(0, <[u8]>::len))
    })?;
    drop(records);
    db.close().of(WHO, "closing")?;
    Ok([rate, nanos])
}

fn head_of_bison(directory: &Path, count: u64) -> Result<[f64; 2]> {
    const WHO: &str = "bison-db 1.0";
    let path = directory.join("head.bison");
    let mut db = BisonDb::open(&path).of(WHO, "opening")?;
    let begun = Instant::now();
    for _ in 0..count {
        let mut record = bison_db::Document::new();
        record.set("v", 1i64);
        record.set("data", BisonValue::Bytes(PAYLOAD.to_vec()));
        db.insert(record).of(WHO, "inserting")?;
    }
    db.flush().of(WHO, "flushing")?;
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    drop(db);
    let db = BisonDb::open(&path).of(WHO, "opening")?;
    let nanos = read_all(WHO, count, |id| {
        let record = db.get(bison_db::DocId::from(id)).of(WHO, "reading")?;
        Ok(match record.as_ref().and_then(|record| record.get("data")) {
            Some(BisonValue::Bytes(data)) => data.len(),
            _ => 0,
        })
    })?;
    Ok([rate, nanos])
}

fn head_of_redb(directory: &Path, count: u64) -> Result<[f64; 2]> {
    const WHO: &str = "redb 4.5, one durable transaction";
    const RECORDS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("records");
    let path = directory.join("head.redb");
    let db = redb::Database::create(&path).of(WHO, "opening")?;
    let begun = Instant::now();
    let transaction = db.begin_write().of(WHO, "beginning a transaction")?;
    let mut table = transaction.open_table(RECORDS).of(WHO, "opening the table")?;
    for id in 1..=count {
        table.insert(id, &PAYLOAD[..]).of(WHO, "inserting")?;
    }
    drop(table);
    transaction.commit().of(WHO, "committing")?;
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    drop(db);
    let db = redb::Database::create(&path).of(WHO, "opening")?;
    let transaction = db.begin_read().of(WHO, "beginning to read")?;
    let table = transaction.open_table(RECORDS).of(WHO, "opening the table")?;
    let nanos = read_all(WHO, count, |id| {
        Ok(table.get(id).of(WHO, "reading")?.map_or(0, |value| value.value().len()))
    })?;
    Ok([rate, nanos])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_measures_is_done_and_takes_time() {
        for run in [head_of_holotype, head_of_bison, head_of_redb] {
            let directory = tempfile::tempdir().unwrap();
            assert!(run(directory.path(), 300).unwrap().iter().all(|figure| *figure > 0.0));
        }
        assert!(read_all("a store", 10, |_| Ok(PAYLOAD.len() - 1)).is_err(), "too few bytes have no figure");
    }
}
