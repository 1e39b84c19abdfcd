//! SQLite by `json_set` over the documents as JSON texts, without an index and with one.

use std::path::Path;

use rusqlite::{Connection, Error, Result, params};

use super::Updates;
use super::rows::{Many, One, State, User, texts};

pub struct Sqlite(Connection);

const TABLE: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
CREATE TABLE users (id INTEGER PRIMARY KEY, doc TEXT NOT NULL);";
const BY_AGE: &str = "CREATE INDEX age ON users (doc ->> '$.age'); ANALYZE;";
const BY_COUNT: &str = "CREATE INDEX n ON users (doc ->> '$.n'); ANALYZE;";
const PUT: &str = "INSERT INTO users (id, doc) VALUES (?1, ?2)";
const RAISE: &str = "UPDATE users SET doc = json_set(doc, '$.n', (doc ->> '$.n') + 1) WHERE id = ?1";

fn open(directory: &Path) -> Result<Connection> {
    let connection = Connection::open(directory.join("store.sqlite"))?;
    connection.execute_batch(TABLE)?;
    Ok(connection)
}

fn put(connection: &mut Connection, all: impl Iterator<Item = serde_json::Value>) -> Result<()> {
    let transaction = connection.transaction()?;
    for (document, number) in all.zip(1_i64..) {
        transaction.prepare_cached(PUT)?.execute(params![number, document.to_string()])?;
    }
    transaction.commit()
}

fn with_users(directory: &Path, users: &[User]) -> Result<Connection> {
    let mut connection = open(directory)?;
    let document = |(user, number): (&User, i64)| serde_json::json!({ "name": format!("User {number}"), "age": user.age, "score": user.score });
    put(&mut connection, users.iter().zip(1..).map(document))?;
    Ok(connection)
}

fn with_counted(directory: &Path, one: &One, count: u64) -> Result<Connection> {
    let mut connection = open(directory)?;
    let document = serde_json::json!({ "n": 0, "texts": texts(one.len) });
    put(&mut connection, (0..count).map(|_| document.clone()))?;
    Ok(connection)
}

fn many(connection: &Connection, many: &Many) -> Result<u64> {
    let sql = match many.deletes {
        true => format!("DELETE FROM users WHERE {}", many.sql),
        false => format!(
            "UPDATE users SET doc = json_set(doc, '$.score', (doc ->> '$.score') + 1) WHERE {}",
            many.sql
        ),
    };
    Ok(connection.execute(&sql, [])? as u64)
}

fn one(connection: &mut Connection, one: &One, count: u64) -> Result<()> {
    let raise = |connection: &Connection| {
        let mut statement = connection.prepare_cached(RAISE)?;
        (1..=count as i64).try_for_each(|number| statement.execute([number]).map(drop))
    };
    if one.together {
        let transaction = connection.transaction()?;
        raise(&transaction)?;
        return transaction.commit();
    }
    raise(connection)
}

fn state(connection: &Connection, field: &str) -> Result<State> {
    let sql = format!("SELECT COUNT(*), COALESCE(SUM(doc ->> '$.{field}'), 0) FROM users");
    connection.query_row(&sql, [], |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?)))
}

impl Updates for Sqlite {
    const NAME: &'static str = "SQLite, json_set";
    type Error = Error;

    fn with_users(directory: &Path, users: &[User], indexed: bool) -> Result<Self> {
        let connection = with_users(directory, users)?;
        if indexed {
            connection.execute_batch(BY_AGE)?;
        }
        Ok(Sqlite(connection))
    }

    fn with_counted(directory: &Path, one: &One, count: u64, indexed: bool) -> Result<Self> {
        let connection = with_counted(directory, one, count)?;
        if indexed {
            connection.execute_batch(BY_COUNT)?;
        }
        Ok(Sqlite(connection))
    }

    fn many(&mut self, row: &Many) -> Option<Result<u64>> {
        Some(many(&self.0, row))
    }

    fn one(&mut self, row: &One, count: u64) -> Option<Result<()>> {
        Some(one(&mut self.0, row, count))
    }

    fn state(&mut self, field: &str) -> Result<State> {
        state(&self.0, field)
    }
}
