//! Opening: from a storage to a store that answers (spec: ).

use crate::cache::{Cache, SegmentTable};
use crate::error::{Error, Result};
use crate::format::superblock::{FORMAT_MAJOR, SLOT_OFFSETS, Superblock};
use crate::format::{Lineage, LogAddress};
use crate::index::State;
use crate::log::{Appender, Log};
use crate::options::Options;
use crate::recovery::{self, Extent, File, Opened, OtherSlot, Plan, Recovered};
use crate::seeded::{self, Bug};
use crate::storage::{FailStop, Storage};
use crate::sync::{Arc, read};
use crate::txn::Visibility;

use super::feeds::Feeds;
use super::leaves::Leaves;
use super::opening::Opening;
use super::space_budget::Share;
use super::writer_lock::WriterLock;
use super::{Core, Shared, Writer};

/// No slot of a higher generation was written while a store was created.
const CREATION_GENERATION: u64 = 1;

impl Core {
    //= spec/format.md#f-3-4-versions-and-features
    //# A reader MUST NOT write to a file whose read-only-compatible mask has a bit that it does not know.
    //= spec/media.md#m-2-4-name
    //# A store MUST sync the directory of a file that it has created before it acknowledges the first commit.
    //= spec/media.md#m-3-5-reopening
    //# After a failed sync a store MUST decide what is durable by opening the file anew, and make what it
    //# finds there durable before it answers from it; what the cache happened to show before proves nothing.
    //= spec/recovery.md#r-4-3-corrupt
    //# A writer MUST NOT change a file that the table calls corrupt.
    //= spec/recovery.md#r-5-1-no-valid-slot
    //# A read-only open MUST report that it is incomplete; a writer MAY create the store anew.
    //= spec/recovery.md#r-5-3-sync-before-answering
    //# After the decision and before it answers any call, a reader MUST sync the file, where the system
    //# allows it to.
    //= spec/recovery.md#r-5-3-sync-before-answering
    //# A read-only open MUST NOT write.
    //= spec/recovery.md#r-5-4-new-incarnation
    //# Where a slot was invalid, a writer MUST do this at opening.
    //= spec/recovery.md#r-5-6-repeatable
    //# A crash at any step of opening MUST leave a file from which recovery gives the same state.
    //= spec/recovery.md#r-6-1-order
    //# A writer MUST NOT return from creation before the last of these.
    //= spec/semantics.md#s-6-7-what-opening-found
    //# Once a store is open, every commit that opening found MUST survive a power cut.
    //= spec/versions.md#c-2-4-refused-is-not-corrupt
    //# A reader MUST NOT change a file that it refuses.
    /// Opens the store on `storage`, or creates it there.
    pub(crate) fn open(storage: Box<dyn Storage>, options: &Options) -> Result<Core> {
        options.validate()?;
        let storage = FailStop::new(storage);
        let (slot, other) = match recovery::open_slots(&storage, options.geometry()?)? {
            Opened::Store { slot, other } => (*slot, other),
            Opened::Unfinished if options.read_only || !options.create => return Err(Error::Incomplete),
            Opened::Unfinished => {
                let (lineage, instance) = random_ids(options.seed);
                let template = Superblock { instance, ..Superblock::new(options.geometry()?, lineage) };
                (recovery::create(&storage, options.geometry()?, &template)?, OtherSlot::Valid)
            }
        };
        if slot.read_only() && !options.read_only && !seeded::is_on(Bug::ReadOnlyFeatureIgnored) {
            let unknown_features = slot.read_only_compatible;
            return Err(Error::NewerFormat { major: FORMAT_MAJOR, minor: slot.minor, unknown_features });
        }
        if other != OtherSlot::Valid && seeded::is_on(Bug::MendedBeforeDecided) {
            let mended = Superblock { generation: slot.generation + 1, ..slot.clone() };
            storage.write_all_at(SLOT_OFFSETS[mended.slot()], &mended.encode())?;
        }
        let segments = SegmentTable::new(slot.geometry);
        let extent = if options.verify_index { Extent::Whole } else { Extent::Root };
        let (read_unit, layout) = (options.check.read_unit, options.layout());
        let plan = Plan { read_unit, layout, extent };
        let mut recovered = recovery::recover(File::new(&storage, &slot)?, &segments, plan)?;
        // spec. What is answered from now on must not be lost by a crash to come.
        let synced = if seeded::is_on(Bug::RecoveryNotSynced) { Ok(()) } else { storage.sync() };
        if !options.read_only {
            synced?;
            if slot.generation <= CREATION_GENERATION && !seeded::is_on(Bug::DirectoryNotSynced) {
                // spec. The last step of a creation, of this one or of one that was killed before it.
                storage.sync_directory()?;
            }
        }
        let (changed, last_id) = (std::mem::take(&mut recovered.replay.changed), recovered.replay.last_id);
        let core = assemble(storage, segments, slot, recovered, options)?;
        if seeded::is_on(Bug::IdsFromLiveDocuments) {
            core.shared.read_everything()?;
            core.shared.namings().iter().for_each(|naming| naming.documents.forget_deleted_ids());
        }
        core.shared.catch_up(&changed, last_id)?;
        core.shared.note_bytes();
        if other != OtherSlot::Valid && !options.read_only && !seeded::is_on(Bug::InvalidSlotNotMended) {
            // spec. A slot that is not valid is written at once.
            core.writer()?.take_incarnation(Share::Reserve)?;
        }
        Ok(core)
    }
}

