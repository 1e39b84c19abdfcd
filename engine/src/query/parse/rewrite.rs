//! What to write in the place of an expression that is ill-typed.

use crate::error::Advice;
use crate::query::ast::{Comparison, Query, Selector};

/// The message for a comparison with all that `query` selects, which RFC 9535 does not allow: it gives the expression that
/// means "any of them", where there is one.
pub(super) fn of_many_nodes(query: &Query, comparison: Comparison, right: &str) -> String {
    let what = "this query can select more than one node, and a comparison takes one value";
    let last_of_many = query.segments.iter().rposition(|segment| segment.singular().is_none());
    let at = last_of_many.filter(|&at| query.segments[at].selectors == [Selector::Wildcard]);
    let Some(at) = at else {
        return format!("{what}; {}: `[?@ {comparison} {right}]`", Advice::CompareEach);
    };
    let root = if query.from_root { "$" } else { "@" };
    let text = |segments: &[_]| segments.iter().map(ToString::to_string).collect::<String>();
    let (before, after) = (text(&query.segments[..at]), text(&query.segments[at + 1..]));
    let dots = if query.segments[at].descends { ".." } else { "" };
    let advice = Advice::AskWhetherAny;
    format!("{what}; {advice}: `{root}{before}{dots}[?@{after} {comparison} {right}]`")
}
