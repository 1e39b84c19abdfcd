//! JSON Patch and JSON Merge Patch over decoded values: what is refused, what the errors say, and the limits.

use holotype::document::{DEPTH_MAX, DOCUMENT_LEN_MAX, JsonMode, JsonPointer, Kind};
use holotype::document::{PathFault, json};
use holotype::update::{self, JsonPatch, Operation};
use holotype::update::{UpdateError, UpdateFault};
use holotype::{Document, Error, Value};

fn value(text: &str) -> Value {
    json::parse_value(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn apply(doc: &str, patch: &str) -> Result<Value, Error> {
    JsonPatch::parse(patch)?.apply(&value(doc))
}

/// The error of the operation of `patch` that fails on `doc`.
fn fails(doc: &str, patch: &str) -> UpdateError {
    match apply(doc, patch) {
        Err(Error::Update(error)) => *error,
        other => panic!("{patch} on {doc} gives {other:?}"),
    }
}

/// `levels` arrays in each other.
fn nested(levels: usize) -> Value {
    (0..levels).fold(Value::from(1), |inner, _| Value::Array(vec![inner]))
}

//= spec/update.md#u-2-1-all-or-nothing
//# When an operation fails, the patch, merge or update MUST fail as a whole, and change nothing.
//= spec/update.md#u-2-2-errors
//# The error of an operation that fails MUST name the number of the operation from 0, its path, and what was
//# there instead.
#[test]
fn a_patch_fails_as_a_whole_and_says_at_which_operation() {
    let before = value(r#"{"a":1}"#);
    let patch =
        r#"[{"op":"add","path":"/b","value":2},{"op":"remove","path":"/b"},{"op":"remove","path":"/c/d"}]"#;
    let patch = JsonPatch::parse(patch).unwrap();
    let Err(Error::Update(error)) = patch.apply(&before) else { panic!("there is no /c to remove from") };
    assert_eq!(before, value(r#"{"a":1}"#));
    assert_eq!((error.operation, error.name, error.path.as_str()), (2, "remove", "/c/d"));
    assert_eq!(error.fault, UpdateFault::NoSuchPlace { at: "/c".into(), fault: PathFault::NoField });
    assert_eq!(
        error.to_string(),
        r#"operation 2, remove at "/c/d": nothing is at "/c": the object has no such field; nothing was changed"#
    );
}

//= spec/update.md#u-3-1-form
//# A patch of another form MUST be refused before anything is applied, with the number of the operation and
//# the field that is missing or wrong.
#[test]
fn what_is_no_patch_is_refused_with_the_operation_and_its_field() {
    let ok = r#"{"op":"test","path":"","value":{}}"#;
    for (second, field) in [
        ("5", ""),
        ("[]", ""),
        ("{}", "op"),
        (r#"{"op":5,"path":"/a"}"#, "op"),
        (r#"{"op":"append","path":"/a"}"#, "op"),
        (r#"{"op":"Add","path":"/a","value":1}"#, "op"),
        (r#"{"op":"add","value":1}"#, "path"),
        (r#"{"op":"add","path":null,"value":1}"#, "path"),
        (r#"{"op":"add","path":"a","value":1}"#, "path"),
        (r#"{"op":"add","path":"/a~2","value":1}"#, "path"),
        (r#"{"op":"add","path":"/a"}"#, "value"),
        (r#"{"op":"replace","path":"/a"}"#, "value"),
        (r#"{"op":"test","path":"/a"}"#, "value"),
        (r#"{"op":"move","path":"/a"}"#, "from"),
        (r#"{"op":"copy","path":"/a","from":["b"]}"#, "from"),
        (r#"{"op":"copy","path":"/a","from":"/~"}"#, "from"),
    ] {
        match JsonPatch::parse(format!("[{ok},{second}]")) {
            Err(Error::InvalidPatch { operation: Some(1), field: found, .. }) => {
                assert_eq!(found, field, "{second}");
            }
            other => panic!("{second}: {other:?}"),
        }
    }
    for whole in ["{}", "null", ok, "\"[]\""] {
        let answer = JsonPatch::parse(whole);
        assert!(matches!(answer, Err(Error::InvalidPatch { operation: None, .. })), "{whole}: {answer:?}");
    }
    for text in ["", "[", "[{]", r#"[{"op":"remove","op":"remove","path":"/a"}]"#, "[]]"] {
        assert!(matches!(JsonPatch::parse(text), Err(Error::Json { .. })), "{text}");
    }
}

//= spec/update.md#u-3-2-add
//# To an array, `add` MUST insert the item before the one at the index that the last token is, or after the
//# last item where the token is `-` or the length.
#[test]
fn add_inserts_into_an_array_at_its_indexes_and_its_end_and_nowhere_else() {
    for (token, expected) in [("0", "[9,1,2]"), ("1", "[1,9,2]"), ("2", "[1,2,9]"), ("-", "[1,2,9]")] {
        let patch = format!(r#"[{{"op":"add","path":"/{token}","value":9}}]"#);
        assert_eq!(apply("[1,2]", &patch).unwrap(), value(expected), "{token}");
    }
    for (token, fault) in [
        ("3", PathFault::BeyondEnd { len: 2 }),
        ("01", PathFault::NotAnIndex),
        ("-1", PathFault::NotAnIndex),
        ("a", PathFault::NotAnIndex),
        ("", PathFault::NotAnIndex),
    ] {
        let error = fails("[1,2]", &format!(r#"[{{"op":"add","path":"/{token}","value":9}}]"#));
        assert_eq!(error.fault, UpdateFault::NoSuchPlace { at: format!("/{token}"), fault });
    }
    let error = fails(r#"{"a":"text"}"#, r#"[{"op":"add","path":"/a/b/c","value":9}]"#);
    let scalar = PathFault::Scalar { found: Kind::Text };
    assert_eq!(error.fault, UpdateFault::NoSuchPlace { at: "/a/b".into(), fault: scalar });
    let error = fails(r#"{"a":"text"}"#, r#"[{"op":"copy","from":"","path":"/a/-"}]"#);
    assert_eq!(error.fault, UpdateFault::NoSuchPlace { at: "/a/-".into(), fault: scalar });
}

//= spec/update.md#u-3-3-remove-and-replace
//# A `remove` of the whole value MUST be refused.
#[test]
fn the_whole_value_can_be_replaced_and_not_removed() {
    assert_eq!(fails("{}", r#"[{"op":"remove","path":""}]"#).fault, UpdateFault::NothingLeft);
    assert_eq!(apply("{}", r#"[{"op":"replace","path":"","value":[1]}]"#).unwrap(), value("[1]"));
    for path in ["/b", "/a/2", "/a/-", "/a/0/x"] {
        for op in ["remove", "replace"] {
            let error = fails(r#"{"a":[1,2]}"#, &format!(r#"[{{"op":"{op}","path":"{path}","value":0}}]"#));
            assert!(matches!(error.fault, UpdateFault::NoSuchPlace { at, .. } if at == path), "{op} {path}");
        }
    }
}

//= spec/update.md#u-3-4-move
//# A `move` whose `from` leads to a value around its `path` MUST be refused.
#[test]
fn a_value_is_moved_anywhere_but_into_itself() {
    let into_itself = |from: &str| UpdateFault::IntoItself { from: from.to_owned() };
    let patch = |from: &str, to: &str| format!(r#"[{{"op":"move","from":"{from}","path":"{to}"}}]"#);
    assert_eq!(fails(r#"{"a":{"b":1}}"#, &patch("/a", "/a/b")).fault, into_itself("/a"));
    assert_eq!(fails(r#"{"a":{"b":1}}"#, &patch("", "/a")).fault, into_itself(""));
    assert_eq!(fails("[[1]]", &patch("/0", "/0/0")).fault, into_itself("/0"));
    assert_eq!(apply(r#"{"a":{"b":1}}"#, &patch("/a/b", "/a")).unwrap(), value(r#"{"a":1}"#));
    assert_eq!(apply(r#"{"a":{"b":1}}"#, &patch("/a/b", "")).unwrap(), value("1"));
    assert_eq!(apply(r#"{"a":1,"aa":{}}"#, &patch("/a", "/aa/b")).unwrap(), value(r#"{"aa":{"b":1}}"#));
    assert_eq!(apply(r#"{"a":1}"#, &patch("/a", "/a")).unwrap(), value(r#"{"a":1}"#));
    let error = fails(r#"{"a":1}"#, &patch("/b", "/b"));
    assert_eq!(error.fault, UpdateFault::NoSuchPlace { at: "/b".into(), fault: PathFault::NoField });
}

//= spec/update.md#u-3-6-test
//# The error of a `test` that fails MUST hold both values.
#[test]
fn a_test_compares_by_place_in_the_order_and_shows_both_values() {
    let test = |expected: &str| format!(r#"[{{"op":"test","path":"/a","value":{expected}}}]"#);
    for (found, expected) in
        [("1", "1.0"), ("0", "-0.0"), ("[1,{\"b\":2.0}]", "[1.0,{\"b\":2}]"), ("null", "null")]
    {
        let doc = format!(r#"{{"a":{found}}}"#);
        assert_eq!(apply(&doc, &test(expected)).unwrap(), value(&doc));
    }
    let beyond = r#"{"$numberLong":"9007199254740993"}"#;
    for (found, expected) in [("1", "\"1\""), (beyond, "9007199254740992.0"), ("{}", "[]"), ("0", "false")] {
        let error = fails(&format!(r#"{{"a":{found}}}"#), &test(expected));
        assert_eq!(error.fault, UpdateFault::TestFailed { expected: value(expected), found: value(found) });
    }
    let error = fails("{}", &test("null"));
    assert_eq!(error.fault, UpdateFault::NoSuchPlace { at: "/a".into(), fault: PathFault::NoField });
}

//= spec/update.md#u-2-3-limits
//# An operation MUST be refused as `DocumentTooLarge` or `TooDeep` when the value after it is beyond the limit
//# of V-4.2 or V-4.3.
#[test]
fn a_value_on_the_way_is_within_the_limits_of_a_document() {
    // The document is level 1, so what is in its field `a` is level 2 and on.
    let add = |levels| JsonPatch::from_iter([Operation::Add { path: pointer("/a"), value: nested(levels) }]);
    let empty = Value::from(Document::new());
    assert!(add(DEPTH_MAX - 1).apply(&empty).is_ok());
    assert!(matches!(add(DEPTH_MAX).apply(&empty), Err(Error::TooDeep { max: DEPTH_MAX })));
    assert!(matches!(update::merge(&empty, &nested(DEPTH_MAX + 1)), Err(Error::TooDeep { .. })));
    // A copy of itself one level down, a hundred and more times.
    let deeper = Operation::Copy { from: pointer(""), path: pointer("/a") };
    let patch: JsonPatch = std::iter::repeat_n(deeper, DEPTH_MAX).collect();
    assert!(matches!(patch.apply(&empty), Err(Error::TooDeep { .. })));
    // Twice as long each time: 60 copies would be more than all memory.
    let twice = Operation::Copy { from: pointer("/a"), path: pointer("/a/-") };
    let patch: JsonPatch = std::iter::repeat_n(twice, 60).collect();
    let refused = patch.apply(&value(r#"{"a":["0123456789"]}"#));
    assert!(matches!(refused, Err(Error::DocumentTooLarge { max: DOCUMENT_LEN_MAX, .. })), "{refused:?}");
    // What is taken out again before the end was there all the same.
    let patch = |value: Value| {
        JsonPatch::from_iter([
            Operation::Add { path: pointer("/v"), value },
            Operation::Remove { path: pointer("/v") },
        ])
    };
    let bytes = |len| Value::Bytes(vec![0; len]);
    assert!(patch(bytes(DOCUMENT_LEN_MAX - 8)).apply(&empty).is_ok());
    assert!(matches!(patch(bytes(DOCUMENT_LEN_MAX - 7)).apply(&empty), Err(Error::DocumentTooLarge { .. })));
}

#[test]
fn a_patch_as_deep_as_a_document_may_be_is_read_and_a_deeper_one_refused() {
    let patch = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        JsonPatch::parse(format!(r#"[{{"op":"add","path":"/a","value":{open}1{close}}}]"#))
    };
    assert!(patch(DEPTH_MAX - 1).unwrap().apply(&value("{}")).is_ok());
    assert!(patch(DEPTH_MAX).unwrap().apply(&value("{}")).is_err());
    assert!(matches!(patch(1_000_000), Err(Error::TooDeep { .. })));
}

#[test]
fn a_patch_of_a_million_operations_is_applied() {
    let one = r#"{"op":"add","path":"/a/-","value":7}"#;
    let text = format!("[{}{one}]", format!("{one},").repeat(999_999));
    let patched = JsonPatch::parse(text).unwrap().apply(&value(r#"{"a":[]}"#)).unwrap();
    assert_eq!(patched.get("a").and_then(Value::as_array).map(<[Value]>::len), Some(1_000_000));
    assert_eq!(patched.pointer("/a/999999"), Some(&Value::from(7)));
}

//= spec/update.md#u-4-1-merge
//# A null of an object of the merge patch that is in no array MUST NOT come into the result.
#[test]
fn no_null_of_a_merge_patch_comes_through_but_in_arrays() {
    for (target, patch, expected) in [
        (
            "{}",
            r#"{"a":{"b":{"c":null,"d":1}},"e":[null,{"f":null}]}"#,
            r#"{"a":{"b":{"d":1}},"e":[null,{"f":null}]}"#,
        ),
        (r#"{"a":1}"#, r#"{"a":{"b":null}}"#, r#"{"a":{}}"#),
        (r#"{"a":null,"b":{"c":null}}"#, r#"{"b":{"d":1}}"#, r#"{"a":null,"b":{"c":null,"d":1}}"#),
        ("5", r#"{"a":null}"#, "{}"),
    ] {
        assert_eq!(update::merge(&value(target), &value(patch)).unwrap(), value(expected), "{patch}");
    }
}

#[test]
fn a_patch_is_read_back_as_it_was_written() {
    let text = r#"[{"op":"add","path":"/a~1b","value":{"$numberLong":"9007199254740993"}},{"op":"move","from":"/x","path":""},
        {"op":"test","path":"/~0","value":{"$binary":{"base64":"AQI=","subType":"00"}}},{"op":"remove","path":"/-"}]"#;
    let patch = JsonPatch::parse(text).unwrap();
    for mode in [JsonMode::Relaxed, JsonMode::Canonical] {
        assert_eq!(JsonPatch::parse(patch.to_json(mode)).unwrap(), patch);
    }
    assert_eq!(JsonPatch::from_value(patch.to_value()).unwrap(), patch);
}

fn pointer(text: &str) -> JsonPointer {
    JsonPointer::parse(text).unwrap()
}
