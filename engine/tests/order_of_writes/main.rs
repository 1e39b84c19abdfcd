//! In which order a store writes and syncs. A crash shows a wrong order only where it strikes at the right moment; here the calls
//! themselves are looked at.

mod recorder;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use holotype::storage::Storage;
use holotype::{Background, Db, Durability, Options, Value, doc};

use recorder::{Event, Recorder, SEGMENTS_START, SLOTS, Slot, file_after};

const SECTOR: u64 = 64;
const SEGMENT_BYTES: u64 = 512;

fn options() -> Options {
    let sizes = Options::new().sector(SECTOR as u32).segment_bytes(SEGMENT_BYTES as u32);
    sizes.seed(3).background(Background::Manual).checkpoint_bytes(2048)
}

fn open(disk: &Arc<Recorder>) -> Db {
    let db = Db::open_on(Arc::clone(disk), &options()).expect("nothing is wrong with the file");
    disk.acknowledge();
    db
}

fn put(disk: &Recorder, db: &Db, key: i64, len: usize) {
    let document = doc! { "n": key, "p": Value::Bytes(vec![7; len]) };
    db.collection("a").put(key, document).expect("there is room");
    disk.acknowledge();
}

/// Puts and nothing else, in two lives of a store.
fn of_puts() -> Vec<Event> {
    let disk = Recorder::new();
    for life in 0..2 {
        let db = open(&disk);
        for key in 0..30 {
            let class = [Durability::Buffered, Durability::Written][key as usize % 2];
            db.collection("a").with_durability(class).put(100 + key, doc! { "n": life }).expect("room");
            put(&disk, &db, key, 13 * key as usize);
        }
        db.close().expect("nothing hinders it");
        disk.acknowledge();
    }
    disk.events()
}

/// A store that grows, takes checkpoints, cleans and reuses segments, and shrinks.
fn of_all() -> Vec<Event> {
    let disk = Recorder::new();
    for _ in 0..2 {
        let db = open(&disk);
        for round in 0..4 {
            for key in 0..25 {
                put(&disk, &db, key, 20 + 10 * round);
                db.maintain().expect("nothing hinders it");
            }
        }
        for key in 3..25 {
            db.collection("a").delete(key).expect("nothing hinders it");
        }
        db.compact().expect("nothing hinders it");
        put(&disk, &db, 1, 30);
        db.close().expect("nothing hinders it");
    }
    disk.events()
}

/// A life in which commits, a growth of the file and the close come between a slot that names a checkpoint and its sync.
#[cfg(feature = "testing")]
fn of_a_slot_that_others_overtake() -> Vec<Event> {
    let disk = Recorder::new();
    let db = open(&disk);
    for key in 0..10 {
        put(&disk, &db, key, 20);
    }
    let sealed = |db: &Db| {
        let checkpoint = db.begin_checkpoint().expect("nothing hinders it").expect("there are commits");
        checkpoint.seal().expect("nothing hinders it")
    };
    let checkpoint = sealed(&db);
    for _ in 0..2 {
        checkpoint.name().expect("nothing hinders it");
        let before = db.stats().file_bytes;
        let mut key = 100;
        while db.stats().file_bytes == before {
            put(&disk, &db, key, 200);
            key += 1;
        }
        checkpoint.sync().expect("nothing hinders it");
    }
    checkpoint.publish().expect("nothing hinders it");
    let checkpoint = sealed(&db);
    checkpoint.name().expect("nothing hinders it");
    db.close().expect("nothing hinders it");
    disk.events()
}

#[cfg(not(feature = "testing"))]
fn of_a_slot_that_others_overtake() -> Vec<Event> {
    Vec::new()
}

fn slots(events: &[Event]) -> Vec<(usize, Slot<'_>)> {
    events.iter().enumerate().filter_map(|(at, event)| Some((at, event.slot()?))).collect()
}

/// How much of `events` was synced before the one at `at`.
fn synced_before(events: &[Event], at: usize) -> &[Event] {
    let last = events[..at].iter().rposition(|event| *event == Event::Sync).unwrap_or(0);
    &events[..last]
}

