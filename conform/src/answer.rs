//! What a subject said, and whether that is right.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::case::{Mode, Order, Outcome, Place, Request, State};
use crate::hex::Hex;
use crate::meaning;

/// What a subject said.
#[derive(Debug)]
pub enum Answer {
    /// What the store holds.
    State(State),
    /// The file is corrupt.
    Corrupt(Refusal),
    /// A newer format.
    Newer(Refusal),
    /// An older format.
    Older(Refusal),
    /// An unfinished creation.
    Incomplete,
    /// Not a file of this format.
    NotHolotype,
    /// A value, in canonical JSON.
    Value(Box<RawValue>),
    /// Bytes.
    Bytes(Hex),
    /// The entries of an index, in order.
    Entries(Vec<Hex>),
    /// A key and a document.
    Entry((Hex, Hex)),
    /// A JSON text.
    Text(String),
    /// How two values compare.
    Order(Order),
    /// Nothing is there.
    None,
    /// The input is refused.
    Rejected(Rejection),
    /// The subject has no such operation.
    Unsupported,
}

/// Where and why a file is refused, as far as the subject says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The clause that is broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
    /// The offset in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

/// Where an input is refused, as far as the subject says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// The clause that is broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
    /// From 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// From 1, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// The operation that fails, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<u64>,
}

/// An answer as it stands on its line.
#[derive(Debug, Default, Deserialize)]
struct Line {
    id: Option<u64>,
    state: Option<State>,
    corrupt: Option<Refusal>,
    newer: Option<Refusal>,
    older: Option<Refusal>,
    incomplete: Option<bool>,
    not_holotype: Option<bool>,
    value: Option<Box<RawValue>>,
    bytes: Option<Hex>,
    entries: Option<Vec<Hex>>,
    entry: Option<(Hex, Hex)>,
    text: Option<String>,
    order: Option<String>,
    equal: Option<bool>,
    none: Option<bool>,
    rejected: Option<Rejection>,
    unsupported: Option<bool>,
    error: Option<String>,
}

/// The answer that a line gives to the request `id`.
///
/// # Errors
/// Why it is none.
pub fn parse(line: &str, id: u64) -> Result<Answer, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| format!("no answer: {error}"))?;
    if line.id != Some(id) {
        return Err(format!("an answer to request {:?} where one to {id} is due", line.id));
    }
    if let Some(error) = line.error {
        return Err(format!("the subject says: {error}"));
    }
    let order = match (line.order, line.equal) {
        (Some(order), Some(equal)) => Some(Answer::Order(Order { order, equal })),
        (None, None) => None,
        _ => return Err("`order` and `equal` come together".to_owned()),
    };
    let is = |field: Option<bool>, answer: Answer| field.filter(|is| *is).map(|_| answer);
    let given = [
        line.state.map(Answer::State),
        line.corrupt.map(Answer::Corrupt),
        line.newer.map(Answer::Newer),
        line.older.map(Answer::Older),
        is(line.incomplete, Answer::Incomplete),
        is(line.not_holotype, Answer::NotHolotype),
        line.value.map(Answer::Value),
        line.bytes.map(Answer::Bytes),
        line.entries.map(Answer::Entries),
        line.entry.map(Answer::Entry),
        line.text.map(Answer::Text),
        order,
        is(line.none, Answer::None),
        line.rejected.map(Answer::Rejected),
        is(line.unsupported, Answer::Unsupported),
    ];
    let mut given = given.into_iter().flatten();
    match (given.next(), given.next()) {
        (Some(answer), None) => Ok(answer),
        (None, _) => Err("an answer that says nothing".to_owned()),
        _ => Err("an answer that says two things".to_owned()),
    }
}

