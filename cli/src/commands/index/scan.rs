//! `holotype index scan`: documents in the order of an index, or its entries.

use std::ops::Bound;
use std::path::PathBuf;

use clap::Args;
use holotype::document::{JsonMode, json};
use holotype::{IndexEntry, Value};
use indicatif::ProgressBar;

use super::super::export::write_documents;
use crate::args::{FormArgs, json_mode};
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::store::Store;

/// An end of the range is one JSON value for the first path, or an array of values for the first paths: --from 1859,
/// --from `'["Wren",1859]'`. So a value that is itself an array stands in another: --from `'[[1,2]]'`. An end stands for all entries
/// that begin so, and both ends belong to the range. Nothing, which documents without the path give, is before null.
#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    /// The store
    store: PathBuf,
    /// The collection
    collection: String,
    /// The index
    name: String,
    /// Begin with the entries of this value, or of these values
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    from: Option<String>,
    /// End with the entries of this value, or of these values
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    to: Option<String>,
    /// From the last entry to the first
    #[arg(long)]
    reverse: bool,
    /// At most this many entries
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print entries, from the index alone: {"values":[..],"key":..}, a value for each path. Where a path gives nothing its place in
    /// "values" has null, and "nothing" lists the place, from 0. "values" is null where they are too long for an entry
    #[arg(long, conflicts_with = "with_keys")]
    keys: bool,
    #[command(flatten)]
    form: FormArgs,
}

pub(crate) fn run(args: &ScanArgs) -> Result<Exit> {
    let ends = (end("--from", args.from.as_deref())?, end("--to", args.to.as_deref())?);
    let store = Store::open_to_read(&args.store)?;
    let collection = store.db.collection(args.collection.as_str());
    let scan = collection.index(args.name.as_str()).range(ends).map_err(|error| store.failure(&error))?;
    let scan = if args.reverse { scan.reversed() } else { scan };
    let limit = args.limit.unwrap_or(usize::MAX);
    if !args.keys {
        write_documents(&store, scan.documents().take(limit), args.form, &ProgressBar::hidden())?;
        return Ok(Exit::Done);
    }
    let mut output = Output::new();
    for entry in scan.take(limit) {
        match entry {
            Ok(entry) => output.line(&text(&entry, json_mode(args.form.canonical)))?,
            Err(error) => {
                // What came before the damage is good, and somebody may want it.
                output.finish()?;
                return Err(store.failure(&error));
            }
        }
    }
    output.finish()?;
    Ok(Exit::Done)
}

/// An end of the range: a value, or an array of values.
fn end(option: &str, text: Option<&str>) -> Result<Bound<Vec<Option<Value>>>> {
    let Some(text) = text else { return Ok(Bound::Unbounded) };
    let value = json::parse_value(text.as_bytes());
    let value = value.map_err(|error| Failure::usage(format!("{option} {text}: {error}")))?;
    Ok(Bound::Included(match value {
        Value::Array(values) => values.into_iter().map(Some).collect(),
        value => vec![Some(value)],
    }))
}

/// An entry as JSON.
fn text(entry: &IndexEntry, mode: JsonMode) -> String {
    let key = Value::from(entry.key().clone()).to_json(mode);
    if entry.is_long() {
        return format!("{{\"values\":null,\"key\":{key}}}");
    }
    let json = |value: &Option<Value>| value.as_ref().unwrap_or(&Value::Null).to_json(mode);
    let values: Vec<_> = entry.values().iter().map(json).collect();
    let values = values.join(",");
    let places = entry.values().iter().enumerate().filter(|(_, value)| value.is_none());
    let places: Vec<_> = places.map(|(place, _)| place.to_string()).collect();
    match places.join(",") {
        none if none.is_empty() => format!("{{\"values\":[{values}],\"key\":{key}}}"),
        places => format!("{{\"values\":[{values}],\"nothing\":[{places}],\"key\":{key}}}"),
    }
}
