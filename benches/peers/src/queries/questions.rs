//! What a question is, and what answers and models of it have in common.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use holotype::document::RawDocument;
use holotype::query::{Expression, Filter};
use holotype::{Collection, DocRef, Document, IndexEntry, Key, Query, Result, Value};

use super::data::Item;
use crate::failure;

/// What an answer came to: how many rows, and a sum over them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Came {
    pub count: u64,
    pub sum: i64,
}

impl Came {
    pub fn and(self, other: Came) -> Came {
        Came { count: self.count + other.count, sum: self.sum.wrapping_add(other.sum) }
    }
}

/// How often a question is asked in a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Of all documents: a few times.
    Whole,
    /// Of one of them, another each time.
    One,
    /// Of a few of them: as one by an index, as the whole by none.
    Few,
}

/// A question about one field.
#[derive(Debug, Clone, Copy)]
pub enum ByField {
    Int(&'static str, fn(i64) -> i64),
    Text(&'static str, fn(i64) -> String),
    Range(&'static str, i64, i64),
}

pub type Ours = fn(&Collection, i64) -> Result<Came>;
pub type ByHand = fn(&dyn Loop, i64) -> failure::Result<Came>;
pub type Right = fn(&[Item], i64) -> Came;

/// All documents by their ids, as a loop of the caller's goes through them.
pub trait Loop {
    fn each(&self, each: &mut dyn FnMut(i64, RawDocument<'_>)) -> failure::Result<()>;
}

pub struct Question {
    pub row: &'static str,
    pub asked: Asked,
    pub ours: Ours,
    /// The same by a loop over the same documents and accessors, where a caller would write one.
    pub by_hand: Option<ByHand>,
    /// The first column is added up, and the others are read. `?1` is the number of the call, and what follows are its texts.
    pub sql: &'static str,
    pub texts: fn(i64) -> Vec<String>,
    /// The same where there are indexes, if it is asked in another way.
    pub sql_by_index: Option<&'static str>,
    /// The same for a store that finds by one field.
    pub by_field: Option<ByField>,
    /// Whether it names an index, so that it is asked only where there is one.
    pub names_index: bool,
    /// Whether documents are decoded.
    pub decoded: bool,
    pub right: Right,
}

const fn question(row: &'static str, asked: Asked, ours: Ours, sql: &'static str, right: Right) -> Question {
    Question {
        row,
        asked,
        ours,
        by_hand: None,
        sql,
        texts: |_| Vec::new(),
        sql_by_index: None,
        by_field: None,
        names_index: false,
        decoded: false,
        right,
    }
}

pub const fn whole(row: &'static str, ours: Ours, sql: &'static str, right: Right) -> Question {
    question(row, Asked::Whole, ours, sql, right)
}

pub const fn one(row: &'static str, ours: Ours, sql: &'static str, right: Right) -> Question {
    question(row, Asked::One, ours, sql, right)
}

pub const fn few(row: &'static str, ours: Ours, sql: &'static str, right: Right) -> Question {
    question(row, Asked::Few, ours, sql, right)
}

impl Question {
    pub const fn beside(self, by_hand: ByHand) -> Self {
        Question { by_hand: Some(by_hand), ..self }
    }

    pub const fn by_field(self, by_field: ByField) -> Self {
        Question { by_field: Some(by_field), ..self }
    }

    pub const fn by_index(self) -> Self {
        Question { names_index: true, ..self }
    }

    pub const fn or_by_index(self, sql: &'static str) -> Self {
        Question { sql_by_index: Some(sql), ..self }
    }

    pub const fn with_texts(self, texts: fn(i64) -> Vec<String>) -> Self {
        Question { texts, ..self }
    }

    pub const fn decoded(self) -> Self {
        Question { decoded: true, ..self }
    }
}

thread_local! {
    static PARSED: RefCell<HashMap<&'static str, Filter>> = RefCell::default();
    static EXPRESSIONS: RefCell<HashMap<&'static str, Expression>> = RefCell::default();
}

/// The query of this filter, which is parsed once, as a statement is prepared once.
pub fn find<'c>(collection: &'c Collection, text: &'static str) -> Query<'c, Collection> {
    PARSED.with_borrow_mut(|parsed| match parsed.get(text) {
        Some(filter) => collection.find(filter),
        None => match Filter::parse(text) {
            Ok(filter) => collection.find(&*parsed.entry(text).or_insert(filter)),
            // The query tells what is wrong with it.
            Err(_) => collection.find(text),
        },
    })
}

/// What this gives of a document, parsed once as well.
pub fn of(text: &'static str) -> Expression {
    EXPRESSIONS.with_borrow_mut(|parsed| {
        parsed.entry(text).or_insert_with(|| Expression::parse(text).expect("the rows are sound")).clone()
    })
}

/// The same in any order, as a statement without one.
pub fn any<'c>(collection: &'c Collection, text: &'static str) -> Query<'c, Collection> {
    find(collection, text).unordered()
}

pub fn came(all: impl Iterator<Item = i64>) -> Came {
    all.fold(Came::default(), |came, one| came.and(Came { count: 1, sum: one }))
}

fn each<T>(found: impl Iterator<Item = Result<T>>, of: impl Fn(&T) -> Result<i64>) -> Result<Came> {
    let mut came = Came::default();
    for found in found {
        came = came.and(Came { count: 1, sum: of(&found?)? });
    }
    Ok(came)
}

pub fn int(key: &Key) -> i64 {
    if let Key::Int(int) = key { *int } else { 0 }
}

pub fn id(found: &DocRef) -> i64 {
    int(&found.key().to_key())
}

/// Documents as they lie.
pub fn each_document(found: impl Iterator<Item = Result<DocRef>>) -> Result<Came> {
    each(found, |found| {
        std::hint::black_box(found.bytes());
        Ok(id(found))
    })
}

/// Documents, decoded.
pub fn each_decoded(found: impl Iterator<Item = Result<DocRef>>) -> Result<Came> {
    each(found, |found| {
        std::hint::black_box(found.to_document()?);
        Ok(id(found))
    })
}

/// The values of entries, and their keys.
pub fn each_entry(found: impl Iterator<Item = Result<IndexEntry>>) -> Result<Came> {
    each(found, |entry| {
        std::hint::black_box(entry.values());
        Ok(int(entry.key()))
    })
}

pub fn documents(query: Query<'_, Collection>) -> Result<Came> {
    each_document(query.run()?)
}

pub fn keys(query: Query<'_, Collection>) -> Result<Came> {
    each(query.keys()?, |key| Ok(int(key)))
}

pub fn count(query: Query<'_, Collection>) -> Result<Came> {
    Ok(Came { count: 1, sum: query.count()? as i64 })
}

/// Only these parts of each document, and a field of them.
pub fn parts<const N: usize>(query: Query<'_, Collection>, paths: [&str; N], field: &str) -> Result<Came> {
    each(query.project(paths).run()?, |part| {
        Ok(part.get(field).and_then(|value| value.as_i64()).unwrap_or_default())
    })
}

/// The counts of groups.
pub fn counts(groups: &[Document]) -> Came {
    came(groups.iter().filter_map(|group| group.get("count")?.as_i64()))
}

/// The one aggregate of the one group.
pub fn only(groups: &[Document], name: &str, of: &str) -> Came {
    let one = |group: &Document| match group.get(name)? {
        Value::Object(results) => results.get(of)?.as_i64(),
        _ => None,
    };
    came(groups.iter().filter_map(one))
}

pub const NONE: [&str; 0] = [];

/// The ids of the documents that a closure admits.
pub fn by_hand(all: &dyn Loop, admits: impl Fn(RawDocument<'_>) -> bool) -> failure::Result<Came> {
    let mut came = Came::default();
    all.each(&mut |id, document| {
        if admits(document) {
            std::hint::black_box(document.as_bytes());
            came = came.and(Came { count: 1, sum: id });
        }
    })?;
    Ok(came)
}

/// What a closure makes of the value of each document, added up.
pub fn added(all: &dyn Loop, add: impl Fn(i64) -> i64) -> failure::Result<Came> {
    let mut sum = 0;
    all.each(&mut |_, document| sum += add(value_of(document)))?;
    Ok(Came { count: 1, sum })
}

pub fn value_of(document: RawDocument<'_>) -> i64 {
    int_at(document, "value")
}

pub fn int_at(document: RawDocument<'_>, name: &str) -> i64 {
    document.get(name).and_then(|value| value.as_i64()).unwrap_or(-1)
}

pub fn text_at<'d>(document: RawDocument<'d>, name: &str) -> &'d str {
    document.get(name).and_then(|value| value.as_str()).unwrap_or_default()
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
pub fn grouped<K: Ord>(items: &[Item], of: impl Fn(&Item) -> K, admits: impl Fn(&Item) -> bool) -> Came {
    let all: Vec<K> = items.iter().filter(|item| admits(item)).map(of).collect();
    let places: BTreeSet<_> = all.iter().collect();
    Came { count: places.len() as u64, sum: all.len() as i64 }
}

/// What the distinct values of a field come to.
pub fn distinct(items: &[Item], of: impl Fn(&Item) -> i64) -> BTreeSet<i64> {
    items.iter().map(of).collect()
}
