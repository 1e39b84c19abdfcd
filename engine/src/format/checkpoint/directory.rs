//! The directory of a tree: entries that lead to directory pages, and in these to leaves (F-8.13).

use super::patch::Patch;
use crate::document::KeyRef;
use crate::format::Lsn;
use crate::format::index_record::{IndexRecordKind, Reference};
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
    /// What stands over the leaf.
    pub(super) patch: Option<Patch>,
}

/// The count of an entry that leads to a leaf with a patch over it, whose own comes behind the age.
const PATCHED: u64 = 0;

/// Appends an entry to a record of the checkpoint at `lsn`.
pub(super) fn put_entry(out: &mut Vec<u8>, lsn: Lsn, entry: &DirectoryEntry<'_>) {
    entry.first.encode_into(out);
    entry.reference.put(out);
    let count = if entry.patch.is_some() { PATCHED } else { entry.count };
    varint::put(out, count);
    // The age.
    varint::put(out, lsn.0 - entry.lsn.0);
    if let Some(patch) = &entry.patch {
        varint::put(out, entry.count);
        varint::put(out, patch.own);
        patch.reference.put(out);
        varint::put(out, lsn.0 - patch.lsn.0);
    }
}

/// The entries that stand one behind the other in `bytes`, of a record of the checkpoint at `lsn`, and lead to records of this kind. Behind one
/// that is none there are no more.
pub(super) fn entries(
    bytes: &[u8],
    kind: IndexRecordKind,
    lsn: Lsn,
) -> impl Iterator<Item = Result<DirectoryEntry<'_>, &'static str>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let entry = take_entry(&mut rest, kind, lsn);
        if entry.is_err() {
            rest = &[];
        }
        Some(entry)
    })
}

//= spec/format.md#f-8-13-directory
//# A reader MUST take a checkpoint for damaged when a directory page or a leaf is empty or has bytes behind its last entry; when a leaf begins with another key than its entry says, or a page with another than its entry says; when a key is not above the one before it, in a leaf, from a leaf to the next,
//# or from an entry to the next; when a count is not that of what the entry leads to; and when an age is not below the LSN of the record that has the entry.
fn take_entry<'a>(
    rest: &mut &'a [u8],
    kind: IndexRecordKind,
    lsn: Lsn,
) -> Result<DirectoryEntry<'a>, &'static str> {
    let (first, len) = KeyRef::decode_long(rest).map_err(|_| "a directory entry without a key")?;
    *rest = &rest[len..];
    let reference = Reference::take(rest).ok_or(ENDS)?;
    let (count, own_lsn) = (number(rest)?, age(rest, lsn)?);
    let entry = DirectoryEntry { first, reference, count, lsn: own_lsn, patch: None };
    if count != PATCHED || kind != IndexRecordKind::Leaf {
        return Ok(entry);
    }
    let (count, own) = (number(rest)?, number(rest)?);
    let reference = Reference::take(rest).ok_or(ENDS)?;
    let patch = Patch { reference, lsn: age(rest, lsn)?, own };
    Ok(DirectoryEntry { count, patch: Some(patch), ..entry })
}

const ENDS: &str = "a directory ends within an entry";

fn number(rest: &mut &[u8]) -> Result<u64, &'static str> {
    varint::take(rest).ok_or(ENDS)
}

/// The LSN that an age in a record of the checkpoint at `lsn` tells.
fn age(rest: &mut &[u8], lsn: Lsn) -> Result<Lsn, &'static str> {
    let lsn = lsn.0.checked_sub(number(rest)?).filter(|lsn| *lsn > 0).ok_or("an age that no record has")?;
    Ok(Lsn(lsn))
}
