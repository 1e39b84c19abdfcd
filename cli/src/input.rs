//! JSON that comes in: from a file or standard input, one document a line or one array of them.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use holotype::document::json::{self, FromJson};
use holotype::{Document, Error, Value};
use indicatif::ProgressBar;

use crate::advice::Advice;
use crate::exit::{Failure, Result};
use crate::progress;

const BUFFER_LEN: usize = 256 << 10;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What `-` means in the place of a file name.
pub(crate) fn is_standard_input(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// A stream of JSON documents, and the name that messages give it.
pub(crate) struct Input {
    name: String,
    reader: Box<dyn BufRead>,
    progress: ProgressBar,
}

impl Input {
    /// Opens a file, or standard input for `-`. Nothing is read yet.
    pub(crate) fn open(file: &Path) -> Result<Self> {
        if is_standard_input(file) {
            return Ok(Self::over("<stdin>", io::stdin(), None));
        }
        let name = file.display().to_string();
        let refused = |error: io::Error| Failure::usage(format!("cannot open {name}: {error}"));
        // Asked before opening: not every system opens a directory, and what it says instead is of no help.
        let metadata = file.metadata().map_err(refused)?;
        if metadata.is_dir() {
            let message = format!("cannot read {name}: it is a directory");
            return Err(Failure::usage(message).advise(Advice::NameInput));
        }
        let opened = File::open(file).map_err(refused)?;
        // A pipe or a device has no length to measure progress by.
        let len = metadata.is_file().then_some(metadata.len());
        Ok(Self::over(&name, opened, len))
    }

    fn over(name: &str, stream: impl Read + 'static, len: Option<u64>) -> Self {
        let progress = progress::of_bytes(len);
        let reader = BufReader::with_capacity(BUFFER_LEN, progress.wrap_read(stream));
        Input { name: name.to_owned(), reader: Box::new(reader), progress }
    }

    /// The items of the stream, each with the line that it begins on. A stream whose first sign is `[` is an array, any other
    /// has one item a line.
    pub(crate) fn items<T: FromJson + 'static>(mut self) -> Result<Items<T>> {
        let is_array = self.begins_an_array().map_err(|error| Failure::read(&self.name, error))?;
        let items: Box<dyn Iterator<Item = (u64, holotype::Result<T>)>> = match is_array {
            true => Box::new(json::read_array(self.reader)),
            false => Box::new(json::read_lines(self.reader)),
        };
        Ok(Items { name: self.name, items, progress: self.progress })
    }

    /// Takes a byte order mark off the front, and looks at the first byte behind it that is no white space. White space stays,
    /// so that lines count from the first one.
    fn begins_an_array(&mut self) -> io::Result<bool> {
        let mut skipped = Vec::new();
        let first = loop {
            let available = self.reader.fill_buf()?;
            let Some(&byte) = available.first() else { break None };
            let is_mark =
                BYTE_ORDER_MARK.get(skipped.len()) == Some(&byte) && BYTE_ORDER_MARK.starts_with(&skipped);
            if !is_mark && !byte.is_ascii_whitespace() {
                break Some(byte);
            }
            skipped.push(byte);
            self.reader.consume(1);
        };
        if let Some(rest) = skipped.strip_prefix(BYTE_ORDER_MARK) {
            skipped = rest.to_vec();
        }
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(io::Cursor::new(skipped).chain(rest));
        Ok(first == Some(b'['))
    }
}

/// The items of an [`Input`] with their lines, up to the first that is bad.
pub(crate) struct Items<T> {
    name: String,
    items: Box<dyn Iterator<Item = (u64, holotype::Result<T>)>>,
    progress: ProgressBar,
}

impl<T> Items<T> {
    /// The failure that the item on `line`, though good JSON, cannot be used.
    pub(crate) fn bad(&self, line: u64, what: impl Display) -> Failure {
        Failure::usage(format!("{}:{line}: {what}", self.name))
    }
}

impl<T> Iterator for Items<T> {
    type Item = Result<(u64, T)>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some((line, item)) = self.items.next() else {
            self.progress.finish_and_clear();
            return None;
        };
        Some(item.map(|item| (line, item)).map_err(|error| bad_json(&self.name, line, &error)))
    }
}

impl<T> Drop for Items<T> {
    fn drop(&mut self) {
        self.progress.finish_and_clear();
    }
}

/// The one JSON value of a file; none or `-` takes it from standard input.
pub(crate) fn one_value(file: Option<&Path>) -> Result<Value> {
    let file = file.filter(|file| !is_standard_input(file));
    let name = file.map_or("<stdin>".to_owned(), |file| file.display().to_string());
    let mut bytes = Vec::new();
    match file {
        None => io::stdin().read_to_end(&mut bytes).map_err(|error| Failure::read(&name, error))?,
        Some(file) => {
            let refused = |error| Failure::usage(format!("cannot open {name}: {error}"));
            let mut opened = File::open(file).map_err(refused)?;
            opened.read_to_end(&mut bytes).map_err(|error| Failure::read(&name, error))?
        }
    };
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
    json::parse_value(text).map_err(|error| bad_json(&name, 1, &error))
}

/// One document from `text`; `-` takes it from standard input.
pub(crate) fn one_document(name: &str, text: &str) -> Result<Document> {
    if text != "-" {
        return json::parse_document(text.as_bytes()).map_err(|error| bad_json(name, 1, &error));
    }
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes).map_err(|error| Failure::read("<stdin>", error))?;
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
    json::parse_document(text).map_err(|error| bad_json("<stdin>", 1, &error))
}

/// All of a file, or of standard input for `-`, without a byte order mark.
pub(crate) fn whole(file: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = match file {
        "-" => io::stdin().read_to_end(&mut bytes).map(|_| ()),
        file => std::fs::read(file).map(|all| bytes = all),
    };
    read.map_err(|error| Failure::usage(format!("cannot read {file}: {error}")))?;
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(bytes)
}

/// `name:line:column: what`, as compilers write it and editors jump to.
fn bad_json(name: &str, line: u64, error: &Error) -> Failure {
    match error {
        Error::Json { line, column, what } => Failure::usage(format!("{name}:{line}:{column}: {what}")),
        Error::Io { source, .. } => Failure::read(name, source),
        other => Failure::usage(format!("{name}:{line}: {other}")),
    }
}
