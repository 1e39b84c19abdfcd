//! Definitions (I-1, F-8.10).

use holotype_model::{Document, Value};

use super::{says, texts};
use crate::case::Request;
use crate::forge::cbor;
use crate::make::{Maker, invalid, rejected, valid};

const CLAUSES: &[&str] = &["F-8.10", "I-1.1", "I-1.2", "I-1.3"];

fn map(on: &[&str]) -> Document {
    Document::from([("name".to_owned(), Value::from("by")), ("on".to_owned(), texts(on))])
}

fn with(key: &str, value: Value) -> Document {
    let mut map = map(&["$.a"]);
    map.insert(key.to_owned(), value);
    map
}

fn take(maker: &mut Maker, clauses: &[&str], name: &str, map: &Document) {
    let flag = |flag: &str| (flag.to_owned(), Value::Bool(map.contains_key(flag)));
    let mut stated = Document::from([flag("unique"), flag("sparse")]);
    stated.extend(["name", "on"].map(|key| (key.to_owned(), map[key].clone())));
    let request = Request::DecodeDefinition { bytes: cbor::document(map).into() };
    maker.case(&valid(clauses, &["IndexDefinition"]), name, request, says(stated));
}

fn refuse(maker: &mut Maker, clauses: &[&str], name: &str, map: &Document) {
    let request = Request::DecodeDefinition { bytes: cbor::document(map).into() };
    maker.case(&invalid(clauses, &["IndexDefinition"]), name, request, rejected());
}

pub(super) fn taken(maker: &mut Maker) {
    let sixteen: Vec<_> = (0..16).map(|n| format!("$.a{n}")).collect();
    let sixteen: Vec<_> = sixteen.iter().map(String::as_str).collect();
    for (name, on) in [
        ("one field", &["$.a"][..]),
        ("a descending path", &["-$.a"]),
        ("sixteen paths", &sixteen),
        ("a field within a field", &["$.a.b.c"]),
        ("an item", &["$.a[0]", "$.a[12]"]),
        ("an item from the end", &["$.a[-1]", "-$[-9007199254740991]"]),
        ("the last item that an index can name", &["$[9007199254740991]"]),
        ("a wildcard", &["$[*]"]),
        ("a wildcard and fields behind it", &["$.a[*].b", "-$.a[*].c.d", "$.a[*]"]),
        ("paths with and without a wildcard", &["$.x", "$.a[*].b", "$.a[0].b"]),
        ("two wildcards", &["$.a[*].b[*]", "$.a[*].b[*].c", "$.a"]),
        (
            "names that need quotes",
            &["$['']", "$['1']", "$['a b']", "$['a-b']", "$['-']", "$['*']", "$['$']"],
        ),
        (
            "names with letters of other scripts",
            &["$.\u{e9}1", "$._a", "$.\u{80}", "$.\u{1f600}", "$['\u{7f}']"],
        ),
        (
            "names with escapes",
            &[r"$['\'']", r"$['\\']", r"$['\b\t\n\f\r']", r"$['\u0000\u001f\u000b']", "$['\"/']"],
        ),
        ("a name within quotes that no dot can have", &["$.a['b c'].d['e.f']"]),
        ("paths of which one begins another", &["$.a", "$.a.b", "$.ab"]),
        ("an item and a field of one number", &["$.a[1]", "$.a['1']"]),
    ] {
        take(maker, &["F-8.10", "I-1.1", "I-1.2", "I-1.3"], &format!("A definition over {name}"), &map(on));
    }
    let mut both = with("unique", Value::Bool(true));
    both.insert("sparse".to_owned(), Value::Bool(true));
    take(maker, &["F-8.10", "I-1.1"], "A definition with both flags", &both);
    take(maker, &["F-8.10"], "A unique definition", &with("unique", Value::Bool(true)));
    take(maker, &["F-8.10"], "A sparse definition", &with("sparse", Value::Bool(true)));
    take(maker, &["F-7.3", "F-8.10"], "A key that is not known", &with("above", Value::from("@.a")));
    for required in [&["name", "on", "by", "unique", "sparse", "where", "required"][..], &[]] {
        let name = format!("A definition that requires {required:?}");
        take(maker, &["F-7.3", "F-8.10"], &name, &with("required", texts(required)));
    }
    for (name, on, by, stated) in [
        ("a function of a path", &["$.a"][..], &[Some("fold")][..], &["fold($.a)"][..]),
        ("a function of a descending path", &["-$.a"], &[Some("time")], &["-time($.a)"]),
        (
            "a path alone and under functions",
            &["$.a", "$.a", "-$.a", "$.a"],
            &[None, Some("fold"), Some("lower"), Some("length")],
            &["$.a", "fold($.a)", "-lower($.a)", "length($.a)"],
        ),
        (
            "a function of a path with a wildcard",
            &["$.x", "$.a[*].b"],
            &[None, Some("lower")],
            &["$.x", "lower($.a[*].b)"],
        ),
    ] {
        let map = under(on, by.iter().map(|name| name.map_or(Value::Null, Value::from)).collect());
        let mut said = Document::from(["unique", "sparse"].map(|flag| (flag.to_owned(), Value::Bool(false))));
        said.extend([("name".to_owned(), map["name"].clone()), ("on".to_owned(), texts(stated))]);
        let request = Request::DecodeDefinition { bytes: cbor::document(&map).into() };
        let about = valid(&["F-8.10", "F-7.3", "I-1.2", "I-1.5"], &["IndexDefinition"]);
        maker.case(&about, format!("A definition over {name}"), request, says(said));
    }
    for filter in FILTERS {
        let map = filtered(Value::from(filter));
        let mut said = Document::from(["unique", "sparse"].map(|flag| (flag.to_owned(), Value::Bool(false))));
        said.extend(["name", "on", "where"].map(|key| (key.to_owned(), map[key].clone())));
        let request = Request::DecodeDefinition { bytes: cbor::document(&map).into() };
        let about = valid(&["F-8.10", "F-7.3", "I-1.6"], &["IndexDefinition"]);
        maker.case(&about, format!("A definition with the filter {filter}"), request, says(said));
    }
    for name in ["n".repeat(255), "\u{e9}".repeat(127), "$by".to_owned()] {
        let what = format!("A name of {} bytes, {}", name.len(), &name[..2]);
        take(maker, &["F-7.2", "F-8.10", "I-1.1"], &what, &with("name", Value::from(name.as_str())));
    }
}

