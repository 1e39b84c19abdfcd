//! Files made byte by byte from the text of the specification, right or wrong as a case asks; nothing of the engine is used.
//!
//! | module | what it makes |
//! |---|---|
//! | [`cbor`] | values as bytes, as JSON and as order keys |
//! | [`record`] | the records of a frame, and what they do to a state |
//! | [`world`] | the state that the records so far amount to |
//! | [`log`] | slots, segment headers, frames: a file under construction |
//! | [`entries`] | definitions of indexes, and the entries that documents give |
//! | [`index`] | index records, and what is in them |
//! | [`checkpoint`] | the records of a whole checkpoint |

pub mod cbor;
pub mod checkpoint;
pub mod entries;
pub mod index;
pub mod log;
pub mod record;
pub mod world;

pub use log::{Forge, Placed};
pub use record::Record;
pub use world::World;

/// CRC(a, b, ...) (F-1.3).
#[must_use]
pub fn crc(parts: &[&[u8]]) -> u32 {
    parts.iter().fold(0, |sum, part| crc32c::crc32c_append(sum, part))
}

/// A varint (F-1.2).
#[must_use]
pub fn varint(mut number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while number > 0x7f {
        out.push(number as u8 & 0x7f | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
    out
}

/// The zigzag form of a number (F-8.4), as a varint.
#[must_use]
pub fn zigzag(number: i64) -> Vec<u8> {
    varint((number << 1 ^ number >> 63) as u64)
}

/// (incarnation, count) as the LSN that it is (F-1.5).
#[must_use]
pub const fn lsn(incarnation: u32, count: u32) -> u64 {
    (incarnation as u64) << 32 | count as u64
}

/// The least multiple of `unit` at or above `offset`.
#[must_use]
pub const fn up(offset: u32, unit: u32) -> u32 {
    offset.div_ceil(unit) * unit
}
