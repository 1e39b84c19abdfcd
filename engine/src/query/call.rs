//! What the functions give. spec: Q-5.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::slice;

use super::arithmetic::arithmetic;
use super::ast::{Argument, Call, Comparison, Operand, Prepared, Query};
use super::evaluate::{Item, Run, Scope, compare, is_between};
use super::function::Function;
use super::pattern::Pattern;
use super::text::Mapping;
use super::time::milliseconds;
use crate::document::node::{Node, Scalar, View};
use crate::document::order::{order_cmp, scalar_cmp};
use crate::document::{KeyRef, Kind, RawValue, Value};
use crate::error::{Error, Result};
use crate::seeded::{self, Bug};

impl Call {
    /// The call of a function with arguments of the right types.
    ///
    /// # Errors
    /// `PatternTooLarge`, where `match` or `search` has a literal pattern that is.
    pub(crate) fn new(function: Function, args: Vec<Argument>) -> Result<Self> {
        let mut call = Call { function, args, prepared: None };
        call.prepare()?;
        Ok(call)
    }

    /// The call of `in`, in which no pattern can be too large.
    pub(super) fn of_in(args: Vec<Argument>) -> Self {
        let mut call = Call { function: Function::In, args, prepared: None };
        call.prepared = call.scalars();
        call
    }

    /// Makes what it can of the arguments that are known by now.
    ///
    /// # Errors
    /// `PatternTooLarge`.
    pub(super) fn prepare(&mut self) -> Result<()> {
        self.prepared = match self.function {
            Function::In => self.scalars(),
            Function::Match => self.pattern(true)?,
            Function::Search => self.pattern(false)?,
            _ => None,
        };
        Ok(())
    }

    /// Whether binding may change what was made of the arguments.
    pub(super) fn has_parameter(&self) -> bool {
        self.args.iter().any(|argument| match argument {
            Argument::Value(Operand::Parameter(..)) => true,
            Argument::Value(Operand::Call(inner)) => inner.has_parameter(),
            Argument::Value(Operand::Literal(_) | Operand::Singular(_)) | Argument::Nodes(_) => false,
        })
    }

    fn pattern(&self, anchored: bool) -> Result<Option<Prepared>> {
        let Some(Argument::Value(
            Operand::Literal(Value::Text(text)) | Operand::Parameter(_, Some(Value::Text(text))),
        )) = self.args.get(1)
        else {
            return Ok(None);
        };
        let pattern = Pattern::compile(text, anchored);
        let pattern = pattern.ok_or_else(|| Error::PatternTooLarge { pattern: text.to_string() })?;
        Ok(Some(Prepared::Pattern(Box::new(pattern))))
    }

    fn scalars(&self) -> Option<Prepared> {
        let constants = self.constants()?;
        let is_scalar = |value: &&Value| matches!(Node::view(value), View::Scalar(_));
        let mut scalars: Vec<Value> = self.listed(&constants).filter(is_scalar).cloned().collect();
        if !seeded::is_on(Bug::ListedAsWritten) {
            scalars.sort_by(|a, b| order_cmp(&a, &b));
        }
        Some(Prepared::Scalars(scalars))
    }

    /// What it gives, where that is a value that no document changes.
    fn constant(&self) -> Option<Value> {
        let is_constant = |argument: &Argument| match argument {
            Argument::Value(operand) => operand.constant().is_some(),
            Argument::Nodes(_) => false,
        };
        if self.args.is_empty() || !self.args.iter().all(is_constant) {
            return None;
        }
        if seeded::is_on(Bug::FunctionOfConstantForgotten) {
            return self.operand(0).constant().map(Cow::into_owned);
        }
        let (no_document, run) = (&Value::Null, Run::of_value());
        owned(&Scope::new(&no_document, &run).call(self))
    }

    /// The arguments behind the first, where no document changes any of them.
    pub(crate) fn constants(&self) -> Option<Vec<Cow<'_, Value>>> {
        let constants = self.args.iter().skip(1).map(|argument| match argument {
            Argument::Value(operand) => operand.constant(),
            Argument::Nodes(_) => None,
        });
        constants.collect()
    }

    /// What these arguments of `in` list: a parameter that is bound to an array stands for its items.
    pub(crate) fn listed<'c>(&'c self, constants: &'c [Cow<'_, Value>]) -> impl Iterator<Item = &'c Value> {
        let arguments = self.args.iter().skip(1).zip(constants);
        arguments.flat_map(|(argument, value)| match (argument, &**value) {
            (Argument::Value(Operand::Parameter(..)), Value::Array(items)) => items.as_slice(),
            (_, value) => slice::from_ref(value),
        })
    }

    pub(super) fn operand(&self, at: usize) -> &Operand {
        match &self.args[at] {
            Argument::Value(operand) => operand,
            Argument::Nodes(_) => unreachable!("the types of arguments are checked when a call is made"),
        }
    }

    fn query(&self) -> &Query {
        match &self.args[0] {
            Argument::Nodes(query) => query,
            Argument::Value(_) => unreachable!("the types of arguments are checked when a call is made"),
        }
    }
}

