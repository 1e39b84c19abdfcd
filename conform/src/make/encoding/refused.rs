//! Encodings that are no document.

use super::{refuse, with};
use crate::forge::cbor::{self, head, head_of_width};
use crate::make::Maker;
use crate::make::ladder::{array, bytes, object, rungs, text};
use crate::make::order::short;
use holotype_model::Value;

pub(super) fn refused_items(maker: &mut Maker) {
    let majors = [
        (0, "int", 0u64),
        (1, "negative int", 5),
        (2, "byte string", 0),
        (3, "text", 0),
        (4, "array", 0),
        (5, "object", 0),
    ];
    for (major, kind, argument) in majors {
        for width in [1, 2, 4, 8] {
            let name = format!("The argument {argument} of a {kind} in {width} bytes");
            refuse(
                maker,
                &["E-2.2", "E-1.2", "V-2.1"],
                "SecondForm",
                name,
                with(&head_of_width(major, argument, width)),
            );
        }
    }
    for (argument, width) in
        [(24, 2), (255, 2), (255, 4), (256, 4), (65_535, 4), (65_535, 8), (65_536, 8), (0xffff_ffff, 8)]
    {
        for (major, kind) in [(0, "int"), (1, "negative int")] {
            let name = format!("The argument {argument} of a {kind} in {width} bytes");
            refuse(
                maker,
                &["E-2.2", "V-2.1"],
                "SecondForm",
                name,
                with(&head_of_width(major, argument, width)),
            );
        }
    }
    let text_24 = [head_of_width(3, 24, 2), vec![b't'; 24]].concat();
    refuse(
        maker,
        &["E-2.2", "V-2.1"],
        "SecondForm",
        "A text of 24 bytes with a length of two",
        with(&text_24),
    );
    for (major, argument, name) in [
        (0, 1u64 << 63, "2^63"),
        (0, u64::MAX, "2^64 - 1"),
        (1, 1 << 63, "-2^63 - 1"),
        (1, u64::MAX, "-2^64"),
    ] {
        refuse(
            maker,
            &["E-2.4", "V-1.2"],
            "IntRange",
            format!("The int {name}"),
            with(&head_of_width(major, argument, 8)),
        );
    }
    for (major, kind) in [
        (0, "int"),
        (1, "negative int"),
        (2, "byte string"),
        (3, "text"),
        (4, "array"),
        (5, "object"),
        (6, "tag"),
        (7, "simple value"),
    ] {
        for code in 28..31u8 {
            let name = format!("A reserved head of a {kind}, {code}");
            refuse(maker, &["E-2.1"], "ForeignItem", name, with(&[major << 5 | code, 0]));
        }
    }
    for (bytes, kind) in [
        (&[0x5f, 0x41, 1, 0xff][..], "byte string"),
        (&[0x7f, 0x61, b'a', 0xff], "text"),
        (&[0x9f, 0x01, 0xff], "array"),
        (&[0x9f, 0xff], "empty array"),
        (&[0xbf, 0x61, b'a', 0x01, 0xff], "object"),
        (&[0x1f], "int"),
        (&[0x3f], "negative int"),
    ] {
        refuse(maker, &["E-2.3", "E-2.1"], "ForeignItem", format!("An indefinite {kind}"), with(bytes));
    }
    refuse(maker, &["E-2.3", "E-3.4"], "ForeignItem", "An indefinite document", vec![0xbf, 0xff]);
    refuse(maker, &["E-2.1"], "ForeignItem", "The break code by itself", with(&[0xff]));
    refuse(maker, &["E-2.1", "V-1.1"], "ForeignItem", "Undefined", with(&[0xf7]));
    for simple in (0..20u8).chain([24, 32, 255]) {
        let head = if simple < 20 { vec![0xe0 | simple] } else { vec![0xf8, simple] };
        refuse(maker, &["E-2.1", "V-1.1"], "ForeignItem", format!("The simple value {simple}"), with(&head));
    }
    for simple in [20, 21, 22, 23] {
        refuse(
            maker,
            &["E-2.1", "E-2.2"],
            "SecondForm",
            format!("The simple value {simple} in a second byte"),
            with(&[0xf8, simple]),
        );
    }
    for (tag, inner) in [
        (0u64, text("2026-01-01T00:00:00Z")),
        (1, Value::Int(0)),
        (2, bytes(&[1])),
        (32, text("a:b")),
        (55_799, Value::Int(1)),
    ] {
        refuse(
            maker,
            &["E-2.1"],
            "ForeignItem",
            format!("Tag {tag}"),
            with(&[head(6, tag), cbor::value(&inner)].concat()),
        );
    }
    refused_floats(maker);
    refused_texts(maker);
}

