//! Reading: the head of an item (its type, and its value or length), and stepping over items.
//!
//! | first byte | rest of the head | item |
//! |---|---|---|
//! | `00`..`1b` | 0, 1, 2, 4, 8 | int from 0 |
//! | `20`..`3b` | 0, 1, 2, 4, 8 | int below 0 |
//! | `40`..`5b` | 0, 1, 2, 4, 8 | bytes, of that length |
//! | `60`..`7b` | 0, 1, 2, 4, 8 | text, of that length |
//! | `80`..`9b` | 0, 1, 2, 4, 8 | array, of that many items |
//! | `a0`..`bb` | 0, 1, 2, 4, 8 | object, of that many fields |
//! | `f4` `f5` `f6` | 0 | false, true, null |
//! | `f9` `fa` `fb` | 2, 4, 8 | float |
//!
//! Everything else is refused (spec: E-2.1). A length is never believed: it is held against the bytes that are there.

#![expect(clippy::big_endian_bytes, reason = "CBOR is big-endian: RFC 8949, section 3")]

use std::cmp::Ordering;

use super::float;
use crate::document::map::key_cmp;
use crate::document::{DEPTH_MAX, Kind};
use crate::error::Error;

/// Why bytes are no deterministic CBOR. Small, since each step of the decoder returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `what` is wrong at byte `at` of what the reader was given.
    Malformed { at: usize, what: &'static str },
    /// More than `DEPTH_MAX` levels.
    TooDeep,
}

impl From<Fault> for Error {
    #[cold]
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Malformed { at, what } => Error::Decode { at, what },
            Fault::TooDeep => Error::TooDeep { max: DEPTH_MAX },
        }
    }
}

/// What an item is, and its value or how much follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Head {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Length in bytes.
    Text(usize),
    /// Length in bytes.
    Bytes(usize),
    /// Count of items.
    Array(usize),
    /// Count of fields.
    Object(usize),
}

impl Head {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Head::Null => Kind::Null,
            Head::Bool(_) => Kind::Bool,
            Head::Int(_) => Kind::Int,
            Head::Float(_) => Kind::Float,
            Head::Text(_) => Kind::Text,
            Head::Bytes(_) => Kind::Bytes,
            Head::Array(_) => Kind::Array,
            Head::Object(_) => Kind::Object,
        }
    }
}

const TRUNCATED: &str = "the bytes end within an item";

/// How many bytes an item takes, by its first byte; 0 where that does not tell.
const ITEM_LEN: [u8; 256] = {
    let mut lens = [0; 256];
    let mut first = 0;
    while first < lens.len() {
        let info = first as u8 & 0x1f;
        lens[first] = match (first >> 5, info) {
            (0 | 1, 0..=23) | (7, 20..=22) => 1,
            (0 | 1, 24) => 2,
            (0 | 1 | 7, 25) => 3,
            (0 | 1 | 7, 26) => 5,
            (0 | 1 | 7, 27) => 9,
            (2 | 3, 0..=23) => 1 + info,
            _ => 0,
        };
        first += 1;
    }
    lens
};

/// Reads items from the front of a byte string. Rare paths take a copy of the reader and return it: no reference to it leaves the caller,
/// which can keep it in registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// Length of the whole, to tell positions from.
    len: usize,
}

