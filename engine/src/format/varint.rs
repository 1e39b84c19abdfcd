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
    get_long(bytes)
}

fn get_long(bytes: &[u8]) -> Option<(u64, usize)> {
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
