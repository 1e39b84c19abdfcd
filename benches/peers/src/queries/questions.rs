//! What a question is, and what answers and models of it have in common.

use std::ops::ControlFlow;

use holotype::{Collection, DocRef, Document, Key, Query, Result, Value};

use super::data::Item;

/// What an answer came to: how many rows, and a sum over them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Came {
    pub count: u64,
    pub sum: i64,
}

/// How often a question is asked in a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Of all documents: a few times.
    Whole,
    /// Of one of them, another each time.
    One,
}

/// A question about one field.
#[derive(Debug, Clone, Copy)]
pub enum ByField {
    Int(&'static str, fn(i64) -> i64),
    Text(&'static str, fn(i64) -> String),
    Below(&'static str, i64),
    Range(&'static str, i64, i64),
}

pub type Ours = fn(&Collection, i64) -> Result<Came>;

pub struct Question {
    pub row: &'static str,
    pub asked: Asked,
    pub ours: Ours,
    /// The same by a loop of the caller's over the same documents and accessors, where it is of interest.
    pub by_hand: Option<Ours>,
    /// The first column is added up, and the others are read. `?1` is the number of the call.
    pub sql: &'static str,
    /// The same for a store that finds by one field.
    pub by_field: Option<ByField>,
    pub right: fn(&[Item], i64) -> Came,
}

pub fn came(all: impl Iterator<Item = i64>) -> Came {
    all.fold(Came::default(), |came, one| Came { count: came.count + 1, sum: came.sum + one })
}

fn each<T>(found: impl Iterator<Item = Result<T>>, of: impl Fn(&T) -> i64) -> Result<Came> {
    found
        .map(|found| found.map(|found| of(&found)))
        .collect::<Result<Vec<_>>>()
        .map(|all| came(all.into_iter()))
}

pub fn int(key: &Key) -> i64 {
    if let Key::Int(int) = key { *int } else { 0 }
}

pub fn documents(query: Query<'_, Collection>) -> Result<Came> {
    each(query.run()?, |found: &DocRef| {
        std::hint::black_box(found.bytes());
        int(&found.key().to_key())
    })
}

pub fn keys(query: Query<'_, Collection>) -> Result<Came> {
    each(query.keys()?, int)
}

pub fn count(query: Query<'_, Collection>) -> Result<Came> {
    Ok(Came { count: 1, sum: query.count()? as i64 })
}

/// The counts of groups.
pub fn counts(groups: &[Document]) -> Came {
    came(groups.iter().filter_map(|group| group.get("count")?.as_i64()))
}

/// The one aggregate of the one group.
pub fn only(groups: &[Document], name: &str) -> Came {
    let one = |group: &Document| match group.get(name)? {
        Value::Object(results) => results.get("$.value")?.as_i64(),
        _ => None,
    };
    came(groups.iter().filter_map(one))
}

pub const NONE: [&str; 0] = [];

/// Keys of the documents that a closure admits, by a visit of all.
pub fn by_hand(birds: &Collection, admits: impl Fn(&holotype::DocView<'_>) -> bool) -> Result<Came> {
    let mut came = Came::default();
    let end: Option<()> = birds.scan(..)?.visit(|document| {
        if admits(&document) {
            came = Came { count: came.count + 1, sum: came.sum + int(&document.key().to_key()) };
        }
        ControlFlow::Continue(())
    })?;
    debug_assert!(end.is_none());
    Ok(came)
}

pub fn value_of(document: &holotype::DocView<'_>) -> i64 {
    document.get("value").and_then(|value| value.as_i64()).unwrap_or(-1)
}

/// The ids of the items that a closure admits.
pub fn ids(items: &[Item], admits: impl Fn(&Item) -> bool) -> Came {
    came(items.iter().filter(|item| admits(item)).map(|item| item.id))
}

/// The first hundred by a key.
pub fn first<K: Ord>(items: &[Item], by: impl Fn(&Item) -> K) -> Came {
    let mut sorted: Vec<&Item> = items.iter().collect();
    sorted.sort_by_key(|item| by(item));
    came(sorted.into_iter().take(100).map(|item| item.id))
}

/// How many groups there are among the items, and how many items.
pub fn grouped(items: &[Item], of: impl Fn(&Item) -> i64, admits: impl Fn(&Item) -> bool) -> Came {
    let all: Vec<i64> = items.iter().filter(|item| admits(item)).map(of).collect();
    let places: std::collections::BTreeSet<_> = all.iter().collect();
    Came { count: places.len() as u64, sum: all.len() as i64 }
}