impl<'a> Reader<'a> {
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes, len: bytes.len() }
    }

    /// How many bytes were read.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.len - self.rest.len()
    }

    /// What was not read yet.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// A fault at the byte that comes next.
    #[inline]
    pub(crate) fn fault(&self, what: &'static str) -> Fault {
        Fault::Malformed { at: self.position(), what }
    }

    /// Reads the next item's head; `take` its text or bytes, or go on with its items or fields. On a fault nothing was read.
    #[inline(always)]
    pub(crate) fn head(&mut self) -> Result<Head, Fault> {
        // Most heads are one byte: this is the path of nearly every item, and small enough to stand in each caller.
        if let Some((&first, rest)) = self.rest.split_first() {
            let info = usize::from(first & 0x1f);
            let short = match first >> 5 {
                _ if info > 23 => None,
                0 => Some(Head::Int(info as i64)),
                1 => Some(Head::Int(!(info as i64))),
                2 if info <= rest.len() => Some(Head::Bytes(info)),
                3 if info <= rest.len() => Some(Head::Text(info)),
                4 if info <= rest.len() => Some(Head::Array(info)),
                5 if info <= rest.len() / 2 => Some(Head::Object(info)),
                7 if info == 20 => Some(Head::Bool(false)),
                7 if info == 21 => Some(Head::Bool(true)),
                7 if info == 22 => Some(Head::Null),
                _ => None,
            };
            if let Some(head) = short {
                self.rest = rest;
                return Ok(head);
            }
        }
        self.long_head()
    }

    /// As [`head`](Self::head), for heads that are longer than one byte, or none at all.
    #[inline]
    fn long_head(&mut self) -> Result<Head, Fault> {
        let (head, rest) = long_head(self.rest).map_err(|what| self.fault(what))?;
        self.rest = rest;
        Ok(head)
    }

    /// Reads an unsigned number of up to 64 bits. Documents have none beyond 63 bits (spec: E-2); LSNs and counters in the
    /// maps of a checkpoint may.
    pub(crate) fn uint(&mut self) -> Result<u64, Fault> {
        let (&first, rest) = self.rest.split_first().ok_or_else(|| self.fault(TRUNCATED))?;
        if first >> 5 != 0 {
            return Err(self.fault("no unsigned number where one is due"));
        }
        let (value, rest) = argument(first & 0x1f, rest).map_err(|what| self.fault(what))?;
        self.rest = rest;
        Ok(value)
    }

    //= spec/encoding.md#e-1-3-partial-reads
    //# A reader MUST NOT read outside of the bytes that it was given, whatever they hold.
    /// The next `len` bytes.
    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Fault> {
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or_else(|| self.fault(TRUNCATED))?;
        self.rest = rest;
        Ok(bytes)
    }

    //= spec/encoding.md#e-2-5-text
    //# A reader MUST refuse a text, or a name, that is not UTF-8.
    //= spec/values.md#v-1-4-text
    //# A store MUST NOT accept as text what is not UTF-8.
    /// The next `len` bytes as text.
    #[inline]
    pub(crate) fn text(&mut self, len: usize) -> Result<&'a str, Fault> {
        let at = self.position();
        let bytes = self.take(len)?;
        std::str::from_utf8(bytes).map_err(|error| Fault::Malformed {
            at: at + error.valid_up_to(),
            what: "text that is not UTF-8",
        })
    }

    //= spec/encoding.md#e-3-1-names-are-text
    //# A reader MUST refuse a field whose name is not a text.
    /// The name of the next field.
    #[inline]
    pub(crate) fn name(&mut self) -> Result<&'a str, Fault> {
        let len = self.name_len()?;
        self.text(len)
    }

    /// The bytes of the next field's name.
    #[inline]
    pub(crate) fn name_bytes(&mut self) -> Result<&'a [u8], Fault> {
        // Most names are short.
        if let Some((&first @ 0x60..=0x77, rest)) = self.rest.split_first()
            && let Some((name, rest)) = rest.split_at_checked(usize::from(first & 0x1f))
        {
            self.rest = rest;
            return Ok(name);
        }
        let (name, after) = self.long_name()?;
        *self = after;
        Ok(name)
    }

    /// The name and what is behind it.
    #[inline(never)]
    fn long_name(mut self) -> Result<(&'a [u8], Self), Fault> {
        let len = self.name_len()?;
        Ok((self.take(len)?, self))
    }

    #[inline]
    fn name_len(&mut self) -> Result<usize, Fault> {
        let before = *self;
        match self.head()? {
            Head::Text(len) => Ok(len),
            _ => Err(before.fault("a field name that is not text")),
        }
    }

    // spec: E-1.3.
    /// Steps over one item with all that is in it. Looks at heads only: not at UTF-8, nor at the order of names, nor at numbers.
    #[inline]
    pub(crate) fn skip(&mut self) -> Result<(), Fault> {
        if !self.skip_short() {
            *self = self.skip_long()?;
        }
        Ok(())
    }

    /// Steps over an item whose first byte tells how long it is. Whether it is one.
    #[inline]
    fn skip_short(&mut self) -> bool {
        let Some(&first) = self.rest.first() else { return false };
        let len = usize::from(ITEM_LEN[usize::from(first)]);
        match self.rest.get(len..) {
            Some(rest) if len > 0 => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// What is behind the item.
    #[inline(never)]
    fn skip_long(mut self) -> Result<Self, Fault> {
        // Not recursive, and each round reads a byte at least: no bytes can make this overflow the stack or go on for ever.
        let mut items = 1u64;
        while items > 0 {
            items -= 1;
            match self.head()? {
                Head::Text(len) | Head::Bytes(len) => {
                    self.take(len)?;
                }
                Head::Array(count) => items += count as u64,
                Head::Object(count) => items += 2 * count as u64,
                Head::Null | Head::Bool(_) | Head::Int(_) | Head::Float(_) => {}
            }
            while items > 0 && self.skip_short() {
                items -= 1;
            }
        }
        Ok(self)
    }

    /// Among the next `left` fields, steps to the value of the one called `name`. Whether there is one: if not, the next field is
    /// the first with a larger name. What is left behind the field is counted.
    #[inline(always)]
    pub(crate) fn find(&mut self, name: &[u8], left: &mut usize) -> Result<bool, Fault> {
        while *left > 0 {
            let before = *self;
            match key_cmp(self.name_bytes()?, name) {
                Ordering::Less => self.skip()?,
                Ordering::Equal => {
                    *left -= 1;
                    return Ok(true);
                }
                Ordering::Greater => {
                    *self = before;
                    return Ok(false);
                }
            }
            *left -= 1;
        }
        Ok(false)
    }
}

//= spec/encoding.md#e-2-1-subset
//# A reader MUST refuse every other item: tags, undefined, other simple values, reserved heads, the break
//# code.
//= spec/encoding.md#e-2-4-range-of-ints
//# A reader MUST refuse an item of major type 0 or 1 whose argument is above 2^63 - 1.
/// The head of more than one byte at the start of `bytes`, and what follows it.
#[inline(never)]
fn long_head(bytes: &[u8]) -> Result<(Head, &[u8]), &'static str> {
    let (&first, rest) = bytes.split_first().ok_or(TRUNCATED)?;
    let (major, info) = (first >> 5, first & 0x1f);
    if major == 7 {
        return float(info, rest);
    }
    let (argument, rest) = argument(info, rest)?;
    let int = || i64::try_from(argument).map_err(|_| "an integer beyond 64 signed bits");
    // Things of at least `len` bytes each, if the rest can hold that many.
    let count =
        |len| usize::try_from(argument).ok().filter(|&count| count <= rest.len() / len).ok_or(TRUNCATED);
    let head = match major {
        0 => Head::Int(int()?),
        // The argument n stands for -1 - n, which in two's complement is n with every bit turned.
        1 => Head::Int(!int()?),
        2 => Head::Bytes(count(1)?),
        3 => Head::Text(count(1)?),
        4 => Head::Array(count(1)?),
        5 => Head::Object(count(2)?),
        _ => return Err("a tag"),
    };
    Ok((head, rest))
}

