//! What goes in comes out again.

use holotype::document::json;
use holotype::{Db, Document, Key, Value, doc};

use crate::bench::{Bench, SAMPLE, read};

fn documents(lines: &str) -> Vec<Document> {
    json::read_lines(lines.as_bytes()).map(|(_, document)| document.unwrap()).collect()
}

/// A document with a value of each kind, and those that plain JSON cannot say.
fn beyond_json() -> Document {
    doc! {
        "bytes": vec![0u8, 255],
        "big": i64::MAX,
        "small": i64::MIN,
        "not a number": f64::NAN,
        "endless": f64::NEG_INFINITY,
        "zero": -0.0,
        "one": 1.0,
        "text": "tab\t quote\" snow\u{2603} nul\0",
        "looks like a wrapper": { "$numberInt": "5" },
        "nested": [[], {}, [null, true]],
    }
}

#[test]
fn an_export_of_an_import_holds_the_same_documents_in_the_same_order() {
    let bench = Bench::new();
    bench.run_args(["import", "s.holo", SAMPLE]).done();
    let exported = bench.run("export s.holo").done();
    let expected = documents(&read(SAMPLE));
    assert_eq!(expected.len(), 200);
    assert_eq!(documents(&exported), expected);
}

#[test]
fn values_beyond_json_survive_export_and_import_in_both_forms() {
    for form in ["", " --canonical"] {
        let bench = Bench::new();
        let db = Db::open(bench.path("a.holo")).unwrap();
        db.collection("all").put(1, beyond_json()).unwrap();
        db.close().unwrap();
        bench.write("all.jsonl", bench.run(&format!("export a.holo{form}")).done());
        bench.run("import b.holo all.jsonl").done();
        let copy = Db::open(bench.path("b.holo")).unwrap();
        let document = copy.collection("all").get(1).unwrap().unwrap().to_document().unwrap();
        assert_eq!(document, beyond_json(), "{form}");
    }
}

#[test]
fn keys_of_every_kind_survive_export_and_import_with_keys() {
    let bench = Bench::new();
    let keys = [
        Key::Int(i64::MIN),
        Key::Int(7),
        Key::Text("".into()),
        Key::Text("seven".into()),
        Key::Bytes([7, 255].into()),
    ];
    let db = Db::open(bench.path("a.holo")).unwrap();
    for (n, key) in (0_i64..).zip(&keys) {
        db.collection("all").put(key, doc! { "n": n }).unwrap();
    }
    db.close().unwrap();
    let exported = bench.run("export a.holo --with-keys").done();
    assert!(exported.contains("{\"key\":7,\"doc\":{\"n\":1}}\n"), "{exported}");
    bench.write("all.jsonl", &exported);
    bench.run("import b.holo all.jsonl --with-keys").done();
    let copy = Db::open(bench.path("b.holo")).unwrap();
    let copied: Vec<Key> = copy.collection("all").keys(..).unwrap().map(|key| key.unwrap()).collect();
    assert_eq!(copied, keys);
    drop(copy);
    assert_eq!(bench.run("export b.holo --with-keys").done(), exported);
}

#[test]
fn a_document_as_deep_as_they_may_be_survives_with_its_key() {
    let mut value = Value::Array(Vec::new());
    for _ in 0..126 {
        value = Value::Array(vec![value]);
    }
    let deep = doc! { "deep": value };
    let bench = Bench::new();
    let db = Db::open(bench.path("a.holo")).unwrap();
    db.collection("all").put(1, &deep).unwrap();
    db.close().unwrap();
    bench.write("all.jsonl", bench.run("export a.holo --with-keys --canonical").done());
    bench.run("import b.holo all.jsonl --with-keys").done();
    let copy = Db::open(bench.path("b.holo")).unwrap();
    assert_eq!(copy.collection("all").get(1).unwrap().unwrap().to_document().unwrap(), deep);
}

#[test]
fn an_array_is_read_as_lines_are() {
    let bench = Bench::new();
    bench.write("lines.jsonl", "{\"n\":1}\n{\"n\":[2]}\n");
    bench.write("array.json", "\n [ {\"n\":1},\n{\"n\":[2]} ]\n");
    bench.run("import s.holo lines.jsonl").done();
    bench.run("import s.holo array.json").done();
    let lines = bench.run("export s.holo --collection lines").done();
    assert_eq!(lines, "{\"n\":1}\n{\"n\":[2]}\n");
    assert_eq!(bench.run("export s.holo --collection array").done(), lines);
}

#[test]
fn a_byte_order_mark_blank_lines_and_carriage_returns_are_no_part_of_documents() {
    let bench = Bench::new();
    bench.write("lines.jsonl", "\u{feff}\r\n{\"n\":1}\r\n\n  \n{\"n\":2}");
    bench.write("array.json", "\u{feff}[{\"n\":1},{\"n\":2}]");
    bench.run("import s.holo lines.jsonl").done();
    bench.run("import s.holo array.json").done();
    assert_eq!(bench.run("export s.holo --collection lines").done(), "{\"n\":1}\n{\"n\":2}\n");
    assert_eq!(bench.run("export s.holo --collection array").done(), "{\"n\":1}\n{\"n\":2}\n");
}

#[test]
fn a_file_without_a_document_makes_a_collection_without_one() {
    let bench = Bench::new();
    for (name, content) in [("nothing.jsonl", ""), ("blank.jsonl", "\n\n"), ("brackets.json", "[]")] {
        bench.write(name, content);
        assert!(bench.run(&format!("import s.holo {name}")).done().starts_with("imported 0 documents"));
    }
    let stats = bench.run("stats s.holo --json").done();
    for name in ["blank", "brackets", "nothing"] {
        let empty = format!(r#"{{"name":"{name}","documents":0,"indexes":[]}}"#);
        assert!(stats.contains(&empty), "{stats}");
    }
    assert_eq!(bench.run("export s.holo --collection nothing").done(), "");
}

#[test]
fn documents_go_under_the_field_that_is_named_and_replace_what_is_there() {
    let bench = Bench::new();
    bench.write("birds.jsonl", "{\"ring\":\"b\",\"n\":1}\n{\"ring\":\"a\",\"n\":2}\n{\"ring\":7,\"n\":3}\n");
    bench.write("more.jsonl", "{\"ring\":\"a\",\"n\":4}\n{\"ring\":\"a\",\"n\":5}\n");
    bench.run("import s.holo birds.jsonl --key ring").done();
    bench.run("import s.holo more.jsonl --key ring --collection birds").done();
    assert_eq!(
        bench.run("export s.holo").done(),
        "{\"n\":3,\"ring\":7}\n{\"n\":5,\"ring\":\"a\"}\n{\"n\":1,\"ring\":\"b\"}\n"
    );
}

#[test]
fn documents_without_keys_get_ids_that_go_on_from_one_import_to_the_next() {
    let bench = Bench::with_notes("{\"n\":1}\n{\"n\":2}\n");
    bench.run("import s.holo notes.jsonl --batch 1").done();
    let keys = bench.run("export s.holo --with-keys").done();
    assert!(keys.ends_with("{\"key\":4,\"doc\":{\"n\":2}}\n"), "{keys}");
    assert_eq!(keys.lines().count(), 4);
}
