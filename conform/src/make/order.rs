//! Equality, order, order keys and pointers.

use holotype_model::Value;

use super::ladder::{array, object, rungs, text};
use super::{Maker, invalid, rejected, valid};
use crate::case::{Group, Order, Outcome, Request};
use crate::forge::cbor;

/// Pairs of values, and values at pointers.
pub(super) fn values() -> Group {
    let mut maker = Maker::new(
        "values",
        "Pairs of values, each as CBOR: which comes first, and whether they are equal; and values at pointers",
    );
    pairs(&mut maker);
    transitive_triples(&mut maker);
    pointers(&mut maker);
    maker.finish()
}

fn compare(maker: &mut Maker, a: &Value, b: &Value, order: &str, equal: bool) {
    let (clauses, flags) = about(a, b, order);
    let request = Request::Compare { a: cbor::value(a).into(), b: cbor::value(b).into() };
    let expect = vec![Outcome::Order(Order { order: order.to_owned(), equal })];
    let name = format!("{} is {} {}", short(a), words(order, equal), short(b));
    maker.case(&valid(&clauses, &flags), name, request, expect);
}

fn words(order: &str, equal: bool) -> &'static str {
    match order {
        "less" => "before",
        "greater" => "behind",
        _ if equal => "equal to",
        _ => "at the place of, and not equal to,",
    }
}

/// A value in a few characters.
pub(super) fn short(value: &Value) -> String {
    let text = cbor::relaxed(value);
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}

/// Which clauses a pair is about, and which mistakes it catches.
fn about(a: &Value, b: &Value, order: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    use Value::{Array, Bool, Bytes, Float, Int, Null, Object, Text};
    let (clauses, flags): (&[&str], &[&str]) = match (a, b) {
        (Null, Null) => (&["V-2.1", "V-1.1"], &[]),
        (Bool(_), Bool(_)) => (&["V-3.2"], &[]),
        (Int(_), Int(_)) => (&["V-3.3", "V-1.2"], &["RoundedInt"]),
        (Int(_), Float(_)) | (Float(_), Int(_)) => {
            (&["V-3.3", "V-2.1", "V-3.7"], &["RoundedInt", "IntEqualsFloat"])
        }
        (Float(_), Float(_)) => (&["V-3.3", "V-1.3"], &["SignedZero", "NaNOrder"]),
        (Text(_), Text(_)) => (&["V-3.4", "V-1.4"], &["Utf16Order", "SignedBytes"]),
        (Bytes(_), Bytes(_)) => (&["V-3.4", "V-1.5"], &["SignedBytes"]),
        (Array(_), Array(_)) => (&["V-3.5", "V-1.6"], &["LengthFirst"]),
        (Object(_), Object(_)) => (&["V-3.6", "V-1.7"], &["AlphabeticNames"]),
        _ => (&["V-3.1"], &["TypesMixed"]),
    };
    let (mut clauses, flags) = (clauses.to_vec(), flags.to_vec());
    if order == "same" {
        clauses.extend(
            ["V-2.1", "V-3.7"].iter().filter(|clause| !clauses.contains(clause)).copied().collect::<Vec<_>>(),
        );
    }
    (clauses, flags)
}

fn pairs(maker: &mut Maker) {
    let rungs = rungs();
    for (at, rung) in rungs.iter().enumerate() {
        for (n, a) in rung.iter().enumerate() {
            compare(maker, a, a, "same", true);
            for b in &rung[n + 1..] {
                compare(maker, a, b, "same", false);
                compare(maker, b, a, "same", false);
            }
            if let Some(above) = rungs.get(at + 1) {
                for b in above {
                    compare(maker, a, b, "less", false);
                }
                compare(maker, &above[0], a, "greater", false);
            }
        }
    }
}

/// Values that are far apart, so that an order that is only right between neighbours shows.
fn transitive_triples(maker: &mut Maker) {
    let rungs = rungs();
    for step in [7, 31] {
        for (a, b) in rungs.iter().zip(rungs.iter().skip(step)).step_by(3) {
            compare(maker, &a[0], &b[0], "less", false);
        }
    }
}

