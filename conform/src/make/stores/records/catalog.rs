//! Changes of the catalog.

use super::{broken, holds, refused_as_newer};
use crate::forge::record::{Effect, map};
use crate::forge::{Record, cbor};
use crate::make::stores::Maker;
use crate::make::stores::sample::{saying, small, text};
use holotype_model::{Document, Key, Value};

pub(super) fn catalog(maker: &mut Maker) {
    holds(maker, &["F-7.1", "F-7.2"], "Catalog", "A collection begins", &[Record::create(3, "third")]);
    holds(maker, &["F-7.2"], "Catalog", "A name of 255 bytes", &[Record::create(3, &"n".repeat(255))]);
    holds(
        maker,
        &["F-7.2"],
        "Catalog",
        "A name of one character of four bytes",
        &[Record::create(3, "\u{1f600}")],
    );
    holds(maker, &["F-7.2"], "Catalog", "The greatest id", &[Record::create(u32::MAX, "last")]);
    holds(maker, &["F-7.2"], "Catalog", "A gap in the ids", &[Record::create(70, "far")]);
    holds(maker, &["F-7.1"], "Catalog", "A collection ends", &[Record::drop(1)]);
    holds(
        maker,
        &["F-7.1"],
        "IdCounter",
        "A collection is emptied, and its ids go on",
        &[Record::clear(1, 3)],
    );
    holds(maker, &["F-7.1"], "Catalog", "A collection is renamed", &[Record::rename(1, "zebra")]);
    let records = [Record::drop(1), Record::create(3, "notes"), Record::put(3, &text("a"), &saying(1))];
    holds(
        maker,
        &["F-7.1", "F-7.4"],
        "IdCounter",
        "A collection ends, and another one takes its name and begins with id 1",
        &records,
    );
    let records = [Record::rename(1, "x"), Record::rename(2, "notes"), Record::rename(1, "other")];
    holds(maker, &["F-7.1"], "Catalog", "Two collections change their names", &records);
    let records = [
        Record::clear(1, 3),
        Record::put(3, &Key::Int(1), &saying(4)),
        Record::put(1, &text("dead"), &saying(5)),
    ];
    holds(
        maker,
        &["F-7.1", "F-7.4"],
        "DeadRecord",
        "A record of the id that a collection had before it was emptied is dead",
        &records,
    );
    let records = [
        Record::put(9, &text("a"), &saying(1)),
        Record::create(9, "ninth"),
        Record::put(9, &text("b"), &saying(2)),
    ];
    holds(
        maker,
        &["F-7.4"],
        "DeadRecord",
        "A record before the one that creates its collection is dead",
        &records,
    );
    let records = [Record::put(77, &text("a"), &saying(1)), Record::delete(78, &text("a"))];
    let mut forge = small();
    forge.commit(&records);
    let state = forge.state();
    maker.refused_as_tail(
        &["F-7.4", "R-9.2"],
        "DeadRecord",
        "Records of collections that are not there are dead".to_owned(),
        &forge,
        state,
    );
    let mut more = map("create", &[("id", 3), ("later", 7)], Some("third"));
    more.insert("note".to_owned(), Value::Array(vec![Value::Null]));
    holds(
        maker,
        &["F-7.3"],
        "Features",
        "A change with keys that this version does not know",
        &[Record::catalog(&more, Effect::Create(3, "third".into()))],
    );
    more.insert("required".to_owned(), Value::Array(vec![]));
    holds(
        maker,
        &["F-7.3"],
        "Features",
        "A change that requires nothing",
        &[Record::catalog(&more, Effect::Create(3, "third".into()))],
    );
    more.insert("required".to_owned(), Value::Array(vec![Value::from("name"), Value::from("id")]));
    holds(
        maker,
        &["F-7.3"],
        "Features",
        "A change that requires keys that this version knows",
        &[Record::catalog(&more, Effect::Create(3, "third".into()))],
    );
    more.insert("required".to_owned(), Value::Array(vec![Value::from("name"), Value::from("later")]));
    refused_as_newer(
        maker,
        &["F-7.3"],
        "Features",
        "A change that requires a key that this version does not know",
        Record::catalog(&more, Effect::None),
    );
    for op in ["merge", "", "Create", "createx"] {
        let record = Record::catalog(&map(op, &[("id", 3)], Some("third")), Effect::None);
        refused_as_newer(
            maker,
            &["F-7.1"],
            "Features",
            format!("The change {op:?} is of a newer format"),
            record,
        );
    }
}

