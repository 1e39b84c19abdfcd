//! What entries a document gives (I-2, I-7.1). The tuples are written down with each case.

use std::collections::BTreeSet;

use holotype_model::{Key, Value};

use crate::case::{Outcome, Request};
use crate::forge::cbor;
use crate::forge::entries::{Component, Definition, Step, field};
use crate::make::ladder::{array, bytes, object, text};
use crate::make::{Maker, valid};

pub(super) const KEY: Key = Key::Int(1);

/// What a case gives: a definition, a document, and the tuples that come of it.
struct Given {
    definition: Definition,
    limit: usize,
    key: Key,
    document: Value,
    tuples: Vec<Vec<Component>>,
}

fn given(definition: Definition, document: Value, tuples: Vec<Vec<Component>>) -> Given {
    Given { definition, limit: 1024, key: KEY, document, tuples }
}

fn gives(maker: &mut Maker, clauses: &[&str], name: &str, given: &Given) {
    let Given { definition, limit, key, document, tuples } = given;
    let entries: BTreeSet<_> = tuples.iter().map(|tuple| definition.entry(*limit, tuple, key)).collect();
    // Stores are made with what the definition says of documents: it has to say the same.
    assert_eq!(entries, definition.entries(*limit, key, document), "{name}");
    let request = Request::IndexEntries {
        definition: cbor::document(&definition.map()).into(),
        limit: *limit as u64,
        key: cbor::key(key).into(),
        bytes: cbor::value(document).into(),
    };
    let expect = vec![Outcome::Entries(entries.into_iter().map(Into::into).collect())];
    let clauses = [&["I-2.3", "I-7.1"], clauses].concat();
    maker.case(&valid(&clauses, &["IndexEntry"]), name, request, expect);
}

fn over(name: &str) -> Definition {
    Definition::over("by", name)
}

fn values() -> Vec<(&'static str, Value)> {
    let float = Value::Float;
    vec![
        ("null", Value::Null),
        ("false", Value::Bool(false)),
        ("true", Value::Bool(true)),
        ("an int", Value::Int(7)),
        ("a negative int", Value::Int(-7)),
        ("2^53 + 1", Value::Int((1 << 53) + 1)),
        ("the least int", Value::Int(i64::MIN)),
        ("the greatest int", Value::Int(i64::MAX)),
        ("1.0", float(1.0)),
        ("0.0", float(0.0)),
        ("-0.0", float(-0.0)),
        ("1.5", float(1.5)),
        ("2^53 as a float", float(2f64.powi(53))),
        ("2^63 as a float, which no int is", float(2f64.powi(63))),
        ("-2^63 as a float", float(-2f64.powi(63))),
        ("1e300", float(1e300)),
        ("NaN", float(f64::NAN)),
        ("infinity", float(f64::INFINITY)),
        ("negative infinity", float(f64::NEG_INFINITY)),
        ("an empty text", text("")),
        ("a text with a zero", text("a\0b")),
        ("bytes", bytes(&[0, 0xff, 1])),
        ("an empty array", array([])),
        ("an array", array([Value::Int(1), text("x"), array([float(2.0)])])),
        ("an empty object", object([])),
        ("an object", object([("b", float(1.0)), ("aa", Value::Int(1)), ("a", float(-0.0))])),
    ]
}

pub(super) fn components(maker: &mut Maker) {
    for (name, value) in values() {
        let document = object([("a", value.clone())]);
        for descending in [&[][..], &[0]] {
            let way = if descending.is_empty() { "" } else { ", descending" };
            let tuples = vec![vec![Some(value.clone())]];
            let given = given(over("a").descending(descending), document.clone(), tuples);
            gives(maker, &["I-2.1", "I-2.4", "E-5.1"], &format!("The entry of {name}{way}"), &given);
        }
    }
    for key in [
        Key::Int(-1),
        Key::Int(i64::MAX),
        Key::from("k\0"),
        Key::Bytes(vec![0, 1]),
        Key::from("k".repeat(1024).as_str()),
    ] {
        let name = format!("The entry of a key of {} bytes", cbor::key(&key).len());
        let tuples = vec![vec![Some(Value::Float(2.0))]];
        let given = Given { key, ..given(over("a"), object([("a", Value::Float(2.0))]), tuples) };
        gives(maker, &["E-5.6"], &name, &given);
    }
}

