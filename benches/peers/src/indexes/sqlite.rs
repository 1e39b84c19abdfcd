//! SQLite: the encoded document in one column, and what is indexed in columns beside it. Commits are handed to the system.

use std::path::Path;

use rusqlite::types::{ToSql, ToSqlOutput};
use rusqlite::{Connection, Row, params};

use super::data::{Ask, Came, Field, Item, Place, read};
use super::{Change, Indexed};
use crate::failure::{Of, Result, expect_equal};

const NAME: &str = "SQLite 3, columns";

const TABLE: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS bench (id INTEGER PRIMARY KEY, text TEXT, number INTEGER, body BLOB NOT NULL);";
const INSERT: &str = "INSERT INTO bench (id, text, number, body) VALUES (?1, ?2, ?1, ?3)";
const REPLACE: &str = "UPDATE bench SET text = ?2, number = ?1, body = ?3 WHERE id = ?1";
const DELETE: &str = "DELETE FROM bench WHERE id = ?1";

pub struct Sqlite(Connection);

impl ToSql for Place {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Place::Text(text) => text.to_sql(),
            Place::Number(number) => number.to_sql(),
        }
    }
}

fn change(connection: &Connection, sql: &str, items: &[Item]) -> Result<()> {
    for item in items {
        let mut statement = connection.prepare_cached(sql).of(NAME, "preparing")?;
        let changed = match sql {
            DELETE => statement.execute(params![item.id]),
            _ => statement.execute(params![item.id, item.text, item.document().encode()]),
        };
        expect_equal(NAME, "how many were changed", &1, &changed.of(NAME, "changing")?)?;
    }
    Ok(())
}

impl Sqlite {
    fn commit(&mut self, sql: &str, items: &[Item]) -> Result<()> {
        let transaction = self.0.transaction().of(NAME, "beginning a transaction")?;
        change(&transaction, sql, items)?;
        transaction.commit().of(NAME, "committing")
    }

    fn find(
        &self,
        asks: &[Ask],
        column: &str,
        seen: impl Fn(&Row<'_>) -> rusqlite::Result<i64>,
    ) -> rusqlite::Result<Came> {
        let mut came = Came::default();
        for ask in asks {
            let is_one = ask.is_one();
            let condition = if is_one { "= ?1" } else { "BETWEEN ?1 AND ?2" };
            let field = ask.field.name();
            let sql = format!("SELECT {column} FROM bench WHERE {field} {condition}");
            let mut statement = self.0.prepare_cached(&sql)?;
            let mut rows = match is_one {
                true => statement.query(params![ask.from])?,
                false => statement.query(params![ask.from, ask.to])?,
            };
            while let Some(row) = rows.next()? {
                came.add(seen(row)?);
            }
        }
        Ok(came)
    }
}

impl Indexed for Sqlite {
    const NAME: &'static str = NAME;

    fn open(directory: &Path, fields: &'static [Field]) -> Result<Self> {
        let connection = Connection::open(directory.join("store.sqlite")).of(NAME, "opening")?;
        connection.execute_batch(TABLE).of(NAME, "creating the table")?;
        for field in fields.iter().map(|field| field.name()) {
            let create = format!("CREATE INDEX IF NOT EXISTS by_{field} ON bench ({field})");
            connection.execute_batch(&create).of(NAME, "making an index")?;
        }
        Ok(Sqlite(connection))
    }

    fn close(self) -> Result<()> {
        self.0.close().map_err(|(_, error)| error).of(NAME, "closing")
    }

    fn insert(&mut self, items: &[Item]) -> Result<()> {
        self.commit(INSERT, items)
    }

    fn replace(&mut self, items: &[Item]) -> Result<()> {
        self.commit(REPLACE, items)
    }

    fn give_up(&mut self, what: Change, item: &Item) -> Option<Result<()>> {
        let sql = match what {
            Change::Put => INSERT,
            Change::Replace => REPLACE,
            Change::Delete => DELETE,
        };
        let mut give_up = || {
            let transaction = self.0.transaction().of(NAME, "beginning a transaction")?;
            change(&transaction, sql, std::slice::from_ref(item))?;
            transaction.rollback().of(NAME, "giving up")
        };
        Some(give_up())
    }

    fn keys(&mut self, asks: &[Ask]) -> Result<Came> {
        self.find(asks, "id", |row| row.get(0)).of(NAME, "finding keys")
    }

    fn documents(&mut self, asks: &[Ask]) -> Result<Came> {
        self.find(asks, "body", |row| Ok(read(row.get_ref(0)?.as_blob()?))).of(NAME, "finding documents")
    }
}
