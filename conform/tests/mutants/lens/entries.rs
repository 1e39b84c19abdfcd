//! The fields of the entries of pages (F-8.2 to F-8.9), and where they stand in a page.

use super::Misreading;
use super::form::{Form, Spot, head_at, item_len, u32_at, varint_at};

/// A field whose meaning a reader uses.
///
/// Left out are the accounts of a segment (its records, their bytes, what of them lives, F-8.6): they say to a writer what is worth cleaning
/// (P-1.5), and no answer of a reader depends on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryField {
    FenceLength,
    ChildNumber,
    ChildSegment,
    ChildOffset,
    KeyStep,
    KeyInt,
    KeyShared,
    KeyLength,
    Value,
    ListedSegment,
    PointerNumber,
    PointerSegment,
    PointerOffset,
    CatalogId,
    CatalogNext,
    CatalogCount,
    RowSequence,
    RowPlace,
    RowFirst,
    RowEnd,
    RowFreed,
    StretchOffset,
    StretchFirst,
    RootLsn,
    RootLast,
    LogPlace,
    LogSequence,
    LogEnd,
    ReservedNext,
    ReservedAfter,
}

use EntryField as F;

/// All of them.
pub(crate) const FIELDS: [EntryField; 30] = [
    F::FenceLength,
    F::ChildNumber,
    F::ChildSegment,
    F::ChildOffset,
    F::KeyStep,
    F::KeyInt,
    F::KeyShared,
    F::KeyLength,
    F::Value,
    F::ListedSegment,
    F::PointerNumber,
    F::PointerSegment,
    F::PointerOffset,
    F::CatalogId,
    F::CatalogNext,
    F::CatalogCount,
    F::RowSequence,
    F::RowPlace,
    F::RowFirst,
    F::RowEnd,
    F::RowFreed,
    F::StretchOffset,
    F::StretchFirst,
    F::RootLsn,
    F::RootLast,
    F::LogPlace,
    F::LogSequence,
    F::LogEnd,
    F::ReservedNext,
    F::ReservedAfter,
];

impl EntryField {
    /// Whether it is a mistake to misread the field so.
    pub(crate) fn bears(self, misreading: Misreading) -> bool {
        // Fields of a map are found by their names: there is no place to read them at instead.
        let is_named =
            matches!(self, F::CatalogId | F::CatalogNext | F::CatalogCount | F::RootLsn | F::RootLast);
        misreading != Misreading::Shifted || !is_named
    }
}

/// The fields of the entries of a page and their spots, as far as they can be read.
pub(super) fn marks(page: &[u8]) -> Vec<(EntryField, Spot)> {
    let at = 32 + u32_at(page, 24) as usize + u32_at(page, 28) as usize;
    let mut marks = Marks { page, at, found: Vec::new() };
    for _ in 0..u32_at(page, 20) {
        let read = match (page[16], page[17]) {
            (_, 1..) => marks.branch(),
            (4, 0) => marks.primary(),
            (5, 0) => marks.varint(F::ListedSegment).map(|_| ()),
            (1..=3, 0) => marks.map_or_row(),
            _ => None,
        };
        // What cannot be read has no fields: the engine refuses it as well.
        if read.is_none() {
            break;
        }
    }
    marks.found
}

struct Marks<'a> {
    page: &'a [u8],
    at: usize,
    found: Vec<(EntryField, Spot)>,
}

impl Marks<'_> {
    fn branch(&mut self) -> Option<()> {
        self.at += usize::try_from(self.varint(F::FenceLength)?).ok()?;
        for field in [F::ChildNumber, F::ChildSegment, F::ChildOffset] {
            self.varint(field)?;
        }
        Some(())
    }

    fn primary(&mut self) -> Option<()> {
        let (t, _) = varint_at(self.page, self.at)?;
        match t {
            1 => {
                self.at += 1;
                self.varint(F::KeyInt)?;
            }
            _ if t % 2 == 0 => _ = self.varint(F::KeyStep)?,
            _ => {
                self.varint(F::KeyShared)?;
                self.at += usize::try_from(self.varint(F::KeyLength)?).ok()?;
            }
        }
        self.varint(F::Value).map(|_| ())
    }

    fn map_or_row(&mut self) -> Option<()> {
        let (major, count, len) = head_at(self.page, self.at)?;
        match major {
            4 => self.row(),
            5 => {
                self.at += len;
                (0..count).try_for_each(|_| self.named())
            }
            _ => None,
        }
    }

    fn named(&mut self) -> Option<()> {
        let name = self.page.get(self.at..self.at + item_len(self.page, self.at)?)?;
        self.at += name.len();
        let end = self.at + item_len(self.page, self.at)?;
        match &name[1..] {
            b"id" => self.number(F::CatalogId, None),
            b"next" => self.number(F::CatalogNext, None),
            b"count" => self.number(F::CatalogCount, None),
            b"lsn" => self.number(F::RootLsn, None),
            b"last" => self.number(F::RootLast, None),
            b"log" => self.array(&[F::LogPlace, F::LogSequence, F::LogEnd]),
            b"reserved" => self.array(&[F::ReservedNext, F::ReservedAfter]),
            b"tree" | b"catalog" | b"table" | b"segments" => {
                self.array(&[F::PointerNumber, F::PointerSegment, F::PointerOffset]);
            }
            _ => {}
        }
        self.at = end;
        Some(())
    }

    fn row(&mut self) -> Option<()> {
        let end = self.at + item_len(self.page, self.at)?;
        let items = self.items()?;
        if let [sequence, place, first, row_end, stretches, freed, records, ..] = items[..] {
            for (field, at, behind) in [
                (F::RowSequence, sequence, place),
                (F::RowPlace, place, first),
                (F::RowFirst, first, row_end),
                // Behind the end stands no number: the end is read where the LSN is.
                (F::RowEnd, row_end, first),
                (F::RowFreed, freed, records),
            ] {
                self.at = at;
                self.number(field, Some(behind));
            }
            self.at = stretches;
            for stretch in self.items()? {
                self.at = stretch;
                self.array(&[F::StretchOffset, F::StretchFirst]);
            }
        }
        self.at = end;
        Some(())
    }

    /// Where the items of an array stand.
    fn items(&self) -> Option<Vec<usize>> {
        let (major, count, len) = head_at(self.page, self.at)?;
        let mut at = self.at + len;
        let mut items = Vec::new();
        for _ in 0..if major == 4 { count } else { 0 } {
            items.push(at);
            at += item_len(self.page, at)?;
        }
        Some(items)
    }

    fn array(&mut self, fields: &[EntryField]) {
        let items = self.items().unwrap_or_default();
        for (n, (field, at)) in fields.iter().zip(&items).enumerate() {
            // The last item has none behind it: it is read where the one before stands.
            let behind = items.get(n + 1).or_else(|| items.get(n.wrapping_sub(1))).copied();
            self.at = *at;
            self.number(*field, behind);
        }
    }

    /// A CBOR unsigned integer; nothing where something else stands, such as null.
    fn number(&mut self, field: EntryField, behind: Option<usize>) {
        if let Some((0, _, len)) = head_at(self.page, self.at) {
            self.found.push((field, Spot { at: self.at, len, form: Form::Cbor(behind) }));
        }
    }

    fn varint(&mut self, field: EntryField) -> Option<u64> {
        let (number, len) = varint_at(self.page, self.at)?;
        self.found.push((field, Spot { at: self.at, len, form: Form::Varint }));
        self.at += len;
        Some(number)
    }
}
