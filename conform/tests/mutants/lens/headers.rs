//! The fields that stand at fixed offsets.

use super::Misreading;

/// Where a field stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Structure {
    Slot,
    Segment,
    Frame,
}

/// A field of one of the tables of `format.md`.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) structure: Structure,
    pub(crate) at: usize,
    pub(crate) len: usize,
    has_order: bool,
    /// Whether the upper half of its width is ever used in a file of a few MiB.
    has_halves: bool,
    /// Whether it covers the others, and is made right again after they are misread.
    pub(crate) is_checksum: bool,
}

const fn field(name: &'static str, structure: Structure, at: usize, len: usize) -> Field {
    Field { name, structure, at, len, has_order: len > 1, has_halves: len > 1, is_checksum: false }
}

/// A mask of which no bit is known: whichever bit is set, the file is refused.
const fn mask(name: &'static str, structure: Structure, at: usize, len: usize) -> Field {
    Field { has_order: false, ..field(name, structure, at, len) }
}

/// A checksum: a reader that misreads it finds nothing whole.
const fn checksum(name: &'static str, structure: Structure, at: usize) -> Field {
    Field { is_checksum: true, ..field(name, structure, at, 4) }
}

/// A field whose upper half is zero in every file that is valid and small: a sector has at most 4,096 bytes (F-1.6), an index record
/// 16,384 (F-8.11); and 2^16 segments, or records of a frame, or 2^32 bytes, are no small file.
const fn small(name: &'static str, structure: Structure, at: usize, len: usize) -> Field {
    Field { has_halves: false, ..field(name, structure, at, len) }
}

/// Every field whose meaning a reader uses: F-3.1, F-3.2, F-4.1, F-5.1. [`LEFT_OUT`] has the others.
pub(crate) const FIELDS: &[Field] = &[
    field("the slot's magic", Structure::Slot, 0, 8),
    field("the slot's major version", Structure::Slot, 8, 2),
    field("the slot's checksum kind", Structure::Slot, 12, 1),
    mask("the slot's incompatible features", Structure::Slot, 16, 8),
    mask("the slot's read-only-compatible features", Structure::Slot, 24, 8),
    small("the slot's sector", Structure::Slot, 40, 4),
    field("the slot's segment length", Structure::Slot, 44, 4),
    field("the slot's lineage", Structure::Slot, 48, 16),
    field("the slot's generation", Structure::Slot, 352, 8),
    field("the slot's incarnation", Structure::Slot, 360, 4),
    field("the slot's durable LSN", Structure::Slot, 368, 8),
    small("the slot's file length", Structure::Slot, 376, 8),
    field("the newest checkpoint's LSN", Structure::Slot, 384, 8),
    small("the newest checkpoint's root segment", Structure::Slot, 392, 4),
    field("the newest checkpoint's root offset", Structure::Slot, 396, 4),
    field("the newest checkpoint's root checksum", Structure::Slot, 400, 4),
    small("the newest checkpoint's replay segment", Structure::Slot, 404, 4),
    field("the newest checkpoint's replay sequence", Structure::Slot, 408, 8),
    field("the newest checkpoint's replay offset", Structure::Slot, 416, 4),
    small("the newest checkpoint's root length", Structure::Slot, 420, 4),
    field("the newest checkpoint's replay LSN", Structure::Slot, 424, 8),
    field("the older checkpoint's LSN", Structure::Slot, 432, 8),
    small("the older checkpoint's root segment", Structure::Slot, 440, 4),
    field("the older checkpoint's root offset", Structure::Slot, 444, 4),
    field("the older checkpoint's root checksum", Structure::Slot, 448, 4),
    small("the older checkpoint's replay segment", Structure::Slot, 452, 4),
    field("the older checkpoint's replay sequence", Structure::Slot, 456, 8),
    field("the older checkpoint's replay offset", Structure::Slot, 464, 4),
    small("the older checkpoint's root length", Structure::Slot, 468, 4),
    field("the older checkpoint's replay LSN", Structure::Slot, 472, 8),
    checksum("the slot's checksum", Structure::Slot, 508),
    field("the segment's magic", Structure::Segment, 0, 4),
    field("the segment's kind", Structure::Segment, 4, 1),
    field("the segment's sequence", Structure::Segment, 8, 8),
    field("the segment's first LSN", Structure::Segment, 16, 8),
    field("the segment's durable LSN", Structure::Segment, 24, 8),
    field("the segment's prev_end", Structure::Segment, 32, 4),
    field("the segment's next", Structure::Segment, 36, 4),
    field("the segment's after", Structure::Segment, 40, 4),
    field("the segment's lineage", Structure::Segment, 44, 16),
    checksum("the segment's checksum", Structure::Segment, 60),
    checksum("the frame's header checksum", Structure::Frame, 0),
    checksum("the frame's body checksum", Structure::Frame, 4),
    field("the frame's LSN", Structure::Frame, 8, 8),
    field("the frame's durable lag", Structure::Frame, 16, 4),
    field("the frame's body length", Structure::Frame, 20, 4),
    field("the frame's part number", Structure::Frame, 24, 2),
    field("the frame's flags", Structure::Frame, 26, 2),
    small("the frame's record count", Structure::Frame, 28, 4),
];