fn pointers(maker: &mut Maker) {
    let long = array([Value::Int(7), object([("n", text("deep"))])]);
    let document = object([
        ("", Value::Int(0)),
        ("0", text("a name of a digit")),
        ("a", object([("b", object([("c", Value::Bool(true))])), ("", Value::Null)])),
        ("a/b", text("a name with a slash")),
        ("m~n", text("a name with a tilde")),
        ("~1", text("a name that looks like an escape")),
        ("a.b", text("a name with a dot")),
        ("list", long),
        ("\u{e9}", Value::Float(1.5)),
    ]);
    let get =
        |pointer: &str| Request::Get { bytes: cbor::value(&document).into(), pointer: pointer.to_owned() };
    let mut found = |name: &str, pointer: &str, value: &Value| {
        let clauses = ["V-6.1", "V-6.2", "V-6.3"];
        let expect = vec![Outcome::Bytes(cbor::value(value).into())];
        maker.case(&valid(&clauses, &["PointerForm"]), name, get(pointer), expect);
    };
    found("The empty pointer leads to the whole value", "", &document);
    found("A pointer of one token leads to a field", "/0", &text("a name of a digit"));
    found("A pointer of three tokens leads down", "/a/b/c", &Value::Bool(true));
    found("A slash alone leads to the empty name", "/", &Value::Int(0));
    found("An empty token is the empty name", "/a/", &Value::Null);
    found("Digits lead to an item", "/list/0", &Value::Int(7));
    found("A pointer leads through an item", "/list/1/n", &text("deep"));
    found("A name is any text", "/\u{e9}", &Value::Float(1.5));
    found("A dot is nothing special", "/a.b", &text("a name with a dot"));
    found("~1 is a slash of a name", "/a~1b", &text("a name with a slash"));
    found("~0 is a tilde of a name", "/m~0n", &text("a name with a tilde"));
    found("~01 is ~1, and no slash", "/~01", &text("a name that looks like an escape"));
    for (pointer, what) in [
        ("/b", "A name that is not there"),
        ("/list/2", "An index beyond the end"),
        ("/list/-", "The place after the last item"),
        ("/list/00", "An index with a zero in front"),
        ("/list/01", "An index with a zero in front of another digit"),
        ("/list/+1", "An index with a sign"),
        ("/list/-1", "An index from the end"),
        ("/list/ 1", "An index with white space"),
        ("/list/\u{661}", "An index in digits of another script"),
        ("/list/99999999999999999999", "An index of more than 64 bits"),
        ("/list/", "An empty index"),
        ("/0/a", "A step into a text"),
        ("/a/b/c/", "A step into a bool"),
        ("//a", "A step from the empty name"),
    ] {
        let clauses = ["V-6.1", "V-6.3"];
        let name = format!("{what} leads nowhere");
        maker.case(&invalid(&clauses, &["PointerTooLenient"]), name, get(pointer), vec![Outcome::None(true)]);
    }
    for (pointer, what) in [
        ("a", "A text without a slash in front"),
        ("a/b", "A text with a slash further on"),
        ("/~", "A tilde at the end"),
        ("/m~n", "A tilde before a letter"),
        ("/m~2", "A tilde before another digit"),
        ("/m~/a", "A tilde at the end of a token"),
        ("#/a", "The fragment of a URI"),
    ] {
        let name = format!("{what} is no pointer");
        maker.case(&invalid(&["V-6.2"], &["PointerForm"]), name, get(pointer), rejected());
    }
}

/// Order keys, and keys from them.
pub(super) fn order_keys() -> Group {
    let mut maker = Maker::new(
        "order_keys",
        "The order key of each of many values, and the keys that order keys stand for",
    );
    for (at, value) in
        rungs().iter().enumerate().flat_map(|(at, rung)| rung.iter().map(move |value| (at, value)))
    {
        let clause = match value {
            Value::Null | Value::Bool(_) => "E-5.2",
            Value::Int(_) | Value::Float(_) => "E-5.3",
            Value::Text(_) | Value::Bytes(_) => "E-5.4",
            Value::Array(_) | Value::Object(_) => "E-5.5",
        };
        let request = Request::OrderKey { bytes: cbor::value(value).into() };
        let key = cbor::order_key(value);
        let expect = vec![Outcome::Bytes(key.clone().into())];
        let name = format!("The order key of {} (rung {at})", short(value));
        maker.case(&valid(&["E-5.1", clause], &["RoundedInt"]), name, request, expect);
        let is_key = matches!(value, Value::Int(_) | Value::Text(_) | Value::Bytes(_));
        if is_key {
            let request = Request::KeyOfOrderKey { bytes: key.into() };
            let expect = vec![Outcome::Bytes(cbor::value(value).into())];
            maker.case(
                &valid(&["E-5.6", "V-1.9", clause], &[]),
                format!("The key {} from its order key", short(value)),
                request,
                expect,
            );
        }
    }
    no_order_keys(&mut maker);
    maker.finish()
}

