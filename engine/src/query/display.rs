//! The one normal form of a query: equal trees print alike, and what is printed parses to the tree that it came from.

use std::fmt::{self, Display, Formatter, Write};

use super::ast::{Argument, Call, Comparison, Expr, Operand, Query, Segment, Selector, Slice};
use super::names::{is_name_char, is_name_first};
use crate::document::Value;
use crate::seeded::{self, Bug};

/// Writes `text` in single quotes, as a normalized path has it (RFC 9535, section 2.7).
pub(super) fn quoted(text: &str, f: &mut impl Write) -> fmt::Result {
    f.write_char('\'')?;
    for c in text.chars() {
        match c {
            '\u{8}' => f.write_str("\\b")?,
            '\u{c}' => f.write_str("\\f")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\'' => f.write_str("\\'")?,
            '\\' => f.write_str("\\\\")?,
            c if c < ' ' => write!(f, "\\u{:04x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('\'')
}

fn is_shorthand(name: &str) -> bool {
    name.starts_with(is_name_first) && name.chars().all(is_name_char)
}

/// Writes the parts with `separator` between them.
fn joined<T>(
    f: &mut Formatter<'_>,
    parts: &[T],
    separator: &str,
    mut write: impl FnMut(&T, &mut Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            f.write_str(separator)?;
        }
        write(part, f)?;
    }
    Ok(())
}

impl Display for Segment {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let dots = if self.descends { ".." } else { "" };
        match self.selectors.as_slice() {
            [Selector::Name(name)] if is_shorthand(name) => {
                write!(f, "{}{name}", if self.descends { ".." } else { "." })
            }
            selectors => {
                write!(f, "{dots}[")?;
                joined(f, selectors, ", ", Display::fmt)?;
                f.write_char(']')
            }
        }
    }
}

impl Display for Selector {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Selector::Name(name) => quoted(name, f),
            Selector::Wildcard => f.write_char('*'),
            Selector::Index(index) => write!(f, "{index}"),
            Selector::Slice(slice) => slice.fmt(f),
            Selector::Filter(expr) => write!(f, "?{expr}"),
        }
    }
}

impl Display for Slice {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(start) = self.start {
            write!(f, "{start}")?;
        }
        f.write_char(':')?;
        if let Some(end) = self.end {
            write!(f, "{end}")?;
        }
        if self.step != 1 {
            write!(f, ":{}", self.step)?;
        }
        Ok(())
    }
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char(if self.from_root { '$' } else { '@' })?;
        self.segments.iter().try_for_each(|segment| segment.fmt(f))
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Or(parts) => joined(f, parts, " || ", Display::fmt),
            Expr::And(parts) => joined(f, parts, " && ", |part, f| match part {
                Expr::Or(_) if !seeded::is_on(Bug::PrintedWithoutParentheses) => write!(f, "({part})"),
                _ => part.fmt(f),
            }),
            Expr::Not(inner) => match **inner {
                Expr::Exists(_) | Expr::Test(_) => write!(f, "!{inner}"),
                _ => write!(f, "!({inner})"),
            },
            Expr::Exists(query) => query.fmt(f),
            Expr::Compare(left, comparison, right) => write!(f, "{left} {comparison} {right}"),
            Expr::Test(call) => call.fmt(f),
        }
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        })
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Literal(Value::Text(text)) => quoted(text, f),
            Operand::Literal(Value::Bytes(bytes)) => {
                f.write_str("bytes('")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str("')")
            }
            // JSON wraps ints beyond 53 bits; a query does not.
            Operand::Literal(Value::Int(int)) => write!(f, "{int}"),
            // Null, bools and finite numbers: an expression has no other literals.
            Operand::Literal(value) => value.fmt(f),
            Operand::Parameter(name, _) => {
                f.write_str("arg(")?;
                quoted(name, f)?;
                f.write_char(')')
            }
            Operand::Singular(query) => query.fmt(f),
            Operand::Call(call) => call.fmt(f),
        }
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.function.signature().name)?;
        joined(f, &self.args, ", ", |argument, f| match argument {
            Argument::Value(operand) => operand.fmt(f),
            Argument::Nodes(query) => query.fmt(f),
        })?;
        f.write_char(')')
    }
}
