//! `holotype export`: a whole collection, one document a line.

use std::path::PathBuf;

use clap::Args;
use holotype::{Collection, Scan};
use indicatif::ProgressBar;

use crate::advice::Advice;
use crate::args::FormArgs;
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::progress;
use crate::store::Store;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The store
    store: PathBuf,
    /// The collection; need not be named where there is only one
    #[arg(long, value_name = "NAME")]
    collection: Option<String>,
    #[command(flatten)]
    form: FormArgs,
}

pub(crate) fn run(args: &ExportArgs) -> Result<Exit> {
    let store = Store::open_to_read(&args.store)?;
    let Some(collection) = choose(&store, args)? else { return Ok(Exit::Done) };
    let count = collection.len().map_err(|error| store.failure(&error))?;
    let scan = collection.scan(..).map_err(|error| store.failure(&error))?;
    write_documents(&store, scan, args.form, &progress::of_documents(count))?;
    Ok(Exit::Done)
}

/// The collection that is meant; `None` where the store has none and none is named.
fn choose(store: &Store, args: &ExportArgs) -> Result<Option<Collection>> {
    let mut names = store.db.collections();
    let name = match &args.collection {
        Some(name) => name.clone(),
        None if names.len() > 1 => return Err(which_one(&names)),
        None => match names.pop() {
            Some(only) => only,
            None => return Ok(None),
        },
    };
    Ok(Some(store.db.collection(name)))
}

fn which_one(names: &[String]) -> Failure {
    let names: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
    let names = names.join(", ");
    Failure::usage(format!("the store has several collections: {names}")).advise(Advice::ChooseCollection)
}

/// Writes all that `scan` yields to standard output.
pub(super) fn write_documents(
    store: &Store,
    scan: impl Iterator<Item = <Scan as Iterator>::Item>,
    form: FormArgs,
    progress: &ProgressBar,
) -> Result<()> {
    let mut output = Output::new();
    for found in scan {
        let written = match found {
            Ok(found) => output.entry(&found, form)?,
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            // What came before the damage is good, and somebody may want it.
            output.finish()?;
            return Err(store.failure(&error));
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    output.finish()
}
