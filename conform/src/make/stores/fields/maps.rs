//! Checkpoints far from the beginning of the file and of the log (F-8.5 to F-8.15).

use holotype_model::{Key, Value};

use super::{Maker, corrupt, damage_frame, name_in_slot};
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::index::{collection, indexes_of, stretch};
use crate::forge::log::{Frame, NOTHING, Row};
use crate::forge::{Forge, Record, lsn};
use crate::make::stores::sample::saying;

pub(super) fn make(maker: &mut Maker) {
    far(maker);
    two_listed(maker);
    start_without_a_header(maker);
    stretches(maker);
}

/// What the table has of the current segment before there is a frame in it.
pub(super) fn row(forge: &Forge, first: u64) -> Row {
    Row {
        sequence: forge.sequence,
        physical: forge.physical,
        first,
        end: forge.end,
        stretches: vec![(forge.end, first)],
        freed: 0,
    }
}

/// The id of the only collection: read the other way round it is less, so `last` would be below it.
const WIDE: u32 = 513;
const PLACES: [u32; 2] = [301, 303];

/// A store whose log is in its 300th segment, at place 258. All before is gone.
fn far_forge() -> Forge {
    let mut forge = Forge::new(64, 1024, 2);
    (forge.physical, forge.sequence, forge.reserved) = (258, 300, [259, 260]);
    forge.data.resize(16_384 + 1024 * 304, 0);
    forge.table.clear();
    forge.table.push(row(&forge, lsn(1, 1)));
    forge.header(lsn(1, 1), 64, |_| ());
    forge.open(1);
    forge.commit(&[Record::create(WIDE, "notes")]);
    forge.commit(&[
        Record::put(WIDE, &Key::Int(299), &saying(1)),
        Record::put(WIDE, &Key::Int(300), &saying(2)),
    ]);
    forge
}

/// Writes a checkpoint with a tree of two leaves and a page.
fn checkpoint(forge: &mut Forge, place: u32, listed: Option<&[u32]>) -> Vec<u8> {
    let mut checkpoint = Checkpoint::begin(forge, place);
    // Room for what is read from another place, which may be longer.
    checkpoint.leave_gaps(40);
    let changes = Changes {
        root: listed.map(|listed| ("segments".to_owned(), indexes_of(listed))).into_iter().collect(),
        ..Changes::default()
    };
    let found = checkpoint.documents(WIDE);
    let entries = found.entries();
    let tree = checkpoint.tree(WIDE, &entries, (entries.len().div_ceil(2), usize::MAX), &changes);
    checkpoint.finish_with(vec![collection(WIDE, "notes", found.next, entries.len(), tree)], &changes)
}

/// The same with two checkpoints, and what names the newest.
pub(super) fn far_with_two() -> (Forge, Vec<u8>) {
    let mut forge = far_forge();
    let older = checkpoint(&mut forge, PLACES[0], None);
    forge.commit(&[Record::put(WIDE, &Key::Int(400), &saying(3))]);
    let newest = checkpoint(&mut forge, PLACES[1], None);
    let last = forge.last;
    name_in_slot(&mut forge, &[&newest, &older], last);
    (forge, newest)
}

fn far(maker: &mut Maker) {
    let clauses = ["F-8.5", "F-8.6", "F-8.7", "F-8.9", "F-8.12", "F-8.13", "R-1.2"];
    let (forge, _) = far_with_two();
    let name = "A checkpoint and a log whose places, numbers and ids take two bytes";
    maker.holds(&clauses, &["ByteOrder", "Checkpoint"], name, &forge.data, forge.state());
    let mut only = far_forge();
    let reference = checkpoint(&mut only, PLACES[0], None);
    let last = only.last;
    name_in_slot(&mut only, &[&reference], last);
    let name = "The only checkpoint of a log whose beginning is gone, with numbers of two bytes";
    maker.holds(&clauses, &["ByteOrder", "Checkpoint"], name, &only.data, only.state());
    only.segment_with(last + 1, 262, |_| ());
    only.commit(&[Record::put(WIDE, &Key::Int(500), &saying(4))]);
    let name = "The only checkpoint of a log whose beginning is gone, and a segment behind it";
    maker.holds(
        &[&clauses[..], &["R-2.6"]].concat(),
        &["ByteOrder", "Chain"],
        name,
        &only.data,
        only.state(),
    );
}

