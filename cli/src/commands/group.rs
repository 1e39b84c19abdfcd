//! `holotype group`: what groups of documents have in common, and what they add up to.

use std::path::PathBuf;

use clap::Args;
use holotype::GroupBy;
use holotype::document::{Document, JsonMode, json};

use crate::exit::{Exit, Result};
use crate::output::Output;
use crate::query::{self, ParameterArgs};
use crate::store::Store;

/// Prints one object a line: what the group has in common, its count, and each result under the name and path of what was asked for.
#[derive(Debug, Args)]
pub(crate) struct GroupArgs {
    /// The store
    store: PathBuf,
    /// The collection
    collection: String,
    /// What the documents of a group have in common [default: nothing, so that all documents are one group]
    #[arg(long, value_name = "PATH", num_args = 1..)]
    by: Vec<String>,
    /// Only documents that this filter of RFC 9535 admits
    #[arg(long = "where", value_name = "FILTER", allow_hyphen_values = true)]
    filter: Option<String>,
    /// Count the documents of each group, as is done in any case
    #[arg(long)]
    count: bool,
    /// The sum of the numbers at a path
    #[arg(long, value_name = "PATH")]
    sum: Vec<String>,
    /// The mean of the numbers at a path
    #[arg(long, value_name = "PATH")]
    avg: Vec<String>,
    /// The least value at a path
    #[arg(long, value_name = "PATH")]
    min: Vec<String>,
    /// The greatest value at a path
    #[arg(long, value_name = "PATH")]
    max: Vec<String>,
    /// Print only how the groups would be found, and what that would read
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    parameters: ParameterArgs,
}

pub(crate) fn run(args: &GroupArgs) -> Result<Exit> {
    let parameters = args.parameters.read()?;
    let filter = args.filter.as_deref().map(|text| query::filter("--where", text)).transpose()?;
    let expressions = |option, texts: &[String]| {
        texts.iter().map(|text| query::expression(option, text)).collect::<Result<Vec<_>>>()
    };
    let (by, sum) = (expressions("--by", &args.by)?, expressions("--sum", &args.sum)?);
    let (avg, min) = (expressions("--avg", &args.avg)?, expressions("--min", &args.min)?);
    let max = expressions("--max", &args.max)?;
    let store = Store::open_to_read(&args.store)?;
    let collection = store.db.collection(args.collection.as_str());
    let query = match filter {
        Some(filter) => collection.find(filter),
        None => collection.find(..),
    };
    let query = parameters.into_iter().fold(query, |query, (name, value)| query.bind(name, value));
    let mut groups = query.group_by(by);
    groups = sum.into_iter().fold(groups, GroupBy::sum);
    groups = avg.into_iter().fold(groups, GroupBy::avg);
    groups = min.into_iter().fold(groups, GroupBy::min);
    groups = max.into_iter().fold(groups, GroupBy::max);
    let mut output = Output::new();
    if args.explain {
        let plan = groups.explain().map_err(|error| store.failure(&error))?;
        output.line(&plan.to_string())?;
        output.finish()?;
        return Ok(Exit::Done);
    }
    for group in groups.run().map_err(|error| store.failure(&error))? {
        output.line(&line_of(&group))?;
    }
    output.finish()?;
    Ok(Exit::Done)
}

/// A group as JSON: what it has in common, then its count, then what was asked for beside that.
fn line_of(group: &Document) -> String {
    const RESULTS: [&str; 5] = ["count", "sum", "avg", "min", "max"];
    let place = |name: &str| RESULTS.iter().position(|result| *result == name).map_or(0, |at| at + 1);
    let mut line = String::new();
    json::write_document_by(group, place, JsonMode::Relaxed, &mut line);
    line
}
