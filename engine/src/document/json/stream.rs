//! Many JSON texts in one stream: one a line, or the items of one array. Neither is ever held as a whole.

use std::io::{BufRead, ErrorKind, Read};
use std::iter::FusedIterator;
use std::marker::PhantomData;

use super::lexer::Position;
use super::read::FromJson;
use crate::document::Document;
use crate::error::{Error, Result};
use crate::sync::Arc;

/// The longest text of one item, in bytes: so that a stream that is no JSON at all does not fill the memory.
const ITEM_LEN_MAX: usize = 1 << 30;

fn read_failed(error: std::io::Error) -> Error {
    Error::Io { operation: "reading JSON".to_owned(), source: Arc::new(error) }
}

const TOO_LONG: &str = "an item of more than 1 GiB of JSON";

/// The items of a JSON Lines stream: one text a line, empty lines apart.
///
/// ```
/// use holotype::document::json;
/// use holotype::{Document, doc};
///
/// let text = "{\"n\":1}\n\n{\"n\":}\n";
/// let mut lines = json::read_lines::<Document, _>(text.as_bytes());
/// let (line, first) = lines.next().expect("a line");
/// assert_eq!((line, first?), (1, doc! { "n": 1 }));
/// let (line, second) = lines.next().expect("another");
/// assert_eq!(second.unwrap_err().to_string(), "line 3, column 6: '}' where a value is due");
/// # Ok::<(), holotype::Error>(())
/// ```
pub fn read_lines<T: FromJson, R: BufRead>(reader: R) -> Lines<R, T> {
    Lines { reader, line: 0, buffer: Vec::new(), over: false, item: PhantomData }
}

/// See [`read_lines`]. Yields the number of each line, from 1, and what it holds. Goes on after a line that is bad, and ends
/// after an error of the reader.
#[derive(Debug)]
pub struct Lines<R, T = Document> {
    reader: R,
    line: u64,
    buffer: Vec<u8>,
    over: bool,
    item: PhantomData<fn() -> T>,
}

impl<R: BufRead, T: FromJson> Lines<R, T> {
    /// The next line that holds something, in the buffer. Whether there is one.
    fn fill(&mut self) -> Result<bool> {
        loop {
            self.buffer.clear();
            self.line += 1;
            let limit = ITEM_LEN_MAX as u64 + 1;
            let len =
                self.reader.by_ref().take(limit).read_until(b'\n', &mut self.buffer).map_err(read_failed)?;
            if len > ITEM_LEN_MAX {
                return Err(Position { line: self.line, column: 1 }.error(TOO_LONG));
            }
            if len == 0 || !self.buffer.trim_ascii().is_empty() {
                return Ok(len > 0);
            }
        }
    }
}

impl<R: BufRead, T: FromJson> Iterator for Lines<R, T> {
    type Item = (u64, Result<T>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        match self.fill() {
            Ok(true) => {
                let place = Position { line: self.line, column: 1 };
                Some((self.line, T::from_json_at(&self.buffer, place)))
            }
            Ok(false) => {
                self.over = true;
                None
            }
            Err(error) => {
                self.over = true;
                Some((self.line, Err(error)))
            }
        }
    }
}

impl<R: BufRead, T: FromJson> FusedIterator for Lines<R, T> {}

/// The objects of a stream that is one JSON array of objects.
///
/// ```
/// use holotype::document::json;
/// use holotype::{Document, doc};
///
/// let text = "[{\"n\": 1},\n {\"n\": 2}]";
/// let items = json::read_array::<Document, _>(text.as_bytes());
/// let items = items.map(|(line, item)| item.map(|item| (line, item))).collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(items, [(1, doc! { "n": 1 }), (2, doc! { "n": 2 })]);
/// # Ok::<(), holotype::Error>(())
/// ```
pub fn read_array<T: FromJson, R: BufRead>(reader: R) -> Array<R, T> {
    let source = Source { reader, place: Position::START };
    Array { source, state: State::Before, buffer: Vec::new(), item: PhantomData }
}

