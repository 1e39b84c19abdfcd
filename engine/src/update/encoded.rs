//! An encoded value that is being changed: what does not change is copied, and not decoded.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use super::tree::{NormalizedPath, Tree, find};
use crate::document::cbor::encode;
use crate::document::cbor::head::{Fault, Head, Reader};
use crate::document::limits::check_len;
use crate::document::map::key_cmp;
use crate::document::{DEPTH_MAX, RawDocument, RawValue, Value};
use crate::error::Result;
use crate::query::Step;
use crate::seeded::{self, Bug};

/// Bytes of the longest head: the major type, and a number of 64 bits. As long is the longest number.
const LONGEST_HEAD: usize = 1 + size_of::<u64>();

/// Encoded bytes of a value; those of the caller until the first change.
#[derive(Debug)]
pub(super) struct Encoded<'a> {
    bytes: Cow<'a, [u8]>,
}

/// A place in the bytes, and the head of the object or array around it.
struct Spot {
    head: Range<usize>,
    major: u8,
    count: usize,
    /// The field with its name, or the item; empty, where it would stand, if it is not there.
    entry: Range<usize>,
    /// The value within the entry.
    value: Range<usize>,
}

impl<'a> Encoded<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Encoded { bytes: Cow::Borrowed(bytes) }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_owned()
    }

    /// The place, which is not the whole value, in the bytes.
    fn spot(&self, place: &[Step]) -> Result<Spot, Fault> {
        let (last, around) = place.split_last().expect("the whole value is no entry of another");
        let mut reader = Reader::new(&self.bytes);
        for step in around {
            let head = reader.head()?;
            enter(&mut reader, head, step)?;
        }
        let start = reader.position();
        let head = reader.head()?;
        let head_end = reader.position();
        let (entry, is_there) = enter(&mut reader, head, last)?;
        let value = reader.position();
        if is_there {
            reader.skip()?;
        }
        let end = reader.position();
        let (major, count) = match head {
            Head::Object(count) => (encode::OBJECT, count),
            Head::Array(count) => (encode::ARRAY, count),
            _ => unreachable!("steps fit the values that they start from"),
        };
        Ok(Spot { head: start..head_end, major, count, entry: entry..end, value: value..end })
    }

    /// Puts `with` in the place of a value.
    fn write_over(&mut self, value: Range<usize>, with: &[u8]) {
        let parts = [&self.bytes[..value.start], with, &self.bytes[value.end..]];
        self.bytes = Cow::Owned(parts.concat());
    }

    /// Puts `with` in the place of the bytes `at`, which begin after the head of `spot`, whose count becomes `count`.
    fn splice(&mut self, spot: &Spot, count: usize, at: Range<usize>, with: &[&[u8]]) {
        let with_len: usize = with.iter().map(|part| part.len()).sum();
        let mut out = Vec::with_capacity(self.bytes.len() + with_len + LONGEST_HEAD);
        out.extend_from_slice(&self.bytes[..spot.head.start]);
        encode::head(&mut out, spot.major, count as u64);
        out.extend_from_slice(&self.bytes[spot.head.end..at.start]);
        with.iter().for_each(|part| out.extend_from_slice(part));
        out.extend_from_slice(&self.bytes[at.end..]);
        self.bytes = Cow::Owned(out);
    }
}

/// From behind the head of an object or array, steps to the value that `step` leads to, or would. Where its entry begins, and
/// whether it is there.
fn enter(reader: &mut Reader<'_>, head: Head, step: &Step) -> Result<(usize, bool), Fault> {
    match (head, step) {
        (Head::Object(count), Step::Name(name)) => {
            for _ in 0..count {
                let before = *reader;
                match key_cmp(reader.name_bytes()?, name.as_bytes()) {
                    Ordering::Less => reader.skip()?,
                    Ordering::Equal => return Ok((before.position(), true)),
                    Ordering::Greater => {
                        *reader = before;
                        break;
                    }
                }
            }
            Ok((reader.position(), false))
        }
        (Head::Array(count), Step::Index(index)) => {
            (0..*index).try_for_each(|_| reader.skip())?;
            Ok((reader.position(), *index < count))
        }
        _ => unreachable!("steps fit the values that they start from"),
    }
}

