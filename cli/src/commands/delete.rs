//! `holotype delete`: one document less.

use std::path::PathBuf;

use clap::Args;

use crate::exit::{Exit, Failure, Result};
use crate::key::KeyTypeArg;
use crate::store::Store;

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// The store
    store: PathBuf,
    /// The collection
    collection: String,
    /// The document's key
    #[arg(allow_negative_numbers = true)]
    key: String,
    #[command(flatten)]
    key_type: KeyTypeArg,
}

pub(crate) fn run(args: &DeleteArgs) -> Result<Exit> {
    let key = args.key_type.parse(&args.key)?;
    let store = Store::open_to_write(&args.store)?;
    let deleted =
        store.db.collection(args.collection.as_str()).delete(&key).map_err(|error| store.failure(&error))?;
    store.close()?;
    if !deleted {
        return Err(Failure::not_found(format!("no document has the key {key} in {:?}", args.collection)));
    }
    Ok(Exit::Done)
}
