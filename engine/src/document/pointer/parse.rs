//! Pointers from text: as such, and as the fragment of a URI (RFC 6901, sections 3 and 6).

use std::str::FromStr;

use super::JsonPointer;
use super::tokens::{Tokens, Wrong};
use crate::error::{Error, Result};

const NO_HASH: &str = "a fragment begins with `#`";
const BAD_PERCENT: &str = "`%` is not followed by two hexadecimal digits";
const NOT_UTF8: &str = "the percent-encoded bytes are not UTF-8";
const NOT_IN_FRAGMENT: &str = "a character that a fragment has only percent-encoded";

impl JsonPointer {
    //= spec/values.md#v-6-2-form
    //# A pointer that does not begin with `/` and is not empty, or in which `~` is followed by neither `0` nor
    //# `1`, MUST be refused with the byte at which it goes wrong.
    /// The pointer that `text` writes.
    ///
    /// # Errors
    /// `InvalidPointer` with the byte at which it goes wrong.
    pub fn parse(text: &str) -> Result<Self> {
        let tokens = Tokens::of(text).map(|token| token.map(|token| token.into_owned().into()));
        let tokens = tokens.collect::<Result<_, Wrong>>();
        let wrong = |(at, what)| Error::InvalidPointer { pointer: text.to_owned(), at, what };
        Ok(JsonPointer { tokens: tokens.map_err(wrong)? })
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

fn decode_fragment(fragment: &str) -> Result<String, Wrong> {
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
