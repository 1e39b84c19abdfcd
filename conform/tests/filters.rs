//! Filters over encoded documents, held against the model's naive evaluation of the same text.

use std::collections::BTreeMap;

use holotype::document::RawDocument;
use holotype::query::{Filter, JsonPath};
use holotype::{Document, KeyRef, Value};
use holotype_model as model;

const TRIALS: usize = 20_000;

/// A generator of xorshift: the same trials each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn one_of<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        choices[self.below(choices.len())]
    }
}

const NAMES: [&str; 5] = ["a", "b", "cc", "d", "e f"];
const TEXTS: [&str; 9] =
    ["", "a", "ab", "Ab", "ÄB", "äb", "2026-11-24T10:00:00Z", "2026-11-24T11:00:00+01:00", "b\n"];

fn scalar(random: &mut Random) -> model::Value {
    match random.below(12) {
        0 => model::Value::Null,
        1 => model::Value::Bool(random.below(2) == 0),
        2..=5 => model::Value::Int([0, 1, 2, 3, -1, i64::MAX, i64::MIN, (1 << 53) + 1][random.below(8)]),
        6 | 7 => model::Value::Float(
            [0.0, -0.0, 1.0, 1.5, f64::NAN, f64::INFINITY, 9_007_199_254_740_992.0][random.below(7)],
        ),
        8 => model::Value::Bytes(b"ab"[..random.below(3)].to_vec()),
        _ => model::Value::from(TEXTS[random.below(TEXTS.len())]),
    }
}

fn value(random: &mut Random, depth: usize) -> model::Value {
    match random.below(if depth == 0 { 3 } else { 6 }) {
        4 => model::Value::Array((0..random.below(4)).map(|_| value(random, depth - 1)).collect()),
        5 => model::Value::Object(document(random, depth - 1)),
        _ => scalar(random),
    }
}

fn document(random: &mut Random, depth: usize) -> model::Document {
    (0..random.below(5))
        .map(|_| (NAMES[random.below(NAMES.len())].to_owned(), value(random, depth)))
        .collect()
}

fn to_engine(value: &model::Value) -> Value {
    match value {
        model::Value::Null => Value::Null,
        model::Value::Bool(bool) => Value::Bool(*bool),
        model::Value::Int(int) => Value::Int(*int),
        model::Value::Float(float) => Value::Float(*float),
        model::Value::Text(text) => Value::Text(text.as_str().into()),
        model::Value::Bytes(bytes) => Value::Bytes(bytes.clone()),
        model::Value::Array(items) => Value::Array(items.iter().map(to_engine).collect()),
        model::Value::Object(fields) => Value::Object(document_to_engine(fields)),
    }
}

fn document_to_engine(fields: &model::Document) -> Document {
    fields.iter().map(|(name, value)| (name.as_str(), to_engine(value))).collect()
}

/// Segments: names and indexes only, or any.
fn segments(random: &mut Random, depth: usize, singular: bool) -> String {
    let segment = |random: &mut Random| match random.below(if singular { 5 } else { 10 }) {
        0..=2 => format!(".{}", random.one_of(&NAMES[..4])),
        3 => random.one_of(&["['e f']", "[\"a\"]", "[ 'b' ]"]).to_owned(),
        4 => format!("[{}]", random.below(5) as i64 - 2),
        5 => random.one_of(&["[*]", ".*", "..*", "..a", "..[0]", "['a','b', 0]"]).to_owned(),
        6 | 7 if depth > 0 => format!("[?{}]", expr(random, depth - 1)),
        _ => random.one_of(&["[1:]", "[::-1]", "[:2]", "[-2:5:2]", "[::0]", "[5:0:-2]"]).to_owned(),
    };
    (0..random.below(3)).map(|_| segment(random)).collect()
}

fn query(random: &mut Random, depth: usize, singular: bool) -> String {
    let root = random.one_of(&["@", "@", "@", "$"]);
    format!("{root}{}", segments(random, depth, singular))
}

fn operand(random: &mut Random, depth: usize) -> String {
    let nested = |random: &mut Random| operand(random, depth.saturating_sub(1));
    match random.below(if depth == 0 { 8 } else { 14 }) {
        0..=3 => query(random, 0, true),
        4 | 5 => random
            .one_of(&["0", "1", "2.0", "-1", "9007199254740993", "true", "null", "1e3", "-0"])
            .to_owned(),
        6 => random.one_of(&["'ab'", "\"a\"", "''", "'\\u00c4B'", "bytes('61')", "key()"]).to_owned(),
        7 => random.one_of(&["arg('x')", "arg('list')"]).to_owned(),
        8 => format!("{}({})", random.one_of(&["length", "lower", "fold", "time", "type"]), nested(random)),
        9 => format!("{}({})", random.one_of(&["count", "value"]), query(random, depth - 1, false)),
        10 => format!("fold({})", query(random, 0, true)),
        _ => {
            let function = random.one_of(&["add", "sub", "mul", "div", "mod"]);
            format!("{function}({} , {})", nested(random), nested(random))
        }
    }
}

