//! Writes the part of `corpus/` that is made and not found: valid inputs, and the first ways in which they go wrong.
//!
//! ```sh
//! cargo run --release -p holotype-fuzz --example seed_corpus
//! ```
//!
//! Run it after a change of the file format, and commit what it writes. Inputs that a fuzzer found stay as they are.

mod search;

use std::fs;
use std::io;
use std::path::Path;

use holotype::format::SEGMENTS_START;
use holotype::{Document, doc};
use holotype_crash_tests::queries;
use holotype_fuzz::{aged_store, sample_store};

fn main() -> io::Result<()> {
    documents()?;
    json()?;
    images()?;
    forgeries()?;
    calls()
}

fn write(target: &str, name: &str, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}

fn documents() -> io::Result<()> {
    let each: [(&str, Document); 8] = [
        ("empty", doc! {}),
        ("scalars", doc! { "null": null, "yes": true, "no": false, "text": "Wren", "int": 1859 }),
        (
            "ints",
            doc! { "a": 0, "b": 23, "c": 24, "d": 255, "e": 65536, "f": -1, "g": i64::MIN, "h": i64::MAX },
        ),
        (
            "floats",
            doc! { "a": 0.0, "b": -0.0, "c": 1.5, "d": 65504.0, "e": 1e300, "f": f64::NAN, "g": f64::INFINITY },
        ),
        ("nested", doc! { "a": { "b": [{ "c": [1, [2, [3]]] }] } }),
        ("bytes", doc! { "b": vec![0u8, 1, 254, 255] }),
        ("order", doc! { "b": 1, "aa": 2, "a": 3, "": 4 }),
        ("unicode", doc! { "name": "Zaunk\u{f6}nig \u{1f426} \u{10ffff}" }),
    ];
    for (name, document) in &each {
        write("document_decode", name, document.encode())?;
    }
    for (name, bytes) in [
        ("long-head", b"\xa1\x61a\x18\x01".as_slice()),
        ("indefinite-map", b"\xbf\x61a\x01\xff"),
        ("duplicate-name", b"\xa2\x61a\x01\x61a\x02"),
        ("unsorted-names", b"\xa2\x61b\x01\x61a\x02"),
        ("tagged", b"\xa1\x61a\xc1\x01"),
        ("long-float", b"\xa1\x61a\xfb\x3f\xf8\0\0\0\0\0\0"),
        ("other-nan", b"\xa1\x61a\xf9\x7e\x01"),
        ("huge-length", b"\xbb\xff\xff\xff\xff\xff\xff\xff\xff"),
        ("huge-text", b"\xa1\x7b\x7f\xff\xff\xff\xff\xff\xff\xff"),
        ("bad-utf8", b"\xa1\x61\xff\x01"),
        ("trailing", b"\xa0\xa0"),
        ("not-a-map", b"\x01"),
    ] {
        write("document_decode", name, bytes)?;
    }
    write("document_decode", "as-deep-as-may-be", deep(128))?;
    write("document_decode", "too-deep", deep(129))?;
    write("document_decode", "far-too-deep", deep(100_000))
}

/// Arrays in one field of a document, `levels` levels in all.
fn deep(levels: usize) -> Vec<u8> {
    let mut bytes = b"\xa1\x61a".to_vec();
    bytes.resize(bytes.len() + levels - 2, 0x81);
    bytes.push(0x80);
    bytes
}