/// See [`read_array`]. Yields the number of the line that each object begins on, from 1, and the object. Goes on after an object
/// that is bad inside, and ends where it cannot tell any more where objects begin.
#[derive(Debug)]
pub struct Array<R, T = Document> {
    source: Source<R>,
    state: State,
    buffer: Vec<u8>,
    item: PhantomData<fn() -> T>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    Within,
    Over,
}

impl<R: BufRead, T: FromJson> Array<R, T> {
    /// The next object, in the buffer, and where it begins.
    fn fill(&mut self) -> Result<Option<Position>> {
        if self.state == State::Before {
            self.source.expect(b'[', "an array")?;
            if self.source.peek_word()? == Some(b']') {
                return self.close();
            }
        } else {
            match self.source.peek_word()? {
                Some(b']') => return self.close(),
                _ => self.source.expect(b',', "a comma or a closing bracket")?,
            }
        }
        self.state = State::Within;
        if self.source.peek_word()? != Some(b'{') {
            return Err(self.source.unexpected("an object")?);
        }
        let place = self.source.place;
        self.buffer.clear();
        self.source.take_object(&mut self.buffer)?;
        Ok(Some(place))
    }

    fn close(&mut self) -> Result<Option<Position>> {
        self.source.expect(b']', "a closing bracket")?;
        match self.source.peek_word()? {
            None => Ok(None),
            Some(_) => Err(self.source.unexpected("the end of the text")?),
        }
    }
}

impl<R: BufRead, T: FromJson> Iterator for Array<R, T> {
    type Item = (u64, Result<T>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Over {
            return None;
        }
        match self.fill() {
            Ok(Some(place)) => Some((place.line, T::from_json_at(&self.buffer, place))),
            Ok(None) => {
                self.state = State::Over;
                None
            }
            Err(error) => {
                self.state = State::Over;
                Some((self.source.place.line, Err(error)))
            }
        }
    }
}

impl<R: BufRead, T: FromJson> FusedIterator for Array<R, T> {}

/// A stream of bytes, and the place that it is at.
#[derive(Debug)]
struct Source<R> {
    reader: R,
    place: Position,
}

impl<R: BufRead> Source<R> {
    fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            match self.reader.fill_buf() {
                Ok(bytes) => return Ok(bytes.first().copied()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(read_failed(error)),
            }
        }
    }

    fn step(&mut self, byte: u8) {
        self.reader.consume(1);
        self.place = self.place.after(&[byte]);
    }

    /// The next byte, white space apart.
    fn peek_word(&mut self) -> Result<Option<u8>> {
        loop {
            match self.peek()? {
                Some(space @ (b' ' | b'\t' | b'\n' | b'\r')) => self.step(space),
                other => return Ok(other),
            }
        }
    }

    fn expect(&mut self, byte: u8, due: &str) -> Result<()> {
        if self.peek_word()? != Some(byte) {
            return Err(self.unexpected(due)?);
        }
        self.step(byte);
        Ok(())
    }

    /// The error that something else is `due` here.
    fn unexpected(&mut self, due: &str) -> Result<Error> {
        Ok(self.place.error(match self.peek()? {
            Some(found) => format!("'{}' where {due} is due", found.escape_ascii()),
            None => format!("the text ends where {due} is due"),
        }))
    }

    /// Takes the bytes of the object that comes next, up to the brace that closes it. Whether it is JSON inside is left to
    /// the parser: only strings and brackets matter for where it ends.
    fn take_object(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let (mut open, mut in_string, mut escaped) = (0u64, false, false);
        loop {
            let Some(byte) = self.peek()? else {
                return Err(self.unexpected("the rest of an object")?);
            };
            if out.len() == ITEM_LEN_MAX {
                return Err(self.place.error(TOO_LONG));
            }
            self.step(byte);
            out.push(byte);
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => open += 1,
                b'}' | b']' if !in_string => open -= 1,
                _ => {}
            }
            if open == 0 {
                return Ok(());
            }
        }
    }
}
