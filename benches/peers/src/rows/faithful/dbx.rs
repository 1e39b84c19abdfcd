//! DBX's `official_db_comparison`: SQLite prepares each statement anew, redb alone syncs, DBX and SQLite are in memory, and all of it is
//! opened within the clock. What is corrected goes through the lists that every store is asked for.

use std::path::Path;
use std::time::Instant;

use holotype::{Db, Document, Durability, Options, Value, doc};
use redb::{ReadableDatabase, ReadableTable, TableDefinition};

use crate::contents::byte_sum;
use crate::failure::{Of, Result, expect_equal};
use crate::place;
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::rows::{lists, table, writers};
use crate::stores::Class;
use crate::turns::{Contender, take_turns};

/// What each part took, in milliseconds for all entries.
type Parts = [f64; 3];

const ENTRIES: u64 = 10_000;
const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("bench");
const DBX: &str = "DBX's comparison, as it is: 10,000 entries, durability not matched";

/// Prints the comparison as it is, and corrected.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let contender = |name: &'static str, run: fn(&Path) -> Result<Parts>| {
        let directory = plan.directory.clone();
        Contender::new(name, move || run(place::files_of(name, &directory)?.path()))
    };
    let mut contenders = vec![
        contender("Holotype", of_holotype),
        contender("SQLite in memory", of_sqlite),
        contender("sled 0.34", of_sled),
        contender("redb 4.5", of_redb),
    ];
    #[cfg(feature = "dbx")]
    contenders.push(contender("DBX 0.2 in memory", of_dbx));
    take_turns(DBX, &mut contenders, plan.trials)?;
    for contender in &contenders {
        let rows = ["insert, opening included", "get, in order", "scan into a list"];
        let record = |(at, row)| {
            let record = Record::of([DBX, row], ("ms", Better::Less), contender, |parts: &Parts| parts[at]);
            Record { done: Some(format!("{ENTRIES} entries, {ENTRIES} distinct keys")), ..record }
        };
        report.add(rows.into_iter().enumerate().map(record).collect());
    }
    println!("## {DBX}\n\n{}", report.table(DBX));
    Class::ALL.into_iter().try_for_each(|class| {
        let count = if class == Class::Durable { plan.commits } else { plan.documents };
        let workload = format!("DBX's comparison, corrected, {}", class.name());
        let contenders = writers(class, plan, &lists::of_dbx(count.min(ENTRIES)));
        table(plan, report, &workload, contenders)
    })
}

fn entries() -> Vec<(String, String)> {
    (0..ENTRIES).map(|at| (format!("key_{at:08}"), format!("value_{at:08}_data"))).collect()
}

/// Times the three parts, and holds each to the bytes of all values.
fn parts<T>(
    who: &'static str,
    insert: impl FnOnce(&[(String, String)]) -> Result<T>,
    get: impl FnOnce(&T, &[(String, String)]) -> Result<u64>,
    scan: impl FnOnce(&T) -> Result<Vec<(Vec<u8>, Vec<u8>)>>,
) -> Result<Parts> {
    let entries = entries();
    let expected: u64 = entries.iter().map(|(_, value)| byte_sum(value.as_bytes())).sum();
    let millis = |begun: Instant| begun.elapsed().as_secs_f64() * 1e3;
    let begun = Instant::now();
    let store = insert(&entries)?;
    let inserted = millis(begun);
    let begun = Instant::now();
    let sum = get(&store, &entries)?;
    let got = millis(begun);
    expect_equal(who, "the sum of what was read", &expected, &sum)?;
    let begun = Instant::now();
    let all = scan(&store)?;
    let scanned = millis(begun);
    let keys: std::collections::BTreeSet<&[u8]> = all.iter().map(|(key, _)| key.as_slice()).collect();
    expect_equal(who, "how many keys a scan shows", &entries.len(), &keys.len())?;
    let sum = all.iter().map(|(_, value)| byte_sum(value)).sum();
    expect_equal(who, "the sum of what was scanned", &expected, &sum)?;
    Ok([inserted, got, scanned])
}

fn of_holotype(directory: &Path) -> Result<Parts> {
    const WHO: &str = "Holotype";
    let value_of =
        |document: &holotype::DocRef| match document.get("value").and_then(|value| value.as_bytes()) {
            Some(value) => value.to_vec(),
            None => Vec::new(),
        };
    parts(
        WHO,
        |entries| {
            let options = Options::new().durability(Durability::Buffered);
            let db = Db::open_with(directory.join("bench.holo"), &options).of(WHO, "opening")?;
            db.create_collection("bench").of(WHO, "creating the collection")?;
            let bench = db.collection("bench");
            for (key, value) in entries {
                let document: Document = doc! { "value": Value::Bytes(value.clone().into_bytes()) };
                bench.put(key.as_str(), &document).of(WHO, "putting")?;
            }
            Ok(db)
        },
        |db, entries| {
            let bench = db.collection("bench");
            entries.iter().try_fold(0, |sum, (key, _)| {
                let document = bench.get(key.as_str()).of(WHO, "reading")?;
                Ok(sum + document.map_or(0, |document| byte_sum(&value_of(&document))))
            })
        },
        |db| {
            let scan = db.collection("bench").scan(..).of(WHO, "scanning")?;
            let entry = |document: holotype::Result<holotype::DocRef>| {
                let document = document.of(WHO, "scanning")?;
                let holotype::KeyRef::Text(key) = document.key() else { return Ok((Vec::new(), Vec::new())) };
                Ok((key.as_bytes().to_vec(), value_of(&document)))
            };
            scan.map(entry).collect()
        },
    )
}

