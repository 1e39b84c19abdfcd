//! The path of a change: a singular query of RFC 9535, such as `$.seen[0]['where to']`.

use std::fmt;
use std::iter::Peekable;
use std::str::CharIndices;

use crate::document::Text;
use crate::error::{Error, Result};

/// The largest index that RFC 9535 lets a query have: ints that every JSON reader has exactly.
const INDEX_MAX: i64 = (1 << 53) - 1;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathStep {
    Name(Text),
    /// From the end where it is below 0.
    Index(i64),
}

/// A way to one value, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SingularPath {
    pub(super) steps: Vec<PathStep>,
}

impl SingularPath {
    //= spec/update.md#u-5-2-paths
    //# A path of another form MUST be refused with the byte at which it goes wrong.
    /// # Errors
    /// `InvalidPath` with the byte at which it goes wrong.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { chars: text.char_indices().peekable(), len: text.len() };
        let steps = parser.path();
        let steps = steps.map_err(|(at, what)| Error::InvalidPath { path: text.to_owned(), at, what })?;
        Ok(SingularPath { steps })
    }

    /// The path up to the step of that number.
    pub(super) fn up_to(&self, number: usize) -> String {
        SingularPath { steps: self.steps[..=number].to_vec() }.to_string()
    }
}

/// In one form: names as `.name` where they can be, in quotes where not.
impl fmt::Display for SingularPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.steps.iter().try_for_each(|step| match step {
            PathStep::Index(index) => write!(f, "[{index}]"),
            PathStep::Name(name) if is_shorthand(name) => write!(f, ".{name}"),
            PathStep::Name(name) => quoted(f, name),
        })
    }
}

fn quoted(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    f.write_str("['")?;
    name.chars().try_for_each(|letter| match letter {
        '\'' | '\\' => write!(f, "\\{letter}"),
        '\u{0}'..='\u{1f}' => write!(f, "\\u{:04x}", u32::from(letter)),
        _ => write!(f, "{letter}"),
    })?;
    f.write_str("']")
}

fn is_shorthand(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(begins_name) && letters.all(continues_name)
}

fn begins_name(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '_' || !letter.is_ascii()
}

fn continues_name(letter: char) -> bool {
    begins_name(letter) || letter.is_ascii_digit()
}

/// Where a text goes wrong, in bytes, and what is wrong.
type Wrong = (usize, &'static str);

struct Parser<'a> {
    chars: Peekable<CharIndices<'a>>,
    len: usize,
}

impl Parser<'_> {
    fn path(&mut self) -> Result<Vec<PathStep>, Wrong> {
        self.expect('$', "a path begins with `$`")?;
        let mut steps = Vec::new();
        while self.chars.peek().is_some() {
            self.space();
            steps.push(match self.next() {
                Some('.') => PathStep::Name(self.shorthand()?),
                Some('[') => self.bracketed()?,
                _ => return Err((self.at().saturating_sub(1), "a step is `.name`, `['name']` or `[index]`")),
            });
        }
        Ok(steps)
    }

    fn shorthand(&mut self) -> Result<Text, Wrong> {
        let mut name = String::new();
        while let Some(letter) =
            self.chars.next_if(|(_, letter)| continues_name(*letter)).map(|(_, letter)| letter)
        {
            name.push(letter);
        }
        if !name.chars().next().is_some_and(begins_name) {
            return Err((
                self.at() - name.len(),
                "a name after `.` begins with a letter or `_`; others go in `['...']`",
            ));
        }
        Ok(name.into())
    }

    fn bracketed(&mut self) -> Result<PathStep, Wrong> {
        self.space();
        let step = match self.chars.peek() {
            Some((_, quote @ ('\'' | '"'))) => {
                let quote = *quote;
                self.chars.next();
                PathStep::Name(self.quoted(quote)?)
            }
            _ => PathStep::Index(self.index()?),
        };
        self.space();
        self.expect(']', "one name or index, and then `]`")?;
        Ok(step)
    }

    fn index(&mut self) -> Result<i64, Wrong> {
        let at = self.at();
        let mut digits = String::new();
        while let Some((_, letter)) =
            self.chars.next_if(|(_, letter)| letter.is_ascii_digit() || *letter == '-')
        {
            digits.push(letter);
        }
        let index = digits.parse::<i64>().ok().filter(|index| index.to_string() == digits);
        index
            .filter(|index| index.abs() <= INDEX_MAX)
            .ok_or((at, "an index is an int of 53 bits in its shortest form"))
    }

    fn quoted(&mut self, quote: char) -> Result<Text, Wrong> {
        let mut name = String::new();
        loop {
            let at = self.at();
            match self.next() {
                Some(letter) if letter == quote => return Ok(name.into()),
                Some('\\') => name.push(self.escape(at, quote)?),
                Some('\u{0}'..='\u{1f}') | None => return Err((at, "a name in quotes that does not end")),
                Some(letter) => name.push(letter),
            }
        }
    }

    fn escape(&mut self, at: usize, quote: char) -> Result<char, Wrong> {
        let wrong = (at, "an escape that JSON does not have");
        Ok(match self.next().ok_or(wrong)? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            letter @ ('/' | '\\') => letter,
            letter if letter == quote => letter,
            'u' => {
                let mut units = vec![self.unit().ok_or(wrong)?];
                if (0xd800..0xdc00).contains(&units[0]) {
                    let pair = self.next() == Some('\\') && self.next() == Some('u');
                    units.push(pair.then(|| self.unit()).flatten().ok_or(wrong)?);
                }
                String::from_utf16(&units).ok().and_then(|text| text.chars().next()).ok_or(wrong)?
            }
            _ => return Err(wrong),
        })
    }

    fn unit(&mut self) -> Option<u16> {
        (0..4).try_fold(0, |unit, _| Some(unit << 4 | self.next()?.to_digit(16)? as u16))
    }

    fn space(&mut self) {
        while self.chars.next_if(|(_, letter)| matches!(letter, ' ' | '\t' | '\n' | '\r')).is_some() {}
    }

    fn expect(&mut self, due: char, what: &'static str) -> Result<(), Wrong> {
        let at = self.at();
        if self.next() == Some(due) { Ok(()) } else { Err((at, what)) }
    }

    fn next(&mut self) -> Option<char> {
        self.chars.next().map(|(_, letter)| letter)
    }

    fn at(&mut self) -> usize {
        self.chars.peek().map_or(self.len, |(at, _)| *at)
    }
}
