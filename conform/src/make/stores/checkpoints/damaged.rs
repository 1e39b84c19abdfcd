//! Checkpoints with damage in their bytes, and what is fallen back to.

use super::{PLACES, erase_log, with_one, with_two};
use crate::forge::Forge;
use crate::forge::checkpoint::Changes;
use crate::forge::index::records_in;
use crate::make::stores::{Maker, corrupt};

/// The offsets in a checkpoint's segment that records take: what lies between them means nothing.
fn record_bytes(forge: &Forge, place: u32) -> Vec<usize> {
    let segment = &forge.data[16_384 + place as usize * 4096..][..4096];
    records_in(segment).into_iter().flatten().collect()
}

pub(super) fn damaged(maker: &mut Maker) {
    // Whatever is damaged in a checkpoint, the one before is as good.
    for at in record_bytes(&with_two(None), PLACES[1]).into_iter().step_by(13) {
        let forge = with_two(Some(at));
        let name = format!(
            "The newest checkpoint is damaged at offset {at} of its segment, and the one before is not"
        );
        maker.holds(
            &["R-5.2", "F-1.3", "F-8.11", "F-8.12"],
            &["Fallback", "Checkpoint"],
            name,
            &forge.data,
            forge.state(),
        );
        let mut both = with_two(Some(at));
        erase_log(&mut both);
        let start = 16_384 + PLACES[0] as usize * 4096;
        both.data[start + 70] ^= 1;
        let name = format!("Both checkpoints are damaged, the newest at offset {at} of its segment");
        maker.refused(&["R-5.2", "F-8.12"], &["Fallback"], name, &both.data, corrupt(&[], None));
    }
    for at in record_bytes(&with_one(&Changes::default()), PLACES[0]).into_iter().step_by(29) {
        let mut forge = with_one(&Changes::default());
        forge.data[16_384 + PLACES[0] as usize * 4096 + at] ^= 1;
        let name =
            format!("The only checkpoint is damaged at offset {at} of its segment, and the log is whole");
        maker.holds(&["R-5.2"], &["Fallback"], name, &forge.data, forge.state());
        erase_log(&mut forge);
        let name =
            format!("The only checkpoint is damaged at offset {at} of its segment, and the log is gone");
        maker.refused(
            &["R-5.2", "R-4.1"],
            &["Fallback", "LostCommit"],
            name,
            &forge.data,
            corrupt(&["R-4.1", "R-4.3"], Some(16_384 + 64)),
        );
    }
    // The document that an entry leads to is damaged, behind the back of the checkpoint.
    let mut forge = with_one(&Changes::default());
    let placed = forge.placed[2].clone();
    forge.data[placed.at + placed.len - 1] ^= 1;
    let name = "A document that a checkpoint leads to is damaged";
    maker.refused(
        &["F-8.4", "F-6.1"],
        &["RecordSeed", "Checkpoint"],
        name,
        &forge.data,
        corrupt(&["F-6.1", "F-8.4", "F-1.3"], None),
    );
}
