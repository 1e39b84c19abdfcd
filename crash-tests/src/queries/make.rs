//! Documents, paths, filters and queries from bytes.

use holotype_model::{Document, Key, Value};

use crate::input::Input;

/// Few names, so that many paths lead somewhere.
const NAMES: [&str; 5] = ["a", "b", "cc", "d", "e f"];

const TEXTS: [&str; 9] =
    ["", "a", "ab", "Ab", "ÄB", "äb", "2026-11-24T10:00:00Z", "2026-11-24T11:00:00+01:00", "b\n"];

const INTS: [i64; 8] = [0, 1, 2, 3, -1, i64::MAX, i64::MIN, (1 << 53) + 1];

const FLOATS: [f64; 7] = [0.0, -0.0, 1.0, 1.5, f64::NAN, f64::INFINITY, 9_007_199_254_740_992.0];

const CONSTANTS: [&str; 17] = [
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
];

/// Pieces of texts that are nearly queries.
const PIECES: [&str; 28] = [
    "@", "$", ".", "..", "[", "]", "a", "'a'", "*", "?", "==", "<", "!", "(", ")", " ", ",", ":", "-", "0",
    "1", "&&", "||", "length(", "in(", "e", "\"", "\\",
];

pub(super) fn scalar(input: &mut Input<'_>) -> Value {
    match input.below(12) {
        0 => Value::Null,
        1 => Value::Bool(input.below(2) == 0),
        2..=5 => Value::Int(input.pick(&INTS)),
        6 | 7 => Value::Float(input.pick(&FLOATS)),
        8 => Value::Bytes(b"ab"[..input.below(3)].to_vec()),
        _ => Value::from(input.pick(&TEXTS)),
    }
}

fn value(input: &mut Input<'_>, depth: usize) -> Value {
    match input.below(if depth == 0 { 3 } else { 6 }) {
        4 => Value::Array((0..input.below(4)).map(|_| value(input, depth - 1)).collect()),
        5 => Value::Object(document(input, depth - 1)),
        _ => scalar(input),
    }
}

pub(super) fn document(input: &mut Input<'_>, depth: usize) -> Document {
    (0..input.below(5)).map(|_| (input.pick(&NAMES).to_owned(), value(input, depth))).collect()
}

pub(super) fn key(input: &mut Input<'_>) -> Key {
    match input.below(5) {
        0 | 1 => Key::Int(input.pick(&[0, 1, 2, 3, -1, 10, i64::MAX, i64::MIN, (1 << 53) + 1])),
        2 | 3 => Key::from(input.pick(&TEXTS)),
        _ => Key::Bytes(b"ab\0"[..input.below(4)].to_vec()),
    }
}

/// A number of any size, of which many cancel each other in part.
pub(super) fn number(input: &mut Input<'_>) -> Value {
    let bits = (0..8).fold(0, |bits, _| bits << 8 | u64::from(input.byte()));
    match input.below(8) {
        0 => Value::Int(bits as i64),
        1 => Value::Int((bits % 10) as i64 - 5),
        2 => Value::Float(input.pick(&[f64::MAX, -f64::MAX, 5e-324, 2.2250738585072014e-308, 0.1, -0.0])),
        3 => Value::Float((bits % 1000) as f64 / 8.0),
        _ => Value::Float(Some(f64::from_bits(bits)).filter(|float| float.is_finite()).unwrap_or(1.0)),
    }
}

/// Segments: names and indexes only, or any.
pub(super) fn segments(input: &mut Input<'_>, depth: usize, singular: bool) -> String {
    let segment = |input: &mut Input<'_>| match input.below(if singular { 5 } else { 10 }) {
        0..=2 => format!(".{}", input.pick(&NAMES[..4])),
        3 => input.pick(&["['e f']", "[\"a\"]", "[ 'b' ]"]).to_owned(),
        4 => format!("[{}]", input.below(5) as i64 - 2),
        5 => input.pick(&["[*]", ".*", "..*", "..a", "..[0]", "['a','b', 0]"]).to_owned(),
        6 | 7 if depth > 0 => format!("[?{}]", expr(input, depth - 1)),
        _ => input.pick(&["[1:]", "[::-1]", "[:2]", "[-2:5:2]", "[::0]", "[5:0:-2]"]).to_owned(),
    };
    (0..input.below(3)).map(|_| segment(input)).collect()
}

