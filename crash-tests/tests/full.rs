//! Disks without room.

use holotype_crash_tests::full::every_check;
use holotype_crash_tests::setup::Setup;

//= spec/space.md#p-5-1-what-is-kept
//# A writer MUST NOT place a commit that puts a document before the file is long enough for the reserve that
//# is wanted behind that commit.
//= spec/space.md#p-5-1-what-is-kept
//# A writer MUST NOT open a segment for a system commit (F-5.8) before the file has room for the segments
//# that are kept for checkpoints, unless it cannot grow so far.
//= spec/space.md#p-5-2-who-may-use-it
//# Where it would be the first of its incarnation, it MUST be refused before the opening frame eats
//# into the reserve: else a program that is started again and again on a full disk would use up the reserve
//# with frames that open nothing.
//= spec/space.md#p-5-2-who-may-use-it
//# A delete of whatever the store holds, in commits of one delete each, MUST find room on a disk that is
//# full, where the disk has room for ten segments and a segment for some dozen commits.
#[test]
fn a_store_on_a_full_disk_can_be_emptied_and_filled_again() {
    for setup in [Setup::SMALL, Setup::SECTORS, Setup::LARGE] {
        let put = every_check(setup).unwrap_or_else(|(_, what)| panic!("{}: {what}", setup.name));
        assert!(put > 0);
    }
}
