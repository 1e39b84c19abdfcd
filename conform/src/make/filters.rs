//! What filters say of documents, and what paths select. What is right was written down, or is what the model says; where a case has
//! both, they are held together when it is made.

use std::collections::BTreeMap;

use holotype_model::query::{Expression, Filter, Path};
use holotype_model::{Document, Key, Value};

use super::ladder::{array, bytes, document, object, text};
use super::{Maker, What, invalid, rejected, valid};
use crate::case::{Group, Outcome, Request};
use crate::forge::cbor;
use crate::hex::Hex;
use crate::question::{Args, Asked};

const TWO_53: i64 = 1 << 53;

/// A field of each kind, and more than one of some.
fn kinds() -> Document {
    document([
        ("null", Value::Null),
        ("true", Value::Bool(true)),
        ("int", Value::Int(1)),
        ("big", Value::Int(TWO_53 + 1)),
        ("float", Value::Float(1.0)),
        ("half", Value::Float(1.5)),
        ("nan", Value::Float(f64::NAN)),
        ("text", text("abc")),
        ("upper", text("ÄBC")),
        ("bytes", bytes(b"abc")),
        ("array", array([Value::Int(1), text("x"), Value::Null])),
        ("object", object([("a", Value::Int(1))])),
    ])
}

pub(super) fn list(items: Vec<Value>) -> Vec<Outcome> {
    vec![Outcome::Bytes(cbor::value(&Value::Array(items)).into())]
}

pub(super) fn hex(value: &Value) -> Hex {
    cbor::value(value).into()
}

