//! `holotype put`: one document under a key.

use std::path::PathBuf;

use clap::Args;
use holotype::Db;

use crate::exit::{Exit, Result};
use crate::input;
use crate::key::KeyTypeArg;
use crate::store::Store;

#[derive(Debug, Args)]
pub(crate) struct PutArgs {
    /// The store; created if there is none
    store: PathBuf,
    /// The collection; created if there is none
    collection: String,
    /// The document's key
    #[arg(allow_negative_numbers = true)]
    key: String,
    /// The document, or - to read it from standard input
    json: String,
    #[command(flatten)]
    key_type: KeyTypeArg,
}

pub(crate) fn run(args: &PutArgs) -> Result<Exit> {
    let key = args.key_type.parse(&args.key)?;
    let document = input::one_document("<argument>", &args.json)?;
    let put = |db: &Db| db.collection(args.collection.as_str()).put(&key, &document).map(drop);
    let store = Store::open_or_create(&args.store, put)?;
    put(&store.db).map_err(|error| store.failure(&error))?;
    store.close()?;
    Ok(Exit::Done)
}
