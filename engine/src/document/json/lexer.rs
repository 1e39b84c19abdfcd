//! The words of JSON: strings, numbers and names for values; and where in the text they stand.

use std::borrow::Cow;

use crate::document::Value;
use crate::error::{Advice, Error, Result};

//= spec/encoding.md#e-6-13-places-of-errors
//# An error about a JSON text MUST name the line and the column that it is about, both from 1, the column in
//# bytes.
/// A place in a text that is read from somewhere longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// From 1.
    pub(crate) line: u64,
    /// In bytes, from 1.
    pub(crate) column: u64,
}

impl Position {
    pub(crate) const START: Position = Position { line: 1, column: 1 };

    /// The place of what follows `text`, which begins here.
    pub(crate) fn after(self, text: &[u8]) -> Position {
        let lines = text.iter().filter(|&&byte| byte == b'\n').count() as u64;
        match text.iter().rposition(|&byte| byte == b'\n') {
            None => Position { line: self.line, column: self.column + text.len() as u64 },
            Some(last) => Position { line: self.line + lines, column: (text.len() - last) as u64 },
        }
    }

    pub(crate) fn error(self, what: impl Into<String>) -> Error {
        Error::Json { line: self.line, column: self.column, what: what.into() }
    }
}

/// Whether a text is one number as JSON writes it, of any size.
pub(super) fn is_numeral(text: &str) -> bool {
    let mut lexer = Lexer { text, at: 0, place: Position::START };
    lexer.numeral().is_ok() && lexer.at == text.len()
}

