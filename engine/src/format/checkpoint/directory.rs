//! The directory of a tree: entries that lead to directory pages, and in these to leaves (F-8.13).

use crate::document::KeyRef;
use crate::format::Lsn;
use crate::format::index_record::Reference;
use crate::format::varint;

/// What leads to a directory page or a leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct DirectoryEntry<'a> {
    /// The first key of what it leads to.
    pub(super) first: KeyRef<'a>,
    pub(super) reference: Reference,
    /// The number of keys in the leaf, or in all leaves that the page leads to.
    pub(super) count: u64,
    /// LSN of the checkpoint that wrote the record.
    pub(super) lsn: Lsn,
}

/// Appends an entry to a record of the checkpoint at `lsn`.
pub(super) fn put_entry(out: &mut Vec<u8>, lsn: Lsn, entry: &DirectoryEntry<'_>) {
    entry.first.encode_into(out);
    entry.reference.put(out);
    varint::put(out, entry.count);
    // The age.
    varint::put(out, lsn.0 - entry.lsn.0);
}

/// The entries that stand one behind the other in `bytes`, of a record of the checkpoint at `lsn`. Behind one that is none there are no more.
pub(super) fn entries(
    bytes: &[u8],
    lsn: Lsn,
) -> impl Iterator<Item = Result<DirectoryEntry<'_>, &'static str>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let entry = take_entry(&mut rest, lsn);
        if entry.is_err() {
            rest = &[];
        }
        Some(entry)
    })
}

//= spec/format.md#f-8-13-directory
//# A reader MUST take a checkpoint for damaged when a directory page or a leaf is empty or has bytes behind its last entry; when a leaf begins with another key than its entry says, or a page with another than its entry says; when a key is not above the one before it, in a leaf, from a leaf to the next,
//# or from an entry to the next; when a count is not that of what the entry leads to; and when an age is not below the LSN of the record that has the entry.
fn take_entry<'a>(rest: &mut &'a [u8], lsn: Lsn) -> Result<DirectoryEntry<'a>, &'static str> {
    const ENDS: &str = "a directory ends within an entry";
    let (first, len) = KeyRef::decode_long(rest).map_err(|_| "a directory entry without a key")?;
    *rest = &rest[len..];
    let reference = Reference::take(rest).ok_or(ENDS)?;
    let mut number = || -> Result<u64, &'static str> {
        let (value, len) = varint::get(rest).ok_or(ENDS)?;
        *rest = &rest[len..];
        Ok(value)
    };
    let (count, age) = (number()?, number()?);
    let lsn = lsn.0.checked_sub(age).filter(|lsn| *lsn > 0).ok_or("an age that no record has")?;
    Ok(DirectoryEntry { first, reference, count, lsn: Lsn(lsn) })
}
