//! Queries of a collection, distinct values, groups and projections: what the model answers.

use std::collections::BTreeMap;

use holotype_model::query::{Filter, Path, Query, project};
use holotype_model::{Document, Key, Value};

use super::birds::{Documents, birds, pairs, sort};
use super::filters::{args_of, list};
use super::ladder::{array, bytes, document, object, text};
use super::{Maker, grouped, invalid, rejected, valid};
use crate::case::{Group, Outcome, Request};
use crate::forge::cbor;
use crate::question::{Asked, SortBy};

fn args() -> BTreeMap<String, Value> {
    BTreeMap::from([("least".to_owned(), Value::Int(1))])
}

/// What a query asks, in a line; and both forms of it.
#[derive(Default)]
struct Line {
    filter: Option<&'static str>,
    sorts: &'static [&'static str],
    skip: usize,
    limit: Option<usize>,
    after: Option<(Key, Document)>,
}

impl Line {
    fn both(&self, documents: &Documents) -> (Query, Asked) {
        let (sorts, sort) = self.sorts.iter().map(|text| sort(text)).unzip();
        let filter =
            self.filter.map(|text| Filter::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")));
        let mut right =
            Query { filter, sorts, parameters: args(), skip: self.skip, limit: self.limit, after: None };
        right.after = self.after.as_ref().map(|(key, document)| right.place(key, document));
        let asked = Asked {
            documents: pairs(documents),
            filter: self.filter.map(str::to_owned),
            args: args_of(self.filter.unwrap_or_default(), &args()),
            sort,
            skip: (self.skip > 0).then_some(self.skip as u64),
            limit: self.limit.map(|limit| limit as u64),
            after: self.after.as_ref().map(|(key, of)| (cbor::key(key).into(), cbor::document(of).into())),
        };
        (right, asked)
    }

    fn name(&self) -> String {
        let mut name = self.filter.map_or_else(|| "All documents".to_owned(), |filter| format!("`{filter}`"));
        for sort in self.sorts {
            name = format!("{name}, by `{sort}`");
        }
        if self.skip > 0 {
            name = format!("{name}, without the first {}", self.skip);
        }
        if let Some(limit) = self.limit {
            name = format!("{name}, at most {limit}");
        }
        match &self.after {
            Some((key, _)) => format!("{name}, after the place of {key:?}"),
            None => name,
        }
    }
}

pub(super) fn make() -> Group {
    let mut maker = Maker::new(
        "queries",
        "Queries of a collection: keys in their order, distinct values, groups and sums; and projections of a document",
    );
    found(&mut maker);
    refused(&mut maker);
    grouped::distinct_values(&mut maker);
    grouped::groups(&mut maker);
    grouped::sums(&mut maker);
    projections(&mut maker);
    maker.finish()
}

fn key_value(key: Key) -> Value {
    match key {
        Key::Int(int) => Value::Int(int),
        Key::Text(text) => Value::Text(text),
        Key::Bytes(bytes) => Value::Bytes(bytes),
    }
}

fn find(maker: &mut Maker, clauses: &[&str], line: &Line) -> Vec<Key> {
    let documents = birds();
    let (right, asked) = line.both(&documents);
    let keys: Vec<Key> = right.answers(&documents).into_iter().map(|(key, _)| key).collect();
    let expect = list(keys.iter().cloned().map(key_value).collect());
    maker.case(&valid(clauses, &["QueryOrder"]), line.name(), Request::Find { asked }, expect);
    keys
}

fn found(maker: &mut Maker) {
    let filters = [
        None,
        Some("@.n"),
        Some("!@.n"),
        Some("@.n == 1"),
        Some("@.n < 2"),
        Some("@.n >= arg('least')"),
        Some("@.n != 1"),
        Some("key() >= 'a'"),
        Some("key() <= 'a'"),
        Some("key() > 7"),
        Some("key() < 'a' && @.n"),
        Some("starts_with(key(), 'a')"),
        Some("in(key(), 7, 'b', 8)"),
        Some("@.t == 'none'"),
    ];
    for filter in filters {
        find(maker, &["Q-7.1"], &Line { filter, ..Line::default() });
    }
    const SORTS: [&[&str]; 14] = [
        &["$.n"],
        &["$.n desc"],
        &["$.n first"],
        &["$.n last"],
        &["$.n desc first"],
        &["$.n desc last"],
        &["key()"],
        &["key() desc"],
        &["$.t", "$.n desc"],
        &["$.t desc", "key() desc"],
        &["$.n[0]"],
        &["$.n[0] desc first", "$.t"],
        &["length(@.n) last"],
        &["type(@.n)", "$.n"],
    ];
    for sorts in SORTS {
        let all = find(maker, &["Q-7.2"], &Line { sorts, ..Line::default() });
        assert_eq!(all.len(), birds().len(), "{sorts:?} leaves nothing out");
        find(maker, &["Q-7.3"], &Line { sorts, skip: 3, limit: Some(4), ..Line::default() });
        find(maker, &["Q-7.3"], &Line { sorts, filter: Some("@.n"), limit: Some(1), ..Line::default() });
        for key in [Key::from("ab"), Key::Int(0), Key::Int(5)] {
            // One that is there, as it is; and one that is not.
            let of = birds().get(&key).cloned().unwrap_or_else(|| document([("n", Value::Float(1.0))]));
            let line = Line { sorts, after: Some((key, of)), limit: Some(5), ..Line::default() };
            find(maker, &["Q-7.4"], &line);
        }
    }
    find(maker, &["Q-7.3"], &Line { skip: 100, ..Line::default() });
    find(maker, &["Q-7.3"], &Line { limit: Some(0), ..Line::default() });
    for key in [Key::Int(3), Key::Bytes(vec![0, 1])] {
        let line = Line { after: Some((key, Document::new())), skip: 1, ..Line::default() };
        find(maker, &["Q-7.4"], &line);
    }
}

fn refused(maker: &mut Maker) {
    let sorted = |by: &str| Asked {
        documents: pairs(&birds()),
        sort: vec![SortBy { by: by.to_owned(), descending: false, nothing: None }],
        ..Asked::default()
    };
    for by in ["$.n[*]", "$..n", "1", "@.n == 1", "$.n["] {
        let name = format!("`{by}` is refused as a sort");
        let request = Request::Find { asked: sorted(by) };
        maker.case(&invalid(&["Q-7.2"], &["QuerySyntax"]), name, request, rejected());
    }
}

fn projections(maker: &mut Maker) {
    let of = document([
        (
            "a",
            array([
                Value::Int(0),
                object([("b", Value::Int(1)), ("c", Value::Null)]),
                array([Value::Int(2)]),
            ]),
        ),
        ("b", object([("a", object([("b", text("deep"))])), ("x", bytes(b"x"))])),
        ("c", Value::Float(1.5)),
    ]);
    const PATHS: [&[&str]; 12] = [
        &[],
        &["$.c"],
        &["$.a[1].b"],
        &["$.a[0]", "$.a[2]"],
        &["$..b"],
        &["$.a", "$.a[1]"],
        &["$.b.a.b", "$.b.x"],
        &["$.missing"],
        &["$"],
        &["$.a[?@ == 0]"],
        &["$.a[::-1]", "$.c"],
        &["$.b[?@.b]"],
    ];
    for paths in PATHS {
        let parsed: Vec<Path> = paths.iter().map(|path| Path::parse(path).expect("it is one")).collect();
        let part = project(&Key::Int(1), &of, &parsed);
        let request = Request::Project {
            bytes: cbor::document(&of).into(),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        };
        let expect = vec![Outcome::Bytes(cbor::document(&part).into())];
        maker.case(
            &valid(&["Q-8.1"], &["ProjectionShape"]),
            format!("The projection by {paths:?}"),
            request,
            expect,
        );
    }
    let request = Request::Project { bytes: cbor::document(&of).into(), paths: vec!["$.".to_owned()] };
    let name = "A projection by what is no path is refused";
    maker.case(&invalid(&["Q-8.1"], &["QuerySyntax"]), name, request, rejected());
}
