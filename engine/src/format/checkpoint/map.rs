//! CBOR maps of the catalog and the root: known fields with numbers of up to 64 bits, and unknown ones, which are kept
//! (F-7.3).

use crate::document::cbor::decode;
use crate::document::cbor::encode;
use crate::document::cbor::head::{Fault, Head, Reader};
use crate::document::{DEPTH_MAX, Document};
use crate::secondary::{MapFault, check_required};

impl From<Fault> for MapFault {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Malformed { what, .. } => MapFault::Malformed(what),
            Fault::TooDeep => MapFault::Malformed("a field nests too deeply"),
        }
    }
}

/// A map in the making: known fields, each encoded already.
#[derive(Debug, Default)]
pub(super) struct MapWriter(Vec<(&'static str, Vec<u8>)>);

impl MapWriter {
    /// Adds the field `name`, whose value `write` appends.
    pub(super) fn field(&mut self, name: &'static str, write: impl FnOnce(&mut Vec<u8>)) {
        let mut value = Vec::new();
        write(&mut value);
        self.0.push((name, value));
    }

    /// Adds the field `name`, a number.
    pub(super) fn uint(&mut self, name: &'static str, value: u64) {
        self.field(name, |out| encode::head(out, encode::UNSIGNED, value));
    }

    /// The map of these fields and those of `kept`, in the order that deterministic CBOR asks for.
    pub(super) fn encode(self, kept: &Document) -> Vec<u8> {
        let mut fields: Vec<(&str, Vec<u8>)> = self.0;
        for (name, value) in kept {
            let mut bytes = Vec::new();
            // What is kept was decoded with one level around it.
            encode::value(&mut bytes, value, DEPTH_MAX - 1)
                .expect("kept fields nest no deeper than a document may");
            fields.push((name, bytes));
        }
        fields.sort_unstable_by_key(|(name, _)| (name.len(), *name));
        assert!(fields.is_sorted_by(|(a, _), (b, _)| a != b), "kept fields are not those that are known");
        let mut out = Vec::new();
        encode::head(&mut out, encode::OBJECT, fields.len() as u64);
        for (name, value) in fields {
            encode::text(&mut out, name);
            out.extend_from_slice(&value);
        }
        out
    }
}

/// Reads a map: hands each field to `known`, which reads its value and says true, or leaves it and says false. It is to read those of
/// `fields`, and it is `lacking` where one is not there. Returns what it left, in which those of `optional` may be.
pub(super) fn read_map<'a>(
    reader: &mut Reader<'a>,
    (fields, optional): (&[&str], &[&str]),
    lacking: &'static str,
    mut known: impl FnMut(&str, &mut Reader<'a>) -> Result<bool, MapFault>,
) -> Result<Document, MapFault> {
    let Head::Object(count) = reader.head()? else { return Err(MapFault::Malformed("not a map")) };
    let mut kept = Document::new();
    let mut found = 0;
    let mut before: Option<&str> = None;
    for _ in 0..count {
        let name = reader.name()?;
        // spec: E-3.2.
        if before.is_some_and(|before| (before.len(), before) >= (name.len(), name)) {
            return Err(MapFault::Malformed("fields of a map are not in order"));
        }
        before = Some(name);
        if known(name, reader)? {
            found += usize::from(fields.contains(&name));
        } else {
            kept.insert(name, decode::value(reader, 1)?);
        }
    }
    check_required(&kept, &[fields, optional].concat())?;
    if found == fields.len() { Ok(kept) } else { Err(MapFault::Malformed(lacking)) }
}

/// A number of at most 32 bits.
pub(super) fn uint32(reader: &mut Reader<'_>) -> Result<u32, MapFault> {
    u32::try_from(reader.uint()?).map_err(|_| MapFault::Malformed("a number beyond 32 bits"))
}

/// An array's head; how many items follow.
pub(super) fn array(reader: &mut Reader<'_>) -> Result<usize, MapFault> {
    match reader.head()? {
        Head::Array(count) => Ok(count),
        _ => Err(MapFault::Malformed("no array where one is due")),
    }
}

/// A byte string.
pub(super) fn bytes(reader: &mut Reader<'_>) -> Result<Vec<u8>, MapFault> {
    match reader.head()? {
        Head::Bytes(len) => Ok(reader.take(len)?.to_vec()),
        _ => Err(MapFault::Malformed("no byte string where one is due")),
    }
}
