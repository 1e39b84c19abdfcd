//! `holotype checkpoint`: makes the next opening quick.

use std::path::PathBuf;

use clap::Args;

use crate::exit::{Exit, Result};
use crate::store::Store;

#[derive(Debug, Args)]
pub(crate) struct CheckpointArgs {
    /// The store
    store: PathBuf,
}

pub(crate) fn run(args: &CheckpointArgs) -> Result<Exit> {
    let store = Store::open_to_write(&args.store)?;
    store.db.checkpoint().map_err(|error| store.failure(&error))?;
    store.close()?;
    Ok(Exit::Done)
}
