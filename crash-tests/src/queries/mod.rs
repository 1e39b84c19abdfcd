//! Filters, queries and groups over collections in every state: as the engine answers them, and as the model does.

mod filters;
mod groups;
mod make;
mod planned;
mod question;
mod refused;
mod store;
mod told;

use std::collections::BTreeMap;

use holotype::query::JsonPath;
use holotype::{Document, Error, Key, PlanReads, Value};
use holotype_model as model;
use holotype_model::check::Rng;

pub use filters::{filter, text};
pub use groups::groups;
pub use planned::planned;

use crate::convert;
use crate::input::Input;
use filters::Parameters;
use question::{Answers, MEMORIES, Question, answers, expression, to_answers};
use store::WithScratch;

/// Of a case from a seed: what is too short has a question and no documents.
const BYTES_MIN: usize = 200;
const BYTES_MAX: usize = 800;

type Documents = BTreeMap<model::Key, model::Document>;

/// What was seen, so that a run which tries nothing is told.
#[derive(Debug, Default, Clone, Copy)]
#[expect(missing_docs, reason = "counts of what the names say")]
pub struct Seen {
    pub cases: u64,
    pub valid: u64,
    pub admitted: u64,
    pub selected: u64,
    pub answered: u64,
    pub empty: u64,
    pub pages: u64,
    pub sorted: u64,
    pub groups: u64,
    pub overflows: u64,
    pub spilled: u64,
    pub by_index: u64,
    pub by_partial: u64,
    pub in_order: u64,
    pub by_entries: u64,
    pub by_values: u64,
    pub by_ends: u64,
    pub projected: u64,
}

impl Seen {
    fn one() -> Self {
        Seen { cases: 1, ..Seen::default() }
    }

    /// What answered groups or distinct values.
    fn told(&mut self, reads: PlanReads) {
        self.by_entries += u64::from(reads == PlanReads::Entries);
        self.by_values += u64::from(reads == PlanReads::Values);
        self.by_ends += u64::from(reads == PlanReads::Ends);
    }
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, other: Self) {
        self.cases += other.cases;
        self.valid += other.valid;
        self.admitted += other.admitted;
        self.selected += other.selected;
        self.answered += other.answered;
        self.empty += other.empty;
        self.pages += other.pages;
        self.sorted += other.sorted;
        self.groups += other.groups;
        self.overflows += other.overflows;
        self.spilled += other.spilled;
        self.by_index += other.by_index;
        self.by_partial += other.by_partial;
        self.in_order += other.in_order;
        self.by_entries += other.by_entries;
        self.by_values += other.by_values;
        self.by_ends += other.by_ends;
        self.projected += other.projected;
    }
}

/// A case from bytes.
pub type Case = fn(&[u8]) -> Result<Seen, String>;

/// Every kind of case.
pub const CASES: [Case; 5] = [text, filter, query, groups, planned];

/// The bytes of a seed.
pub fn bytes_of(seed: u64) -> Vec<u8> {
    let mut rng = Rng::seeded(seed);
    (0..BYTES_MIN + rng.below(BYTES_MAX)).map(|_| rng.below(256) as u8).collect()
}

/// Asks questions that come from seeds from `seed` on, `cases` of each kind.
///
/// # Errors
/// The seed of the first on which engine and model do not agree, and how.
pub fn every_check(seed: u64, cases: u64) -> Result<u64, (u64, String)> {
    refused::every_check().map_err(|what| (seed, what))?;
    for seed in seed..seed.saturating_add(cases) {
        let bytes = bytes_of(seed);
        for case in CASES {
            case(&bytes).map_err(|what| (seed, what))?;
        }
    }
    Ok(cases * CASES.len() as u64)
}

fn parameters(input: &mut Input<'_>) -> Parameters {
    let list = model::Value::Array((0..3).map(|_| make::scalar(input)).collect());
    BTreeMap::from([("x".to_owned(), make::scalar(input)), ("list".to_owned(), list)])
}

fn documents(input: &mut Input<'_>) -> Documents {
    (0..input.below(14)).map(|_| (make::key(input), make::document(input, 2))).collect()
}

/// A question to a collection as a transaction has it, and then as a snapshot or the newest commit does.
///
/// # Errors
/// How engine and model do not agree on an answer.
pub fn query(bytes: &[u8]) -> Result<Seen, String> {
    let say = |error: Error| error.to_string();
    let mut input = Input::new(bytes);
    let (question, documents) = (Question::new(&mut input), documents(&mut input));
    let mut seen = Seen::one();
    let file = WithScratch::default();
    let db = file.open()?;
    db.create_collection("birds").map_err(say)?;
    let birds = db.collection("birds");
    // The second half is put by the transaction itself.
    let half = documents.len() / 2;
    for (key, document) in documents.iter().take(half) {
        birds.put(convert::key(key), convert::document(document)).map_err(say)?;
    }
    let tx = db.begin_write().map_err(say)?;
    for (key, document) in documents.iter().skip(half) {
        tx.collection("birds").put(convert::key(key), convert::document(document)).map_err(say)?;
    }
    hold!(tx.collection("birds"), &question, &documents, &mut input, &mut seen);
    tx.commit().map_err(say)?;
    if input.below(2) == 0 {
        let snapshot = db.snapshot();
        birds.clear().map_err(say)?;
        hold!(snapshot.collection("birds").map_err(say)?, &question, &documents, &mut input, &mut seen);
    } else {
        hold!(birds, &question, &documents, &mut input, &mut seen);
    }
    seen.spilled = file.asked();
    Ok(seen)
}