/// Filters in normal form, of every kind of expression.
const FILTERS: [&str; 22] = [
    "@",
    "!@.a",
    "@.a && !(@.b || $.c)",
    "@.a || @.b && @.c",
    "!(@.a == 1)",
    "@.a == 'it\\'s' || @['b c'] != '\u{e9}'",
    "@.a < -1.5 || 2 <= @.a",
    "@[0] == null && @[-1] >= true",
    "@..a && @..[0, 'b'] && @[*]",
    "@.a[1:2] || @.a[::-1] || @.a[-3:]",
    "@.a[?@ > 1 && @.b[?$.c == @]]",
    "@.a == bytes('00ff')",
    "in(@.a, 1, 'x', null)",
    "between(@.a, 1, 5)",
    "starts_with(@.a, 'x') && ends_with(@.a, @.b) && contains(@.a, bytes('00'))",
    "length(@.a) == count(@.a[*])",
    "value(@.a[*]) == 1",
    "lower(@.a) == fold(@.b)",
    "time(@.a) >= 0",
    "type(@.a) == 'int'",
    "add(@.a, 1) == sub(mul(@.b, 2), div(7, mod(@.c, 4)))",
    "@.a == 9223372036854775807",
];

/// A definition with a filter, which it requires.
fn filtered(filter: Value) -> Document {
    let mut map = with("where", filter);
    map.insert("required".to_owned(), texts(&["where"]));
    map
}

