//! The fields that stand at fixed offsets.

use super::Misreading;

/// Where a field stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Structure {
    Slot,
    Segment,
    Frame,
    Page,
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
}

const fn field(name: &'static str, structure: Structure, at: usize, len: usize) -> Field {
    Field { name, structure, at, len, has_order: len > 1, has_halves: len > 1 }
}

/// A mask of which no bit is known: whichever bit is set, the file is refused.
const fn mask(name: &'static str, structure: Structure, at: usize, len: usize) -> Field {
    Field { name, structure, at, len, has_order: false, has_halves: true }
}

/// A field whose upper half is zero in every file that is valid and small: a sector has at most 4,096 bytes (F-1.6), a page 16,384 (F-8.1) and so no more
/// entries; and 2^16 segments, pages of a checkpoint, or records of a frame, or 2^32 bytes, are no small file.
const fn small(name: &'static str, structure: Structure, at: usize, len: usize) -> Field {
    Field { has_halves: false, ..field(name, structure, at, len) }
}

/// Every field whose meaning a reader uses: F-3.1, F-4.1, F-5.1, F-8.1.
pub(crate) const FIELDS: &[Field] = &[
    field("the slot's major version", Structure::Slot, 8, 2),
    field("the slot's checksum kind", Structure::Slot, 12, 1),
    mask("the slot's incompatible features", Structure::Slot, 16, 8),
    small("the slot's sector", Structure::Slot, 40, 4),
    field("the slot's segment length", Structure::Slot, 44, 4),
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
    field("the newest checkpoint's replay LSN", Structure::Slot, 424, 8),
    field("the segment's kind", Structure::Segment, 4, 1),
    field("the segment's sequence", Structure::Segment, 8, 8),
    field("the segment's first LSN", Structure::Segment, 16, 8),
    field("the segment's durable LSN", Structure::Segment, 24, 8),
    field("the segment's prev_end", Structure::Segment, 32, 4),
    field("the segment's next", Structure::Segment, 36, 4),
    field("the segment's after", Structure::Segment, 40, 4),
    field("the frame's LSN", Structure::Frame, 8, 8),
    field("the frame's durable lag", Structure::Frame, 16, 4),
    field("the frame's body length", Structure::Frame, 20, 4),
    field("the frame's part number", Structure::Frame, 24, 2),
    field("the frame's flags", Structure::Frame, 26, 2),
    small("the frame's record count", Structure::Frame, 28, 4),
    small("the page's length", Structure::Page, 4, 4),
    small("the page's number", Structure::Page, 8, 4),
    field("the page's tree", Structure::Page, 12, 4),
    field("the page's kind", Structure::Page, 16, 1),
    field("the page's level", Structure::Page, 17, 1),
    small("the page's entry count", Structure::Page, 20, 4),
    small("the page's lower fence length", Structure::Page, 24, 4),
    small("the page's upper fence length", Structure::Page, 28, 4),
];

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
