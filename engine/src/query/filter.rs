//! `Filter`: what is asked of a document.

use std::fmt;
use std::ops::{BitAnd, BitOr, Not};
use std::str::FromStr;

use super::alone::{Paths, all_hold, paths_alone};
use super::ast::{Expr, Segment};
use super::evaluate::{Run, Scope};
use super::limits::NESTING_MAX;
use super::nesting::nesting;
use super::one_pass::{FOUND_MAX, OnePass};
use super::parameters;
use super::parse;
use super::reads;
use super::walk::walk;
use crate::document::{KeyRef, RawDocument, RawValue, Text, Value};
use crate::error::{Error, Result};
use crate::sync::Arc;

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
    /// The paths that it follows, where all that is done is to compare the values at one or two with constants.
    alone: Option<Paths>,
    paths: Arc<OnePass>,
    /// A parameter that has no value yet.
    unbound: Option<Text>,
    /// Made by calls, it nests deeper than a text may: it can only be refused.
    is_too_deep: bool,
}

impl Filter {
    /// The filter that `text` is.
    ///
    /// # Errors
    /// `Query` with the offset of the mistake in bytes, and what was expected there; `QueryTooDeep`; `PatternTooLarge`.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(Self::of(parse::filter(text)?))
    }

    /// The filter that `text` is, if an index can have it.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub(crate) fn parse_of_index(text: &str) -> Result<Self> {
        Ok(Self::of(parse::filter_of_index(text)?))
    }

    pub(super) fn of(mut expr: Expr) -> Self {
        let paths = Arc::new(OnePass::over(&mut expr));
        let alone = paths_alone(&expr);
        let unbound = parameters::first_unbound(|visit| walk(&mut expr, visit));
        Filter { expr, alone, paths, unbound, is_too_deep: false }
    }

    /// What `make` makes of the tree. One that is too deep stays as it is: it would grow without end, and is refused all the same.
    pub(super) fn grown(self, make: impl FnOnce(Expr) -> Expr) -> Self {
        if self.is_too_deep {
            return self;
        }
        let grown = Self::of(make(self.expr));
        Filter { is_too_deep: nesting(&grown.expr) > NESTING_MAX, ..grown }
    }

    //= spec/query.md#q-2-2-parameters
    //# A bound value MUST NOT be read as part of the text of the filter.
    /// The same filter with `value` for the parameter `name`, wherever `arg` names it.
    ///
    /// # Errors
    /// `Parameter` where the filter has none of this name; `PatternTooLarge`.
    pub fn bind(mut self, name: &str, value: impl Into<Value>) -> Result<Self> {
        let (value, mut is_there) = (value.into(), false);
        self.bind_by(&mut |parameter| {
            is_there |= parameter == name;
            (parameter == name).then(|| value.clone())
        })?;
        match is_there {
            true => Ok(self),
            false => Err(Error::Parameter { name: name.to_owned(), what: "is not in the filter" }),
        }
    }

    /// Gives its parameters the values that `value_of` has for their names.
    pub(crate) fn bind_by(&mut self, value_of: &mut dyn FnMut(&str) -> Option<Value>) -> Result<()> {
        self.unbound = parameters::bind(value_of, |visit| walk(&mut self.expr, visit))?;
        Ok(())
    }

    /// A text that no other filter has, bound values and all.
    pub(crate) fn identity(&self) -> String {
        let mut expr = self.expr.clone();
        format!("{self}{}", parameters::values(|visit| walk(&mut expr, visit)))
    }

    /// The tree.
    pub(crate) fn expr(&self) -> &Expr {
        &self.expr
    }

    /// Whether `admits` holds of every path that the filter reads from the document.
    pub(crate) fn reads_only(&self, admits: &mut dyn FnMut(&[Segment]) -> bool) -> bool {
        reads::expr(&self.expr, true, admits)
    }

    //= spec/query.md#q-2-2-parameters
    //# A filter MUST NOT be run while a parameter is not bound.
    /// Whether it can be run: every parameter is bound.
    ///
    /// # Errors
    /// `Parameter` names one that is not; `QueryTooDeep`, where calls made it nest deeper than [`NESTING_MAX`].
    #[inline]
    pub fn check(&self) -> Result<()> {
        parameters::check(&self.unbound)?;
        if self.is_too_deep { self.refused_as_text() } else { Ok(()) }
    }

    /// The place where it is too deep, in its normal form.
    #[cold]
    fn refused_as_text(&self) -> Result<()> {
        Self::parse(&self.to_string()).map(drop)
    }

    /// Whether the filter holds of a document that is in no collection: `key()` is nothing.
    ///
    /// # Errors
    /// As [`matches_with_key`](Self::matches_with_key).
    pub fn matches(&self, document: RawDocument<'_>) -> Result<bool> {
        self.check()?;
        self.matches_by(document, || None)
    }

    /// Whether the filter holds of the document under `key`.
    ///
    /// # Errors
    /// `Parameter`, where one is not bound; `PatternTooLarge`, where the document holds a regular expression that is matched against and is beyond the limit.
    #[inline]
    pub fn matches_with_key(&self, key: KeyRef<'_>, document: RawDocument<'_>) -> Result<bool> {
        self.check()?;
        self.matches_by(document, || Some(key))
    }

    /// The same, for a filter that was checked, by what tells the key, which few filters ask for.
    #[inline(always)]
    pub(crate) fn matches_by<'k>(
        &self,
        document: RawDocument<'_>,
        key: impl FnOnce() -> Option<KeyRef<'k>>,
    ) -> Result<bool> {
        match &self.alone {
            Some(paths) => Ok(all_hold(&self.expr, paths, document)),
            None => self.evaluate_in_scope(key(), document),
        }
    }

    #[inline(never)]
    fn evaluate_in_scope(&self, key: Option<KeyRef<'_>>, document: RawDocument<'_>) -> Result<bool> {
        let Some(root) = document.value() else { return Ok(false) };
        let mut found: [Option<RawValue<'_>>; FOUND_MAX] = [None; FOUND_MAX];
        self.paths.find(document.as_bytes(), &mut found);
        let run = Run::of_document(key, &found);
        let holds = Scope::new(&root, &run).holds(&self.expr);
        run.end().map(|()| holds)
    }
}

impl BitAnd for Filter {
    type Output = Filter;

    /// That both hold.
    fn bitand(self, other: Filter) -> Filter {
        if other.is_too_deep { other } else { self.grown(|expr| Expr::and([expr, other.expr])) }
    }
}

impl BitOr for Filter {
    type Output = Filter;

    /// That one of them holds, or both.
    fn bitor(self, other: Filter) -> Filter {
        if other.is_too_deep { other } else { self.grown(|expr| Expr::or([expr, other.expr])) }
    }
}

impl Not for Filter {
    type Output = Filter;

    /// That it does not hold.
    fn not(self) -> Filter {
        self.grown(Expr::negated)
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
