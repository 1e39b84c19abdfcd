//! `IndexDefinition`: what an index holds of a document. spec: I-1.

use super::plan::{PATHS_MAX, Plan, fan_out};
use crate::document::Text;
use crate::document::limits::name_fault;
use crate::error::{Error, Result};
use crate::query::ast::OfPath;
use crate::query::function::Function;
use crate::query::{Filter, JsonPath, Segment, Selector};
use crate::sync::Arc;

/// The name of an index, its paths, whether it is unique or sparse, and the filter of what it is of.
///
/// ```
/// use holotype::IndexDefinition;
///
/// let by_owner = IndexDefinition::new("by owner", ["$.owner", "-$.modified"])?;
/// let by_mail = IndexDefinition::new("by mail", ["$.mail"])?.unique();
/// let by_sku = IndexDefinition::new("by sku", ["$.orders[*].lines[*].sku"])?.sparse();
/// let open = IndexDefinition::new("open", ["$.due"])?.filtered("@.done == false")?;
/// assert_eq!(by_owner.paths().len(), 2);
/// assert_eq!(open.filter().expect("it has one").to_string(), "@.done == false");
/// assert!(by_mail.is_unique() && by_sku.is_sparse());
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexDefinition {
    pub(super) name: Text,
    // Shared, since each read has a copy of the definition.
    pub(super) paths: Arc<[IndexPath]>,
    pub(super) unique: bool,
    pub(super) sparse: bool,
    pub(super) filter: Option<Arc<Filter>>,
    pub(super) plan: Arc<Plan>,
}

/// A path with its direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexPath {
    pub(super) path: JsonPath,
    pub(super) function: Option<Function>,
    pub(super) descending: bool,
}

/// Why paths make no definition, and the path where it is about one.
pub(super) type PathFault = (&'static str, Option<String>);

impl IndexDefinition {
    //= spec/index.md#i-1-1-definition
    //# A definition that breaks a clause of this section MUST be refused as `InvalidIndex`.
    /// The definition of an index called `name` over `paths`: JSONPath (RFC 9535), with a `-` before a path that is to be
    /// descending. From 1 to 16 of them, of names, indexes and wildcards; those with a wildcard alike up to their last one. A path may
    /// stand under a function, as in `fold($.name)`: `fold`, `lower`, `time` or `length`.
    ///
    /// # Errors
    /// `Query` with the place of the mistake where a text is no path, `QueryTooDeep`; `InvalidIndex` for all else.
    pub fn new(name: impl Into<String>, paths: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self> {
        let name = name.into();
        check_name(&name)?;
        let paths = paths.into_iter().map(|text| IndexPath::parse(text.as_ref()));
        // One more than can be is enough to refuse them all.
        let paths = paths.take(PATHS_MAX + 1).collect::<Result<Vec<_>>>()?;
        Self::of_paths(&name, paths).map_err(|(what, path)| {
            let place = path.map(|path| path + ": ").unwrap_or_default();
            invalid(&name, place + what)
        })
    }

    /// The definition over paths, which are checked; the name is not.
    pub(super) fn of_paths(name: &str, paths: Vec<IndexPath>) -> Result<Self, PathFault> {
        check_paths(&paths)?;
        let plan = Arc::new(Plan::new(paths.iter().map(|path| (path.function, &path.path))));
        let paths = paths.into();
        Ok(IndexDefinition { name: name.into(), paths, unique: false, sparse: false, filter: None, plan })
    }

    /// The same for an index that has no two documents with one tuple of values.
    #[must_use]
    pub fn unique(self) -> Self {
        IndexDefinition { unique: true, ..self }
    }

    /// The same for an index that leaves out what has no value under any of the paths.
    #[must_use]
    pub fn sparse(self) -> Self {
        IndexDefinition { sparse: true, ..self }
    }

    //= spec/index.md#i-1-6-filters
    //# A text that is no such filter MUST be refused as Q-1.1 and Q-1.4 say, with the place of the mistake.
    /// The same for an index of those documents alone that `filter` (RFC 9535) admits: a partial index. Uniqueness is among them. The
    /// filter has no parameters, and calls neither `key` nor `match` nor `search`.
    ///
    /// # Errors
    /// `Query` with the place of the mistake in the filter, `QueryTooDeep`.
    pub fn filtered(self, filter: impl AsRef<str>) -> Result<Self> {
        let filter = Filter::parse_of_index(filter.as_ref())?;
        Ok(IndexDefinition { filter: Some(Arc::new(filter)), ..self })
    }

    /// The name of the index.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same under another name.
    ///
    /// # Errors
    /// `InvalidIndex`.
    pub fn with_name(self, name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        check_name(&name)?;
        Ok(IndexDefinition { name: name.into(), ..self })
    }

    /// The same under a name that is not checked.
    pub(crate) fn renamed(self, name: &str) -> Self {
        IndexDefinition { name: name.into(), ..self }
    }

    /// The paths, each with whether it is descending. [`texts`](Self::texts) tells the functions that they are under.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = (&JsonPath, bool)> {
        self.paths.iter().map(|path| (&path.path, path.descending))
    }

    /// The paths as [`new`](Self::new) takes them, in normal form: `-fold($.name)`.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = String> {
        self.paths.iter().map(IndexPath::text)
    }

    /// What the components give, each with whether it is descending.
    pub(crate) fn components(&self) -> impl ExactSizeIterator<Item = (OfPath<'_>, bool)> {
        self.paths.iter().map(|path| ((path.function, path.path.segments()), path.descending))
    }

    /// Whether the index has no two documents with one tuple of values.
    pub fn is_unique(&self) -> bool {
        self.unique
    }

    /// The filter that admits the documents that the index is of; `None` where it is of all.
    pub fn filter(&self) -> Option<&Filter> {
        self.filter.as_deref()
    }

    /// Whether the index leaves out what has no value under any of the paths.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }
}

