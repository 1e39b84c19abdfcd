//! `holotype get`: one document.

use std::path::PathBuf;

use clap::Args;

use crate::args::json_mode;
use crate::exit::{Exit, Failure, Result};
use crate::key::KeyTypeArg;
use crate::output::Output;
use crate::store::Store;

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// The store
    store: PathBuf,
    /// The collection
    collection: String,
    /// The document's key
    #[arg(allow_negative_numbers = true)]
    key: String,
    #[command(flatten)]
    key_type: KeyTypeArg,
    /// Write each number with its type, as canonical Extended JSON does
    #[arg(long)]
    canonical: bool,
    /// Write {"version":..,"doc":..}: the version is what `update --if-version` takes
    #[arg(long)]
    with_version: bool,
}

pub(crate) fn run(args: &GetArgs) -> Result<Exit> {
    let key = args.key_type.parse(&args.key)?;
    let store = Store::open_to_read(&args.store)?;
    let found =
        store.db.collection(args.collection.as_str()).get(&key).map_err(|error| store.failure(&error))?;
    let found = found.ok_or_else(|| Failure::no_document(&key, &args.collection))?;
    let document = found.to_document().map_err(|error| store.failure(&error))?;
    let mode = json_mode(args.canonical);
    let mut output = Output::new();
    match args.with_version {
        true => {
            let (version, document) = (found.version(), document.to_json(mode));
            output.line(&format!("{{\"version\":\"{version:#x}\",\"doc\":{document}}}"))?;
        }
        false => output.document(&document, mode)?,
    }
    output.finish()?;
    Ok(Exit::Done)
}
