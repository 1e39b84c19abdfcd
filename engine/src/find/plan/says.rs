//! What the conjuncts of a filter say of single paths.

use std::ops::Bound;

use crate::document::Value;
use crate::query::ast::{Argument, Call, Comparison, Expr, OfPath, Operand, Query};
use crate::query::function::Function;
use crate::query::{Segment, Selector};
use crate::seeded::{self, Bug};

/// Where a value can stand in the order of values if a condition holds. `None` is nothing, which is before every value.
#[derive(Debug, Clone)]
pub(super) enum Says {
    /// At one of these places.
    Points(Vec<Option<Value>>),
    /// Between these ends.
    Within(End, End),
}

/// An end of a range of places.
pub(super) type End = Bound<Option<Value>>;

/// What conjuncts say of the paths from one node.
#[derive(Debug, Default)]
pub(super) struct Said<'e> {
    pub(super) conditions: Vec<(OfPath<'e>, Says)>,
    /// Whether that is all that they say.
    pub(super) is_all: bool,
}

impl<'e> Said<'e> {
    /// Of the document, or of an item that a filter in brackets is asked of.
    pub(super) fn by(conjuncts: &'e [Expr], of_document: bool) -> Self {
        let mut said = Said { conditions: Vec::with_capacity(conjuncts.len()), is_all: true };
        for conjunct in conjuncts {
            said.is_all &= said.add(conjunct, of_document);
        }
        said
    }

    /// Whether the conjunct says only what was added.
    fn add(&mut self, conjunct: &'e Expr, of_document: bool) -> bool {
        let before = self.conditions.len();
        match conjunct {
            Expr::Compare(left, comparison, right) => {
                let to_right = of_path(left, of_document).zip(right.constant());
                let to_left = || of_path(right, of_document).zip(left.constant());
                if let Some((of, value)) = to_right {
                    self.conditions.extend(compared(*comparison, &value).map(|says| (of, says)));
                } else if let Some((of, value)) = to_left() {
                    let says = compared(comparison.mirrored(), &value);
                    self.conditions.extend(says.map(|says| (of, says)));
                }
            }
            Expr::Exists(query) => {
                let path = singular(query, of_document);
                self.conditions.extend(path.map(|steps| ((None, steps), Says::a_value())));
            }
            Expr::Not(inner) => {
                // An item of which an index would have nothing at all gives it no entry.
                if of_document
                    && let Expr::Exists(query) = &**inner
                    && let Some(steps) = singular(query, of_document)
                {
                    self.conditions.push(((None, steps), Says::Points(vec![None])));
                }
            }
            Expr::Test(call) => self.add_test(call, of_document),
            Expr::And(_) | Expr::Or(_) => {}
        }
        self.conditions.len() > before
    }

    fn add_test(&mut self, call: &'e Call, of_document: bool) {
        let Some(Argument::Value(of)) = call.args.first() else { return };
        let Some(of) = of_path(of, of_document) else { return };
        let Some(constants) = call.constants() else { return };
        let values: Vec<&Value> = constants.iter().map(|value| &**value).collect();
        match (call.function, values.as_slice()) {
            (Function::In, _) => {
                let mut listed: Vec<Option<Value>> = call.listed(&constants).cloned().map(Some).collect();
                listed.sort_by(place_cmp);
                listed.dedup_by(|one, other| place_cmp(one, other).is_eq());
                self.conditions.push((of, Says::Points(listed)));
            }
            (Function::Between, [low, high]) => {
                let both = [(Comparison::GreaterOrEqual, low), (Comparison::LessOrEqual, high)];
                let both = both.into_iter().filter_map(|(comparison, to)| compared(comparison, to));
                self.conditions.extend(both.map(|says| (of, says)));
            }
            (Function::StartsWith, [Value::Text(prefix)]) => {
                let end = above_text(prefix).map_or(Value::Bytes(Vec::new()), Value::from);
                self.conditions.push((of, Says::from_to(Value::Text(prefix.clone()), end)));
            }
            (Function::StartsWith, [Value::Bytes(prefix)]) => {
                let end = above_bytes(prefix).map_or(Value::Array(Vec::new()), Value::Bytes);
                self.conditions.push((of, Says::from_to(Value::Bytes(prefix.clone()), end)));
            }
            _ => {}
        }
    }
}

