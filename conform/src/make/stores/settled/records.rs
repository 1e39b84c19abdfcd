//! Records in frames that are valid: the form of their lengths, those that are skipped, and what a change of the catalog requires.

use super::{corrupt_unless_broken, story};
use crate::forge::log::Frame;
use crate::forge::record::{Effect, map};
use crate::forge::{Record, varint};
use crate::make::stores::Maker;
use crate::make::stores::sample::{saying, small};
use holotype_model::{Document, Key, Value};

const NAMED: &[&str] = &["F-1.2", "F-6.1", "F-6.3", "R-2.7"];

fn put(n: i64) -> Record {
    Record::put(1, &Key::Int(n), &saying(n))
}

/// A record's length in a longer form than it needs.
pub(super) fn lengths(maker: &mut Maker) {
    let clauses = ["F-1.2", "F-5.7", "F-6.1", "R-2.7"];
    for more in [1, 2, 8, 9] {
        for (number, place) in [(0, "first"), (1, "second")] {
            let mut records = [put(2), put(3)];
            records[number].length_more = more;
            let mut forge = small();
            forge.commit(&records);
            let name =
                format!("The length of the {place} of two records takes {more} bytes more than it needs");
            corrupt_unless_broken(maker, &clauses, "SecondForm", &name, forge, NAMED);
        }
    }
    let state = small().state();
    let mut forge = small();
    forge.commit(&[Record { length_more: 10, ..put(2) }]);
    let name = "The length of a record takes eleven bytes, so nothing says where it ends";
    story(&clauses, "SecondForm", name).cut_as_a_tail(maker, &forge, state.clone());
    let mut forge = small();
    forge.frame(&[Record { length_more: 1, ..put(2) }], &Frame { part: (0, false), ..Frame::default() });
    let name = "A length in a form that is too long, in a commit without its last part";
    story(&clauses, "PartialCommit", name).cut_as_a_tail(maker, &forge, state);
    let mut forge = small();
    forge.commit(&[
        put(2),
        Record::put(
            1,
            &Key::Int(3),
            &crate::make::ladder::document([("t", Value::from("x".repeat(200).as_str()))]),
        ),
    ]);
    story(&clauses, "SecondForm", "A length that needs two bytes, and has two").holds(maker, &forge);
}

/// A record of a kind that is skipped has the fields that every record has.
pub(super) fn skipped(maker: &mut Maker) {
    let clauses = ["F-6.3", "F-6.1"];
    for kind in [128, 255] {
        let raw = |rest: Vec<u8>| Record::raw(kind, 0xff, 1, rest);
        for (rest, what) in [(vec![], "nothing"), (vec![0xff; 40], "what would be no field")] {
            let mut forge = small();
            forge.commit(&[raw(rest), put(2)]);
            let name = format!("A record of kind {kind} with {what} behind its commit field");
            story(&clauses, "RecordKind", name).holds(maker, &forge);
        }
        let mut forge = small();
        forge.commit(&[Record { collection: u32::MAX, ..raw(vec![]) }, put(2)]);
        let name = format!("A record of kind {kind} of a collection that is not there");
        story(&clauses, "RecordKind", name).holds(maker, &forge);
        for (record, what) in [
            (Record { commit_off: 1, ..raw(vec![]) }, "that counts itself to the commit after"),
            (Record { commit_off: u32::MAX, ..raw(vec![]) }, "that counts itself to the commit before"),
            (Record { payload: Some(vec![]), ..raw(vec![]) }, "without a collection"),
            (Record { payload: Some(vec![1]), ..raw(vec![]) }, "without a commit field"),
            (
                Record { payload: Some(varint(1 << 32)), ..raw(vec![]) },
                "of a collection beyond 32 bits, and no more",
            ),
            (
                Record { payload: Some([varint(1 << 32), vec![1]].concat()), ..raw(vec![]) },
                "of a collection beyond 32 bits",
            ),
            (
                Record { payload: Some(vec![0x81, 0, 1]), ..raw(vec![]) },
                "of a collection in a form that is too long",
            ),
            (
                Record { payload: Some([vec![1], varint(1 << 32 | 2)].concat()), ..raw(vec![]) },
                "with a commit field beyond 32 bits",
            ),
        ] {
            let mut forge = small();
            forge.commit(&[put(2), record]);
            let name = format!("A record of kind {kind} {what}");
            let named = [NAMED, &["F-6.2"]].concat();
            corrupt_unless_broken(
                maker,
                &[&clauses[..], &["R-2.7"]].concat(),
                "RecordForm",
                &name,
                forge,
                &named,
            );
        }
    }
}

/// What a change of the catalog requires.
pub(super) fn required(maker: &mut Maker) {
    let with = |op: &str, required: Value| {
        let mut map = map(op, &[("id", 3)], Some("third"));
        map.insert("required".to_owned(), required);
        map
    };
    let texts = |names: &[&str]| Value::Array(names.iter().map(|name| Value::from(*name)).collect());
    let clauses = ["F-7.3", "F-7.1"];
    for names in
        [&["new"][..], &["required", "op"], &["name", "name"], &["id", "new", "name", "op", "required"]]
    {
        let mut forge = small();
        forge.commit(&[Record::catalog(&with("create", texts(names)), Effect::Create(3, "third".into()))]);
        let name = format!("A create that requires {names:?}, which are known in every change");
        story(&clauses, "Features", name).holds(maker, &forge);
    }
    let newer = |maker: &mut Maker, name: &str, map: &Document| {
        let mut forge = small();
        forge.commit(&[Record::catalog(map, Effect::None)]);
        story(&clauses, "Features", name).refused_as_newer(maker, &forge);
    };
    for name in ["tree", "count", "next", "lsn", "", "Name"] {
        let what = format!("A create that requires {name:?}, which is known in no change");
        newer(maker, &what, &with("create", texts(&[name])));
    }
    newer(maker, "A change of an unknown op that requires an unknown key", &with("merge", texts(&["later"])));
    newer(maker, "A change of an unknown op that requires nothing unknown", &with("merge", texts(&["id"])));
    let mut no_op = with("create", texts(&["later"]));
    no_op.remove("op");
    newer(maker, "A change without an op that requires an unknown key", &no_op);
    let mixed = |items: [Value; 2]| Value::Array(items.into());
    for (required, op, what) in [
        (Value::Null, "create", "null"),
        (Value::from("name"), "create", "a text"),
        (Value::Object(Document::new()), "create", "a map"),
        (Value::Array(vec![Value::Int(1)]), "create", "an int in an array"),
        (mixed([Value::from("name"), Value::Null]), "create", "null behind a known key"),
        (mixed([Value::from("later"), Value::Int(1)]), "create", "an int behind an unknown key"),
        (mixed([Value::Int(1), Value::from("later")]), "create", "an int before an unknown key"),
        (Value::Int(1), "merge", "an int, in a change of an unknown op"),
    ] {
        let mut forge = small();
        forge.commit(&[Record::catalog(&with(op, required), Effect::None)]);
        let name = format!("A change that requires {what}");
        let named = ["F-7.1", "F-7.3", "R-2.7"];
        corrupt_unless_broken(maker, &[&clauses[..], &["R-2.7"]].concat(), "Catalog", &name, forge, &named);
    }
}
