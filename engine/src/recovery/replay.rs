//! Carries out accepted commits: catalog and indexes as they stand after the last one.

use std::collections::BTreeMap;

use crate::cache::SegmentTable;
use crate::document::{Key, KeyRef};
use crate::error::{Corruption, Error, Result};
use crate::fold::{Effect, Fold, OfDocument};
use crate::format::body::parse_segment_freed;
use crate::format::catalog::{CatalogChange, MapFault};
use crate::format::record::{Kind, Record, Replaced};
use crate::format::superblock::newer;
use crate::format::{Geometry, LogAddress, Lsn};
use crate::index::{Birth, Catalog, Documents, Entry, Layout};
use crate::log::record_fault;
use crate::seeded::{self, Bug};
use crate::space::Accounts;
use crate::sync::{Arc, RwLock, own};

use super::commit::{Commit, Part};
use super::scan::Scan;
use super::start::Start;

/// Catalog, indexes and accounts in the making.
#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) catalog: RwLock<Catalog>,
    pub(crate) accounts: Accounts,
    /// The documents of indexed collections that were changed: where each was in the state in which replay begins.
    pub(crate) changed: BTreeMap<u32, BTreeMap<Key, Option<Entry>>>,
    /// The highest id given by then.
    pub(crate) last_id: u32,
    /// The last commit of the state in which replay begins.
    start: Lsn,
    layout: Layout,
}

/// Where a record stands that is carried out.
#[derive(Debug, Clone, Copy)]
struct RecordPlace {
    geometry: Geometry,
    /// Its LSN, that of the commit.
    lsn: Lsn,
    address: LogAddress,
    /// In the file.
    at: u64,
}

impl RecordPlace {
    fn broken(&self, clause: &'static str, what: &'static str) -> Error {
        Corruption::new(self.at, clause, what).into()
    }
}

/// What the records of one frame change.
struct FrameReplay<'a> {
    catalog: &'a mut RwLock<Catalog>,
    /// Nobody sees an older state while recovery runs.
    fold: Fold<'a, ()>,
    changed: &'a mut BTreeMap<u32, BTreeMap<Key, Option<Entry>>>,
    layout: Layout,
}

impl Replay {
    pub(super) fn new(start: &mut Start, layout: Layout) -> Self {
        let (catalog, accounts) = (std::mem::take(&mut start.catalog), std::mem::take(&mut start.accounts));
        let last_id = catalog.last_id;
        let catalog = RwLock::new(catalog);
        Replay { catalog, accounts, changed: BTreeMap::new(), last_id, start: start.end.lsn, layout }
    }

    //= spec/recovery.md#r-9-1-the-segments-in-place
    //# When the segment that stood there was not freed at or below the start's LSN, the reader MUST report
    //# corruption.
    /// Opens the account of the segment of `part`, if that begins it. What lay there before was freed, or two segments are in one place.
    fn open_segment(&mut self, part: &Part, segments: &SegmentTable) -> Result<()> {
        let (sequence, physical) = (part.segment.sequence, part.segment.physical);
        if self.accounts.get(sequence).is_some() {
            self.accounts.set_end(sequence, part.frame.end());
            return Ok(());
        }
        if let Some((old, account)) = self.accounts.at_physical(physical) {
            if !account.is_freed() || account.freed > self.start {
                let what = "a segment stands in the place of another that is in use";
                let at = part.segment.file_offset(0);
                return Err(Corruption::new(at, "R-9.1", what).comparing(old, sequence).into());
            }
            self.accounts.remove(old);
            segments.remove(old);
        }
        self.accounts.open(sequence, physical);
        self.accounts.set_end(sequence, part.frame.end());
        Ok(())
    }

    //= spec/recovery.md#r-2-7-contents
    //# A commit whose frames are valid and whose records break F-6 or F-7 MUST be reported as corruption; a
    //# record kind, flag or frame flag that F-5 and F-6 ask to refuse MUST be reported as a newer format.
    pub(super) fn apply(&mut self, scan: &Scan<'_>, commit: &Commit, segments: &SegmentTable) -> Result<()> {
        for part in &commit.parts {
            self.open_segment(part, segments)?;
            part.check_count()?;
            let segment = segments.get(part.segment.sequence).expect("its segments were noted");
            let stretch = segment.stretch_at(part.frame.offset);
            // spec: F-6.2. A table may have a stretch that begins later.
            let expected = commit.lsn.count().checked_sub(stretch.first_lsn.count());
            let Replay { catalog, accounts, changed, layout, .. } = self;
            let nobody = &mut ();
            let fold = Fold::new(scan.geometry, accounts, nobody, false);
            let mut frame = FrameReplay { catalog, fold, changed, layout: *layout };
            for record in part.frame.records(&part.segment.bytes(), &stretch.seed) {
                let (at, record) =
                    record.map_err(|(at, fault)| record_fault(part.segment.file_offset(at), &fault))?;
                let address = scan.geometry.address(part.segment.sequence, at);
                let (geometry, at) = (scan.geometry, part.segment.file_offset(at));
                if Some(record.commit) != expected {
                    let (expected, found) = (expected.unwrap_or_default().into(), record.commit.into());
                    let another = Corruption::new(at, "F-6.2", "a record counts itself to another commit");
                    return Err(another.comparing(expected, found).into());
                }
                let place = RecordPlace { geometry, lsn: commit.lsn, address, at };
                frame.record(place, &record)?;
            }
        }
        Ok(())
    }
}

