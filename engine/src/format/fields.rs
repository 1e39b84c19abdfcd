//! Fixed-width integers at named ranges of a header, little-endian whatever the machine (F-1.1).

use std::ops::Range;

pub(super) fn u16_at(bytes: &[u8], field: Range<usize>) -> u16 {
    u16::from_le_bytes(bytes[field].try_into().expect("a u16 field has 2 bytes"))
}

pub(super) fn u32_at(bytes: &[u8], field: Range<usize>) -> u32 {
    u32::from_le_bytes(bytes[field].try_into().expect("a u32 field has 4 bytes"))
}

pub(super) fn u64_at(bytes: &[u8], field: Range<usize>) -> u64 {
    u64::from_le_bytes(bytes[field].try_into().expect("a u64 field has 8 bytes"))
}

//= spec/format.md#f-1-1-integers
//# Every integer of fixed width MUST be stored little-endian, whatever the machine.
/// Copies `value` into the field, which has exactly its length.
pub(super) fn put<const N: usize>(bytes: &mut [u8], field: Range<usize>, value: [u8; N]) {
    bytes[field].copy_from_slice(&value);
}
