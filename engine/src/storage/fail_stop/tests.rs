//! What is no failure goes on, and what is one stops the handle (spec: M-3, M-4).

use super::*;
use crate::storage::sim::{Call, CallKind, FaultKind, FaultPlan, Level, Nth, SimDisk, SyncLoss};

fn fixture(plan: FaultPlan) -> (SimDisk, FailStop) {
    let disk = SimDisk::from_bytes(64, Level::Sectors, &[7; 256]);
    disk.set_faults(plan);
    disk.record_calls();
    (disk.clone(), FailStop::new(Box::new(disk)))
}

fn write(storage: &FailStop) -> Result<()> {
    storage.write_all_at(0, &[1; 128])
}

/// Every change is refused, naming the first failure, and a read still works.
fn assert_stopped(storage: &FailStop, cause: &str) {
    for refused in [write(storage), storage.set_len(9), storage.sync(), storage.sync_directory()] {
        match refused {
            Err(Error::Poisoned { cause: told }) => assert!(told.starts_with(cause), "{told}"),
            other => panic!("not refused: {other:?}"),
        }
    }
    assert!(storage.is_poisoned());
    assert_eq!(storage.read_full(192, &mut [0; 64]).unwrap(), 64);
    assert_eq!(storage.len().unwrap(), 256);
}

//= spec/media.md#m-4-1-interruptions-and-short-transfers
//= type=test
//# A store MUST repeat an interrupted call, and continue a read or write that moved fewer bytes than it was
//# asked to.
#[test]
fn short_and_interrupted_calls_are_carried_on_until_all_is_moved() {
    for kind in [FaultKind::Short, FaultKind::Interrupted] {
        let (_, storage) = fixture(
            FaultPlan::none().once(Nth::Of(CallKind::Read, 0), kind).once(Nth::Of(CallKind::Write, 0), kind),
        );
        write(&storage).unwrap();
        let mut bytes = [0; 256];
        assert_eq!(storage.read_full(0, &mut bytes).unwrap(), 256);
        assert_eq!((bytes[127], bytes[128]), (1, 7));
        let Calls { writes, written_bytes, .. } = &storage.calls;
        assert_eq!([writes, written_bytes].map(|count| count.load(Ordering::Relaxed)), [2, 128]);
    }
}

#[test]
fn every_method_survives_an_interruption() {
    let (disk, storage) = fixture(FaultPlan::none());
    let interrupted = |run: &dyn Fn() -> Result<()>| {
        disk.set_faults(FaultPlan::none().once(Nth::Call(0), FaultKind::Interrupted));
        run().unwrap();
        assert_eq!(disk.fault_hits(), 1);
    };
    interrupted(&|| storage.len().map(|len| assert_eq!(len, 256)));
    interrupted(&|| storage.set_len(300));
    interrupted(&|| storage.sync());
    interrupted(&|| storage.sync_directory());
    interrupted(&|| storage.probe(0, 64, 64, &|_, _| None).map(|answers| assert!(answers.is_empty())));
}

#[test]
fn short_calls_without_end_still_arrive() {
    let plan = FaultPlan::none().from(Nth::Call(0), FaultKind::Short);
    let (disk, storage) = fixture(plan);
    write(&storage).unwrap();
    assert_eq!(disk.bytes()[..128], [1; 128]);
    assert!(disk.fault_hits() >= 7);
}

#[test]
fn interruptions_without_end_are_a_failure_and_no_hang() {
    let (_, storage) = fixture(FaultPlan::none().from(Nth::Of(CallKind::Write, 0), FaultKind::Interrupted));
    assert!(matches!(write(&storage), Err(Error::Io { .. })));
    assert_stopped(&storage, "write of 128 bytes at offset 0 failed");
}

//= spec/media.md#m-4-2-writes-of-nothing
//= type=test
//# A store MUST treat a write that reports zero bytes as failed.
#[test]
fn a_write_of_nothing_is_a_failure() {
    let (_, storage) = fixture(FaultPlan::none().once(Nth::Of(CallKind::Write, 0), FaultKind::ZeroWrite));
    let error = write(&storage).unwrap_err();
    assert!(
        matches!(&error, Error::Io { source, .. } if source.kind() == io::ErrorKind::WriteZero),
        "{error:?}"
    );
    assert_stopped(&storage, "write of 128 bytes at offset 0 failed");
}

