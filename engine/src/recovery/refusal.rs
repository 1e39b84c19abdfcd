//! What is refused although its checksums hold.

use crate::error::{Clause, Corruption, Error, Result};
use crate::format::frame::FrameFlags;
use crate::format::superblock::{FORMAT_MAJOR, FORMAT_MINOR};

use super::commit::Part;

pub(super) const NO_OPENING: &str =
    "a frame with the flag of an opening frame, which has one part, of one opening record, and count 1";

pub(super) fn broken(at: u64, clause: &'static str, what: &'static str) -> Error {
    Corruption { at, clause: Clause(clause), what, expected: 0, found: 0 }.into()
}

impl Part {
    pub(super) fn broken(&self, clause: &'static str, what: &'static str) -> Error {
        broken(self.image.file_offset(self.offset), clause, what)
    }

    //= spec/recovery.md#r-2-7-contents
    //# A reader MUST report corruption when the record count of a valid frame is not the number of its records.
    /// Its checksums hold, so a wrong count is no torn write.
    pub(super) fn check_count(&self) -> Result<()> {
        if self.record_count as usize == self.records.len() {
            return Ok(());
        }
        Err(self.broken("R-2.7", "a frame has another number of records than it says"))
    }
}

//= spec/format.md#f-5-7-frame-validity
//# A reader MUST refuse the file when the frame that continues the log has a valid header CRC and a flag that
//# it does not know.
//= spec/versions.md#c-2-4-refused-is-not-corrupt
//# A reader that refuses because of something it does not know MUST say that a newer version wrote it, and
//# not that the file is corrupt.
/// A frame that continues the log asks for something that this version does not know.
pub(super) fn newer(flags: FrameFlags) -> Error {
    Error::NewerFormat { major: FORMAT_MAJOR, minor: FORMAT_MINOR, unknown_features: u64::from(flags.0) }
}
