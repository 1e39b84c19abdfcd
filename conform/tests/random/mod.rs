//! Values, paths and filters at random, the same each time; and values of the model as values of the engine.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use holotype::{Document, Key, Value};
use holotype_model as model;

/// A generator of xorshift: the same trials each time.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    pub fn one_of<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        choices[self.below(choices.len())]
    }
}

pub const NAMES: [&str; 5] = ["a", "b", "cc", "d", "e f"];
pub const TEXTS: [&str; 9] =
    ["", "a", "ab", "Ab", "ÄB", "äb", "2026-11-24T10:00:00Z", "2026-11-24T11:00:00+01:00", "b\n"];

pub fn scalar(random: &mut Random) -> model::Value {
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

pub fn value(random: &mut Random, depth: usize) -> model::Value {
    match random.below(if depth == 0 { 3 } else { 6 }) {
        4 => model::Value::Array((0..random.below(4)).map(|_| value(random, depth - 1)).collect()),
        5 => model::Value::Object(document(random, depth - 1)),
        _ => scalar(random),
    }
}

pub fn document(random: &mut Random, depth: usize) -> model::Document {
    (0..random.below(5))
        .map(|_| (NAMES[random.below(NAMES.len())].to_owned(), value(random, depth)))
        .collect()
}

pub fn to_engine(value: &model::Value) -> Value {
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

pub fn document_to_engine(fields: &model::Document) -> Document {
    fields.iter().map(|(name, value)| (name.as_str(), to_engine(value))).collect()
}

/// Segments: names and indexes only, or any.
pub fn segments(random: &mut Random, depth: usize, singular: bool) -> String {
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

pub fn query(random: &mut Random, depth: usize, singular: bool) -> String {
    let root = random.one_of(&["@", "@", "@", "$"]);
    format!("{root}{}", segments(random, depth, singular))
}

pub fn operand(random: &mut Random, depth: usize) -> String {
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

pub fn expr(random: &mut Random, depth: usize) -> String {
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

pub fn key(random: &mut Random) -> model::Key {
    match random.below(5) {
        0 | 1 => model::Key::Int([0, 1, 2, 3, -1, 10, i64::MAX, i64::MIN, (1 << 53) + 1][random.below(9)]),
        2 | 3 => model::Key::from(TEXTS[random.below(TEXTS.len())]),
        _ => model::Key::Bytes(b"ab\0"[..random.below(4)].to_vec()),
    }
}

pub fn key_to_engine(key: &model::Key) -> Key {
    match key {
        model::Key::Int(int) => Key::Int(*int),
        model::Key::Text(text) => Key::Text(text.as_str().into()),
        model::Key::Bytes(bytes) => Key::Bytes(bytes.as_slice().into()),
    }
}