//= spec/media.md#m-4-3-failed-writes
//= type=test
//# After a write or a change of length that failed for any reason but M-4.4, a store MUST refuse further
//# writes as it does after a failed sync.
//= spec/media.md#m-4-5-reads
//= type=test
//# Reads MUST go on after a handle has stopped writing.
#[test]
fn a_failed_write_or_length_change_stops_every_later_change() {
    let (_, storage) = fixture(FaultPlan::none().once(Nth::Of(CallKind::Write, 0), FaultKind::Io));
    let error = write(&storage).unwrap_err();
    assert!(error.to_string().starts_with("write of 128 bytes at offset 0 failed"), "{error}");
    assert_stopped(&storage, "write of 128 bytes at offset 0 failed");

    let (_, storage) = fixture(FaultPlan::none().once(Nth::Of(CallKind::SetLen, 0), FaultKind::Io));
    assert!(matches!(storage.set_len(512), Err(Error::Io { .. })));
    assert_stopped(&storage, "change of the file's length to 512 failed");
}

//= spec/media.md#m-3-2-failure
//= type=test
//# After any error from a sync a store MUST refuse every further write, change of length and sync of that
//# handle.
#[test]
fn any_failed_sync_is_final() {
    for kind in [
        FaultKind::Io,
        FaultKind::StorageFull,
        FaultKind::Sync(SyncLoss::Kept),
        FaultKind::Sync(SyncLoss::Dropped),
    ] {
        let (disk, storage) = fixture(FaultPlan::none().once(Nth::Of(CallKind::Sync, 0), kind));
        write(&storage).unwrap();
        assert!(matches!(storage.sync(), Err(Error::Io { .. })), "{kind:?}");
        assert_stopped(&storage, "sync failed");
        assert_eq!(disk.calls().of(CallKind::Sync), 1, "a later sync is not even tried");
    }
    let (_, storage) = fixture(FaultPlan::none().once(Nth::Of(CallKind::SyncDirectory, 0), FaultKind::Io));
    assert!(matches!(storage.sync_directory(), Err(Error::Io { .. })));
    assert_stopped(&storage, "sync of the directory failed");
}

#[test]
fn a_failure_that_comes_late_stops_the_handle_when_it_comes() {
    let plan = FaultPlan::none().once(Nth::Of(CallKind::Sync, 0), FaultKind::Sync(SyncLoss::Late));
    let (_, storage) = fixture(plan);
    write(&storage).unwrap();
    storage.sync().unwrap();
    assert!(!storage.is_poisoned());
    assert!(matches!(storage.sync(), Err(Error::Io { .. })));
    assert_stopped(&storage, "sync failed");
}

//= spec/media.md#m-4-4-full-disk
//= type=test
//# When a write or an extension fails for want of room (ENOSPC, EDQUOT, EFBIG), a store MUST NOT stop:
//# nothing acknowledged is lost, reads go on, and writes work again once there is room.
#[test]
fn a_full_disk_stops_nothing() {
    let (disk, storage) = fixture(FaultPlan::none());
    disk.set_capacity(Some(256));
    let full = [storage.set_len(512), storage.write_all_at(200, &[2; 100]), storage.write_all_at(256, &[2])];
    for refused in full {
        assert!(matches!(refused, Err(Error::StorageFull { .. })), "{refused:?}");
    }
    write(&storage).unwrap();
    storage.sync().unwrap();
    disk.set_capacity(None);
    storage.write_all_at(256, &[2; 100]).unwrap();
    assert_eq!(storage.len().unwrap(), 356);
}

/// A storage whose writes fail in one way.
#[derive(Debug)]
struct Refusing(io::ErrorKind);

impl Storage for Refusing {
    fn len(&self) -> io::Result<u64> {
        Ok(0)
    }

    fn set_len(&self, _len: u64) -> io::Result<()> {
        Err(self.0.into())
    }

