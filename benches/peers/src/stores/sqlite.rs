//! SQLite through rusqlite, compiled in: WAL, `synchronous=FULL` or `OFF`, prepared statements, a connection for each thread.
//!
//! Writers take turns under a lock of ours: its own way of waiting sleeps for milliseconds. As its build comes it syncs by
//! `fsync`.

use std::borrow::Borrow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use holotype::Document;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Rows, TransactionBehavior, params};

use super::{Commits, Read, ReadNamed, Session, Snapshots, Store, prefix_end};
use crate::failure::{Failure, Of, Result, expect_equal};

const NAME: &str = "SQLite 3 (rusqlite 0.41)";

const CREATE: &str = "CREATE TABLE IF NOT EXISTS small (id INTEGER PRIMARY KEY, body BLOB NOT NULL)";
const PUT: &str = "INSERT OR REPLACE INTO small (id, body) VALUES (?1, ?2)";
const DELETE: &str = "DELETE FROM small WHERE id = ?1";
const GET: &str = "SELECT body FROM small WHERE id = ?1";
const SCAN_FROM: &str = "SELECT id, body FROM small WHERE id >= ?1 ORDER BY id LIMIT ?2";
const SCAN: &str = "SELECT id, body FROM small";
const COUNT: &str = "SELECT COUNT(*) FROM small";

const CREATE_NAMED: &str =
    "CREATE TABLE IF NOT EXISTS named (name TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID";
const PUT_NAMED: &str = "INSERT OR REPLACE INTO named (name, body) VALUES (?1, ?2)";
const GET_NAMED: &str = "SELECT body FROM named WHERE name = ?1";
const DELETE_NAMED: &str = "DELETE FROM named WHERE name = ?1";
const COUNT_NAMED: &str = "SELECT COUNT(*) FROM named";
const SCAN_NAMED_FROM: &str = "SELECT body FROM named WHERE name >= ?1 ORDER BY name LIMIT ?2";
const SCAN_NAMED: &str = "SELECT body FROM named WHERE name >= ?1 AND name < ?2 ORDER BY name";

pub struct Sqlite {
    path: PathBuf,
    commits: Commits,
    /// Kibibytes of pages that a connection keeps, where it was said.
    cache: Option<i64>,
    writer: Mutex<()>,
}

impl Sqlite {
    fn open_as(directory: &Path, commits: Commits, cache: Option<i64>) -> Result<Self> {
        let path = directory.join("store.sqlite");
        let store = Sqlite { path, commits, cache, writer: Mutex::new(()) };
        let connection = store.connect()?;
        connection.execute_batch(CREATE).of(NAME, "creating the table")?;
        connection.execute_batch(CREATE_NAMED).of(NAME, "creating the table")?;
        Ok(store)
    }

    fn connect(&self) -> Result<Connection> {
        let connection = Connection::open(&self.path).of(NAME, "opening")?;
        let pragma = |name, value| connection.pragma_update(None, name, value).of(NAME, "opening");
        pragma("journal_mode", "WAL")?;
        pragma(
            "synchronous",
            match self.commits {
                Commits::Durable => "FULL",
                Commits::Unsynced => "OFF",
            },
        )?;
        if let Some(kibibytes) = self.cache {
            // What is less than nothing is in kibibytes, and not in pages.
            connection.pragma_update(None, "cache_size", -kibibytes).of(NAME, "opening")?;
        }
        Ok(connection)
    }
}

impl Store for Sqlite {
    const NAME: &'static str = NAME;

    type Session<'s> = Connected<'s>;

    fn open(directory: &Path, commits: Commits) -> Result<Self> {
        Self::open_as(directory, commits, None)
    }

    fn open_with_cache(directory: &Path, bytes: usize) -> Result<Self> {
        Self::open_as(directory, Commits::Unsynced, Some(bytes as i64 >> 10))
    }

    fn session(&self) -> Result<Connected<'_>> {
        Ok(Connected { connection: self.connect()?, writer: &self.writer })
    }

    fn clean(self) -> Result<()> {
        self.connect()?.execute_batch("VACUUM").of(NAME, "cleaning up")?;
        self.close()
    }

    fn close(self) -> Result<()> {
        // The last connection writes the log back into the database as it closes.
        self.connect()?.close().map_err(|(_, error)| error).of(NAME, "closing")
    }
}

impl Snapshots for Sqlite {
    type Held<'s> = Held;
    type HeldNamed<'s> = Held;

    fn hold(&self) -> Result<Held> {
        let connection = self.connect()?;
        connection.execute_batch("BEGIN").of(NAME, "taking a snapshot")?;
        // A transaction has its state from its first read on.
        get(&connection, 1, |_| ())?;
        Ok(Held { connection })
    }

    fn hold_named(&self) -> Result<Held> {
        self.hold()
    }
}

fn statement<'c>(connection: &'c Connection, sql: &str) -> Result<CachedStatement<'c>> {
    connection.prepare_cached(sql).of(NAME, "preparing")
}

fn get<R>(connection: &Connection, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
    let body = |row: &rusqlite::Row<'_>| Ok(read(row.get_ref(0)?.as_blob()?));
    statement(connection, GET)?.query_row([id as i64], body).optional().of(NAME, "reading")
}

fn get_named<R>(connection: &Connection, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
    let body = |row: &rusqlite::Row<'_>| Ok(read(row.get_ref(0)?.as_blob()?));
    statement(connection, GET_NAMED)?.query_row([name], body).optional().of(NAME, "reading")
}