fn expr(random: &mut Random, depth: usize) -> String {
    let inner = depth.saturating_sub(1);
    match random.below(if depth == 0 { 6 } else { 10 }) {
        0..=2 => {
            let operator = random.one_of(&["==", "!=", "<", "<=", ">", ">="]);
            format!("{} {operator} {}", operand(random, inner), operand(random, inner))
        }
        3 => query(random, inner, false),
        4 => {
            let function = random.one_of(&["in", "starts_with", "ends_with", "contains"]);
            format!("{function}({}, {})", operand(random, inner), operand(random, inner))
        }
        5 => {
            let function = random.one_of(&["match", "search"]);
            let pattern = random.one_of(&["'a.*'", "'[^a]b?'", "'(a|b)+'", "'a{2'", "'^a|b$'", "@.b", "'.'"]);
            format!("{function}({}, {pattern})", operand(random, inner))
        }
        6 => format!("!({})", expr(random, inner)),
        7 => format!(
            "between({}, {}, {})",
            operand(random, inner),
            operand(random, inner),
            operand(random, inner)
        ),
        8 => format!("{} && {}", expr(random, inner), expr(random, inner)),
        _ => format!("({} || {})", expr(random, inner), expr(random, inner)),
    }
}

//= spec/query.md#q-2-2-parameters
//# A bound value MUST NOT be read as part of the text of the filter.
//= spec/query.md#q-3-2-less
//# Values of other types, or of two types, MUST NOT be less than one another; nor is nothing less than a
//# value, or a value than nothing.
#[test]
fn filters_say_what_the_model_says() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut admitted, mut refused) = (0, 0);
    for trial in 0..TRIALS {
        let text = expr(&mut random, 3);
        let document = document(&mut random, 3);
        let x = scalar(&mut random);
        let list = model::Value::Array((0..3).map(|_| scalar(&mut random)).collect());
        let parameters = BTreeMap::from([("x".to_owned(), x), ("list".to_owned(), list)]);
        let right = model::query::Filter::parse(&text);
        let filter = Filter::parse(&text);
        assert_eq!(right.is_ok(), filter.is_ok(), "trial {trial}: {text}: {right:?}, {filter:?}");
        let (Ok(right), Ok(filter)) = (right, filter) else {
            refused += 1;
            continue;
        };
        let again = Filter::parse(&filter.to_string());
        assert_eq!(again.as_ref().ok(), Some(&filter), "trial {trial}: {text} prints as {filter}: {again:?}");
        let bound = parameters.iter().fold(filter, |filter, (name, value)| {
            filter.clone().bind(name, to_engine(value)).unwrap_or(filter)
        });
        let bytes = document_to_engine(&document).encode();
        let raw = RawDocument::from_bytes(&bytes).expect("it was just encoded");
        let found = bound.matches_with_key(KeyRef::Text("ab"), raw).expect("every parameter is bound");
        let key = model::Key::from("ab");
        let expected = right.admits(Some(&key), &document, &parameters);
        assert_eq!(found, expected, "trial {trial}: {text} of {}", document_to_engine(&document));
        admitted += usize::from(expected);
    }
    // A run in which nearly all is admitted, or nearly nothing, or nothing is valid, has shown little.
    let tried = TRIALS - refused;
    assert!(
        tried > TRIALS / 2 && admitted > tried / 10 && admitted < tried * 9 / 10,
        "{admitted} of {tried}"
    );
}

#[test]
fn paths_select_what_the_model_selects() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut selected = 0;
    for trial in 0..TRIALS / 4 {
        let text = format!("${}{}", segments(&mut random, 2, false), segments(&mut random, 2, false));
        let value = model::Value::Object(document(&mut random, 4));
        let (right, path) = (model::query::Path::parse(&text), JsonPath::parse(&text));
        assert_eq!(right.is_ok(), path.is_ok(), "trial {trial}: {text}: {right:?}, {path:?}");
        let (Ok(right), Ok(path)) = (right, path) else { continue };
        let engine = to_engine(&value);
        let found: Vec<Value> =
            path.select(&engine).expect("no pattern is large").into_iter().cloned().collect();
        let expected: Vec<Value> = right.select(&value).iter().map(to_engine).collect();
        assert_eq!(found, expected, "trial {trial}: {text} of {engine}");
        selected += usize::from(!found.is_empty());
    }
    assert!(selected > TRIALS / 40, "{selected}");
}

/// Texts near to queries: both parsers take the same ones.
#[test]
fn both_parsers_take_the_same_texts() {
    let mut random = Random(0xd1b5_4a32_d192_ed03);
    let pieces = [
        "@", "$", ".", "..", "[", "]", "a", "'a'", "*", "?", "==", "<", "!", "(", ")", " ", ",", ":", "-",
        "0", "1", "&&", "||", "length(", "in(", "e", "\"", "\\",
    ];
    let mut valid = 0;
    for _ in 0..TRIALS {
        let mut text: String = match random.below(2) {
            0 => expr(&mut random, 2),
            _ => (0..random.below(8)).map(|_| random.one_of(&pieces)).collect(),
        };
        // A piece in the place of another.
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        if let Some(&at) = starts.get(random.below(starts.len().max(1))) {
            text.insert_str(at, random.one_of(&pieces));
        }
        let (right, filter) = (model::query::Filter::parse(&text), Filter::parse(&text));
        assert_eq!(right.is_ok(), filter.is_ok(), "{text}: {right:?}, {filter:?}");
        valid += usize::from(right.is_ok());
    }
    assert!(valid > TRIALS / 50, "{valid}");
}
