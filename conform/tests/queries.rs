//! Queries over collections, snapshots and transactions, held against the model's naive answers to the same questions.
//!
//! `HOLOTYPE_TRIALS=1000000 cargo test --release -p holotype-conform --test queries` tries as many.

use std::collections::BTreeMap;

use holotype::query::{Expression, Filter, JsonPath};
use holotype::{Db, DocRef, Document, Error, Key, Sort, Value};
use holotype_model as model;

mod random;

use random::{Random, document, document_to_engine, expr, key, key_to_engine, scalar, segments, to_engine};

const TRIALS: usize = 20_000;
/// Questions to one collection.
const QUESTIONS: usize = 40;

fn trials() -> usize {
    std::env::var("HOLOTYPE_TRIALS").ok().and_then(|text| text.parse().ok()).unwrap_or(TRIALS)
}

type Documents = BTreeMap<model::Key, model::Document>;

fn documents(random: &mut Random) -> Documents {
    (0..random.below(14)).map(|_| (key(random), document(random, 2))).collect()
}

/// An expression in the normal form, which both parsers take.
fn expression(random: &mut Random, single: bool) -> String {
    loop {
        let text = match random.below(8) {
            0 => "key()".to_owned(),
            1 => format!(
                "{}(@{})",
                random.one_of(&["fold", "length", "type", "time"]),
                segments(random, 0, true)
            ),
            2 => format!("add(@{}, arg('x'))", segments(random, 0, true)),
            _ => format!("${}", segments(random, 1, single)),
        };
        if let Ok(parsed) = Expression::parse(&text) {
            return parsed.to_string();
        }
    }
}

fn sort(random: &mut Random) -> (model::query::Sort, Sort) {
    let text = expression(random, true);
    let descending = random.below(2) == 0;
    let nothing_last = [None, Some(false), Some(true)][random.below(3)];
    let expression = model::query::Expression::parse(&text).expect("the engine takes it");
    let mut sort = Sort::by(&text);
    if descending {
        sort = sort.descending();
    }
    sort = match nothing_last {
        None => sort,
        Some(false) => sort.nothing_first(),
        Some(true) => sort.nothing_last(),
    };
    (model::query::Sort { expression, descending, nothing_last }, sort)
}

/// A filter that says something of the key, or of anything.
fn filter(random: &mut Random) -> String {
    match random.below(8) {
        0 => format!("key() {} {}", random.one_of(&["==", "<", "<=", ">", ">=", "!="]), constant(random)),
        1 => format!("{} {} key()", constant(random), random.one_of(&["==", "<", "<=", ">", ">="])),
        2 => format!("in(key(), {}, {})", constant(random), constant(random)),
        3 => format!("between(key(), {}, {})", constant(random), constant(random)),
        4 => format!(
            "starts_with(key(), {})",
            random.one_of(&["'a'", "''", "bytes('61')", "bytes('')", "'Ä'"])
        ),
        5 => {
            let join = random.one_of(&["&&", "||"]);
            format!("({}) {join} ({})", filter(random), filter(random))
        }
        _ => expr(random, 2),
    }
}

fn constant(random: &mut Random) -> &'static str {
    random.one_of(&[
        "0",
        "1",
        "2.0",
        "1.5",
        "-1",
        "1e300",
        "-0",
        "'a'",
        "'ab'",
        "''",
        "bytes('61')",
        "bytes('')",
        "null",
        "arg('list')",
        "arg('x')",
        "9007199254740993",
        "9223372036854775807",
    ])
}

/// One question, to both.
struct Question {
    text: String,
    right: model::query::Query,
    filter: Option<Filter>,
    sorts: Vec<Sort>,
}

