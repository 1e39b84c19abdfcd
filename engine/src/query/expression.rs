//! `Expression`: what documents are sorted and grouped by.

use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use super::ast::{Given, OfPath, Segment, Selector};
use super::evaluate::{Item, Run, Scope};
use super::function::Function;
use super::parameters;
use super::parse;
use super::reads;
use super::walk::{Visit, call, within};
use crate::document::cbor::encode;
use crate::document::node::Scalar;
use crate::document::{DEPTH_MAX, KeyRef, RawDocument, RawValue, Text, Value, order_key};
use crate::error::{Error, Result};

/// What gives values of a document: a query of RFC 9535, or a call of a function whose result is a value. spec: Q-6.
///
/// ```
/// use holotype::query::Expression;
///
/// assert!(Expression::parse("$.year")?.is_single());
/// assert!(Expression::parse("fold(@.name)")?.is_single());
/// assert!(!Expression::parse("$.tags[*]")?.is_single());
/// assert!(Expression::parse("1850").is_err());
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    given: Given,
    /// A parameter that has no value yet.
    unbound: Option<Text>,
}

/// A value that an expression gave of a document, for one call.
pub(crate) struct GivenValue<'i, 'v>(Item<'i, RawValue<'v>>);

impl Expression {
    /// The expression that `text` is.
    ///
    /// # Errors
    /// `Query` with the offset of the mistake in bytes, and what was expected there; `QueryTooDeep`; `PatternTooLarge`.
    pub fn parse(text: &str) -> Result<Self> {
        let mut expression = Expression { given: parse::expression(text)?, unbound: None };
        expression.unbound = parameters::first_unbound(|visit| expression.given.walk(visit));
        Ok(expression)
    }

    /// Whether it gives one value at most.
    pub fn is_single(&self) -> bool {
        match &self.given {
            Given::Nodes(query) => query.is_singular(),
            Given::Call(_) => true,
        }
    }

    /// Whether it gives the key of the document.
    pub(crate) fn is_key(&self) -> bool {
        matches!(&self.given, Given::Call(call) if call.function == Function::Key)
    }

    /// The path that it is, or that it is a function of.
    pub(crate) fn of_path(&self) -> Option<OfPath<'_>> {
        match &self.given {
            Given::Nodes(query) => Some((None, &query.segments)),
            Given::Call(call) => call.of_path().map(|(function, query)| (Some(function), &*query.segments)),
        }
    }

    /// Whether `admits` holds of every path that it reads from the document.
    pub(crate) fn reads_only(&self, admits: &mut dyn FnMut(&[Segment]) -> bool) -> bool {
        match &self.given {
            Given::Nodes(query) => reads::query(query, true, admits),
            Given::Call(call) => reads::call(call, true, admits),
        }
    }

    /// The last segment that is one name. spec: Q-9.5.
    pub(crate) fn last_name(&self) -> Option<&Text> {
        let Given::Nodes(query) = &self.given else { return None };
        query.segments.iter().rev().find_map(|segment| match segment.selectors.as_slice() {
            [Selector::Name(name)] => Some(name),
            _ => None,
        })
    }

    /// Gives its parameters the values that `value_of` has for their names.
    pub(crate) fn bind_by(&mut self, value_of: &mut dyn FnMut(&str) -> Option<Value>) -> Result<()> {
        self.unbound = parameters::bind(value_of, |visit| self.given.walk(visit))?;
        Ok(())
    }

    /// A text that no other expression has, bound values and all.
    pub(crate) fn identity(&self) -> String {
        let mut given = self.given.clone();
        format!("{self}{}", parameters::values(|visit| given.walk(visit)))
    }

    /// Whether every parameter is bound.
    pub(crate) fn check_bound(&self) -> Result<()> {
        parameters::check(&self.unbound)
    }

    /// Hands over what the expression gives of a document, in order.
    ///
    /// # Errors
    /// What `each` answers, which ends it; `PatternTooLarge`.
    pub(crate) fn give(
        &self,
        key: Option<KeyRef<'_>>,
        document: RawDocument<'_>,
        each: &mut dyn FnMut(&GivenValue<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let Some(root) = document.value() else { return Ok(()) };
        let run = Run::of_document(key, &[]);
        let scope = Scope::new(&root, &run);
        let mut result = Ok(());
        match &self.given {
            Given::Nodes(query) => {
                let _ = scope.nodes(query, &mut |node| {
                    result = each(&GivenValue(Item::of_node(node)));
                    if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                });
            }
            Given::Call(call) => match scope.call(call) {
                Item::Nothing => {}
                item => result = each(&GivenValue(item)),
            },
        }
        run.end().and(result)
    }
}

impl Given {
    fn walk(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        match self {
            Given::Nodes(query) => within(query, visit),
            Given::Call(inner) => call(inner, visit),
        }
    }
}

impl<'i> GivenValue<'i, 'i> {
    /// A value that was given before.
    #[inline]
    pub(crate) fn of(value: &'i Value) -> Self {
        GivenValue(Item::of_value(value))
    }
}

impl GivenValue<'_, '_> {
    /// Appends the order key.
    pub(crate) fn encode_order_key(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Item::Nothing => unreachable!("nothing is not given"),
            Item::Scalar(scalar) => order_key::encode_scalar(*scalar, out),
            Item::Mapped(text, mapping) => {
                mapping.read(text, |text| order_key::encode_scalar(Scalar::Text(text.as_bytes()), out));
            }
            Item::Node(node) => order_key::encode_node(node, out),
            Item::Value(value) => order_key::encode(value, out),
        }
    }

    /// Appends the encoding.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> Result<()> {
        match &self.0 {
            Item::Nothing => unreachable!("nothing is not given"),
            Item::Scalar(Scalar::Null) => encode::null(out),
            Item::Scalar(Scalar::Bool(value)) => encode::bool(out, *value),
            Item::Scalar(Scalar::Int(value)) => encode::int(out, *value),
            Item::Scalar(Scalar::Float(value)) => encode::float(out, *value),
            Item::Scalar(Scalar::Bytes(value)) => encode::bytes(out, value),
            Item::Scalar(Scalar::Text(value)) => encode::text_bytes(out, value),
            Item::Mapped(text, mapping) => mapping.read(text, |text| encode::text(out, text)),
            Item::Node(node) => out.extend_from_slice(node.encoded()?),
            Item::Value(value) => encode::value(out, value, DEPTH_MAX)?,
        }
        Ok(())
    }

    /// The content, if the value is a number.
    #[inline]
    pub(crate) fn number(&self) -> Option<Scalar<'_>> {
        match self.0 {
            Item::Scalar(number @ (Scalar::Int(_) | Scalar::Float(_))) => Some(number),
            _ => None,
        }
    }
}

impl FromStr for Expression {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// In the one normal form.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.given {
            Given::Nodes(query) => query.fmt(f),
            Given::Call(call) => call.fmt(f),
        }
    }
}
