//! The log address: where in the log a byte lies, whatever its place in the file (F-2.2).

use std::fmt;

/// How many bits of a `u64` a log address takes; an index entry uses one of the others.
pub const LOG_ADDRESS_BITS: u32 = 55;

/// A byte's place in the log: segment sequence times `segment_bytes`, plus offset. It grows along the log, so
/// that of two versions that were never moved the newer one has the greater address.
///
/// [`Geometry::address`](super::Geometry::address) makes one, and
/// [`Geometry::split`](super::Geometry::split) takes it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct LogAddress(pub u64);

impl LogAddress {
    /// The last address of any log.
    pub const MAX: LogAddress = LogAddress((1 << LOG_ADDRESS_BITS) - 1);
}

impl fmt::Display for LogAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_as_places_in_a_file_are() {
        assert_eq!(LogAddress(0x1_2a40).to_string(), "0x12a40");
    }
}