impl Says {
    /// That there is a value.
    pub(super) fn a_value() -> Self {
        Says::Within(Bound::Excluded(None), Bound::Unbounded)
    }

    fn from_to(from: Value, to: Value) -> Self {
        Says::Within(Bound::Included(Some(from)), Bound::Excluded(Some(to)))
    }

    /// Whether it leaves no room for nothing.
    pub(super) fn is_of_values(&self) -> bool {
        match self {
            Says::Points(points) => points.iter().all(Option::is_some),
            Says::Within(Bound::Unbounded | Bound::Included(None), _) => false,
            Says::Within(..) => true,
        }
    }

    /// That both hold, and whether that is said exactly.
    pub(super) fn and(self, other: Self) -> (Self, bool) {
        match (self, other) {
            (Says::Within(from, to), Says::Within(other_from, other_to)) => {
                let from = if is_higher(&other_from, &from, false) { other_from } else { from };
                let to = if is_higher(&other_to, &to, true) { to } else { other_to };
                (Says::Within(from, to), true)
            }
            (Says::Points(points), Says::Points(others)) if others.len() < points.len() => {
                (Says::Points(others), false)
            }
            (points @ Says::Points(_), _) | (_, points) => (points, false),
        }
    }
}

/// The order of places.
pub(super) fn place_cmp(one: &Option<Value>, other: &Option<Value>) -> std::cmp::Ordering {
    match (one, other) {
        (Some(one), Some(other)) => one.order_cmp(other),
        _ => one.is_some().cmp(&other.is_some()),
    }
}

/// Whether `one` is the higher one of two ends, which are both upper ends or both lower ones.
fn is_higher(one: &End, other: &End, upper: bool) -> bool {
    match (one, other) {
        (Bound::Unbounded, _) => upper,
        (_, Bound::Unbounded) => !upper,
        (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => {
            let is_excluded = |end: &End| matches!(end, Bound::Excluded(_));
            let beside = is_excluded(one) != is_excluded(other) && is_excluded(one) != upper;
            place_cmp(a, b)
                .then(if beside { std::cmp::Ordering::Greater } else { std::cmp::Ordering::Less })
                .is_gt()
        }
    }
}

//= spec/query.md#q-10-2-ranges-of-an-index
//# Where a filter compares, an index MUST be read in a range of values of one type.
/// Where a value can stand that compares so; `None` where that is no range.
fn compared(comparison: Comparison, to: &Value) -> Option<Says> {
    let point = || Says::Points(vec![Some(to.clone())]);
    let kind = match to {
        // What is equal stands at one place, of whatever type it is.
        _ if comparison == Comparison::Equal => None,
        Value::Int(_) | Value::Float(_) => Some((Value::Float(f64::NAN), Value::from(""))),
        Value::Text(_) => Some((Value::from(""), Value::Bytes(Vec::new()))),
        Value::Bytes(_) => Some((Value::Bytes(Vec::new()), Value::Array(Vec::new()))),
        // Values of these types are equal or not, and never less.
        _ => None,
    };
    let Some((least, beyond)) = kind else {
        return Some(match comparison {
            Comparison::NotEqual => return None,
            Comparison::Equal | Comparison::LessOrEqual | Comparison::GreaterOrEqual => point(),
            Comparison::Less | Comparison::Greater => Says::Points(Vec::new()),
        });
    };
    let least = match seeded::is_on(Bug::RangeFromNothing) {
        true => Bound::Unbounded,
        false => Bound::Included(Some(least)),
    };
    let beyond = match seeded::is_on(Bug::RangeOfManyKinds) {
        true => Bound::Unbounded,
        false => Bound::Excluded(Some(beyond)),
    };
    let to = Some(to.clone());
    Some(match comparison {
        Comparison::Equal | Comparison::NotEqual => return None,
        Comparison::Less => Says::Within(least, Bound::Excluded(to)),
        Comparison::LessOrEqual => Says::Within(least, Bound::Included(to)),
        Comparison::Greater => Says::Within(Bound::Excluded(to), beyond),
        Comparison::GreaterOrEqual => Says::Within(Bound::Included(to), beyond),
    })
}

/// The least text above all that begin with `prefix`; `None` where there is none.
fn above_text(prefix: &str) -> Option<String> {
    let mut above = prefix.to_owned();
    while let Some(last) = above.pop() {
        if let Some(next) = ((last as u32 + 1)..=char::MAX as u32).find_map(char::from_u32) {
            above.push(next);
            if seeded::is_on(Bug::PrefixTooWide) {
                above.push(next);
            }
            return Some(above);
        }
    }
    None
}

/// As [`above_text`], of byte strings.
fn above_bytes(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xFF)?;
    let mut above = prefix[..=last].to_vec();
    above[last] += 1;
    Some(above)
}

