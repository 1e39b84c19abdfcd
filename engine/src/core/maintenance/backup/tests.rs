//! What is held for a backup, and what its slots say.

use std::ops::ControlFlow;

use super::super::super::Core;
use super::hold::unusable;
use super::*;
use crate::core::Expect;
use crate::core::Purpose;
use crate::document::KeyRef;
use crate::format::superblock::SLOT_OFFSETS;
use crate::format::superblock::Superblock;
use crate::options::{Durability, Options};
use crate::recovery::{Opened, open_slots};
use crate::storage::{FailStop, MemoryStorage, Storage};
use crate::sync::Arc;

fn store() -> Core {
    let options = Options::new().sector(64).segment_bytes(512);
    let core = Core::open(Box::new(MemoryStorage::new()), &options).expect("memory refuses nothing");
    for key in 0..60 {
        let mut writer = core.writer().expect("it is opened for writing");
        writer.begin().expect("memory refuses nothing");
        writer.txn.put("a", KeyRef::Int(key), Expect::Anything, &[0xA0]).expect("it is sound");
        writer.commit(Durability::Buffered).expect("memory refuses nothing");
    }
    core
}

#[test]
fn places_are_held_back_until_the_last_backup_has_gone() {
    let core = store();
    let writer = || core.writer().expect("it is opened for writing");
    let held = || {
        let work = &writer().work;
        (work.backups, work.held_back.clone())
    };
    let release = || {
        let place = writer().appender.free.take_for_good().expect("there are more");
        writer().release(vec![place]);
        place
    };
    let is_free = |place: u32| {
        let free = &writer().appender.free;
        free.within(place + 1) > free.within(place)
    };
    writer().budget.is_stale = false;
    assert!(is_free(release()), "nobody reads it");
    assert!(writer().budget.is_stale);
    let first = core.begin_backup().expect("memory refuses nothing");
    let second = core.begin_backup().expect("memory refuses nothing");
    let places = [release(), release()];
    assert_eq!(held(), (2, places.to_vec()));
    drop(first);
    assert_eq!(held(), (1, places.to_vec()));
    assert!(places.iter().all(|place| !is_free(*place)));
    drop(second);
    assert_eq!(held(), (0, vec![]));
    assert!(places.iter().all(|place| is_free(*place)));
}

#[test]
fn the_slots_of_a_copy_say_what_is_in_it_and_not_what_those_of_the_store_say() {
    let core = store();
    core.checkpoint(Purpose::Opening).expect("there is room");
    let mut hold = core.begin_backup().expect("memory refuses nothing");
    let (lsn, file_len) = (hold.contents.lsn, hold.contents.file_len);
    // As where a store was closed, and has grown since.
    (hold.slot.clean, hold.slot.durable_lsn, hold.slot.file_len) =
        (true, crate::format::Lsn(1), 16_384 + 512);
    let destination = Arc::new(MemoryStorage::new());
    let mut told = Vec::new();
    let report = copy_to(hold, &destination, None, |progress| {
        told.push((progress.bytes_done, progress.bytes_total));
        ControlFlow::Continue(())
    });
    let report = report.expect("memory refuses nothing");
    assert_eq!((report.lsn, report.file_bytes, report.documents), (lsn.0, file_len, 60));
    let total = told[0].1;
    assert!(told.is_sorted_by(|one, next| one.0 < next.0 && one.1 == next.1), "{told:?}");
    assert!(told.len() > 3 && told[told.len() - 1].0 == total && total >= report.bytes_copied);
    for offset in SLOT_OFFSETS {
        // The other one is taken away.
        let storage = MemoryStorage::new();
        storage.set_len(file_len).expect("memory refuses nothing");
        let mut bytes = vec![0; file_len as usize];
        destination.read_at(0, &mut bytes).expect("memory can be read");
        bytes[SLOT_OFFSETS[usize::from(offset == SLOT_OFFSETS[0])] as usize..][..512].fill(0);
        storage.write_at(0, &bytes).expect("memory refuses nothing");
        let opened = open_slots(&FailStop::new(Box::new(storage)), core.shared.log.geometry);
        let Ok(Opened::Store { slot, .. }) = opened else { panic!("the slot at {offset} is none") };
        assert_eq!((slot.clean, slot.durable_lsn, slot.file_len), (false, lsn, file_len));
        assert_eq!(slot.generation, u64::from(offset != slot_of(0)));
    }
}

/// A copy of the store as it is now.
fn copy(core: &Core) -> Arc<MemoryStorage> {
    let destination = Arc::new(MemoryStorage::new());
    let hold = core.begin_backup().expect("memory refuses nothing");
    copy_to(hold, &destination, None, |_| ControlFlow::Continue(())).expect("memory refuses nothing");
    destination
}

/// The newest slot of a store.
fn slot(storage: &Arc<MemoryStorage>, core: &Core) -> Superblock {
    let opened = open_slots(&FailStop::new(Box::new(Arc::clone(storage))), core.shared.log.geometry);
    let Ok(Opened::Store { slot, .. }) = opened else { panic!("it is a store") };
    *slot
}

// spec: P-10.2
#[test]
fn a_copy_names_a_second_checkpoint_where_that_is_older_and_else_the_one_twice() {
    let core = store();
    core.checkpoint(Purpose::Opening).expect("there is room");
    core.checkpoint(Purpose::Opening).expect("there is room");
    let [newest, before] = core.writer().expect("it is opened for writing").superblock.checkpoints;
    assert!(newest != before && newest.map(|named| named.lsn) == before.map(|named| named.lsn));
    assert_eq!(slot(&copy(&core), &core).checkpoints, [newest; 2], "of one commit, neither is older");
    let mut writer = core.writer().expect("it is opened for writing");
    writer.begin().expect("memory refuses nothing");
    writer.txn.put("a", KeyRef::Int(60), Expect::Anything, &[0xA0]).expect("it is sound");
    writer.commit(Durability::Buffered).expect("memory refuses nothing");
    drop(writer);
    core.checkpoint(Purpose::Opening).expect("there is room");
    let named = core.writer().expect("it is opened for writing").superblock.checkpoints;
    assert_eq!(named[1], newest);
    assert_eq!(slot(&copy(&core), &core).checkpoints, named);
}

// spec: P-10.4
#[test]
fn a_backup_of_another_lineage_is_refused_though_its_seal_fits() {
    let core = store();
    let earlier = copy(&core);
    let of = core.writer().expect("it is opened for writing").superblock.clone();
    let sound = slot(&earlier, &core);
    let open = |slot: &Superblock| {
        let mut slot =
            Superblock { instance: earlier::sealed(&slot.instance, &of.instance, slot), ..slot.clone() };
        for generation in 0..2 {
            slot.generation = generation;
            earlier.write_at(SLOT_OFFSETS[slot.slot()], &slot.encode()).expect("memory refuses nothing");
        }
        let storage = FailStop::new(Box::new(Arc::clone(&earlier)));
        earlier::Earlier::open(&storage, &of, &core.shared.options)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(open(&sound), Ok(()));
    let mut lineage = sound.lineage;
    lineage[0] ^= 1;
    assert_eq!(open(&Superblock { lineage, ..sound.clone() }), Err(unusable().to_string()));
}

/// Where the slot of a generation stands.
fn slot_of(generation: usize) -> u64 {
    SLOT_OFFSETS[generation % 2]
}