/// The store whose file was read.
pub(crate) fn assemble(
    storage: FailStop,
    segments: SegmentTable,
    slot: Superblock,
    recovered: Recovered,
    options: &Options,
) -> Result<Core> {
    let Recovered { end, highest_incarnation, replay, free, checkpoints, .. } = recovered;
    for naming in read(&replay.catalog).current() {
        naming.documents.set_len(naming.documents.newest_len(), LogAddress(0));
    }
    let opening = Opening::new(slot.clone(), end.lsn, checkpoints.sound_position());
    let geometry = slot.geometry;
    let newest = checkpoints.sound().map(|held| held.reference);
    let since = newest.map_or(LogAddress(0), |newest| newest.end(geometry));
    let address = geometry.address(end.segment.sequence, end.offset);
    let cache_bytes = options.cache_bytes.unwrap_or_else(crate::storage::default_cache_bytes);
    let mut log = Log::new(storage, geometry, address, Cache::new(cache_bytes));
    log.segments = segments;
    load_tail(&log, &end.segment, address)?;
    let visible = State { lsn: end.lsn, address };
    let file_len = log.storage.len()?;
    let appender = Appender::new(geometry, slot.lineage, end, free, visible.lsn, options.check.count_max);
    let found = (replay.accounts, checkpoints);
    let shared = Arc::new(Shared {
        log,
        catalog: replay.catalog,
        visibility: Arc::new(Visibility::new(visible)),
        feeds: Feeds::default(),
        options: options.clone(),
        opening,
        leaves: options.index_bytes.map(|bytes| Arc::new(Leaves::new(bytes, newest, since))),
    });
    let writer = Writer::new(Arc::clone(&shared), appender, found, slot, highest_incarnation, file_len);
    let space_at_opening = writer.space();
    let writer = (!options.read_only).then(|| WriterLock::new(writer));
    Ok(Core { shared, writer, space_at_opening })
}

/// The block in which the log ends is not full: it belongs to the tail.
fn load_tail(log: &Log, segment: &Arc<crate::cache::Segment>, end: LogAddress) -> Result<()> {
    let block_bytes = log.block_bytes() as u64;
    let start = LogAddress(end.0 / block_bytes * block_bytes);
    if start == end {
        return Ok(());
    }
    let (_, offset) = log.geometry.split(start);
    let at = log.geometry.segment_offset(segment.physical) + u64::from(offset);
    let bytes = log.storage.read_up_to(at, (end.0 - start.0) as usize)?;
    log.tail.put(segment, start, &bytes, &[]);
    Ok(())
}

/// Two ids. The standard library's hasher keys are the operating system's randomness, without a dependency.
pub(super) fn random_ids(seed: Option<u64>) -> (Lineage, [u8; 16]) {
    use std::hash::{BuildHasher, RandomState};
    let state = RandomState::new();
    let word = |n: u64| match seed {
        // SplitMix64 (Steele, Lea and Flood, 2014).
        Some(seed) => {
            let mut z = seed.wrapping_add((n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        }
        None => state.hash_one(n),
    };
    let id = |n: u64| {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&word(n).to_le_bytes());
        id[8..].copy_from_slice(&word(n + 1).to_le_bytes());
        id
    };
    (id(0), id(2))
}
