//! `holotype jsonpath`: what a path selects of a JSON text.

use std::path::PathBuf;

use clap::Args;
use holotype::Value;
use holotype::document::JsonMode;
use holotype::query::JsonPath;

use crate::exit::{Exit, Failure, Result};
use crate::input;
use crate::output::Output;

#[derive(Debug, Args)]
pub(crate) struct JsonPathArgs {
    /// The query, by RFC 9535: it begins with `$`
    query: String,
    /// The file of one JSON text [default: standard input]
    file: Option<PathBuf>,
}

pub(crate) fn run(args: &JsonPathArgs) -> Result<Exit> {
    let wrong = |error: holotype::Error| Failure::usage(error.to_string());
    let path = JsonPath::parse(&args.query).map_err(wrong)?;
    let value = input::one_value(args.file.as_deref())?;
    let nodes = path.select(&value).map_err(wrong)?.into_iter().cloned().collect();
    let mut output = Output::new();
    output.line(&Value::Array(nodes).to_json(JsonMode::Relaxed))?;
    output.finish()?;
    Ok(Exit::Done)
}
