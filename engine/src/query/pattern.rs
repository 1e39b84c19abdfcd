//! Regular expressions of RFC 9485, run by the crate `regex`: linear in the text, whatever the pattern.

use std::cell::RefCell;

use regex::{Regex, RegexBuilder};

use super::iregexp::{self, Verdict};
use super::limits::NESTING_MAX;

/// How large a compiled pattern may be, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// How deep `regex` lets what was translated nest: each pair of parentheses is a group, in a repetition, in a sequence, in an alternation;
/// and there is something within them, and the ends around it all.
const REGEX_NESTING_MAX: u32 = 4 * NESTING_MAX as u32 + 8;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    source: Box<str>,
    anchored: bool,
    /// None where the pattern is not one of RFC 9485: that matches nothing.
    regex: Option<Regex>,
}

// Two patterns of one text are one pattern.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.anchored == other.anchored
    }
}

impl Eq for Pattern {}

thread_local! {
    /// The last pattern that a document gave to this thread: often the next one gives the same.
    static LAST: RefCell<Option<Pattern>> = const { RefCell::new(None) };
}

impl Pattern {
    /// Compiles `source`, anchored at both ends or not; none if it is beyond the limits.
    pub(super) fn compile(source: &str, anchored: bool) -> Option<Self> {
        let last = LAST.with_borrow(|last| {
            last.as_ref().filter(|last| *last.source == *source && last.anchored == anchored).cloned()
        });
        if last.is_some() {
            return last;
        }
        let regex = match iregexp::translate(source) {
            Verdict::Translated(translated) => {
                let whole = if anchored { format!(r"\A(?:{translated})\z") } else { translated };
                let built = RegexBuilder::new(&whole)
                    .size_limit(PATTERN_BYTES_MAX)
                    .nest_limit(REGEX_NESTING_MAX)
                    .build();
                match built {
                    Ok(regex) => Some(regex),
                    Err(regex::Error::CompiledTooBig(_)) => return None,
                    // What the grammar allows and no pattern means: a range that ends before it begins.
                    Err(_) => None,
                }
            }
            Verdict::TooLarge => return None,
            Verdict::NotOne => None,
        };
        let pattern = Pattern { source: source.into(), anchored, regex };
        LAST.set(Some(pattern.clone()));
        Some(pattern)
    }

    //= spec/query.md#q-4-1-patterns
    //# `match` and `search` MUST be false where the second argument is not a pattern.
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.regex.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}