fn query(input: &mut Input<'_>, depth: usize, singular: bool) -> String {
    let root = input.pick(&["@", "@", "@", "$"]);
    format!("{root}{}", segments(input, depth, singular))
}

fn operand(input: &mut Input<'_>, depth: usize) -> String {
    let nested = |input: &mut Input<'_>| operand(input, depth.saturating_sub(1));
    match input.below(if depth == 0 { 8 } else { 14 }) {
        0..=3 => query(input, 0, true),
        4 | 5 => {
            input.pick(&["0", "1", "2.0", "-1", "9007199254740993", "true", "null", "1e3", "-0"]).to_owned()
        }
        6 => input.pick(&["'ab'", "\"a\"", "''", "'\\u00c4B'", "bytes('61')", "key()"]).to_owned(),
        7 => input.pick(&["arg('x')", "arg('list')"]).to_owned(),
        8 => format!("{}({})", input.pick(&["length", "lower", "fold", "time", "type"]), nested(input)),
        9 => format!("{}({})", input.pick(&["count", "value"]), query(input, depth - 1, false)),
        10 => format!("fold({})", query(input, 0, true)),
        _ => {
            let function = input.pick(&["add", "sub", "mul", "div", "mod"]);
            format!("{function}({} , {})", nested(input), nested(input))
        }
    }
}

/// A logical expression, which may be ill-typed.
pub(super) fn expr(input: &mut Input<'_>, depth: usize) -> String {
    let inner = depth.saturating_sub(1);
    match input.below(if depth == 0 { 6 } else { 10 }) {
        0..=2 => {
            let operator = input.pick(&["==", "!=", "<", "<=", ">", ">="]);
            format!("{} {operator} {}", operand(input, inner), operand(input, inner))
        }
        3 => query(input, inner, false),
        4 => {
            let function = input.pick(&["in", "starts_with", "ends_with", "contains"]);
            format!("{function}({}, {})", operand(input, inner), operand(input, inner))
        }
        5 => {
            let function = input.pick(&["match", "search"]);
            let pattern = input.pick(&["'a.*'", "'[^a]b?'", "'(a|b)+'", "'a{2'", "'^a|b$'", "@.b", "'.'"]);
            format!("{function}({}, {pattern})", operand(input, inner))
        }
        6 => format!("!({})", expr(input, inner)),
        7 => format!(
            "between({}, {}, {})",
            operand(input, inner),
            operand(input, inner),
            operand(input, inner)
        ),
        8 => format!("{} && {}", expr(input, inner), expr(input, inner)),
        _ => format!("({} || {})", expr(input, inner), expr(input, inner)),
    }
}

/// A filter that says something of the key, or of anything.
pub(super) fn filter(input: &mut Input<'_>, depth: usize) -> String {
    let constant = |input: &mut Input<'_>| input.pick(&CONSTANTS);
    match input.below(if depth == 0 { 5 } else { 8 }) {
        0 => format!("key() {} {}", input.pick(&["==", "<", "<=", ">", ">=", "!="]), constant(input)),
        1 => format!("{} {} key()", constant(input), input.pick(&["==", "<", "<=", ">", ">="])),
        2 => format!("in(key(), {}, {})", constant(input), constant(input)),
        3 => format!("between(key(), {}, {})", constant(input), constant(input)),
        4 => format!("starts_with(key(), {})", input.pick(&["'a'", "''", "bytes('61')", "bytes('')", "'Ä'"])),
        5 => {
            let join = input.pick(&["&&", "||"]);
            format!("({}) {join} ({})", filter(input, depth - 1), filter(input, depth - 1))
        }
        _ => expr(input, 2),
    }
}

/// A text near to a filter, with one piece too many.
pub(super) fn near(input: &mut Input<'_>) -> String {
    let mut text: String = match input.below(3) {
        0 => expr(input, 2),
        1 => (0..input.below(8)).map(|_| input.pick(&PIECES)).collect(),
        // Whatever the bytes are.
        _ => {
            let len = input.below(64);
            String::from_utf8_lossy(&input.by_ref().take(len).collect::<Vec<_>>()).into_owned()
        }
    };
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    if let Some(&at) = starts.get(input.below(starts.len().clamp(1, 256))) {
        text.insert_str(at, input.pick(&PIECES));
    }
    text
}
