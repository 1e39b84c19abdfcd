//! Which keys a filter can admit, told from what it says of `key()`.

use std::ops::Bound;

use crate::document::{Key, Value};
use crate::index::KeyRange;
use crate::query::ast::{Argument, Call, Comparison, Expr, Operand};
use crate::query::function::Function;
use crate::seeded::{self, Bug};

/// No other keys than these: a document under another is not admitted. One under these still has to be asked.
#[derive(Debug, Clone)]
pub(super) enum KeysWanted {
    Range(KeyRange),
    /// In order, and each once.
    These(Vec<Key>),
}

impl KeysWanted {
    pub(super) fn all() -> Self {
        KeysWanted::Range(KeyRange::all())
    }

    fn none() -> Self {
        KeysWanted::These(Vec::new())
    }

    fn these(mut keys: Vec<Key>) -> Self {
        keys.sort();
        keys.dedup();
        KeysWanted::These(keys)
    }

    /// Of a logical expression.
    pub(super) fn of(expr: &Expr) -> Self {
        match expr {
            Expr::And(parts) => parts.iter().map(Self::of).fold(Self::all(), Self::and),
            Expr::Or(parts) => parts.iter().map(Self::of).reduce(Self::or).unwrap_or_else(Self::all),
            Expr::Compare(left, comparison, right) => match (is_key(left), is_key(right)) {
                (true, false) => right.constant().map_or_else(Self::all, |to| compared(*comparison, &to)),
                (false, true) => {
                    left.constant().map_or_else(Self::all, |to| compared(comparison.mirrored(), &to))
                }
                _ => Self::all(),
            },
            Expr::Test(call) => tested(call),
            Expr::Not(_) | Expr::Exists(_) => Self::all(),
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (KeysWanted::These(mut keys), KeysWanted::These(others)) => {
                keys.retain(|key| others.binary_search(key).is_ok());
                KeysWanted::These(keys)
            }
            (KeysWanted::These(mut keys), KeysWanted::Range(range))
            | (KeysWanted::Range(range), KeysWanted::These(mut keys)) => {
                keys.retain(|key| range.contains(key));
                KeysWanted::These(keys)
            }
            (KeysWanted::Range(a), KeysWanted::Range(b)) => KeysWanted::Range(KeyRange {
                from: if is_lower(&a.from, &b.from) { b.from } else { a.from },
                to: if is_higher(&a.to, &b.to) { b.to } else { a.to },
            }),
        }
    }

    /// Two ranges become the one that has both, and what lies between.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (KeysWanted::These(mut keys), KeysWanted::These(others)) => {
                keys.extend(others);
                Self::these(keys)
            }
            (a, b) => match (a.hull(), b.hull()) {
                (None, Some(range)) | (Some(range), None) => KeysWanted::Range(range),
                (Some(a), Some(b)) => KeysWanted::Range(KeyRange {
                    from: if is_lower(&a.from, &b.from) { a.from } else { b.from },
                    to: if is_higher(&a.to, &b.to) { a.to } else { b.to },
                }),
                (None, None) => Self::none(),
            },
        }
    }

    /// The range from the first key to the last; `None` where there are none.
    pub(super) fn hull(&self) -> Option<KeyRange> {
        match self {
            KeysWanted::Range(range) => Some(range.clone()),
            KeysWanted::These(keys) => {
                let (first, last) = (keys.first()?.clone(), keys.last()?.clone());
                Some(KeyRange { from: Bound::Included(first), to: Bound::Included(last) })
            }
        }
    }

    pub(super) fn contains(&self, key: &Key) -> bool {
        match self {
            KeysWanted::Range(range) => range.contains(key),
            KeysWanted::These(keys) => keys.binary_search(key).is_ok(),
        }
    }

    /// Only those after `key`, in the direction of the walk.
    pub(super) fn beyond(self, key: &Key, reverse: bool) -> Self {
        self.and(KeysWanted::Range(KeyRange::all().beyond(key, reverse)))
    }
}

