//! The tree that a query text stands for, and that the builder makes.

use std::cmp::Ordering;

use super::function::Function;
use super::pattern::Pattern;
use crate::document::{Text, Value};
use crate::sync::Arc;

/// One step of a path: what it selects of a node's children, or of all its descendants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Whether it looks at the node and all its descendants, and not at the node alone.
    pub(crate) descends: bool,
    pub(crate) selectors: Vec<Selector>,
}

/// What one selector takes of a node's children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Selector {
    Name(Text),
    Wildcard,
    /// Counts from the end where it is below 0.
    Index(i64),
    Slice(Slice),
    Filter(Expr),
}

/// The items from `start` to before `end`, every `step`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) start: Option<i64>,
    pub(crate) end: Option<i64>,
    pub(crate) step: i64,
}

/// A path from the current node (`@`) or from the root (`$`).
#[derive(Debug, Clone, Eq)]
pub(crate) struct Query {
    pub(crate) from_root: bool,
    // Shared, since each run of a filter has a copy of it, for the values of its parameters.
    pub(crate) segments: Arc<[Segment]>,
    /// Where the filter that the query is part of keeps what the query leads to, if it is found in the one pass over a document.
    pub(crate) number: Option<u8>,
}

// The number is of the filter around the query, and says nothing of what it selects.
impl PartialEq for Query {
    fn eq(&self, other: &Self) -> bool {
        self.from_root == other.from_root && self.segments == other.segments
    }
}

/// A logical expression: true or false of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expr {
    /// Two or more, none of which is an `Or`.
    Or(Vec<Expr>),
    /// Two or more, none of which is an `And`.
    And(Vec<Expr>),
    /// Of anything but a `Not`.
    Not(Box<Expr>),
    /// Whether the query selects anything.
    Exists(Query),
    Compare(Operand, Comparison, Operand),
    /// A function whose result is logical.
    Test(Call),
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A value, or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operand {
    Literal(Value),
    /// A parameter, and its value once that is bound.
    Parameter(Text, Option<Value>),
    /// Only names and indexes, so it selects one node at most.
    Singular(Query),
    /// A function whose result is a value.
    Call(Call),
}

/// A function with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) function: Function,
    pub(crate) args: Vec<Argument>,
    /// What is made of the arguments before the run, where they are known by then.
    pub(crate) prepared: Option<Prepared>,
}

/// What is made of arguments that no document changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Prepared {
    /// The second of `match` and `search`.
    Pattern(Box<Pattern>),
    /// The scalars that `in` lists, in the order of values.
    Scalars(Vec<Value>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Argument {
    Value(Operand),
    Nodes(Query),
}

/// What gives the values of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    Nodes(Query),
    Call(Call),
}

/// A path from a node, or what a function gives of its value.
pub(crate) type OfPath<'q> = (Option<Function>, &'q [Segment]);

impl Call {
    /// The function and its path, if it is one that an index can have of a path.
    pub(crate) fn of_path(&self) -> Option<(Function, &Query)> {
        match self.args.as_slice() {
            [Argument::Value(Operand::Singular(query))] if Function::OF_PATHS.contains(&self.function) => {
                Some((self.function, query))
            }
            _ => None,
        }
    }
}

impl Comparison {
    /// Whether two values compare so that stand to one another like this: unequal and in no order where that is `None`.
    #[inline]
    pub(super) fn admits(self, relation: Option<Ordering>) -> bool {
        match self {
            Comparison::Equal => relation == Some(Ordering::Equal),
            Comparison::NotEqual => relation != Some(Ordering::Equal),
            Comparison::Less => relation == Some(Ordering::Less),
            Comparison::LessOrEqual => relation.is_some_and(Ordering::is_le),
            Comparison::Greater => relation == Some(Ordering::Greater),
            Comparison::GreaterOrEqual => relation.is_some_and(Ordering::is_ge),
        }
    }

    /// The same between the operands the other way round.
    pub(crate) fn mirrored(self) -> Self {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            same => same,
        }
    }
}

impl Segment {
    pub(crate) fn child(selector: Selector) -> Self {
        Segment { descends: false, selectors: vec![selector] }
    }

    /// The one name or index that the segment takes, if that is all that it does.
    pub(crate) fn singular(&self) -> Option<&Selector> {
        match self.selectors.as_slice() {
            [selector @ (Selector::Name(_) | Selector::Index(_))] if !self.descends => Some(selector),
            _ => None,
        }
    }
}

impl Query {
    pub(crate) fn new(from_root: bool, segments: Vec<Segment>) -> Self {
        Query { from_root, segments: segments.into(), number: None }
    }

    pub(crate) fn is_singular(&self) -> bool {
        self.segments.iter().all(|segment| segment.singular().is_some())
    }
}

impl Expr {
    /// The parts that all have to hold.
    pub(crate) fn conjuncts(&self) -> &[Expr] {
        match self {
            Expr::And(parts) => parts,
            one => std::slice::from_ref(one),
        }
    }

    /// That one of `parts` holds.
    pub(crate) fn or(parts: impl IntoIterator<Item = Expr>) -> Expr {
        let flat = parts.into_iter().flat_map(|part| match part {
            Expr::Or(parts) => parts,
            other => vec![other],
        });
        Self::joined(flat.collect(), Expr::Or)
    }

    /// That all of `parts` hold.
    pub(crate) fn and(parts: impl IntoIterator<Item = Expr>) -> Expr {
        let flat = parts.into_iter().flat_map(|part| match part {
            Expr::And(parts) => parts,
            other => vec![other],
        });
        Self::joined(flat.collect(), Expr::And)
    }

    fn joined(mut parts: Vec<Expr>, join: fn(Vec<Expr>) -> Expr) -> Expr {
        match parts.len() {
            1 => parts.remove(0),
            _ => join(parts),
        }
    }

    /// That `self` does not hold.
    pub(crate) fn negated(self) -> Expr {
        match self {
            Expr::Not(inner) => *inner,
            other => Expr::Not(Box::new(other)),
        }
    }
}
