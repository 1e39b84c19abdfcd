//! Definitions, as a caller writes them and as they are parsed (spec: I-1).

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use crate::query::{self, Filter, Path, SingleSelector};
use crate::value::{Document, Value};

/// The most paths that a definition can have.
const PATHS_MAX: usize = 16;
/// What a path can be under.
const FUNCTIONS: [&str; 4] = ["fold", "lower", "time", "length"];
/// What a filter cannot call.
const NOT_IN_FILTERS: [&str; 4] = ["arg", "key", "match", "search"];

/// A definition as a caller writes it: it need not be one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct DefinitionText {
    /// The paths, in the order of the components.
    pub paths: Vec<PathText>,
    /// Whether no two documents may have equal tuples.
    pub unique: bool,
    /// Whether tuples of nothing are left out.
    pub sparse: bool,
    /// The filter of the documents that the index is of; none of all.
    pub filter: Option<String>,
}

/// A path as a caller writes it, alone or under a function as in `fold($.a)`, and its direction.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PathText {
    /// The path, as RFC 9535 writes it.
    pub path: String,
    /// Whether greater values come first.
    pub descending: bool,
}

/// What an index is of. Two are the same when they are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Definition {
    /// The paths, in the order of the components.
    pub paths: Vec<IndexPath>,
    /// Whether no two documents may have equal tuples.
    pub unique: bool,
    /// Whether tuples of nothing are left out.
    pub sparse: bool,
    /// The filter of the documents that the index is of; none of all.
    pub filter: Option<IndexFilter>,
}

/// A filter, parsed. Its text is as the caller wrote it.
#[derive(Debug, Clone)]
pub struct IndexFilter {
    pub(crate) text: String,
    filter: Filter,
}

/// A path, parsed, and its direction.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IndexPath {
    /// What each segment selects.
    pub selectors: Vec<SingleSelector>,
    /// The function that the path is under (spec: I-1.5).
    pub function: Option<&'static str>,
    /// Whether greater values come first.
    pub descending: bool,
}

impl Definition {
    //= spec/index.md#i-1-1-definition
    //# A definition that breaks a clause of this section MUST be refused as `InvalidIndex`.
    //= spec/index.md#i-1-2-paths-of-an-index
    //# A definition MUST NOT have one path twice.
    //= spec/index.md#i-1-3-fan-out
    //# All paths of a definition that have a fan-out MUST have the same.
    /// The definition that `text` is, or none.
    pub fn parse(text: &DefinitionText) -> Option<Self> {
        let paths: Option<Vec<IndexPath>> = text.paths.iter().map(IndexPath::parse).collect();
        let paths = paths.filter(|paths| (1..=PATHS_MAX).contains(&paths.len()))?;
        let distinct: BTreeSet<_> =
            paths.iter().map(|path| (path.selectors.as_slice(), path.function)).collect();
        let fan_outs: BTreeSet<&[SingleSelector]> = paths.iter().filter_map(IndexPath::fan_out).collect();
        let is_valid = distinct.len() == paths.len() && fan_outs.len() <= 1;
        let filter = match &text.filter {
            Some(text) => Some(IndexFilter::parse(text)?),
            None => None,
        };
        is_valid.then_some(Definition { paths, unique: text.unique, sparse: text.sparse, filter })
    }

    //= spec/index.md#i-2-8-partial-indexes
    //# A partial index MUST have no entry of a document that its filter does not admit.
    /// Whether the index is of this document.
    pub(crate) fn admits(&self, document: &Document) -> bool {
        let filter = self.filter.as_ref();
        filter.is_none_or(|IndexFilter { filter, .. }| filter.admits(None, document, &BTreeMap::new()))
    }

    /// The fan-out of all paths that have one.
    pub(super) fn fan_out(&self) -> Option<&[SingleSelector]> {
        self.paths.iter().find_map(IndexPath::fan_out)
    }
}

impl IndexFilter {
    //= spec/index.md#i-1-6-filters
    //# The filter of an index MUST NOT call `arg`, `key`, `match` or `search`.
    fn parse(text: &str) -> Option<Self> {
        let filter = Filter::parse(text).ok()?;
        filter.calls_none_of(&NOT_IN_FILTERS).then(|| IndexFilter { text: text.to_owned(), filter })
    }
}

// spec: I-1.6
impl PartialEq for IndexFilter {
    fn eq(&self, other: &Self) -> bool {
        self.filter == other.filter
    }
}

// No literal of a filter is NaN.
impl Eq for IndexFilter {}

impl Hash for IndexFilter {
    fn hash<H: Hasher>(&self, state: &mut H) {
        format!("{:?}", self.filter).hash(state);
    }
}

