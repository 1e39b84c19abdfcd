//! Queries over collections with indexes: by every plan that applies, and by none, they answer what the model answers.

use std::collections::{BTreeMap, BTreeSet};

use holotype::query::Filter;
use holotype::{Collection, Db, Error, Hint, IndexDefinition, Key, PlanAccess, PlanOrder, Sort, doc};
use holotype_model::{self as model, Document, Value};

use super::question::{Question, answers, to_answers};
use super::store::WithScratch;
use super::told::{Told, told_by_every_plan, told_plan};
use super::{Documents, MEMORIES, Seen, make};
use crate::convert;
use crate::input::Input;
use crate::story::{ensure, say};

const SINGLE: [&str; 6] = ["a", "b", "a", "a.b", "b[0]", "cc"];
const INDEXED: [&str; 8] = ["$.a", "$.b", "$.a", "$.a.b", "$.b[0]", "$.a[*]", "$.a[*].b", "$.a[*].cc"];
/// What else is indexed, and of what functions is asked, where a case is about functions of paths.
const INDEXED_UNDER: [&str; 8] = [
    "fold($.a)",
    "length($.a)",
    "lower($.b)",
    "fold($.b)",
    "time($.a)",
    "length($.b)",
    "fold($.a[*].b)",
    "$.a",
];
const FUNCTIONS: [&str; 5] = ["fold", "length", "fold", "lower", "time"];
const CONSTANTS: [&str; 16] = [
    "0",
    "length('b')",
    "2.0",
    "div(3, 2.0)",
    "-1",
    "'a'",
    "lower('Ab')",
    "''",
    "'b'",
    "null",
    "true",
    "bytes('61')",
    "bytes('')",
    "arg('x')",
    "arg('list')",
    "arg('x')",
];

/// Beyond what an entry has room for, and alike up to there.
fn long(end: &str) -> Value {
    Value::from(format!("{}{end}", "l".repeat(1100)).as_str())
}

