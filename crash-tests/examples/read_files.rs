//! Reads many files in one process, for the second reader to be compared with (`spec/reader/differential.py`).
//!
//! ```text
//! cargo run --release -p holotype-crash-tests --example read_files
//! ```
//!
//! A path a line comes in, an answer a line goes out, as JSON: what the file holds, `{"end": 0, "lsn": "…", "collections": [[name, [[key,
//! document], …]], …]}` with keys and documents as the hexadecimal of their CBOR; or how reading it ended, `{"end": 3, "why": "…"}`, with
//! the exit code that the command line would have for it.

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};

use holotype::document::{JsonMode, json};
use holotype::{Db, Document, Error, Options, Result, Value, doc};

fn main() -> std::result::Result<(), Box<dyn StdError>> {
    let mut out = io::stdout().lock();
    for path in io::stdin().lock().lines() {
        let mut line = String::new();
        json::write_document(&answer(&path?), JsonMode::Relaxed, &mut line);
        writeln!(out, "{line}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(path: &str) -> Document {
    read(path).unwrap_or_else(|error| doc! { "end": exit_code(&error), "why": error.to_string() })
}

/// Every document, and then `verify`, which must not know of damage that reading did not meet.
fn read(path: &str) -> Result<Document> {
    // What is left unread at opening need not be compared with what the log says of it (spec: R-9.2).
    let db = Db::open_with(path, &Options::new().read_only(true).create(false).verify_index(true))?;
    let mut collections = Vec::new();
    for name in db.collections() {
        let mut entries = Vec::new();
        for found in db.collection(name.as_str()).scan(..)? {
            let found = found?;
            found.to_document()?;
            let mut key = Vec::new();
            found.key().encode_into(&mut key);
            entries.push(Value::Array(vec![hex(&key).into(), hex(found.bytes()).into()]));
        }
        collections.push(Value::Array(vec![name.into(), Value::Array(entries)]));
    }
    if let Some(problem) = db.verify(false)?.problems.into_iter().next() {
        return Err(Error::Corrupt(problem));
    }
    Ok(doc! { "end": 0, "lsn": db.stats().lsn.to_string(), "collections": Value::Array(collections) })
}

/// As the command line has it.
fn exit_code(error: &Error) -> i64 {
    match error {
        Error::NotHolotype { .. }
        | Error::NewerFormat { .. }
        | Error::OlderFormat { .. }
        | Error::Incomplete => 3,
        Error::Corrupt(_) | Error::Decode { .. } => 4,
        Error::KeyTooLong { .. } | Error::DocumentTooLarge { .. } | Error::TooDeep { .. } => 2,
        _ => 5,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes all that is written to it");
        text
    })
}
