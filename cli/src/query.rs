//! Parts of a query as they are typed. What is wrong with one names the option, and what was typed there, or the
//! name in it.

use std::fmt::Display;

use clap::Args;
use holotype::document::json;
use holotype::query::{Expression, Filter, JsonPath};
use holotype::{Sort, Value};

use crate::advice::Advice;
use crate::exit::{Failure, Result};

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
        parameters(&self.arg)
    }
}

/// Each name with its value, of all texts of `--arg`.
pub(crate) fn parameters(texts: &[String]) -> Result<Vec<(&str, Value)>> {
    let mut all: Vec<(&str, Value)> = Vec::with_capacity(texts.len());
    for text in texts {
        let (name, value) =
            text.split_once('=').ok_or_else(|| wrong("--arg", text, "`=` is due between name and value"))?;
        if all.iter().any(|(other, _)| *other == name) {
            return Err(wrong("--arg", text, "the name has a value already"));
        }
        let value = json::parse_value(value.as_bytes())
            .map_err(|error| not_json(value, wrong("--arg", text, error)))?;
        all.push((name, value));
    }
    Ok(all)
}

/// What is wrong with a value that is no JSON: one that begins with a letter was meant for a text.
pub(crate) fn not_json(value: &str, failure: Failure) -> Failure {
    if value.starts_with(char::is_alphabetic) { failure.advise(Advice::QuoteText) } else { failure }
}

pub(crate) fn wrong(option: &str, text: &str, what: impl Display) -> Failure {
    Failure::usage(format!("{option} {text}: {what}"))
}

pub(crate) fn filter(option: &str, text: &str) -> Result<Filter> {
    Filter::parse(text).map_err(|error| wrong(option, text, error))
}

pub(crate) fn expression(option: &str, text: &str) -> Result<Expression> {
    Expression::parse(text).map_err(|error| wrong(option, text, error))
}

/// All texts of an option that takes paths, each known to be one.
pub(crate) fn check_paths(option: &str, texts: &[String]) -> Result<()> {
    texts.iter().try_for_each(|text| match JsonPath::parse(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(wrong(option, text, error)),
    })
}

/// What is typed with a direction: the text without it, and whether it descends. No path ends in `:desc`: a name with a
/// colon stands in brackets.
pub(crate) fn with_direction<'t>(option: &str, text: &'t str) -> Result<(&'t str, bool)> {
    let (path, descends) = match text.strip_suffix(":desc") {
        Some(path) => (path, true),
        None => (text.strip_suffix(":asc").unwrap_or(text), false),
    };
    match path.starts_with('-') {
        true => Err(wrong(option, text, "no path begins with '-'").advise(Advice::SayDescending)),
        false => Ok((path, descends)),
    }
}

/// The value of `--sort`.
pub(crate) fn sort(text: &str) -> Result<Sort> {
    let (path, descends) = with_direction("--sort", text)?;
    let expression = Expression::parse(path).map_err(|error| wrong("--sort", text, error))?;
    let sort = Sort::by(expression);
    Ok(if descends { sort.descending() } else { sort })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_is_what_stands_behind_a_path_and_not_within() {
        for (typed, parsed) in [
            ("$.year", Some(("$.year", false))),
            ("$.year:asc", Some(("$.year", false))),
            ("$.year:desc", Some(("$.year", true))),
            ("$['a:desc']", Some(("$['a:desc']", false))),
            ("$['a:desc']:asc", Some(("$['a:desc']", false))),
            ("-$.year", None),
            ("-$.year:desc", None),
        ] {
            assert_eq!(with_direction("--sort", typed).ok(), parsed, "{typed}");
        }
    }
}
