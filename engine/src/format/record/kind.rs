//! The kinds of records (F-6.3).

/// What a record does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A document takes the place of whatever the key named.
    Put,
    /// The key names nothing any more.
    Delete,
    /// A put that the cleaner moved: changes nothing but where the version lies.
    RelocatedPut,
    /// A piece of a document that one record cannot hold.
    Chunk,
    /// A collection begins, ends or changes its name.
    Catalog,
    /// A segment holds nothing live any more.
    SegmentFreed,
    /// An incarnation begins.
    Opening,
    /// When the commit was made.
    CommitTime,
    /// A kind below 128 that this version does not know: a frame with it is refused.
    Reserved(u8),
    /// A kind of 128 or more: skipped by those who do not know it.
    Skippable(u8),
}

impl Kind {
    /// The kind's number in the file.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Kind::Put => 1,
            Kind::Delete => 2,
            Kind::RelocatedPut => 3,
            Kind::Chunk => 4,
            Kind::Catalog => 5,
            Kind::SegmentFreed => 6,
            Kind::Opening => 7,
            Kind::CommitTime => 8,
            Kind::Reserved(byte) | Kind::Skippable(byte) => byte,
        }
    }

    /// The kind of a number in the file.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Kind {
        match byte {
            1 => Kind::Put,
            2 => Kind::Delete,
            3 => Kind::RelocatedPut,
            4 => Kind::Chunk,
            5 => Kind::Catalog,
            6 => Kind::SegmentFreed,
            7 => Kind::Opening,
            8 => Kind::CommitTime,
            128.. => Kind::Skippable(byte),
            _ => Kind::Reserved(byte),
        }
    }

    /// Whether a record of this kind has a key.
    #[must_use]
    pub const fn has_key(self) -> bool {
        matches!(self, Kind::Put | Kind::Delete | Kind::RelocatedPut | Kind::Chunk)
    }

    /// Whether a record of this kind holds a document, or a chunk list in its place.
    #[must_use]
    pub const fn has_document(self) -> bool {
        matches!(self, Kind::Put | Kind::RelocatedPut)
    }
}
