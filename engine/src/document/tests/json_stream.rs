//! Many documents in one stream.

use std::io::{BufReader, Error as IoError, Read};

use crate::doc;
use crate::document::{Document, Key, json};
use crate::error::{Error, Result};

type Found = Vec<(u64, std::result::Result<Document, String>)>;

fn collect(items: impl Iterator<Item = (u64, Result<Document>)>) -> Found {
    items.map(|(line, item)| (line, item.map_err(|error| error.to_string()))).collect()
}

/// Through the smallest of buffers, so that every place is a border between two reads.
fn lines(text: &str) -> Found {
    collect(json::read_lines(BufReader::with_capacity(1, text.as_bytes())))
}

fn array(text: &str) -> Found {
    collect(json::read_array(BufReader::with_capacity(1, text.as_bytes())))
}

#[test]
fn lines_are_numbered_and_empty_ones_passed_over() {
    let found = lines("{\"n\":1}\r\n\n  \n{\"n\":2}");
    assert_eq!(found, [(1, Ok(doc! { "n": 1 })), (4, Ok(doc! { "n": 2 }))]);
    assert_eq!(lines(""), []);
    assert_eq!(lines("\n\n"), []);
}

#[test]
fn reading_goes_on_after_a_bad_line() {
    let found = lines("{\"n\":1}\n{\"n\":1,\"n\":2}\n{\n{\"n\":3}\n");
    let expected: Found = vec![
        (1, Ok(doc! { "n": 1 })),
        (2, Err("line 2, column 8: the field name \"n\" comes twice".to_owned())),
        (3, Err("line 4, column 1: the text ends where a field name is due".to_owned())),
        (4, Ok(doc! { "n": 3 })),
    ];
    assert_eq!(found, expected);
}

#[test]
fn keyed_lines_are_read_as_entries() {
    let text = "{\"key\":1,\"doc\":{\"a\":1}}\n{\"doc\":{},\"key\":\"k\"}\n{\"doc\":{}}\n";
    let mut lines = json::read_lines::<(Key, Document), _>(text.as_bytes());
    let mut next = || lines.next().expect("a line").1;
    assert_eq!(next().expect("an entry"), (1.into(), doc! { "a": 1 }));
    assert_eq!(next().expect("an entry"), ("k".into(), doc! {}));
    assert!(matches!(next(), Err(Error::Json { line: 3, .. })));
}

#[test]
fn the_objects_of_an_array_are_numbered_by_their_lines() {
    let found = array(" [\n {\"n\": \"}]\\\"{\"} ,{\"n\":\n[{}, []]}\n,\n{} ] \n");
    assert_eq!(found, [(2, Ok(doc! { "n": "}]\"{" })), (2, Ok(doc! { "n": [{}, []] })), (5, Ok(doc! {}))]);
    assert_eq!(array("[]"), []);
    assert_eq!(array(" [ ] "), []);
}

#[test]
fn reading_goes_on_after_an_object_that_is_bad_inside() {
    let found = array("[{\"a\":1},\n  {\"a\" 2},\n {\"a\":3}]");
    assert_eq!(found[0], (1, Ok(doc! { "a": 1 })));
    assert_eq!(found[1], (2, Err("line 2, column 8: '2' where a colon is due".to_owned())));
    assert_eq!(found[2], (3, Ok(doc! { "a": 3 })));
}

#[test]
fn reading_ends_where_the_array_is_broken() {
    for (text, complaint) in [
        ("", "line 1, column 1: the text ends where an array is due"),
        ("{}", "line 1, column 1: '{' where an array is due"),
        ("[", "line 1, column 2: the text ends where an object is due"),
        ("[1]", "line 1, column 2: '1' where an object is due"),
        ("[{}", "line 1, column 4: the text ends where a comma or a closing bracket is due"),
        ("[{}\n{}]", "line 2, column 1: '{' where a comma or a closing bracket is due"),
        ("[{},]", "line 1, column 5: ']' where an object is due"),
        ("[{}] x", "line 1, column 6: 'x' where the end of the text is due"),
        ("[{\"a\":\"]}", "line 1, column 10: the text ends where the rest of an object is due"),
        ("[\u{e9}]", "line 1, column 2: '\\xc3' where an object is due"),
    ] {
        let mut items = json::read_array::<Document, _>(text.as_bytes());
        let error = items.by_ref().find_map(|(_, item)| item.err()).expect(text);
        assert_eq!(error.to_string(), complaint, "{text}");
        assert!(items.next().is_none(), "{text}");
    }
}

/// Gives a few bytes, is interrupted once, and then fails for good.
struct Failing {
    reads: u32,
}

impl Read for Failing {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.reads += 1;
        match self.reads {
            1 => Err(std::io::ErrorKind::Interrupted.into()),
            2 => {
                out[..4].copy_from_slice(b"[{},");
                Ok(4)
            }
            _ => Err(IoError::other("unplugged")),
        }
    }
}

#[test]
fn a_failing_reader_ends_the_stream_with_its_error() {
    let mut items = json::read_array::<Document, _>(BufReader::new(Failing { reads: 0 }));
    assert_eq!(items.next().expect("an object").1.expect("a document"), doc! {});
    assert!(matches!(items.next(), Some((1, Err(Error::Io { .. })))));
    assert!(items.next().is_none());
    let mut lines = json::read_lines::<Document, _>(BufReader::new(Failing { reads: 0 }));
    assert!(matches!(lines.next(), Some((1, Err(Error::Io { .. })))));
    assert!(lines.next().is_none());
}