fn json() -> io::Result<()> {
    for (name, text) in [
        (
            "plain",
            r#"{"name": "Wren", "grams": 9.5, "seen": [{"where": "hedge"}], "rare": false, "rings": null}"#,
        ),
        (
            "numbers",
            r#"{"a": -0, "b": -0.0, "c": 9223372036854775807, "d": -9223372036854775808, "e": 1e308, "f": 1E-400}"#,
        ),
        ("too-big", r#"{"a": 9223372036854775808}"#),
        ("too-far", r#"{"a": 1e999}"#),
        (
            "wrappers",
            r#"{"a": {"$numberLong": "9007199254740993"}, "b": {"$numberDouble": "NaN"}, "c": {"$numberInt": "7"}}"#,
        ),
        ("binary", r#"{"a": {"$binary": {"base64": "AAH+/w==", "subType": "00"}}}"#),
        ("literal", r#"{"a": {"$literal": {"$numberLong": "1"}}, "b": {"$literal": {"$literal": 1}}}"#),
        ("other-dollar", r#"{"$set": {"$inc": 1}, "$date": "2026-01-01"}"#),
        ("escapes", r#"{"a": "\"\\\/\b\f\n\r\t\u00e9\ud83d\udc26"}"#),
        ("lone-surrogate", r#"{"a": "\ud83d"}"#),
        ("duplicate", r#"{"a": 1, "a": 2}"#),
        ("duplicate-escaped", r#"{"a": 1, "\u0061": 2}"#),
        ("unclosed", "{\"a\": [1,\n 2"),
        ("trailing", "{}\n{}"),
        ("not-an-object", "[1, 2]"),
        ("space", " \t\r\n{ \"a\" : [ ] , \"b\" : { } }\n"),
    ] {
        write("json_import", name, text)?;
    }
    write("json_import", "bad-utf8", b"{\"a\": \"\xff\"}")?;
    write("json_import", "byte-order-mark", b"\xef\xbb\xbf{}")?;
    write("json_import", "too-deep", format!("{{\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200)))?;
    write("json_import", "far-too-deep", format!("{{\"a\":{}", "[".repeat(100_000)))
}

fn images() -> io::Result<()> {
    let sample = sample_store();
    let segments = SEGMENTS_START as usize;
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = sample.clone();
        change(&mut bytes);
        bytes
    };
    write("file_image", "empty", b"")?;
    write("file_image", "text", b"This is not a store.\n")?;
    write("file_image", "zeros", vec![0; segments + 512])?;
    write("file_image", "whole", &sample)?;
    write("file_image", "aged", aged_store())?;
    write("file_image", "cut-in-slot-a", &sample[..300])?;
    write("file_image", "cut-at-segments", &sample[..segments])?;
    write("file_image", "cut-in-last-segment", &sample[..sample.len() - 100])?;
    write("file_image", "longer", changed(&|bytes| bytes.extend([0xA5; 700])))?;
    write("file_image", "slot-a-torn", changed(&|bytes| bytes[200..512].fill(0)))?;
    write("file_image", "slot-b-torn", changed(&|bytes| bytes[4096 + 200..4096 + 512].fill(0)))?;
    write("file_image", "both-slots-gone", changed(&|bytes| bytes[..8192].fill(0)))?;
    write("file_image", "flip-in-first-frame", changed(&|bytes| bytes[segments + 64 + 40] ^= 1))?;
    write("file_image", "flip-in-second-header", changed(&|bytes| bytes[segments + 512 + 9] ^= 0x10))?;
    write(
        "file_image",
        "segments-swapped",
        changed(&|bytes| {
            let (first, second) = bytes[segments + 512..segments + 1536].split_at_mut(512);
            first.swap_with_slice(second);
        }),
    )?;
    write("file_image", "log-zeroed", changed(&|bytes| bytes[segments..].fill(0)))
}

/// Kind of place, which one, where in it (two bytes), changed by. A record takes two bytes more, to say which in its frame.
fn forgeries() -> io::Result<()> {
    for (name, edits) in [
        ("no-edit", [].as_slice()),
        ("slot-generation-at-its-end", &[0, 0, 1, 96, 0xFF, 0, 0, 1, 103, 0xFF]),
        ("slot-generation-the-last", &last_generation()),
        ("slot-durable-lsn", &[0, 1, 1, 116, 0x40]),
        ("slot-file-len", &[0, 1, 1, 124, 0x7F, 0, 0, 1, 124, 0x7F]),
        ("slot-segment-bytes", &[0, 0, 0, 45, 0x06, 0, 1, 0, 45, 0x06]),
        ("slot-incarnation", &[0, 0, 1, 107, 0xFF, 0, 1, 1, 107, 0xFF]),
        ("slot-feature", &[0, 0, 0, 24, 0x01, 0, 1, 0, 24, 0x01]),
        ("segment-names-itself", &[1, 1, 0, 36, 0x03]),
        ("next-is-in-use", &[1, 6, 0, 36, 0x04]),
        ("segment-sequence", &[1, 2, 0, 15, 0xFF]),
        ("frame-lag", &[2, 4, 0, 16, 0x01]),
        ("frame-body-len", &[2, 5, 0, 20, 0x08]),
        ("frame-part", &[2, 6, 0, 24, 0x01]),
        ("frame-flags", &[2, 6, 0, 26, 0x08]),
        ("frame-incarnation", &[2, 7, 0, 12, 0x80]),
        ("record-kind", &[3, 3, 0, 0, 0, 4, 0x07]),
        ("record-flags", &[3, 3, 0, 0, 0, 5, 0x08]),
        ("record-length", &[3, 3, 0, 0, 0, 6, 0x01]),
        ("record-collection", &[3, 3, 0, 0, 0, 7, 0x02]),
        ("record-commit", &[3, 3, 0, 0, 0, 8, 0x7F]),
        ("shorter", &[5, 0, 3, 0xFF]),
        ("longer", &[5, 0, 0, 0]),
    ] {
        write("resealed_image", name, edits)?;
    }
    for (name, edits) in
        search::required().into_iter().chain([search::in_the_place_of_another()]).chain(search::distinct())
    {
        write("resealed_image", &name, edits)?;
    }
    Ok(())
}

/// Turns the generation in slot B, which is 9, into the largest there is.
fn last_generation() -> Vec<u8> {
    [0xF6, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
        .iter()
        .zip(96..)
        .flat_map(|(&by, at)| [0, 1, 1, at, by])
        .collect()
}

/// Seeds of questions: the first, and those that show a mistake of the catalogue.
const SEEDS: [u64; 31] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 30, 57, 150, 157, 202,
    482, 483, 499,
];

fn calls() -> io::Result<()> {
    // Two bytes for the sizes, then calls: which, on what name, how durable, and what it asks for besides.
    let mut random = Random(1);
    for (name, len) in [("one", 1), ("few", 40), ("some", 120), ("more", 400), ("many", 1200)] {
        for geometry in 0u8..3 {
            let bytes = [vec![geometry, geometry], random.bytes(len)].concat();
            write("operations", &format!("{name}-{geometry}"), bytes)?;
        }
    }
    for geometry in 0u8..3 {
        for (name, choice) in [("quota", 128), ("full", 192)] {
            let bytes = [vec![geometry, choice], random.bytes(2400)].concat();
            write("operations", &format!("{name}-{geometry}"), bytes)?;
        }
    }
    // One byte for the sizes, then steps.
    for setup in 0u8..5 {
        for (name, len) in
            [("short", 60), ("middle", 300), ("long", 1500), ("longer", 3000), ("longest", 3001)]
        {
            write("lives", &format!("{name}-{setup}"), [vec![setup], random.bytes(len)].concat())?;
        }
    }
    for target in ["query_texts", "filters", "queries"] {
        for seed in SEEDS {
            write(target, &format!("seed-{seed:03}"), queries::bytes_of(seed))?;
        }
    }
    Ok(())
}

/// The same numbers each time.
struct Random(u32);

impl Random {
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut next = || {
            self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (self.0 >> 24) as u8
        };
        (0..len).map(|_| next()).collect()
    }
}
