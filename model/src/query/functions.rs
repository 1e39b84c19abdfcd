//! The functions of `spec/query.md`, Q-5.

use std::collections::BTreeMap;

use super::evaluate::{Scope, equal, less};
use super::pattern;
use super::time::time;
use super::{Segment, Selector, Term};
use crate::key::Key;
use crate::value::Value;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Type {
    Value,
    Logical,
    Nodes,
}

fn is_singular(segments: &[Segment]) -> bool {
    segments.iter().all(|segment| {
        !segment.descends && matches!(segment.selectors.as_slice(), [Selector::Name(_) | Selector::Index(_)])
    })
}

/// The type of a term: a query that selects one node at most can be a value.
pub(super) fn type_of(term: &Term) -> Type {
    match term {
        Term::Literal(_) => Type::Value,
        Term::Query { segments, .. } if is_singular(segments) => Type::Value,
        Term::Query { .. } => Type::Nodes,
        Term::Call(name, _) => match name.as_str() {
            "match" | "search" | "in" | "between" | "starts_with" | "ends_with" | "contains" => Type::Logical,
            _ => Type::Value,
        },
    }
}

/// Whether a function takes these arguments.
pub(super) fn check(name: &str, args: &[Term]) -> Result<(), String> {
    let count = match name {
        "key" => 0..=0,
        "length" | "count" | "value" | "arg" | "bytes" | "lower" | "fold" | "time" | "type" => 1..=1,
        "match" | "search" | "starts_with" | "ends_with" | "contains" | "add" | "sub" | "mul" | "div"
        | "mod" => 2..=2,
        "between" => 3..=3,
        "in" => 2..=4096,
        _ => return Err(format!("there is no function {name}")),
    };
    let right = match name {
        "count" | "value" => args.iter().all(|term| matches!(term, Term::Query { .. })),
        "arg" => matches!(args, [Term::Literal(Value::Text(_))]),
        "bytes" => matches!(args, [Term::Literal(Value::Text(text))] if from_hex(text).is_some()),
        _ => args.iter().all(|term| type_of(term) == Type::Value),
    };
    if count.contains(&args.len()) && right { Ok(()) } else { Err(format!("{name} does not take these")) }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<char> = text.chars().collect();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks(2).map(|pair| Some((pair[0].to_digit(16)? * 16 + pair[1].to_digit(16)?) as u8)).collect()
}

/// What `fold`, `lower`, `time` or `length` gives of a value.
pub(crate) fn of_value(name: &str, value: &Value) -> Option<Value> {
    let parameters = BTreeMap::new();
    let scope = Scope { root: value, current: value, key: None, parameters: &parameters };
    self::value(&scope, name, &[Term::Query { from_root: true, segments: Vec::new() }])
}

/// The result of a function that gives a value.
pub(super) fn value(scope: &Scope<'_>, name: &str, args: &[Term]) -> Option<Value> {
    let text = |at: usize| match scope.value(&args[at]) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    };
    match name {
        "count" => Some(Value::Int(scope.nodes(&args[0]).len() as i64)),
        "value" => {
            let mut nodes = scope.nodes(&args[0]);
            if nodes.len() == 1 { nodes.pop() } else { None }
        }
        "length" => Some(Value::Int(match scope.value(&args[0])? {
            Value::Text(text) => text.chars().count(),
            Value::Bytes(bytes) => bytes.len(),
            Value::Array(items) => items.len(),
            Value::Object(fields) => fields.len(),
            _ => return None,
        } as i64)),
        "arg" => scope.parameters.get(&text(0)?).cloned(),
        "bytes" => from_hex(&text(0)?).map(Value::Bytes),
        "key" => Some(match scope.key?.clone() {
            Key::Int(int) => Value::Int(int),
            Key::Text(text) => Value::Text(text),
            Key::Bytes(bytes) => Value::Bytes(bytes),
        }),
        "lower" => text(0).map(|text| Value::Text(text.to_ascii_lowercase())),
        "fold" => text(0).map(|text| Value::Text(text.chars().map(fold).collect())),
        "time" => time(&text(0)?).map(Value::Int),
        "type" => Some(Value::from(match scope.value(&args[0])? {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Text(_) => "text",
            Value::Bytes(_) => "bytes",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        })),
        _ => arithmetic(name, &scope.value(&args[0])?, &scope.value(&args[1])?),
    }
}

//= spec/query.md#q-5-4-case
//# The table MUST NOT follow later versions of Unicode: an index on `fold` would change its order.
fn fold(c: char) -> char {
    let code = format!("{:04X} ", u32::from(c));
    let line = include_str!("../../../spec/folding.txt").lines().find_map(|line| line.strip_prefix(&code));
    line.and_then(|to| char::from_u32(u32::from_str_radix(to, 16).ok()?)).unwrap_or(c)
}

//= spec/query.md#q-5-6-numbers
//# Of two ints, the result MUST be the exact int, or nothing where there is none.
fn arithmetic(name: &str, left: &Value, right: &Value) -> Option<Value> {
    if let (Value::Int(a), Value::Int(b)) = (left, right) {
        let (a, b) = (i128::from(*a), i128::from(*b));
        let exact = match name {
            "add" => a + b,
            "sub" => a - b,
            "mul" => a * b,
            _ if b == 0 => return None,
            "div" => a / b,
            _ => a % b,
        };
        return i64::try_from(exact).ok().map(Value::Int);
    }
    let float = |value: &Value| match value {
        Value::Int(int) => Some(*int as f64),
        Value::Float(float) => Some(*float),
        _ => None,
    };
    let (a, b) = (float(left)?, float(right)?);
    let result = match name {
        "add" => a + b,
        "sub" => a - b,
        "mul" => a * b,
        "div" => a / b,
        _ => a % b,
    };
    result.is_finite().then_some(Value::Float(result))
}

/// The result of a function that is true or false.
pub(super) fn test(scope: &Scope<'_>, name: &str, args: &[Term]) -> bool {
    let values: Vec<Option<Value>> = args.iter().map(|term| scope.value(term)).collect();
    match name {
        "in" => {
            let others = args[1..].iter().zip(&values[1..]).flat_map(|(term, value)| match (term, value) {
                (Term::Call(name, _), Some(Value::Array(items))) if name == "arg" => {
                    items.iter().cloned().map(Some).collect()
                }
                _ => vec![value.clone()],
            });
            values[0].is_some() && others.into_iter().any(|other| equal(&values[0], &other))
        }
        "between" => {
            let at_most = |a: &Option<Value>, b: &Option<Value>| less(a, b) || equal(a, b);
            at_most(&values[1], &values[0]) && at_most(&values[0], &values[2])
        }
        _ => match (name, &values[0], &values[1]) {
            ("match" | "search", Some(Value::Text(text)), Some(Value::Text(pattern))) => {
                pattern::matches(pattern, text, name == "match")
            }
            (_, Some(Value::Text(whole)), Some(Value::Text(part))) => {
                has(name, whole.as_bytes(), part.as_bytes())
            }
            (_, Some(Value::Bytes(whole)), Some(Value::Bytes(part))) => has(name, whole, part),
            _ => false,
        },
    }
}

fn has(name: &str, whole: &[u8], part: &[u8]) -> bool {
    match name {
        "starts_with" => whole.starts_with(part),
        "ends_with" => whole.ends_with(part),
        "contains" => (0..=whole.len()).any(|at| whole[at..].starts_with(part)),
        _ => false,
    }
}
