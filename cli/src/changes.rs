//! Changes as they are typed on a command line, in their order.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use holotype::document::json;
use holotype::update::{Changes, JsonPatch, Number};
use holotype::{Document, Update, Value};

use crate::advice::Advice;
use crate::exit::{Failure, Result};
use crate::{input, query};

/// Options: name, form of their value, and what they do.
const OPTIONS: [(&str, &str, &str); 8] = [
    ("patch", "FILE|-", "Apply the JSON Patch (RFC 6902) of a file or standard input"),
    ("merge", "FILE|-", "Merge the JSON Merge Patch (RFC 7396) of a file or standard input"),
    ("set", "PATH=JSON", "Set the value at a path, as --set '$.seen[0].where=\"hedge\"'"),
    ("unset", "PATH", "Take out the field or item at a path"),
    ("inc", "PATH=N", "Add a number to the one at a path"),
    ("push", "PATH=JSON", "Add an item to the end of the array at a path"),
    ("pull", "PATH=JSON", "Take out the items of the array at a path that are equal to a value"),
    ("rename", "PATH=NAME", "Give the field at a path another name, as it is typed"),
];

/// What was typed: the option's name and its value, in the order of the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangeArgs {
    typed: Vec<(&'static str, String)>,
}

impl Args for ChangeArgs {
    fn augment_args(command: Command) -> Command {
        OPTIONS.iter().fold(command, |command, (name, form, help)| {
            let option = Arg::new(*name).long(*name).value_name(*form).help(*help);
            command.arg(option.action(ArgAction::Append).allow_hyphen_values(true))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ChangeArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut typed: Vec<(usize, (&'static str, String))> = Vec::new();
        for (name, ..) in OPTIONS {
            let values = matches.get_many::<String>(name).into_iter().flatten().cloned();
            let places = matches.indices_of(name).into_iter().flatten();
            typed.extend(places.zip(values.map(|value| (name, value))));
        }
        typed.sort_by_key(|(place, _)| *place);
        Ok(ChangeArgs { typed: typed.into_iter().map(|(_, typed)| typed).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// One change, read.
#[derive(Debug)]
pub(crate) enum Part {
    Patch(JsonPatch),
    Merge(Document),
    Update(Update),
}

impl<'a> From<&'a Part> for Changes<'a> {
    fn from(part: &'a Part) -> Self {
        match part {
            Part::Patch(patch) => patch.into(),
            Part::Merge(patch) => Changes::merge(patch),
            Part::Update(update) => update.into(),
        }
    }
}

impl ChangeArgs {
    /// Reads all changes, files and standard input included.
    pub(crate) fn read(&self, upsert: Option<&str>) -> Result<Vec<Part>> {
        let typed = self.typed.iter().map(|(name, value)| (*name, value.as_str()));
        let files = typed.filter(|(name, _)| ["patch", "merge"].contains(name));
        let all = files.chain(upsert.map(|upsert| ("upsert", upsert)));
        if let Some((name, _)) = all.filter(|(_, value)| *value == "-").nth(1) {
            let again = format!("--{name} -: another change has read standard input");
            return Err(Failure::usage(again).advise(Advice::NameFile));
        }
        self.typed.iter().map(|(name, value)| part(name, value)).collect()
    }
}

fn part(name: &str, typed: &str) -> Result<Part> {
    let failure = |error: &holotype::Error| Failure::usage(format!("--{name} {typed}: {error}"));
    let json = |text: &str| {
        json::parse_value(text.as_bytes()).map_err(|error| query::not_json(text, failure(&error)))
    };
    let file = || input::whole(typed).map_err(|failure| failure.advise(Advice::NameFile));
    let update = Update::new();
    Ok(Part::Update(match name {
        "patch" => {
            let text = file()?;
            return JsonPatch::parse(text).map(Part::Patch).map_err(|error| failure(&error));
        }
        "merge" => {
            let text = file()?;
            return Document::from_json(text).map(Part::Merge).map_err(|error| failure(&error));
        }
        "unset" => {
            let update = update.unset(typed);
            update.check().map_err(|error| failure(&error))?;
            update
        }
        name => {
            let (path, value) = split(typed).map_err(|error| failure(&error))?;
            match name {
                "set" => update.set(path, json(value)?),
                "push" => update.push(path, json(value)?),
                "pull" => update.pull(path, json(value)?),
                "rename" => update.rename(path, value),
                _ => match json(value)? {
                    Value::Int(int) => update.inc(path, int),
                    Value::Float(float) => update.inc(path, Number::Float(float)),
                    other => {
                        let kind = other.kind();
                        return Err(Failure::usage(format!(
                            "--inc {typed}: N is a number, not of type {kind}"
                        )));
                    }
                },
            }
        }
    }))
}

/// The path before the first `=` that has a path before it, and what is after it: a name in a path may hold one.
fn split(typed: &str) -> holotype::Result<(&str, &str)> {
    let mut ends = typed.match_indices('=').map(|(at, _)| at);
    let is_path = |end: &usize| Update::new().unset(&typed[..*end]).check().is_ok();
    match ends.find(is_path) {
        Some(end) => Ok((&typed[..end], &typed[end + 1..])),
        None => {
            let path = typed.split_once('=').map_or(typed, |(path, _)| path);
            Update::new().unset(path).check()?;
            Err(holotype::Error::InvalidPath {
                path: typed.to_owned(),
                at: typed.len(),
                what: "`=` and a value follow a path".to_owned(),
            })
        }
    }
}
