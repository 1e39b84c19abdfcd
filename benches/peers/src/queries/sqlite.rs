//! SQLite over the documents as JSON texts, without indexes, and with one on each expression that a question has.

use std::hint::black_box;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};

use super::Answers;
use super::data::{Item, json, wide};
use super::questions::{Came, Question};
use crate::failure::{Of, Result};

pub struct Plain(Connection);

pub struct Indexed(Connection);

const TABLES: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
CREATE TABLE bench (id INTEGER PRIMARY KEY, doc TEXT NOT NULL);
CREATE TABLE wide (id INTEGER PRIMARY KEY, doc TEXT NOT NULL);";

const INDEXES: &str = "CREATE INDEX value ON bench (doc ->> '$.value');
CREATE INDEX category ON bench (doc ->> '$.category', doc ->> '$.value');
CREATE INDEX groups ON bench (doc ->> '$.group');
CREATE INDEX name ON bench (doc ->> '$.name');
ANALYZE;";

fn load(who: &'static str, directory: &Path, items: &[Item]) -> Result<Connection> {
    const DOING: &str = "loading";
    let mut connection = Connection::open(directory.join("store.sqlite")).of(who, DOING)?;
    connection.execute_batch(TABLES).of(who, DOING)?;
    let transaction = connection.transaction().of(who, DOING)?;
    for item in items {
        let put = transaction.prepare_cached("INSERT INTO bench (id, doc) VALUES (?1, ?2)");
        put.of(who, DOING)?.execute(params![item.id, json(&item.document())?]).of(who, DOING)?;
    }
    transaction
        .execute("INSERT INTO wide (id, doc) VALUES (1, ?1)", params![json(&wide())?])
        .of(who, DOING)?;
    transaction.commit().of(who, DOING)?;
    Ok(connection)
}

/// Adds up the first column, and reads the others.
fn ask(connection: &Connection, question: &Question, call: i64) -> rusqlite::Result<Came> {
    let mut statement = connection.prepare_cached(question.sql)?;
    let (columns, parameters) = (statement.column_count(), statement.parameter_count());
    let mut rows = if parameters == 0 { statement.query([])? } else { statement.query([call])? };
    let mut came = Came::default();
    while let Some(row) = rows.next()? {
        // Nothing, as the sum of no numbers.
        if let ValueRef::Integer(first) = row.get_ref(0)? {
            came = Came { count: came.count + 1, sum: came.sum + first };
        }
        for column in 1..columns {
            black_box(row.get_ref(column)?);
        }
    }
    Ok(came)
}

impl Answers for Plain {
    const NAME: &'static str = "SQLite";

    fn load(directory: &Path, items: &[Item]) -> Result<Self> {
        load(Self::NAME, directory, items).map(Plain)
    }

    fn ask(&self, question: &Question, call: i64) -> Option<Result<Came>> {
        Some(ask(&self.0, question, call).of(Self::NAME, question.row))
    }
}

impl Answers for Indexed {
    const NAME: &'static str = "SQLite, indexed";

    fn load(directory: &Path, items: &[Item]) -> Result<Self> {
        let connection = load(Self::NAME, directory, items)?;
        connection.execute_batch(INDEXES).of(Self::NAME, "making indexes")?;
        Ok(Indexed(connection))
    }

    fn ask(&self, question: &Question, call: i64) -> Option<Result<Came>> {
        Some(ask(&self.0, question, call).of(Self::NAME, question.row))
    }
}