impl Question {
    fn at_random(random: &mut Random, parameters: &Parameters) -> Self {
        let (mut right_filter, mut filter_of_engine, mut text) = (None, None, String::from("all"));
        if random.below(4) > 0 {
            text = filter(random);
            if let (Ok(right), Ok(parsed)) = (model::query::Filter::parse(&text), Filter::parse(&text)) {
                (right_filter, filter_of_engine) = (Some(right), Some(parsed));
            }
        }
        let sorts: Vec<_> = (0..[0, 0, 1, 1, 2, 3][random.below(6)]).map(|_| sort(random)).collect();
        for (sort, _) in &sorts {
            text = format!("{text}, {} {} {:?}", sort.expression.text, sort.descending, sort.nothing_last);
        }
        let (right_sorts, sorts) = sorts.into_iter().unzip();
        let right = model::query::Query {
            filter: right_filter,
            sorts: right_sorts,
            parameters: parameters.clone(),
            skip: if random.below(3) == 0 { random.below(4) } else { 0 },
            limit: (random.below(3) == 0).then(|| random.below(6)),
            after: None,
        };
        text = format!("{text}, {:?}, {:?}", right.skip, right.limit);
        Question { text, right, filter: filter_of_engine, sorts }
    }
}

type Parameters = BTreeMap<String, model::Value>;
type Answers = Vec<(Key, Document)>;

fn answers(found: impl Iterator<Item = holotype::Result<DocRef>>) -> Answers {
    found
        .map(|found| found.map(|found| (found.key().to_key(), found.to_document().unwrap())).unwrap())
        .collect()
}

fn to_answers(right: &[(model::Key, model::Document)]) -> Answers {
    right.iter().map(|(key, document)| (key_to_engine(key), document_to_engine(document))).collect()
}

/// What was seen, so that a run which tries nothing is told.
#[derive(Debug, Default)]
struct Seen {
    answered: usize,
    empty: usize,
    pages: usize,
    sorted: usize,
}

