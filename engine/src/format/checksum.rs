//! The one place where CRC-32C is computed (F-1.3).

/// CRC-32C of `bytes`.
#[must_use]
#[inline]
pub fn crc(bytes: &[u8]) -> u32 {
    crc_append(0, bytes)
}

/// CRC-32C of all that went into `crc`, followed by `bytes`. Zero is the state before any byte, so a state is
/// itself the checksum of what went into it so far.
#[must_use]
#[inline]
pub fn crc_append(crc: u32, bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc, bytes)
}

/// As [`crc_append`] of the four bytes of `value`, little-endian.
///
/// Every record's checksum begins with its offset and goes into that of its frame: four bytes each time, for
/// which four look-ups cost a fraction of a call that first finds out how to go about any number of bytes.
#[must_use]
#[inline]
pub fn crc_append_u32(crc: u32, value: u32) -> u32 {
    let [first, second, third, fourth] = (!crc ^ value).to_le_bytes();
    !(BYTES_FROM_END[3][first as usize]
        ^ BYTES_FROM_END[2][second as usize]
        ^ BYTES_FROM_END[1][third as usize]
        ^ BYTES_FROM_END[0][fourth as usize])
}

/// As [`crc_append`] of the eight bytes of `value`, little-endian.
#[must_use]
#[inline]
pub fn crc_append_u64(crc: u32, value: u64) -> u32 {
    crc_append_u32(crc_append_u32(crc, value as u32), (value >> 32) as u32)
}

/// The polynomial 0x1EDC6F41, its bits reflected.
const POLYNOMIAL: u32 = 0x1edc_6f41_u32.reverse_bits();

/// What a byte contributes to a checksum when so many bytes follow it.
static BYTES_FROM_END: [[u32; 256]; 4] = bytes_from_end();

const fn bytes_from_end() -> [[u32; 256]; 4] {
    let mut tables = [[0; 256]; 4];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut following = 0;
        while following < 4 {
            let mut bit = 0;
            while bit < 8 {
                remainder = (remainder >> 1) ^ if remainder & 1 == 1 { POLYNOMIAL } else { 0 };
                bit += 1;
            }
            tables[following][byte] = remainder;
            following += 1;
        }
        byte += 1;
    }
    tables
}
