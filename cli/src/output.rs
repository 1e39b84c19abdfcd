//! Standard output: documents one a line, and reports.

use std::fs;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::Path;

use holotype::document::{JsonMode, json};
use holotype::{DocRef, Document, Error, KeyRef, inspect};
use serde::Serialize;

use crate::advice::Advice;
use crate::args::{FormArgs, json_mode};
use crate::exit::{Failure, Result};

/// Standard output, buffered. What is left in the buffer is lost without [`finish`](Output::finish).
#[derive(Debug)]
pub(crate) struct Output {
    stream: BufWriter<StdoutLock<'static>>,
    line: String,
}

impl Output {
    pub(crate) fn new() -> Self {
        Output { stream: BufWriter::with_capacity(64 << 10, io::stdout().lock()), line: String::new() }
    }

    pub(crate) fn line(&mut self, text: &str) -> Result<()> {
        let written = self.stream.write_all(text.as_bytes()).and_then(|()| self.stream.write_all(b"\n"));
        written.map_err(|error| Failure::output(&error))
    }

    /// Writes a value as JSON on a line of its own, as it is put together.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.stream, value).map_err(|error| match error.io_error_kind() {
            Some(kind) => Failure::output(&kind.into()),
            None => Failure::read("what was to be printed", error),
        })?;
        self.line("")
    }

    /// Writes a document of its own on a line of its own.
    pub(crate) fn document(&mut self, document: &Document, mode: JsonMode) -> Result<()> {
        self.filled_line(|line| json::write_document(document, mode, line))
    }

    /// Writes a document that was read, alone or with its key; the error where its bytes are no document.
    pub(crate) fn entry(&mut self, found: &DocRef, form: FormArgs) -> Result<holotype::Result<()>> {
        let document = match found.to_document() {
            Ok(document) => document,
            Err(error) => return Ok(Err(error)),
        };
        self.document_of(found.key(), &document, form).map(Ok)
    }

    /// Writes what was made of the document under `key`, alone or with the key.
    pub(crate) fn document_of(&mut self, key: KeyRef<'_>, document: &Document, form: FormArgs) -> Result<()> {
        let mode = json_mode(form.canonical);
        if !form.with_keys {
            return self.document(document, mode);
        }
        let key = key.to_key();
        self.filled_line(|line| json::write_entry(&key, document, mode, line))
    }

    fn filled_line(&mut self, fill: impl FnOnce(&mut String)) -> Result<()> {
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        fill(&mut line);
        let written = self.line(&line);
        self.line = line;
        written
    }

    /// Hands everything on.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.stream.flush().map_err(|error| Failure::output(&error))
    }
}

/// Prints a report: `json` if it was asked for, else what `text` makes of it.
pub(crate) fn report<T: Serialize>(report: &T, json: bool, text: impl FnOnce(&T) -> String) -> Result<()> {
    let mut output = Output::new();
    if json {
        let json = serde_json::to_string(report).expect("a report is plain fields, lists and finite numbers");
        output.line(&json)?;
    } else {
        output.line(&text(report))?;
    }
    output.finish()
}

/// How many problems there are, in words.
pub(crate) fn problems(count: u64) -> String {
    match count {
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    }
}

/// Writes a report to a file of its own, in the place of one that may be there. A store is refused, whatever state it is in.
pub(crate) fn file(path: &Path, option: &str, content: &str) -> Result<()> {
    let seen = inspect::open(path);
    if matches!(seen, Ok(_) | Err(Error::Corrupt(_) | Error::NewerFormat { .. } | Error::OlderFormat { .. }))
    {
        let message = format!("{option} names a store: {}", path.display());
        return Err(Failure::usage(message).advise(Advice::GivePageAFile));
    }
    fs::write(path, content).map_err(|error| Failure::write(path, &error))
}

/// Prints text of several lines.
pub(crate) fn text(text: &str) -> Result<()> {
    let mut output = Output::new();
    output.line(text)?;
    output.finish()
}
