//! From order keys to the values that they stand for. spec: E-5.6, I-7.2.
//!
//! Bytes that end early are told from bytes that are wrong: an index cuts what is long, and a reader checks what is left.

use std::cmp::Ordering;

use super::cursor::{Cursor, Stop};
use super::number::{MARK_OF_INT, Rank};
use super::tag::{ARRAY, BYTES, END, ESCAPE, FALSE, NULL, NUMBER, OBJECT, TEXT, TRUE};
use crate::document::map::key_cmp;
use crate::document::{DOCUMENT_LEN_MAX, Document, Key, Text, Value};
use crate::error::{Error, Result};

const NO_TAG: Stop = Stop::Malformed("a byte with which no order key begins");
const NOT_UTF_8: Stop = Stop::Malformed("text that is not UTF-8");
const TOO_DEEP: Stop = Stop::Malformed("arrays and objects that nest too deep");
const NO_NAME: Stop = Stop::Malformed("no name where one is due");
const NAMES_OUT_OF_ORDER: Stop = Stop::Malformed("names out of order");

/// The marks of numbers, in their order. Those that are not there are zeros.
#[derive(Debug)]
pub(crate) struct Marks<'a> {
    left: &'a [u8],
}

impl<'a> Marks<'a> {
    pub(crate) fn new(marks: &'a [u8]) -> Self {
        Marks { left: marks }
    }

    /// How many were not used.
    pub(crate) fn left(&self) -> usize {
        self.left.len()
    }

    fn next(&mut self) -> u8 {
        match self.left.split_first() {
            Some((&mark, rest)) => {
                self.left = rest;
                mark
            }
            None => 0,
        }
    }
}

//= spec/encoding.md#e-5-6-keys-from-order-keys
//# A reader MUST refuse bytes that are not the order key of a key.
/// The key whose order key stands at the start of `bytes`, and how many bytes it takes.
///
/// # Errors
/// `Decode` for anything but what [`encode_key`](super::encode_key) writes; `KeyTooLong`.
pub fn decode_key(bytes: &[u8]) -> Result<(Key, usize)> {
    let mut cursor = Cursor::new(bytes);
    let key =
        take_key(&mut cursor).map_err(|stop| Error::Decode { at: cursor.position(), what: stop.what() })?;
    key.as_ref().check_len()?;
    Ok((key, cursor.position()))
}

/// The key whose order key the cursor is at.
#[inline(always)]
pub(crate) fn take_key(cursor: &mut Cursor<'_>) -> Result<Key, Stop> {
    if cursor.peek()? != NUMBER {
        return take_other_key(cursor);
    }
    cursor.byte()?;
    Rank::take(cursor)?.int().map(Key::Int).ok_or(Stop::Malformed("a number that is no int"))
}

/// The int whose order key `bytes` begin with, and the length of that, if the int lies between -2^53 and 2^53: for others, look closer.
#[inline(always)]
pub(crate) fn near_int(bytes: &[u8]) -> Option<(i64, usize)> {
    let mut cursor = Cursor::new(bytes);
    let is_number = cursor.byte().is_ok_and(|tag| tag == NUMBER);
    let int = is_number.then(|| Rank::take_near(&mut cursor))??.int()?;
    Some((int, cursor.position()))
}

/// A key that is no int.
fn take_other_key(cursor: &mut Cursor<'_>) -> Result<Key, Stop> {
    match cursor.peek()? {
        TEXT => {
            cursor.byte()?;
            take_text(cursor).map(Key::Text)
        }
        BYTES => {
            cursor.byte()?;
            take_bytes(cursor).map(|bytes| Key::Bytes(bytes.into()))
        }
        _ => Err(Stop::Malformed("a key is an int, text or bytes")),
    }
}

