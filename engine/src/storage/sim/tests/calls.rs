//! Calls, copies, faults and limits.

use std::io;

use super::*;
use crate::storage::sim::{Call, CallKind, FaultKind, FaultPlan, Nth};

#[test]
fn a_clone_is_the_same_disk_and_a_fork_another() {
    let disk = disk_with(Level::Sectors, &[0; 64]);
    let (same, other) = (disk.clone(), disk.fork());
    disk.write_at(0, &[1]).unwrap();
    assert_eq!((same.bytes()[0], other.bytes()[0]), (1, 0));
    other.write_at(0, &[2]).unwrap();
    assert_eq!(disk.bytes()[0], 1);
    disk.crash();
    other.sync().unwrap();
    assert_eq!((disk.states(), other.states()), (2.0, 1.0));
}

#[test]
fn calls_are_counted_and_recorded() {
    let disk = disk_with(Level::Sectors, &[0; 64]);
    disk.sync().unwrap();
    disk.record_calls();
    disk.write_at(3, &[1; 5]).unwrap();
    disk.set_len(100).unwrap();
    disk.read_at(7, &mut [0; 9]).unwrap();
    disk.sync_directory().unwrap();
    disk.len().unwrap();
    let call = |kind, offset, len| Call { kind, offset, len };
    assert_eq!(
        disk.recorded_calls(),
        [
            call(CallKind::Write, 3, 5),
            call(CallKind::SetLen, 100, 0),
            call(CallKind::Read, 7, 9),
            call(CallKind::SyncDirectory, 0, 0),
            call(CallKind::Len, 0, 0),
        ]
    );
    assert_eq!((disk.calls().total(), disk.calls().of(CallKind::Sync)), (6, 1));
}

#[test]
fn a_fault_strikes_the_call_that_it_names_once_or_from_then_on() {
    let disk = disk_with(Level::Sectors, &[0; 64]);
    let outcomes = |plan: FaultPlan| -> Vec<bool> {
        disk.set_faults(plan);
        (0..4).map(|at| if at % 2 == 0 { disk.len().is_ok() } else { disk.sync().is_ok() }).collect()
    };
    let io = FaultKind::Io;
    assert_eq!(outcomes(FaultPlan::none().once(Nth::Call(1), io)), [true, false, true, true]);
    assert_eq!(outcomes(FaultPlan::none().from(Nth::Call(1), io)), [true, false, false, false]);
    assert_eq!(outcomes(FaultPlan::none().once(Nth::Of(CallKind::Sync, 1), io)), [true, true, true, false]);
    assert_eq!(outcomes(FaultPlan::none().from(Nth::Of(CallKind::Len, 0), io)), [false, true, false, true]);
    assert_eq!(disk.fault_hits(), 2);
}

#[test]
fn a_fault_that_cannot_happen_to_a_call_does_not() {
    let disk = disk_with(Level::Sectors, &[0; 64]);
    disk.set_faults(FaultPlan::none().from(Nth::Call(0), FaultKind::ZeroWrite));
    disk.len().unwrap();
    disk.sync().unwrap();
    assert_eq!(disk.fault_hits(), 0);
    assert_eq!(disk.write_at(0, &[1]).unwrap(), 0);
    assert_eq!(disk.fault_hits(), 1);
}

#[test]
fn a_write_that_fails_leaves_a_part_of_itself() {
    let disk = disk_with(Level::Sectors, &[0; 128]);
    disk.set_faults(FaultPlan::none().once(Nth::Call(0), FaultKind::Io));
    disk.write_at(0, &[1; 128]).unwrap_err();
    assert_eq!((disk.bytes()[63], disk.bytes()[64]), (1, 0));
}

#[test]
fn short_calls_move_half() {
    let disk = disk_with(Level::Sectors, &[0; 64]);
    disk.set_faults(FaultPlan::none().from(Nth::Call(0), FaultKind::Short));
    assert_eq!(disk.write_at(0, &[1; 9]).unwrap(), 4);
    assert_eq!(disk.write_at(0, &[1]).unwrap(), 1);
    assert_eq!(disk.read_at(0, &mut [0; 64]).unwrap(), 32);
}

