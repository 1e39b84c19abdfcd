//! The tokens of a pointer, from its text.

use std::borrow::Cow;

const NO_SLASH: &str = "a pointer is empty or begins with `/`";
const BAD_ESCAPE: &str = "`~` is followed by neither 0 nor 1";

/// The byte at which a text goes wrong, and how.
pub(super) type Wrong = (usize, &'static str);

/// The tokens of the pointer that a text writes, escapes resolved. Ends after the first error.
pub(super) struct Tokens<'a> {
    /// From the next `/` on.
    rest: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Tokens { rest: text, at: 0 }
    }

    fn read(&mut self) -> Result<Cow<'a, str>, Wrong> {
        let rest = self.rest.strip_prefix('/').ok_or((self.at, NO_SLASH))?;
        let token = rest.split('/').next().unwrap_or_default();
        let at = self.at + 1;
        (self.rest, self.at) = (&rest[token.len()..], at + token.len());
        unescape(token).map_err(|wrong| (at + wrong, BAD_ESCAPE))
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Result<Cow<'a, str>, Wrong>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let token = self.read();
        if token.is_err() {
            self.rest = "";
        }
        Some(token)
    }
}

/// The token without its escapes; or the place of a wrong one.
fn unescape(token: &str) -> Result<Cow<'_, str>, usize> {
    let mut parts = token.split('~');
    let plain = parts.next().unwrap_or_default();
    if plain.len() == token.len() {
        return Ok(Cow::Borrowed(token));
    }
    let mut plain = plain.to_owned();
    let mut at = plain.len();
    for part in parts {
        plain.push(match part.as_bytes().first() {
            Some(b'0') => '~',
            Some(b'1') => '/',
            _ => return Err(at),
        });
        plain.push_str(&part[1..]);
        at += part.len() + 1;
    }
    Ok(Cow::Owned(plain))
}
