//! `holotype update`: documents changed where they are.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use holotype::update::Changes;
use holotype::{Db, UpdateReport};

use crate::changes::ChangeArgs;
use crate::exit::{Exit, Failure, Result};
use crate::input;
use crate::key::KeyTypeArg;
use crate::many::{self, ManyArgs};
use crate::store::Store;

/// Changes are made in the order given, all of them or none. Prints {"matched": n, "changed": m}. A key that has no document is an
/// error, unless --upsert is given.
#[derive(Debug, Args)]
#[command(
    override_usage = "holotype update [OPTIONS] <STORE> <COLLECTION> <KEY|--where <FILTER>> <CHANGE>..."
)]
#[command(group = ArgGroup::new("documents").args(["key", "where"]).required(true))]
pub(crate) struct UpdateArgs {
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
    changes: ChangeArgs,
    /// Change the document only if it is of this version, as `get --with-version` prints it: decimal, or hexadecimal with 0x
    #[arg(long, value_name = "V", conflicts_with_all = ["upsert", "where"], value_parser = version)]
    if_version: Option<u64>,
    /// Where the key has no document, put this one
    #[arg(long, value_name = "JSON", conflicts_with = "where")]
    upsert: Option<String>,
    #[command(flatten)]
    key_type: KeyTypeArg,
}

pub(crate) fn run(args: &UpdateArgs) -> Result<Exit> {
    let filter = args.many.filter()?;
    let key = args.key.as_deref().map(|key| args.key_type.parse(key)).transpose()?;
    let parts = args.changes.read(args.upsert.as_deref())?;
    let changes = parts.iter().map(Changes::from).reduce(Changes::then);
    let changes = changes.ok_or_else(|| Failure::usage("give a change, such as --set '$.name=\"Wren\"'"))?;
    let key = match (filter, key) {
        (Some(filter), _) => {
            return args.many.run(&args.store, &args.collection, &filter, Some(changes));
        }
        (None, Some(key)) => key,
        (None, None) => unreachable!("a key is asked for where there is no filter"),
    };
    let upsert = args.upsert.as_deref().map(|text| input::one_document("--upsert", text)).transpose()?;
    let is_upsert = upsert.is_some();
    let store = match &upsert {
        Some(document) => {
            let first = |db: &Db| db.collection(args.collection.as_str()).put(&key, document).map(drop);
            Store::open_or_create(&args.store, first)?
        }
        None => Store::open_to_write(&args.store)?,
    };
    let collection = store.db.collection(args.collection.as_str());
    let updated = match (upsert, args.if_version) {
        (Some(document), _) => collection.update_or_insert(&key, changes, || document),
        (None, Some(version)) => collection.update_if(&key, version, changes),
        (None, None) => collection.update(&key, changes),
    };
    let updated = updated.map_err(|error| store.failure(&error))?;
    let report = UpdateReport { matched: updated.matched().into(), changed: updated.changed().into() };
    drop((updated, collection));
    store.close()?;
    many::print(report).map_err(Failure::committed)?;
    match report.matched {
        0 if !is_upsert => Err(Failure::no_document(&key, &args.collection)),
        _ => Ok(Exit::Done),
    }
}

fn version(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|error| format!("a version is a number of 64 bits: {error}"))
}
