//! The fields of records (F-6.1), and where they stand in one.

use super::Misreading;
use super::form::{Form, Spot, head_at, item_len, varint_at};

/// A field whose meaning a reader uses.
///
/// Left out are those that no answer of a reader depends on: the LSN that a moved version was made by (F-6.8) and the expiry (F-6.1) are for
/// whoever asks for versions, the commit time (F-6.3) says nothing of the state, and the chunks that die (F-6.6) count for space alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordField {
    Kind,
    Flags,
    Length,
    Collection,
    Commit,
    Replaced,
    ExtensionLength,
    ChunkNumber,
    ListLength,
    ListCount,
    ListAddress,
    FreedSequence,
    FreedPlace,
    OpeningLsn,
    OpeningAddress,
    CatalogId,
    CatalogNewId,
}

use RecordField as F;

/// All of them.
pub(crate) const FIELDS: [RecordField; 17] = [
    F::Kind,
    F::Flags,
    F::Length,
    F::Collection,
    F::Commit,
    F::Replaced,
    F::ExtensionLength,
    F::ChunkNumber,
    F::ListLength,
    F::ListCount,
    F::ListAddress,
    F::FreedSequence,
    F::FreedPlace,
    F::OpeningLsn,
    F::OpeningAddress,
    F::CatalogId,
    F::CatalogNewId,
];

impl RecordField {
    /// Whether it is a mistake to misread the field so.
    pub(crate) fn bears(self, misreading: Misreading) -> bool {
        match self {
            // One byte has no order, and no half.
            F::Kind | F::Flags => !matches!(misreading, Misreading::Reversed | Misreading::Narrow),
            // A file with places beyond 16 bits has at least 32 MiB.
            F::FreedPlace => misreading != Misreading::Narrow,
            // Fields of a map are found by their names: there is no place to read them at instead.
            F::CatalogId | F::CatalogNewId => misreading != Misreading::Shifted,
            _ => true,
        }
    }
}

/// The fields of a record and their spots, as far as it can be read. `record` is the whole of one.
pub(super) fn marks(record: &[u8]) -> Vec<(RecordField, Spot)> {
    let mut marks = Marks { record, at: 4, found: Vec::new() };
    // What cannot be read has no fields: the engine refuses it as well.
    let _ = marks.all();
    marks.found
}

struct Marks<'a> {
    record: &'a [u8],
    at: usize,
    found: Vec<(RecordField, Spot)>,
}

impl Marks<'_> {
    fn all(&mut self) -> Option<()> {
        let (kind, flags) = (*self.record.get(4)?, *self.record.get(5)?);
        self.fixed(F::Kind, 1)?;
        self.fixed(F::Flags, 1)?;
        self.varint(F::Length)?;
        self.varint(F::Collection)?;
        self.varint(F::Commit)?;
        if kind == 3 {
            self.at += 8;
        }
        if kind < 128 && flags & 1 != 0 {
            let value = self.varint(F::Replaced)?;
            if value & 2 != 0 {
                self.pairs()?;
            }
        }
        if kind < 128 && flags & 2 != 0 {
            self.at += 8;
        }
        if kind < 128 && flags & 4 != 0 {
            self.at += usize::try_from(self.varint(F::ExtensionLength)?).ok()?;
        }
        if (1..=4).contains(&kind) {
            self.at += item_len(self.record, self.at)?;
        }
        self.body(kind, flags)
    }

    /// Steps over the list of the chunks that die.
    fn pairs(&mut self) -> Option<()> {
        let (count, len) = varint_at(self.record, self.at)?;
        self.at += len;
        for _ in 0..count {
            for _ in 0..2 {
                self.at += varint_at(self.record, self.at)?.1;
            }
        }
        Some(())
    }

    fn body(&mut self, kind: u8, flags: u8) -> Option<()> {
        match kind {
            1 | 3 if flags & 8 != 0 => {
                self.varint(F::ListLength)?;
                let count = self.varint(F::ListCount)?;
                for _ in 0..count {
                    self.fixed(F::ListAddress, 8)?;
                }
            }
            4 => _ = self.varint(F::ChunkNumber)?,
            5 => self.catalog()?,
            6 => {
                self.fixed(F::FreedSequence, 8)?;
                self.fixed(F::FreedPlace, 4)?;
            }
            7 => {
                self.fixed(F::OpeningLsn, 8)?;
                self.fixed(F::OpeningAddress, 8)?;
            }
            _ => {}
        }
        Some(())
    }

    fn catalog(&mut self) -> Option<()> {
        let (major, count, len) = head_at(self.record, self.at)?;
        self.at += len;
        for _ in 0..if major == 5 { count } else { 0 } {
            let name = self.record.get(self.at..self.at + item_len(self.record, self.at)?)?;
            self.at += name.len();
            let len = item_len(self.record, self.at)?;
            let field = match name {
                b"\x62id" => Some(F::CatalogId),
                b"\x63new" => Some(F::CatalogNewId),
                _ => None,
            };
            if let Some(field) = field.filter(|_| self.record[self.at] >> 5 == 0) {
                self.found.push((field, Spot { at: self.at, len, form: Form::Cbor(None) }));
            }
            self.at += len;
        }
        Some(())
    }

    fn fixed(&mut self, field: RecordField, len: usize) -> Option<()> {
        self.record.get(self.at..self.at + len)?;
        self.found.push((field, Spot { at: self.at, len, form: Form::Fixed }));
        self.at += len;
        Some(())
    }

    fn varint(&mut self, field: RecordField) -> Option<u64> {
        let (number, len) = varint_at(self.record, self.at)?;
        self.found.push((field, Spot { at: self.at, len, form: Form::Varint }));
        self.at += len;
        Some(number)
    }
}