fn refused_filters(maker: &mut Maker) {
    for filter in [
        "",
        "1",
        "'a'",
        "@.a ==",
        "@.a == 1 ,",
        "@.a = 1",
        "@.a === 1",
        "@.a && ",
        "(@.a",
        "@.a)",
        "!@.a == 1",
        "@.a[*] == 1",
        "@.a == @.b[0:1]",
        "@.a == 01",
        "@.a == 9223372036854775808",
        "@.a == 1e400",
        "@.a == \"x'",
        "@.a == '\\x'",
        "length(@.a)",
        "length(@.a, @.b) == 1",
        "length(@.a[*]) == 1",
        "count(1) == 1",
        "in(@.a)",
        "between(@.a, 1) == 1",
        "starts_with(@.a, 'a') == true",
        "@.a == bytes('0')",
        "@.a == bytes(@.b)",
        "upper(@.a) == 'A'",
        "length (@.a) == 1",
        "@ .",
        "@.a == True",
        "@.a == arg('x')",
        "in(@.a, arg('x'))",
        "key() == 1",
        "@.a[?@ == key()]",
        "match(@.a, 'x')",
        "!(@.b && search(@.a, 'x'))",
        "search(@.a, @.b)",
    ] {
        let name = format!("A definition with the filter {filter:?}");
        refuse(maker, &["F-8.10", "I-1.6"], &name, &filtered(Value::from(filter)));
    }
    for (depth, is_one) in [(64, true), (65, false)] {
        let nested = [("(", ")"), ("!(", ")"), ("@[?", "]")];
        for (open, close) in nested {
            let filter = format!("{}@.a{}", open.repeat(depth), close.repeat(depth));
            let name = format!("A filter that nests {depth} deep by {open}{close}");
            let map = filtered(Value::from(filter.as_str()));
            // Neither parentheses nor two negations stand in the normal form, so that only brackets tell.
            match is_one {
                false => refuse(maker, &["F-8.10", "I-1.6", "Q-1.4"], &name, &map),
                true if open == "@[?" => {
                    let mut said = map.clone();
                    said.remove("required");
                    said.extend(["unique", "sparse"].map(|flag| (flag.to_owned(), Value::Bool(false))));
                    let request = Request::DecodeDefinition { bytes: cbor::document(&map).into() };
                    let about = valid(&["F-8.10", "I-1.6", "Q-1.4"], &["IndexDefinition"]);
                    maker.case(&about, name, request, says(said));
                }
                true => {}
            }
        }
    }
    for filter in [Value::Null, Value::Bool(true), texts(&["@.a"]), Value::Bytes(b"@.a".to_vec())] {
        let name = format!("A definition with the filter {}", cbor::canonical(&filter));
        refuse(maker, &["F-8.10"], &name, &filtered(filter));
    }
    let mut alone = filtered(Value::from("@.a"));
    alone.remove("required");
    refuse(maker, &["F-8.10"], "A filter that a definition does not require", &alone);
    alone.insert("required".to_owned(), texts(&["on"]));
    refuse(maker, &["F-8.10"], "A filter that a definition does not require, though others", &alone);
}

/// A definition with `by`, which it requires.
fn under(on: &[&str], by: Vec<Value>) -> Document {
    let mut map = map(on);
    map.insert("by".to_owned(), Value::Array(by));
    map.insert("required".to_owned(), texts(&["by"]));
    map
}

