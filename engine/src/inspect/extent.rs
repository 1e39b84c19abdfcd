//! What each byte of the file is used for.

/// What bytes are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Use {
    /// The superblock slots, and what is kept behind them.
    Superblock,
    /// The header of a segment that is in use.
    Header,
    /// Records of documents that are there.
    Live,
    /// Records of documents that were replaced, deleted or moved.
    Dead,
    /// What else the log consists of: frame headers, deletes, the catalog, and its own bookkeeping.
    Log,
    /// Index records of a checkpoint that the superblock names.
    Checkpoint,
    /// Nothing, in a segment that is in use.
    Unused,
    /// Places that nothing holds, whatever they still say.
    Free,
    /// Frames behind the end of the log, or cut off: nobody was told that they are durable.
    Torn,
    /// What an earlier use left behind all that is in use.
    Leftover,
    /// What should be something and cannot be read as that.
    Damaged,
    /// Something that can be read, and of which nobody can tell whether it counts.
    Unknown,
}

impl Use {
    /// All of them.
    pub const ALL: [Use; 12] = [
        Use::Superblock,
        Use::Header,
        Use::Live,
        Use::Dead,
        Use::Log,
        Use::Checkpoint,
        Use::Unused,
        Use::Free,
        Use::Torn,
        Use::Leftover,
        Use::Damaged,
        Use::Unknown,
    ];

    /// Its name, for machines too.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Use::Superblock => "superblock",
            Use::Header => "header",
            Use::Live => "live",
            Use::Dead => "dead",
            Use::Log => "log",
            Use::Checkpoint => "checkpoint",
            Use::Unused => "unused",
            Use::Free => "free",
            Use::Torn => "torn",
            Use::Leftover => "leftover",
            Use::Damaged => "damaged",
            Use::Unknown => "unknown",
        }
    }

    /// Its place in [`ALL`](Self::ALL).
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A run of bytes of one use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Where it begins in the file.
    pub at: u64,
    /// Its length in bytes.
    pub len: u64,
    /// What it is used for.
    pub usage: Use,
}

/// The extents of one segment in the making: without gaps, and neighbours are of different uses.
#[derive(Debug)]
pub(super) struct Strip<'a> {
    segment_at: u64,
    bytes: &'a [u8],
    sector: u32,
    end: u32,
    extents: Vec<Extent>,
}

impl<'a> Strip<'a> {
    pub(super) fn new(segment_at: u64, bytes: &'a [u8], sector: u32) -> Self {
        Strip { segment_at, bytes, sector, end: 0, extents: Vec::new() }
    }

    /// Where it ends so far, in the segment.
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    /// Goes on to `to`, or to the end of the segment if that comes before.
    pub(super) fn fill(&mut self, to: u32, usage: Use) {
        let to = to.min(self.bytes.len() as u32);
        if to <= self.end {
            return;
        }
        let len = u64::from(to - self.end);
        match self.extents.last_mut() {
            Some(last) if last.usage == usage => last.len += len,
            _ => self.extents.push(Extent { at: self.segment_at + u64::from(self.end), len, usage }),
        }
        self.end = to;
    }

    /// Goes on to `to` over bytes that nothing explains: of each sector, zeros are unused, and anything else is `usage`.
    pub(super) fn fill_unexplained(&mut self, to: u32, usage: Use) {
        let to = to.min(self.bytes.len() as u32);
        while self.end < to {
            let sector_end = (self.end / self.sector + 1) * self.sector;
            let piece_end = sector_end.min(to);
            let piece = &self.bytes[self.end as usize..piece_end as usize];
            let is_zero = piece.iter().all(|byte| *byte == 0);
            self.fill(piece_end, if is_zero { Use::Unused } else { usage });
        }
    }

    pub(super) fn finish(self) -> Vec<Extent> {
        assert_eq!(self.end as usize, self.bytes.len(), "a strip covers its segment");
        self.extents
    }
}
