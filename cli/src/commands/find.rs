//! `holotype find`: the documents that a filter admits.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use holotype::{Collection, Cursor, Hint, Key, Query, Value};

use crate::args::{FormArgs, json_mode};
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::query::{self, ParameterArgs};
use crate::store::Store;

/// Prints one document a line, in key order unless sorted. Quote the filter, as in '@.year >= 1850 && @.name'.
#[derive(Debug, Args)]
pub(crate) struct FindArgs {
    /// The store
    store: PathBuf,
    /// The collection
    collection: String,
    /// The filter, a logical expression of RFC 9535 in which `@` is the document [default: all documents]
    filter: Option<String>,
    /// Sort by a path or a function of one, as in '$.year:desc'; again for where the first tells no difference
    #[arg(long, value_name = "PATH[:asc|:desc]", allow_hyphen_values = true)]
    sort: Vec<String>,
    /// Leave out the first documents
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,
    /// At most this many documents or keys; if there are more, the cursor to go on from is told on standard error
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Go on from a cursor, with the same filter and the same sorts
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// Print only these parts of each document; with --with-keys, as {"key":..,"doc":..}. --count and --keys
    /// print none
    #[arg(long, value_name = "PATH")]
    project: Vec<String>,
    #[command(flatten)]
    parameters: ParameterArgs,
    /// Print only how many documents there are
    #[arg(long, conflicts_with_all = ["keys", "with_keys", "canonical"])]
    count: bool,
    /// Print only the keys, as JSON
    #[arg(long, conflicts_with = "with_keys")]
    keys: bool,
    /// Print only how the documents would be found, and what that would read
    #[arg(long, conflicts_with_all = ["count", "keys"])]
    explain: bool,
    /// Go by this index, whatever it costs
    #[arg(long, value_name = "NAME", conflicts_with = "no_index")]
    index: Option<String>,
    /// Go by no index
    #[arg(long)]
    no_index: bool,
    #[command(flatten)]
    form: FormArgs,
}

pub(crate) fn run(args: &FindArgs) -> Result<Exit> {
    let parameters = args.parameters.read()?;
    let wrong = |error: holotype::Error| Failure::usage(error.to_string());
    let after = args.after.as_deref().map(str::parse::<Cursor>).transpose().map_err(wrong)?;
    let filter = args.filter.as_deref().map(|text| query::filter("filter", text)).transpose()?;
    let sorts = args.sort.iter().map(|text| query::sort(text)).collect::<Result<Vec<_>>>()?;
    query::check_paths("--project", &args.project)?;
    let store = Store::open_to_read(&args.store)?;
    let collection = store.db.collection(args.collection.as_str());
    let mut query = match filter {
        Some(filter) => collection.find(filter),
        None => collection.find(..),
    };
    query = sorts.into_iter().fold(query.skip(args.skip), Query::sort);
    query = parameters.into_iter().fold(query, |query, (name, value)| query.bind(name, value));
    query = after.iter().cloned().fold(query, Query::after);
    let hint = args.index.clone().map(Hint::Index).or_else(|| args.no_index.then_some(Hint::Scan));
    query = hint.into_iter().fold(query, Query::hint);
    let mut output = Output::new();
    if args.explain {
        let query = args.limit.iter().fold(query, |query, limit| query.limit(*limit));
        let plan = match args.project.as_slice() {
            [] => query.explain(),
            parts => query.project(parts).explain(),
        };
        let plan = plan.map_err(|error| store.failure(&error))?;
        output.line(&plan.to_string())?;
    } else if args.count {
        let query = args.limit.iter().fold(query, |query, limit| query.limit(*limit));
        let count = query.count().map_err(|error| store.failure(&error))?;
        output.line(&count.to_string())?;
    } else {
        let cursor = match args.keys {
            true => keys(&store, args, after, query, &mut output)?,
            false => documents(&store, args, query, &mut output)?,
        };
        if let Some(cursor) = cursor {
            // Where standard error is closed, the documents have to do.
            let _ = writeln!(io::stderr(), "holotype: there are more; go on with --after {cursor}");
        }
    }
    output.finish()?;
    Ok(Exit::Done)
}

/// Prints the keys. Where a limit cut them off, the cursor to go on from.
fn keys(
    store: &Store,
    args: &FindArgs,
    after: Option<Cursor>,
    query: Query<'_, Collection>,
    output: &mut Output,
) -> Result<Option<Cursor>> {
    let failure = |error: holotype::Error| store.failure(&error);
    let limit = args.limit.unwrap_or(u64::MAX);
    let mut last: Option<Key> = None;
    // One more than is printed tells whether there are more.
    for (printed, key) in (0..).zip(query.clone().limit(limit.saturating_add(1)).keys().map_err(failure)?) {
        let key = key.map_err(failure)?;
        if printed == limit {
            // Before the first answer stands only the cursor that was given.
            let Some(last) = last else { return Ok(after) };
            // Nobody writes meanwhile: the store is locked for reading.
            let Some(document) = store.db.collection(args.collection.as_str()).get(&last).map_err(failure)?
            else {
                return Ok(None);
            };
            let document = document.to_document().map_err(failure)?;
            return query.cursor_at(&last, &document).map(Some).map_err(failure);
        }
        output.line(&Value::from(key.clone()).to_json(json_mode(args.form.canonical)))?;
        last = Some(key);
    }
    Ok(None)
}

/// Prints the documents. Where a limit cut them off, the cursor to go on from.
fn documents(
    store: &Store,
    args: &FindArgs,
    query: Query<'_, Collection>,
    output: &mut Output,
) -> Result<Option<Cursor>> {
    let failure = |error: holotype::Error| store.failure(&error);
    let limit = args.limit.unwrap_or(u64::MAX);
    // One more than is printed tells whether there are more.
    let query = query.limit(limit.saturating_add(1));
    let mut printed = 0;
    if args.project.is_empty() {
        let mut found = query.run().map_err(failure)?;
        loop {
            let before = found.cursor();
            let Some(document) = found.next() else { return Ok(None) };
            if printed == limit {
                return Ok(before);
            }
            output.entry(&document.map_err(failure)?, args.form)?.map_err(failure)?;
            printed += 1;
        }
    }
    let mut found = query.project(&args.project).run().map_err(failure)?;
    loop {
        let before = found.cursor();
        let Some(parts) = found.next() else { return Ok(None) };
        if printed == limit {
            return Ok(before);
        }
        let parts = parts.map_err(failure)?;
        let document = parts.to_document().map_err(failure)?;
        output.document_of(parts.key(), &document, args.form)?;
        printed += 1;
    }
}