/// Makes `to` the value whose order key the cursor is at, with at most `levels` of arrays and objects in each other. A mark for each of
/// its numbers says which of the numbers at one place it is.
#[inline(always)]
pub(crate) fn decode_value(
    cursor: &mut Cursor<'_>,
    levels: usize,
    marks: &mut Marks<'_>,
    to: &mut Option<Value>,
) -> Result<(), Stop> {
    let tag = cursor.byte()?;
    if tag != NUMBER {
        *to = Some(decode_other(tag, cursor, levels, marks)?);
        return Ok(());
    }
    let (rank, mark) = (Rank::take(cursor)?, marks.next());
    match rank.int().filter(|_| mark == MARK_OF_INT) {
        // Put there at once: as one of many kinds of values it would be put into memory, and read from there in other pieces.
        Some(int) => *to = Some(Value::Int(int)),
        None => *to = Some(rank.value(mark).ok_or(Stop::Malformed("a mark that its number does not fit"))?),
    }
    Ok(())
}

/// The value that stands within another.
fn decode_part(cursor: &mut Cursor<'_>, levels: usize, marks: &mut Marks<'_>) -> Result<Value, Stop> {
    let mut value = None;
    decode_value(cursor, levels, marks, &mut value)?;
    Ok(value.expect("a value was decoded"))
}

/// A value that begins with `tag`, but a number.
fn decode_other(
    tag: u8,
    cursor: &mut Cursor<'_>,
    levels: usize,
    marks: &mut Marks<'_>,
) -> Result<Value, Stop> {
    Ok(match tag {
        NULL => Value::Null,
        FALSE => Value::Bool(false),
        TRUE => Value::Bool(true),
        TEXT => Value::Text(take_text(cursor)?),
        BYTES => Value::Bytes(take_bytes(cursor)?),
        ARRAY => {
            let levels = levels.checked_sub(1).ok_or(TOO_DEEP)?;
            let mut items = Vec::new();
            while cursor.peek()? != END {
                items.push(decode_part(cursor, levels, marks)?);
            }
            cursor.byte()?;
            Value::Array(items)
        }
        OBJECT => {
            let levels = levels.checked_sub(1).ok_or(TOO_DEEP)?;
            let mut fields: Vec<(Text, Value)> = Vec::new();
            while cursor.peek()? != END {
                let name = take_name(cursor, fields.last().map(|(name, _)| name.as_bytes()))?;
                fields.push((name, decode_part(cursor, levels, marks)?));
            }
            cursor.byte()?;
            Value::Object(Document::from_sorted(fields))
        }
        _ => return Err(NO_TAG),
    })
}

/// Steps over the order key that the cursor is at, with at most `levels` of arrays and objects in each other. Looks only at
/// what says where it ends.
#[inline(always)]
pub(crate) fn skip_value(cursor: &mut Cursor<'_>, levels: usize) -> Result<(), Stop> {
    match cursor.byte()? {
        NUMBER => Rank::take(cursor).map(|_| ()),
        tag => skip_other(tag, cursor, levels),
    }
}

/// Steps over what begins with `tag`, but a number.
fn skip_other(tag: u8, cursor: &mut Cursor<'_>, levels: usize) -> Result<(), Stop> {
    match tag {
        NULL | FALSE | TRUE => {}
        TEXT | BYTES => take_escaped(cursor, None)?,
        tag @ (ARRAY | OBJECT) => {
            let levels = levels.checked_sub(1).ok_or(TOO_DEEP)?;
            while cursor.peek()? != END {
                if tag == OBJECT {
                    let (len, greatest) = take_name_len(cursor)?;
                    if len < greatest || cursor.take(len).len() < len {
                        return Err(Stop::Ends);
                    }
                }
                skip_value(cursor, levels)?;
            }
            cursor.byte()?;
        }
        _ => return Err(NO_TAG),
    }
    Ok(())
}

