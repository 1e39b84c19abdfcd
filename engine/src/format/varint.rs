//! Varints: unsigned LEB128 of at most 64 bits, in its shortest form (F-1.2).

/// The length of the longest varint: ten groups of seven bits hold 64.
pub const VARINT_LEN_MAX: usize = 10;

/// Appends `value`.
#[inline]
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The encoded length of `value` in bytes.
#[must_use]
#[inline]
pub const fn len(value: u64) -> usize {
    // One byte for each begun group of seven bits: 9/64 is close enough to 1/7 for up to 64 bits.
    let bits = 64 - (value | 1).leading_zeros() as usize;
    (bits * 9 + 64) / 64
}

/// The value at the start of `bytes` and its encoded length, or `None` if there is no whole varint, it is not
/// in its shortest form, or it exceeds 64 bits.
#[must_use]
#[inline]
pub fn get(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((u64::from(first), 1));
    }
    // Two and three bytes are what the differences in a checkpoint's leaves mostly take; the zero bytes that a longer
    // form could leave out are left to the general case to refuse.
    if let [first, second @ 1..0x80, ..] = *bytes {
        return Some((u64::from(first & 0x7f) | u64::from(second) << 7, 2));
    }
    if let [first, second @ 0x80..=0xff, third @ 1..0x80, ..] = *bytes {
        return Some((u64::from(first & 0x7f) | u64::from(second & 0x7f) << 7 | u64::from(third) << 14, 3));
    }
    get_long(bytes)
}

//= spec/format.md#f-1-2-varints
//# A varint MUST have its shortest form; a reader MUST reject any other, and any that exceeds 64 bits.
fn get_long(bytes: &[u8]) -> Option<(u64, usize)> {
    // Up to eight bytes at once, without a branch that depends on how many there are: in a run of numbers of mixed lengths
    // each such branch is mispredicted.
    if let Some(chunk) = bytes.first_chunk() {
        let word = u64::from_le_bytes(*chunk);
        let last_bytes = !word & TOP_BITS;
        if last_bytes != 0 {
            let bits = last_bytes.trailing_zeros() + 1;
            let groups = word & !TOP_BITS & u64::MAX >> (u64::BITS - bits);
            // spec: F-1.2. A last group of zero is what a shorter form leaves out.
            let is_shortest = groups >> (bits - 8) != 0;
            return is_shortest.then_some((joined(groups), bits as usize / 8));
        }
    }
    let mut value = 0;
    for (index, &byte) in bytes.iter().take(VARINT_LEN_MAX).enumerate() {
        let group = u64::from(byte & 0x7f);
        let shift = 7 * index as u32;
        // spec: F-1.2. The tenth group has room for one bit of the 64.
        if shift == 63 && group > 1 {
            return None;
        }
        value |= group << shift;
        if byte < 0x80 {
            // spec: F-1.2. A last group of zero is what a shorter form leaves out.
            return (byte != 0).then_some((value, index + 1));
        }
    }
    None
}

/// The value at the start of `rest`, which is taken off it; as [`get`] otherwise.
#[inline(always)]
pub(crate) fn take(rest: &mut &[u8]) -> Option<u64> {
    let (value, len) = get(rest)?;
    *rest = &rest[len..];
    Some(value)
}

/// As [`get`], in any form of at most ten bytes: a record's length says how many bytes its checksum covers before anybody knows
/// whether a writer made it (F-5.7).
#[must_use]
pub fn get_any_form(bytes: &[u8]) -> Option<(u64, usize)> {
    let last = bytes.iter().take(VARINT_LEN_MAX).position(|byte| *byte < 0x80)?;
    let groups = bytes[..=last].iter().map(|byte| u128::from(byte & 0x7f));
    let value = groups.rev().fold(0, |value, group| value << 7 | group);
    Some((u64::try_from(value).ok()?, last + 1))
}

/// The top bit of each of eight bytes.
const TOP_BITS: u64 = 0x8080_8080_8080_8080;

/// The number whose groups of seven bits stand in the eight bytes of `groups`, low group first: neighbours are joined until
/// one is left.
const fn joined(groups: u64) -> u64 {
    let pairs = groups & 0x007f_007f_007f_007f | (groups & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = pairs & 0x0000_3fff_0000_3fff | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    fours & 0x0fff_ffff | (fours & 0x0fff_ffff_0000_0000) >> 4
}
