//! The state that is known whole: that of the newest readable checkpoint, and of the log behind it as far as it goes.

use std::ops::Bound;

use crate::cache::SegmentTable;
use crate::core::{Core, assemble};
use crate::document::Key;
use crate::error::{Corruption, Error, Result};
use crate::format::Lsn;
use crate::format::segment::{SEGMENT_HEADER_LEN, SegmentHeader};
use crate::format::superblock::Superblock;
use crate::index::{Documents, Entries, Entry, KeyRange, PrimaryIndex};
use crate::log::LogEnd;
use crate::options::Options;
use crate::recovery::{self, Extent, File, Followed, Plan};

use super::source::Source;

/// A store for reading only, as of one commit.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) core: Core,
    /// That commit.
    pub(super) lsn: Lsn,
    /// What was durable once, as far as the end of the log tells.
    pub(super) claim: Lsn,
    /// Whether the file has all of the place in which the log may have gone on.
    pub(super) is_end_there: bool,
    /// Where the log goes on no further.
    pub(super) end_at: u64,
    /// The segment in which it ends, and those reserved for its successors: physical index and sequence.
    pub(super) ahead: Vec<(u32, u64)>,
    /// What kept the checkpoints from being read, if anything did.
    pub(super) problem: Option<Corruption>,
}

/// Keys looked at at a time.
const AT_ONCE: usize = 1024;

impl Base {
    pub(super) fn find(source: &Source) -> Result<Base> {
        let slot = &source.slot;
        match Self::follow(source, slot) {
            Err(Error::Corrupt(problem)) => {
                // Neither checkpoint can be read: what is left is the log, if it is in place from its beginning on.
                let creation = Superblock { checkpoints: [None, None], ..slot.clone() };
                let base = Self::follow(source, &creation)?;
                Ok(Base { problem: Some(problem), ..base })
            }
            followed => followed,
        }
    }

    fn follow(source: &Source, slot: &Superblock) -> Result<Base> {
        let options = Options::new().read_only(true);
        let segments = SegmentTable::new(slot.geometry);
        let plan =
            Plan { read_unit: options.check.read_unit, layout: options.layout(), extent: Extent::Whole };
        let file = File::new(&source.storage, slot)?;
        let Followed { recovered, claim, end_at } = recovery::follow(file, &segments, plan)?;
        let end = recovered.end.clone();
        let core = assemble(source.another(), segments, slot.clone(), recovered, &options)?;
        let (is_end_there, ahead) = (is_end_there(source, &end)?, ahead(&end));
        Ok(Base { core, lsn: end.lsn, claim, is_end_there, end_at, ahead, problem: None })
    }

    /// Why the log does not count as whole, if it does not.
    pub(super) fn break_off(&self) -> Option<Corruption> {
        let what = match self.is_end_there {
            _ if self.claim > self.lsn => "the log breaks off before a commit that was once durable",
            false => "the file is shorter than it once was, and the end of the log may be missing",
            true => return None,
        };
        let (expected, found) = (self.claim.0, self.lsn.0);
        Some(Corruption::new(self.end_at, "R-4.1", what).comparing(expected, found))
    }

    /// Calls `each` for every key of a collection, and where its document stands.
    pub(super) fn for_each_entry(
        documents: &Documents,
        mut each: impl FnMut(Key, Entry) -> Result<()>,
    ) -> Result<()> {
        let mut range = KeyRange::all();
        let mut page = Entries::default();
        loop {
            documents.index.page(&range, false, AT_ONCE, &mut page);
            let Some(last) = page.last_key() else { return Ok(()) };
            range.from = Bound::Excluded(last.to_key());
            page.iter().try_for_each(|(key, entry)| each(key.to_key(), *entry))?;
            page.clear();
        }
    }
}

/// Whether a log that ends here, as far as the file goes, may not have gone on in what the file has lost at its end.
fn is_end_there(source: &Source, end: &LogEnd) -> Result<bool> {
    let (slot, geometry) = (&source.slot, source.slot.geometry);
    if !source.is_cut() {
        return Ok(true);
    }
    let rest_is_there = geometry.segment_end(end.segment.physical).min(slot.file_len) <= source.file_len;
    // spec: F-4.3. It goes on at the place that is named, and nowhere else; beyond the old length there was nothing.
    let Some(next) = end.reserved[0].filter(|_| rest_is_there) else { return Ok(false) };
    let begins = geometry.segment_offset(next);
    if begins >= slot.file_len {
        return Ok(true);
    }
    let header = source.read(begins, SEGMENT_HEADER_LEN)?;
    let is_there = header.len() == SEGMENT_HEADER_LEN;
    let header = SegmentHeader::parse(&header, &slot.lineage, next);
    // Where the successor was begun, what is lost may be the frames in it.
    Ok(is_there && header.is_none_or(|header| header.sequence != end.segment.sequence + 1))
}

fn ahead(end: &LogEnd) -> Vec<(u32, u64)> {
    let sequence = end.segment.sequence;
    let places = [Some(end.segment.physical), end.reserved[0], end.reserved[1]];
    let ahead = (0..).zip(places).filter_map(|(ahead, place)| Some((place?, sequence.checked_add(ahead)?)));
    ahead.collect()
}
