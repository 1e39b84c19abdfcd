//! `holotype find`: the documents that a filter admits.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use holotype::document::{JsonMode, json};
use holotype::{Collection, Cursor, Hint, Query, Sort, Value};

use crate::args::{FormArgs, json_mode};
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
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
    #[arg(long, value_name = "PATH[:desc]")]
    sort: Vec<String>,
    /// Leave out the first documents
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,
    /// At most this many documents; if there are more, the cursor to go on from is told on standard error
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Go on from a cursor, with the same filter and the same sorts
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// Print only these parts of each document
    #[arg(long, value_name = "PATH", conflicts_with_all = ["count", "keys"])]
    project: Vec<String>,
    #[command(flatten)]
    parameters: ParameterArgs,
    /// Print only how many documents there are
    #[arg(long, conflicts_with = "keys")]
    count: bool,
    /// Print only the keys, as JSON
    #[arg(long)]
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

/// Values for the parameters of a query.
#[derive(Debug, Args)]
pub(crate) struct ParameterArgs {
    /// Give `arg('NAME')` a value
    #[arg(long, value_name = "NAME=JSON")]
    arg: Vec<String>,
}

impl ParameterArgs {
    /// Each name with its value.
    pub(crate) fn read(&self) -> Result<Vec<(&str, Value)>> {
        let read = |text: &'_ String| -> Result<(usize, Value)> {
            let wrong = |what: String| Failure::usage(format!("--arg {text}: {what}"));
            let equals =
                text.find('=').ok_or_else(|| wrong("`=` is due between name and value".to_owned()))?;
            let value = json::parse_value(&text.as_bytes()[equals + 1..]);
            Ok((equals, value.map_err(|error| wrong(error.to_string()))?))
        };
        self.arg.iter().map(|text| read(text).map(|(equals, value)| (&text[..equals], value))).collect()
    }
}

/// A sort as it is typed.
fn sort(text: &str) -> Sort {
    match text.strip_suffix(":desc") {
        Some(path) => Sort::by(path).descending(),
        None => Sort::by(text),
    }
}

pub(crate) fn run(args: &FindArgs) -> Result<Exit> {
    let parameters = args.parameters.read()?;
    let wrong = |error: holotype::Error| Failure::usage(error.to_string());
    let after = args.after.as_deref().map(str::parse::<Cursor>).transpose().map_err(wrong)?;
    let store = Store::open_to_read(&args.store)?;
    let collection = store.db.collection(args.collection.as_str());
    let mut query = match &args.filter {
        Some(filter) => collection.find(filter),
        None => collection.find(..),
    };
    query = args.sort.iter().fold(query.skip(args.skip), |query, text| query.sort(sort(text)));
    query = parameters.into_iter().fold(query, |query, (name, value)| query.bind(name, value));
    query = after.into_iter().fold(query, Query::after);
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
    } else if args.keys {
        let query = args.limit.iter().fold(query, |query, limit| query.limit(*limit));
        for key in query.keys().map_err(|error| store.failure(&error))? {
            let key = key.map_err(|error| store.failure(&error))?;
            output.line(&Value::from(key).to_json(JsonMode::Relaxed))?;
        }
    } else {
        documents(&store, args, query, &mut output)?;
    }
    output.finish()?;
    Ok(Exit::Done)
}

/// Prints the documents, then tells on standard error how to go on where a limit cut them off.
fn documents(
    store: &Store,
    args: &FindArgs,
    query: Query<'_, Collection>,
    output: &mut Output,
) -> Result<()> {
    let failure = |error: &holotype::Error| store.failure(error);
    let limit = args.limit.unwrap_or(u64::MAX);
    // One more than is printed tells whether there are more.
    let query = query.limit(limit.saturating_add(1));
    let mut printed = 0;
    let cursor = if args.project.is_empty() {
        let mut found = query.run().map_err(|error| failure(&error))?;
        loop {
            let before = found.cursor();
            let Some(document) = found.next() else { break None };
            if printed == limit {
                break before;
            }
            let document = document.map_err(|error| failure(&error))?;
            output.entry(&document, args.form)?.map_err(|error| failure(&error))?;
            printed += 1;
        }
    } else {
        let mut found = query.project(&args.project).run().map_err(|error| failure(&error))?;
        loop {
            let before = found.cursor();
            let Some(parts) = found.next() else { break None };
            if printed == limit {
                break before;
            }
            let parts = parts.map_err(|error| failure(&error))?;
            let document = parts.to_document().map_err(|error| failure(&error))?;
            output.document(&document, json_mode(args.form.canonical))?;
            printed += 1;
        }
    };
    if let Some(cursor) = cursor {
        // Where standard error is closed, the documents have to do.
        let _ = writeln!(io::stderr(), "holotype: there are more; go on with --after {cursor}");
    }
    Ok(())
}
