//! The parts of a commit while records are placed in them.

use crate::format::Lsn;
use crate::format::frame::FrameFlags;
use crate::format::record::RecordSeed;

/// A frame whose header is still to be filled in.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenFrame {
    /// In the segment.
    pub(super) offset: u32,
    /// In the bytes of the last extent.
    pub(super) header_at: usize,
}

/// The parts of a commit that is being placed.
#[derive(Debug)]
pub(in crate::log) struct Parts {
    pub(super) lsn: Lsn,
    pub(super) flags: FrameFlags,
    /// The number of the open one.
    pub(super) part: u16,
    pub(super) open: Option<OpenPart>,
}

/// A part that records are being placed in.
#[derive(Debug)]
pub(super) struct OpenPart {
    pub(super) frame: OpenFrame,
    /// What its records are seeded with, and what they count themselves to.
    pub(super) seed: RecordSeed,
    pub(super) commit: u32,
}
