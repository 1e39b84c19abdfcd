//! Branches: the children of a page, in order, and the keys between them (F-8.3).

use super::pointer::PagePointer;
use crate::format::varint;

//= spec/format.md#f-8-3-branches
//# A level MUST NOT be above 32.
/// The highest level of a page. Each level has at most half the pages of the one below, and page numbers have 32 bits.
pub(super) const LEVEL_MAX: u8 = 32;

/// One entry of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Child<'a> {
    /// The least key that the child may hold, as CBOR; empty for the first child, and in trees without keys.
    pub(super) lower: &'a [u8],
    pub(super) pointer: PagePointer,
}

impl<'a> Child<'a> {
    /// Appends the entry.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        varint::put(out, self.lower.len() as u64);
        out.extend_from_slice(self.lower);
        self.pointer.put(out);
    }

    /// How many bytes [`put`](Self::put) appends.
    pub(super) fn encoded_len(&self) -> usize {
        varint::len(self.lower.len() as u64) + self.lower.len() + self.pointer.encoded_len()
    }

    /// Takes the entry at the start of `rest`.
    pub(super) fn take(rest: &mut &'a [u8]) -> Option<Child<'a>> {
        let (lower_len, len) = varint::get(rest)?;
        let behind = &rest[len..];
        let (lower, behind) = behind.split_at_checked(usize::try_from(lower_len).ok()?)?;
        let (pointer, len) = PagePointer::get(behind)?;
        *rest = &behind[len..];
        Some(Child { lower, pointer })
    }
}