pub(super) fn tuples(maker: &mut Maker) {
    let int = |n: i64| Some(Value::Int(n));
    let any = Step::Any;
    let fan = |behind: &[Step]| [&[field("a"), any.clone()], behind].concat();
    let items =
        |items: &[i64]| object([("a", Value::Array(items.iter().copied().map(Value::Int).collect()))]);
    let b_and_c = Definition::new("by", &[&fan(&[field("b")]), &fan(&[field("c")])]);
    let bs = |items: Vec<Value>| object([("a", Value::Array(items))]);
    let b = |n: i64| object([("b", Value::Int(n))]);
    let nested = Definition::new("by", &[&[field("a"), any.clone(), field("b"), any.clone()]]);
    let item = |n: i64| Definition::new("by", &[&[field("a"), Step::Item(n)]]);
    let two = Definition::new("by", &[&[field("x")], &[field("y")]]);
    let beside = Definition::new("by", &[&[field("x")], &fan(&[])]);
    for (name, definition, document, tuples) in [
        ("a field that is not there is nothing", over("a"), object([]), vec![vec![None]]),
        ("nothing in a descending path", over("a").descending(&[0]), object([]), vec![vec![None]]),
        (
            "a field of what is no object is nothing",
            Definition::new("by", &[&[field("a"), field("b")]]),
            items(&[1]),
            vec![vec![None]],
        ),
        (
            "a field within a field",
            Definition::new("by", &[&[field("a"), field("b")]]),
            object([("a", b(5))]),
            vec![vec![int(5)]],
        ),
        (
            "two paths, one of them nothing",
            two.clone(),
            object([("y", Value::Null)]),
            vec![vec![None, Some(Value::Null)]],
        ),
        (
            "two paths, the second descending",
            two.clone().descending(&[1]),
            object([("x", Value::Int(1)), ("y", text("y"))]),
            vec![vec![int(1), Some(text("y"))]],
        ),
        (
            "two paths, the first descending",
            two.clone().descending(&[0]),
            object([("x", Value::Int(1))]),
            vec![vec![int(1), None]],
        ),
        ("the first item", item(0), items(&[4, 5]), vec![vec![int(4)]]),
        ("the last item", item(-1), items(&[4, 5]), vec![vec![int(5)]]),
        ("the first item, from the end", item(-2), items(&[4, 5]), vec![vec![int(4)]]),
        ("an item before the first is nothing", item(-3), items(&[4, 5]), vec![vec![None]]),
        ("an item behind the last is nothing", item(2), items(&[4, 5]), vec![vec![None]]),
        (
            "an item of an object is nothing",
            item(0),
            object([("a", object([("0", Value::Int(1))]))]),
            vec![vec![None]],
        ),
        (
            "all items",
            Definition::new("by", &[&fan(&[])]),
            items(&[3, 1, 2]),
            vec![vec![int(1)], vec![int(2)], vec![int(3)]],
        ),
        (
            "all items, descending",
            Definition::new("by", &[&fan(&[])]).descending(&[0]),
            items(&[3, 1]),
            vec![vec![int(1)], vec![int(3)]],
        ),
        (
            "equal items are one entry",
            Definition::new("by", &[&fan(&[])]),
            items(&[3, 3, 3]),
            vec![vec![int(3)]],
        ),
        (
            "1 and 1.0 are two entries",
            Definition::new("by", &[&fan(&[])]),
            bs(vec![Value::Float(1.0), Value::Int(1)]),
            vec![vec![int(1)], vec![Some(Value::Float(1.0))]],
        ),
        (
            "all fields",
            Definition::new("by", &[&fan(&[])]),
            object([("a", object([("x", Value::Int(1)), ("y", Value::Int(2))]))]),
            vec![vec![int(1)], vec![int(2)]],
        ),
        ("no items", Definition::new("by", &[&fan(&[])]), items(&[]), vec![vec![None]]),
        (
            "items of what is none",
            Definition::new("by", &[&fan(&[])]),
            object([("a", text("abc"))]),
            vec![vec![None]],
        ),
        (
            "a null among items",
            Definition::new("by", &[&fan(&[])]),
            bs(vec![Value::Null]),
            vec![vec![Some(Value::Null)]],
        ),
        (
            "items that give one of two",
            b_and_c.clone(),
            bs(vec![b(1), object([("c", Value::Int(2))])]),
            vec![vec![int(1), None], vec![None, int(2)]],
        ),
        (
            "items that give both",
            b_and_c.clone(),
            bs(vec![object([("b", Value::Int(1)), ("c", Value::Int(2))])]),
            vec![vec![int(1), int(2)]],
        ),
        (
            "items that give nothing have no tuple",
            b_and_c.clone(),
            bs(vec![b(1), Value::Int(9), object([])]),
            vec![vec![int(1), None]],
        ),
        (
            "when no item gives any, there is one tuple",
            b_and_c,
            bs(vec![Value::Int(9), object([])]),
            vec![vec![None, None]],
        ),
        (
            "items within items",
            nested.clone(),
            bs(vec![object([("b", array([Value::Int(1), Value::Int(2)]))]), b(3)]),
            vec![vec![int(1)], vec![int(2)]],
        ),
        (
            "a path beside a fan-out",
            beside.clone(),
            object([("x", Value::Int(9)), ("a", array([Value::Int(1), Value::Int(2)]))]),
            vec![vec![int(9), int(1)], vec![int(9), int(2)]],
        ),
        (
            "a path beside a fan-out of nothing",
            beside.clone(),
            object([("x", Value::Int(9))]),
            vec![vec![int(9), None]],
        ),
        ("nothing beside a fan-out", beside.clone(), items(&[1]), vec![vec![None, int(1)]]),
        ("sparse: nothing has no entry", over("a").sparse(), object([]), vec![]),
        (
            "sparse: null has one",
            over("a").sparse(),
            object([("a", Value::Null)]),
            vec![vec![Some(Value::Null)]],
        ),
        (
            "sparse: a tuple with one value has one",
            two.clone().sparse(),
            object([("y", Value::Int(1))]),
            vec![vec![None, int(1)]],
        ),
        ("sparse: no items have no entry", nested.sparse(), bs(vec![b(1)]), vec![]),
        (
            "sparse: a path beside a fan-out of nothing",
            beside.sparse(),
            object([("x", Value::Int(9))]),
            vec![vec![int(9), None]],
        ),
        ("not sparse: a tuple of nothing", two, object([]), vec![vec![None, None]]),
    ] {
        gives(
            maker,
            &["I-1.3", "I-2.1", "I-2.2"],
            &format!("Tuples: {name}"),
            &given(definition, document, tuples),
        );
    }
}

