//! Updates over decoded values: what each change does, what it refuses, and the paths.

use holotype::document::{Kind, PathFault, json};
use holotype::update::{UpdateError, UpdateFault};
use holotype::{Error, Update, Value};

fn value(text: &str) -> Value {
    json::parse_value(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn gives(doc: &str, update: &Update, expected: &str) {
    assert_eq!(update.apply(&value(doc)).unwrap_or_else(|error| panic!("{error}")), value(expected));
}

#[track_caller]
fn fails(doc: &str, update: &Update) -> UpdateError {
    match update.apply(&value(doc)) {
        Err(Error::Update(error)) => *error,
        other => panic!("{update:?} on {doc} gives {other:?}"),
    }
}

/// A change at a path.
type Make = fn(&str) -> Update;

fn update() -> Update {
    Update::new()
}

//= spec/update.md#u-5-2-paths
//# A path of another form MUST be refused with the byte at which it goes wrong.
#[test]
fn a_path_that_is_none_is_refused_with_its_place() {
    for (path, place) in [
        ("", 0),
        ("a", 0),
        ("$a", 1),
        ("$.", 2),
        ("$.1", 2),
        ("$..a", 1),
        ("$.*", 1),
        ("$[*]", 1),
        ("$[01]", 2),
        ("$[-0]", 2),
        ("$[9007199254740992]", 2),
        ("$[1:2]", 1),
        ("$[?@.a]", 1),
        ("$['a'", 5),
        ("$['a", 4),
        ("$['\\x']", 3),
        ("$['\\ud800']", 3),
        ("$['a','b']", 1),
        ("$ ", 1),
    ] {
        match update().set("$.ok", 1).inc(path, 1).apply(&value("{}")) {
            Err(Error::InvalidPath { at, path: found, .. }) => {
                assert_eq!((at, found.as_str()), (place, path));
            }
            other => panic!("{path}: {other:?}"),
        }
    }
}

#[test]
fn a_path_names_any_field_and_counts_from_both_ends() {
    for path in ["$.a", "$['a']", "$[\"a\"]", "$ [ 'a' ]", "$['\\u0061']", "$\n.a"] {
        gives(r#"{"a":1}"#, &update().set(path, 2), r#"{"a":2}"#);
    }
    gives("{}", &update().set("$['it\\'s']['\\ud83d\\ude00'].ü_1", 1), r#"{"it's":{"😀":{"ü_1":1}}}"#);
    gives("[1,2,3]", &update().set("$[0]", 9).set("$[-1]", 8), "[9,2,8]");
    gives("[[1],[2]]", &update().inc("$[1][0]", 5), "[[1],[7]]");
    gives("1", &update().set("$", 2), "2");
}

//= spec/update.md#u-5-2-paths
//# A name in an array, an index in an object, and any step in a scalar MUST be refused with the path up to that
//# step and what it met.
#[test]
fn a_step_that_does_not_fit_is_refused_by_every_change() {
    let all: [Make; 12] = [
        |path| update().set(path, 1),
        |path| update().unset(path),
        |path| update().rename(path, "z"),
        |path| update().inc(path, 1),
        |path| update().mul(path, 1),
        |path| update().min(path, 1),
        |path| update().max(path, 1),
        |path| update().push(path, 1),
        |path| update().pop(path),
        |path| update().pop_first(path),
        |path| update().pull(path, 1),
        |path| update().add_to_set(path, 1),
    ];
    for change in all {
        for (path, way, fault) in [
            ("$.list.a.b", "$.list.a", PathFault::NotAnIndex),
            ("$.inner[0].b", "$.inner[0]", PathFault::NotAName),
            ("$.text.a.b", "$.text.a", PathFault::Scalar { found: Kind::Text }),
            ("$.null[0].b", "$.null[0]", PathFault::Scalar { found: Kind::Null }),
        ] {
            let error = fails(r#"{"list":[],"inner":{},"text":"t","null":null}"#, &change(path));
            assert_eq!(error.fault, UpdateFault::NoSuchPlace { at: way.into(), fault }, "{}", error.name);
            assert_eq!((error.operation, error.path.as_str()), (0, path));
        }
    }
}

//= spec/update.md#u-5-3-nothing-there
//# An index that leads to nothing MUST be refused by the changes that create.
#[test]
fn what_is_not_there_is_created_or_left_alone() {
    let creating: [(Make, &str); 7] = [
        (|path| update().set(path, 3), "3"),
        (|path| update().inc(path, 3), "3"),
        (|path| update().mul(path, 3), "0"),
        (|path| update().min(path, 3), "3"),
        (|path| update().max(path, 3), "3"),
        (|path| update().push(path, 3), "[3]"),
        (|path| update().add_to_set(path, 3), "[3]"),
    ];
    for (change, made) in creating {
        let fault = UpdateFault::NoSuchPlace { at: "$.none[0]".into(), fault: PathFault::NotAName };
        assert_eq!(fails("{}", &change("$.none[0].b[1]")).fault, fault);
        gives("{}", &change("$.a"), &format!(r#"{{"a":{made}}}"#));
        gives(r#"{"a":{"b":1}}"#, &change("$.a.c.d"), &format!(r#"{{"a":{{"b":1,"c":{{"d":{made}}}}}}}"#));
        for path in ["$.a[2]", "$.a[-3]", "$.a[5].b"] {
            let error = fails(r#"{"a":[0,1]}"#, &change(path));
            let beyond = PathFault::BeyondEnd { len: 2 };
            assert!(
                matches!(error.fault, UpdateFault::NoSuchPlace { fault, .. } if fault == beyond),
                "{path}"
            );
        }
    }
    let leaving: [Make; 5] = [
        |path| update().unset(path),
        |path| update().rename(path, "z"),
        |path| update().pop(path),
        |path| update().pop_first(path),
        |path| update().pull(path, 3),
    ];
    for change in leaving {
        for path in ["$.b", "$.b.c", "$.b[0].c", "$.a[2].b", "$.a[-3].b"] {
            gives(r#"{"a":[0,1]}"#, &change(path), r#"{"a":[0,1]}"#);
        }
    }
}

//= spec/update.md#u-5-4-set-and-unset
//# An `unset` of the whole value MUST be refused.
#[test]
fn unset_takes_out_fields_and_items_and_not_the_whole() {
    gives(r#"{"a":1,"b":[1,2,3]}"#, &update().unset("$.a").unset("$.b[1]").unset("$.b[-1]"), r#"{"b":[1]}"#);
    assert_eq!(fails("{}", &update().unset("$")).fault, UpdateFault::NothingLeft);
}

//= spec/update.md#u-5-5-rename
//# A `rename` whose path does not end in a name MUST be refused.
#[test]
fn rename_moves_a_field_to_its_new_name() {
    gives(r#"{"a":1,"bb":2}"#, &update().rename("$.a", "ccc"), r#"{"ccc":1,"bb":2}"#);
    gives(r#"{"a":1,"bb":2}"#, &update().rename("$.a", "bb"), r#"{"bb":1}"#);
    gives(r#"{"a":1}"#, &update().rename("$.a", "a"), r#"{"a":1}"#);
    for path in ["$", "$.l[0]", "$.l[7]"] {
        assert_eq!(fails(r#"{"l":[1]}"#, &update().rename(path, "b")).fault, UpdateFault::NoFieldToRename);
    }
}

//= spec/update.md#u-5-6-inc-and-mul
//# Two ints MUST give the exact int, and be refused when it is beyond the range of ints.
//= spec/update.md#u-5-6-inc-and-mul
//# `inc` and `mul` of what is no number MUST be refused.
#[test]
fn arithmetic_is_exact_over_ints_and_that_of_ieee_754_with_floats() {
    let long = |int: i64| Value::from(int).to_json(holotype::document::JsonMode::Relaxed);
    let beyond = 9_007_199_254_740_993i64;
    gives(&long(beyond), &update().inc("$", 1), &long(beyond + 1));
    gives(&long(beyond), &update().mul("$", 3), &long(beyond * 3));
    gives(&long(i64::MAX - 1), &update().inc("$", 1), &long(i64::MAX));
    gives("1", &update().inc("$", 0.5), "1.5");
    gives("1.5", &update().inc("$", -1), "0.5");
    gives("2.5", &update().mul("$", 2), "5.0");
    gives("{}", &update().inc("$.a", 0.5).mul("$.b", 0.5), r#"{"a":0.5,"b":0.0}"#);
    gives("1e308", &update().mul("$", 10), r#"{"$numberDouble":"Infinity"}"#);
    for (doc, change, found, with) in [
        (i64::MAX, update().inc("$.n", 1), i64::MAX, 1),
        (i64::MIN, update().inc("$.n", -1), i64::MIN, -1),
        (i64::MIN, update().mul("$.n", -1), i64::MIN, -1),
    ] {
        let error = fails(&format!(r#"{{"n":{}}}"#, long(doc)), &change);
        assert_eq!(error.fault, UpdateFault::Overflow { found, with });
    }
    for doc in [r#""1""#, "null", "true", "[1]", "{}"] {
        for change in [update().inc("$", 1), update().mul("$", 1.5)] {
            assert!(
                matches!(fails(doc, &change).fault, UpdateFault::WrongKind { needs: "a number", .. }),
                "{doc}"
            );
        }
    }
}

// spec: U-5.7.
#[test]
fn min_and_max_go_by_the_order_of_values() {
    gives(r#"{"a":5}"#, &update().min("$.a", 3), r#"{"a":3}"#);
    gives(r#"{"a":5}"#, &update().min("$.a", 7).max("$.a", 5.0), r#"{"a":5}"#);
    gives(r#"{"a":5}"#, &update().max("$.a", "text"), r#"{"a":"text"}"#);
    gives(r#"{"a":null}"#, &update().max("$.a", false).min("$.b", 1), r#"{"a":false,"b":1}"#);
}

//= spec/update.md#u-5-11-what-is-no-array
//# `push`, `pop`, `pop_first`, `pull` and `add_to_set` of what is no array MUST be refused.
#[test]
fn changes_of_arrays_change_arrays_alone() {
    gives("[1]", &update().push("$", 2).push_all("$", [3, 4]), "[1,2,3,4]");
    gives("[1,2]", &update().push_keep_last("$", [3, 4], 3), "[2,3,4]");
    gives("[1,2]", &update().push_keep_last("$", [3], 9).push_keep_last("$", [4], 1), "[4]");
    gives("[1,2]", &update().push_keep_last("$", [3], 0), "[]");
    gives("{}", &update().push_keep_last("$.a", [1, 2, 3], 2), r#"{"a":[2,3]}"#);
    // What the cap takes out counts for no limit.
    let deep = (0..127).fold(Value::from(1), |inner, _| Value::Array(vec![inner]));
    for before in ["{}", r#"{"a":[]}"#, r#"{"a":[5,6]}"#] {
        gives(before, &update().push_keep_last("$.a", [deep.clone(), 1.into()], 1), r#"{"a":[1]}"#);
    }
    gives("[1,2,3]", &update().pop("$").pop_first("$"), "[2]");
    gives("[]", &update().pop("$").pop_first("$"), "[]");
    gives(r#"[1,"1",1.0,[1],2]"#, &update().pull("$", 1), r#"["1",[1],2]"#);
    gives("[1]", &update().add_to_set("$", 1.0).add_to_set("$", "1").add_to_set("$", "1"), r#"[1,"1"]"#);
    for change in [
        update().push("$", 1),
        update().push_keep_last("$", [1], 0),
        update().pop("$"),
        update().pop_first("$"),
        update().pull("$", 1),
        update().add_to_set("$", 1),
    ] {
        for doc in ["{}", "1", r#""text""#, "null"] {
            assert!(
                matches!(fails(doc, &change).fault, UpdateFault::WrongKind { needs: "an array", .. }),
                "{doc}"
            );
        }
    }
}

//= spec/update.md#u-2-2-errors
//# The error of an operation that fails MUST name the number of the operation from 0, its path, and what was
//# there instead.
#[test]
fn an_error_says_which_change_failed_and_what_was_there() {
    let error = fails(r#"{"a":"x"}"#, &update().set("$.b", 1).inc("$['a']", 1));
    assert_eq!(
        error.to_string(),
        r#"operation 1, inc at "$.a": it needs a number, and a value of type text is there; nothing was changed"#
    );
}

//= spec/update.md#u-5-12-each
//# Each node that the path selects in the value before the change MUST be changed once.
#[test]
fn each_changes_every_node_of_its_path_once() {
    let lines = r#"{"lines":[{"n":1},{"n":2,"free":true},{"n":3}]}"#;
    let each = |path: &str, changes: Update| update().each(path, changes);
    gives(
        lines,
        &each("$.lines[*]", update().inc("$.n", 1)),
        r#"{"lines":[{"n":2},{"n":3,"free":true},{"n":4}]}"#,
    );
    gives(
        lines,
        &each("$.lines[?@.free].n", update().set("$", 0)),
        r#"{"lines":[{"n":1},{"n":0,"free":true},{"n":3}]}"#,
    );
    gives("[1,2]", &each("$[0, 0, *]", update().inc("$", 1)), "[2,3]");
    gives("[1,2,3,4]", &each("$[?@ == 1 || @ == 3]", update().unset("$")), "[2,4]");
    gives("[1]", &each("$[?@ == 2]", update().inc("$.x", 1)), "[1]");
    gives(r#"{"a":1,"b":2}"#, &each("$.*", update().set("$", 1).unset("$").inc("$.x", 1)), "{}");
    let nested = each("$.rows[*]", update().each("$.cells[*]", update().mul("$", 2)).set("$.done", true));
    gives(r#"{"rows":[{"cells":[1,2]}]}"#, &nested, r#"{"rows":[{"cells":[2,4],"done":true}]}"#);
}

//= spec/update.md#u-5-12-each
//# The nodes MUST be changed in the reverse order of a walk through the value, in which a value comes before
//# those within it.
#[test]
fn each_changes_what_is_within_a_node_before_the_node_and_what_is_later_before_what_is_earlier() {
    // Wrapped from the inside: had the outer come first, the place of the inner would lead elsewhere.
    let wrap = update().set("$.wrapped", true);
    gives(
        r#"{"a":{"b":{}}}"#,
        &update().each("$..*", wrap),
        r#"{"a":{"b":{"wrapped":true},"wrapped":true}}"#,
    );
    gives("[[1,2],3]", &update().each("$..*", update().unset("$")), "[]");
    let error = fails(r#"["a",1,"b"]"#, &update().set("$[1]", 2).each("$[*]", update().inc("$", 1)));
    let UpdateFault::InNode { at, error: inner } = &error.fault else { panic!("{error}") };
    assert_eq!((error.operation, error.name, at.as_str(), inner.operation), (1, "each", "$[2]", 0));
    assert_eq!(
        error.to_string(),
        "operation 1, each at \"$[*]\": in the value at \"$[2]\", operation 0, inc at \"$\": \
         it needs a number, and a value of type text is there; nothing was changed"
    );
}

#[test]
fn an_each_is_refused_for_a_path_that_is_none_and_for_the_whole_value_taken_out() {
    for changes in [update().each("$[", update()), update().each("$[*]", update().unset("a"))] {
        assert!(matches!(changes.check(), Err(Error::InvalidPath { .. })), "{changes:?}");
    }
    let UpdateFault::InNode { error, .. } = fails("{}", &update().each("$", update().unset("$"))).fault
    else {
        panic!("another fault");
    };
    assert_eq!(error.fault, UpdateFault::NothingLeft);
}