fn take_text(cursor: &mut Cursor<'_>) -> Result<Text, Stop> {
    // As most do.
    if let Some(text) = cursor.plain(END) {
        return str::from_utf8(text).map(Text::from).map_err(|_| NOT_UTF_8);
    }
    let mut bytes = Vec::new();
    let end = take_escaped(cursor, Some(&mut bytes));
    match end {
        Ok(()) => text_of(bytes, 0),
        Err(Stop::Ends) => text_of(bytes, usize::MAX).and(Err(Stop::Ends)),
        Err(malformed) => Err(malformed),
    }
}

/// The text of these bytes, behind which up to `left` may have stood when they were cut.
fn text_of(bytes: Vec<u8>, left: usize) -> Result<Text, Stop> {
    String::from_utf8(bytes).map(Text::from).map_err(|error| {
        let cut = &error.as_bytes()[error.utf8_error().valid_up_to()..];
        // How many bytes a character has, its first byte says in ones.
        let width = cut.first().map_or(0, |first| first.leading_ones() as usize);
        let goes_on = error.utf8_error().error_len().is_none() && width - cut.len() <= left;
        if goes_on { Stop::Ends } else { NOT_UTF_8 }
    })
}

fn take_bytes(cursor: &mut Cursor<'_>) -> Result<Vec<u8>, Stop> {
    let mut bytes = Vec::new();
    take_escaped(cursor, Some(&mut bytes)).map(|()| bytes)
}

/// Steps over escaped bytes and the mark that ends them, and appends what they stand for.
fn take_escaped(cursor: &mut Cursor<'_>, mut payload: Option<&mut Vec<u8>>) -> Result<(), Stop> {
    loop {
        let run = cursor.until(END);
        if let Some(payload) = payload.as_deref_mut() {
            run.append_to(payload);
        }
        cursor.byte()?;
        match cursor.peek() {
            Ok(END) => break,
            Ok(ESCAPE) | Err(Stop::Ends) => {
                // A zero that nothing follows ends the bytes or is one of them: both show whether they are whole until here.
                if let Some(payload) = payload.as_deref_mut() {
                    payload.push(END);
                }
            }
            _ => return Err(Stop::Malformed("a zero that is neither escaped nor an end")),
        }
        cursor.byte()?;
    }
    cursor.byte().map(|_| ())
}

/// The least and the greatest length that the name at the cursor can have. They are the same where its head is whole.
fn take_name_len(cursor: &mut Cursor<'_>) -> Result<(usize, usize), Stop> {
    let (smallest, (low, high)) = match cursor.byte()? {
        short @ 0x60..=0x77 => (0, (u64::from(short - 0x60), u64::from(short - 0x60))),
        0x78 => (24, cursor.number(1)),
        0x79 => (1 << 8, cursor.number(2)),
        0x7a => (1 << 16, cursor.number(4)),
        _ => return Err(NO_NAME),
    };
    let low = usize::try_from(low.max(smallest)).unwrap_or(usize::MAX);
    let high = usize::try_from(high).unwrap_or(usize::MAX).min(DOCUMENT_LEN_MAX);
    if low <= high { Ok((low, high)) } else { Err(NO_NAME) }
}

//= spec/encoding.md#e-3-2-order-of-names
//# Fields MUST stand in the bytewise order of their encoded names.
/// The name at the cursor, which follows that of the field before.
fn take_name(cursor: &mut Cursor<'_>, before: Option<&[u8]>) -> Result<Text, Stop> {
    let (low, high) = take_name_len(cursor)?;
    let mut name = Vec::new();
    if low == high {
        cursor.take(low).append_to(&mut name);
    }
    let is_whole = low == high && name.len() == low;
    let follows = before.is_none_or(|before| match before.len().cmp(&high) {
        _ if is_whole => key_cmp(before, &name).is_lt(),
        Ordering::Equal => before[..name.len()] <= name[..],
        order => order.is_lt(),
    });
    let left = high - name.len();
    match text_of(name, left) {
        _ if !follows => Err(NAMES_OUT_OF_ORDER),
        Ok(_) if !is_whole => Err(Stop::Ends),
        name => name,
    }
}