pub(super) fn functions(maker: &mut Maker) {
    let t = |value: &str| Some(text(value));
    let int = |value: i64| Some(Value::Int(value));
    let float = Value::Float;
    for (function, name, value, gives_it) in [
        ("fold", "a text", text("\u{c4}B\u{212a}\u{df}\u{130}"), t("\u{e4}bk\u{df}\u{130}")),
        ("fold", "an empty text", text(""), t("")),
        ("fold", "an int", Value::Int(1), None),
        ("fold", "a byte string", bytes(b"A"), None),
        ("fold", "null", Value::Null, None),
        ("fold", "an array of a text", array([text("A")]), None),
        ("lower", "a text", text("AZ\u{c4}[@"), t("az\u{c4}[@")),
        ("lower", "true", Value::Bool(true), None),
        ("time", "a time", text("1970-01-01T00:00:01.5Z"), int(1500)),
        ("time", "a time of another zone", text("2026-11-24T11:00:00.0019+01:00"), int(1_795_514_400_001)),
        ("time", "a time behind UTC", text("1969-12-31t23:30:00-00:30"), int(0)),
        ("time", "a leap second", text("2016-12-31T23:59:60Z"), int(1_483_228_800_000)),
        ("time", "a second 60 that is none", text("2016-12-31T22:59:60Z"), None),
        ("time", "a time of the year 0", text("0000-02-29T00:00:00Z"), int(-62_162_121_600_000)),
        ("time", "a day that is none", text("2026-02-29T00:00:00Z"), None),
        ("time", "a date alone", text("2026-02-28"), None),
        ("time", "an int", Value::Int(5), None),
        ("length", "a text", text("\u{c4}b\u{1f600}"), int(3)),
        ("length", "a byte string", bytes(b"abcd"), int(4)),
        ("length", "an array", array([Value::Null, array([]), Value::Int(1)]), int(3)),
        ("length", "an empty object", object([]), int(0)),
        ("length", "a float", float(2.0), None),
    ] {
        for descending in [&[][..], &[0]] {
            let definition = over("a").under(0, function).descending(descending);
            let way = if descending.is_empty() { "" } else { ", descending" };
            let given = given(definition, object([("a", value.clone())]), vec![vec![gives_it.clone()]]);
            gives(maker, &["I-1.5", "I-2.1"], &format!("The {function} of {name}{way}"), &given);
        }
    }
    let each = || Definition::new("by", &[&[field("a"), Step::Any]]).under(0, "fold");
    let both = Definition::new("by", &[&[field("a")], &[field("a")]]).under(1, "fold");
    let items = || array([text("B"), text("b"), Value::Int(1), text("A")]);
    for (name, definition, document, tuples) in [
        (
            "of items, of which two are alike",
            each(),
            object([("a", items())]),
            vec![vec![t("b")], vec![t("a")]],
        ),
        ("of items that give nothing", each(), object([("a", array([Value::Int(1)]))]), vec![vec![None]]),
        ("of no items, sparse", each().sparse(), object([("a", array([Value::Int(1)]))]), vec![]),
        ("beside the path", both.clone(), object([("a", text("B"))]), vec![vec![t("B"), t("b")]]),
        (
            "beside the path, which it does not take",
            both,
            object([("a", Value::Int(1))]),
            vec![vec![int(1), None]],
        ),
        ("of a path without a node", over("a").under(0, "length"), object([]), vec![vec![None]]),
        ("of a path without a node, sparse", over("a").under(0, "length").sparse(), object([]), vec![]),
    ] {
        let given = given(definition, document, tuples);
        gives(maker, &["I-1.5", "I-2.1", "I-2.2"], &format!("A function {name}"), &given);
    }
}