pub(super) fn refused(maker: &mut Maker) {
    refused_filters(maker);
    let fold = || Value::from("fold");
    for (name, on, by) in [
        ("a function too few", &["$.a", "$.b"][..], vec![fold()]),
        ("a function too many", &["$.a"], vec![fold(), Value::Null]),
        ("no function", &["$.a", "$.b"], vec![Value::Null, Value::Null]),
        ("no path and no function", &[], vec![]),
        ("a function that no path can be under", &["$.a"], vec![Value::from("upper")]),
        ("a function of no name", &["$.a", "$.b"], vec![fold(), Value::Int(1)]),
        ("a function in the path", &["fold($.a)"], vec![fold()]),
        ("a function of a path twice", &["$.a", "$.a"], vec![fold(), fold()]),
        (
            "a function of a path in both directions",
            &["$.a", "$.b", "-$.a"],
            vec![fold(), Value::Null, fold()],
        ),
    ] {
        let clauses = &["F-8.10", "I-1.2", "I-1.5"];
        refuse(maker, clauses, &format!("A definition over {name}"), &under(on, by));
    }
    let mut alone = under(&["$.a"], vec![fold()]);
    alone.remove("required");
    refuse(maker, &["F-8.10"], "A function that a definition does not require", &alone);
    alone.insert("required".to_owned(), texts(&["on"]));
    refuse(maker, &["F-8.10"], "A function that a definition does not require, though others", &alone);
    let mut text = under(&["$.a"], vec![fold()]);
    text.insert("by".to_owned(), fold());
    refuse(maker, &["F-8.10"], "A function that is no list", &text);
    refuse(maker, &["F-8.10", "I-1.2"], "A function in a path", &map(&["fold($.a)"]));
    for path in [
        "",
        "-",
        "$",
        "-$",
        ".a",
        "a",
        "--$.a",
        " $.a",
        "$.a ",
        "$ .a",
        "$.a\n",
        "@.a",
        "$a",
        "$.",
        "$[",
        "$[]",
        "$.a.",
        "$.a[0",
        "$.1",
        "$.a-b",
        "$['a']",
        "$[\"a b\"]",
        "$['a b]",
        "$[ 'a b']",
        "$.*",
        "$[ *]",
        "$[* ]",
        "$..a",
        "$..[*]",
        "$[0,1]",
        "$['a','b']",
        "$[*,*]",
        "$[0:1]",
        "$[:]",
        "$[?@.a]",
        "$[00]",
        "$[-0]",
        "$[+1]",
        "$[1.0]",
        "$[9007199254740992]",
        "$[-9007199254740992]",
        r"$['\u0041 ']",
        r"$['\u000a']",
        r"$['\u001F']",
        r"$['\u0020']",
        r"$['\/']",
        "$['\"\\\"']",
        r"$['\x']",
        "$['\n']",
        "$['''']",
        "$['\u{e9}']",
        r"$['\ud83d\ude00 ']",
        "$.length()",
    ] {
        refuse(maker, &["F-8.10", "I-1.2"], &format!("The path {path:?}"), &map(&[path]));
    }
    let seventeen: Vec<_> = (0..17).map(|n| format!("$.a{n}")).collect();
    let seventeen: Vec<_> = seventeen.iter().map(String::as_str).collect();
    for (name, on) in [
        ("no path", &[][..]),
        ("seventeen paths", &seventeen),
        ("a path twice", &["$.a", "$.b", "$.a"]),
        ("a path in both directions", &["$.a", "-$.a"]),
        ("an item twice", &["$.a[1]", "$.a[1]"]),
        ("two arrays", &["$.a[*]", "$.b[*]"]),
        ("an array and an array in it", &["$.a[*].b", "$.a[*].b[*]"]),
        ("an array of which one path takes an item", &["$.a[*].b[*].c", "$.a[*].c"]),
        ("two fan-outs that differ in an item", &["$.a[0][*]", "$.a[1][*]"]),
        ("two fan-outs, of which the second differs", &["$.x", "$.a[*].b", "$.b[*].a"]),
    ] {
        refuse(maker, CLAUSES, &format!("A definition over {name}"), &map(on));
    }
    for flag in ["unique", "sparse"] {
        for value in [Value::Bool(false), Value::Null, Value::Int(1), Value::from("true")] {
            refuse(maker, &["F-8.10"], &format!("{flag} that is {value:?}"), &with(flag, value));
        }
    }
    for name in [
        Value::from(""),
        Value::from("n".repeat(256).as_str()),
        Value::from("\u{e9}".repeat(128).as_str()),
        Value::Int(1),
        Value::Null,
    ] {
        let what = format!("The name {}", cbor::canonical(&name));
        refuse(maker, &["F-7.2", "F-8.10", "I-1.1"], &what, &with("name", name));
    }
    for on in [
        Value::from("$.a"),
        Value::Null,
        Value::Array(vec![Value::Int(1)]),
        Value::Array(vec![texts(&["$.a"])]),
    ] {
        let what = format!("The paths {}", cbor::canonical(&on));
        refuse(maker, &["F-8.10"], &what, &with("on", on));
    }
    for key in ["name", "on"] {
        let mut map = map(&["$.a"]);
        map.remove(key);
        refuse(maker, &["F-8.10"], &format!("A definition without {key}"), &map);
    }
    for required in [texts(&["above"]), texts(&["on", "order"]), texts(&["id"])] {
        let what = format!("A definition of a newer version, which requires {}", cbor::canonical(&required));
        refuse(maker, &["F-7.3", "F-8.10"], &what, &with("required", required));
    }
    for required in [Value::from("on"), Value::Null, Value::Array(vec![Value::Int(1)])] {
        let what = format!("A definition with {} as what it requires", cbor::canonical(&required));
        refuse(maker, &["F-7.3", "F-8.10"], &what, &with("required", required));
    }
}