/// Whether `answer` is the outcome `expected`; else what is wrong with it.
///
/// # Errors
/// The difference, in words.
pub fn check(
    request: &Request,
    expected: &Outcome,
    states: &BTreeMap<String, State>,
    answer: &Answer,
) -> Result<(), String> {
    match (expected, answer) {
        (Outcome::State(name), Answer::State(found)) => {
            let state = states.get(name).ok_or_else(|| format!("the manifest has no state {name}"))?;
            // A writer may have placed a commit of its own already, such as an opening.
            let is_written = matches!(request, Request::OpenWrite { .. });
            same_state(&State { lsn: state.lsn.clone().filter(|_| !is_written), ..state.clone() }, found)
        }
        (Outcome::Corrupt(place), Answer::Corrupt(found))
        | (Outcome::Newer(place), Answer::Newer(found))
        | (Outcome::Older(place), Answer::Older(found)) => same_place(place, found),
        (Outcome::Incomplete(_), Answer::Incomplete)
        | (Outcome::NotHolotype(_), Answer::NotHolotype)
        | (Outcome::None(_), Answer::None) => Ok(()),
        (Outcome::Value(expected), Answer::Value(found)) => {
            same_meaning(expected, found.get(), Mode::Canonical)
        }
        (Outcome::Text(expected), Answer::Text(found)) => {
            let Request::WriteJson { mode, .. } = request else {
                return Err("a text was not asked for".into());
            };
            same_meaning(expected, found, *mode)
        }
        (Outcome::Bytes(expected), Answer::Bytes(found)) => same("bytes", expected, found),
        (Outcome::Entries(expected), Answer::Entries(found)) => same("entries", expected, found),
        (Outcome::Entry(expected), Answer::Entry(found)) => {
            same("key", &expected.0, &found.0)?;
            same("document", &expected.1, &found.1)
        }
        (Outcome::Order(expected), Answer::Order(found)) => {
            same("order", &expected.order, &found.order)?;
            same("equality", &expected.equal, &found.equal)
        }
        (Outcome::Rejected(expected), Answer::Rejected(found)) => {
            said("line", expected.line.as_ref(), found.line.as_ref())?;
            said("column", expected.column.as_ref(), found.column.as_ref())?;
            said("operation", expected.operation.as_ref(), found.operation.as_ref())
        }
        _ => Err(format!("expected {}, found {}", name_of_outcome(expected), name_of(answer))),
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("{what}: expected {expected:?}, found {found:?}")) }
}

/// What the case asks for must be right where the subject says it.
fn said<T: PartialEq + std::fmt::Debug>(
    what: &str,
    expected: Option<&T>,
    found: Option<&T>,
) -> Result<(), String> {
    match (expected, found) {
        (Some(expected), Some(found)) => same(what, expected, found),
        _ => Ok(()),
    }
}

fn same_place(expected: &Place, found: &Refusal) -> Result<(), String> {
    said("offset", expected.at.as_ref(), found.at.as_ref())?;
    match &found.clause {
        Some(clause) if !expected.clauses.is_empty() && !expected.clauses.contains(clause) => {
            Err(format!("clause: expected one of {:?}, found {clause:?}", expected.clauses))
        }
        _ => Ok(()),
    }
}

fn same_meaning(expected: &RawValue, found: &str, mode: Mode) -> Result<(), String> {
    let expected =
        meaning::read(expected.get(), Mode::Canonical).map_err(|what| format!("the manifest: {what}"))?;
    same("value", &expected, &meaning::read(found, mode)?)
}

/// Whether two states are the same, as far as the second says.
///
/// # Errors
/// The difference, in words.
pub fn same_state(expected: &State, found: &State) -> Result<(), String> {
    said("last commit", expected.lsn.as_ref(), found.lsn.as_ref())?;
    let names = |state: &State| state.collections.iter().map(|each| each.name.clone()).collect::<Vec<_>>();
    same("collections", &names(expected), &names(found))?;
    for (expected, found) in expected.collections.iter().zip(&found.collections) {
        let of = |what: &str| format!("{what} of {:?}", expected.name);
        said(&of("next id"), expected.next.as_ref(), found.next.as_ref())?;
        same(&of("documents"), &expected.documents, &found.documents)?;
        said(&of("indexes"), expected.indexes.as_ref(), found.indexes.as_ref())?;
    }
    Ok(())
}

fn name_of_outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::State(name) => format!("the state {name}"),
        Outcome::Corrupt(place) => format!("corruption {place:?}"),
        Outcome::Newer(_) => "a newer format".to_owned(),
        Outcome::Older(_) => "an older format".to_owned(),
        other => format!("{other:?}"),
    }
}

fn name_of(answer: &Answer) -> String {
    match answer {
        Answer::State(state) => {
            let count: usize = state.collections.iter().map(|each| each.documents.len()).sum();
            format!("a state of {count} documents at {:?}", state.lsn)
        }
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_one_thing_and_to_the_request_that_was_made() {
        assert!(matches!(parse(r#"{"id":1,"none":true}"#, 1), Ok(Answer::None)));
        for wrong in [
            r#"{"id":2,"none":true}"#,
            r#"{"id":1}"#,
            r#"{"id":1,"none":false}"#,
            r#"{"id":1,"none":true,"incomplete":true}"#,
            r#"{"id":1,"order":"less"}"#,
            r#"{"id":1,"error":"what?"}"#,
            r#"{"id":1,"bytes":"xyz"}"#,
            "garbage",
        ] {
            assert!(parse(wrong, 1).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_state_differs_by_one_byte_of_one_document() {
        let state = |document: &[u8]| State {
            lsn: None,
            collections: vec![crate::case::Collection {
                name: "a".into(),
                next: None,
                documents: vec![(vec![1].into(), document.into())],
                indexes: None,
            }],
        };
        assert_eq!(same_state(&state(&[0xa0]), &state(&[0xa0])), Ok(()));
        assert!(same_state(&state(&[0xa0]), &state(&[0xa1])).is_err());
    }
}