fn refused_floats(maker: &mut Maker) {
    for (bytes, name) in [
        (&[0xfa, 0, 0, 0, 0][..], "0.0 in 32 bits"),
        (&[0xfb, 0, 0, 0, 0, 0, 0, 0, 0], "0.0 in 64 bits"),
        (&[0xfa, 0x80, 0, 0, 0], "-0.0 in 32 bits"),
        (&[0xfa, 0x3f, 0x80, 0, 0], "1.0 in 32 bits"),
        (&[0xfb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0], "1.0 in 64 bits"),
        (&[0xfb, 0x47, 0xef, 0xff, 0xff, 0xe0, 0, 0, 0], "The greatest float of 32 bits in 64"),
        (&[0xfa, 0x47, 0x7f, 0xe0, 0], "65504.0, the greatest float of 16 bits, in 32"),
        (&[0xfa, 0x33, 0x80, 0, 0], "2^-24, the least float of 16 bits, in 32"),
        (&[0xfb, 0x36, 0xa0, 0, 0, 0, 0, 0, 0], "2^-149, the least float of 32 bits, in 64"),
        (&[0xfa, 0x7f, 0x80, 0, 0], "Infinity in 32 bits"),
        (&[0xfb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0], "Infinity in 64 bits"),
        (&[0xfa, 0xff, 0x80, 0, 0], "Negative infinity in 32 bits"),
    ] {
        refuse(maker, &["E-2.6", "V-2.1"], "FloatWidth", name, with(bytes));
    }
    for (bytes, name) in [
        (&[0xf9, 0x7e, 0x01][..], "NaN with a payload"),
        (&[0xf9, 0xfe, 0x00], "NaN with a sign"),
        (&[0xf9, 0x7d, 0x00], "A signalling NaN"),
        (&[0xf9, 0x7c, 0x01], "A signalling NaN with the least payload"),
        (&[0xfa, 0x7f, 0xc0, 0, 0], "NaN in 32 bits"),
        (&[0xfa, 0x7f, 0xc0, 0, 1], "NaN in 32 bits with a payload"),
        (&[0xfb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0], "NaN in 64 bits"),
        (&[0xfb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 1], "NaN in 64 bits with a payload"),
        (&[0xfb, 0xff, 0xf8, 0, 0, 0, 0, 0, 0], "NaN in 64 bits with a sign"),
    ] {
        refuse(maker, &["E-2.7", "V-1.3", "V-2.1"], "SecondForm", name, with(bytes));
    }
}

fn refused_texts(maker: &mut Maker) {
    let wrong: [(&[u8], &str); 12] = [
        (&[0xff], "a byte that never comes"),
        (&[0x80], "a continuation by itself"),
        (&[0xc3], "a beginning by itself"),
        (&[0xc0, 0x80], "zero in two bytes"),
        (&[0xc1, 0xbf], "an ASCII character in two bytes"),
        (&[0xe0, 0x80, 0x80], "zero in three bytes"),
        (&[0xe0, 0x9f, 0xbf], "U+07FF in three bytes"),
        (&[0xf0, 0x8f, 0xbf, 0xbf], "U+FFFF in four bytes"),
        (&[0xed, 0xa0, 0x80], "half of a surrogate pair"),
        (&[0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80], "both halves of a surrogate pair"),
        (&[0xf4, 0x90, 0x80, 0x80], "a character beyond U+10FFFF"),
        (&[b'a', 0xe2, 0x82], "a character that is cut short"),
    ];
    for (bytes, what) in wrong {
        let encoded = [head(3, bytes.len() as u64), bytes.to_vec()].concat();
        refuse(maker, &["E-2.5", "V-1.4"], "Utf8", format!("A text with {what}"), with(&encoded));
        let named = [vec![0xa1], encoded, vec![0xf6]].concat();
        refuse(maker, &["E-2.5", "E-3.1", "V-1.4"], "Utf8", format!("A name with {what}"), named);
    }
}