impl IndexPath {
    // spec: I-1.2, I-1.5
    fn parse(text: &PathText) -> Option<Self> {
        let under = |name: &&str| text.path.strip_prefix(*name)?.strip_prefix('(')?.strip_suffix(')');
        let function = FUNCTIONS.into_iter().find(|name| under(name).is_some());
        let path = function.and_then(|name| under(&name)).unwrap_or(&text.path);
        let selectors = Path::parse(path).ok()?.single_selectors()?;
        (!selectors.is_empty()).then_some(IndexPath { selectors, function, descending: text.descending })
    }

    //= spec/index.md#i-1-5-functions
    //# Under a function, a path MUST give what the function gives of the value that the path alone would give,
    //# and nothing where that is nothing.
    /// What the path gives where it selects this value.
    pub(super) fn gives(&self, value: &Value) -> Option<Value> {
        match self.function {
            Some(name) => query::of_value(name, value),
            None => Some(value.clone()),
        }
    }

    // spec: I-7.2
    /// Whether it gives values of this type.
    pub(super) fn can_give(&self, value: &Value) -> bool {
        match self.function {
            None => true,
            Some("fold" | "lower") => matches!(value, Value::Text(_)),
            Some(_) => matches!(value, Value::Int(_)),
        }
    }

    /// The path up to its last wildcard, which is part of it.
    pub(super) fn fan_out(&self) -> Option<&[SingleSelector]> {
        let last = self.selectors.iter().rposition(|selector| *selector == SingleSelector::Wildcard)?;
        Some(&self.selectors[..=last])
    }

    /// The path behind its fan-out: all of it where it has none.
    pub(super) fn rest(&self) -> &[SingleSelector] {
        &self.selectors[self.fan_out().map_or(0, <[_]>::len)..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_valid(paths: &[&str]) -> bool {
        let path = |path: &&str| PathText { path: (*path).to_owned(), descending: false };
        Definition::parse(&DefinitionText { paths: paths.iter().map(path).collect(), ..Default::default() })
            .is_some()
    }

    //= spec/index.md#i-1-1-definition
    //= type=test
    //# A definition that breaks a clause of this section MUST be refused as `InvalidIndex`.
    #[test]
    fn a_definition_has_from_one_to_sixteen_paths_of_single_selectors() {
        for valid in [
            "$.a",
            "$['a b'].c",
            "$[0]",
            "$[-1].a",
            "$.a[*]",
            "$[*][*]",
            "$.*",
            "fold($.a[*])",
            "length($.a)",
        ] {
            assert!(is_valid(&[valid]), "{valid}");
        }
        let invalid = [
            "",
            "a",
            "$",
            "$..a",
            "$['a','b']",
            "$[0:2]",
            "$[?@.a]",
            "$.a[",
            "@.a",
            " $.a",
            "$[1 , 2]",
            "upper($.a)",
            "fold($)",
            "fold($.a",
            "fold(fold($.a))",
        ];
        for invalid in invalid {
            assert!(!is_valid(&[invalid]), "{invalid}");
        }
        let names: Vec<String> = (0..17).map(|n| format!("$.p{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(!is_valid(&[]));
        assert!(is_valid(&names[..16]));
        assert!(!is_valid(&names));
    }

    //= spec/index.md#i-1-2-paths-of-an-index
    //= type=test
    //# A definition MUST NOT have one path twice.
    #[test]
    fn paths_are_the_same_when_they_are_equal_as_parsed_whatever_their_direction() {
        assert!(!is_valid(&["$.a", "$['a']"]));
        assert!(is_valid(&["$.a", "$.b"]));
        assert!(is_valid(&["$.a", "fold($.a)", "lower($.a)"]));
        assert!(!is_valid(&["fold($.a)", "$.b", "fold($['a'])"]));
        let [ascending, descending] =
            [false, true].map(|descending| PathText { path: "$.a".into(), descending });
        let both = DefinitionText { paths: vec![ascending, descending], ..Default::default() };
        assert_eq!(Definition::parse(&both), None);
    }

    //= spec/index.md#i-1-3-fan-out
    //= type=test
    //# All paths of a definition that have a fan-out MUST have the same.
    #[test]
    fn a_definition_has_one_fan_out_at_most() {
        assert!(is_valid(&["$.a[*].b", "$.a[*].c", "$.d"]));
        assert!(is_valid(&["$.a[*]", "$.a[*].c"]));
        assert!(!is_valid(&["$.a[*]", "$.b[*]"]));
        assert!(!is_valid(&["$.a[*]", "$.a[*].b[*]"]));
    }
}
