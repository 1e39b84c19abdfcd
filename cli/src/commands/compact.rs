//! `holotype compact`: the file as small as it gets.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::exit::{Exit, Failure, Result};
use crate::output;
use crate::store::Store;

#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    /// The store
    store: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Compacted {
    bytes_before: u64,
    bytes_after: u64,
    moved_bytes: u64,
}

pub(crate) fn run(args: &CompactArgs) -> Result<Exit> {
    let store = Store::open_to_write(&args.store)?;
    let report = store.db.compact().map_err(|error| Failure::source(&args.store, &error))?;
    store.close()?;
    let compacted = Compacted {
        bytes_before: report.bytes_before,
        bytes_after: report.bytes_after,
        moved_bytes: report.moved_bytes,
    };
    output::report(&compacted, args.json, |compacted| {
        format!("{} bytes, {} before", compacted.bytes_after, compacted.bytes_before)
    })
    .map_err(Failure::committed)?;
    Ok(Exit::Done)
}
