//! How deep a filter nests, for those that calls make. spec.

use std::fmt::{self, Write};

use super::ast::Expr;

/// How deep brackets, parentheses and calls nest in the normal form of `expr`.
pub(super) fn nesting(expr: &Expr) -> usize {
    let mut counted = Counted::default();
    write!(counted, "{expr}").expect("counting refuses nothing");
    counted.most
}

/// A text that is counted and not kept.
#[derive(Default)]
struct Counted {
    depth: usize,
    most: usize,
    in_quotes: bool,
    is_escaped: bool,
}

impl Write for Counted {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        for byte in part.bytes() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'\'' => self.in_quotes = !self.in_quotes,
                _ if self.in_quotes => {}
                b'[' | b'(' => self.depth += 1,
                b']' | b')' => self.depth -= 1,
                _ => {}
            }
            self.most = self.most.max(self.depth);
        }
        Ok(())
    }
}