/// What a filter admits, of one document each.
pub(super) fn filters(maker: &mut Maker) {
    let int = Value::Int;
    let float = Value::Float;
    let of =
        |value: Value| object([("n", value), ("m", int(2)), ("k", array([int(1), text("x"), object([])]))]);
    for (filter, n, admits) in [
        ("@.n", Value::Null, true),
        ("!@.q", int(1), true),
        ("@.q == @.r", int(1), true),
        ("@.n == @.q", Value::Null, false),
        ("@.n == null", Value::Null, true),
        ("@.n == 1", float(1.0), true),
        ("@.n == 1", text("1"), false),
        ("@.n != 1", text("1"), true),
        ("@.n < 2", text("1"), false),
        ("@.n < 2", float(f64::NAN), true),
        ("@.n >= 2", float(f64::NAN), false),
        ("@.n == -0.0", int(0), true),
        ("@.n <= true", Value::Bool(true), true),
        ("@.n < true", Value::Bool(false), false),
        ("@.n < 'b'", text("a"), true),
        ("@.n < bytes('02')", bytes(&[1, 255]), true),
        ("@.n == bytes('01FF')", bytes(&[1, 255]), true),
        ("@.n == 9007199254740993", int((1 << 53) + 1), true),
        ("@.n == 9007199254740992.0", int((1 << 53) + 1), false),
        ("@.n > 9007199254740992.0", int((1 << 53) + 1), true),
        ("@.n == $['n'] && @['m'] == 2", int(1), true),
        ("@.n == 1 || @.m == 3 && @.q", int(1), true),
        ("(@.n == 1 || @.m == 3) && @.q", int(1), false),
        ("!(@.n == 1 && @.m == 2)", int(1), false),
        ("@.k[0] == 1 && @.k[-1] == @.n", object([]), true),
        ("@.k[?@ == 'x']", int(1), true),
        ("@.k[?@ == $.n]", int(1), true),
        ("@.k[?@.q]", int(1), false),
        ("count(@.k[1:]) == 2 && count(@.k[::-2]) == 2", int(1), true),
        ("@.k[::-1] && @.k[0:0:-1]", int(1), false),
        ("count(@.k[-2:2]) == 1 && count(@.k[5:1:-1]) == 1", int(1), true),
        ("@..[?@ == 5]", array([array([int(5)])]), true),
        ("@..q", object([("p", object([("q", int(1))]))]), true),
        ("@.n['q', 'p']", object([("p", int(1))]), true),
        ("@.n.*", array([]), false),
        ("in(@.n, 1, 'x')", float(1.0), true),
        ("in(@.q, @.r)", int(1), false),
        ("between(@.n, 1, 5)", float(5.0), true),
        ("between(@.n, 1, 5)", text("3"), false),
        ("starts_with(@.n, 'ab') && ends_with(@.n, 'bc') && contains(@.n, 'b')", text("abc"), true),
        ("contains(@.n, 'b')", array([text("b")]), false),
        ("starts_with(@.n, bytes('01'))", bytes(&[1, 2]), true),
        ("starts_with(@.n, 'a')", bytes(b"a"), false),
        ("length(@.n) == 1", text("\u{1f600}"), true),
        ("length(@.n) == 2", object([("a", int(1)), ("b", int(1))]), true),
        ("length(@.n) == length(@.m)", int(1), true),
        ("count(@.k[*]) == 3", int(1), true),
        ("count(@['n', 'n', 'm']) == @.n", int(3), true),
        ("value(@.n[*]) == 4", array([int(4)]), true),
        ("value(@.n[*]) == 4", array([int(4), int(4)]), false),
        ("fold(@.n) == 'wren'", text("WREN"), true),
        ("lower(@.n) == '\u{c4}b'", text("\u{c4}B"), true),
        ("lower(fold(@.n)) == '\u{e4}b'", text("\u{c4}B"), true),
        ("time(@.n) == 1000", text("1970-01-01T00:00:01Z"), true),
        ("time(@.n) < 0", text("1969-12-31T23:59:59.999Z"), true),
        ("type(@.n) == 'float'", float(1.0), true),
        ("type(@.q) == type(@.r)", int(1), true),
        ("add(@.n, 1) == @.m", int(1), true),
        ("add(@.n, 1) == @.q", int(i64::MAX), true),
        ("add(@.n, 0.5) == 1.5", int(1), true),
        ("sub(@.n, @.m) == -1", int(1), true),
        ("mul(@.n, 3) == 4.5", float(1.5), true),
        ("div(@.n, @.m) == -3", int(-7), true),
        ("mod(@.n, 4) == -3", int(-7), true),
        ("mod(@.n, 2.0) == -1.0", int(-7), true),
        ("div(@.n, 0) == @.q", int(1), true),
        ("div(@.n, 0.0) == @.q", int(1), true),
        ("div(1, @.n) == 0.1", float(10.0), true),
        ("mul(@.n, @.n) == @.q", float(1e200), true),
        ("add(@.n, 1.0) == 9007199254740992.0", int((1 << 53) + 1), true),
        ("add(@.n, @.k) == @.q", int(1), true),
    ] {
        let definition = over("m").filtered(filter);
        let tuples = if admits { vec![vec![Some(int(2))]] } else { Vec::new() };
        let name = format!("What the filter {filter} says of {}", cbor::canonical(&n));
        gives(maker, &["I-1.6", "I-2.8"], &name, &given(definition, of(n), tuples));
    }
}

