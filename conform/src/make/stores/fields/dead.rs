//! What no document rests on, and must be right all the same.

use super::{Maker, corrupt, name_in_slot};
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::log::{Frame, NONE, SEGMENTS};
use crate::forge::{Record, cbor, varint};
use crate::make::stores::sample::{saying, small, text};

pub(super) fn make(maker: &mut Maker) {
    superseded_list(maker);
    place_of_the_older_checkpoint(maker);
    successor_beside_a_leftover(maker);
}

/// A record of the log is checked whether its version is the newest or not.
fn superseded_list(maker: &mut Maker) {
    let mut forge = small();
    let one_of_two = [varint(9), varint(2), vec![0; 8]].concat();
    forge.commit(&[Record::raw(1, 8, 1, [cbor::key(&text("long")), one_of_two].concat())]);
    forge.commit(&[Record::put(1, &text("long"), &saying(2))]);
    let name = "A list of two chunks with one address, in a version that another has replaced";
    let expect = corrupt(&["F-6.7", "F-6.1"], None);
    maker.refused(&["R-2.7", "F-6.7"], &["Chunks"], name, &forge.data, expect);
}

/// Nothing is lost yet; but once the older checkpoint is not named any more, its place is given out.
fn place_of_the_older_checkpoint(maker: &mut Maker) {
    let mut forge = small();
    let older = Checkpoint::begin(&mut forge, 4).finish(&Changes::default());
    forge.segment(forge.last + 1);
    forge.commit(&[Record::put(1, &text("a"), &saying(2))]);
    forge.table[0].physical = 4;
    let newest = Checkpoint::begin(&mut forge, 5).finish(&Changes::default());
    let last = forge.last;
    name_in_slot(&mut forge, &[&newest, &older], last);
    let name = "The newest checkpoint has a log segment where the older one stands";
    maker.refused(&["R-8.1", "F-8.6"], &["Reservation"], name, &forge.data, corrupt(&["R-8.1"], None));
}

/// Where none is named, a life that came to nothing may have left a header below the segment of the next life.
fn successor_beside_a_leftover(maker: &mut Maker) {
    let mut forge = small();
    forge.reserved = [NONE, NONE];
    forge.header(0, 0, |_| ());
    let open_at = |place: u32| {
        let mut forge = forge.clone();
        forge.reserved = [place, NONE];
        forge.segment_with(forge.last + 1, NONE, |_| ());
        forge
    };
    let (leftover, mut forge) = (open_at(2), open_at(4));
    let at = SEGMENTS + 2 * forge.segment_bytes as usize;
    forge.data[at..at + 64].copy_from_slice(&leftover.data[at..at + 64]);
    forge.commit(&[Record::put(1, &text("behind"), &saying(3))]);
    let name = "No successor is named, and the log goes on in the second of two";
    maker.holds(&["R-2.6", "R-2.3", "F-4.3"], &["Reservation"], name, &forge.data, forge.state());
    let torn = forge.placed.last().expect("it was just placed").at;
    forge.frame(&[Record::put(1, &text("later"), &saying(4))], &Frame { lag: 1, ..Frame::default() });
    forge.data[torn] ^= 1;
    let name = "No successor is named, and the second of two attests what is lost";
    maker.refused(&["R-3.5", "R-4.1"], &["Reservation"], name, &forge.data, corrupt(&["R-4.1"], None));
}
