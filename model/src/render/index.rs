//! How definitions, ranges and entries of indexes look in a report.

use std::fmt::{self, Display, Formatter};
use std::ops::Bound;

use super::write_list;
use crate::index::{Definition, DefinitionText, IndexPath, PathText, Shown, Tuple, TupleRange};
use crate::query::SingleSelector;
use crate::value::Value;

/// Values of a tuple, or of the beginning of one.
pub(super) struct Components<'a>(pub(super) &'a [Option<Value>]);

impl Display for Components<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let component = |component: &Option<Value>| match component {
            Some(value) => value.to_string(),
            None => "nothing".to_owned(),
        };
        write_list(f, '<', '>', self.0.iter().map(component))
    }
}

impl Display for Shown {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.tuple {
            Some(tuple) => write!(f, "{}", Components(tuple))?,
            None => f.write_str("<long>")?,
        }
        write!(f, "@{}", self.key)
    }
}

impl Display for TupleRange {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TupleRange::Between { from, to } => {
                write_end(f, "", from)?;
                f.write_str("..")?;
                write_end(f, "=", to)
            }
            TupleRange::Prefix { values, text } => write!(f, "{} {text:?}*", Components(values)),
        }
    }
}

/// As Rust writes a range: an inclusive end has the mark, and an exclusive beginning, for which Rust has none, is `after`.
fn write_end(f: &mut Formatter<'_>, inclusive: &str, end: &Bound<Tuple>) -> fmt::Result {
    match end {
        Bound::Included(values) => write!(f, "{inclusive}{}", Components(values)),
        Bound::Excluded(values) if inclusive.is_empty() => write!(f, "after {}", Components(values)),
        Bound::Excluded(values) => write!(f, "{}", Components(values)),
        Bound::Unbounded => Ok(()),
    }
}

impl Display for Definition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_list(f, '(', ')', self.paths.iter().map(IndexPath::to_string))?;
        write_flags(f, self.unique, self.sparse)?;
        write_filter(f, self.filter.as_ref().map(|filter| &filter.text))
    }
}

impl Display for DefinitionText {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let path = |PathText { path, descending }: &PathText| {
            if *descending { format!("-{path}") } else { path.clone() }
        };
        write_list(f, '(', ')', self.paths.iter().map(path))?;
        write_flags(f, self.unique, self.sparse)?;
        write_filter(f, self.filter.as_ref())
    }
}

impl Display for IndexPath {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.descending { "-" } else { "" })?;
        write!(f, "{}$", self.function.map(|name| format!("{name} ")).unwrap_or_default())?;
        self.selectors.iter().try_for_each(|selector| match selector {
            SingleSelector::Name(name) => write!(f, "[{name:?}]"),
            SingleSelector::Index(index) => write!(f, "[{index}]"),
            SingleSelector::Wildcard => f.write_str("[*]"),
        })
    }
}

fn write_flags(f: &mut Formatter<'_>, unique: bool, sparse: bool) -> fmt::Result {
    f.write_str(if unique { " unique" } else { "" })?;
    f.write_str(if sparse { " sparse" } else { "" })
}

fn write_filter(f: &mut Formatter<'_>, filter: Option<&String>) -> fmt::Result {
    filter.map_or(Ok(()), |text| write!(f, " where {text}"))
}