//= spec/media.md#m-2-4-name
//# A store MUST sync the directory of a file that it has created before it acknowledges the first commit.
//= spec/recovery.md#r-6-1-order
//# A writer MUST NOT return from creation before the last of these.
#[test]
fn a_creation_ends_with_a_sync_of_the_directory() {
    let disk = Recorder::new();
    drop(Db::open_on(Arc::clone(&disk), &options()).expect("a new store"));
    let events = disk.events();
    let at = |what: &dyn Fn(&Event) -> bool| events.iter().position(what).expect("it is a step");
    let header = at(&|event| event.in_segments().is_some_and(|(_, bytes)| bytes.starts_with(b"HLOG")));
    let (a, b) = (slots(&events)[0].0, slots(&events)[1].0);
    let steps = [at(&|event| matches!(event, Event::SetLen { .. })), header, a, b];
    assert!(steps.is_sorted(), "{steps:?}");
    for step in [header, a, b] {
        assert_eq!(events[step + 1], Event::Sync, "behind event {step}");
    }
    let directory = at(&|event| *event == Event::SyncDirectory);
    assert!(directory > b + 1);
}

//= spec/format.md#f-3-5-writing-a-slot
//# A writer MUST write only the slot that is not the newest valid one, with a generation one higher.
//= spec/format.md#f-3-5-writing-a-slot
//# A writer MUST complete a sync between any two slot writes.
#[test]
fn slots_are_written_in_turn_with_a_sync_between_any_two() {
    let mut pairs = 0;
    for events in [of_all(), of_a_slot_that_others_overtake()] {
        for pair in slots(&events).windows(2) {
            let [(before, first), (at, second)] = [pair[0], pair[1]];
            assert_ne!(first.index, second.index, "event {at}");
            assert_eq!(second.generation(), first.generation() + 1, "event {at}");
            assert!(events[before..at].contains(&Event::Sync), "event {at}");
            pairs += 1;
        }
    }
    assert!(pairs > 20);
}

//= spec/format.md#f-3-5-writing-a-slot
//# Before it writes a slot, a writer MUST read the other one, and where that is not as it was written,
//# write it anew from what it knows, and sync.
#[test]
fn a_slot_that_was_damaged_meanwhile_is_written_anew_before_the_other() {
    let disk = Recorder::new();
    let db = open(&disk);
    put(&disk, &db, 1, 20);
    let before = disk.take();
    let (_, newest) = *slots(&before).last().expect("a slot is written at creation");
    disk.damage(SLOTS[newest.index] + 360);
    db.checkpoint().expect("nothing hinders it");
    let events = disk.events();
    let written = slots(&events);
    let [(anew, first), (at, second)] = written[..2] else { panic!("a checkpoint writes two slots") };
    assert_eq!(first.index, newest.index);
    assert_eq!((first.generation(), second.generation()), (newest.generation(), newest.generation() + 1));
    assert!(events[anew..at].contains(&Event::Sync));
    // The power cut takes the other slot with it.
    let file = file_after(&[&before, &events[..at]].concat());
    file.write_at(SLOTS[second.index] + 360, &[0xFF]).expect("memory takes all");
    let db = Db::open_on(file, &options()).expect("there is one slot");
    assert_eq!(db.collection("a").len().expect("it is there"), 1);
}

//= spec/format.md#f-3-5-writing-a-slot
//# A writer MUST set a slot's durable LSN to one whose sync has already returned success before the slot is
//# written, and MUST NOT let it or the incarnation be lower than in the newest valid slot.
#[test]
fn a_slot_states_no_more_than_was_durable_when_it_was_written() {
    let events = of_all();
    let mut newest = (0, 0);
    for (at, slot) in slots(&events).into_iter().skip(2) {
        let stated = (slot.durable_lsn(), slot.incarnation());
        assert!(stated.0 >= newest.0 && stated.1 >= newest.1, "event {at}");
        newest = stated;
        // Of what came before, only what was synced is there; what the slot says of it must hold.
        let file = file_after(&[synced_before(&events, at), &events[at..=at]].concat());
        let db =
            Db::open_on(file, &options().read_only(true)).unwrap_or_else(|error| panic!("{at}: {error}"));
        let report = db.verify(true).expect("it can be read");
        assert!(report.is_clean(), "event {at}: {:?}", report.problems);
        assert!(db.stats().lsn >= slot.durable_lsn(), "event {at}");
    }
}

