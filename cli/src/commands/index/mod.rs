//! `holotype index`: the indexes of collections.

mod check;
mod create;
mod list;
mod scan;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use holotype::Error;

use crate::advice::Advice;
use crate::exit::{Exit, Result};
use crate::store::Store;

#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    #[command(subcommand)]
    command: IndexCommand,
}

#[derive(Debug, Subcommand)]
enum IndexCommand {
    /// Create an index of the documents that are there, and of all to come; tells whether it made one
    Create(create::CreateArgs),
    /// List indexes with their paths, entries and memory
    List(list::ListArgs),
    /// Compare every entry with its document and every document with its entries; exit code 4 if they differ
    Check(check::CheckArgs),
    /// End an index; its documents stay
    Drop(DropArgs),
    /// Give an index another name
    Rename(RenameArgs),
    /// Write the documents of an index to standard output in its order, one a line, once for each entry
    Scan(scan::ScanArgs),
}

#[derive(Debug, Args)]
struct DropArgs {
    /// The store
    store: PathBuf,
    /// The collection
    collection: String,
    /// The index
    name: String,
}

#[derive(Debug, Args)]
struct RenameArgs {
    /// The store
    store: PathBuf,
    /// The collection
    collection: String,
    /// The index
    name: String,
    /// Its name from now on
    new: String,
}

pub(crate) fn run(args: &IndexArgs) -> Result<Exit> {
    match &args.command {
        IndexCommand::Create(args) => create::run(args),
        IndexCommand::List(args) => list::run(args),
        IndexCommand::Check(args) => check::run(args),
        IndexCommand::Drop(args) => drop_index(args),
        IndexCommand::Rename(args) => rename(args),
        IndexCommand::Scan(args) => scan::run(args),
    }
}

fn drop_index(DropArgs { store, collection, name }: &DropArgs) -> Result<Exit> {
    change(store, collection, name, |collection| collection.drop_index(name))
}

fn rename(RenameArgs { store, collection, name, new }: &RenameArgs) -> Result<Exit> {
    change(store, collection, name, |collection| collection.rename_index(name, new))
}

/// Makes a change, which answers whether there was an index to change.
fn change(
    path: &std::path::Path,
    collection: &str,
    name: &str,
    call: impl FnOnce(&holotype::Collection) -> holotype::Result<bool>,
) -> Result<Exit> {
    let store = Store::open_to_write(path)?;
    let was_there = call(&store.db.collection(collection)).and_then(|was_there| match was_there {
        true => Ok(()),
        false => Err(Error::UnknownIndex { collection: collection.to_owned(), index: name.to_owned() }),
    });
    was_there.map_err(|error| match error {
        Error::IndexExists { ref collection, ref index } => {
            let message = format!("the collection {collection:?} has an index named {index:?} already");
            crate::exit::Failure::not_found(format!("{}: {message}", path.display()))
                .advise(Advice::GiveIndexAnotherName)
        }
        error => store.failure(&error),
    })?;
    store.close()?;
    Ok(Exit::Done)
}

/// The collections that are meant: the one of this name, or all.
fn collections(store: &Store, name: Option<&str>) -> Vec<String> {
    name.map_or_else(|| store.db.collections(), |name| vec![name.to_owned()])
}