/// What the test of a text says of the kinds, by its clause: written down.
const SAID: &[(&str, &str, bool)] = &[
    ("Q-2.1", "  @.int  ", true),
    ("Q-2.1", "$.int == @.int", true),
    ("Q-2.1", "@.null", true),
    ("Q-2.1", "@.missing", false),
    ("Q-2.1", "!@.missing", true),
    ("Q-2.1", "@.int && @.missing || @.text", true),
    ("Q-2.1", "@.int && (@.missing || @.gone)", false),
    ("Q-2.1", "!(@.int == 2)", true),
    ("Q-3.1", "@.int == 1.0", true),
    ("Q-3.1", "@.float == 1", true),
    ("Q-3.1", "@.int == '1'", false),
    ("Q-3.1", "@.nan == @.nan", true),
    ("Q-3.1", "@.nan != @.nan", false),
    ("Q-3.1", "@.missing == null", false),
    ("Q-3.1", "@.null == null", true),
    ("Q-3.1", "@.missing == @.gone", true),
    ("Q-3.1", "@.missing != 5", true),
    ("Q-3.1", "@.missing && @.missing != 5", false),
    ("Q-3.1", "@.big == 9007199254740993", true),
    ("Q-3.1", "@.big == 9007199254740992", false),
    ("Q-3.1", "@.big == 9007199254740992.0", false),
    ("Q-3.1", "@.bytes == bytes('616263')", true),
    ("Q-3.1", "@.bytes == 'abc'", false),
    ("Q-3.1", "@.array == @.array", true),
    ("Q-3.1", "@.object == @.array", false),
    ("Q-3.2", "@.nan < -9223372036854775808", true),
    ("Q-3.2", "@.nan <= @.nan", true),
    ("Q-3.2", "@.nan < @.nan", false),
    ("Q-3.2", "@.big > 9007199254740992.0", true),
    ("Q-3.2", "@.int > 1", false),
    ("Q-3.2", "@.int >= 1.0", true),
    ("Q-3.2", "@.missing < 1", false),
    ("Q-3.2", "@.missing <= 1", false),
    ("Q-3.2", "@.missing <= @.gone", true),
    ("Q-3.2", "@.int < 'a'", false),
    ("Q-3.2", "@.text < @.bytes", false),
    ("Q-3.2", "@.text < 'abd'", true),
    ("Q-3.2", "@.bytes < bytes('6162')", false),
    ("Q-3.2", "@.array < @.array", false),
    ("Q-3.2", "@.array <= @.array", true),
    ("Q-3.2", "@.null <= null", true),
    ("Q-3.2", "false < @.true", false),
    ("Q-1.1", "@.array[?@ == 'x']", true),
    ("Q-1.1", "@.array[*]", true),
    ("Q-1.1", "@.array[3]", false),
    ("Q-1.1", "@.array[-1] == null", true),
    ("Q-1.1", "@..a && @.int", true),
    ("Q-4.1", "match(@.text, 'a.c')", true),
    ("Q-4.1", "match(@.text, 'b')", false),
    ("Q-4.1", "search(@.text, 'b')", true),
    ("Q-4.1", "search(@.text, '^b')", false),
    ("Q-4.1", "match(@.text, 'a{2')", false),
    ("Q-4.1", "match('<b>', '<b>')", true),
    ("Q-4.1", "match('b', '<b>')", false),
    ("Q-4.1", "search('a<b', '[<>]')", true),
    ("Q-4.1", "match(@.text, @.array)", false),
    ("Q-5.1", "length(@.text) == 3", true),
    ("Q-5.1", "length(@.upper) == 3", true),
    ("Q-5.1", "length(@.bytes) == 3", true),
    ("Q-5.1", "length(@.object) == 1", true),
    ("Q-5.1", "length(@.int) == 1", false),
    ("Q-5.1", "count(@.array[*]) == 3", true),
    ("Q-5.1", "count(@.missing) == 0", true),
    ("Q-5.1", "value(@.array[?@ == 'x']) == 'x'", true),
    ("Q-5.1", "value(@.array[*]) == 1", false),
    ("Q-5.2", "key() == 'wren'", true),
    ("Q-5.2", "starts_with(key(), 'w')", true),
    ("Q-5.2", "bytes('') < @.bytes", true),
    ("Q-5.3", "in(@.int, 1.0, 2)", true),
    ("Q-5.3", "in(@.missing, null, 1)", false),
    ("Q-5.3", "in(@.text, arg('list'))", true),
    ("Q-5.3", "in(@.array, arg('list'))", false),
    ("Q-5.3", "between(@.half, 1, 2)", true),
    ("Q-5.3", "between(@.int, 2, 1)", false),
    ("Q-5.3", "starts_with(@.text, '')", true),
    ("Q-5.3", "starts_with(@.bytes, bytes('6162'))", true),
    ("Q-5.3", "starts_with(@.bytes, 'ab')", false),
    ("Q-5.3", "starts_with(@.text, 'b')", false),
    ("Q-5.3", "ends_with(@.text, 'bc')", true),
    ("Q-5.3", "ends_with(@.text, 'b')", false),
    ("Q-5.3", "contains(@.text, '%')", false),
    ("Q-5.3", "contains(@.text, 'b')", true),
    ("Q-5.3", "contains(@.array, 'x')", false),
    ("Q-5.4", "lower(@.upper) == 'Äbc'", true),
    ("Q-5.4", "fold(@.upper) == 'äbc'", true),
    ("Q-5.4", "fold('ẞ') == 'ß'", true),
    ("Q-5.4", "fold('İ') == 'i'", false),
    ("Q-5.5", "time('1970-01-01T00:00:01Z') == 1000", true),
    ("Q-5.5", "time('1970-01-01T01:00:00.1239+01:00') == 123", true),
    ("Q-5.5", "time('2016-12-31T23:59:60Z') == 1483228800000", true),
    ("Q-5.5", "time(fold('1970-01-01T00:00:01Z')) == 1000", true),
    ("Q-5.5", "time('2016-12-31T22:59:60-01:00') == 1483228800000", true),
    ("Q-5.5", "time('2016-12-31T22:59:60Z') == time(@.missing)", true),
    ("Q-5.5", "time('2016-12-31') == 1483142400000", false),
    ("Q-5.6", "add(@.big, 1) == 9007199254740994", true),
    ("Q-5.6", "add(9223372036854775807, 1) == add(@.missing, 1)", true),
    ("Q-5.6", "div(-7, 2) == -3", true),
    ("Q-5.6", "mod(-7, 2) == -1", true),
    ("Q-5.6", "mod(7, -2) == 1", true),
    ("Q-5.6", "div(1, 0) == 0", false),
    ("Q-5.6", "mul(@.half, 2) == 3", true),
    ("Q-5.6", "sub(@.text, 1) == 0", false),
    ("Q-5.7", "type(@.nan) == 'float'", true),
    ("Q-5.7", "type(@.missing) == 'null'", false),
    ("Q-5.7", "type(@.object) == 'object'", true),
    ("Q-1.3", "@.int < 9223372036854775807", true),
    ("Q-1.3", "@.int == 1e0", true),
    ("Q-2.2", "@.text == arg('word')", true),
    ("Q-2.2", "@.int == arg('word')", false),
];

