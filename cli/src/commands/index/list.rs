//! `holotype index list`: which indexes there are, and what they take.

use std::path::PathBuf;

use clap::Args;
use holotype::document::JsonMode;
use holotype::{Document, IndexInfo};

use super::collections;
use crate::exit::{Exit, Result};
use crate::output::Output;
use crate::store::Store;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The store
    store: PathBuf,
    /// The collection [default: all, with the name of the collection in each line]
    collection: Option<String>,
    /// Print the definitions alone, one a line, for `index create --from`
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ListArgs) -> Result<Exit> {
    let store = Store::open_to_read(&args.store)?;
    let mut output = Output::new();
    for name in collections(&store, args.collection.as_deref()) {
        let collection = store.db.collection(name.as_str());
        let indexes = collection.index_info().map_err(|error| store.failure(&error))?;
        let name = args.collection.is_none().then_some(name.as_str());
        for info in indexes {
            if args.json {
                output.document(&map(name, &info), JsonMode::Relaxed)?;
            } else {
                output.line(&text(name, &info))?;
            }
        }
    }
    output.finish()?;
    Ok(Exit::Done)
}

/// The definition as `index create --from` takes it.
fn map(collection: Option<&str>, info: &IndexInfo) -> Document {
    let mut map = Document::new();
    if let Some(collection) = collection {
        map.insert("collection", collection);
    }
    for (key, value) in info.definition.to_document() {
        map.insert(key, value);
    }
    map
}

fn text(collection: Option<&str>, info: &IndexInfo) -> String {
    let IndexInfo { definition, entries, memory_bytes, .. } = info;
    let collection = collection.map(|name| format!("{name:?} ")).unwrap_or_default();
    let paths = definition.texts().map(|text| match text.strip_prefix('-') {
        Some(path) => format!("{path}:desc"),
        None => text,
    });
    let paths = paths.collect::<Vec<_>>().join(" ");
    let flag = |is_on: bool, text: &'static str| if is_on { text } else { "" };
    let unique = flag(definition.is_unique(), ", unique");
    let sparse = flag(definition.is_sparse(), ", sparse");
    let filter = definition.filter().map(|filter| format!(", where {filter}")).unwrap_or_default();
    let name = definition.name();
    format!(
        "{collection}{name:?} on {paths}{unique}{sparse}{filter}: {entries} entries, {memory_bytes} bytes in memory"
    )
}