/// The types of the three views have no name in common.
macro_rules! hold {
    ($view:expr, $question:expr, $documents:expr, $random:expr, $seen:expr) => {{
        let (view, question, random): (_, &Question, &mut Random) = (&$view, $question, $random);
        let documents: &Documents = $documents;
        let (right, text, seen) = (&question.right, &question.text, &mut *$seen);
        let unlimited = || {
            let mut query = match &question.filter {
                Some(filter) => view.find(filter),
                None => view.find(..),
            };
            for sort in &question.sorts {
                query = query.sort(sort.clone());
            }
            for (name, value) in &right.parameters {
                if text.contains(&format!("arg('{name}')")) {
                    query = query.bind(name.as_str(), to_engine(value));
                }
            }
            query
        };
        let ask = || {
            let query = unlimited().skip(right.skip as u64);
            right.limit.iter().fold(query, |query, limit| query.limit(*limit as u64))
        };
        let expected = to_answers(&right.answers(documents));
        let found = answers(ask().run().unwrap());
        assert_eq!(found, expected, "{text}");
        let keys: Vec<Key> = ask().keys().unwrap().map(|key| key.unwrap()).collect();
        assert_eq!(keys, expected.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>(), "keys, {text}");
        assert_eq!(ask().count().unwrap(), expected.len() as u64, "count, {text}");
        assert_eq!(ask().exists().unwrap(), !expected.is_empty(), "exists, {text}");
        let first = ask().first().unwrap().map(|first| first.key().to_key());
        assert_eq!(first.as_ref(), expected.first().map(|(key, _)| key), "first, {text}");
        match (ask().at_most_one(), expected.len()) {
            (Ok(found), 0 | 1) => assert_eq!(found.is_some(), expected.len() == 1, "{text}"),
            (Err(Error::NotOne { found: 2 }), 2..) => {}
            (other, len) => panic!("at most one of {len}: {other:?}, {text}"),
        }

        // Pages of a random length, one from the cursor of the other, are the whole.
        let whole = model::query::Query { skip: 0, limit: None, ..right.clone() };
        let whole = to_answers(&whole.answers(documents));
        let (mut pages, mut cursor, len) = (Vec::new(), None::<String>, 1 + random.below(5));
        loop {
            let query = cursor.iter().fold(unlimited(), |query, cursor| query.after(cursor.parse().unwrap()));
            let mut page = query.limit(len as u64).run().unwrap();
            let before = pages.len();
            pages.extend(answers(page.by_ref()));
            if pages.len() == before || pages.len() > whole.len() {
                break;
            }
            cursor = page.cursor().map(|cursor| cursor.to_string());
            seen.pages += 1;
        }
        assert_eq!(pages, whole, "pages of {len}, {text}");

        // From any place: of a document that is not there, too.
        let (key, document) = (key(random), document(random, 2));
        let place = right.place(&key, &document);
        let after = model::query::Query { after: Some(place), ..right.clone() };
        let cursor = ask().cursor_at(key_to_engine(&key), &document_to_engine(&document)).unwrap();
        let expected = to_answers(&after.answers(documents));
        assert_eq!(answers(ask().after(cursor.clone()).run().unwrap()), expected, "after {key:?}, {text}");
        assert_eq!(
            ask().after(cursor).count().unwrap(),
            expected.len() as u64,
            "count after {key:?}, {text}"
        );

        let of = expression(random, false);
        let right_of = model::query::Expression::parse(&of).unwrap();
        if !of.contains("arg(") {
            let mut members = right.answers(documents);
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            let expected: Vec<Value> = model::query::distinct(&members, &right_of, &right.parameters)
                .iter()
                .map(to_engine)
                .collect();
            assert_eq!(ask().distinct(&of).unwrap(), expected, "distinct {of}, {text}");
        }

        let paths: Vec<String> =
            (0..1 + random.below(3)).map(|_| format!("${}", segments(random, 1, false))).collect();
        let right_paths: Result<Vec<_>, _> =
            paths.iter().map(|path| model::query::Path::parse(path)).collect();
        if let Ok(right_paths) = right_paths
            && paths.iter().all(|path| JsonPath::parse(path).is_ok())
        {
            let parts = ask().project(&paths).run().unwrap();
            let parts: Vec<Document> = parts.map(|part| part.unwrap().to_document().unwrap()).collect();
            let expected: Vec<Document> = right
                .answers(documents)
                .iter()
                .map(|(key, document)| {
                    document_to_engine(&model::query::project(key, document, &right_paths))
                })
                .collect();
            assert_eq!(parts, expected, "{paths:?}, {text}");
        }
        seen.answered += found.len();
        seen.empty += usize::from(whole.is_empty());
        seen.sorted += usize::from(!question.sorts.is_empty());
    }};
}

//= spec/query.md#q-7-1-query
//# A query that neither skips, nor has a limit or a cursor, MUST answer exactly the documents that its
//# filter admits, each once.
//= spec/query.md#q-7-2-order
//# Documents MUST be answered in the order of the first sort that tells them apart, and documents that
//# none tells apart in the order of their keys (V-3.8).
//= spec/query.md#q-7-3-skip-and-limit
//# Of the documents in order, a query MUST leave out the first, as many as it skips, and answer the next
//# ones, as many as its limit allows.
//= spec/query.md#q-7-4-cursors
//# The documents before a cursor and those after it MUST be all documents of the query, each once.
//= spec/query.md#q-8-1-projection
//# A projection MUST have each selected node with everything in it, in the objects and arrays that it is
//# in, and nothing else. Items of an array stay in their order, without gaps.
//= spec/query.md#q-9-1-shown-values
//# The value that is shown for a place MUST be the first that the document of the least key gives there.
//= spec/query.md#q-9-2-distinct-values
//# The *distinct values* of an expression MUST be one value for each place at which a document of the
//# query gives one, in the order of values.
#[test]
fn queries_answer_what_the_model_answers() {
    let mut random = Random(0x853c_49e6_748f_ea9b);
    let mut seen = Seen::default();
    for round in 0..trials().div_ceil(QUESTIONS) {
        let documents = documents(&mut random);
        let db = Db::in_memory();
        let birds = db.collection("birds");
        db.create_collection("birds").unwrap();
        let put = |key: &model::Key, document: &model::Document| {
            birds.put(key_to_engine(key), document_to_engine(document)).unwrap();
        };
        let half = documents.len() / 2;
        documents.iter().take(half).for_each(|(key, document)| put(key, document));
        // The second half comes last, so that a transaction can put it itself.
        let mut tx = db.begin_write().unwrap();
        for (key, document) in documents.iter().skip(half) {
            tx.collection("birds").put(key_to_engine(key), document_to_engine(document)).unwrap();
        }
        for _ in 0..QUESTIONS / 2 {
            let question = question(&mut random);
            hold!(tx.collection("birds"), &question, &documents, &mut random, &mut seen);
        }
        tx.set_durability(holotype::Durability::Buffered);
        tx.commit().unwrap();
        let snapshot = db.snapshot();
        if round % 2 == 0 {
            birds.clear().unwrap();
            for _ in 0..QUESTIONS / 2 {
                let question = question(&mut random);
                hold!(snapshot.collection("birds").unwrap(), &question, &documents, &mut random, &mut seen);
            }
        } else {
            for _ in 0..QUESTIONS / 2 {
                let question = question(&mut random);
                hold!(birds, &question, &documents, &mut random, &mut seen);
            }
        }
    }
    let tried = trials();
    let told =
        seen.answered > tried / 2 && seen.empty < tried && seen.pages > tried / 2 && seen.sorted > tried / 4;
    assert!(told, "{seen:?} of {tried}");
}