/// Texts that are no filters, or cannot be run.
const REFUSED: &[(&str, &str)] = &[
    ("Q-1.1", ""),
    ("Q-1.1", "@.a =="),
    ("Q-1.1", "@.a = 1"),
    ("Q-1.1", "@.a == 'x"),
    ("Q-1.1", "@.a == 1 == 2"),
    ("Q-1.1", "@.array[*] == 'x'"),
    ("Q-1.1", "@.a == @.array[*]"),
    ("Q-1.1", "@..a == 1"),
    ("Q-1.1", "length(@.text)"),
    ("Q-1.1", "count(@.text == 1) == 1"),
    ("Q-1.1", "match(@.text, 'a') == true"),
    ("Q-1.1", "nosuch(@.text)"),
    ("Q-1.1", "@.array[01]"),
    ("Q-1.1", "'a'"),
    ("Q-1.1", "! @.a == 1"),
    ("Q-1.3", "@.a == 9223372036854775808"),
    ("Q-1.3", "@.a == -9223372036854775809"),
    ("Q-1.3", "@.a == 1e999"),
    ("Q-2.2", "@.a == arg('unbound')"),
    ("Q-2.2", "@.a == arg(@.name)"),
    ("Q-5.2", "@.a == bytes('0')"),
    ("Q-5.2", "@.a == bytes('0g')"),
    ("Q-5.3", "in(@.a)"),
    ("Q-5.3", "between(@.a, 1)"),
];

fn args() -> BTreeMap<String, Value> {
    let list = array([Value::Int(2), text("abc")]);
    BTreeMap::from([("word".to_owned(), text("abc")), ("list".to_owned(), list)])
}

/// The parameters that the text has: others may not be bound.
pub(super) fn args_of(text: &str, args: &BTreeMap<String, Value>) -> Args {
    let used = args.iter().filter(|(name, _)| text.contains(&format!("arg('{name}')")));
    used.map(|(name, value)| (name.clone(), hex(value))).collect()
}

pub(super) fn make() -> Group {
    let mut maker = Maker::new(
        "filters",
        "Filters of a document, each true or false; and what paths and expressions give of one",
    );
    said(&mut maker);
    refused(&mut maker);
    compared(&mut maker);
    called(&mut maker);
    selected(&mut maker);
    maker.finish()
}

/// A filter of a document under the key `wren`, as the model answers it.
fn ask(
    maker: &mut Maker,
    what: &What<'_>,
    filter: &str,
    of: &Document,
    args: &BTreeMap<String, Value>,
) -> bool {
    let parsed = Filter::parse(filter).unwrap_or_else(|error| panic!("{filter}: {error}"));
    let key = Key::from("wren");
    let admits = parsed.admits(Some(&key), of, args);
    let request = Request::Filter {
        filter: filter.to_owned(),
        bytes: cbor::document(of).into(),
        key: filter.contains("key()").then(|| cbor::key(&key).into()),
        args: args_of(filter, args),
    };
    let name = format!("`{}` is {admits}", filter.trim());
    maker.case(what, name, request, vec![Outcome::Bytes(hex(&Value::Bool(admits)))]);
    admits
}

fn said(maker: &mut Maker) {
    for (clause, filter, expected) in SAID {
        let admits = ask(maker, &valid(&[clause], &["FilterMeaning"]), filter, &kinds(), &args());
        assert_eq!(admits, *expected, "{filter}");
    }
}