#[test]
fn when_the_power_goes_the_write_under_way_may_be_there_and_later_ones_are_not() {
    let disk = disk_with(Level::Sectors, &[0; 64]);
    disk.set_faults(FaultPlan::none().once(Nth::Of(CallKind::Write, 1), FaultKind::PowerCut));
    disk.write_at(0, &[1; 64]).unwrap();
    disk.write_at(0, &[2; 64]).unwrap_err();
    disk.write_at(0, &[3; 64]).unwrap_err();
    disk.sync().unwrap_err();
    disk.len().unwrap_err();
    disk.crash();
    let fronts: Vec<_> = images(&disk).iter().map(|image| image[0]).collect();
    assert_eq!(fronts, [0, 1, 2]);
    assert_eq!(disk.len().unwrap(), 64);
}

#[test]
fn a_crash_ends_the_plan_of_faults() {
    let disk = disk_with(Level::Sectors, &[0; 64]);
    disk.set_faults(FaultPlan::none().from(Nth::Call(1), FaultKind::Io));
    disk.sync().unwrap();
    disk.sync().unwrap_err();
    disk.crash();
    disk.sync().unwrap();
    assert_eq!(disk.fault_hits(), 1);
}

#[test]
fn a_sync_during_which_the_power_goes_has_made_nothing_durable() {
    let disk = disk_with(Level::Sectors, &[0; 64]);
    disk.write_at(0, &[1; 64]).unwrap();
    disk.set_faults(FaultPlan::none().once(Nth::Call(0), FaultKind::PowerCut));
    disk.sync().unwrap_err();
    disk.crash();
    assert_eq!(disk.states(), 2.0);
}

#[test]
fn a_full_disk_takes_what_fits() {
    let kind = |result: io::Result<usize>| result.unwrap_err().kind();
    let disk = disk_with(Level::Sectors, &[0; 64]);
    disk.set_capacity(Some(100));
    assert_eq!(disk.write_at(60, &[1; 64]).unwrap(), 40);
    assert_eq!(kind(disk.write_at(100, &[1])), io::ErrorKind::StorageFull);
    assert_eq!(disk.set_len(101).unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(disk.write_at(0, &[2; 100]).unwrap(), 100);
    // A file that is there already stays.
    disk.set_capacity(Some(10));
    assert_eq!(disk.write_at(0, &[3; 100]).unwrap(), 100);
    disk.set_len(50).unwrap();
    assert_eq!(kind(disk.write_at(50, &[1])), io::ErrorKind::StorageFull);
}

#[test]
fn no_offset_is_too_far_to_be_refused() {
    let disk = disk_with(Level::Sectors, &[]);
    assert_eq!(disk.write_at(u64::MAX, &[1]).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    assert_eq!(disk.set_len(u64::MAX).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    assert_eq!(disk.read_at(u64::MAX, &mut [0; 9]).unwrap(), 0);
}

#[test]
fn equal_disks_have_equal_fingerprints_however_they_came_to_be() {
    let whole = disk_with(Level::Sectors, &[1; 200]);
    let parts = SimDisk::new(64, Level::Sectors);
    for at in (0..200).step_by(50) {
        parts.write_at(at, &[1; 50]).unwrap();
    }
    assert_ne!(whole.fingerprint(), parts.fingerprint(), "one of them may be lost");
    parts.sync().unwrap();
    parts.sync_directory().unwrap();
    assert_eq!(whole.fingerprint(), parts.fingerprint());
    let before = whole.fingerprint();
    whole.write_at(0, &[1; 64]).unwrap();
    assert_eq!(whole.fingerprint(), before, "nothing was changed");
    whole.write_at(0, &[2; 64]).unwrap();
    assert_ne!(whole.fingerprint(), before);
    whole.write_at(0, &[1; 64]).unwrap();
    assert_ne!(whole.fingerprint(), before, "it reads as before, but a crash may find the other");
    whole.sync().unwrap();
    assert_eq!(whole.fingerprint(), before);
}

#[test]
fn the_same_calls_give_the_same_fingerprint_in_every_run() {
    let disk = disk_with(Level::Sectors, &[1; 200]);
    disk.write_at(100, &[2; 200]).unwrap();
    disk.crash();
    assert_eq!(disk.fingerprint(), 0xbf84_03a0_9d2d_8954);
}
