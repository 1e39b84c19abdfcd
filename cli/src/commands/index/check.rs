//! `holotype index check`: does every entry agree with its document, and every document with its entries?

use std::path::PathBuf;

use clap::Args;
use holotype::{Collection, Error};

use super::collections;
use crate::advice::Advice;
use crate::exit::{Exit, Failure, Result};
use crate::output::{self, Output};
use crate::store::Store;

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The store
    store: PathBuf,
    /// The collection [default: all]
    collection: Option<String>,
}

pub(crate) fn run(args: &CheckArgs) -> Result<Exit> {
    let store = Store::open_to_read(&args.store)?;
    let mut output = Output::new();
    let mut problems = 0;
    for name in collections(&store, args.collection.as_deref()) {
        let collection = store.db.collection(name.as_str());
        for definition in collection.indexes().map_err(|error| store.failure(&error))? {
            problems += check(&store, &collection, definition.name(), &mut output)?;
        }
    }
    if problems > 0 {
        output.line(&format!("{}; {}", output::problems(problems), Advice::Salvage))?;
    }
    output.finish()?;
    Ok(if problems == 0 { Exit::Done } else { Exit::Damaged })
}

/// Checks one index, and prints each disagreement. How many there are.
fn check(store: &Store, collection: &Collection, name: &str, output: &mut Output) -> Result<u64> {
    let of = collection.name();
    let mut problems = 0;
    let mut printed = Ok(());
    let mut print = |problem: &dyn std::fmt::Display| {
        problems += 1;
        if printed.is_ok() {
            printed = output.line(&format!("damaged: the index {name:?} of {of:?}: {problem}"));
        }
    };
    let entries = match collection.index(name).check(|problem| print(&problem)) {
        Ok(entries) => entries,
        // What it was built from was damaged, so its entries are not known.
        Err(Error::Corrupt(problem)) => {
            print(&problem);
            0
        }
        Err(error) => return Err(store.failure(&error)),
    };
    printed?;
    if problems == 0 {
        output.line(&format!("{of:?} {name:?}: {entries} entries checked: all as their documents say"))?;
    }
    Ok::<_, Failure>(problems)
}
