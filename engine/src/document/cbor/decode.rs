//! Reading whole documents: to a `Document`, or just to know that they are one. Both accept exactly what the encoder writes.

use super::head::{Fault, Head, Reader};
use crate::document::limits::check_len;
use crate::document::map::key_cmp;
use crate::document::{DEPTH_MAX, Document, Text, Value};
use crate::error::Result;

const NAME_ORDER: &str = "field names are not in order";
const NAME_TWICE: &str = "a field name comes twice";
const TRAILING: &str = "bytes follow the document";
const NOT_AN_OBJECT: &str = "a document is an object";

//= spec/encoding.md#e-1-3-partial-reads
//# A reader MUST NOT make room for more items than the bytes that are left could hold.
/// How many items are made room for before they are seen: a count in the bytes may claim more than the bytes can
/// back in memory.
const ROOM_MAX: usize = 256;

//= spec/encoding.md#e-1-2-one-encoding
//# A reader that decodes or checks a whole document MUST refuse any bytes but the encoding of a document.
/// The document that `bytes` hold, and nothing else.
pub(crate) fn document(bytes: &[u8]) -> Result<Document, Fault> {
    let mut reader = Reader::new(bytes);
    let count = enter_document(&mut reader)?;
    let document = object(&mut reader, count, 1)?;
    end(&reader)?;
    Ok(document)
}

/// The next item, where the item around it is of level `level` (0: none is). Stands in the loops over items, so that most
/// values are made where they stay.
#[inline(always)]
pub(crate) fn value(reader: &mut Reader<'_>, level: usize) -> Result<Value, Fault> {
    Ok(match reader.head()? {
        Head::Null => Value::Null,
        Head::Bool(value) => Value::Bool(value),
        Head::Int(value) => Value::Int(value),
        Head::Float(value) => Value::Float(value),
        Head::Text(len) => Value::Text(Text::from(reader.text(len)?)),
        Head::Bytes(len) => Value::Bytes(reader.take(len)?.to_vec()),
        Head::Array(count) => Value::Array(array(reader, count, level + 1)?),
        Head::Object(count) => Value::Object(object(reader, count, level + 1)?),
    })
}

fn array(reader: &mut Reader<'_>, count: usize, level: usize) -> Result<Vec<Value>, Fault> {
    check_level(level)?;
    let mut items = Vec::with_capacity(count.min(ROOM_MAX));
    for _ in 0..count {
        items.push(value(reader, level)?);
    }
    Ok(items)
}

fn object(reader: &mut Reader<'_>, count: usize, level: usize) -> Result<Document, Fault> {
    check_level(level)?;
    let mut entries = Vec::with_capacity(count.min(ROOM_MAX));
    let mut last = None;
    for _ in 0..count {
        let name = next_name(reader, &mut last)?;
        entries.push((Text::from(name), value(reader, level)?));
    }
    Ok(Document::from_sorted(entries))
}

//= spec/encoding.md#e-1-2-one-encoding
//# A reader that decodes or checks a whole document MUST refuse any bytes but the encoding of a document.
/// Whether `bytes` are one document in the one encoding that it has.
///
/// # Errors
/// `Decode` with the place of what is wrong; `TooDeep`, `DocumentTooLarge`.
pub fn validate(bytes: &[u8]) -> Result<()> {
    check_len(bytes.len())?;
    Ok(check_document(bytes)?)
}

fn check_document(bytes: &[u8]) -> Result<(), Fault> {
    let mut reader = Reader::new(bytes);
    let count = enter_document(&mut reader)?;
    check_fields(&mut reader, count, 1)?;
    end(&reader)
}

fn check_value(reader: &mut Reader<'_>, level: usize) -> Result<(), Fault> {
    match reader.head()? {
        Head::Null | Head::Bool(_) | Head::Int(_) | Head::Float(_) => Ok(()),
        Head::Text(len) => reader.text(len).map(|_| ()),
        Head::Bytes(len) => reader.take(len).map(|_| ()),
        Head::Array(count) => {
            check_level(level + 1)?;
            (0..count).try_for_each(|_| check_value(reader, level + 1))
        }
        Head::Object(count) => check_fields(reader, count, level + 1),
    }
}

fn check_fields(reader: &mut Reader<'_>, count: usize, level: usize) -> Result<(), Fault> {
    check_level(level)?;
    let mut last = None;
    for _ in 0..count {
        next_name(reader, &mut last)?;
        check_value(reader, level)?;
    }
    Ok(())
}

fn enter_document(reader: &mut Reader<'_>) -> Result<usize, Fault> {
    let start = *reader;
    match reader.head()? {
        Head::Object(count) => Ok(count),
        _ => Err(start.fault(NOT_AN_OBJECT)),
    }
}

//= spec/encoding.md#e-1-4-nothing-behind
//# A reader MUST refuse bytes that follow the document or the key.
fn end(reader: &Reader<'_>) -> Result<(), Fault> {
    if reader.rest().is_empty() { Ok(()) } else { Err(reader.fault(TRAILING)) }
}

// spec: V-4.3. This also bounds the recursion, whatever the bytes say.
//= spec/semantics.md#s-2-5-depth-limit
//# A write of a document in which arrays and objects nest deeper than 128 levels, the document being level 1,
//# MUST be refused as `TooDeep`.
//= spec/values.md#v-4-3-depth
//# A document MUST NOT have a level above 128.
//= spec/values.md#v-4-4-beyond-a-limit
//# A store MUST refuse a key or a document that is beyond a limit with an error that names the limit, whether
//# it comes from a caller, from JSON or from bytes.
#[inline]
fn check_level(level: usize) -> Result<(), Fault> {
    if level > DEPTH_MAX { Err(Fault::TooDeep) } else { Ok(()) }
}

//= spec/encoding.md#e-3-2-order-of-names
//# Fields MUST stand in the bytewise order of their encoded names.
//= spec/encoding.md#e-3-3-no-name-twice
//# A reader MUST refuse an object in which a name comes twice.
//= spec/values.md#v-1-7-object
//# A store MUST refuse an object in which a name comes twice.
/// The next field's name, which comes after `last` in the order of names. spec: E-3.2, E-3.3.
#[inline]
fn next_name<'a>(reader: &mut Reader<'a>, last: &mut Option<&'a str>) -> Result<&'a str, Fault> {
    let before = *reader;
    let name = reader.name()?;
    if let Some(last) = *last {
        let order = key_cmp(last.as_bytes(), name.as_bytes());
        if order.is_ge() {
            return Err(before.fault(if order.is_eq() { NAME_TWICE } else { NAME_ORDER }));
        }
    }
    *last = Some(name);
    Ok(name)
}