    fn read_at(&self, _offset: u64, _out: &mut [u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn write_at(&self, _offset: u64, _bytes: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn sync(&self) -> io::Result<()> {
        Err(self.0.into())
    }
}

//= spec/media.md#m-4-4-full-disk
//= type=test
//# When a write or an extension fails for want of room (ENOSPC, EDQUOT, EFBIG), a store MUST NOT stop:
//# nothing acknowledged is lost, reads go on, and writes work again once there is room.
#[test]
fn want_of_room_has_three_names() {
    use io::ErrorKind::{FileTooLarge, Other, PermissionDenied, QuotaExceeded, StorageFull};
    for (kind, is_full) in [
        (StorageFull, true),
        (QuotaExceeded, true),
        (FileTooLarge, true),
        (Other, false),
        (PermissionDenied, false),
    ] {
        let storage = FailStop::new(Box::new(Refusing(kind)));
        assert_eq!(matches!(storage.set_len(1), Err(Error::StorageFull { .. })), is_full, "{kind}");
        assert_eq!(storage.is_poisoned(), !is_full, "{kind}");
        let storage = FailStop::new(Box::new(Refusing(kind)));
        assert!(matches!(storage.sync(), Err(Error::Io { .. })));
        assert!(storage.is_poisoned(), "a sync that fails, even for want of room, is final");
    }
}

#[test]
fn a_failed_read_stops_nothing() {
    // spec: M-4.5
    let (_, storage) = fixture(FaultPlan::none().once(Nth::Of(CallKind::Read, 0), FaultKind::Io));
    let error = storage.read_full(64, &mut [0; 32]).unwrap_err();
    assert_eq!(error.to_string(), "read of 32 bytes at offset 64 failed: simulated I/O error");
    assert_eq!(storage.read_full(64, &mut [0; 32]).unwrap(), 32);
    write(&storage).unwrap();
}

#[test]
fn a_read_says_how_much_there_was() {
    let (_, storage) = fixture(FaultPlan::none());
    let mut bytes = [0; 100];
    assert_eq!(storage.read_full(200, &mut bytes).unwrap(), 56);
    assert_eq!((bytes[55], bytes[56]), (7, 0));
    assert_eq!(storage.read_full(256, &mut bytes).unwrap(), 0);
    assert_eq!(storage.read_full(1 << 40, &mut bytes).unwrap(), 0);
}

#[test]
fn the_first_cause_is_the_one_that_is_told() {
    let (_, storage) = fixture(FaultPlan::none());
    storage.poison("the first".into());
    storage.poison("the second".into());
    assert_stopped(&storage, "the first");
}

#[test]
fn a_copy_of_a_stopped_handle_is_stopped() {
    let (disk, storage) = fixture(FaultPlan::none());
    write(&storage).unwrap();
    let copy = storage.fork(Box::new(disk.fork()));
    copy.write_all_at(0, &[9]).unwrap();
    let writes = [&storage, &copy].map(|storage| storage.calls.writes.load(Ordering::Relaxed));
    assert_eq!(writes, [1, 2]);
    storage.poison("a failure".into());
    copy.check_writable().unwrap();
    assert_stopped(&storage.fork(Box::new(disk.fork())), "a failure");
}

#[test]
fn a_probe_of_plain_storage_asks_every_unit_up_to_the_end() {
    let storage = crate::storage::MemoryStorage::new();
    let len = PROBE_READ_LEN + 200;
    storage.write_at(0, &vec![1; len]).unwrap();
    let storage = FailStop::new(Box::new(storage));
    let asked = std::cell::RefCell::new(Vec::new());
    let look = |offset: u64, bytes: &[u8]| {
        asked.borrow_mut().push((offset, bytes.len()));
        (offset == 64).then_some([3, 4])
    };
    // A unit that does not divide what is read at a time.
    assert_eq!(storage.probe(64, 1 << 20, 96, &look).unwrap(), [[3, 4]]);
    let expected: Vec<_> = (64..len).step_by(96).map(|at| (at as u64, 96.min(len - at))).collect();
    assert_eq!(*asked.borrow(), expected);
}

#[test]
fn a_simulated_disk_answers_a_probe_itself() {
    let (disk, storage) = fixture(FaultPlan::none());
    let answers = storage.probe(0, 256, 64, &|offset, _| Some([offset, 1])).unwrap();
    assert_eq!(answers, [[192, 1]], "only the largest counts");
    assert_eq!(disk.recorded_calls(), [Call { kind: CallKind::Probe, offset: 0, len: 256 }]);
}

/// Says whether two syncs were ever under way at once.
#[derive(Debug, Default)]
struct Overlap {
    under_way: std::sync::atomic::AtomicU64,
    most: std::sync::atomic::AtomicU64,
}

impl Storage for std::sync::Arc<Overlap> {
    fn len(&self) -> io::Result<u64> {
        Ok(0)
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }

    fn write_at(&self, _: u64, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn sync(&self) -> io::Result<()> {
        let now = self.under_way.fetch_add(1, Ordering::AcqRel) + 1;
        self.most.fetch_max(now, Ordering::AcqRel);
        (0..100).for_each(|_| std::thread::yield_now());
        self.under_way.fetch_sub(1, Ordering::AcqRel);
        Ok(())
    }
}

//= spec/media.md#m-3-3-one-at-a-time
//= type=test
//# Of two syncs under way on one handle, a store MUST NOT begin the second before the first has returned.
#[test]
fn of_two_syncs_the_second_begins_when_the_first_has_returned() {
    let disk = std::sync::Arc::new(Overlap::default());
    let storage = FailStop::new(Box::new(std::sync::Arc::clone(&disk)));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|_| storage.sync().unwrap()));
        }
    });
    assert_eq!(disk.most.load(Ordering::Acquire), 1);
}