pub(super) fn refused_objects(maker: &mut Maker) {
    let field = |name: &str, value: i64| [cbor::text(name), cbor::int(value)].concat();
    let fields = |fields: &[(&str, i64)]| {
        let body: Vec<_> = fields.iter().flat_map(|(name, value)| field(name, *value)).collect();
        [head(5, fields.len() as u64), body].concat()
    };
    for (names, what) in [
        (&[("b", 1), ("a", 1)][..], "Two names in the wrong order"),
        (&[("aa", 1), ("b", 1)], "A longer name before a shorter one"),
        (&[("a", 1), ("ab", 1), ("c", 1)], "Alphabetic order of three names"),
        (&[("\u{e9}", 1), ("zz", 1)], "Names of one length, by characters and not by bytes"),
        (&[("a", 1), ("", 1)], "The empty name behind another"),
    ] {
        refuse(maker, &["E-3.2", "V-3.6", "E-1.2"], "NameOrder", what, fields(names));
        refuse(maker, &["E-3.2", "V-3.6"], "NameOrder", format!("{what}, further in"), with(&fields(names)));
    }
    for (names, what) in [
        (&[("a", 1), ("a", 1)][..], "A name twice with one value"),
        (&[("a", 1), ("a", 2)], "A name twice with two values"),
        (&[("", 1), ("", 2)], "The empty name twice"),
        (&[("a", 1), ("b", 1), ("b", 1)], "A name twice behind another"),
    ] {
        refuse(maker, &["E-3.3", "V-1.7"], "DuplicateName", what, fields(names));
        refuse(
            maker,
            &["E-3.3", "V-1.7"],
            "DuplicateName",
            format!("{what}, further in"),
            with(&fields(names)),
        );
    }
    for (name, what) in [
        (cbor::int(1), "an int"),
        (cbor::bytes(b"a"), "a byte string"),
        (cbor::float(1.0), "a float"),
        (vec![0xf6], "null"),
        (vec![0x80], "an array"),
        (vec![0xa0], "an object"),
    ] {
        refuse(
            maker,
            &["E-3.1"],
            "ForeignItem",
            format!("A name that is {what}"),
            [vec![0xa1], name, vec![0x01]].concat(),
        );
    }
    for value in rungs()
        .iter()
        .filter_map(|rung| rung.iter().find(|value| !matches!(value, Value::Object(_))))
        .step_by(9)
    {
        let name = format!("{} where a document is due", short(value));
        refuse(maker, &["E-3.4", "V-1.8"], "NotADocument", name, cbor::value(value));
    }
}

pub(super) fn cut_short(maker: &mut Maker) {
    let document = object([
        ("a", array([Value::Int(1000), Value::Float(1.1), text("text")])),
        ("b", bytes(&[1, 2, 3])),
        ("c", object([("d", Value::Bool(true))])),
    ]);
    let whole = cbor::value(&document);
    for len in 0..whole.len() {
        let name = format!("A document of {} bytes cut after {len}", whole.len());
        refuse(maker, &["E-1.2", "E-1.3"], "ShortInput", name, whole[..len].to_vec());
    }
    for more in [&[0x00][..], &[0xf6], &[0xa0], &[0xff], &[0x80, 0x80]] {
        let name = format!("A document with {} bytes behind it, the first {:02x}", more.len(), more[0]);
        refuse(maker, &["E-1.4"], "TrailingBytes", name, [&whole, more].concat());
    }
    for (major, kind) in [(2, "byte string"), (3, "text"), (4, "array"), (5, "object")] {
        for argument in [1, 23, 1 << 20, 1 << 32, i64::MAX as u64, u64::MAX] {
            let name = format!("A {kind} of {argument} that is not there");
            refuse(maker, &["E-1.3", "E-2.1"], "HugeCount", name, with(&head(major, argument)));
        }
    }
}
