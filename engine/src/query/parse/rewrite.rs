//! What to write in the place of an expression that is ill-typed, or is one in another language.

use crate::error::Advice;
use crate::query::ast::{Comparison, Query, Selector};
use crate::query::names::{is_name_char, is_name_first};

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

/// What a filter has in the place of what comes `next`, behind `before`, where SQL or a script would write that: `&&` for `and`, `==` for
/// `=`. Where a side of a comparison is `due`, any other word is taken for the name of a field.
pub(super) fn of_other_languages(before: &str, next: &str, due: bool) -> Option<String> {
    let word = &next[..next.find(|c| !is_name_char(c)).unwrap_or(next.len())];
    let right = match (before.chars().next_back(), next.chars().next()?) {
        (Some('<'), '>') => "!=",
        (Some('\''), '\'') => "\\'",
        (_, '=') => "==",
        _ => match &*word.to_ascii_lowercase() {
            "and" => "&&",
            "or" => "||",
            "not" => "!",
            "is" => "==",
            "in" => "in(@.name, 1, 2)",
            "between" => "between(@.name, 1, 9)",
            "like" => "starts_with(@.name, 'a')",
            _ if due && word.starts_with(is_name_first) => return Some(format!("@.{word}")),
            _ => return None,
        },
    };
    Some(right.to_owned())
}
