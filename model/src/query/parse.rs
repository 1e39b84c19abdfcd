//! The grammar of RFC 9535, over characters.

use super::functions::{self, Type};
use super::{Expr, Segment, Selector, Term};
use crate::value::Value;

type Parsed<T> = Result<T, String>;

/// spec.
const DEPTH_MAX: usize = 64;

pub(super) fn path(text: &str) -> Parsed<Vec<Segment>> {
    let mut parser = Parser { text: text.chars().collect(), at: 0, depth: 0, parameters: false };
    parser.due("$")?;
    let segments = parser.segments()?;
    parser.end().map(|()| segments)
}

pub(super) fn filter(text: &str) -> Parsed<Expr> {
    let mut parser = Parser { text: text.chars().collect(), at: 0, depth: 0, parameters: true };
    parser.blanks();
    let expr = parser.or()?;
    parser.blanks();
    parser.end().map(|()| expr)
}

/// A query, or a call of a function that gives a value.
pub(super) fn expression(text: &str) -> Parsed<Term> {
    let mut parser = Parser { text: text.chars().collect(), at: 0, depth: 0, parameters: true };
    parser.blanks();
    let term = parser.term()?;
    parser.blanks();
    parser.end()?;
    match &term {
        Term::Literal(_) => Err("a literal is no expression".to_owned()),
        Term::Call(name, _) if matches!(name.as_str(), "arg" | "bytes") => {
            Err("a constant is no expression".to_owned())
        }
        Term::Call(..) if functions::type_of(&term) != Type::Value => {
            Err("a test is no expression".to_owned())
        }
        _ => Ok(term),
    }
}

struct Parser {
    text: Vec<char>,
    at: usize,
    depth: usize,
    parameters: bool,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn is_next(&self, word: &str) -> bool {
        word.chars().enumerate().all(|(n, c)| self.text.get(self.at + n) == Some(&c))
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.is_next(word);
        if found {
            self.at += word.chars().count();
        }
        found
    }

    fn due(&mut self, word: &str) -> Parsed<()> {
        if self.eat(word) { Ok(()) } else { self.fail(&format!("{word} is due")) }
    }

    fn fail<T>(&self, what: &str) -> Parsed<T> {
        Err(format!("character {}: {what}", self.at))
    }