/// The path that an operand is, or is a function of.
fn of_path(operand: &Operand, of_document: bool) -> Option<OfPath<'_>> {
    match operand {
        Operand::Singular(query) => singular(query, of_document).map(|steps| (None, steps)),
        Operand::Call(call) => {
            let (function, query) = call.of_path()?;
            let function = Some(function).filter(|_| !seeded::is_on(Bug::FunctionOfPathForgotten));
            singular(query, of_document).map(|steps| (function, steps))
        }
        _ => None,
    }
}

fn singular(query: &Query, of_document: bool) -> Option<&[Segment]> {
    // Within brackets, `$` is not the item.
    ((of_document || !query.from_root) && query.is_singular()).then_some(&query.segments)
}

/// What an expression says of the items of a fan-out: one list for each part of it that some item has to meet.
pub(super) fn of_items<'e>(conjuncts: &'e [Expr], fan_out: &[Segment], of_document: bool) -> Vec<Said<'e>> {
    let mut found = Vec::new();
    for conjunct in conjuncts {
        if let Expr::Exists(query) = conjunct
            && (of_document || !query.from_root)
        {
            follow(&query.segments, fan_out, conjuncts.len() == 1, &mut found);
        }
    }
    found
}

/// Follows a path that has to select something along a fan-out. `is_all` says whether nothing else is asked.
fn follow<'e>(segments: &'e [Segment], fan_out: &[Segment], is_all: bool, found: &mut Vec<Said<'e>>) {
    let (Some((step, further)), Some((segment, rest))) = (fan_out.split_first(), segments.split_first())
    else {
        return;
    };
    if step.singular().is_some() {
        if segment == step {
            follow(rest, further, is_all, found);
        }
        return;
    }
    let asked = match segment.selectors.as_slice() {
        _ if segment.descends => return,
        [Selector::Wildcard] => &[],
        [Selector::Filter(expr)] => expr.conjuncts(),
        _ => return,
    };
    if further.is_empty() {
        let mut said = Said::by(asked, false);
        let is_singular = rest.iter().all(|segment| segment.singular().is_some());
        if is_singular {
            said.conditions.push(((None, rest), Says::a_value()));
        }
        said.is_all &= is_all && is_singular;
        found.push(said);
        return;
    }
    follow(rest, further, is_all && asked.is_empty(), found);
    for expr in asked {
        if let Expr::Exists(query) = expr
            && !query.from_root
        {
            let is_all = is_all && asked.len() == 1 && rest.is_empty();
            follow(&query.segments, further, is_all, found);
        }
    }
}