impl Tree for Encoded<'_> {
    type Node<'n>
        = RawValue<'n>
    where
        Self: 'n;
    type Part = Vec<u8>;
    /// How many bytes there are from its first on.
    type At = usize;

    #[inline]
    fn root(&self) -> RawValue<'_> {
        RawDocument::from_verified(&self.bytes).value().expect("the bytes hold a value")
    }

    fn at(node: RawValue<'_>, _place: impl FnOnce() -> NormalizedPath) -> usize {
        node.bytes_left()
    }

    fn copy(node: RawValue<'_>) -> Result<Vec<u8>> {
        Ok(node.encoded()?.to_vec())
    }

    fn part(value: &Value) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(LONGEST_HEAD);
        encode::value(&mut out, value, DEPTH_MAX)?;
        Ok(out)
    }

    fn decode(node: RawValue<'_>) -> Result<Value> {
        node.to_value()
    }

    fn items<'n>(node: RawValue<'n>) -> impl Iterator<Item = RawValue<'n>>
    where
        Self: 'n,
    {
        node.items().into_iter().flatten()
    }

    fn put(&mut self, place: &[Step], part: Vec<u8>) -> Result<()> {
        check_levels(&part, place)?;
        let Some(last) = place.last() else {
            self.bytes = Cow::Owned(part);
            return Ok(());
        };
        let spot = self.spot(place)?;
        match last {
            Step::Name(name) if spot.entry.is_empty() => {
                let mut field = Vec::with_capacity(name.len() + LONGEST_HEAD);
                encode::text(&mut field, name);
                let count = spot.count + usize::from(!seeded::is_on(Bug::CountOfFieldsKept));
                self.splice(&spot, count, spot.entry.clone(), &[&field, &part]);
            }
            _ => self.write_over(spot.value, &part),
        }
        Ok(())
    }

    #[inline]
    fn replace(&mut self, at: usize, levels_around: usize, value: &Value) -> Result<()> {
        let (before, from) = self.bytes.split_at(self.bytes.len() - at);
        let mut reader = Reader::new(from);
        reader.skip()?;
        let mut out = Vec::with_capacity(self.bytes.len() + LONGEST_HEAD);
        out.extend_from_slice(before);
        encode::value(&mut out, value, DEPTH_MAX.saturating_sub(levels_around))?;
        out.extend_from_slice(reader.rest());
        self.bytes = Cow::Owned(out);
        Ok(())
    }

    fn insert(&mut self, place: &[Step], part: Vec<u8>) -> Result<()> {
        check_levels(&part, place)?;
        let spot = self.spot(place)?;
        self.splice(&spot, spot.count + 1, spot.entry.start..spot.entry.start, &[&part]);
        Ok(())
    }

    fn remove(&mut self, place: &[Step]) -> Result<Vec<u8>> {
        let spot = self.spot(place)?;
        let removed = self.bytes[spot.value.clone()].to_vec();
        self.splice(&spot, spot.count - 1, spot.entry.clone(), &[]);
        Ok(removed)
    }

    fn retain(&mut self, array: &[Step], keep: &[bool]) -> Result<()> {
        let items = find(self.root(), array).and_then(|node| node.items()).expect("the place holds an array");
        let mut part = Vec::new();
        encode::head(&mut part, encode::ARRAY, keep.iter().filter(|keep| **keep).count() as u64);
        for (item, _) in items.zip(keep).filter(|(_, keep)| **keep) {
            part.extend_from_slice(item.encoded()?);
        }
        self.put(array, part)
    }

    fn check_len(&self) -> Result<()> {
        check_len(self.bytes.len())
    }
}

/// Whether the value that `part` encodes may stand at `place`.
fn check_levels(part: &[u8], place: &[Step]) -> Result<(), Fault> {
    levels_within(&mut Reader::new(part), DEPTH_MAX.saturating_sub(place.len()))
}

/// Steps over a value of `levels` levels at most.
fn levels_within(reader: &mut Reader<'_>, levels: usize) -> Result<(), Fault> {
    match reader.head()? {
        Head::Text(len) | Head::Bytes(len) => drop(reader.take(len)?),
        Head::Array(count) => {
            let levels = levels.checked_sub(1).ok_or(Fault::TooDeep)?;
            (0..count).try_for_each(|_| levels_within(reader, levels))?;
        }
        Head::Object(count) => {
            let levels = levels.checked_sub(1).ok_or(Fault::TooDeep)?;
            (0..count).try_for_each(|_| {
                reader.name_bytes()?;
                levels_within(reader, levels)
            })?;
        }
        Head::Null | Head::Bool(_) | Head::Int(_) | Head::Float(_) => {}
    }
    Ok(())
}