//= spec/format.md#f-2-4-growth
//# A writer MUST sync the growth, then write its length into a superblock slot as `file_len`, then sync
//# again, before it acknowledges as durable any commit that lies in the grown range.
//= spec/recovery.md#r-7-2-after-growth
//# When the file has grown since the last slot was written, a writer MUST first sync the growth, and write
//# and sync a slot with the new `file_len`; only a sync that begins after that may acknowledge commits
//# that lie in the growth.
#[test]
fn a_growth_is_synced_then_named_by_a_slot_before_a_commit_in_it_is_acknowledged() {
    let growths: usize =
        [of_all(), of_a_slot_that_others_overtake()].iter().map(|events| growths_in_order(events)).sum();
    assert!(growths > 5);
}

/// How many there were; each was synced, then named, before a commit in it was acknowledged.
fn growths_in_order(events: &[Event]) -> usize {
    let (mut end, mut grown, mut named, mut growths) = (0, 0, None, 0);
    for (at, event) in events.iter().enumerate() {
        if let Event::SetLen { from, to } = event
            && to > from
        {
            grown = at;
            growths += 1;
        }
        if let Some((offset, bytes)) = event.in_segments()
            && let Some(last) = bytes.iter().rposition(|byte| *byte != 0)
        {
            end = end.max(offset + last as u64 + 1);
        }
        if let Some(slot) = event.slot() {
            named = Some((at, slot.file_len()));
            let is_new = events[grown..at].iter().filter(|event| event.slot().is_some()).count() == 0;
            assert!(!is_new || events[grown..at].contains(&Event::Sync), "event {at}: not synced before");
        }
        if *event == Event::Acknowledged {
            let (slot, len) = named.expect("a slot is written at creation");
            assert!(len >= end, "event {at}: the file is in use up to {end}, and a slot says {len}");
            assert!(events[slot..at].contains(&Event::Sync), "event {at}: the slot is not synced");
        }
        if let Event::SetLen { from, to } = event
            && to < from
        {
            end = end.min(*to);
        }
    }
    growths
}

//= spec/format.md#f-2-4-growth
//# A writer MUST fill a grown range with zeros before it places a frame or an index record in it.
//= spec/space.md#p-5-1-what-is-kept
//# The reserve MUST be allocated: zeros written and synced, not a hole.
//= spec/space.md#p-5-1-what-is-kept
//# A writer MUST NOT place a commit that puts a document before the file is long enough for the reserve that
//# is wanted behind that commit.
#[test]
fn a_grown_range_is_filled_with_zeros_before_anything_is_placed_there() {
    let events = of_all();
    let mut growths = 0;
    for (at, event) in events.iter().enumerate() {
        let Event::SetLen { from, to } = event else { continue };
        if to <= from {
            continue;
        }
        growths += 1;
        let (start, mut filled) = ((*from).max(SLOTS[1] + 4096), (*from).max(SLOTS[1] + 4096));
        for later in &events[at + 1..] {
            let Event::Write { at: offset, bytes } = later else { break };
            if *offset != filled || bytes.iter().any(|byte| *byte != 0) {
                break;
            }
            filled += bytes.len() as u64;
        }
        assert!(filled >= *to || *from == 0, "event {at}: zeros from {start} to {filled}, and not to {to}");
    }
    assert!(growths > 5);
}

