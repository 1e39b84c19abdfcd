//! The page pointer: which page, and where it lies (F-8.2).

use crate::document::cbor::encode;
use crate::document::cbor::head::{Head, Reader};
use crate::format::catalog::CatalogFault;
use crate::format::page::PAGE_HEADER_LEN;
use crate::format::varint;

/// The length of the longest pointer in a branch: three varints of 32 bits.
pub(super) const POINTER_LEN_MAX: usize = 3 * 5;

/// The longest key, as CBOR, that every page of at most `page_len_max` bytes has room for: a branch has two children at
/// least, or trees would never end.
pub(in crate::format) const fn key_len_max(page_len_max: usize) -> usize {
    let child_overhead_max = 2 + POINTER_LEN_MAX;
    (page_len_max - PAGE_HEADER_LEN - 2 * child_overhead_max) / 3
}

/// Which page, and where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagePointer {
    /// The page's number in its checkpoint.
    pub number: u32,
    /// Physical index of the segment that holds it.
    pub physical: u32,
    /// Its offset in that segment.
    pub offset: u32,
}

impl PagePointer {
    fn fields(self) -> [u32; 3] {
        [self.number, self.physical, self.offset]
    }

    const fn from_fields([number, physical, offset]: [u32; 3]) -> PagePointer {
        PagePointer { number, physical, offset }
    }

    /// Appends the pointer as it stands in a branch.
    pub(super) fn put(self, out: &mut Vec<u8>) {
        self.fields().into_iter().for_each(|field| varint::put(out, field.into()));
    }

    /// How many bytes [`put`](Self::put) appends.
    pub(super) fn encoded_len(self) -> usize {
        self.fields().into_iter().map(|field| varint::len(field.into())).sum()
    }

    /// The pointer at the start of `bytes`, and its length there.
    pub(super) fn get(bytes: &[u8]) -> Option<(PagePointer, usize)> {
        let (mut fields, mut len) = ([0; 3], 0);
        for field in &mut fields {
            let (value, value_len) = varint::get(&bytes[len..])?;
            *field = u32::try_from(value).ok()?;
            len += value_len;
        }
        Some((PagePointer::from_fields(fields), len))
    }

    /// Appends the pointer as it stands in a map: an array of three.
    pub(super) fn encode(self, out: &mut Vec<u8>) {
        encode::head(out, encode::ARRAY, 3);
        self.fields().into_iter().for_each(|field| encode::head(out, encode::UNSIGNED, field.into()));
    }

    /// Reads what [`encode`](Self::encode) wrote.
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<PagePointer, CatalogFault> {
        let Head::Array(3) = reader.head()? else {
            return Err(CatalogFault::Malformed("a page pointer is an array of three"));
        };
        let mut fields = [0; 3];
        for field in &mut fields {
            *field = super::map::uint32(reader)?;
        }
        Ok(PagePointer::from_fields(fields))
    }
}
