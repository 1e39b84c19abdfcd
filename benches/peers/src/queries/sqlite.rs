//! SQLite over the documents as JSON texts, without indexes, and with one on each expression that a question has.

use std::hint::black_box;
use std::path::Path;

use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, Row, params};

use super::Answers;
use super::data::{Item, json};
use super::questions::{Came, Question};
use super::set::{Index, Set};
use crate::failure::{Of, Result};

pub struct Sqlite {
    connection: Connection,
    indexed: bool,
}

const NAME: &str = "SQLite";

const TABLE: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
CREATE TABLE bench (id INTEGER PRIMARY KEY, doc TEXT NOT NULL);";

fn create(index: &Index) -> String {
    let expressions: Vec<String> = index.paths.iter().map(|path| format!("doc ->> '{path}'")).collect();
    let unique = if index.unique { "UNIQUE " } else { "" };
    format!("CREATE {unique}INDEX {} ON bench ({});", index.name, expressions.join(", "))
}

impl Answers for Sqlite {
    const NAME: &'static str = NAME;

    fn load(directory: &Path, set: &Set, items: &[Item], indexed: bool) -> Result<Self> {
        const DOING: &str = "loading";
        let mut connection = Connection::open(directory.join("store.sqlite")).of(NAME, DOING)?;
        connection.execute_batch(TABLE).of(NAME, DOING)?;
        let transaction = connection.transaction().of(NAME, DOING)?;
        for item in items {
            let put = transaction.prepare_cached("INSERT INTO bench (id, doc) VALUES (?1, ?2)");
            let document = json(&(set.document)(item))?;
            put.of(NAME, DOING)?.execute(params![item.id, document]).of(NAME, DOING)?;
        }
        transaction.commit().of(NAME, DOING)?;
        if indexed {
            let indexes: String = set.indexes.iter().filter(|index| !index.fans_out()).map(create).collect();
            connection
                .execute_batch(&format!("{indexes}{}ANALYZE;", set.tables))
                .of(NAME, "making indexes")?;
        }
        Ok(Sqlite { connection, indexed })
    }

    fn ask(&self, question: &Question, call: i64) -> Option<Result<Came>> {
        Some(self.answer(question, call).of(NAME, question.row))
    }
}

impl Sqlite {
    /// Adds up the first column, and reads the others.
    fn answer(&self, question: &Question, call: i64) -> rusqlite::Result<Came> {
        let sql = question.sql_by_index.filter(|_| self.indexed).unwrap_or(question.sql);
        let mut statement = self.connection.prepare_cached(sql)?;
        let (columns, parameters) = (statement.column_count(), statement.parameter_count());
        let texts = (question.texts)(call);
        for at in 1..=parameters {
            match at {
                1 => statement.raw_bind_parameter(at, call)?,
                _ => statement.raw_bind_parameter(at, texts.get(at - 2))?,
            }
        }
        let mut rows = statement.raw_query();
        let mut came = Came::default();
        while let Some(row) = rows.next()? {
            // Nothing, as the sum of no numbers.
            if let ValueRef::Integer(first) = row.get_ref(0)? {
                came = came.and(Came { count: 1, sum: first });
            }
            for column in 1..columns {
                read(row, column, question.decoded)?;
            }
        }
        Ok(came)
    }
}

fn read(row: &Row<'_>, column: usize, decoded: bool) -> rusqlite::Result<()> {
    let value = row.get_ref(column)?;
    if decoded {
        let document = serde_json::from_slice::<serde_json::Value>(value.as_bytes()?);
        let broken = |error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error));
        black_box(document.map_err(broken)?);
    } else {
        black_box(value);
    }
    Ok(())
}