//= spec/format.md#f-2-5-shrinking
//# To shrink a file, a writer MUST lower `file_len` in both slots, with a sync after each, before it
//# truncates.
#[test]
fn both_slots_name_the_lower_length_before_the_file_is_cut() {
    let events = of_all();
    let mut cuts = 0;
    for (at, event) in events.iter().enumerate() {
        let Event::SetLen { from, to } = event else { continue };
        if to >= from {
            continue;
        }
        cuts += 1;
        let before = slots(&events[..at]);
        let [(_, first), (last, second)] = before[before.len() - 2..] else { panic!("there are two") };
        assert_eq!((first.file_len(), second.file_len()), (*to, *to), "event {at}");
        assert!(events[last..at].contains(&Event::Sync), "event {at}");
    }
    assert!(cuts > 0);
}

//= spec/format.md#f-1-6-sectors
//# A writer MUST NOT write again to a sector of a log segment that holds bytes of an acknowledged commit.
//= spec/format.md#f-5-3-hand-over
//# The first frame placed after a hand-over MUST begin at a sector boundary.
#[test]
fn no_sector_that_holds_an_acknowledged_commit_is_written_again() {
    let (mut placed, mut acknowledged) = (BTreeSet::new(), BTreeSet::new());
    for (at, event) in of_puts().into_iter().enumerate() {
        if event == Event::Acknowledged {
            acknowledged.append(&mut placed);
        }
        let Some((offset, bytes)) = event.in_segments() else { continue };
        for (index, sector) in bytes.chunks(SECTOR as usize).enumerate() {
            let number = offset / SECTOR + index as u64;
            assert!(!acknowledged.contains(&number), "event {at}: sector {number} is written again");
            if sector.iter().any(|byte| *byte != 0) {
                placed.insert(number);
            }
        }
    }
    assert!(acknowledged.len() > 100);
}

/// The physical indexes that a segment header reserves.
fn reserved(header: &[u8]) -> [Option<u64>; 2] {
    [36, 40].map(|at| {
        let index = u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
        (index != u32::MAX).then_some(u64::from(index))
    })
}

//= spec/format.md#f-4-3-chain
//# The successor of a segment MUST be opened at the index named as `next`, and its own `next` MUST be the
//# predecessor's `after`, where those are not none.
//= spec/format.md#f-4-3-chain
//# A reserved segment MUST NOT be used for anything else until the log has passed it.
//= spec/space.md#p-5-1-what-is-kept
//# A writer that reserves a successor (F-4.3) beyond the end of the file MUST let the file grow up to it
//# before the frame that opens the segment is handed over, or, where the disk has no room, reserve none.
#[test]
fn each_segment_is_opened_where_its_predecessors_reserved_it() {
    let events = of_all();
    let mut headers: BTreeMap<u64, (u64, [Option<u64>; 2])> = BTreeMap::new();
    let mut len = 0;
    for (at, event) in events.iter().enumerate() {
        if let Event::SetLen { to, .. } = event {
            len = *to;
        }
        let Some((offset, bytes)) = event.in_segments() else { continue };
        if bytes.iter().all(|byte| *byte == 0) {
            continue;
        }
        let physical = (offset - SEGMENTS_START) / SEGMENT_BYTES;
        let last = headers.last_key_value().map(|(sequence, header)| (*sequence, *header));
        if !bytes.starts_with(b"HLOG") {
            let (_, (_, reserved)) = last.expect("the log begins first");
            assert!(!reserved.contains(&Some(physical)), "event {at}: {physical} is reserved");
            continue;
        }
        let sequence = u64::from_le_bytes(bytes[8..16].try_into().expect("eight bytes"));
        if let Some((before, (_, [next, after]))) = last {
            assert_eq!(sequence, before + 1, "event {at}");
            assert!(next.is_none_or(|next| next == physical), "event {at}: at {physical}, not {next:?}");
            let own = reserved(bytes)[0];
            assert!(after.is_none() || own == after, "event {at}: next is {own:?}, not {after:?}");
            for place in reserved(bytes).into_iter().flatten() {
                let end = SEGMENTS_START + (place + 1) * SEGMENT_BYTES;
                assert!(end <= len, "event {at}: {place} is reserved in a file of {len} bytes");
            }
        }
        headers.insert(sequence, (physical, reserved(bytes)));
    }
    let places: BTreeSet<_> = headers.values().map(|(physical, _)| physical).collect();
    assert!(headers.len() > 20 && places.len() < headers.len(), "places are used again");
}

