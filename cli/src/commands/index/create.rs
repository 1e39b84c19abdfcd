//! `holotype index create`: an index of the documents that are there, and of all to come.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use holotype::{Document, Error, IndexDefinition, Value};

use crate::advice::Advice;
use crate::exit::{Exit, Failure, Result};
use crate::input::Input;
use crate::output::Output;
use crate::progress;
use crate::query;
use crate::store::Store;

/// The field of a line that names the collection of the definition.
const COLLECTION: &str = "collection";

/// No other process can have the store open meanwhile. An index that is interrupted, or killed, is not there. Paths are those of JSONPath
/// (RFC 9535) with names, positions and `[*]` alone, or a function of one: fold, lower, time or length.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// The store
    store: PathBuf,
    /// The collection; made if there is none
    collection: String,
    /// The name of the index
    #[arg(required_unless_present = "from", conflicts_with = "from")]
    name: Option<String>,
    /// Index what this path selects, as in `'$.seen[*].year:desc'`, or what a function gives of it, as in `'fold($.name)'`; again for more
    /// paths, which are compared one after the other
    #[arg(
        long,
        value_name = "PATH[:desc]",
        required_unless_present = "from",
        conflicts_with = "from",
        allow_hyphen_values = true
    )]
    on: Vec<String>,
    /// No two documents have the same values, null included; documents that lack one of the paths may
    #[arg(long, conflicts_with = "from")]
    unique: bool,
    /// Leave out documents in which no path selects anything
    #[arg(long, conflicts_with = "from")]
    sparse: bool,
    /// Index only the documents that this filter admits, as in `'@.done == false'` (RFC 9535, without parameters and regular expressions)
    #[arg(long = "where", value_name = "FILTER", conflicts_with = "from", allow_hyphen_values = true)]
    filter: Option<String>,
    /// Take the place of an index of the name that has another definition
    #[arg(long)]
    replace: bool,
    /// Create all indexes of a file (- for standard input) that `index list --json` wrote; a line that names a collection is for that one
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
}

/// An index that is asked for.
struct Asked {
    collection: String,
    definition: IndexDefinition,
}

pub(crate) fn run(args: &CreateArgs) -> Result<Exit> {
    let asked = match &args.from {
        Some(file) => read(Input::open(file)?, &args.collection)?,
        None => vec![Asked { collection: args.collection.clone(), definition: typed(args)? }],
    };
    let store = Store::open_to_write(&args.store)?;
    let interrupted = interruptible();
    let mut output = Output::new();
    let mut made = Ok(());
    for asked in &asked {
        made = create(&store, asked, args.replace, &interrupted).and_then(|line| output.line(&line));
        if made.is_err() {
            break;
        }
    }
    // What was made before a failure stays, so it is told.
    output.finish().map_err(Failure::committed).and(made)?;
    store.close()?;
    Ok(Exit::Done)
}

/// The definition of a command line.
fn typed(args: &CreateArgs) -> Result<IndexDefinition> {
    let paths = args.on.iter().map(|text| path(text)).collect::<Result<Vec<_>>>()?;
    let name = args.name.as_deref().expect("it is asked for where there is no file");
    let definition = IndexDefinition::new(name, paths).map_err(|error| Failure::usage(error.to_string()))?;
    let definition = if args.unique { definition.unique() } else { definition };
    let definition = if args.sparse { definition.sparse() } else { definition };
    let Some(filter) = &args.filter else { return Ok(definition) };
    definition.filtered(filter).map_err(|error| Failure::usage(format!("--where {filter}: {error}")))
}

/// A path with its direction as a definition has it.
fn path(text: &str) -> Result<String> {
    let (path, descends) = query::with_direction("--on", text)?;
    match IndexDefinition::new("on", [path]) {
        Err(error @ (Error::Query { .. } | Error::QueryTooDeep { .. })) => {
            Err(Failure::usage(format!("--on {text}: {error}")))
        }
        _ => Ok(format!("{}{path}", if descends { "-" } else { "" })),
    }
}

/// The definitions of a file.
fn read(input: Input, collection: &str) -> Result<Vec<Asked>> {
    let mut lines = input.items::<Document>()?;
    let mut asked = Vec::new();
    while let Some(line) = lines.next() {
        let (line, mut map) = line?;
        let collection = match map.remove(COLLECTION) {
            None => collection.to_owned(),
            Some(Value::Text(name)) => name.to_string(),
            Some(other) => {
                let kind = other.kind();
                return Err(lines.bad(line, format!("\"collection\" is a text, not of type {kind}")));
            }
        };
        let definition = IndexDefinition::from_document(&map).map_err(|error| lines.bad(line, error))?;
        asked.push(Asked { collection, definition });
    }
    Ok(asked)
}

/// Creates an index. What is to be told of it.
fn create(store: &Store, asked: &Asked, replace: bool, interrupted: &AtomicBool) -> Result<String> {
    let Asked { collection, definition } = asked;
    let name = definition.name();
    let progress = progress::of_work();
    progress.set_message(name.to_owned());
    let of = store.db.collection(collection.as_str());
    let made = of.create_index_with(definition.clone(), replace, |built| {
        progress.set_position(built.documents.saturating_mul(1000) / built.of.max(1));
        if interrupted.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    progress.finish_and_clear();
    match made {
        Ok(true) => Ok(format!("made the index {name:?} of {collection:?}")),
        Ok(false) => Ok(format!("the index {name:?} of {collection:?} is there already, unchanged")),
        Err(Error::Cancelled { scanned }) => Err(Failure::not_found(format!(
            "interrupted after {scanned} documents; the index {name:?} of {collection:?} was not made"
        ))),
        Err(error @ Error::IndexExists { .. }) => Err(store.failure(&error).advise(Advice::ReplaceIndex)),
        Err(error @ Error::UniqueViolations { .. }) => {
            Err(store.failure(&error).advise(Advice::LeaveOutUnique))
        }
        Err(error) => Err(store.failure(&error)),
    }
}

/// Becomes true on an interrupt from the keyboard. Where no handler can be had the process ends, and leaves as little.
fn interruptible() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&interrupted);
    let _ = ctrlc::set_handler(move || seen.store(true, Ordering::Relaxed));
    interrupted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_is_what_stands_behind_a_path_and_not_within() {
        for (typed, parsed) in [
            ("$.year", Some("$.year")),
            ("$.year:asc", Some("$.year")),
            ("$.year:desc", Some("-$.year")),
            ("$['a:desc']", Some("$['a:desc']")),
            ("$['a:desc']:desc", Some("-$['a:desc']")),
            ("$[\"]:asc\"]:asc", Some("$[\"]:asc\"]")),
            ("$.tags[*]:desc", Some("-$.tags[*]")),
            ("$.year:up", None),
            ("$.year:desc:desc", None),
            ("-$.year", None),
            (":desc", None),
        ] {
            assert_eq!(path(typed).ok().as_deref(), parsed, "{typed}");
        }
    }
}