/// The types of the three views have no name in common.
macro_rules! hold {
    ($view:expr, $question:expr, $documents:expr, $input:expr, $seen:expr) => {{
        let (view, question): (_, &Question) = (&$view, $question);
        let (documents, input, seen): (&Documents, &mut Input<'_>, &mut Seen) = ($documents, $input, $seen);
        let (right, text) = (&question.right, &question.text);
        let say = |error: Error| format!("{text}: {error}");
        let same = |what: &str, found: &Answers, expected: &Answers| {
            ensure(found == expected, || {
                format!("{what}, {text} of {documents:?}: {found:?}, and the model has {expected:?}")
            })
        };
        let unlimited = || {
            let query = match &question.filter {
                Some(filter) => view.find(filter),
                None => view.find(..),
            };
            let query = query.sort_memory(question.memory);
            let sorted = question.sorts.iter().fold(query, |query, sort| query.sort(sort.clone()));
            question.bound().fold(sorted, |query, (name, value)| query.bind(name.as_str(), value))
        };
        let ask = || {
            let query = unlimited().skip(right.skip as u64);
            right.limit.iter().fold(query, |query, limit| query.limit(*limit as u64))
        };
        let members = right.answers(documents);
        let expected = to_answers(&members);
        same("answers", &answers(ask().run().map_err(say)?).map_err(say)?, &expected)?;
        let keys = ask().keys().map_err(say)?.collect::<Result<Vec<Key>, _>>().map_err(say)?;
        ensure(keys.iter().eq(expected.iter().map(|(key, _)| key)), || format!("keys, {text}: {keys:?}"))?;
        let (count, exists) = (ask().count().map_err(say)?, ask().exists().map_err(say)?);
        ensure((count, exists) == (expected.len() as u64, !expected.is_empty()), || {
            format!("{count} answers, {exists}, {text} of {documents:?}")
        })?;
        let first = ask().first().map_err(say)?.map(|first| first.key().to_key());
        ensure(first.as_ref() == expected.first().map(|(key, _)| key), || {
            format!("first, {text}: {first:?}")
        })?;
        match (ask().at_most_one(), expected.len()) {
            (Ok(found), 0 | 1) if found.is_some() == (expected.len() == 1) => {}
            (Err(Error::NotOne { found: 2 }), 2..) => {}
            (other, len) => return Err(format!("at most one of {len}: {other:?}, {text}")),
        }

        // Pages of any length, each from the cursor of the one before, are the whole.
        let whole = model::query::Query { skip: 0, limit: None, ..right.clone() };
        let whole = to_answers(&whole.answers(documents));
        let (mut pages, mut cursor, len) = (Vec::new(), None::<String>, 1 + input.below(5));
        loop {
            let mut query = unlimited().limit(len as u64);
            if let Some(cursor) = &cursor {
                query = query.after(cursor.parse().map_err(say)?);
            }
            let mut page = query.run().map_err(say)?;
            let before = pages.len();
            pages.extend(answers(page.by_ref()).map_err(say)?);
            if pages.len() == before || pages.len() > whole.len() {
                break;
            }
            cursor = page.cursor().map(|cursor| cursor.to_string());
            seen.pages += 1;
        }
        same("pages", &pages, &whole)?;

        // From any place: of a document that is not there, too.
        let (key, document) = (make::key(input), make::document(input, 2));
        let after = model::query::Query { after: Some(right.place(&key, &document)), ..right.clone() };
        let cursor = ask().cursor_at(convert::key(&key), &convert::document(&document)).map_err(say)?;
        let behind = to_answers(&after.answers(documents));
        let found = answers(ask().after(cursor.clone()).run().map_err(say)?).map_err(say)?;
        same("after a place", &found, &behind)?;
        let count = ask().after(cursor).count().map_err(say)?;
        ensure(count == behind.len() as u64, || format!("{count} after {key:?}, {text}"))?;

        let of = expression(input, false);
        if !of.contains("arg(") {
            let right_of = model::query::Expression::parse(&of)?;
            let mut members = members.clone();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            let values = model::query::distinct(&members, &right_of, &right.parameters);
            let found = ask().distinct(&of).map_err(say)?;
            let expected: Vec<Value> = values.iter().map(convert::value).collect();
            ensure(found == expected, || format!("distinct {of}, {text}: {found:?}, {expected:?}"))?;
        }

        let paths: Vec<String> =
            (0..=input.below(3)).map(|_| format!("${}", make::segments(input, 1, false))).collect();
        let right_paths: Result<Vec<_>, _> =
            paths.iter().map(|path| model::query::Path::parse(path)).collect();
        if let Ok(right_paths) = right_paths
            && paths.iter().all(|path| JsonPath::parse(path).is_ok())
        {
            let parts = ask().project(&paths).run().map_err(say)?;
            let parts = parts.map(|part| part.and_then(|part| part.to_document()));
            let parts = parts.collect::<Result<Vec<Document>, _>>().map_err(say)?;
            let part = |(key, document): &(model::Key, model::Document)| {
                convert::document(&model::query::project(key, document, &right_paths))
            };
            let expected: Vec<Document> = members.iter().map(part).collect();
            ensure(parts == expected, || format!("{paths:?}, {text}: {parts:?}, {expected:?}"))?;
        }
        seen.answered += expected.len() as u64;
        seen.empty += u64::from(whole.is_empty());
        seen.sorted += u64::from(!question.sorts.is_empty());
    }};
}
use crate::story::ensure;
use hold;