impl FrameReplay<'_> {
    //= spec/format.md#f-7-4-order-in-a-commit
    //# A reader MUST treat a record of a collection that is unknown at that point of the log as dead.
    //= spec/recovery.md#r-9-4-freed-records
    //# The reader MUST report corruption when the record names the segment in which it stands, or a segment
    //# that is not in place at that physical index by then.
    fn record(&mut self, place: RecordPlace, record: &Record<'_>) -> Result<()> {
        let broken = |clause, what| place.broken(clause, what);
        let catalog = own(self.catalog);
        match record.kind {
            Kind::Put | Kind::RelocatedPut | Kind::Delete => {
                let key = record.key.ok_or_else(|| broken("F-6.1", "a record of a document has no key"))?;
                // spec: F-7.4. A record of a collection that is unknown here is dead.
                let Some(naming) = catalog.by_id(record.collection) else { return Ok(()) };
                let documents = Arc::clone(&naming.documents);
                self.document(place, &documents, key, record)
            }
            Kind::Chunk => {
                if catalog.by_id(record.collection).is_some() {
                    let chunk = Effect::Chunk(record.collection, place.address, record.len as u32);
                    self.fold.apply(chunk);
                }
                Ok(())
            }
            Kind::SegmentFreed => {
                let freed = parse_segment_freed(record.body);
                let (sequence, physical) = freed
                    .ok_or_else(|| broken("F-6.3", "a record that frees a segment has a wrong length"))?;
                let is_left = sequence < place.geometry.split(place.address).0;
                if !is_left || self.fold.physical_of(sequence) != Some(physical) {
                    return Err(broken("R-9.4", "a record frees a segment that is not there, or its own"));
                }
                self.fold.apply(Effect::Free(sequence, place.lsn));
                Ok(())
            }
            Kind::Catalog => {
                let change = CatalogChange::decode(record.body).map_err(|fault| match fault {
                    MapFault::Malformed(what) => broken("F-7.1", what),
                    MapFault::Unsupported => refused(0),
                })?;
                if matches!(change, CatalogChange::Drop { .. }) && seeded::is_on(Bug::DropNotReplayed)
                    || matches!(change, CatalogChange::Clear { .. }) && seeded::is_on(Bug::ClearNotReplayed)
                    || matches!(change, CatalogChange::Unindex { .. }) && seeded::is_on(Bug::DroppedIndexBack)
                {
                    return Ok(());
                }
                let old =
                    if let CatalogChange::Clear { id, .. } = &change { catalog.by_id(*id) } else { None };
                let begun = |id| match old {
                    Some(old) => old.documents.cleared(id, self.layout),
                    None => Documents::new(id, self.layout),
                };
                let begins = change.begins().map(begun).map(Arc::new);
                if begins.as_ref().is_some_and(|begins| begins.last_id().is_none()) {
                    return Err(broken("F-7.1", "a catalog record gives ids beyond the last"));
                }
                let effect = Effect::Catalog(self.catalog, &change, begins.as_ref(), place.address);
                let fits = self.fold.apply(effect);
                // Nobody reads while recovery runs, so no naming but the current ones is needed.
                own(self.catalog).purge(&[]);
                if fits { Ok(()) } else { Err(broken("F-7.1", "a catalog record contradicts the catalog")) }
            }
            Kind::Opening | Kind::CommitTime | Kind::Skippable(_) => Ok(()),
            Kind::Reserved(kind) => Err(refused(kind)),
        }
    }

    //= spec/recovery.md#r-9-2-puts-and-deletes
    //# A reader MUST report corruption when a put, delete or relocated put names a version by another value
    //# than its key has by then, names one where its key has none, or names none where it has one.
    /// Carries out a put, a delete, or the move of a version.
    fn document(
        &mut self,
        place: RecordPlace,
        documents: &Documents,
        key: KeyRef<'_>,
        record: &Record<'_>,
    ) -> Result<()> {
        if record.kind == Kind::Delete && seeded::is_on(Bug::DeletesNotReplayed) {
            return Ok(());
        }
        let entry = Entry::of(record, place.address);
        let new = (record.kind != Kind::Delete).then_some((entry, record.len as u32));
        let before = record.replaces.and_then(|replaced| Entry::from_value(replaced.value));
        if documents.targets().is_some() && record.own_lsn.is_none() {
            self.changed.entry(documents.id).or_default().entry(key.to_key()).or_insert(before);
        }
        let before = before.map(|entry| (entry, Birth::At(entry.address())));
        let (at, largest_before) = (place.address, documents.largest_id());
        let of = OfDocument { documents, key, at, before, new, largest_before };
        let agrees = self.fold.apply(Effect::Document(of));
        for (sequence, count) in record.replaces.into_iter().flat_map(Replaced::ended) {
            self.fold.apply(Effect::EndChunks(documents.id, sequence, count));
        }
        if agrees || seeded::is_on(Bug::ReplacedNotCompared) {
            return Ok(());
        }
        Err(place.broken("R-9.2", "a record names another version than its document has"))
    }
}

//= spec/format.md#f-6-3-kinds
//# A reader MUST refuse a frame that is to be replayed and holds a record of a kind below 128 that it does
//# not know.
//= spec/versions.md#c-2-4-refused-is-not-corrupt
//# A reader that refuses because of something it does not know MUST say that a newer version wrote it, and
//# not that the file is corrupt.
/// A record that this version does not know, and may not skip (spec: F-6.3).
fn refused(kind: u8) -> Error {
    newer(u64::from(kind))
}
