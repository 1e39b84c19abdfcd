//! The worked example of `spec/format.md` is what the engine writes, and enough for a file that the engine opens. The text is the
//! artefact: nothing here repeats a byte of it.

use std::sync::Arc;

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Background, Db, Document, Durability, Options, doc};

/// The page from the heading of the example on.
fn text() -> &'static str {
    let page = include_str!("../../spec/format.md");
    let (_, section) = page.split_once("## Worked example").expect("the page has an example");
    section
}

/// One line of the example: bytes that stand somewhere in the file.
struct Row {
    offset: usize,
    bytes: Vec<u8>,
}

impl Row {
    /// Reads `offset, two spaces, bytes in hexadecimal, two spaces, meaning`.
    fn parse(line: &str) -> Row {
        let (offset, rest) = line.trim_start().split_once("  ").expect("an offset begins each row");
        let digits = rest.split_once("  ").map_or(rest, |(digits, _)| digits);
        let byte = |hex| u8::from_str_radix(hex, 16).expect("bytes are written in hexadecimal");
        Row {
            offset: offset.parse().expect("offsets are decimal"),
            bytes: digits.split(' ').map(byte).collect(),
        }
    }
}

/// The rows of all blocks that the text marks as bytes.
fn rows(text: &str) -> Vec<Row> {
    let blocks = text.split("```bytes\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().expect("a split has a first part").lines());
    lines.map(Row::parse).collect()
}

/// The length that the text says the file has.
fn stated_len(text: &str) -> usize {
    let (_, rest) = text.split_once("It is ").expect("the text says how long the file is");
    let (number, _) = rest.split_once(" bytes long").expect("the text says how long the file is");
    number.replace(',', "").parse().expect("a length is a number")
}

/// The file that the text describes: its rows, and zeros everywhere else.
fn described(text: &str) -> Vec<u8> {
    let mut file = vec![0; stated_len(text)];
    let mut end = 0;
    for row in rows(text) {
        assert!(row.offset >= end, "the row at {} goes back", row.offset);
        end = row.offset + row.bytes.len();
        file[row.offset..end].copy_from_slice(&row.bytes);
    }
    file
}

fn options() -> Options {
    Options::new().sector(64).segment_bytes(512).seed(1).background(Background::Manual)
}

fn example() -> Document {
    doc! { "n": 7 }
}

/// The file that the engine makes of the calls that the text names.
fn written() -> Vec<u8> {
    let disk = Arc::new(MemoryStorage::new());
    let db = Db::open_on(Arc::clone(&disk), &options()).expect("an empty file becomes a store");
    let collection = db.collection("c").with_durability(Durability::Synced);
    collection.put(1, example()).expect("nothing refuses");
    db.checkpoint().expect("nothing refuses");

    let len = Storage::len(&*disk).expect("memory has a length");
    let mut file = vec![0; usize::try_from(len).expect("the file is small")];
    let mut at = 0;
    while at < file.len() {
        at += disk.read_at(at as u64, &mut file[at..]).expect("memory gives all");
    }
    file
}

/// The first place where two files differ, with sixteen bytes of each.
fn difference(text: &[u8], engine: &[u8]) -> Option<String> {
    if text.len() != engine.len() {
        return Some(format!("the text has {} bytes, the engine {}", text.len(), engine.len()));
    }
    let at = text.iter().zip(engine).position(|(one, other)| one != other)?;
    let end = text.len().min(at + 16);
    Some(format!("at {at} the text has {:02x?}, the engine {:02x?}", &text[at..end], &engine[at..end]))
}

#[test]
fn the_example_in_the_text_is_byte_for_byte_what_the_engine_writes() {
    assert_eq!(difference(&described(text()), &written()), None);
}

#[test]
fn every_digit_of_the_example_counts() {
    let engine = written();
    for row in rows(text()) {
        let mut file = described(text());
        let last = row.offset + row.bytes.len() - 1;
        file[last] ^= 1;
        let told = difference(&file, &engine).expect("a changed digit is a difference");
        assert!(told.starts_with(&format!("at {last} ")), "{told}");
    }
}

//= spec/versions.md#c-2-5-older-minor
//# A reader MUST read every file of its own major with an equal or lower minor version.
#[test]
fn a_file_made_of_the_text_alone_opens_to_the_document_that_it_tells_of() {
    let disk = Arc::new(MemoryStorage::new());
    let file = described(text());
    let mut at = 0;
    while at < file.len() {
        at += disk.write_at(at as u64, &file[at..]).expect("memory takes all");
    }
    let db = Db::open_on(disk, &options()).expect("the example is a store");
    let found =
        db.collection("c").get(1).expect("the record verifies").expect("the example has one document");
    assert_eq!(found.to_document().expect("the document decodes"), example());
    let report = db.verify(true).expect("nothing fails to be read");
    assert!(report.is_clean(), "{report:?}");
}
