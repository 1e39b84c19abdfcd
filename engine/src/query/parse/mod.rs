//! From text to tree, by the grammar of RFC 9535. Recursive descent, to a depth of `NESTING_MAX`.

mod cursor;
mod expr;
mod rewrite;

use super::ast::{Expr, Given, Segment, Selector, Slice};
use crate::error::Result;
use cursor::Cursor;

//= spec/query.md#q-1-1-standard
//# A store MUST refuse a text that is not a well-formed and valid query, with the place of the mistake.
/// Parses a query that begins with `$`.
pub(super) fn path(text: &str) -> Result<Vec<Segment>> {
    let mut parser = Parser::new(text, Of::Path);
    parser.cursor.expect("$", "`$`")?;
    let segments = parser.segments()?;
    parser.end("`.`, `..` or `[`")?;
    Ok(segments)
}

/// Parses a query that begins with `$` and has names and indexes alone.
pub(super) fn singular_path(text: &str) -> Result<Vec<Segment>> {
    let mut parser = Parser::new(text, Of::Path);
    parser.cursor.expect("$", "`$`")?;
    let mut segments = Vec::new();
    loop {
        let start = parser.cursor.position();
        let Some(segment) = parser.segment()? else { break };
        if segment.singular().is_none() {
            let what = "expected one name or index, as in a path that leads to one place";
            return Err(parser.cursor.error_at(start, what));
        }
        segments.push(segment);
    }
    parser.end("`.` or `[`")?;
    Ok(segments)
}

/// Parses a logical expression, which may hold parameters.
pub(super) fn filter(text: &str) -> Result<Expr> {
    Parser::new(text, Of::Query).filter()
}

//= spec/index.md#i-1-6-filters
//# The filter of an index MUST NOT call `arg`, `key`, `match` or `search`.
/// Parses a logical expression that an index can have.
pub(super) fn filter_of_index(text: &str) -> Result<Expr> {
    Parser::new(text, Of::Index).filter()
}

/// Parses an expression, which may hold parameters.
pub(super) fn expression(text: &str) -> Result<Given> {
    let mut parser = Parser::new(text, Of::Query);
    parser.cursor.skip_blanks();
    let given = parser.given()?;
    parser.cursor.skip_blanks();
    parser.end("the end of the expression")?;
    Ok(given)
}

struct Parser<'t> {
    cursor: Cursor<'t>,
    of: Of,
}

/// What a text is part of: it says which functions may be called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Path,
    Query,
    Index,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, of: Of) -> Self {
        Parser { cursor: Cursor::new(text), of }
    }
}

impl Parser<'_> {
    fn filter(&mut self) -> Result<Expr> {
        self.cursor.skip_blanks();
        let expr = self.or()?;
        self.cursor.skip_blanks();
        if self.cursor.is_at_end() {
            return Ok(expr);
        }
        Err(self.cursor.unexpected_in_expression("`&&`, `||` or the end of the filter", false))
    }

    fn end(&self, due: &str) -> Result<()> {
        if self.cursor.is_at_end() { Ok(()) } else { Err(self.cursor.unexpected(due)) }
    }

    /// The segments of a query, from after its `$` or `@`.
    fn segments(&mut self) -> Result<Vec<Segment>> {
        std::iter::from_fn(|| self.segment().transpose()).collect()
    }

    /// The next segment, if one follows.
    fn segment(&mut self) -> Result<Option<Segment>> {
        let before = self.cursor.position();
        self.cursor.skip_blanks();
        Ok(Some(if self.cursor.eat("..") {
            let selectors = match self.cursor.peek() {
                Some('[') => self.bracketed()?,
                _ => vec![self.after_dot()?],
            };
            Segment { descends: true, selectors }
        } else if self.cursor.eat(".") {
            Segment::child(self.after_dot()?)
        } else if self.cursor.peek() == Some('[') {
            Segment { descends: false, selectors: self.bracketed()? }
        } else {
            // White space is part of a query only where a segment follows.
            self.cursor.go_to(before);
            return Ok(None);
        }))
    }

    fn after_dot(&mut self) -> Result<Selector> {
        if self.cursor.eat("*") {
            self.nested(|_| Ok(Selector::Wildcard))
        } else {
            self.cursor.shorthand().map(Selector::Name)
        }
    }

    fn bracketed(&mut self) -> Result<Vec<Selector>> {
        self.nested(|parser| {
            parser.cursor.expect("[", "`[`")?;
            let mut selectors = Vec::new();
            loop {
                parser.cursor.skip_blanks();
                selectors.push(parser.selector()?);
                parser.cursor.skip_blanks();
                if parser.cursor.eat("]") {
                    return Ok(selectors);
                }
                if !parser.cursor.eat(",") {
                    let due = "`,` or `]`";
                    return Err(match selectors.last() {
                        Some(Selector::Filter(_)) => parser.cursor.unexpected_in_expression(due, false),
                        _ => parser.cursor.unexpected(due),
                    });
                }
            }
        })
    }

    fn selector(&mut self) -> Result<Selector> {
        match self.cursor.peek() {
            Some('"' | '\'') => Ok(Selector::Name(self.cursor.string()?.into())),
            Some('*') => {
                self.cursor.eat("*");
                Ok(Selector::Wildcard)
            }
            Some('?') => {
                self.cursor.eat("?");
                self.cursor.skip_blanks();
                self.or().map(Selector::Filter)
            }
            Some(':' | '-' | '0'..='9') => self.index_or_slice(),
            _ => Err(self.cursor.unexpected("a name in quotes, an index, a slice, `*` or `?`")),
        }
    }

    fn index_or_slice(&mut self) -> Result<Selector> {
        let start = self.cursor.index()?;
        let after = self.cursor.position();
        self.cursor.skip_blanks();
        if !self.cursor.eat(":") {
            self.cursor.go_to(after);
            return Ok(Selector::Index(start.expect("a slice begins with `:` where it has no start")));
        }
        self.cursor.skip_blanks();
        let end = self.cursor.index()?;
        let after = self.cursor.position();
        self.cursor.skip_blanks();
        let mut step = None;
        if self.cursor.eat(":") {
            self.cursor.skip_blanks();
            step = self.cursor.index()?;
        } else {
            self.cursor.go_to(after);
        }
        Ok(Selector::Slice(Slice { start, end, step: step.unwrap_or(1) }))
    }

    /// Runs `inner` one level deeper.
    fn nested<R>(&mut self, inner: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        self.cursor.enter()?;
        let result = inner(self);
        self.cursor.leave();
        result
    }
}