//= spec/query.md#q-9-3-groups
//# A document MUST be in the groups of every combination of what the expressions give of it, once in
//# each.
//= spec/query.md#q-9-3-groups
//# Groups MUST come in the order of what the first expression gives, then the second, and so on, with
//# nothing before every value.
//= spec/query.md#q-9-4-aggregates
//# If every number is an int, `sum` is an int. A sum beyond the ints of V-1.2 MUST be refused, as
//# `SumOverflow`.
//= spec/query.md#q-9-4-aggregates
//# Otherwise `sum`, and always `avg`, MUST be the float that is nearest to the exact result, rounded
//# once, half to even. The exact sum of no numbers is 0, and 0 as a float is 0.0.
//= spec/query.md#q-9-5-groups-as-documents
//# A filter over groups and sorts over groups MUST be of these documents.
#[test]
fn groups_are_what_the_model_makes() {
    let mut random = Random(0xda94_2042_e4dd_58b5);
    let (mut found, mut overflows, mut chosen) = (0, 0, 0);
    let tried = trials() / 4;
    for trial in 0..tried {
        let documents = documents(&mut random);
        let birds = Db::in_memory().collection("birds");
        birds
            .put_many(
                documents.iter().map(|(key, document)| (key_to_engine(key), document_to_engine(document))),
            )
            .unwrap();
        if documents.is_empty() {
            continue;
        }
        let expressions = |random: &mut Random, most: usize| -> Vec<String> {
            let texts = (0..random.below(most)).map(|_| expression(random, false));
            texts.filter(|text| !text.contains("arg(")).collect()
        };
        let parse = |text: &String| model::query::Expression::parse(text).unwrap();
        let mut right = model::query::Groups::default();
        let by = expressions(&mut random, 3);
        right.by = by.iter().map(parse).collect();
        let mut query = birds.find(..).group_by(&by);
        for text in expressions(&mut random, 4) {
            let name = random.one_of(&["count_distinct", "sum", "sum", "min", "max", "avg"]);
            right
                .aggregates
                .push(model::query::Aggregate { name: name.to_owned(), expression: parse(&text) });
            query = match name {
                "count_distinct" => query.count_distinct(&text),
                "sum" => query.sum(&text),
                "min" => query.min(&text),
                "max" => query.max(&text),
                _ => query.avg(&text),
            };
        }
        if random.below(3) == 0 {
            let having = random.one_of(&["@.count > 1", "@.a", "@.sum[?@ > 0]", "@.max[*] && @.count != 2"]);
            right.having = Some(model::query::Filter::parse(having).unwrap());
            query = query.having(having);
            chosen += 1;
        }
        if random.below(3) == 0 {
            let by = random.one_of(&["$.count", "$.a", "$['$.a']", "value($.sum[*])"]);
            right.sorts.push(model::query::Sort {
                expression: parse(&by.to_owned()),
                descending: true,
                nothing_last: None,
            });
            query = query.sort(Sort::by(by).descending());
            right.limit = Some(random.below(4));
            query = query.limit(right.limit.unwrap() as u64);
        }
        let members: Vec<_> = documents.into_iter().collect();
        match (right.of(&members), query.run()) {
            (Ok(expected), Ok(groups)) => {
                let expected: Vec<Document> = expected.iter().map(document_to_engine).collect();
                assert_eq!(groups, expected, "trial {trial}: {right:?} of {members:?}");
                found += groups.len();
            }
            (Err(_), Err(Error::SumOverflow { .. })) => overflows += 1,
            (expected, groups) => panic!("trial {trial}: {expected:?}, {groups:?}, {right:?}"),
        }
    }
    assert!(found > tried && overflows > tried / 200 && chosen > tried / 5, "{found}, {overflows}, {chosen}");
}

