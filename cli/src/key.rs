//! Keys as they are typed on a command line.

use clap::{Args, ValueEnum};
use holotype::Key;

use crate::exit::{Failure, Result};

/// How KEY is read. Without it, what reads as a 64-bit integer is one, and all else is text.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct KeyTypeArg {
    /// Read KEY as an integer, as text, or as bytes in hexadecimal [default: an integer if it is one, else text]
    #[arg(long, value_enum, value_name = "TYPE")]
    pub(crate) key_type: Option<KeyType>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyType {
    Int,
    Text,
    Hex,
}

impl KeyTypeArg {
    pub(crate) fn parse(self, text: &str) -> Result<Key> {
        match self.key_type {
            None => Ok(text.parse().map_or_else(|_| Key::Text(text.into()), Key::Int)),
            Some(KeyType::Text) => Ok(Key::Text(text.into())),
            Some(KeyType::Int) => match text.parse() {
                Ok(int) => Ok(Key::Int(int)),
                Err(_) => Err(Failure::usage(format!("{text:?} is not an integer of 64 bits"))),
            },
            Some(KeyType::Hex) => {
                let bytes = parse_hex(text);
                let bytes = bytes
                    .ok_or_else(|| Failure::usage(format!("{text:?} is not pairs of hexadecimal digits")))?;
                Ok(Key::Bytes(bytes.into()))
            }
        }
    }
}

/// The bytes that pairs of digits stand for, with or without `0x` in front.
fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x").unwrap_or(text).chars();
    let digits: Vec<u32> = digits.map(|digit| digit.to_digit(16)).collect::<Option<_>>()?;
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => u8::try_from(high << 4 | low).ok(),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, key_type: Option<KeyType>) -> Option<Key> {
        KeyTypeArg { key_type }.parse(text).ok()
    }

    #[test]
    fn a_key_is_an_int_if_it_can_be_and_text_else() {
        assert_eq!(parse("-5", None), Some(Key::Int(-5)));
        assert_eq!(parse("9223372036854775807", None), Some(Key::Int(i64::MAX)));
        assert_eq!(parse("9223372036854775808", None), Some(Key::Text("9223372036854775808".into())));
        assert_eq!(parse("0xff", None), Some(Key::Text("0xff".into())));
        assert_eq!(parse("", None), Some(Key::Text("".into())));
    }

    #[test]
    fn a_key_is_of_the_type_that_is_asked_for_or_refused() {
        assert_eq!(parse("5", Some(KeyType::Text)), Some(Key::Text("5".into())));
        assert_eq!(parse("five", Some(KeyType::Int)), None);
        assert_eq!(parse("00fF", Some(KeyType::Hex)), Some(Key::Bytes([0, 255].into())));
        assert_eq!(parse("0x00ff", Some(KeyType::Hex)), Some(Key::Bytes([0, 255].into())));
        assert_eq!(parse("", Some(KeyType::Hex)), Some(Key::Bytes([].into())));
        assert_eq!(parse("0ff", Some(KeyType::Hex)), None);
        assert_eq!(parse("é0", Some(KeyType::Hex)), None);
    }
}