/// A field that no answer of a reader depends on.
#[derive(Debug)]
pub(crate) struct LeftOut {
    pub(crate) field: Field,
    /// Why nothing depends on it.
    pub(crate) reason: &'static str,
}

const fn left_out(
    name: &'static str,
    structure: Structure,
    (at, len): (usize, usize),
    reason: &'static str,
) -> LeftOut {
    LeftOut { field: field(name, structure, at, len), reason }
}

const ITS_VALUE_IS_IGNORED: &str = "F-1.4: a reader ignores the value of reserved bytes of a slot";
const NOT_ASKED_FOR: &str = "F-4.4: what makes a header valid does not ask for it";
const THE_APPLICATIONS: &str = "F-3.1: it is the application's own, and no answer has it";

/// The other fields of F-3.1, F-3.2, F-4.1 and F-5.1.
pub(crate) const LEFT_OUT: &[LeftOut] = &[
    left_out("the slot's minor version", Structure::Slot, (10, 2), "F-3.4: a higher one changes nothing"),
    left_out(
        "the reserved bytes behind the slot's checksum kind",
        Structure::Slot,
        (13, 3),
        ITS_VALUE_IS_IGNORED,
    ),
    left_out("the slot's compatible features", Structure::Slot, (32, 8), "F-3.4: its bits change nothing"),
    left_out(
        "the slot's instance",
        Structure::Slot,
        (64, 16),
        "F-3.1: it tells copies of one store from each other, and no bytes are bound to it",
    ),
    left_out("the slot's application id", Structure::Slot, (80, 4), THE_APPLICATIONS),
    left_out("the slot's user version", Structure::Slot, (84, 4), THE_APPLICATIONS),
    left_out(
        "the slot's quota",
        Structure::Slot,
        (88, 8),
        "F-3.1: it bounds what a writer adds, not what is there",
    ),
    left_out("what the slot reserves for encryption", Structure::Slot, (96, 256), ITS_VALUE_IS_IGNORED),
    left_out(
        "the slot's flags",
        Structure::Slot,
        (364, 4),
        "R-7.3: no step is skipped because of a clean close",
    ),
    left_out("the reserved bytes behind the checkpoints", Structure::Slot, (480, 28), ITS_VALUE_IS_IGNORED),
    left_out("the segment's codec", Structure::Segment, (5, 1), NOT_ASKED_FOR),
    left_out("the segment's flags", Structure::Segment, (6, 2), NOT_ASKED_FOR),
];

/// What a header must be, and a reader with a mistake does not ask for: F-3.3, F-4.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    SlotMagic,
    SlotPlace,
    SegmentMagic,
    SegmentKind,
    SegmentLineage,
}

/// All of them.
pub(crate) const CHECKS: [Check; 5] =
    [Check::SlotMagic, Check::SlotPlace, Check::SegmentMagic, Check::SegmentKind, Check::SegmentLineage];

impl Field {
    /// Whether it is a mistake to misread the field so.
    pub(crate) fn bears(&self, misreading: Misreading) -> bool {
        match misreading {
            Misreading::Reversed => self.has_order,
            Misreading::Narrow => self.has_halves,
            _ => true,
        }
    }
}
