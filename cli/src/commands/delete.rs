//! `holotype delete`: one document less, or all that a filter admits.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use crate::exit::{Exit, Failure, Result};
use crate::key::KeyTypeArg;
use crate::many::ManyArgs;
use crate::store::Store;

/// Without a filter, a key that has no document is an error. With one, prints {"matched": n, "changed": m}.
#[derive(Debug, Args)]
#[command(override_usage = "holotype delete [OPTIONS] <STORE> <COLLECTION> <KEY|--where <FILTER>>")]
#[command(group = ArgGroup::new("documents").args(["key", "where"]).required(true))]
pub(crate) struct DeleteArgs {
    /// The store
    store: PathBuf,
    /// The collection
    collection: String,
    /// The document's key
    #[arg(allow_negative_numbers = true)]
    key: Option<String>,
    #[command(flatten)]
    many: ManyArgs,
    #[command(flatten)]
    key_type: KeyTypeArg,
}

pub(crate) fn run(args: &DeleteArgs) -> Result<Exit> {
    if let Some(filter) = args.many.filter()? {
        return args.many.run(&args.store, &args.collection, &filter, None);
    }
    let key = args.key_type.parse(args.key.as_deref().expect("it is asked for where there is no filter"))?;
    let store = Store::open_to_write(&args.store)?;
    let deleted =
        store.db.collection(args.collection.as_str()).delete(&key).map_err(|error| store.failure(&error))?;
    store.close()?;
    if !deleted {
        return Err(Failure::no_document(&key, &args.collection));
    }
    Ok(Exit::Done)
}