fn scan_named_from(connection: &Connection, from: &str, count: usize, each: impl FnMut(&[u8])) -> Result<()> {
    let mut scan = statement(connection, SCAN_NAMED_FROM)?;
    // A limit below nothing is none.
    let limit = i64::try_from(count).unwrap_or(-1);
    show_named(scan.query(params![from, limit]).of(NAME, "scanning")?, each)
}

/// A transaction that goes on for as long as its connection.
pub struct Held {
    connection: Connection,
}

impl Read for Held {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        get(&self.connection, id, read)
    }
}

impl ReadNamed for Held {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        get_named(&self.connection, name, read)
    }

    fn scan_named_from(&mut self, from: &str, count: usize, each: impl FnMut(&[u8])) -> Result<()> {
        scan_named_from(&self.connection, from, count, each)
    }
}

pub struct Connected<'s> {
    connection: Connection,
    writer: &'s Mutex<()>,
}

impl Read for Connected<'_> {
    fn get<R>(&mut self, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        get(&self.connection, id, read)
    }
}

impl Session for Connected<'_> {
    fn put(&mut self, id: u64, document: &Document) -> Result<()> {
        let body = document.encode();
        let _turn = turn(self.writer)?;
        let mut put = statement(&self.connection, PUT)?;
        put.execute(params![id as i64, body]).of(NAME, "committing")?;
        Ok(())
    }

    fn put_all<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (u64, D)>) -> Result<()> {
        let _turn = turn(self.writer)?;
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .of(NAME, "beginning a transaction")?;
        let mut put = statement(&transaction, PUT)?;
        for (id, document) in documents {
            put.execute(params![id as i64, document.borrow().encode()]).of(NAME, "putting")?;
        }
        drop(put);
        transaction.commit().of(NAME, "committing")
    }

    fn delete(&mut self, id: u64) -> Result<()> {
        let _turn = turn(self.writer)?;
        let deleted = statement(&self.connection, DELETE)?.execute([id as i64]).of(NAME, "deleting")?;
        expect_equal(NAME, "how many documents were deleted", &1, &deleted)
    }

    fn scan_from(&mut self, from: u64, count: usize, each: impl FnMut(u64, &[u8])) -> Result<()> {
        let mut scan = statement(&self.connection, SCAN_FROM)?;
        show(scan.query([from as i64, count as i64]).of(NAME, "scanning")?, each)
    }

    fn scan(&mut self, each: impl FnMut(u64, &[u8])) -> Result<()> {
        let mut scan = statement(&self.connection, SCAN)?;
        show(scan.query([]).of(NAME, "scanning")?, each)
    }

    fn count(&mut self) -> Result<u64> {
        let count = statement(&self.connection, COUNT)?.query_row([], |row| row.get::<_, i64>(0));
        Ok(count.of(NAME, "counting")? as u64)
    }

    fn put_named<D: Borrow<Document>>(&mut self, documents: impl Iterator<Item = (String, D)>) -> Result<()> {
        let _turn = turn(self.writer)?;
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .of(NAME, "beginning a transaction")?;
        let mut put = statement(&transaction, PUT_NAMED)?;
        for (name, document) in documents {
            put.execute(params![name, document.borrow().encode()]).of(NAME, "putting")?;
        }
        drop(put);
        transaction.commit().of(NAME, "committing")
    }

    fn delete_named(&mut self, names: impl Iterator<Item = String>) -> Result<()> {
        let _turn = turn(self.writer)?;
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .of(NAME, "beginning a transaction")?;
        let mut delete = statement(&transaction, DELETE_NAMED)?;
        for name in names {
            let deleted = delete.execute([name]).of(NAME, "deleting")?;
            expect_equal(NAME, "how many documents were deleted", &1, &deleted)?;
        }
        drop(delete);
        transaction.commit().of(NAME, "committing")
    }

    fn count_named(&mut self) -> Result<u64> {
        let count = statement(&self.connection, COUNT_NAMED)?.query_row([], |row| row.get::<_, i64>(0));
        Ok(count.of(NAME, "counting")? as u64)
    }

    fn scan_named(&mut self, prefix: &str, each: impl FnMut(&[u8])) -> Result<()> {
        let mut scan = statement(&self.connection, SCAN_NAMED)?;
        let end = String::from_utf8(prefix_end(prefix)).of(NAME, "scanning")?;
        show_named(scan.query([prefix, &end]).of(NAME, "scanning")?, each)
    }
}

impl ReadNamed for Connected<'_> {
    fn get_named<R>(&mut self, name: &str, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        get_named(&self.connection, name, read)
    }

    fn scan_named_from(&mut self, from: &str, count: usize, each: impl FnMut(&[u8])) -> Result<()> {
        scan_named_from(&self.connection, from, count, each)
    }
}

fn show_named(mut rows: Rows<'_>, mut each: impl FnMut(&[u8])) -> Result<()> {
    while let Some(row) = rows.next().of(NAME, "scanning")? {
        each(row.get_ref(0).of(NAME, "scanning")?.as_blob().of(NAME, "scanning")?);
    }
    Ok(())
}

fn show(mut rows: Rows<'_>, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
    while let Some(row) = rows.next().of(NAME, "scanning")? {
        let id: i64 = row.get(0).of(NAME, "reading an id")?;
        let body = row.get_ref(1).of(NAME, "scanning")?;
        each(id as u64, body.as_blob().of(NAME, "scanning")?);
    }
    Ok(())
}

fn turn(writer: &Mutex<()>) -> Result<std::sync::MutexGuard<'_, ()>> {
    writer.lock().map_err(|_| Failure::new(NAME, "waiting for its turn", "another writer panicked"))
}
