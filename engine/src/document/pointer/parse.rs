//! Pointers from text: as such, and as the fragment of a URI (RFC 6901, sections 3 and 6).

use std::str::FromStr;

use super::JsonPointer;
use crate::document::Text;
use crate::error::{Error, Result};

const NO_SLASH: &str = "a pointer is empty or begins with `/`";
const BAD_ESCAPE: &str = "`~` is followed by neither 0 nor 1";
const NO_HASH: &str = "a fragment begins with `#`";
const BAD_PERCENT: &str = "`%` is not followed by two hexadecimal digits";
const NOT_UTF8: &str = "the percent-encoded bytes are not UTF-8";
const NOT_IN_FRAGMENT: &str = "a character that a fragment has only percent-encoded";

impl JsonPointer {
    //= spec/update.md#u-1-2-form
    //# A pointer that does not begin with `/` and is not empty, or in which `~` is followed by neither `0` nor
    //# `1`, MUST be refused with the byte at which it goes wrong.
    /// The pointer that `text` writes.
    ///
    /// # Errors
    /// `InvalidPointer` with the byte at which it goes wrong.
    pub fn parse(text: &str) -> Result<Self> {
        parse(text).map_err(|(at, what)| Error::InvalidPointer { pointer: text.to_owned(), at, what })
    }

    /// The pointer that the fragment of a URI writes, its `#` included, as `#/a%20b`.
    ///
    /// # Errors
    /// `InvalidPointer`; its byte counts in the fragment for what is wrong with that, else in the pointer within.
    pub fn parse_fragment(fragment: &str) -> Result<Self> {
        let pointer = decode_fragment(fragment).map_err(|(at, what)| Error::InvalidPointer {
            pointer: fragment.to_owned(),
            at,
            what,
        })?;
        Self::parse(&pointer)
    }

    /// The pointer as the fragment of a URI, its `#` included.
    pub fn to_fragment(&self) -> String {
        let mut fragment = String::from("#");
        for byte in self.to_string().bytes() {
            if is_plain(byte) {
                fragment.push(char::from(byte));
            } else {
                fragment.push_str(&format!("%{byte:02X}"));
            }
        }
        fragment
    }
}

impl FromStr for JsonPointer {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        JsonPointer::parse(text)
    }
}

fn parse(text: &str) -> Result<JsonPointer, (usize, &'static str)> {
    if text.is_empty() {
        return Ok(JsonPointer::root());
    }
    let tokens = text.strip_prefix('/').ok_or((0, NO_SLASH))?;
    let mut at = 1;
    let tokens = tokens.split('/').map(|token| {
        let unescaped = unescape(token).map_err(|wrong| (at + wrong, BAD_ESCAPE));
        at += token.len() + 1;
        unescaped
    });
    Ok(JsonPointer { tokens: tokens.collect::<Result<_, _>>()? })
}

/// The token without its escapes; or the place of a wrong one.
fn unescape(token: &str) -> Result<Text, usize> {
    let mut parts = token.split('~');
    let mut plain = parts.next().unwrap_or_default().to_owned();
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
    Ok(plain.into())
}

fn decode_fragment(fragment: &str) -> Result<String, (usize, &'static str)> {
    let rest = fragment.strip_prefix('#').ok_or((0, NO_HASH))?.as_bytes();
    let (mut decoded, mut at) = (Vec::with_capacity(rest.len()), 0);
    while let Some(&byte) = rest.get(at) {
        if byte == b'%' {
            let digits = rest.get(at + 1..at + 3).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
            let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
            let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            decoded.push(byte.ok_or((at + 1, BAD_PERCENT))?);
            at += 3;
        } else if is_plain(byte) {
            decoded.push(byte);
            at += 1;
        } else {
            return Err((at + 1, NOT_IN_FRAGMENT));
        }
    }
    String::from_utf8(decoded).map_err(|_| (1, NOT_UTF8))
}

/// Whether a fragment may have this byte as it is: RFC 3986, section 3.5.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte)
}
