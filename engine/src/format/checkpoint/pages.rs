//! A page found by its pointer, read in large pieces, and verified.

use super::pointer::PagePointer;
use crate::error::{Clause, Corruption, Error, Result};
use crate::format::catalog::CatalogFault;
use crate::format::page::{PAGE_HEADER_LEN, Page, PageFault, PageKind};
use crate::format::superblock::{FORMAT_MAJOR, FORMAT_MINOR};
use crate::format::{Geometry, Lineage, Lsn};
use crate::seeded::{self, Bug};

/// Leaves stand one behind the other, so that reading ahead reads what is wanted next.
const PIECE_LEN: u64 = 256 * 1024;

/// What a checkpoint is read from.
pub trait PageSource {
    /// The length of the file in bytes.
    fn file_len(&self) -> u64;

    /// Fills `out` with the bytes at offset `at`, all of which lie below [`file_len`](Self::file_len).
    ///
    /// # Errors
    /// Those of the disk.
    fn read_at(&self, at: u64, out: &mut [u8]) -> Result<()>;
}

/// Why a checkpoint cannot be read.
#[derive(Debug, Clone)]
pub enum Unreadable {
    /// Its bytes are damaged. The checkpoint before may serve instead.
    Damaged(Corruption),
    /// The disk refused, or a newer version wrote it: no other checkpoint would do.
    Failed(Error),
}

impl From<Error> for Unreadable {
    fn from(error: Error) -> Self {
        Unreadable::Failed(error)
    }
}

impl From<Unreadable> for Error {
    fn from(unreadable: Unreadable) -> Self {
        match unreadable {
            Unreadable::Damaged(corruption) => Error::Corrupt(corruption),
            Unreadable::Failed(error) => error,
        }
    }
}

impl Unreadable {
    pub(super) const fn damaged(
        at: u64,
        clause: &'static str,
        what: &'static str,
        expected: u64,
        found: u64,
    ) -> Self {
        Unreadable::Damaged(Corruption { at, clause: Clause(clause), what, expected, found })
    }

    /// What a map or an array in the page at `at` is to the reader.
    pub(super) const fn entry(at: u64, clause: &'static str, fault: CatalogFault) -> Self {
        match fault {
            CatalogFault::Malformed(what) => Unreadable::damaged(at, clause, what, 0, 0),
            // spec: F-7.3.
            CatalogFault::Unsupported => Unreadable::Failed(Error::NewerFormat {
                major: FORMAT_MAJOR,
                minor: FORMAT_MINOR,
                unknown_features: 0,
            }),
        }
    }
}

/// How a page is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ahead {
    /// With what follows it.
    Piece,
    /// By itself: a branch stands behind what it leads to, so that nothing behind it is wanted next; and an only leaf is all there is.
    Alone,
}

/// The pages of one checkpoint.
#[derive(Debug)]
pub(super) struct Pages<'s, S> {
    source: &'s S,
    geometry: Geometry,
    lineage: Lineage,
    lsn: Lsn,
    /// The segments that pages may lie in, sorted; none as long as they are not known.
    segments: Option<Vec<u32>>,
    piece: Buffer,
    branch: Buffer,
}

/// Bytes of the file from `at` on.
#[derive(Debug, Default)]
struct Buffer {
    at: u64,
    bytes: Vec<u8>,
}

impl Buffer {
    fn holds(&self, at: u64, len: u64) -> bool {
        self.at <= at && at + len <= self.at + self.bytes.len() as u64
    }

    fn fill(&mut self, source: &impl PageSource, at: u64, len: u64) -> Result<()> {
        // Nothing is held while the read may fail.
        self.at = u64::MAX;
        self.bytes.resize(len as usize, 0);
        source.read_at(at, &mut self.bytes)?;
        self.at = at;
        Ok(())
    }

    fn from(&self, at: u64) -> &[u8] {
        &self.bytes[(at - self.at) as usize..]
    }
}

impl<'s, S: PageSource> Pages<'s, S> {
    pub(super) fn new(source: &'s S, geometry: Geometry, lineage: &Lineage, lsn: Lsn) -> Self {
        let (piece, branch) = (Buffer::default(), Buffer::default());
        Pages { source, geometry, lineage: *lineage, lsn, segments: None, piece, branch }
    }

    pub(super) const fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// How many segments begin within the file.
    pub(super) fn segment_count(&self) -> u32 {
        self.geometry.segments_within(self.source.file_len())
    }

    /// From now on pages lie in these segments alone.
    pub(super) fn confine(&mut self, mut segments: Vec<u32>) {
        segments.sort_unstable();
        self.segments = Some(segments);
    }

