//! The parts of a leaf's entry: kinds of keys, values, differences (F-8.4).

use crate::format::record::ADDRESS_SHIFT;
use crate::format::{LOG_ADDRESS_BITS, LogAddress, varint};

/// What `t` has in its low three bits.
pub(super) const INT: u64 = 1;
pub(super) const TEXT: u64 = 3;
pub(super) const BYTES: u64 = 5;

/// The least value: address 1 without flags.
pub(super) const VALUE_MIN: u64 = 1 << ADDRESS_SHIFT;
/// How many values there may be: those of an address of 55 bits.
pub(super) const VALUE_END: u64 = 1 << (LOG_ADDRESS_BITS + ADDRESS_SHIFT);

//= spec/format.md#f-8-4-primary-leaves
//# A reader MUST take a checkpoint for damaged when an address in it is 0, or not below that where the log ended at the checkpoint (F-8.7).
/// What is wrong with a value, where the log ended at that of `end`: its address is to be one that a record can have. What lies beyond
/// the end would pass for a commit that is not visible yet, and its document for one that is not there.
#[inline(always)]
pub(super) const fn value_fault(value: u64, end: u64) -> Option<&'static str> {
    match value {
        VALUE_MIN.. if value < end => None,
        VALUE_MIN..VALUE_END => Some("an entry that leads beyond the end of the log"),
        _ => Some("an address that no record has"),
    }
}

/// Whether `value` can stand in a leaf at all.
pub(super) const fn is_value(value: u64) -> bool {
    value_fault(value, VALUE_END).is_none()
}

/// The least value that is none where the log ended at `address`.
pub(super) const fn value_end(address: LogAddress) -> u64 {
    if address.0 > LogAddress::MAX.0 { VALUE_END } else { address.0 << ADDRESS_SHIFT }
}

pub(super) const OUT_OF_ORDER: &str = "keys out of order";

#[inline(always)]
pub(super) fn take_varint(rest: &mut &[u8]) -> Result<u64, &'static str> {
    varint::take(rest).ok_or("no varint where one is due in a leaf")
}

pub(super) const fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

pub(super) const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
