//! What a worker says, a line at a time. A line in the pipe is there whatever becomes of the worker.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::str::FromStr;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// It is about to open the store.
    Opening,
    /// The store is open, and all that it holds has this digest.
    Opened(u64),
    /// A call returned: the digest of the answer, and the answer as a report shows it.
    Answered(u64, String),
    /// A commit of a thread of the ledger returned: the thread, and its number in that thread.
    Committed(u64, u64),
    /// The store was closed, and there is nothing left to do.
    Closed,
    /// It cannot go on.
    Failed(String),
}

/// Two values of one type, in two processes of one program, are taken for equal by it.
pub(super) fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Opening => f.write_str("opening"),
            Line::Opened(digest) => write!(f, "opened {digest}"),
            Line::Answered(digest, text) => write!(f, "answered {digest} {}", text.escape_debug()),
            Line::Committed(thread, number) => write!(f, "committed {thread} {number}"),
            Line::Closed => f.write_str("closed"),
            Line::Failed(what) => write!(f, "failed {}", what.escape_debug()),
        }
    }
}

impl FromStr for Line {
    type Err = String;

    fn from_str(line: &str) -> Result<Line, String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let number =
            |text: &str| text.parse().map_err(|_| format!("a worker says {line:?}, which is no line"));
        match (word, rest.split_once(' ')) {
            ("opening", None) if rest.is_empty() => Ok(Line::Opening),
            ("opened", None) => Ok(Line::Opened(number(rest)?)),
            ("answered", Some((digest, text))) => Ok(Line::Answered(number(digest)?, text.to_owned())),
            ("committed", Some((thread, commit))) => Ok(Line::Committed(number(thread)?, number(commit)?)),
            ("closed", None) if rest.is_empty() => Ok(Line::Closed),
            ("failed", _) => Ok(Line::Failed(rest.to_owned())),
            _ => Err(format!("a worker says {line:?}, which is no line")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_read_as_it_was_written() {
        let answered = Line::Answered(u64::MAX, "key 7".to_owned());
        let failed = Line::Failed("opening: no".to_owned());
        let lines = [Line::Opening, Line::Opened(3), answered, Line::Committed(1, 9), Line::Closed, failed];
        for line in lines {
            assert_eq!(line.to_string().parse(), Ok(line));
        }
    }

    #[test]
    fn what_is_no_line_is_refused() {
        for bad in ["", "opened", "opened x", "answered 3", "committed 3", "usage: holotype"] {
            assert!(bad.parse::<Line>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_answer_of_several_lines_stays_on_one() {
        assert_eq!(Line::Answered(1, "a\nb".to_owned()).to_string(), "answered 1 a\\nb");
    }
}
