//! A directory of its own for each test, and the command run in it.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// 200 real documents, nested and of many shapes.
pub(crate) const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mdn-sample.jsonl");

pub(crate) struct Bench {
    directory: TempDir,
}

/// What a run of the command left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Bench { directory: TempDir::new().unwrap() }
    }

    /// A bench with a store `s.holo` of these documents in the collection `notes`.
    pub(crate) fn with_notes(lines: &str) -> Self {
        let bench = Bench::new();
        bench.write("notes.jsonl", lines);
        bench.run("import s.holo notes.jsonl").done();
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The command, to be run in this directory.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_holotype"));
        command.current_dir(self.directory.path()).stdin(Stdio::null());
        command
    }

    /// Runs the command with arguments that hold no spaces.
    pub(crate) fn run(&self, arguments: &str) -> Run {
        self.run_args(arguments.split(' '))
    }

    pub(crate) fn run_args<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Run {
        Run::of(&self.command().args(arguments).output().unwrap())
    }

    /// Runs the command with `input` as its standard input.
    pub(crate) fn run_with(&self, arguments: &str, input: &str) -> Run {
        let mut command = self.command();
        command
            .args(arguments.split(' '))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        match child.stdin.take().unwrap().write_all(input.as_bytes()) {
            // One that refuses its arguments may be gone before it reads.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written.unwrap(),
        }
        Run::of(&child.wait_with_output().unwrap())
    }
}

impl Run {
    pub(crate) fn of(output: &std::process::Output) -> Self {
        Run {
            code: output.status.code().unwrap_or_else(|| panic!("ended by a signal: {output:?}")),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// It went well and had nothing to complain about; what it printed.
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{self:?}");
        self.out
    }

    /// It failed with this code and printed nothing; its one line of complaint.
    #[track_caller]
    pub(crate) fn fails(self, code: i32) -> String {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{self:?}");
        assert!(self.err.starts_with("holotype: ") && self.err.lines().count() == 1, "{self:?}");
        self.err
    }

    /// It failed with this code and a line that holds all these words.
    #[track_caller]
    pub(crate) fn fails_saying(self, code: i32, words: &[&str]) {
        let message = self.fails(code);
        for word in words {
            assert!(message.contains(word), "{word:?} is missing in {message:?}");
        }
    }
}

/// The lines of a file.
pub(crate) fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}
