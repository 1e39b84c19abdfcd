//! The vectors themselves. What is right follows from how a case is made: what was put, what was cut, what was broken. The engine is
//! not asked.

mod birds;
mod encoding;
mod filters;
mod grouped;
mod groups;
mod indexes;
mod json;
mod ladder;
mod notes;
mod order;
mod queries;
mod rules;
mod stores;
mod updates;
mod write;

use std::collections::BTreeMap;

pub use groups::folder;
pub use write::{WriteError, write};

use crate::case::{Case, Group, Note, Outcome, Place, Request, State, Verdict};
use notes::NOTES;

/// The version of the format that these vectors are about.
pub const VERSION: &str = "3.0";

/// Whether a file of the folder is of the group of stores that the engine wrote: these follow its ways of writing, which are not part of the format.
#[must_use]
pub fn is_written_by_the_engine(name: &str) -> bool {
    name.ends_with("/lives.json") || name.ends_with(".holo")
}

/// A group in the making.
#[derive(Debug)]
pub(crate) struct Maker {
    group: &'static str,
    about: &'static str,
    states: BTreeMap<String, State>,
    cases: Vec<Case>,
}

impl Maker {
    fn new(group: &'static str, about: &'static str) -> Self {
        Maker { group, about, states: BTreeMap::new(), cases: Vec::new() }
    }

    /// Adds a case. What it may be right to answer is one of `expect`.
    fn case(&mut self, what: &What<'_>, name: impl Into<String>, request: Request, expect: Vec<Outcome>) {
        let id = self.cases.len() as u32 + 1;
        assert!(!expect.is_empty(), "something must be right");
        assert!(!what.clauses.is_empty(), "a case is about something");
        for flag in what.flags {
            assert!(NOTES.iter().any(|(known, ..)| known == flag), "the flag {flag} has a note");
        }
        assert!(what.verdict != Verdict::Invalid || !what.flags.is_empty(), "a refusal catches some mistake");
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        self.cases.push(Case {
            id,
            name: name.into(),
            result: what.verdict,
            clauses: owned(what.clauses),
            flags: owned(what.flags),
            request,
            expect,
        });
    }

    /// The name of a state, which is put down if it is new.
    fn state(&mut self, state: State) -> String {
        if let Some((name, _)) = self.states.iter().find(|(_, known)| **known == state) {
            return name.clone();
        }
        let name = format!("s{:03}", self.states.len() + 1);
        self.states.insert(name.clone(), state);
        name
    }

    fn finish(self) -> Group {
        let used = |name: &str| self.cases.iter().any(|case| case.flags.iter().any(|flag| flag == name));
        let note = |bug_type: &str, description: &str| Note {
            bug_type: bug_type.to_owned(),
            description: description.to_owned(),
        };
        let notes = NOTES.iter().filter(|(name, ..)| used(name));
        Group {
            format: VERSION.to_owned(),
            group: self.group.to_owned(),
            about: self.about.to_owned(),
            notes: notes.map(|(name, kind, what)| ((*name).to_owned(), note(kind, what))).collect(),
            states: self.states,
            cases: self.cases,
        }
    }
}

/// What a case is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct What<'a> {
    verdict: Verdict,
    clauses: &'a [&'a str],
    flags: &'a [&'a str],
}

const fn valid<'a>(clauses: &'a [&'a str], flags: &'a [&'a str]) -> What<'a> {
    What { verdict: Verdict::Valid, clauses, flags }
}

const fn invalid<'a>(clauses: &'a [&'a str], flags: &'a [&'a str]) -> What<'a> {
    What { verdict: Verdict::Invalid, clauses, flags }
}

const fn may<'a>(clauses: &'a [&'a str], flags: &'a [&'a str]) -> What<'a> {
    What { verdict: Verdict::May, clauses, flags }
}

fn rejected() -> Vec<Outcome> {
    vec![Outcome::Rejected(crate::case::Position::default())]
}

fn corrupt(clauses: &[&str], at: Option<u64>) -> Outcome {
    Outcome::Corrupt(Place { clauses: clauses.iter().map(|clause| (*clause).to_owned()).collect(), at })
}

fn newer() -> Outcome {
    Outcome::Newer(Place::default())
}

fn older() -> Outcome {
    Outcome::Older(Place::default())
}