/// Each statement is prepared anew, as it is done there.
fn of_sqlite(_: &Path) -> Result<Parts> {
    const WHO: &str = "SQLite in memory";
    parts(
        WHO,
        |entries| {
            let connection = rusqlite::Connection::open_in_memory().of(WHO, "opening")?;
            let create = "CREATE TABLE bench (key BLOB PRIMARY KEY, value BLOB)";
            connection.execute(create, []).of(WHO, "creating the table")?;
            for (key, value) in entries {
                let insert = "INSERT INTO bench (key, value) VALUES (?1, ?2)";
                connection.execute(insert, [key.as_bytes(), value.as_bytes()]).of(WHO, "inserting")?;
            }
            Ok(connection)
        },
        |connection, entries| {
            entries.iter().try_fold(0, |sum, (key, _)| {
                let select = "SELECT value FROM bench WHERE key = ?1";
                let value: Vec<u8> =
                    connection.query_row(select, [key.as_bytes()], |row| row.get(0)).of(WHO, "reading")?;
                Ok(sum + byte_sum(&value))
            })
        },
        |connection| {
            let mut all = connection.prepare("SELECT key, value FROM bench").of(WHO, "scanning")?;
            let rows = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).of(WHO, "scanning")?;
            rows.map(|row| row.of(WHO, "scanning")).collect()
        },
    )
}

fn of_sled(directory: &Path) -> Result<Parts> {
    const WHO: &str = "sled 0.34";
    parts(
        WHO,
        |entries| {
            let db = sled::open(directory.join("bench.sled")).of(WHO, "opening")?;
            for (key, value) in entries {
                db.insert(key.as_bytes(), value.as_bytes()).of(WHO, "inserting")?;
            }
            Ok(db)
        },
        |db, entries| {
            entries.iter().try_fold(0, |sum, (key, _)| {
                Ok(sum + db.get(key.as_bytes()).of(WHO, "reading")?.map_or(0, |value| byte_sum(&value)))
            })
        },
        |db| {
            db.iter()
                .map(|entry| entry.map(|(key, value)| (key.to_vec(), value.to_vec())).of(WHO, "scanning"))
                .collect()
        },
    )
}

/// One transaction, with a sync, as it is done there.
fn of_redb(directory: &Path) -> Result<Parts> {
    const WHO: &str = "redb 4.5";
    parts(
        WHO,
        |entries| {
            let db = redb::Database::create(directory.join("bench.redb")).of(WHO, "opening")?;
            let transaction = db.begin_write().of(WHO, "beginning a transaction")?;
            let mut table = transaction.open_table(TABLE).of(WHO, "opening the table")?;
            for (key, value) in entries {
                table.insert(key.as_bytes(), value.as_bytes()).of(WHO, "inserting")?;
            }
            drop(table);
            transaction.commit().of(WHO, "committing")?;
            Ok(db)
        },
        |db, entries| {
            let transaction = db.begin_read().of(WHO, "beginning to read")?;
            let table = transaction.open_table(TABLE).of(WHO, "opening the table")?;
            entries.iter().try_fold(0, |sum, (key, _)| {
                let value = table.get(key.as_bytes()).of(WHO, "reading")?;
                Ok(sum + value.map_or(0, |value| byte_sum(value.value())))
            })
        },
        |db| {
            let transaction = db.begin_read().of(WHO, "beginning to read")?;
            let table = transaction.open_table(TABLE).of(WHO, "opening the table")?;
            let all = table.iter().of(WHO, "scanning")?;
            all.map(|entry| {
                let (key, value) = entry.of(WHO, "scanning")?;
                Ok((key.value().to_vec(), value.value().to_vec()))
            })
            .collect()
        },
    )
}

#[cfg(feature = "dbx")]
fn of_dbx(_: &Path) -> Result<Parts> {
    const WHO: &str = "DBX 0.2 in memory";
    parts(
        WHO,
        |entries| {
            let db = dbx_core::Database::open_in_memory().of(WHO, "opening")?;
            for (key, value) in entries {
                db.insert("bench", key.as_bytes(), value.as_bytes()).of(WHO, "inserting")?;
            }
            Ok(db)
        },
        |db, entries| {
            entries.iter().try_fold(0, |sum, (key, _)| {
                let value = db.get("bench", key.as_bytes()).of(WHO, "reading")?;
                Ok(sum + value.map_or(0, |value| byte_sum(&value)))
            })
        },
        |db| db.scan("bench").of(WHO, "scanning"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_measures_is_done_and_takes_time() {
        for run in [of_holotype, of_sqlite, of_sled, of_redb] {
            let directory = tempfile::tempdir().unwrap();
            assert!(run(directory.path()).unwrap().iter().all(|millis| *millis > 0.0));
        }
        #[cfg(feature = "dbx")]
        of_dbx(Path::new("")).unwrap();
    }

    #[test]
    fn a_store_that_reads_or_shows_something_else_has_no_figures() {
        let insert = |_: &[(String, String)]| Ok(());
        let all =
            || Ok(entries().into_iter().map(|(key, value)| (key.into_bytes(), value.into_bytes())).collect());
        let sum: u64 = entries().iter().map(|(_, value)| byte_sum(value.as_bytes())).sum();
        assert!(parts("a store", insert, |(), _| Ok(sum), |()| all()).is_ok());
        assert!(parts("a store", insert, |(), _| Ok(sum - 1), |()| all()).is_err());
        let one_key = || {
            all().map(|all: Vec<(Vec<u8>, Vec<u8>)>| {
                all.into_iter().map(|(_, value)| (vec![1], value)).collect()
            })
        };
        assert!(parts("a store", insert, |(), _| Ok(sum), |()| one_key()).is_err());
    }
}
