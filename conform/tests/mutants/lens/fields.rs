//! The fields of index records (F-8), and where they stand in headers, leaves, directories and rows.

use super::Misreading;
use super::form::{Form, Spot, item_len, u32_at, varint_at};

/// A field whose meaning a reader uses.
///
/// Left out are the commit of an index record, which no reader that comes by a reference asks for (F-8.11), and the accounts of a segment (its
/// records, their bytes, how many live, F-8.6 and F-8.15): they say to a writer what is worth cleaning (P-1.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexField {
    Checksum,
    Kind,
    Flags,
    Length,
    Collection,
    ReferenceSegment,
    ReferenceOffset,
    ReferenceLength,
    ReferenceChecksum,
    EntryKey,
    EntryCount,
    EntryAge,
    KeyStep,
    KeyInt,
    KeyShared,
    KeyLength,
    Value,
    PartNumber,
    RootLsn,
    RootLast,
    LogPlace,
    LogSequence,
    LogEnd,
    ReservedNext,
    ReservedAfter,
    ListedSegment,
    CatalogId,
    CatalogNext,
    CatalogCount,
    IndexId,
    IndexOf,
    IndexCount,
    RowSequence,
    RowPlace,
    RowEnd,
    RowFirst,
    RowFreed,
    StretchSequence,
    StretchOffset,
    StretchFirst,
    LiveSequence,
    LiveCollection,
}

use IndexField as F;

/// All of them.
pub(crate) const FIELDS: [IndexField; 42] = [
    F::Checksum,
    F::Kind,
    F::Flags,
    F::Length,
    F::Collection,
    F::ReferenceSegment,
    F::ReferenceOffset,
    F::ReferenceLength,
    F::ReferenceChecksum,
    F::EntryKey,
    F::EntryCount,
    F::EntryAge,
    F::KeyStep,
    F::KeyInt,
    F::KeyShared,
    F::KeyLength,
    F::Value,
    F::PartNumber,
    F::RootLsn,
    F::RootLast,
    F::LogPlace,
    F::LogSequence,
    F::LogEnd,
    F::ReservedNext,
    F::ReservedAfter,
    F::ListedSegment,
    F::CatalogId,
    F::CatalogNext,
    F::CatalogCount,
    F::IndexId,
    F::IndexOf,
    F::IndexCount,
    F::RowSequence,
    F::RowPlace,
    F::RowEnd,
    F::RowFirst,
    F::RowFreed,
    F::StretchSequence,
    F::StretchOffset,
    F::StretchFirst,
    F::LiveSequence,
    F::LiveCollection,
];

impl IndexField {
    /// Whether it is a mistake to misread the field so.
    pub(crate) fn bears(self, misreading: Misreading) -> bool {
        match self {
            // One byte has no order, and no half.
            F::Kind | F::Flags => !matches!(misreading, Misreading::Reversed | Misreading::Narrow),
            // A file with places beyond 16 bits has at least 32 MiB.
            F::ListedSegment | F::RowPlace => misreading != Misreading::Narrow,
            // It decides nothing but the order of rows, which numbers that are all one more do not change.
            F::LiveCollection => misreading != Misreading::Off,
            // Fields of a map are found by their names, and what follows a key is no number: there is no place to read them at instead.
            F::RootLsn
            | F::RootLast
            | F::CatalogId
            | F::CatalogNext
            | F::CatalogCount
            | F::IndexId
            | F::IndexOf
            | F::IndexCount
            | F::EntryKey => misreading != Misreading::Shifted,
            _ => true,
        }
    }
}

/// A field and where it stands.
pub(super) type Mark = (IndexField, Spot);

/// Rows of fixed width in a root: how long one is, and its fields.
pub(crate) struct Rows {
    pub(crate) clause: &'static str,
    pub(crate) len: usize,
    pub(crate) fields: &'static [(IndexField, usize, usize)],
    /// The offsets and lengths of those that are left out.
    pub(crate) left_out: &'static [(usize, usize)],
}

/// The segment table.
pub(crate) const TABLE: Rows = Rows {
    clause: "F-8.6",
    len: 40,
    fields: &[
        (F::RowSequence, 0, 8),
        (F::RowPlace, 8, 4),
        (F::RowEnd, 12, 4),
        (F::RowFirst, 16, 8),
        (F::RowFreed, 24, 8),
    ],
    left_out: &[(32, 4), (36, 4)],
};