    fn end(&self) -> Parsed<()> {
        if self.at == self.text.len() { Ok(()) } else { self.fail("the end is due") }
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.at += 1;
        }
    }

    //= spec/query.md#q-1-4-limits
    //# A store MUST refuse a query that nests deeper, as `QueryTooDeep`, however deep it is.
    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH_MAX {
            return self.fail("too deep");
        }
        self.depth += 1;
        let parsed = inner(self)?;
        self.depth -= 1;
        Ok(parsed)
    }

    fn segments(&mut self) -> Parsed<Vec<Segment>> {
        let mut segments = Vec::new();
        loop {
            let before = self.at;
            self.blanks();
            let descends = self.eat("..");
            let selectors = if self.peek() == Some('[') {
                self.deeper(Self::brackets)?
            } else if descends || self.eat(".") {
                vec![if self.eat("*") {
                    self.deeper(|_| Ok(Selector::Wildcard))?
                } else {
                    Selector::Name(self.plain_name()?)
                }]
            } else {
                self.at = before;
                return Ok(segments);
            };
            segments.push(Segment { descends, selectors });
        }
    }

    fn plain_name(&mut self) -> Parsed<String> {
        let first = |c: char| c.is_ascii_alphabetic() || c == '_' || c as u32 >= 0x80;
        let start = self.at;
        while self.peek().is_some_and(|c| first(c) || (self.at > start && c.is_ascii_digit())) {
            self.at += 1;
        }
        if self.at == start {
            self.fail("a name is due")
        } else {
            Ok(self.text[start..self.at].iter().collect())
        }
    }

    fn brackets(&mut self) -> Parsed<Vec<Selector>> {
        self.due("[")?;
        let mut selectors = Vec::new();
        loop {
            self.blanks();
            selectors.push(self.selector()?);
            self.blanks();
            if self.eat("]") {
                return Ok(selectors);
            }
            self.due(",")?;
        }
    }

    fn selector(&mut self) -> Parsed<Selector> {
        if matches!(self.peek(), Some('"' | '\'')) {
            return self.string().map(Selector::Name);
        }
        if self.eat("*") {
            return Ok(Selector::Wildcard);
        }
        if self.eat("?") {
            self.blanks();
            return self.or().map(Selector::Filter);
        }
        let start = self.whole()?;
        let before = self.at;
        self.blanks();
        if !self.eat(":") {
            self.at = before;
            return match start {
                Some(index) => Ok(Selector::Index(index)),
                None => self.fail("a selector is due"),
            };
        }
        self.blanks();
        let end = self.whole()?;
        let before = self.at;
        self.blanks();
        let mut step = None;
        if self.eat(":") {
            self.blanks();
            step = self.whole()?;
        } else {
            self.at = before;
        }
        Ok(Selector::Slice(start, end, step))
    }

    fn digits(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.text[start..self.at].iter().collect()
    }

    /// An index, if one comes next.
    fn whole(&mut self) -> Parsed<Option<i64>> {
        let minus = self.eat("-");
        let digits = self.digits();
        if digits.is_empty() {
            return if minus { self.fail("a digit is due") } else { Ok(None) };
        }
        if digits.starts_with('0') && (digits.len() > 1 || minus) {
            return self.fail("a zero in front");
        }
        match digits.parse::<i64>() {
            Ok(index) if index < 1 << 53 => Ok(Some(if minus { -index } else { index })),
            _ => self.fail("an index beyond 2^53 - 1"),
        }
    }

    //= spec/query.md#q-1-3-numbers-in-a-query
    //# A store MUST refuse an int that is not one of V-1.2, and a float that rounds to an infinity.
    fn number(&mut self) -> Parsed<Value> {
        let start = self.at;
        self.eat("-");
        let digits = self.digits();
        if digits.is_empty() || (digits.starts_with('0') && digits.len() > 1) {
            return self.fail("a number is due");
        }
        let mut is_float = false;
        if self.eat(".") {
            is_float = true;
            if self.digits().is_empty() {
                return self.fail("a digit is due");
            }
        }
        if self.eat("e") || self.eat("E") {
            is_float = true;
            let _ = self.eat("-") || self.eat("+");
            if self.digits().is_empty() {
                return self.fail("a digit is due");
            }
        }
        let text: String = self.text[start..self.at].iter().collect();
        if is_float || text == "-0" {
            return match text.parse::<f64>() {
                Ok(float) if float.is_finite() => Ok(Value::Float(float)),
                _ => self.fail("a float beyond 64 bits"),
            };
        }
        text.parse().map(Value::Int).or_else(|_| self.fail("an int beyond 64 bits"))
    }

    fn string(&mut self) -> Parsed<String> {
        let quote = self.peek();
        self.at += 1;
        let mut out = String::new();
        loop {
            let Some(c) = self.peek() else { return self.fail("a quote is due") };
            self.at += 1;
            match c {
                _ if Some(c) == quote => return Ok(out),
                '\\' => out.push(self.escape(quote)?),
                c if c < ' ' => return self.fail("a control character"),
                c => out.push(c),
            }
        }
    }

    fn escape(&mut self, quote: Option<char>) -> Parsed<char> {
        let c = self.peek();
        self.at += 1;
        Ok(match c {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some(plain @ ('/' | '\\')) => plain,
            Some(plain) if c == quote => plain,
            Some('u') => {
                let first = self.hex()?;
                let mut units = vec![first];
                if (0xd800..0xdc00).contains(&first) {
                    self.due("\\u")?;
                    units.push(self.hex()?);
                }
                let decoded: Vec<_> = char::decode_utf16(units).collect();
                match decoded.as_slice() {
                    [Ok(c)] => *c,
                    _ => return self.fail("half of a pair"),
                }
            }
            _ => return self.fail("an escape that is none"),
        })
    }

    fn hex(&mut self) -> Parsed<u16> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) else {
                return self.fail("a digit is due");
            };
            code = code * 16 + digit as u16;
            self.at += 1;
        }
        Ok(code)
    }

    fn or(&mut self) -> Parsed<Expr> {
        let mut left = self.and()?;
        while self.after_blanks("||") {
            self.blanks();
            left = Expr::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed<Expr> {
        let mut left = self.basic()?;
        while self.after_blanks("&&") {
            self.blanks();
            left = Expr::And(Box::new(left), Box::new(self.basic()?));
        }
        Ok(left)
    }

    fn after_blanks(&mut self, word: &str) -> bool {
        let before = self.at;
        self.blanks();
        let found = self.eat(word);
        if !found {
            self.at = before;
        }
        found
    }

    fn basic(&mut self) -> Parsed<Expr> {
        let not = self.eat("!");
        if not {
            self.blanks();
        }
        let expr = if self.peek() == Some('(') {
            self.deeper(|parser| {
                parser.due("(")?;
                parser.blanks();
                let expr = parser.or()?;
                parser.blanks();
                parser.due(")").map(|()| expr)
            })?
        } else {
            let left = self.term()?;
            let operator =
                ["==", "!=", "<=", ">=", "<", ">"].into_iter().find(|word| self.after_blanks(word));
            match operator {
                Some(_) if not => return self.fail("a comparison behind !"),
                Some(operator) => {
                    self.blanks();
                    let right = self.term()?;
                    if [&left, &right].into_iter().any(|side| functions::type_of(side) != Type::Value) {
                        return self.fail("a comparison of what is no value");
                    }
                    Expr::Compare(left, operator.to_owned(), right)
                }
                None => match (&left, functions::type_of(&left)) {
                    (Term::Query { .. }, _) | (_, Type::Logical) => Expr::Test(left),
                    _ => return self.fail("a value alone"),
                },
            }
        };
        Ok(if not { Expr::Not(Box::new(expr)) } else { expr })
    }

    fn term(&mut self) -> Parsed<Term> {
        match self.peek() {
            Some(root @ ('$' | '@')) => {
                self.at += 1;
                Ok(Term::Query { from_root: root == '$', segments: self.segments()? })
            }
            Some('"' | '\'') => self.string().map(|text| Term::Literal(Value::Text(text))),
            Some('-' | '0'..='9') => self.number().map(Term::Literal),
            Some('a'..='z') => self.word(),
            _ => self.fail("a term is due"),
        }
    }

    fn word(&mut self) -> Parsed<Term> {
        let start = self.at;
        while matches!(self.peek(), Some('a'..='z' | '0'..='9' | '_')) {
            self.at += 1;
        }
        let word: String = self.text[start..self.at].iter().collect();
        if !self.is_next("(") {
            return match word.as_str() {
                "true" => Ok(Term::Literal(Value::Bool(true))),
                "false" => Ok(Term::Literal(Value::Bool(false))),
                "null" => Ok(Term::Literal(Value::Null)),
                _ => self.fail("no such word"),
            };
        }
        let args = self.deeper(Self::arguments)?;
        if word == "arg" && !self.parameters {
            return self.fail("a path has no parameters");
        }
        match functions::check(&word, &args) {
            Ok(()) => Ok(Term::Call(word, args)),
            Err(what) => self.fail(&what),
        }
    }

    fn arguments(&mut self) -> Parsed<Vec<Term>> {
        self.due("(")?;
        self.blanks();
        let mut args = Vec::new();
        if self.eat(")") {
            return Ok(args);
        }
        loop {
            args.push(self.term()?);
            self.blanks();
            if self.eat(")") {
                return Ok(args);
            }
            self.due(",")?;
            self.blanks();
        }
    }
}