/// The list names a segment more than there are records in (F-8.9).
fn two_listed(maker: &mut Maker) {
    let mut forge = far_forge();
    let reference = checkpoint(&mut forge, PLACES[0], Some(&[PLACES[0], 300]));
    let last = forge.last;
    name_in_slot(&mut forge, &[&reference], last);
    let name = "A checkpoint whose list names a second segment, from which nothing is read";
    maker.holds(&["F-8.9", "F-8.12"], &["ByteOrder", "Checkpoint"], name, &forge.data, forge.state());
    // That segment counts as one of the checkpoint's all the same.
    let mut forge = far_forge();
    forge.reserved = [259, 300];
    forge.header(lsn(1, 1), 64, |_| ());
    let reference = checkpoint(&mut forge, PLACES[0], Some(&[PLACES[0], 300]));
    let last = forge.last;
    name_in_slot(&mut forge, &[&reference], last);
    let name = "A checkpoint whose list names a second segment, which the log reserves";
    let expect = corrupt(&["R-8.1", "F-4.3"], None);
    maker.refused(&["R-8.1", "F-8.9", "F-4.3"], &["ByteOrder", "Reservation"], name, &forge.data, expect);
}

/// The segment in which recovery starts has lost its header: the root says what it reserved.
fn start_without_a_header(maker: &mut Maker) {
    let started = || {
        let mut forge = far_forge();
        let reference = checkpoint(&mut forge, PLACES[0], None);
        let last = forge.last;
        name_in_slot(&mut forge, &[&reference], last);
        let start = forge.start();
        (forge, start)
    };
    let (mut forge, start) = started();
    forge.segment_with(forge.last + 1, 261, |_| ());
    forge.commit(&[Record::put(WIDE, &Key::Int(500), &saying(5))]);
    forge.data[start] ^= 1;
    let name = "Recovery starts in a segment without a header, and the log goes on where the root says, at place 259";
    maker.holds(&["R-2.6", "F-8.7"], &["ByteOrder", "Chain"], name, &forge.data, forge.state());
    // The successor has lost its header as well: the one after it is found by what the root says.
    for (lag, is_claimed) in [(1, true), (NOTHING, false)] {
        let (mut forge, start) = started();
        let (x, state) = (forge.x(), forge.state());
        let mut lost = vec![start];
        for n in 0..2 {
            forge.segment_with(forge.last + 1, 261 + n, |_| ());
            lost.push(forge.start());
            let put = Record::put(WIDE, &Key::Int(500), &saying(5));
            let lag = if n == 0 { NOTHING } else { lag };
            forge.frame(&[put], &Frame { lag, ..Frame::default() });
        }
        for start in &lost[..2] {
            forge.data[*start] ^= 1;
        }
        let clauses = ["R-2.6", "R-3.4", "F-8.7", "R-4.1"];
        if is_claimed {
            let name = "Recovery starts in a segment without a header, whose successor has none either, and a claim stands in the one after it";
            let expect = corrupt(&["R-4.1"], Some(x));
            maker.refused(&clauses, &["ByteOrder", "LostCommit"], name, &forge.data, expect);
        } else {
            let name = "Recovery starts in a segment without a header, whose successor has none either, and nothing is claimed in the one after it";
            maker.holds(&clauses, &["ByteOrder", "TornWrite"], name, &forge.data, state);
        }
    }
}

/// Where the stretches of a segment begin (F-8.14).
fn stretches(maker: &mut Maker) {
    let built = |stretches: &[(u32, u64)]| {
        let mut forge = Forge::opened(64, 4096, 2);
        forge.commit(&[Record::create(1, "notes"), Record::put(1, &Key::Int(1), &saying(1))]);
        forge.open(2);
        forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
        let rows = stretches.iter().flat_map(|row| stretch(0, *row)).collect();
        let changes =
            Changes { root: [("stretches".to_owned(), Value::Bytes(rows))].into(), ..Changes::default() };
        let reference = Checkpoint::begin(&mut forge, 4).finish(&changes);
        let last = forge.last;
        name_in_slot(&mut forge, &[&reference], last);
        forge
    };
    let second = built(&[]).placed[2].at as u32 - 16_384;
    let mut forge = built(&[(second, lsn(2, 1))]);
    damage_frame(&mut forge, 1);
    let name = "A segment of two stretches, and nothing but the checkpoint has them";
    maker.holds(&["F-8.14", "F-6.2"], &["ByteOrder", "Checkpoint"], name, &forge.data, forge.state());
    for (what, stretches) in [
        ("is without its second stretch", vec![]),
        ("has a second stretch that begins behind its first document", vec![(second + 104, lsn(2, 1))]),
    ] {
        let forge = built(&stretches);
        let name = format!("A segment that {what}");
        let expect = corrupt(&["F-8.4", "F-6.1", "F-1.3"], None);
        maker.refused(&["F-8.14", "F-8.4"], &["Checkpoint"], name, &forge.data, expect);
    }
}