pub(super) fn catalog_refused(maker: &mut Maker) {
    let refused = |maker: &mut Maker, clauses: &[&str], name: &str, record: Record| {
        broken(maker, clauses, "Catalog", name, record.dead());
    };
    let change = |map: Document| Record::catalog(&map, Effect::None);
    let with = |op: &str, id: Value, name: Option<Value>| {
        let mut map = Document::from([("op".to_owned(), Value::from(op)), ("id".to_owned(), id)]);
        map.extend(name.map(|name| ("name".to_owned(), name)));
        Record::catalog(&map, Effect::None)
    };
    for (name, record) in [
        ("A create without a name", change(map("create", &[("id", 3)], None))),
        ("A create without an id", change(map("create", &[], Some("third")))),
        ("A create of id 0", change(map("create", &[("id", 0)], Some("third")))),
        ("A create of a negative id", change(map("create", &[("id", -3)], Some("third")))),
        ("A create of an id beyond 32 bits", change(map("create", &[("id", 1 << 32)], Some("third")))),
        ("A create of an id that is a float", with("create", Value::Float(3.0), Some(Value::from("third")))),
        ("A create of an empty name", change(map("create", &[("id", 3)], Some("")))),
        ("A create of a name of 256 bytes", change(map("create", &[("id", 3)], Some(&"n".repeat(256))))),
        ("A create of a name of bytes", with("create", Value::Int(3), Some(Value::Bytes(b"third".to_vec())))),
        ("A create of a name that is there", Record::create(3, "notes")),
        ("A create of an id that is there", Record::create(2, "third")),
        ("A rename to a name that is there", Record::rename(1, "other")),
        ("A rename of a collection that is not there", Record::rename(9, "ninth")),
        ("A rename to an empty name", change(map("rename", &[("id", 1)], Some("")))),
        ("A drop of a collection that is not there", Record::drop(9)),
        ("A clear of a collection that is not there", Record::clear(9, 10)),
        ("A clear to an id that is there", Record::clear(1, 2)),
        ("A clear without a new id", change(map("clear", &[("id", 1)], None))),
    ] {
        refused(maker, &["F-7.1", "F-7.2"], name, record);
    }
    let mut no_op = map("create", &[("id", 3)], Some("third"));
    no_op.remove("op");
    refused(maker, &["F-7.1"], "A change that does nothing", change(no_op.clone()));
    no_op.insert("op".to_owned(), Value::Int(1));
    refused(maker, &["F-7.1"], "A change whose op is an int", change(no_op));
    let mut required = map("create", &[("id", 3)], Some("third"));
    required.insert("required".to_owned(), Value::from("name"));
    refused(maker, &["F-7.3"], "A change that requires a text and not an array", change(required));
    refused(maker, &["F-7.1", "E-1.2"], "A change that is no map", Record::raw(5, 0, 0, vec![0x80]));
    refused(maker, &["F-7.1", "E-1.2"], "A change that is nothing", Record::raw(5, 0, 0, vec![]));
    let out_of_order = [vec![0xa2], cbor::text("op"), cbor::text("drop"), cbor::text("id"), vec![1]].concat();
    refused(
        maker,
        &["F-7.1", "E-3.2"],
        "A change whose keys are out of order",
        Record::raw(5, 0, 0, out_of_order),
    );
}
