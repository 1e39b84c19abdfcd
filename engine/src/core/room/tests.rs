use super::*;
use crate::core::{Core, Expect};
use crate::document::KeyRef;
use crate::options::{Durability, Options};
use crate::storage::MemoryStorage;

#[test]
fn a_look_is_asked_for_once_where_a_segment_was_opened() {
    let core = Core::open(Box::new(MemoryStorage::new()), &Options::new().sector(64).segment_bytes(512))
        .expect("memory refuses nothing");
    let mut writer = core.writer().expect("it is opened for writing");
    let mut looks = 0;
    for id in 0..2_000 {
        let (before, len) = (writer.appender.end().segment.sequence, writer.file_len);
        writer.begin().expect("memory refuses nothing");
        writer.txn.put("a", KeyRef::Int(id), Expect::Anything, &[0xA0]).expect("nothing is wrong with it");
        writer.commit(Durability::Written).expect("memory refuses nothing");
        let has_opened = writer.appender.end().segment.sequence > before;
        let asked = writer.upkeep();
        assert_eq!(asked != Upkeep::Nothing, has_opened || writer.file_len > len, "{id}: {asked:?}");
        assert_eq!(writer.upkeep(), Upkeep::Nothing, "nothing has changed since {id}");
        looks += u64::from(asked == Upkeep::Look);
    }
    // In a log of so many segments the file is not held against its bound at each.
    assert!(writer.accounts.count() > 2 * UNCHECKED_SHARE && looks > 10, "{looks}");
}

#[test]
fn the_fewer_documents_there_are_the_fewer_may_die_without_a_check_until_they_are_few() {
    for (documents, unchecked) in [(0, 256), (1_023, 256), (1_024, 32), (10_000, 312), (1_000_000, 31_250)] {
        assert_eq!(check_after(documents), unchecked, "{documents}");
    }
}