impl Operand {
    /// Its value, where it has one that no document changes.
    pub(crate) fn constant(&self) -> Option<Cow<'_, Value>> {
        match self {
            Operand::Literal(value) | Operand::Parameter(_, Some(value)) => Some(Cow::Borrowed(value)),
            Operand::Parameter(_, None) | Operand::Singular(_) => None,
            Operand::Call(call) => call.constant().map(Cow::Owned),
        }
    }
}

//= spec/index.md#i-1-5-functions
//# Under a function, a path MUST give what the function gives of the value that the path alone would give,
//# and nothing where that is nothing.
/// What a function that an index can have of a path gives of a value.
pub(crate) fn of_value(function: Function, value: RawValue<'_>) -> Option<Value> {
    owned(&of_item(function, &Item::of_node(value)))
}

/// What a function has given.
fn owned<'i, 'v: 'i, N: Node<'v>>(given: &Item<'i, N>) -> Option<Value> {
    match given {
        Item::Scalar(Scalar::Int(int)) => Some(Value::Int(*int)),
        Item::Scalar(Scalar::Float(float)) => Some(Value::Float(*float)),
        _ => given.as_text().map(|(text, mapping)| mapping.read(text, |text| Value::from(text))),
    }
}

impl<'r, 'v, N: Node<'v>> Scope<'r, 'v, N> {
    /// The result of a function that gives a value or nothing.
    pub(super) fn call<'i>(&self, call: &'i Call) -> Item<'i, N>
    where
        'v: 'i,
        'r: 'i,
    {
        let arg = |at| self.item(call.operand(at));
        match call.function {
            Function::Count => {
                let mut count = 0;
                let _ = self.nodes(call.query(), &mut |_| {
                    count += 1;
                    ControlFlow::Continue(())
                });
                Item::Scalar(Scalar::Int(count))
            }
            Function::Value => self.only(call.query()).map_or(Item::Nothing, Item::of_node),
            Function::Key => match self.run.key {
                Some(KeyRef::Int(int)) => Item::Scalar(Scalar::Int(int)),
                Some(KeyRef::Text(text)) => Item::text(text),
                Some(KeyRef::Bytes(bytes)) => Item::Scalar(Scalar::Bytes(bytes)),
                None => Item::Nothing,
            },
            Function::Fold | Function::Lower | Function::Time | Function::Length => {
                of_item(call.function, &arg(0))
            }
            Function::Type => kind(&arg(0)).map_or(Item::Nothing, |kind| Item::text(kind.name())),
            Function::Add | Function::Sub | Function::Mul | Function::Div | Function::Mod => {
                match (arg(0), arg(1)) {
                    (Item::Scalar(a), Item::Scalar(b)) => {
                        arithmetic(call.function, a, b).map_or(Item::Nothing, Item::Scalar)
                    }
                    _ => Item::Nothing,
                }
            }
            _ => unreachable!("the parser takes every other function for a test or a literal"),
        }
    }

    /// The one node that `query` selects, if it selects one alone.
    fn only(&self, query: &Query) -> Option<N> {
        let (mut only, mut more) = (None, false);
        let _ = self.nodes(query, &mut |node| {
            more = only.is_some();
            only = Some(node);
            if more { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        only.filter(|_| !more)
    }

    /// The result of a function that is true or false.
    pub(super) fn test(&self, call: &Call) -> bool {
        let arg = |at| self.item(call.operand(at));
        match call.function {
            Function::In => self.is_in(call),
            Function::Between => is_between(&arg(0), &arg(1), &arg(2)),
            Function::StartsWith => match (arg(0), arg(1)) {
                (Item::Scalar(Scalar::Bytes(whole)), Item::Scalar(Scalar::Bytes(part)))
                | (Item::Scalar(Scalar::Text(whole)), Item::Scalar(Scalar::Text(part))) => {
                    whole.starts_with(part)
                }
                (whole, part) => texts(&whole, &part, |whole, part| whole.starts_with(part)),
            },
            Function::EndsWith => match (arg(0), arg(1)) {
                (Item::Scalar(Scalar::Bytes(whole)), Item::Scalar(Scalar::Bytes(part)))
                | (Item::Scalar(Scalar::Text(whole)), Item::Scalar(Scalar::Text(part))) => {
                    whole.ends_with(part)
                }
                (whole, part) => texts(&whole, &part, |whole, part| whole.ends_with(part)),
            },
            Function::Contains => match (arg(0), arg(1)) {
                (Item::Scalar(Scalar::Bytes(whole)), Item::Scalar(Scalar::Bytes(part)))
                | (Item::Scalar(Scalar::Text(whole)), Item::Scalar(Scalar::Text(part))) => {
                    memchr::memmem::find(whole, part).is_some()
                }
                (whole, part) => texts(&whole, &part, |whole, part| whole.contains(part)),
            },
            Function::Match | Function::Search => {
                let subject = arg(0);
                let Some((text, mapping)) = subject.as_text() else { return false };
                match &call.prepared {
                    Some(Prepared::Pattern(pattern)) => mapping.read(text, |text| pattern.is_match(text)),
                    _ => self.matches(call, text, mapping),
                }
            }
            _ => unreachable!("the parser takes every other function for a value"),
        }
    }

    /// Whether the pattern that an expression gives in this scope matches.
    fn matches(&self, call: &Call, text: &str, mapping: Mapping) -> bool {
        let pattern = self.item(call.operand(1));
        let Some((pattern, pattern_mapping)) = pattern.as_text() else { return false };
        let anchored = call.function == Function::Match;
        let found = pattern_mapping.read(pattern, |pattern| Pattern::compile(pattern, anchored));
        match found {
            Some(pattern) => mapping.read(text, |text| pattern.is_match(text)),
            None => {
                self.run.pattern_too_large.set(Some(pattern.to_owned()));
                false
            }
        }
    }

    fn is_in(&self, call: &Call) -> bool {
        let value = self.item(call.operand(0));
        match (&value, &call.prepared) {
            (Item::Nothing, _) => return false,
            (Item::Scalar(scalar), Some(Prepared::Scalars(listed))) => return is_among(listed, *scalar),
            (Item::Mapped(text, mapping), Some(Prepared::Scalars(listed))) => {
                return mapping.read(text, |text| is_among(listed, Scalar::Text(text.as_bytes())));
            }
            _ => {}
        }
        let equal = |other: &Item<'_, N>| compare(Comparison::Equal, &value, other);
        (1..call.args.len()).any(|at| match call.operand(at) {
            Operand::Parameter(_, Some(Value::Array(items))) => {
                items.iter().any(|item| equal(&Item::of_value(item)))
            }
            operand => equal(&self.item(operand)),
        })
    }
}

/// Whether a scalar is equal to one of those that are listed in the order of values.
fn is_among(listed: &[Value], scalar: Scalar<'_>) -> bool {
    let found = listed.binary_search_by(|listed| match Node::view(&listed) {
        View::Scalar(listed) => scalar_cmp(listed, scalar),
        _ => unreachable!("only scalars are listed"),
    });
    found.is_ok()
}

/// Runs `test` over two texts as they read once mapped; false where one is no text.
fn texts<'v, N: Node<'v>>(whole: &Item<'_, N>, part: &Item<'_, N>, test: fn(&str, &str) -> bool) -> bool {
    match (whole.as_text(), part.as_text()) {
        (Some((whole, whole_mapping)), Some((part, part_mapping))) => {
            whole_mapping.read(whole, |whole| part_mapping.read(part, |part| test(whole, part)))
        }
        _ => false,
    }
}

/// What one of [`Function::OF_PATHS`] gives of a value; nothing for any other function.
fn of_item<'i, 'v: 'i, N: Node<'v>>(function: Function, item: &Item<'i, N>) -> Item<'i, N> {
    let int = |int| Item::Scalar(Scalar::Int(int));
    match function {
        Function::Fold => mapped(item, Mapping::Fold),
        Function::Lower => mapped(item, Mapping::Lower),
        Function::Time => {
            let time = item.as_text().and_then(|(text, mapping)| mapping.read(text, milliseconds));
            time.map_or(Item::Nothing, int)
        }
        Function::Length => length(item).map_or(Item::Nothing, |len| int(len as i64)),
        _ => Item::Nothing,
    }
}

fn mapped<'i, 'v: 'i, N: Node<'v>>(item: &Item<'i, N>, mapping: Mapping) -> Item<'i, N> {
    match item.as_text() {
        Some((text, before)) => Item::Mapped(text, before.then(mapping)),
        None => Item::Nothing,
    }
}

fn kind<'i, 'v: 'i, N: Node<'v>>(item: &Item<'i, N>) -> Option<Kind> {
    Some(match item {
        Item::Nothing => return None,
        Item::Scalar(scalar) => scalar.kind(),
        Item::Mapped(..) => Kind::Text,
        Item::Node(node) => node.kind(),
        Item::Value(value) => value.kind(),
    })
}

/// Characters of a text, bytes of a byte string, items of an array, fields of an object.
fn length<'i, 'v: 'i, N: Node<'v>>(item: &Item<'i, N>) -> Option<usize> {
    match item {
        Item::Scalar(Scalar::Bytes(bytes)) => Some(bytes.len()),
        Item::Node(node) => match node.view() {
            View::Array(len, _) | View::Object(len, _) => Some(len),
            View::Scalar(_) => None,
        },
        Item::Value(Value::Array(items)) => Some(items.len()),
        Item::Value(Value::Object(fields)) => Some(fields.len()),
        // Neither mapping changes how many characters there are.
        _ => item.as_text().map(|(text, _)| text.chars().count()),
    }
}

/// The bytes that pairs of digits stand for.
pub(super) fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text.chars().map(|digit| digit.to_digit(16)).collect::<Option<_>>()?;
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => u8::try_from(high << 4 | low).ok(),
        _ => None,
    });
    pairs.collect()
}
