//! Which check finds which seeded bug, after how many cases and seconds.
//!
//! ```text
//! matrix [--every] [--json FILE] [--docs FILE] [BUG...]
//! ```
//!
//! Prints the table; `--every` goes on behind the first check that finds a bug, and tries the checks on bugs that
//! are known to be found elsewhere, which takes long. `--json` writes what
//! `holotype gate --html PAGE --matrix FILE` shows, and `--docs` puts the table between the marks of a document.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use holotype::seeded::Bug;
use holotype_crash_tests::seeded::{BEGIN, Row, elsewhere, is_for_a_check, replace_table, table, try_bug};
use serde_json::json;

#[derive(Default)]
struct Arguments {
    every: bool,
    json: Option<PathBuf>,
    docs: Option<PathBuf>,
    bugs: Vec<Bug>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = arguments(std::env::args().skip(1))?;
    // Read first, so that a document without the marks is told before the long part.
    let document = arguments.docs.as_ref().map(fs::read_to_string).transpose()?;
    if document.as_deref().is_some_and(|document| replace_table(document, "").is_none()) {
        return Err(format!("the document has no {BEGIN}").into());
    }
    let whole = Bug::ALL.len();
    if document.is_some() && arguments.bugs.len() != whole {
        return Err("the document wants every bug".into());
    }
    // A bug that trips an assertion is caught; its backtrace is of no interest.
    std::panic::set_hook(Box::new(|_| {}));
    let rows: Vec<_> = arguments
        .bugs
        .iter()
        .inspect(|bug| eprintln!("{bug:?}"))
        .map(|bug| match arguments.every || is_for_a_check(*bug) {
            true => try_bug(*bug, arguments.every),
            // Every check would have to end green, and to find that out takes longer than all the others together.
            false => Row { bug: *bug, found_by: Vec::new(), elsewhere: elsewhere(*bug) },
        })
        .collect();
    let _ = std::panic::take_hook();
    let table = table(&rows);
    print!("{table}");
    if let Some(file) = &arguments.json {
        let bugs: Vec<_> = rows.iter().map(as_json).collect();
        fs::write(file, json!({ "bugs": bugs }).to_string())?;
    }
    if let Some((file, document)) = arguments.docs.zip(document) {
        let new = replace_table(&document, &table).ok_or("the document has lost its marks")?;
        fs::write(file, new)?;
    }
    Ok(())
}

fn arguments(mut given: impl Iterator<Item = String>) -> Result<Arguments, Box<dyn Error>> {
    let mut arguments = Arguments::default();
    while let Some(argument) = given.next() {
        let mut file = || given.next().map(PathBuf::from).ok_or("a file name is missing");
        match argument.as_str() {
            "--every" => arguments.every = true,
            "--json" => arguments.json = Some(file()?),
            "--docs" => arguments.docs = Some(file()?),
            name => arguments.bugs.push(known(name)?),
        }
    }
    if arguments.bugs.is_empty() {
        arguments.bugs = Bug::ALL.to_vec();
    }
    Ok(arguments)
}

fn known(name: &str) -> Result<Bug, String> {
    let mut all = Bug::ALL.iter().copied();
    all.find(|bug| format!("{bug:?}") == name).ok_or_else(|| format!("no bug is called {name:?}"))
}

fn as_json(row: &Row) -> serde_json::Value {
    let found_by: Vec<_> = row
        .found_by
        .iter()
        .map(|found| json!({ "check": found.check, "cases": found.cases, "seconds": found.seconds }))
        .collect();
    json!({
        "bug": format!("{:?}", row.bug),
        "what": row.bug.what(),
        "found_by": found_by,
        "elsewhere": row.elsewhere,
    })
}
