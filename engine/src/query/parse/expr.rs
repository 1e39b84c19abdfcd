//! Logical expressions, comparisons and calls, with the types of RFC 9535, section 2.4.

use super::{Of, Parser, rewrite};
use crate::document::{Text, Value};
use crate::error::Result;
use crate::query::ast::{Argument, Call, Comparison, Expr, Given, Operand, Query};
use crate::query::call::bytes_of_hex;
use crate::query::function::{Function, Gives, Signature, Takes};

/// What may stand beside a comparison operator, or alone as a test.
enum Term {
    Query(Query),
    Literal(Value),
    Value(Operand),
    Test(Call),
}

/// What a term can be.
const TERM: &str = "`@`, `$`, a literal or a function";

/// Two characters before their beginning.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

impl Parser<'_> {
    pub(super) fn or(&mut self) -> Result<Expr> {
        self.joined("||", Self::and, Expr::or)
    }

    fn and(&mut self) -> Result<Expr> {
        self.joined("&&", Self::basic, Expr::and)
    }

    fn joined(
        &mut self,
        operator: &str,
        part: fn(&mut Self) -> Result<Expr>,
        join: fn(Vec<Expr>) -> Expr,
    ) -> Result<Expr> {
        let mut parts = vec![part(self)?];
        while self.eat_after_blanks(operator) {
            self.cursor.skip_blanks();
            parts.push(part(self)?);
        }
        Ok(join(parts))
    }

    /// Steps over white space and `word`, or over nothing.
    fn eat_after_blanks(&mut self, word: &str) -> bool {
        let before = self.cursor.position();
        self.cursor.skip_blanks();
        let found = self.cursor.eat(word);
        if !found {
            self.cursor.go_to(before);
        }
        found
    }

    fn basic(&mut self) -> Result<Expr> {
        let start = self.cursor.position();
        if !self.cursor.eat("!") {
            return self.positive();
        }
        self.cursor.skip_blanks();
        match self.cursor.peek() {
            Some('(') => self.parenthesised().map(Expr::negated),
            _ => {
                let term = self.term()?;
                if self.comparison().is_some() {
                    return Err(self
                        .cursor
                        .error_at(start, "`!` before a comparison that has no parentheses"));
                }
                self.test(start, term).map(Expr::negated)
            }
        }
    }

    fn parenthesised(&mut self) -> Result<Expr> {
        self.nested(|parser| {
            parser.cursor.expect("(", "`(`")?;
            parser.cursor.skip_blanks();
            let expr = parser.or()?;
            parser.cursor.skip_blanks();
            if !parser.cursor.eat(")") {
                return Err(parser.cursor.unexpected_in_expression("`)`, `&&` or `||`", false));
            }
            Ok(expr)
        })
    }

    /// A comparison, a test or an expression in parentheses.
    fn positive(&mut self) -> Result<Expr> {
        if self.cursor.peek() == Some('(') {
            return self.parenthesised();
        }
        let start = self.cursor.position();
        let left = self.term()?;
        let Some(comparison) = self.comparison() else { return self.test(start, left) };
        self.cursor.skip_blanks();
        let right_start = self.cursor.position();
        let right = self.term()?;
        if let Term::Query(query) = &left
            && !query.is_singular()
        {
            let right = self.cursor.since(right_start);
            return Err(self.cursor.error_at(start, rewrite::of_many_nodes(query, comparison, right)));
        }
        Ok(Expr::Compare(self.comparable(start, left)?, comparison, self.comparable(right_start, right)?))
    }

    fn comparison(&mut self) -> Option<Comparison> {
        COMPARISONS
            .into_iter()
            .find(|(word, _)| self.eat_after_blanks(word))
            .map(|(_, comparison)| comparison)
    }

    /// `term`, which began at `start`, as a test of its own.
    fn test(&mut self, start: usize, term: Term) -> Result<Expr> {
        match term {
            Term::Query(query) => Ok(Expr::Exists(query)),
            Term::Test(call) => Ok(Expr::Test(call)),
            Term::Literal(_) => {
                self.cursor.skip_blanks();
                Err(self.cursor.unexpected_in_expression("a comparison: a literal is no test", false))
            }
            Term::Value(Operand::Call(call)) => {
                let name = call.function.signature().name;
                Err(self
                    .cursor
                    .error_at(start, format!("`{name}` gives a value; compare it, as in `{name}(..) == 1`")))
            }
            Term::Value(_) => Err(self.cursor.error_at(start, "a parameter is a value; compare it")),
        }
    }

    /// `term`, which began at `start`, as a side of a comparison or an argument that is a value.
    fn comparable(&self, start: usize, term: Term) -> Result<Operand> {
        match term {
            Term::Query(query) if query.is_singular() => Ok(Operand::Singular(query)),
            Term::Query(_) => Err(self
                .cursor
                .error_at(start, "this query can select more than one node, where one value is due")),
            Term::Literal(value) => Ok(Operand::Literal(value)),
            Term::Value(operand) => Ok(operand),
            Term::Test(call) => {
                let name = call.function.signature().name;
                Err(self.cursor.error_at(start, format!("`{name}` is true or false, and no value")))
            }
        }
    }

    //= spec/query.md#q-6-1-expression
    //# A store MUST refuse a constant (a literal, `arg` or `bytes` alone), or a function that is true or
    //# false, as an expression.
    pub(super) fn given(&mut self) -> Result<Given> {
        let start = self.cursor.position();
        match self.term()? {
            Term::Query(query) => Ok(Given::Nodes(query)),
            Term::Value(Operand::Call(call)) => Ok(Given::Call(call)),
            Term::Literal(_) | Term::Value(_) => {
                Err(self.cursor.error_at(start, "a constant is the same of every document"))
            }
            Term::Test(call) => {
                let name = call.function.signature().name;
                Err(self.cursor.error_at(start, format!("`{name}` is true or false, and no value")))
            }
        }
    }

    fn term(&mut self) -> Result<Term> {
        match self.cursor.peek() {
            Some(root @ ('@' | '$')) => {
                self.cursor.eat(if root == '@' { "@" } else { "$" });
                Ok(Term::Query(Query::new(root == '$', self.segments()?)))
            }
            Some('"' | '\'') => Ok(Term::Literal(Value::Text(self.cursor.string()?.into()))),
            Some('-' | '0'..='9') => self.cursor.number().map(Term::Literal),
            Some('a'..='z') => self.word(),
            _ => Err(self.cursor.unexpected_in_expression(TERM, true)),
        }
    }

    /// `true`, `false`, `null`, or a call.
    fn word(&mut self) -> Result<Term> {
        let start = self.cursor.position();
        let word = self.cursor.eat_while(|c| matches!(c, 'a'..='z' | '0'..='9' | '_'));
        if self.cursor.peek() != Some('(') {
            return match word {
                "true" => Ok(Term::Literal(Value::Bool(true))),
                "false" => Ok(Term::Literal(Value::Bool(false))),
                "null" => Ok(Term::Literal(Value::Null)),
                _ => {
                    self.cursor.go_to(start);
                    Err(self.cursor.unexpected_in_expression(TERM, true))
                }
            };
        }
        let Some(signature) = Function::named(word) else {
            return Err(self.cursor.error_at(start, format!("there is no function `{word}`")));
        };
        if self.of == Of::Index && !signature.function.is_for_indexes() {
            let what = format!("the filter of an index calls no `{word}`: it is of the document alone");
            return Err(self.cursor.error_at(start, what));
        }
        self.nested(|parser| parser.call(start, signature))
    }

    fn call(&mut self, start: usize, signature: &'static Signature) -> Result<Term> {
        self.cursor.expect("(", "`(`")?;
        self.cursor.skip_blanks();
        let mut args = Vec::new();
        if !self.cursor.eat(")") {
            loop {
                args.push(self.argument(signature)?);
                self.cursor.skip_blanks();
                if self.cursor.eat(")") {
                    break;
                }
                self.cursor.expect(",", "`,` or `)`")?;
                self.cursor.skip_blanks();
            }
        }
        let (least, most) = signature.takes.counts();
        if !(least..=most).contains(&args.len()) {
            let name = signature.name;
            let takes = if least == most { format!("{least}") } else { format!("{least} to {most}") };
            return Err(self
                .cursor
                .error_at(start, format!("`{name}` takes {takes} arguments, found {}", args.len())));
        }
        let function = signature.function;
        match (function, args.as_slice()) {
            (Function::Arg, [Argument::Value(Operand::Literal(Value::Text(name)))]) => {
                self.parameter(start, name)
            }
            (Function::Bytes, [Argument::Value(Operand::Literal(Value::Text(hex)))]) => {
                match bytes_of_hex(hex) {
                    Some(bytes) => Ok(Term::Literal(Value::Bytes(bytes))),
                    None => Err(self.cursor.error_at(start, "`bytes` takes pairs of hexadecimal digits")),
                }
            }
            _ => {
                let call = Call::new(function, args)?;
                Ok(match signature.gives {
                    Gives::Value => Term::Value(Operand::Call(call)),
                    Gives::Logical => Term::Test(call),
                })
            }
        }
    }

    fn parameter(&self, start: usize, name: &Text) -> Result<Term> {
        match self.of {
            Of::Path => Err(self.cursor.error_at(start, "a path has no parameters; only a filter has")),
            _ => Ok(Term::Value(Operand::Parameter(name.clone(), None))),
        }
    }

    fn argument(&mut self, signature: &Signature) -> Result<Argument> {
        let (start, name) = (self.cursor.position(), signature.name);
        let term = self.term()?;
        match (signature.takes, term) {
            (Takes::Nodes, Term::Query(query)) => Ok(Argument::Nodes(query)),
            (Takes::Nodes, _) => Err(self.cursor.error_at(start, format!("`{name}` takes a query"))),
            (Takes::Literal, Term::Literal(text @ Value::Text(_))) => {
                Ok(Argument::Value(Operand::Literal(text)))
            }
            (Takes::Literal, _) => {
                Err(self.cursor.error_at(start, format!("`{name}` takes a text in quotes")))
            }
            (_, term) => self.comparable(start, term).map(Argument::Value),
        }
    }
}
