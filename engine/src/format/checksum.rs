//! The one function behind which CRC-32C lives (F-1.3).

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
