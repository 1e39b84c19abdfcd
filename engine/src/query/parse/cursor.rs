//! The characters of a query text, and the words that are the same everywhere in it.

use super::rewrite;
use crate::document::{Text, Value};
use crate::error::{Advice, Error, Result};
use crate::query::limits::NESTING_MAX;
use crate::query::names::{is_name_char, is_name_first};

/// The largest magnitude of an index: what every JSON reader holds exactly (RFC 9535, section 2.1).
const INDEX_MAX: i64 = (1 << 53) - 1;

/// So many characters of a word are shown.
const WORD_MAX: usize = 40;

/// Reads words off the front of a text.
#[derive(Debug)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    /// Always between two characters.
    at: usize,
    depth: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Cursor { text, at: 0, depth: 0 }
    }

    /// Offset of the next character, in bytes.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn go_to(&mut self, position: usize) {
        self.at = position;
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn since(&self, start: usize) -> &'t str {
        &self.text[start..self.at]
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Steps over `word`, if that comes next.
    pub(super) fn eat(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Steps over the characters that `wanted` accepts.
    pub(super) fn eat_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !wanted(c)).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// Steps over white space. Whether there was any.
    pub(super) fn skip_blanks(&mut self) -> bool {
        !self.eat_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r')).is_empty()
    }

    #[cold]
    pub(super) fn error_at(&self, offset: usize, what: impl Into<String>) -> Error {
        Error::Query { offset, what: what.into() }
    }

    /// That something other than `due` comes next.
    #[cold]
    pub(super) fn unexpected(&self, due: &str) -> Error {
        self.error_at(self.at, self.found_for(due))
    }

    /// As [`unexpected`](Self::unexpected) in an expression, where a term, or what follows one, is due: with what to write, where another
    /// language has what is found.
    #[cold]
    pub(super) fn unexpected_in_expression(&self, due: &str, is_term: bool) -> Error {
        let mut what = self.found_for(due);
        if let Some(right) = rewrite::of_other_languages(&self.text[..self.at], self.rest(), is_term) {
            what += &format!("; {}: `{right}`", Advice::WriteThis);
        }
        self.error_at(self.at, what)
    }

    fn found_for(&self, due: &str) -> String {
        match self.peek() {
            Some(found) if is_name_first(found) => {
                let word: String =
                    self.rest().chars().take_while(|c| is_name_char(*c)).take(WORD_MAX).collect();
                format!("expected {due}, found `{word}`")
            }
            Some(found) => format!("expected {due}, found {found:?}"),
            None => format!("expected {due}, and the text ends"),
        }
    }

    pub(super) fn expect(&mut self, word: &str, due: &str) -> Result<()> {
        if self.eat(word) { Ok(()) } else { Err(self.unexpected(due)) }
    }

    //= spec/query.md#q-1-4-limits
    //# A store MUST refuse a query that nests deeper, as `QueryTooDeep`, however deep it is.
    /// Begins a level: each takes of the stack.
    pub(super) fn enter(&mut self) -> Result<()> {
        if self.depth == NESTING_MAX {
            return Err(Error::QueryTooDeep { offset: self.at, max: NESTING_MAX });
        }
        self.depth += 1;
        Ok(())
    }

    /// Ends a level.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// A name as it may stand after a dot.
    pub(super) fn shorthand(&mut self) -> Result<Text> {
        if !self.peek().is_some_and(is_name_first) {
            return Err(self.unexpected("a name or `*`"));
        }
        Ok(self.eat_while(is_name_char).into())
    }

    /// The index or bound of a slice that comes next, if one does.
    pub(super) fn index(&mut self) -> Result<Option<i64>> {
        let start = self.at;
        if !self.peek().is_some_and(|c| c == '-' || c.is_ascii_digit()) {
            return Ok(None);
        }
        self.eat("-");
        self.whole_digits(start, false)?;
        match self.since(start).parse() {
            Ok(index) if (-INDEX_MAX..=INDEX_MAX).contains(&index) => Ok(Some(index)),
            _ => Err(self.error_at(start, "an index from -(2^53 - 1) to 2^53 - 1 is due")),
        }
    }

    /// The digits of an integer whose sign, if any, is read.
    fn whole_digits(&mut self, start: usize, minus_zero: bool) -> Result<()> {
        let digits = self.eat_while(|c| c.is_ascii_digit());
        match digits {
            "" => Err(self.unexpected("a digit")),
            "0" if minus_zero || self.since(start) == "0" => Ok(()),
            _ if digits.starts_with('0') => {
                Err(self.error_at(start, "an integer with a zero in front, or `-0`"))
            }
            _ => Ok(()),
        }
    }

    //= spec/query.md#q-1-3-numbers-in-a-query
    //# A store MUST refuse an int that is not one of V-1.2, and a float that rounds to an infinity.
    /// A number: an int where it has neither fraction nor exponent and is not `-0`, else a float, as in JSON.
    pub(super) fn number(&mut self) -> Result<Value> {
        let start = self.at;
        self.eat("-");
        self.whole_digits(start, true)?;
        let mut whole = self.since(start) != "-0";
        if self.eat(".") {
            whole = false;
            self.digits()?;
        }
        if self.eat("e") || self.eat("E") {
            whole = false;
            if !self.eat("-") {
                self.eat("+");
            }
            self.digits()?;
        }
        let numeral = self.since(start);
        if whole {
            return numeral.parse().map(Value::Int).map_err(|_| {
                self.error_at(
                    start,
                    format!("an integer beyond 64 signed bits; {}", Advice::WriteFloatOrText),
                )
            });
        }
        match numeral.parse() {
            Ok(float) if f64::is_finite(float) => Ok(Value::Float(float)),
            _ => Err(self.error_at(start, "a number beyond 64 bits")),
        }
    }

    fn digits(&mut self) -> Result<()> {
        match self.eat_while(|c| c.is_ascii_digit()) {
            "" => Err(self.unexpected("a digit")),
            _ => Ok(()),
        }
    }

    /// A string, from its opening quote on.
    pub(super) fn string(&mut self) -> Result<String> {
        let quote = match self.peek() {
            Some(quote @ ('"' | '\'')) => quote,
            _ => return Err(self.unexpected("a string in quotes")),
        };
        self.at += 1;
        let mut out = String::new();
        loop {
            out.push_str(self.eat_while(|c| c != quote && c != '\\' && c >= ' '));
            match self.peek() {
                Some(found) if found == quote => {
                    self.at += 1;
                    return Ok(out);
                }
                Some('\\') => out.push(self.escape(quote)?),
                Some(_) => {
                    return Err(self.error_at(
                        self.at,
                        format!("a control character in a string; {}", Advice::EscapeIt),
                    ));
                }
                None => return Err(self.unexpected("a closing quote")),
            }
        }
    }

    fn escape(&mut self, quote: char) -> Result<char> {
        let start = self.at;
        self.at += 1;
        let Some(letter) = self.peek() else { return Err(self.unexpected("an escape")) };
        let plain = match letter {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '/' | '\\' => letter,
            'u' => {
                self.at += 1;
                return self.unicode_escape(start);
            }
            _ if letter == quote => letter,
            _ => return Err(self.error_at(start, "an escape that a string in these quotes does not have")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char> {
        let first = self.four_hex_digits()?;
        if let Some(plain) = char::from_u32(first) {
            return Ok(plain);
        }
        if first < 0xdc00 && self.eat("\\u") {
            let second = self.four_hex_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).expect("a pair of surrogates is a character"));
            }
        }
        Err(self.error_at(start, "half of a surrogate pair"))
    }

    fn four_hex_digits(&mut self) -> Result<u32> {
        let digits =
            self.rest().get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(digits) = digits else { return Err(self.unexpected("four hexadecimal digits")) };
        self.at += 4;
        Ok(u32::from_str_radix(digits, 16).expect("these are hexadecimal digits"))
    }
}
