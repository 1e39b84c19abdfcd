//! Bytes to and from superblock slot, segment header, frame, record, catalog change and index record.
//!
//! The room is pure: it does no I/O, keeps no state, and every function is total over the bytes it is
//! given. It is the one place that knows an offset or computes a checksum; `spec/format.md` (clauses F-1
//! to F-8) is its authority, and each file shows the table it carries out beside constants whose sums the
//! compiler checks.
//!
//! Three rules hold throughout:
//!
//! * What comes back from a parser has been verified: its checksum held, seeded with the place and life the
//!   caller expected. A length is used before that only to find where the checksum ends, and only within
//!   the slice that was given (F-1.3).
//! * Encoders assert what they are asked to write, since that is ours; parsers return what is wrong, since
//!   bytes from a disk are the outside world.
//! * Offsets within a segment are `u32`, places in the file and log addresses are `u64`.

mod address;
pub mod body;
mod bounds;
pub mod catalog;
pub mod checkpoint;
mod checkpoint_ref;
pub mod checksum;
pub mod definition;
mod fields;
pub mod frame;
mod geometry;
pub mod index_record;
mod lineage;
mod lsn;
pub mod record;
pub mod segment;
pub mod superblock;
pub mod varint;

#[cfg(test)]
mod tests;

pub use address::{LOG_ADDRESS_BITS, LogAddress};
pub use bounds::{
    SECTOR_DEFAULT, SECTOR_MAX, SECTOR_MIN, SEGMENT_BYTES_DEFAULT, SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN,
    SEGMENTS_START, round_up_8,
};
pub use geometry::Geometry;
pub use lineage::Lineage;
pub use lsn::Lsn;