/// Whether the lower bound `a` lets more in than `b`.
fn is_lower(a: &Bound<Key>, b: &Bound<Key>) -> bool {
    match (a, b) {
        (Bound::Unbounded, _) => true,
        (_, Bound::Unbounded) => false,
        (Bound::Included(a), Bound::Excluded(b)) => a <= b,
        (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => a < b,
    }
}

/// Whether the upper bound `a` lets more in than `b`.
fn is_higher(a: &Bound<Key>, b: &Bound<Key>) -> bool {
    match (a, b) {
        (Bound::Unbounded, _) => true,
        (_, Bound::Unbounded) => false,
        (Bound::Included(a), Bound::Excluded(b)) => a >= b,
        (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => a > b,
    }
}

fn is_key(operand: &Operand) -> bool {
    matches!(operand, Operand::Call(call) if call.function == Function::Key)
}

/// The key that is equal to a value; 1.0 is equal to 1.
fn key_at(value: &Value) -> Option<Key> {
    match value {
        Value::Int(int) => Some(Key::Int(*int)),
        Value::Text(text) => Some(Key::Text(text.clone())),
        Value::Bytes(bytes) => Some(Key::Bytes(bytes.as_slice().into())),
        Value::Float(float) => {
            let int = *float as i64;
            Value::Int(int).order_cmp(value).is_eq().then_some(Key::Int(int))
        }
        _ => None,
    }
}

/// The keys that can be less or greater than `value`, and those only: they are of its type.
fn of_its_type(value: &Value) -> Option<KeyRange> {
    Some(match value {
        Value::Int(_) | Value::Float(_) => {
            KeyRange { from: Bound::Included(Key::Int(i64::MIN)), to: Bound::Included(Key::Int(i64::MAX)) }
        }
        Value::Text(_) => KeyRange::text_prefix(""),
        Value::Bytes(_) => KeyRange::bytes_prefix(&b""[..]),
        _ => return None,
    })
}

fn compared(comparison: Comparison, to: &Value) -> KeysWanted {
    if comparison == Comparison::NotEqual {
        return KeysWanted::all();
    }
    let key = key_at(to);
    if comparison == Comparison::Equal {
        return KeysWanted::These(key.into_iter().collect());
    }
    let Some(mut range) = of_its_type(to) else { return KeysWanted::none() };
    // A float between two ints bounds nothing here: the filter does.
    if let Some(key) = key {
        match comparison {
            Comparison::Less => range.to = Bound::Excluded(key),
            Comparison::LessOrEqual if seeded::is_on(Bug::KeyRangeHalfOpen) => {
                range.to = Bound::Excluded(key);
            }
            Comparison::LessOrEqual => range.to = Bound::Included(key),
            Comparison::Greater => range.from = Bound::Excluded(key),
            _ => range.from = Bound::Included(key),
        }
    }
    KeysWanted::Range(range)
}

fn tested(call: &Call) -> KeysWanted {
    let (Some(Argument::Value(first)), Some(constants)) = (call.args.first(), call.constants()) else {
        return KeysWanted::all();
    };
    let values: Vec<&Value> = constants.iter().map(|value| &**value).collect();
    match (call.function, values.as_slice()) {
        _ if !is_key(first) => KeysWanted::all(),
        (Function::In, _) => KeysWanted::these(call.listed(&constants).filter_map(key_at).collect()),
        (Function::Between, [low, high]) => {
            compared(Comparison::GreaterOrEqual, low).and(compared(Comparison::LessOrEqual, high))
        }
        (Function::StartsWith, [Value::Text(prefix)]) if seeded::is_on(Bug::PrefixTooNarrow) => {
            let range = KeyRange::text_prefix(prefix);
            KeysWanted::Range(range.beyond(&Key::Text(prefix.clone()), false))
        }
        (Function::StartsWith, [Value::Text(prefix)]) => KeysWanted::Range(KeyRange::text_prefix(prefix)),
        (Function::StartsWith, [Value::Bytes(prefix)]) => {
            KeysWanted::Range(KeyRange::bytes_prefix(prefix.as_slice()))
        }
        _ => KeysWanted::all(),
    }
}
