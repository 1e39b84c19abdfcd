use crate::document::{Document, KeyRef, RawDocument, Value};
use crate::query::{JsonPath, Projector};

/// By a projector that has met another document before: nothing is left of that.
#[track_caller]
fn projects(document: &str, paths: &[&str], expected: &str) {
    let parse = |text: &str| match crate::document::json::parse_value(text.as_bytes()).expect(text) {
        Value::Object(document) => document,
        other => panic!("{other} is no document"),
    };
    let paths = paths.iter().map(|path| JsonPath::parse(path).expect(path)).collect();
    let mut projector = Projector::new(paths);
    let mut project = |document: &str| {
        let (bytes, mut out) = (parse(document).encode(), Vec::new());
        let document = RawDocument::from_verified(&bytes);
        projector.project(KeyRef::Int(1), document, &mut out).expect("no pattern is too large");
        Document::decode(&out).expect("a document")
    };
    project(r#"{"a":{"b":1,"c":[1,2]},"b":0,"d":[4],"e":5,"x":6}"#);
    assert_eq!(project(document), parse(expected));
}

//= spec/query.md#q-8-1-projection
//= type=test
//# A projection MUST have each selected node with everything in it, in the objects and arrays that it is
//# in, and nothing else. Items of an array stay in their order, without gaps.
#[test]
fn a_projection_has_what_its_paths_select_however_they_are_found() {
    let bird = r#"{"a":{"b":1,"c":[10,20,30]},"d":2,"e":3}"#;
    projects(bird, &["$.a.b", "$.d"], r#"{"a":{"b":1},"d":2}"#);
    projects(bird, &["$.a.c[2]", "$.a.c[0]", "$.a.c[0]"], r#"{"a":{"c":[10,30]}}"#);
    projects(bird, &["$.a.c[-1]", "$.d"], r#"{"a":{"c":[30]},"d":2}"#);
    projects(bird, &["$.a", "$.a.b"], r#"{"a":{"b":1,"c":[10,20,30]}}"#);
    projects(bird, &["$", "$.d"], bird);
    projects(bird, &["$.e", "$.x", "$.a", "$.a"], r#"{"a":{"b":1,"c":[10,20,30]},"e":3}"#);
    projects(r#"{"long":1,"z":2,"b":3}"#, &["$.long", "$.b", "$.z"], r#"{"long":1,"z":2,"b":3}"#);
    projects(bird, &[], "{}");
    projects(bird, &["$.a.c[?@ > 15]", "$.e"], r#"{"a":{"c":[20,30]},"e":3}"#);
    projects(bird, &["$.x", "$.d.x", "$.a[0]"], "{}");
}

#[test]
fn more_paths_than_one_pass_finds_are_projected_too() {
    let all = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let document = all.map(|name| format!("\"{name}\":\"{name}\"")).join(",");
    let paths = all[..9].iter().map(|name| format!("$.{name}")).collect::<Vec<_>>();
    let paths: Vec<_> = paths.iter().map(String::as_str).collect();
    let expected = all[..9].iter().map(|name| format!("\"{name}\":\"{name}\"")).collect::<Vec<_>>().join(",");
    projects(&format!("{{{document}}}"), &paths, &format!("{{{expected}}}"));
}