//= spec/encoding.md#e-2-2-shortest-head
//# An argument MUST have its shortest form.
//= spec/encoding.md#e-2-3-definite-length
//# A length or count MUST be definite.
/// The number in a head. spec: E-2.2, E-2.3.
#[inline]
fn argument(info: u8, bytes: &[u8]) -> Result<(u64, &[u8]), &'static str> {
    let (argument, smallest, rest) = match info {
        0..=23 => (u64::from(info), 0, bytes),
        24 => fixed(bytes).map(|(bytes, rest)| (u64::from(u8::from_be_bytes(bytes)), 24, rest))?,
        25 => fixed(bytes).map(|(bytes, rest)| (u64::from(u16::from_be_bytes(bytes)), 1 << 8, rest))?,
        26 => fixed(bytes).map(|(bytes, rest)| (u64::from(u32::from_be_bytes(bytes)), 1 << 16, rest))?,
        27 => fixed(bytes).map(|(bytes, rest)| (u64::from_be_bytes(bytes), 1 << 32, rest))?,
        31 => return Err("an indefinite length"),
        _ => return Err("a reserved head"),
    };
    if argument < smallest {
        return Err("a number or length is not in its shortest form");
    }
    Ok((argument, rest))
}

//= spec/encoding.md#e-2-1-subset
//# A reader MUST refuse every other item: tags, undefined, other simple values, reserved heads, the break
//# code.
/// A float, from behind the first byte. spec: E-2.6, E-2.7.
#[inline]
fn float(info: u8, bytes: &[u8]) -> Result<(Head, &[u8]), &'static str> {
    let (float, rest) = match info {
        25 => fixed(bytes).map(|(bytes, rest)| (float::read_16(u16::from_be_bytes(bytes)), rest))?,
        26 => fixed(bytes).map(|(bytes, rest)| (float::read_32(u32::from_be_bytes(bytes)), rest))?,
        27 => fixed(bytes).map(|(bytes, rest)| (float::read_64(u64::from_be_bytes(bytes)), rest))?,
        31 => return Err("a break outside an indefinite length"),
        _ => return Err("a simple value that is not false, true or null"),
    };
    Ok((Head::Float(float.ok_or("a float that is not in its shortest form")?), rest))
}

#[inline]
fn fixed<const N: usize>(bytes: &[u8]) -> Result<([u8; N], &[u8]), &'static str> {
    let (fixed, rest) = bytes.split_first_chunk().ok_or(TRUNCATED)?;
    Ok((*fixed, rest))
}