fn refused(maker: &mut Maker) {
    let refuse = |maker: &mut Maker, clause: &str, filter: &str, name: String| {
        let request = Request::Filter {
            filter: filter.to_owned(),
            bytes: cbor::document(&kinds()).into(),
            key: None,
            args: Args::new(),
        };
        maker.case(&invalid(&[clause], &["QuerySyntax"]), name, request, rejected());
    };
    for (clause, filter) in REFUSED {
        let is_bound = !filter.contains("arg('unbound')");
        assert_eq!(Filter::parse(filter).is_err(), is_bound, "{filter}");
        refuse(maker, clause, filter, format!("`{filter}` is refused"));
    }
    for depth in [65, 10_000] {
        let filter = format!("{}@.a{}", "(".repeat(depth), ")".repeat(depth));
        refuse(maker, "Q-1.4", &filter, format!("{depth} parentheses are refused"));
    }
    let deepest = format!("{}@.int{}", "(".repeat(64), ")".repeat(64));
    ask(maker, &valid(&["Q-1.4"], &["QuerySyntax"]), &deepest, &kinds(), &args());
    // Its normal form has one more bracket.
    let starred = format!("{}@.object.*{}", "(".repeat(64), ")".repeat(64));
    refuse(maker, "Q-1.4", &starred, "`.*` within 64 parentheses is refused".to_owned());
    ask(maker, &valid(&["Q-1.4"], &["QuerySyntax"]), &starred[1..starred.len() - 1], &kinds(), &args());
    let request = Request::Filter {
        filter: "@.a == 1".to_owned(),
        bytes: cbor::document(&kinds()).into(),
        key: None,
        args: Args::from([("a".to_owned(), hex(&Value::Int(1)))]),
    };
    let name = "A parameter that the filter does not have is refused";
    maker.case(&invalid(&["Q-2.2"], &["QuerySyntax"]), name, request, rejected());
}

/// Each kind, and nothing.
fn each() -> Vec<Option<Value>> {
    std::iter::once(None).chain(kinds().into_values().map(Some)).collect()
}

/// Two values, each of any kind or nothing, by each comparison.
fn compared(maker: &mut Maker) {
    for (a, b) in each().iter().flat_map(|a| each().into_iter().map(move |b| (a.clone(), b))) {
        let named = |name: &str, value: Option<Value>| value.map(|value| (name.to_owned(), value));
        let of: Document = [named("a", a), named("b", b)].into_iter().flatten().collect();
        for operator in ["==", "<", "<="] {
            let what = valid(&["Q-3.1", "Q-3.2"], &["FilterMeaning"]);
            ask(maker, &what, &format!("@.a {operator} @.b"), &of, &BTreeMap::new());
        }
    }
}

