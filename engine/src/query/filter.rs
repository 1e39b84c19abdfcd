//! `Filter`: what is asked of a document.

use std::fmt;
use std::ops::{BitAnd, BitOr, Not};
use std::str::FromStr;

use super::ast::{Expr, Operand};
use super::evaluate::{Run, Scope};
use super::one_pass::{FOUND_MAX, OnePass};
use super::parse;
use super::walk::{Part, walk};
use crate::document::{KeyRef, RawDocument, RawValue, Text, Value};
use crate::error::{Error, Result};

/// What is asked of a document: a logical expression of RFC 9535, in which `@`, and `$` outside of brackets, is the document.
///
/// Parsed once, it is evaluated over encoded documents, and allocates nothing for one. The builder [`field`](super::field) makes
/// equal filters.
///
/// ```
/// use holotype::doc;
/// use holotype::document::RawDocument;
/// use holotype::query::{Filter, arg, field};
///
/// let filter = Filter::parse("@.year >= arg('from') && @.seen[?@.where == 'hedge']")?;
/// let built = field("year").ge(arg("from")) & field("seen").any().field("where").eq("hedge");
/// assert_eq!(filter, built);
///
/// let filter = filter.bind("from", 1850)?;
/// let bytes = doc! { "year": 1859, "seen": [{ "where": "barn" }, { "where": "hedge" }] }.encode();
/// assert!(filter.matches(RawDocument::from_bytes(&bytes)?)?);
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    expr: Expr,
    paths: OnePass,
    /// A parameter that has no value yet.
    unbound: Option<Text>,
}

impl Filter {
    /// The filter that `text` is.
    ///
    /// # Errors
    /// `Query` with the offset of the mistake in bytes, and what was expected there; `QueryTooDeep`; `PatternTooLarge`.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(Self::of(parse::filter(text)?))
    }

    pub(super) fn of(mut expr: Expr) -> Self {
        let paths = OnePass::over(&mut expr);
        let unbound = first_unbound(&mut expr);
        Filter { expr, paths, unbound }
    }

    //= spec/query.md#q-2-2-parameters
    //# A bound value MUST NOT be read as part of the text of the filter.
    /// The same filter with `value` for the parameter `name`, wherever `arg` names it.
    ///
    /// # Errors
    /// `Parameter` where the filter has none of this name; `PatternTooLarge`.
    pub fn bind(mut self, name: &str, value: impl Into<Value>) -> Result<Self> {
        let value = value.into();
        let mut bound = false;
        walk(&mut self.expr, &mut |part| {
            match part {
                Part::Operand(Operand::Parameter(parameter, slot)) if *parameter == *name => {
                    *slot = Some(value.clone());
                    bound = true;
                }
                Part::Call(call) => call.compile()?,
                _ => {}
            }
            Ok(())
        })?;
        if !bound {
            return Err(Error::Parameter { name: name.to_owned(), what: "is not in the filter" });
        }
        self.unbound = first_unbound(&mut self.expr);
        Ok(self)
    }

    //= spec/query.md#q-2-2-parameters
    //# A filter MUST NOT be run while a parameter is not bound.
    /// Whether every parameter is bound.
    ///
    /// # Errors
    /// `Parameter` names one that is not.
    #[inline]
    pub fn check_bound(&self) -> Result<()> {
        match &self.unbound {
            None => Ok(()),
            Some(name) => Err(Error::Parameter { name: name.to_string(), what: "is not bound" }),
        }
    }

    /// Whether the filter holds of a document that is in no collection: `key()` is nothing.
    ///
    /// # Errors
    /// As [`matches_with_key`](Self::matches_with_key).
    pub fn matches(&self, document: RawDocument<'_>) -> Result<bool> {
        self.evaluate(None, document)
    }

    /// Whether the filter holds of the document under `key`.
    ///
    /// # Errors
    /// `Parameter`, where one is not bound; `PatternTooLarge`, where the document holds a regular expression that is matched against and is beyond the limit.
    pub fn matches_with_key(&self, key: KeyRef<'_>, document: RawDocument<'_>) -> Result<bool> {
        self.evaluate(Some(key), document)
    }

    fn evaluate(&self, key: Option<KeyRef<'_>>, document: RawDocument<'_>) -> Result<bool> {
        self.check_bound()?;
        let Some(root) = document.value() else { return Ok(false) };
        let mut found: [Option<RawValue<'_>>; FOUND_MAX] = [None; FOUND_MAX];
        self.paths.find(document.as_bytes(), &mut found);
        let run = Run::of_document(key, &found);
        let holds = Scope::new(&root, &run).holds(&self.expr);
        run.end().map(|()| holds)
    }
}

/// The first parameter without a value.
fn first_unbound(expr: &mut Expr) -> Option<Text> {
    let mut unbound = None;
    let _ = walk(expr, &mut |part| {
        if let Part::Operand(Operand::Parameter(name, None)) = part {
            unbound.get_or_insert_with(|| name.clone());
        }
        Ok(())
    });
    unbound
}

impl BitAnd for Filter {
    type Output = Filter;

    /// That both hold.
    fn bitand(self, other: Filter) -> Filter {
        Filter::of(Expr::and([self.expr, other.expr]))
    }
}

impl BitOr for Filter {
    type Output = Filter;

    /// That one of them holds, or both.
    fn bitor(self, other: Filter) -> Filter {
        Filter::of(Expr::or([self.expr, other.expr]))
    }
}

impl Not for Filter {
    type Output = Filter;

    /// That it does not hold.
    fn not(self) -> Filter {
        Filter::of(self.expr.negated())
    }
}

impl FromStr for Filter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// In the one normal form.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expr.fmt(f)
    }
}