//= spec/format.md#f-8-8-completeness
//# A writer MUST sync all records of a checkpoint, and every log byte up to its LSN, before it writes a slot
//# that names it.
//= spec/space.md#p-2-4-publication
//# The slots' durable LSN MUST be at or above c.
#[test]
fn a_checkpoint_is_synced_before_a_slot_names_it_and_named_by_both_slots() {
    let events = of_all();
    let slots = slots(&events);
    let mut taken = 0;
    for (index, (at, slot)) in slots.iter().enumerate().skip(1) {
        if slot.checkpoints()[0] == slots[index - 1].1.checkpoints()[0] {
            continue;
        }
        taken += 1;
        let page = events[..*at].iter().rposition(|event| event.in_segments().is_some());
        let page = page.expect("a checkpoint has pages");
        assert!(events[page..*at].contains(&Event::Sync), "event {at}: pages or log are not synced");
        assert!(slot.durable_lsn() >= slot.checkpoints()[0], "event {at}");
        let other = slots[index + 1].1;
        assert_eq!(other.checkpoints(), slot.checkpoints(), "behind event {at}");
        assert!(other.durable_lsn() >= slot.checkpoints()[0], "behind event {at}");
    }
    assert!(taken > 3);
}

//= spec/media.md#m-3-5-reopening
//# After a failed sync a store MUST decide what is durable by opening the file anew, and make what it finds
//# there durable before it answers from it; what the cache happened to show before proves nothing.
//= spec/recovery.md#r-5-3-sync-before-answering
//# After the decision and before it answers any call, a reader MUST sync the file, where the system allows it
//# to.
#[test]
fn what_recovery_found_is_synced_before_it_is_answered_with() {
    let disk = Recorder::new();
    put(&disk, &open(&disk), 1, 10);
    disk.take();
    let db = Db::open_on(Arc::clone(&disk), &options()).expect("nothing is wrong with the file");
    assert_eq!(disk.take(), [Event::Sync]);
    assert!(db.collection("a").contains(1).expect("it is there"));
}

//= spec/recovery.md#r-5-4-new-incarnation
//# A writer MUST write that incarnation into the slot that is not the newest valid one, with L as the durable
//# LSN, and sync, before it writes any frame of that incarnation.
//= spec/recovery.md#r-5-5-opening-frame
//# A writer MUST then place the opening frame, which names L and X, at the first sector boundary at or after
//# X, or as the first frame of the successor when no frame fits there, and sync, before it places any other
//# frame.
//= spec/recovery.md#r-8-1-what-holds-a-place
//# A writer MUST NOT give out any place before the slot of is durable: until then the older slot may
//# name a checkpoint that the newest does not.
#[test]
fn a_new_life_begins_with_its_slot_then_its_opening_frame_each_synced() {
    let disk = Recorder::new();
    put(&disk, &open(&disk), 1, 10);
    let db = open(&disk);
    let before = disk.take();
    let (_, last) = slots(&before).pop().expect("there are two");
    put(&disk, &db, 2, 10);
    let events = disk.take();
    let slot = events[0].slot().expect("the slot comes first");
    assert_eq!((slot.incarnation(), slot.generation()), (last.incarnation() + 1, last.generation() + 1));
    assert_ne!(slot.durable_lsn(), 0, "it names L");
    assert_eq!(events[1], Event::Sync);
    let (offset, frame) = events[2].in_segments().expect("the opening frame comes next");
    assert_eq!(offset % SECTOR, 0);
    // Header, and a record of the kind 7 behind it: L, and X, which is where the sector before ends at the latest.
    assert_eq!(frame[32 + 4], 7);
    let lsn = u64::from_le_bytes(frame[8..16].try_into().expect("eight bytes"));
    assert_eq!((lsn >> 32, lsn & 0xFFFF_FFFF), (u64::from(slot.incarnation()), 1));
    assert_eq!(events[3], Event::Sync);
    assert!(
        events[4].in_segments().is_some_and(|(offset, _)| offset % SECTOR == 0),
        "then the commit: {events:?}"
    );
    assert_eq!(events.len(), 7, "its sync, and the end of the call: {events:?}");
}