/// Each function of each kind.
fn called(maker: &mut Maker) {
    let names: Vec<String> = kinds().into_keys().chain(["missing".to_owned()]).collect();
    let values = [
        ("Q-5.1", "length(@.{})"),
        ("Q-5.1", "count(@.{})"),
        ("Q-5.1", "value(@.{})"),
        ("Q-5.4", "lower(@.{})"),
        ("Q-5.4", "fold(@.{})"),
        ("Q-5.5", "time(@.{})"),
        ("Q-5.7", "type(@.{})"),
        ("Q-5.6", "add(@.{}, 1)"),
        ("Q-5.6", "sub(1.5, @.{})"),
        ("Q-5.6", "mul(@.{}, 3)"),
        ("Q-5.6", "div(@.{}, 2)"),
        ("Q-5.6", "mod(@.{}, 2)"),
    ];
    for (clause, call) in values {
        for name in &names {
            gives(maker, &[clause, "Q-6.1"], &call.replace("{}", name));
        }
    }
    for query in ["$.array[*]", "$.missing", "$..a", "key()", "add(key(), 1)", "$.array[?@ == 1]"] {
        gives(maker, &["Q-6.1"], query);
    }
    let tests = [
        ("Q-5.3", "in(@.{}, 1, 'abc')"),
        ("Q-5.3", "in(1, @.{}, 2)"),
        ("Q-5.3", "between(@.{}, 0, 2)"),
        ("Q-5.3", "between('b', 'a', @.{})"),
        ("Q-5.3", "starts_with(@.{}, 'ab')"),
        ("Q-5.3", "starts_with('abcd', @.{})"),
        ("Q-5.3", "ends_with(@.{}, bytes('63'))"),
        ("Q-5.3", "ends_with('xabc', @.{})"),
        ("Q-5.3", "contains(@.{}, 'b')"),
        ("Q-5.3", "contains('xabcx', @.{})"),
        ("Q-5.1", "match(@.{}, 'a.*')"),
        ("Q-5.1", "search('abc', @.{})"),
    ];
    for (clause, call) in tests {
        for name in &names {
            ask(maker, &valid(&[clause], &["FilterMeaning"]), &call.replace("{}", name), &kinds(), &args());
        }
    }
    for expression in ["1", "arg('x')", "bytes('00')", "contains(@.a, 'x')", "@.a == 1", "@.a &&"] {
        assert!(Expression::parse(expression).is_err(), "{expression}");
        let request = Request::Distinct { asked: of_one(), of: expression.to_owned() };
        let name = format!("`{expression}` is no expression");
        maker.case(&invalid(&["Q-6.1"], &["QuerySyntax"]), name, request, rejected());
    }
}

fn of_one() -> Asked {
    let documents = vec![(cbor::key(&Key::from("wren")).into(), cbor::document(&kinds()).into())];
    Asked { documents, ..Asked::default() }
}

/// The distinct values that an expression gives of one document.
fn gives(maker: &mut Maker, clauses: &[&str], expression: &str) {
    let parsed = Expression::parse(expression).unwrap_or_else(|error| panic!("{expression}: {error}"));
    let members = [(Key::from("wren"), kinds())];
    let values = holotype_model::query::distinct(&members, &parsed, &BTreeMap::new());
    let request = Request::Distinct { asked: of_one(), of: expression.to_owned() };
    let name = format!("`{expression}` gives {} of values", values.len());
    maker.case(&valid(clauses, &["FilterMeaning"]), name, request, list(values));
}

fn selected(maker: &mut Maker) {
    let value = object([
        ("b", array([Value::Int(1), array([Value::Int(2), object([("a", Value::Null)])])])),
        ("aa", Value::Bool(false)),
        ("a", object([("b", bytes(b"x")), ("'", Value::Float(f64::INFINITY))])),
    ]);
    let paths = [
        "$",
        "$.*",
        "$..*",
        "$.a",
        "$['a','b']",
        "$.b[0]",
        "$.b[-1]",
        "$.b[::-1]",
        "$.b[1:]",
        "$.b[::0]",
        "$..a",
        "$..[0]",
        "$..b[*]",
        "$.b[?@ == 1]",
        "$.b[?@.a]",
        "$..[?@ == null]",
        "$.a['\\'']",
        "$[?length(@) == 2]",
        "$[?@ == $.aa]",
        "$.b[?count(@[*]) == 2]",
        "$[?type(@) == 'bool']",
        "$.missing",
        "$.b[9007199254740991]",
    ];
    for path in paths {
        let selected = Path::parse(path).unwrap_or_else(|error| panic!("{path}: {error}")).select(&value);
        let request = Request::Select { path: path.to_owned(), bytes: hex(&value) };
        let name = format!("`{path}` selects {} nodes", selected.len());
        maker.case(&valid(&["Q-1.1", "Q-1.2"], &["FilterMeaning"]), name, request, list(selected));
    }
    for path in
        ["", "a", "$.", "$[", "$[1", "$..", "$.b[1:2:3:4]", "$.a ", " $.a", "$[?@.a[*] == 1]", "$['a]"]
    {
        assert!(Path::parse(path).is_err(), "{path}");
        let request = Request::Select { path: path.to_owned(), bytes: hex(&value) };
        maker.case(
            &invalid(&["Q-1.1"], &["QuerySyntax"]),
            format!("`{path}` is no path"),
            request,
            rejected(),
        );
    }
}