fn scalar(input: &mut Input<'_>) -> Value {
    match input.below(16) {
        0 => Value::Null,
        1 => Value::Bool(input.below(2) == 0),
        2..=6 => Value::Int(input.below(4) as i64 - 1),
        7 => Value::Float(input.pick(&[f64::NAN, 1.0, 1.5, -0.0, f64::INFINITY])),
        8 => Value::Bytes(b"ab"[..input.below(3)].to_vec()),
        9 => long(input.pick(&["", "a", "b"])),
        15 => Value::from(input.pick(&["A", "Ab", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.001Z"])),
        _ => Value::from(input.pick(&["", "a", "ab", "b", "ba", "\u{10ffff}"])),
    }
}

fn value(input: &mut Input<'_>, depth: usize) -> Value {
    match input.below(if depth == 0 { 4 } else { 7 }) {
        4 | 5 => Value::Array((0..input.below(4)).map(|_| value(input, depth - 1)).collect()),
        6 => Value::Object(document(input, depth - 1)),
        _ => scalar(input),
    }
}

fn document(input: &mut Input<'_>, depth: usize) -> Document {
    let mut document = Document::new();
    for name in ["a", "b", "cc"] {
        if input.below(10) < 7 {
            document.insert(name.to_owned(), value(input, depth));
        }
    }
    document
}

/// What one path or one item has to be.
fn asked(input: &mut Input<'_>, path: &str) -> String {
    let constant = |input: &mut Input<'_>| input.pick(&CONSTANTS);
    match input.below(12) {
        0..=4 => {
            format!("{path} {} {}", input.pick(&["==", "<", "<=", ">", ">=", "==", "!="]), constant(input))
        }
        5 => format!("{} {} {path}", constant(input), input.pick(&["==", "<", "<=", ">", ">="])),
        6 | 7 => format!("in({path}, {}, {})", constant(input), constant(input)),
        8 => format!("between({path}, {}, {})", constant(input), constant(input)),
        9 => format!(
            "starts_with({path}, {})",
            input.pick(&["'a'", "''", "'b'", "bytes('61')", "arg('x')", "'\u{10ffff}'"])
        ),
        // What a function gives is there or not by no test.
        10 | 11 if path.contains('(') => format!("{path} == 'a'"),
        10 => path.to_owned(),
        _ => format!("!{path}"),
    }
}

fn atom(input: &mut Input<'_>, of_functions: bool) -> String {
    if of_functions && input.below(2) == 0 {
        let path = format!("{}(@.{})", input.pick(&FUNCTIONS), input.pick(&["a", "b", "a.b", "b[0]"]));
        return asked(input, &path);
    }
    match input.below(8) {
        0 => format!("@.a[?{}]", asked(input, "@")),
        1 => {
            let of_item = if of_functions { "fold(@.b)" } else { "@.b" };
            format!("@.a[?{} && {}]", asked(input, of_item), asked(input, "@.cc"))
        }
        2 => input.pick(&["@.a[*]", "@.a[*].b", "@.a[?@.b].cc", "$.a[?$.b == 1]"]).to_owned(),
        3 => format!("key() {} {}", input.pick(&["<", ">=", "=="]), input.pick(&["2", "'a'", "1.5"])),
        _ => {
            let path = format!("{}.{}", input.pick(&["@", "@", "$"]), input.pick(&SINGLE));
            asked(input, &path)
        }
    }
}

fn filter(input: &mut Input<'_>, depth: usize, of_functions: bool) -> String {
    let part = |input: &mut Input<'_>| filter(input, depth - 1, of_functions);
    match input.below(if depth == 0 { 2 } else { 6 }) {
        2..=4 => format!("({}) && ({})", part(input), part(input)),
        5 => format!("({}) || ({})", part(input), part(input)),
        _ => atom(input, of_functions),
    }
}

fn definitions(input: &mut Input<'_>, of_functions: bool) -> Vec<IndexDefinition> {
    let indexed = if of_functions { INDEXED_UNDER } else { INDEXED };
    let mut definitions = Vec::new();
    for number in 0..1 + input.below(4) {
        let paths: Vec<String> = (0..input.pick(&[1, 1, 1, 2, 2, 3]))
            .map(|_| format!("{}{}", input.pick(&["", "", "-"]), input.pick(&indexed)))
            .collect();
        let Ok(definition) = IndexDefinition::new(format!("i{number}"), &paths) else { continue };
        definitions.push(if input.below(3) == 0 { definition.sparse() } else { definition });
    }
    definitions
}

fn question(input: &mut Input<'_>, of_functions: bool) -> Result<Question, String> {
    let point = |input: &mut Input<'_>| match input.below(3) {
        0 => long(input.pick(&["", "a", "b"])),
        _ => scalar(input),
    };
    let list = Value::Array((0..input.below(4)).map(|_| point(input)).collect());
    let parameters = BTreeMap::from([("x".to_owned(), point(input)), ("list".to_owned(), list)]);
    let text = if input.below(6) == 0 { None } else { Some(filter(input, 2, of_functions)) };
    let right_filter = text.as_deref().map(model::query::Filter::parse).transpose()?;
    let parsed = text.as_deref().map(Filter::parse).transpose().map_err(say)?;
    let mut text = text.unwrap_or_else(|| "all".to_owned());
    let (mut right_sorts, mut sorts) = (Vec::new(), Vec::new());
    for _ in 0..input.pick(&[0, 0, 1, 1, 1, 2]) {
        let by = format!("$.{}", input.pick(&SINGLE));
        let by = if of_functions && input.below(2) == 0 {
            format!("{}({by})", input.pick(&FUNCTIONS))
        } else {
            by
        };
        let (descending, nothing_last) =
            (input.below(2) == 0, input.pick(&[None, None, Some(false), Some(true)]));
        let expression = model::query::Expression::parse(&by)?;
        let mut sort = Sort::by(&by);
        if descending {
            sort = sort.descending();
        }
        sorts.push(match nothing_last {
            None => sort,
            Some(false) => sort.nothing_first(),
            Some(true) => sort.nothing_last(),
        });
        right_sorts.push(model::query::Sort { expression, descending, nothing_last });
        text = format!("{text}, {by} {descending} {nothing_last:?}");
    }
    let right = model::query::Query {
        filter: right_filter,
        sorts: right_sorts,
        parameters,
        skip: if input.below(4) == 0 { input.below(3) } else { 0 },
        limit: (input.below(3) == 0).then(|| input.below(4)),
        after: None,
    };
    Ok(Question { text, right, filter: parsed, sorts, memory: input.pick(&MEMORIES) })
}

/// Makes indexes partial, and asks for all that they are of, for a part of it, or for what has nothing to do with it.
fn partial(
    input: &mut Input<'_>,
    of_functions: bool,
    definitions: &mut [IndexDefinition],
    question: &mut Question,
) -> Result<(), String> {
    let part = |input: &mut Input<'_>| filter(input, 1, of_functions);
    let parts: Vec<String> = (0..input.pick(&[1, 1, 2])).map(|_| format!("({})", part(input))).collect();
    let all = parts.join(" && ");
    for definition in definitions {
        // Parameters and keys are refused.
        if input.below(4) > 0
            && let Ok(filtered) = definition.clone().filtered(&all)
        {
            *definition = filtered;
        }
    }
    let before = question.filter.as_ref().map_or_else(|| part(input), ToString::to_string);
    let asked = match input.below(10) {
        0 => return Ok(()),
        1 => all,
        2..=5 => format!("{all} && ({before})"),
        6 => format!("{} && ({before})", parts[0]),
        7 => format!("{all} && (({before}) || ({}))", part(input)),
        8 => format!("({all} && ({before})) || ({all} && ({}))", part(input)),
        _ => format!("({all} && ({before})) || ({})", part(input)),
    };
    question.right.filter = Some(model::query::Filter::parse(&asked)?);
    question.filter = Some(Filter::parse(&asked).map_err(say)?);
    let sorts =
        question.right.sorts.iter().map(|sort| (&sort.expression.text, sort.descending, sort.nothing_last));
    question.text = format!("{asked}, {:?}", sorts.collect::<Vec<_>>());
    Ok(())
}

/// The types of the views have no name in common.
macro_rules! by_every_plan {
    ($view:expr, $question:expr, $documents:expr, $hints:expr, $page:expr, $seen:expr) => {{
        let (view, question, documents): (_, &Question, &Documents) = (&$view, $question, $documents);
        let (right, seen): (_, &mut Seen) = (&question.right, $seen);
        let expected = to_answers(&right.answers(documents));
        let whole = model::query::Query { skip: 0, limit: None, ..right.clone() };
        let whole = to_answers(&whole.answers(documents));
        for hint in $hints {
            let of = || format!("{} by {hint:?} of {documents:?}", question.text);
            let say = |error: Error| format!("{error}, {}", of());
            let unlimited = || {
                let query = match &question.filter {
                    Some(filter) => view.find(filter),
                    None => view.find(..),
                };
                let query = hint
                    .iter()
                    .fold(query.sort_memory(question.memory), |query, hint: &Hint| query.hint(hint.clone()));
                let sorted = question.sorts.iter().fold(query, |query, sort| query.sort(sort.clone()));
                question.bound().fold(sorted, |query, (name, value)| query.bind(name.as_str(), value))
            };
            let ask = || {
                let query = unlimited().skip(right.skip as u64);
                right.limit.iter().fold(query, |query, limit| query.limit(*limit as u64))
            };
            let plan = match ask().explain() {
                Err(Error::IndexCannotServe { .. }) => continue,
                plan => plan.map_err(say)?,
            };
            if let (Some(Hint::Index(name)), PlanAccess::Indexes(parts)) = (hint, &plan.access) {
                ensure(parts.iter().all(|part| part.index == *name), || format!("{plan:?}, {}", of()))?;
            }
            let by_index = matches!(plan.access, PlanAccess::Indexes(_));
            ensure(by_index || !matches!(hint, Some(Hint::Index(_))), || format!("{plan:?}, {}", of()))?;
            seen.by_index += u64::from(by_index);
            let is_partial = |part: &holotype::PlanIndex| part.filter.is_some();
            seen.by_partial +=
                u64::from(matches!(&plan.access, PlanAccess::Indexes(parts) if parts.iter().any(is_partial)));
            seen.in_order += u64::from(plan.order == PlanOrder::Index);
            let found = answers(ask().run().map_err(say)?).map_err(say)?;
            ensure(found == expected, || format!("{found:?}, and the model has {expected:?}, {}", of()))?;
            let keys = ask().keys().map_err(say)?.collect::<Result<Vec<Key>, _>>().map_err(say)?;
            ensure(keys.iter().eq(expected.iter().map(|(key, _)| key)), || {
                format!("keys {keys:?}, {}", of())
            })?;
            let count = ask().count().map_err(say)?;
            ensure(count == expected.len() as u64, || format!("{count} answers, {}", of()))?;
            let read =
                ask().analyze().map_err(say)?.actual.ok_or("a query that was run tells what it read")?;
            ensure(read.answers == count && read.documents >= count.min(1), || {
                format!("{read:?}, {}", of())
            })?;
            if question.sorts.is_empty() {
                let mut found = ask().unordered().skip(0).run().map_err(say)?;
                let mut any = answers(found.by_ref()).map_err(say)?;
                ensure(found.cursor().is_none(), || format!("a place in no order, {}", of()))?;
                let keys = ask().unordered().skip(0).keys().map_err(say)?.collect::<Result<Vec<Key>, _>>();
                let each_key = keys.map_err(say)?;
                let keys: BTreeSet<Key> = each_key.iter().cloned().collect();
                ensure(keys.len() == each_key.len(), || format!("a key twice in {each_key:?}, {}", of()))?;
                let of_any: BTreeSet<Key> = any.iter().map(|(key, _)| key.clone()).collect();
                let are_they = if right.limit.is_some() { keys.len() == any.len() } else { keys == of_any };
                ensure(are_they, || format!("{keys:?} and not {of_any:?} in any order, {}", of()))?;
                any.sort_by(|(a, _), (b, _)| a.cmp(b));
                let all = right.limit.is_some() || any.len() == expected.len() + right.skip.min(whole.len());
                ensure(all && any.windows(2).all(|two| two[0].0 < two[1].0), || {
                    format!("{any:?} in any order, {}", of())
                })?;
            }
            let (mut pages, mut cursor) = (Vec::new(), None);
            loop {
                let query = cursor.take().into_iter().fold(unlimited(), |query, cursor| query.after(cursor));
                let mut page = query.clone().limit($page).run().map_err(say)?;
                let before = pages.len();
                pages.extend(answers(page.by_ref()).map_err(say)?);
                let keys = query.limit($page).keys().map_err(say)?.collect::<Result<Vec<Key>, _>>().map_err(say)?;
                ensure(keys.iter().eq(pages[before..].iter().map(|(key, _)| key)), || {
                    format!("keys {keys:?} of a page of {pages:?} from {before} on, {}", of())
                })?;
                if pages.len() == before || pages.len() > whole.len() {
                    break;
                }
                cursor = page.cursor();
            }
            ensure(pages == whole, || format!("pages {pages:?}, and the model has {whole:?}, {}", of()))?;
        }
    }};
}

/// # Errors
/// How engine and model do not agree by some plan.
pub fn planned(bytes: &[u8]) -> Result<Seen, String> {
    let mut input = Input::new(bytes);
    let of_functions = input.below(4) == 0;
    let mut question = question(&mut input, of_functions)?;
    let mut definitions = definitions(&mut input, of_functions);
    let documents: Documents =
        (0..input.below(12)).map(|_| (make::key(&mut input), document(&mut input, 2))).collect();
    let page = 1 + input.below(3) as u64;
    let told = Told::new(&mut input, &definitions)?;
    if input.below(4) == 1 {
        partial(&mut input, of_functions, &mut definitions, &mut question)?;
    }
    let mut seen = Seen::one();
    let db = WithScratch::default().open()?;
    let birds = db.collection("birds");
    db.create_collection("birds").map_err(say)?;
    let put = |birds: &Collection, (key, document): (&model::Key, &Document)| {
        birds.put(convert::key(key), convert::document(document)).map_err(say)
    };
    let half = documents.len() / 2;
    documents.iter().take(half).try_for_each(|pair| put(&birds, pair))?;
    // What a transaction changes and deletes.
    let gone = doc! { "a": 1, "b": [1], "cc": "a" };
    for key in documents.keys().skip(half).step_by(2) {
        birds.put(convert::key(key), &gone).map_err(say)?;
    }
    birds.put("gone", &gone).map_err(say)?;
    for definition in &definitions {
        birds.create_index(definition.clone()).map_err(say)?;
    }
    let named = definitions.iter().map(|definition| Some(Hint::Index(definition.name().to_owned())));
    let hints: Vec<Option<Hint>> = [None, Some(Hint::Scan)].into_iter().chain(named).collect();
    let tx = db.begin_write().map_err(say)?;
    for (key, document) in documents.iter().skip(half) {
        tx.collection("birds").put(convert::key(key), convert::document(document)).map_err(say)?;
    }
    tx.collection("birds").delete("gone").map_err(say)?;
    by_every_plan!(tx.collection("birds"), &question, &documents, &hints, page, &mut seen);
    told_by_every_plan!(tx.collection("birds"), &question, &told, &documents, &hints, &mut seen);
    tx.commit().map_err(say)?;
    if input.below(2) == 0 {
        let snapshot = db.snapshot();
        birds.clear().map_err(say)?;
        let then = snapshot.collection("birds").map_err(say)?;
        by_every_plan!(then, &question, &documents, &hints, page, &mut seen);
        told_by_every_plan!(then, &question, &told, &documents, &hints, &mut seen);
    } else {
        by_every_plan!(birds, &question, &documents, &hints, page, &mut seen);
        told_by_every_plan!(birds, &question, &told, &documents, &hints, &mut seen);
        changed(&db, &question, &documents)?;
    }
    Ok(seen)
}

/// Deleting by a plan takes what the filter admits.
fn changed(db: &Db, question: &Question, documents: &Documents) -> Result<(), String> {
    let Some(filter) = &question.filter else { return Ok(()) };
    let filter = question
        .bound()
        .try_fold(filter.clone(), |filter, (name, value)| filter.bind(name, value))
        .map_err(say)?;
    let right = model::query::Query { sorts: Vec::new(), skip: 0, limit: None, ..question.right.clone() };
    let admitted = right.answers(documents).len() as u64;
    let birds = db.collection("birds");
    let report = birds.delete_many(&filter).map_err(say)?;
    let left = birds.len().map_err(say)?;
    ensure(report.matched == admitted && left == documents.len() as u64 - admitted, || {
        format!("{report:?} of {admitted}, {left} are left, {} of {documents:?}", question.text)
    })
}