impl IndexPath {
    /// The path of this text.
    ///
    /// # Errors
    /// `Query`, `QueryTooDeep` with places in the whole text.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let (of, descending) = text.strip_prefix('-').map_or((text, false), |of| (of, true));
        let (function, path) = under_function(of);
        let before =
            usize::from(descending) + function.map_or(0, |function| function.signature().name.len() + 1);
        if function.is_none() && !path.starts_with('$') {
            let what =
                "expected a path, as `$.name`, or one under fold, lower, time or length, as `fold($.name)`";
            return Err(Error::Query { offset: before, what: what.into() });
        }
        let path = JsonPath::parse(path).map_err(|error| match error {
            Error::Query { offset, what } => Error::Query { offset: offset + before, what },
            Error::QueryTooDeep { offset, max } => Error::QueryTooDeep { offset: offset + before, max },
            other => other,
        })?;
        Ok(IndexPath { path, function, descending })
    }

    /// The path in normal form (spec: Q-1.5), under its function, behind a `-` where it is descending.
    pub(super) fn text(&self) -> String {
        let sign = if self.descending { "-" } else { "" };
        match self.function {
            Some(function) => format!("{sign}{}({})", function.signature().name, self.path),
            None => format!("{sign}{}", self.path),
        }
    }
}

/// The function of this name that a path can be under.
pub(super) fn function_of_path(name: &str) -> Option<Function> {
    Function::OF_PATHS.into_iter().find(|function| function.signature().name == name)
}

/// The function that stands around a path, and what is within.
fn under_function(text: &str) -> (Option<Function>, &str) {
    let parts = text.strip_suffix(')').and_then(|text| text.split_once('('));
    let function = parts.and_then(|(name, path)| Some((function_of_path(name)?, path)));
    function.map_or((None, text), |(function, path)| (Some(function), path))
}

/// What is said about an index that cannot be.
pub(super) fn invalid(name: &str, what: impl Into<String>) -> Error {
    Error::InvalidIndex { index: name.chars().take(64).collect(), what: what.into() }
}

/// Whether an index may have this name.
///
/// # Errors
/// `InvalidIndex`.
pub(crate) fn check_name(name: &str) -> Result<()> {
    name_fault(name).map_or(Ok(()), |what| Err(invalid(name, format!("its name cannot be: {what}"))))
}

//= spec/index.md#i-1-2-paths-of-an-index
//# A definition MUST NOT have one path twice.
//= spec/index.md#i-1-3-fan-out
//# All paths of a definition that have a fan-out MUST have the same.
fn check_paths(paths: &[IndexPath]) -> Result<(), PathFault> {
    if paths.is_empty() || paths.len() > PATHS_MAX {
        return Err(("an index has from 1 to 16 paths", None));
    }
    let mut fan_outs = None;
    for (number, IndexPath { path, function, .. }) in paths.iter().enumerate() {
        let fault = |what| Err((what, Some(path.to_string())));
        if path.segments().is_empty() {
            return fault("a path of an index leads into the document");
        }
        if !path.segments().iter().all(is_step) {
            return fault("a path of an index has only names, indexes and wildcards, one behind the other");
        }
        if paths[..number].iter().any(|other| other.path == *path && other.function == *function) {
            return fault("an index has no path twice");
        }
        if let Some(fan_out) = fan_out(path)
            && *fan_outs.get_or_insert(fan_out) != fan_out
        {
            return fault("the paths of an index that have a wildcard are the same up to their last one");
        }
    }
    Ok(())
}

/// Whether an index can have this segment.
fn is_step(segment: &Segment) -> bool {
    let is_wildcard = matches!(segment.selectors.as_slice(), [Selector::Wildcard]);
    segment.singular().is_some() || (is_wildcard && !segment.descends)
}
