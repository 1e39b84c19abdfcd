//! The grammar of RFC 9485 (I-Regexp): checked, and translated into the syntax of the crate `regex`, which has more.

use super::limits::NESTING_MAX;

/// What a text is as a pattern.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// In the syntax of `regex`.
    Translated(String),
    /// Not a pattern of RFC 9485.
    NotOne,
    /// One whose nesting or repetition is beyond the limits.
    TooLarge,
}

/// The most repetitions that a quantifier can ask for.
const REPETITIONS_MAX: u32 = 10_000;

/// Checks and translates `pattern`.
pub(super) fn translate(pattern: &str) -> Verdict {
    let mut translator = Translator { rest: pattern.chars(), out: String::with_capacity(pattern.len()) };
    match translator.pattern() {
        Ok(()) => Verdict::Translated(translator.out),
        Err(verdict) => verdict,
    }
}

struct Translator<'t> {
    rest: std::str::Chars<'t>,
    out: String,
}

type Step<T = ()> = Result<T, Verdict>;

impl Translator<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.rest.next();
        }
        found
    }

    /// Writes a character that stands for itself. Behind a backslash, `<` and `>` would be the ends of a word.
    fn literal(&mut self, c: char) {
        if c.is_ascii_punctuation() && !matches!(c, '<' | '>') {
            self.out.push('\\');
        }
        self.out.push(c);
    }

    fn pattern(&mut self) -> Step {
        let mut depth = 0usize;
        // Whether the character before is something that a quantifier can follow.
        let mut is_atom = false;
        while let Some(c) = self.rest.next() {
            is_atom = match c {
                '(' if depth == NESTING_MAX => return Err(Verdict::TooLarge),
                '(' => {
                    depth += 1;
                    self.out.push_str("(?:");
                    false
                }
                ')' => {
                    depth = depth.checked_sub(1).ok_or(Verdict::NotOne)?;
                    self.out.push(')');
                    true
                }
                '|' => {
                    self.out.push('|');
                    false
                }
                '*' | '+' | '?' if is_atom => {
                    self.out.push(c);
                    false
                }
                '{' if is_atom => {
                    self.quantifier()?;
                    false
                }
                '.' => {
                    self.out.push_str(r"[^\n\r]");
                    true
                }
                '[' => {
                    self.class()?;
                    true
                }
                '\\' => {
                    self.escape(true)?;
                    true
                }
                '*' | '+' | '?' | '{' | '}' | ']' => return Err(Verdict::NotOne),
                // The grammar takes both for plain characters, its translation (RFC 9485, section 5.4) leaves them the
                // anchors that they are elsewhere, and so has the compliance suite of RFC 9535.
                '^' | '$' => {
                    self.out.push(c);
                    true
                }
                c => {
                    self.literal(c);
                    true
                }
            };
        }
        if depth == 0 { Ok(()) } else { Err(Verdict::NotOne) }
    }

    /// `{2}`, `{2,}` or `{2,3}`, from after the brace.
    fn quantifier(&mut self) -> Step {
        let least = self.repetitions()?.ok_or(Verdict::NotOne)?;
        self.out.push_str(&format!("{{{least}"));
        if self.eat(',') {
            self.out.push(',');
            if let Some(most) = self.repetitions()? {
                if most < least {
                    return Err(Verdict::NotOne);
                }
                self.out.push_str(&most.to_string());
            }
        }
        self.out.push('}');
        if self.eat('}') { Ok(()) } else { Err(Verdict::NotOne) }
    }

    fn repetitions(&mut self) -> Step<Option<u32>> {
        let mut count = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            self.rest.next();
            count = Some(count.unwrap_or(0u32).saturating_mul(10).saturating_add(digit));
        }
        if count.is_some_and(|count| count > REPETITIONS_MAX) { Err(Verdict::TooLarge) } else { Ok(count) }
    }

    /// What follows a backslash. The character, if it stands for one; classes are allowed where `classes` says so.
    fn escape(&mut self, classes: bool) -> Step<Option<char>> {
        let c = match self.rest.next().ok_or(Verdict::NotOne)? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            c @ ('(' | ')' | '*' | '+' | '-' | '.' | '?' | '[' | '\\' | ']' | '^' | '{' | '|' | '}') => c,
            c @ ('p' | 'P') if classes => {
                self.category(c)?;
                return Ok(None);
            }
            _ => return Err(Verdict::NotOne),
        };
        self.literal(c);
        Ok(Some(c))
    }

    /// `{Lu}`: a general category of Unicode.
    fn category(&mut self, letter: char) -> Step {
        if !self.eat('{') {
            return Err(Verdict::NotOne);
        }
        let major = self.rest.next().ok_or(Verdict::NotOne)?;
        let minors = match major {
            'L' => "lmotu",
            'M' => "cen",
            'N' => "dlo",
            'P' => "cdefios",
            'Z' => "lps",
            'S' => "ckmo",
            'C' => "cfno",
            _ => return Err(Verdict::NotOne),
        };
        self.out.push_str(&format!("\\{letter}{{{major}"));
        if let Some(minor) = self.peek().filter(|&minor| minors.contains(minor)) {
            self.rest.next();
            self.out.push(minor);
        }
        self.out.push('}');
        if self.eat('}') { Ok(()) } else { Err(Verdict::NotOne) }
    }

    /// `[a-z]`, from after the bracket.
    fn class(&mut self) -> Step {
        self.out.push('[');
        if self.eat('^') {
            self.out.push('^');
        }
        let mut is_empty = true;
        // A hyphen stands for itself at either end alone.
        if self.eat('-') {
            self.literal('-');
            is_empty = false;
        }
        loop {
            match self.rest.next().ok_or(Verdict::NotOne)? {
                ']' if !is_empty => break,
                '-' if !is_empty && self.peek() == Some(']') => self.literal('-'),
                '-' | '[' | ']' => return Err(Verdict::NotOne),
                '\\' => {
                    if let Some(first) = self.escape(true)? {
                        self.range_from(first)?;
                    }
                }
                c => {
                    self.literal(c);
                    self.range_from(c)?;
                }
            }
            is_empty = false;
        }
        self.out.push(']');
        Ok(())
    }

    /// The rest of a range whose first character is written, if it is one.
    fn range_from(&mut self, first: char) -> Step {
        let mut ahead = self.rest.clone();
        if ahead.next() != Some('-') || matches!(ahead.next(), Some(']') | None) {
            return Ok(());
        }
        self.rest.next();
        self.out.push('-');
        let last = match self.rest.next() {
            Some('\\') => self.escape(false)?.expect("classes are not allowed here"),
            Some(c) if !matches!(c, '-' | '[' | ']') => {
                self.literal(c);
                c
            }
            _ => return Err(Verdict::NotOne),
        };
        if first <= last { Ok(()) } else { Err(Verdict::NotOne) }
    }
}