fn no_order_keys(maker: &mut Maker) {
    let of = |value: &Value| cbor::order_key(value);
    let with = |mut bytes: Vec<u8>, more: &[u8]| {
        bytes.extend_from_slice(more);
        bytes
    };
    let cut = |mut bytes: Vec<u8>, by: usize| {
        bytes.truncate(bytes.len() - by);
        bytes
    };
    let floor_53 = of(&Value::Int((1 << 53) + 1));
    let wrong: Vec<(&str, Vec<u8>, &[&str], &str)> = vec![
        ("Nothing", vec![], &["E-5.6"], "ShortInput"),
        ("The order key of null", of(&Value::Null), &["E-5.6", "E-5.2"], "NotAKey"),
        ("The order key of false", of(&Value::Bool(false)), &["E-5.6", "E-5.2"], "NotAKey"),
        ("The order key of true", of(&Value::Bool(true)), &["E-5.6", "E-5.2"], "NotAKey"),
        ("The order key of an array", of(&array([])), &["E-5.6", "E-5.5"], "NotAKey"),
        ("The order key of an object", of(&object([])), &["E-5.6", "E-5.5"], "NotAKey"),
        ("The order key of NaN", of(&Value::Float(f64::NAN)), &["E-5.6", "E-5.3"], "NotAKey"),
        ("The order key of an infinity", of(&Value::Float(f64::INFINITY)), &["E-5.6", "E-5.3"], "NotAKey"),
        (
            "The order key of negative infinity",
            of(&Value::Float(f64::NEG_INFINITY)),
            &["E-5.6", "E-5.3"],
            "NotAKey",
        ),
        (
            "The order key of a float with a fraction",
            of(&Value::Float(1.5)),
            &["E-5.6", "E-5.3", "V-1.9"],
            "NotAKey",
        ),
        (
            "The order key of a float of 2^63",
            of(&Value::Float(9_223_372_036_854_775_808.0)),
            &["E-5.6", "E-5.3"],
            "IntRange",
        ),
        (
            "The order key of a float below -2^63",
            of(&Value::Float(-9_223_372_036_854_777_856.0)),
            &["E-5.6", "E-5.3"],
            "IntRange",
        ),
        (
            "A difference that leads beyond the next float",
            with(cut(floor_53.clone(), 2), &[0, 2]),
            &["E-5.3", "E-5.6"],
            "SecondForm",
        ),
        (
            "A difference that leads beyond the ints",
            with(cut(of(&Value::Int(i64::MAX)), 2), &[0xff, 0xff]),
            &["E-5.3", "E-5.6"],
            "IntRange",
        ),
        ("A number without its difference", cut(floor_53, 2), &["E-5.3", "E-5.6"], "ShortInput"),
        ("A number cut short", cut(of(&Value::Int(5)), 1), &["E-5.3", "E-5.6"], "ShortInput"),
        (
            "-0.0 as the floor of zero",
            vec![4, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &["E-5.3", "E-5.6"],
            "SecondForm",
        ),
        ("A text without its end", cut(of(&text("ab")), 2), &["E-5.4", "E-5.6"], "ShortInput"),
        ("A text with half an end", cut(of(&text("ab")), 1), &["E-5.4", "E-5.6"], "ShortInput"),
        (
            "A zero in a text that nothing escapes",
            vec![5, b'a', 0, 7, 0, 0],
            &["E-5.4", "E-5.6"],
            "SecondForm",
        ),
        ("A text that is not UTF-8", vec![5, 0xff, 0, 0], &["E-5.4", "E-5.6"], "Utf8"),
        ("An empty byte string without its end", vec![6], &["E-5.4", "E-5.6"], "ShortInput"),
        ("An unknown type", vec![9, 0], &["E-5.6"], "NotAKey"),
        ("A type of zero", vec![0], &["E-5.6"], "NotAKey"),
        (
            "Two order keys behind one another",
            with(of(&Value::Int(1)), &of(&Value::Int(2))),
            &["E-5.1", "E-5.6"],
            "TrailingBytes",
        ),
        (
            "An order key with a byte behind it",
            with(of(&text("a")), &[0]),
            &["E-5.1", "E-5.6"],
            "TrailingBytes",
        ),
        ("A text of 1,025 bytes", of(&Value::Text("k".repeat(1025))), &["V-4.1", "E-5.6"], "Limit"),
    ];
    for (name, bytes, clauses, flag) in wrong {
        let request = Request::KeyOfOrderKey { bytes: bytes.into() };
        maker.case(
            &invalid(clauses, &[flag]),
            format!("{name} is not the order key of a key"),
            request,
            rejected(),
        );
    }
    for (name, key) in [
        ("A text of 1,024 bytes", Value::Text("k".repeat(1024))),
        ("1,024 zeros", Value::Bytes(vec![0; 1024])),
    ] {
        let request = Request::KeyOfOrderKey { bytes: cbor::order_key(&key).into() };
        let expect = vec![Outcome::Bytes(cbor::value(&key).into())];
        maker.case(
            &valid(&["V-4.1", "E-5.6"], &["Limit"]),
            format!("{name} is the longest key"),
            request,
            expect,
        );
    }
}