/// Sums of floats of every size, which cancel each other in part: no order of adding may show.
#[test]
fn sums_are_those_of_the_model() {
    let mut random = Random(0x4528_21e6_38d0_1377);
    let number = |random: &mut Random| match random.below(8) {
        0 => model::Value::Int(random.0 as i64),
        1 => model::Value::Int(random.below(10) as i64 - 5),
        2 => model::Value::Float(
            [f64::MAX, -f64::MAX, 5e-324, 2.2250738585072014e-308, 0.1, -0.0][random.below(6)],
        ),
        3 => model::Value::Float(random.below(1000) as f64 / 8.0),
        _ => {
            let exponent = (random.below(2046) as u64) << 52;
            let float = f64::from_bits(exponent | random.0 >> 12);
            model::Value::Float(if random.below(2) == 0 { float } else { -float })
        }
    };
    for trial in 0..trials() / 20 {
        let mut numbers: Vec<model::Value> = (0..1 + random.below(12)).map(|_| number(&mut random)).collect();
        if random.below(2) == 0 {
            // What is added and taken away again leaves the small ones.
            let negated = numbers.iter().skip(1).filter_map(|number| match number {
                model::Value::Float(float) => Some(model::Value::Float(-float)),
                _ => None,
            });
            numbers.extend(negated.collect::<Vec<_>>());
        }
        let document = model::Document::from([("n".to_owned(), model::Value::Array(numbers))]);
        let birds = Db::in_memory().collection("birds");
        birds.put(1, document_to_engine(&document)).unwrap();
        let expression = model::query::Expression::parse("$.n[*]").unwrap();
        let aggregate =
            |name: &str| model::query::Aggregate { name: name.to_owned(), expression: expression.clone() };
        let aggregates = vec![aggregate("sum"), aggregate("avg")];
        let right = model::query::Groups { aggregates, ..Default::default() };
        let members = [(model::Key::Int(1), document)];
        let groups = birds.find(..).group_by(Vec::<&str>::new()).sum("$.n[*]").avg("$.n[*]").run();
        match (right.of(&members), groups) {
            (Ok(expected), Ok(groups)) => {
                assert_eq!(groups, [document_to_engine(&expected[0])], "trial {trial}: {members:?}");
            }
            (Err(_), Err(Error::SumOverflow { .. })) => {}
            (expected, groups) => panic!("trial {trial}: {expected:?}, {groups:?}, {members:?}"),
        }
    }
}

fn question(random: &mut Random) -> Question {
    let x = scalar(random);
    let list = model::Value::Array((0..3).map(|_| scalar(random)).collect());
    let parameters = BTreeMap::from([("x".to_owned(), x), ("list".to_owned(), list)]);
    Question::at_random(random, &parameters)
}