pub(crate) const STRETCHES: Rows = Rows {
    clause: "F-8.14",
    len: 20,
    fields: &[(F::StretchSequence, 0, 8), (F::StretchOffset, 8, 4), (F::StretchFirst, 12, 8)],
    left_out: &[],
};

pub(crate) const LIVE: Rows = Rows {
    clause: "F-8.15",
    len: 16,
    fields: &[(F::LiveSequence, 0, 8), (F::LiveCollection, 8, 4)],
    left_out: &[(12, 4)],
};

/// The list of segments (F-8.9), as rows.
pub(super) const SEGMENTS: Rows =
    Rows { clause: "F-8.9", len: 4, fields: &[(F::ListedSegment, 0, 4)], left_out: &[] };

/// What a reference says (F-8.12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) segment: u32,
    pub(super) offset: u32,
    pub(super) len: u32,
    pub(super) sum: u32,
}

/// Fields behind one another, from `at` on.
pub(super) struct Marks<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) found: Vec<Mark>,
}

impl<'a> Marks<'a> {
    pub(super) fn from(bytes: &'a [u8], at: usize) -> Self {
        Marks { bytes, at, found: Vec::new() }
    }

    /// Kind, flags, length and collection of an index record.
    pub(super) fn header(&mut self) -> Option<()> {
        self.fixed(F::Kind, 1)?;
        self.fixed(F::Flags, 1)?;
        self.varint(F::Length)?;
        self.varint(F::Collection).map(|_| ())
    }

    /// The entries of a leaf, as far as they can be read.
    pub(super) fn leaf(mut self) -> Vec<Mark> {
        while self.at < self.bytes.len() && self.leaf_entry().is_some() {}
        self.found
    }

    fn leaf_entry(&mut self) -> Option<()> {
        match varint_at(self.bytes, self.at)?.0 {
            1 => {
                self.at += 1;
                self.varint(F::KeyInt)?;
            }
            t if t % 2 == 0 => _ = self.varint(F::KeyStep)?,
            _ => {
                self.varint(F::KeyShared)?;
                self.at += usize::try_from(self.varint(F::KeyLength)?).ok()?;
            }
        }
        self.varint(F::Value).map(|_| ())
    }

    /// A directory entry: the reference in it, where that begins and where it ends, and the age.
    pub(super) fn entry(&mut self) -> Option<(Reference, std::ops::Range<usize>, u64)> {
        let len = item_len(self.bytes, self.at)?;
        if self.bytes[self.at] >> 5 == 0 {
            self.found.push((F::EntryKey, Spot { at: self.at, len, form: Form::Cbor(None) }));
        }
        let start = self.at + len;
        self.at = start;
        let reference = self.reference()?;
        let end = self.at;
        self.varint(F::EntryCount)?;
        let age = self.varint(F::EntryAge)?;
        Some((reference, start..end, age))
    }

    /// The number of a part of a root, and the reference to the one before if there is one.
    pub(super) fn part(&mut self) -> Option<(u64, Option<Reference>)> {
        let number = self.varint(F::PartNumber)?;
        let before = if number > 0 { Some(self.reference()?) } else { None };
        Some((number, before))
    }

    fn reference(&mut self) -> Option<Reference> {
        let places = [F::ReferenceSegment, F::ReferenceOffset, F::ReferenceLength];
        let mut numbers = [0; 3];
        for (number, field) in numbers.iter_mut().zip(places) {
            *number = u32::try_from(self.varint(field)?).ok()?;
        }
        let [segment, offset, len] = numbers;
        let at = self.at;
        self.fixed(F::ReferenceChecksum, 4)?;
        Some(Reference { segment, offset, len, sum: u32_at(self.bytes, at) })
    }

    fn fixed(&mut self, field: IndexField, len: usize) -> Option<()> {
        self.bytes.get(self.at..self.at + len)?;
        self.found.push((field, Spot { at: self.at, len, form: Form::Fixed }));
        self.at += len;
        Some(())
    }

    fn varint(&mut self, field: IndexField) -> Option<u64> {
        let (number, len) = varint_at(self.bytes, self.at)?;
        self.found.push((field, Spot { at: self.at, len, form: Form::Varint }));
        self.at += len;
        Some(number)
    }
}