    //= spec/format.md#f-8-8-completeness
    //# A checkpoint MUST NOT refer to a page of another checkpoint.
    /// Whether pages may lie in this segment.
    pub(super) fn is_ours(&self, physical: u32) -> bool {
        self.segments.as_ref().is_none_or(|segments| segments.binary_search(&physical).is_ok())
    }

    /// The root page, which says itself what number it has; its checksum is to be `crc`.
    pub(super) fn root(
        &mut self,
        physical: u32,
        offset: u32,
        crc: u32,
        named_at: u64,
    ) -> Result<(Page<'_>, u64), Unreadable> {
        let (at, len) = self.place(PagePointer { number: 0, physical, offset }, named_at)?;
        self.branch.fill(self.source, at, len)?;
        let bytes = self.branch.from(at);
        let number = Page::claimed_number(bytes).expect("a place has room for a page header");
        let page = parse(bytes, &self.lineage, self.lsn, number, PageKind::Root, at)?;
        // spec: F-3.2.
        if page.crc() != crc && !seeded::is_on(Bug::PageOfAnyCheckpoint) {
            let what = "a root page other than the one that the superblock names";
            return Err(Unreadable::damaged(at, "F-3.2", what, crc.into(), page.crc().into()));
        }
        Ok((page, at))
    }

    /// The page that `pointer`, which stands in the page at `named_at`, points to; and where it lies in the file.
    pub(super) fn page(
        &mut self,
        pointer: PagePointer,
        kind: PageKind,
        ahead: Ahead,
        named_at: u64,
    ) -> Result<(Page<'_>, u64), Unreadable> {
        let (at, len) = self.place(pointer, named_at)?;
        let buffer = match ahead {
            Ahead::Piece => {
                if !self.piece.holds(at, len) {
                    let end = self.geometry.segment_end(pointer.physical).min(self.source.file_len());
                    self.piece.fill(self.source, at, (end - at).min(PIECE_LEN))?;
                }
                &self.piece
            }
            Ahead::Alone => {
                self.branch.fill(self.source, at, len)?;
                &self.branch
            }
        };
        let page = parse(buffer.from(at), &self.lineage, self.lsn, pointer.number, kind, at)?;
        Ok((page, at))
    }

    //= spec/format.md#f-8-2-page-pointer
    //# A reader MUST take a checkpoint for damaged when a pointer leads to a place where no page can begin,
    //# or into a segment that the checkpoint's list (F-8.9) does not name.
    /// Where in the file a page begins, and how many bytes it may have at most.
    fn place(&self, pointer: PagePointer, named_at: u64) -> Result<(u64, u64), Unreadable> {
        // spec: F-8.1.
        let damaged = |what, expected: u64, found: u32| {
            Err(Unreadable::damaged(named_at, "F-8.2", what, expected, found.into()))
        };
        let PagePointer { physical, offset, .. } = pointer;
        if physical >= self.segment_count() {
            return damaged("a page beyond the end of the file", self.segment_count().into(), physical);
        }
        if !self.is_ours(physical) {
            return damaged("a page in a segment that is not the checkpoint's", 0, physical);
        }
        if offset < self.geometry.data_start() || !offset.is_multiple_of(8) {
            return damaged("a page where none can begin", self.geometry.data_start().into(), offset);
        }
        let segment_at = self.geometry.segment_offset(physical);
        let end = self.geometry.segment_end(physical).min(self.source.file_len());
        let at = segment_at + u64::from(offset);
        if at + PAGE_HEADER_LEN as u64 > end {
            return damaged("a page beyond the end of its segment", end - segment_at, offset);
        }
        Ok((at, (end - at).min(self.geometry.page_len_max() as u64)))
    }
}

//= spec/format.md#f-8-1-pages
//# A page MUST have an entry at least: a tree without entries has no pages.
/// Verifies the page at the start of `bytes`, which lie at `at` in the file.
fn parse<'a>(
    bytes: &'a [u8],
    lineage: &Lineage,
    lsn: Lsn,
    number: u32,
    kind: PageKind,
    at: u64,
) -> Result<Page<'a>, Unreadable> {
    let damaged = |what, expected: u64, found: u64| Unreadable::damaged(at, "F-8.1", what, expected, found);
    let page = Page::parse(bytes, lineage, lsn, number).map_err(|fault| match fault {
        PageFault::Length => damaged("a page with a length that cannot be", 0, 0),
        PageFault::Crc { expected, found } => {
            damaged("a page has a wrong checksum", expected.into(), found.into())
        }
        PageFault::Malformed(what) => damaged(what, 0, 0),
    })?;
    if page.header().kind != kind {
        return Err(damaged("a page of another kind", 0, 0));
    }
    if page.header().entry_count == 0 {
        return Err(damaged("a page without entries", 1, 0));
    }
    Ok(page)
}