pub(super) fn marks(maker: &mut Maker) {
    let (one, half, zero) = (Value::Float(1.0), Value::Float(0.5), Value::Float(-0.0));
    let int = Value::Int(1);
    let two = Definition::new("by", &[&[field("x")], &[field("y")]]);
    for (name, definition, document) in [
        ("of two components", two.clone(), object([("x", one.clone()), ("y", zero.clone())])),
        ("of the second alone", two.clone(), object([("x", int.clone()), ("y", one.clone())])),
        ("of the first alone", two.clone(), object([("x", one.clone()), ("y", int.clone())])),
        (
            "of descending paths, which are not inverted",
            two.clone().descending(&[0, 1]),
            object([("x", one.clone()), ("y", zero.clone())]),
        ),
        ("behind nothing", two, object([("y", one.clone())])),
        (
            "within an array",
            over("a"),
            object([("a", array([int.clone(), one.clone(), half, zero.clone(), int.clone()]))]),
        ),
        (
            "within an object, in name order",
            over("a"),
            object([("a", object([("bb", one.clone()), ("c", zero), ("a", int)]))]),
        ),
        ("within both", over("a"), object([("a", array([object([("x", array([one.clone()]))]), one]))])),
    ] {
        let tuples = definition.tuples(&document);
        gives(maker, &["I-2.4", "I-2.5"], &format!("Marks {name}"), &given(definition, document, tuples));
    }
}

