//! Damage at rest changes what it says, durably, and nothing else.

use super::*;

/// Three sectors, the last one of 10 bytes.
fn disk() -> SimDisk {
    disk_with(Level::Sectors, &[[1; 64].as_slice(), &[2; 64], &[3; 10]].concat())
}

fn after(damage: impl Fn(&SimDisk)) -> Vec<u8> {
    let disk = disk();
    damage(&disk);
    disk.crash();
    assert_eq!(disk.states(), 1.0, "damage is durable");
    disk.bytes()
}

#[test]
fn one_bit_is_flipped_and_flipped_back() {
    let flipped = after(|disk| disk.flip_bit(8 * 70 + 3));
    let mut expected = disk().bytes();
    expected[70] ^= 8;
    assert_eq!(flipped, expected);
    let twice = after(|disk| (0..2).for_each(|_| disk.flip_bit(9)));
    assert_eq!(twice, disk().bytes());
}

#[test]
fn sectors_are_zeroed_swapped_and_copied_as_far_as_the_file_goes() {
    let sectors = |bytes: Vec<u8>| -> Vec<u8> { bytes.chunks(64).map(|sector| sector[0]).collect() };
    assert_eq!(sectors(after(|disk| disk.zero_sector(1))), [1, 0, 3]);
    assert_eq!(sectors(after(|disk| disk.swap_sectors(0, 1))), [2, 1, 3]);
    assert_eq!(sectors(after(|disk| disk.copy_sector(0, 1))), [1, 1, 3]);
    let swapped = after(|disk| disk.swap_sectors(0, 2));
    assert_eq!((swapped.len(), swapped[9], swapped[10], swapped[128]), (138, 3, 1, 1));
    assert_eq!(after(|disk| disk.zero_sector(2)).len(), 138);
    assert_eq!(after(|disk| disk.overwrite(63, &[9; 2]))[62..66], [1, 9, 9, 2]);
}

#[test]
fn a_file_is_cut_off_and_extended() {
    assert_eq!(after(|disk| disk.truncate(65)), [[1; 64].as_slice(), &[2]].concat());
    let extended = after(|disk| {
        disk.truncate(64);
        disk.extend_with(&[9; 3]);
    });
    assert_eq!(extended, [[1; 64].as_slice(), &[9; 3]].concat());
    // Growing again shows zeros, not what was cut off.
    let grown = after(|disk| {
        disk.truncate(65);
        disk.set_len(67).unwrap();
        disk.sync().unwrap();
    });
    assert_eq!(grown[64..], [2, 0, 0]);
}

#[test]
#[should_panic(expected = "does not reach")]
fn damage_beyond_the_end_is_a_mistake() {
    disk().flip_bit(8 * 138);
}