/// Reads words off the front of a text.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    /// Always between two characters of the text.
    at: usize,
    /// Where the text begins.
    place: Position,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a [u8], place: Position) -> Result<Self> {
        let text = std::str::from_utf8(text)
            .map_err(|error| place.after(&text[..error.valid_up_to()]).error("the text is not UTF-8"))?;
        Ok(Lexer { text, at: 0, place })
    }

    /// Where the next byte stands in the text.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    #[cold]
    pub(super) fn error(&self, at: usize, what: impl Into<String>) -> Error {
        self.place.after(&self.text.as_bytes()[..at]).error(what)
    }

    /// That something else is `due` here.
    #[cold]
    pub(super) fn unexpected(&self, due: &str) -> Error {
        let what = match self.text[self.at..].chars().next() {
            Some(found) => format!("{found:?} where {due} is due"),
            None => format!("the text ends where {due} is due"),
        };
        self.error(self.at, what)
    }

    /// The next byte, white space apart.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// Steps over `byte`, if that comes next.
    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Steps over `byte`, which is `due`.
    #[inline]
    pub(super) fn expect(&mut self, byte: u8, due: &str) -> Result<()> {
        if self.eat(byte) { Ok(()) } else { Err(self.unexpected(due)) }
    }

    /// `true`, `false` or `null`.
    pub(super) fn word(&mut self) -> Result<Value> {
        let rest = &self.text[self.at..];
        for (word, value) in
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
        {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.unexpected("a value"))
    }

    fn digits(&mut self) -> usize {
        let count = self.text.as_bytes()[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    fn eat_now(&mut self, wanted: &[u8]) -> bool {
        let found = self.text.as_bytes().get(self.at).is_some_and(|byte| wanted.contains(byte));
        self.at += usize::from(found);
        found
    }

    //= spec/encoding.md#e-6-3-json-ints
    //# A reader MUST read a number without fraction and exponent, other than `-0`, as an int, and refuse one
    //# that is none.
    //= spec/encoding.md#e-6-4-json-floats
    //# A reader MUST read a number with a fraction or an exponent, and the number `-0`, as the nearest float,
    //# and refuse one that rounds to an infinity.
    /// A number: an int if it has neither fraction nor exponent, else a float. spec: E-6.3, E-6.4.
    pub(super) fn number(&mut self) -> Result<Value> {
        let start = self.at;
        let whole = self.numeral()?;
        let numeral = &self.text[start..self.at];
        if !whole || numeral == "-0" {
            return match numeral.parse() {
                Ok(float) if f64::is_finite(float) => Ok(Value::Float(float)),
                _ => Err(self.error(start, "a float beyond 64 bits")),
            };
        }
        numeral.parse().map(Value::Int).map_err(|_| {
            self.error(start, format!("an integer beyond 64 signed bits; {}", Advice::WriteFloatOrText))
        })
    }

    /// Steps over the digits and signs of a number. Whether it is whole: has neither fraction nor exponent.
    fn numeral(&mut self) -> Result<bool> {
        let start = self.at;
        self.eat_now(b"-");
        let leading_zero = self.text[self.at..].starts_with('0');
        match self.digits() {
            0 => return Err(self.unexpected("a digit")),
            1 => {}
            _ if leading_zero => return Err(self.error(start, "a number with a zero in front")),
            _ => {}
        }
        let fraction = self.eat_now(b".");
        if fraction && self.digits() == 0 {
            return Err(self.unexpected("a digit"));
        }
        let exponent = self.eat_now(b"eE");
        if exponent {
            self.eat_now(b"+-");
            if self.digits() == 0 {
                return Err(self.unexpected("a digit"));
            }
        }
        Ok(!fraction && !exponent)
    }

    /// A string, from its opening quote on.
    pub(super) fn string(&mut self, due: &str) -> Result<Cow<'a, str>> {
        self.expect(b'"', due)?;
        let plain = self.plain_run()?;
        if self.eat_now(b"\"") {
            return Ok(Cow::Borrowed(plain));
        }
        let mut unescaped = plain.to_owned();
        loop {
            if self.eat_now(b"\"") {
                return Ok(Cow::Owned(unescaped));
            }
            unescaped.push(self.escape()?);
            unescaped.push_str(self.plain_run()?);
        }
    }

    //= spec/encoding.md#e-6-11-strings
    //# A reader MUST refuse a control character that is not escaped in a string.
    /// The string that stands at `at`.
    pub(super) fn string_at(&self, at: usize) -> Option<Cow<'a, str>> {
        Lexer { at, ..self.clone() }.string("a string").ok()
    }

    /// What comes before the next quote or backslash.
    fn plain_run(&mut self) -> Result<&'a str> {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        let Some(len) = rest.iter().position(|&byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)) else {
            self.at = self.text.len();
            return Err(self.unexpected("a closing quote"));
        };
        self.at += len;
        if rest[len] < 0x20 {
            return Err(self.error(self.at, format!("a control character in a string; {}", Advice::EscapeIt)));
        }
        Ok(&self.text[start..self.at])
    }

    fn escape(&mut self) -> Result<char> {
        let start = self.at;
        self.at += 1; // the backslash
        let letter = self.text.as_bytes().get(self.at).copied();
        let plain = match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape(start);
            }
            _ => return Err(self.error(start, "an escape that JSON does not know")),
        };
        self.at += 1;
        Ok(plain)
    }

    //= spec/encoding.md#e-6-11-strings
    //# A reader MUST refuse an escape that stands for half of a surrogate pair.
    /// The four digits behind `\u`, and the second half of a pair of surrogates.
    fn unicode_escape(&mut self, start: usize) -> Result<char> {
        let first = self.four_hex_digits()?;
        if let Some(plain) = char::from_u32(first) {
            return Ok(plain);
        }
        if first < 0xdc00 && self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            let second = self.four_hex_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).expect("a pair of surrogates is a character"));
            }
        }
        Err(self.error(start, "half of a surrogate pair"))
    }

    fn four_hex_digits(&mut self) -> Result<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let code = digits.and_then(|digits| {
            digits.iter().try_fold(0, |code, &digit| Some(code << 4 | char::from(digit).to_digit(16)?))
        });
        let code = code.ok_or_else(|| self.error(self.at, "four hexadecimal digits are due"))?;
        self.at += 4;
        Ok(code)
    }
}