pub(super) fn long(maker: &mut Maker) {
    let long = |len: usize| text(&"x".repeat(len));
    let two = Definition::new("by", &[&[field("x")], &[field("y")]]);
    for limit in [20, 439, 1024] {
        // A text takes three bytes more than it has.
        for len in [limit - 4, limit - 3, limit - 2, limit - 1, limit, limit + 30] {
            for descending in [&[][..], &[0]] {
                let definition = over("a").descending(descending);
                let (document, tuples) = (object([("a", long(len))]), vec![vec![Some(long(len))]]);
                let name = format!("A tuple of {} bytes, and a limit of {limit}: {descending:?}", len + 3);
                let given = Given { limit, ..given(definition, document, tuples) };
                gives(maker, &["I-2.6"], &name, &given);
            }
        }
        let document = object([("x", Value::Float(1.0)), ("y", long(limit - 12))]);
        for (document, what) in [
            (document, "that fits has its marks"),
            (object([("x", Value::Float(1.0)), ("y", long(limit))]), "that is long has none"),
        ] {
            let tuples = two.tuples(&document);
            let given = Given { limit, ..given(two.clone(), document, tuples) };
            gives(maker, &["I-2.6", "I-2.4"], &format!("A tuple {what}, and a limit of {limit}"), &given);
        }
        let items =
            object([("a", array([text(&("x".repeat(limit) + "1")), text(&("x".repeat(limit) + "2"))]))]);
        let each = Definition::new("by", &[&[field("a"), Step::Any]]);
        let tuples = each.tuples(&items);
        let given = Given { limit, ..given(each, items, tuples) };
        gives(
            maker,
            &["I-2.6"],
            &format!("Long tuples that begin alike are one entry, of a limit of {limit}"),
            &given,
        );
    }
    for (limit, name) in [(9, "A number that ends with the limit"), (8, "A number that the limit cuts")] {
        let given = Given {
            limit,
            ..given(over("a"), object([("a", Value::Float(1.0))]), vec![vec![Some(Value::Float(1.0))]])
        };
        gives(maker, &["I-2.6", "I-2.4"], name, &given);
    }
}