//= spec/recovery.md#r-8-1-what-holds-a-place
//# A writer MUST NOT give out any place before the slot of is durable: until then the older slot may
//# name a checkpoint that the newest does not.
#[test]
fn a_checkpoint_that_begins_a_life_comes_behind_the_slot_of_that_life() {
    let disk = Recorder::new();
    put(&disk, &open(&disk), 1, 10);
    let db = open(&disk);
    let before = disk.take();
    let (_, last) = slots(&before).pop().expect("there are two");
    db.checkpoint().expect("nothing hinders it");
    let events = disk.take();
    assert_eq!(events[0].slot().map(|slot| slot.incarnation()), Some(last.incarnation() + 1));
    assert_eq!(events[1], Event::Sync);
}

//= spec/recovery.md#r-7-4-a-new-incarnation-in-place
//# A writer MUST acknowledge what the first of these syncs covered only after the slot's sync.
#[cfg(feature = "testing")]
#[test]
fn what_a_new_incarnation_finds_unsynced_is_acknowledged_behind_its_slot() {
    let disk = Recorder::new();
    let db = Db::open_on(Arc::clone(&disk), &options().count_max(5)).expect("a new store");
    let (mut begun, mut incarnation) = (0, 0);
    for key in 0..12 {
        let tx = db.begin_write().expect("nobody else writes");
        tx.collection("a").put(key, doc! {}).expect("there is room");
        let ticket = tx.commit_deferred().expect("there is room");
        incarnation = slots(&disk.take()).last().map_or(incarnation, |(_, slot)| slot.incarnation());
        disk.wait_for(ticket);
        put(&disk, &db, 100 + key, 10);
        let events = disk.take();
        let acknowledged = events.iter().position(|event| *event == Event::Acknowledged);
        let slots = slots(&events);
        let Some((at, slot)) = slots.iter().find(|(_, slot)| slot.incarnation() > incarnation) else {
            continue;
        };
        (begun, incarnation) = (begun + 1, slot.incarnation());
        assert!(events[..*at].contains(&Event::Sync) && events[at + 1] == Event::Sync, "{events:?}");
        assert!(acknowledged > Some(at + 1), "{acknowledged:?}: {events:?}");
    }
    assert!(begun > 1, "{begun}");
}

#[cfg(feature = "seeded")]
#[test]
fn a_wrong_order_of_writes_goes_not_unnoticed() {
    use holotype::seeded::{Bug, assert_noticed};
    let checks: [(Bug, fn()); 8] = [
        (Bug::GrowthNotZeroed, a_grown_range_is_filled_with_zeros_before_anything_is_placed_there),
        (Bug::SlotNotReadBack, a_slot_that_was_damaged_meanwhile_is_written_anew_before_the_other),
        (Bug::SlotOverstated, a_slot_states_no_more_than_was_durable_when_it_was_written),
        (Bug::ReservationGivenOut, each_segment_is_opened_where_its_predecessors_reserved_it),
        (Bug::NextPassedOver, each_segment_is_opened_where_its_predecessors_reserved_it),
        (Bug::IncarnationSlotNotSynced, a_new_life_begins_with_its_slot_then_its_opening_frame_each_synced),
        (Bug::PlaceBeforeSlot, a_checkpoint_that_begins_a_life_comes_behind_the_slot_of_that_life),
        (Bug::SeenIsAcknowledged, what_a_new_incarnation_finds_unsynced_is_acknowledged_behind_its_slot),
    ];
    for (bug, check) in checks {
        assert_noticed(bug, check);
    }
}
