//! Records whose fields are wrong.

use holotype_model::Key;

use super::{FIRST, broken};
use crate::forge::{Record, cbor, varint};
use crate::make::stores::sample::{saying, small};
use crate::make::stores::{Maker, corrupt};

/// The value of the first document's version, and 2 to the power of 64 more.
fn beyond_64_bits() -> Vec<u8> {
    let value = small().world.version(1, &FIRST).expect("it was put").value;
    let groups = (0..9).map(|group| (value >> (7 * group)) as u8 | 0x80);
    groups.chain([2]).collect()
}

pub(super) fn forms(maker: &mut Maker) {
    let put = |rest: Vec<u8>| Record::raw(1, 0, 1, rest);
    let form = |maker: &mut Maker, clauses: &[&str], name: &str, record: Record| {
        broken(maker, &[&["F-6.1"], clauses].concat(), "RecordForm", name, record);
    };
    form(maker, &[], "A put without a key", put(vec![]));
    form(maker, &["E-2.2", "E-4.1"], "A put whose key is not in its shortest form", put(vec![0x18, 5, 0xa0]));
    form(maker, &["E-4.1"], "A put whose key is null", put(vec![0xf6, 0xa0]));
    form(
        maker,
        &["E-4.1", "V-4.1"],
        "A put whose key has 1,025 bytes",
        put([cbor::text(&"k".repeat(1025)), vec![0xa0]].concat()),
    );
    form(maker, &["F-6.3"], "A delete with a body", Record::raw(2, 0, 1, vec![1, 0xa0]));
    form(maker, &["F-6.4"], "A delete with a chunk list", Record::raw(2, 8, 1, vec![1]));
    form(
        maker,
        &["F-1.2"],
        "A put with a replaced version in a varint that is too long",
        Record::put(1, &FIRST, &saying(2)).dead().naming(&[0x85, 0]),
    );
    form(
        maker,
        &["F-1.2"],
        "A put with a replaced version beyond 64 bits",
        Record::put(1, &FIRST, &saying(2)).dead().naming(&beyond_64_bits()),
    );
    form(
        maker,
        &["F-6.6", "F-2.2"],
        "A put with a replaced version beyond 55 bits",
        Record::put(1, &FIRST, &saying(2)).dead().naming(&varint(1 << 57)),
    );
    form(maker, &["F-6.4"], "A put with half an expiry", Record::raw(1, 2, 1, vec![0; 4]));
    form(
        maker,
        &["F-6.4"],
        "A put with an extension block that is not there",
        Record::raw(1, 4, 1, varint(100)),
    );
    form(
        maker,
        &["F-6.4"],
        "A put with an extension block of all that can be",
        Record::raw(1, 4, 1, varint(u64::MAX)),
    );
    form(maker, &["F-6.7"], "A put with a chunk list that is none", Record::raw(1, 8, 1, vec![1, 5]));
    form(
        maker,
        &["F-6.7"],
        "A put with a chunk list of more chunks than it has",
        Record::raw(1, 8, 1, vec![1, 5, 2, 0, 0, 0, 0, 0, 0, 0, 0]),
    );
    form(maker, &["F-6.7"], "A chunk without its number", Record::raw(4, 0, 1, vec![1]));
    form(maker, &["F-6.3"], "A freed record that is too short", Record::raw(6, 0, 0, vec![0; 11]));
    form(maker, &["F-6.3"], "A freed record that is too long", Record::raw(6, 0, 0, vec![0; 13]));
    form(maker, &["F-6.3"], "A commit time of 7 bytes", Record::raw(8, 0, 0, vec![0; 7]));
    form(maker, &["F-6.8"], "A relocated put without its own LSN", Record::raw(3, 0, 1, vec![0; 7]));
    let name = "A record that counts itself to the commit before";
    broken(
        maker,
        &["F-6.2"],
        "RecordForm",
        name,
        Record { commit_off: u32::MAX, ..Record::put(1, &FIRST, &saying(2)) },
    );
    let name = "A record that counts itself to the commit after";
    broken(
        maker,
        &["F-6.2"],
        "RecordForm",
        name,
        Record { commit_off: 1, ..Record::put(1, &FIRST, &saying(2)) },
    );
    let name = "A record that frees the segment in which it stands";
    broken(maker, &["R-9.4", "F-6.3"], "Replay", name, Record::freed(0, 0));
    for (sequence, physical, what) in [(9, 0, "that is not there"), (0, 1, "of another place")] {
        let mut forge = small();
        forge.segment(forge.last + 1);
        forge.commit(&[Record::freed(sequence, physical)]);
        let name = format!("A record that frees a segment {what}");
        let expect = corrupt(&["R-9.4", "F-6.3", "R-2.7"], None);
        maker.refused(&["R-9.4", "F-6.3", "R-2.7"], &["Replay"], name, &forge.data, expect);
    }
    let mut forge = small();
    forge.segment(forge.last + 1);
    forge.commit(&[Record::put(1, &FIRST, &saying(2)), Record::freed(0, 0)]);
    let name = "A record that frees a segment from which all has gone";
    maker.holds(&["R-9.4", "R-8.2"], &["Replay"], name, &forge.data, forge.state());
    // The body is no document: the frame is valid, and the document is not.
    for (body, what) in [
        (vec![0xa1], "cut short"),
        (vec![0xf6], "null"),
        (vec![0xa0, 0], "longer than its document"),
        (vec![0xbf, 0xff], "indefinite"),
    ] {
        let mut forge = small();
        forge.commit(&[put([cbor::key(&Key::Int(9)), body].concat())]);
        let name = format!("A document whose encoding is {what}");
        maker.refused(&["E-1.2", "E-3.4", "R-2.7"], &["NotADocument"], name, &forge.data, corrupt(&[], None));
    }
}
