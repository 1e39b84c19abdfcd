//! A program behind a pipe, asked in JSON lines. It may die, hang or answer anything; that is a case that failed, and never a hang here.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use serde::Serialize;

use super::{Subject, Trouble};
use crate::answer::{self, Answer};
use crate::case::{File, Request};

/// No answer is longer than this.
const LINE_LEN_MAX: u64 = 256 << 20;

/// A program that has failed to answer this often in a row is asked no more: one that always hangs would take all day.
const TROUBLES_MAX: u32 = 10;

/// A program that speaks the protocol.
#[derive(Debug)]
pub struct Process {
    command: String,
    timeout: Duration,
    folder: tempfile::TempDir,
    running: Option<Running>,
    asked: u64,
    troubles: u32,
}

/// One life of the program. Two threads talk to it, so that a program that reads nothing, or writes without end, keeps nobody waiting.
#[derive(Debug)]
struct Running {
    child: Child,
    requests: Sender<String>,
    answers: Receiver<Result<String, Trouble>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // What the program has started goes with it. It may have ended by itself, and then there is nothing to do.
        #[cfg(unix)]
        let _ = Command::new("kill")
            .args(["-KILL", "--", &format!("-{}", self.child.id())])
            .stderr(Stdio::null())
            .status();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request as it stands on its line.
#[derive(Serialize)]
struct Line<'a> {
    id: u64,
    #[serde(flatten)]
    request: &'a Request,
    /// In the place of the description of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
}

impl Process {
    /// Will run `command` in a shell, and give it this long for each answer.
    ///
    /// # Errors
    /// Where there is no folder for the files that it is to open.
    pub fn new(command: impl Into<String>, timeout: Duration) -> Result<Self, Trouble> {
        let folder = tempfile::tempdir().map_err(|error| scratch(&error))?;
        Ok(Process { command: command.into(), timeout, folder, running: None, asked: 0, troubles: 0 })
    }

    fn start(&self) -> Result<Running, Trouble> {
        let mut command = Command::new("sh");
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .args(["-c", &self.command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Trouble::NotStarted { what: error.to_string() })?;
        let stdin = child.stdin.take().expect("it was asked for");
        let stdout = child.stdout.take().expect("it was asked for");
        let (requests, to_write) = mpsc::channel();
        let (from_read, answers) = mpsc::channel();
        thread::spawn(move || write_requests(stdin, &to_write));
        thread::spawn(move || read_answers(stdout, &from_read));
        Ok(Running { child, requests, answers })
    }

    fn exchange(&mut self, line: String) -> Result<String, Trouble> {
        if self.running.is_none() {
            self.running = Some(self.start()?);
        }
        let running = self.running.as_ref().expect("it was just started");
        running.requests.send(line).map_err(|_| Trouble::Died)?;
        match running.answers.recv_timeout(self.timeout) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Err(Trouble::TimedOut { seconds: self.timeout.as_secs() }),
            Err(RecvTimeoutError::Disconnected) => Err(Trouble::Died),
        }
    }

    fn carry_out(&mut self, request: &Request, path: Option<PathBuf>) -> Result<Answer, Trouble> {
        self.asked += 1;
        let line = line(self.asked, request, path);
        let answer = self.exchange(line)?;
        answer::parse(&answer, self.asked).map_err(|what| Trouble::Garbage { what })
    }
}

impl Subject for Process {
    fn ask(&mut self, request: &Request, file: Option<&mut Vec<u8>>) -> Result<Answer, Trouble> {
        if self.troubles >= TROUBLES_MAX {
            return Err(Trouble::GivenUp { times: self.troubles });
        }
        let path = file.is_some().then(|| self.folder.path().join("case.holo"));
        if let (Some(path), Some(bytes)) = (&path, &file) {
            std::fs::write(path, bytes).map_err(|error| scratch(&error))?;
        }
        let answer = self.carry_out(request, path.clone());
        if answer.is_err() {
            // Whatever it says next may be to this request: the next one begins with another.
            self.running = None;
            self.troubles += 1;
        } else {
            self.troubles = 0;
        }
        if let (Some(path), Some(bytes)) = (&path, file) {
            *bytes = std::fs::read(path).map_err(|error| scratch(&error))?;
        }
        answer
    }
}

fn scratch(error: &std::io::Error) -> Trouble {
    Trouble::Scratch { what: error.to_string() }
}

fn line(id: u64, request: &Request, path: Option<PathBuf>) -> String {
    // The description of the file is of no use to a subject: its place is taken by the path.
    let nothing = || File { base: None, length: None, patch: Vec::new() };
    let bare = match request {
        Request::Open { .. } => Request::Open { file: nothing() },
        Request::OpenWrite { .. } => Request::OpenWrite { file: nothing() },
        other => other.clone(),
    };
    let mut fields =
        serde_json::to_value(Line { id, request: &bare, file: None }).expect("requests are JSON");
    if let (Some(path), Some(fields)) = (path, fields.as_object_mut()) {
        fields.insert("file".to_owned(), path.to_string_lossy().into());
    }
    fields.to_string()
}

/// Ends when the program reads no more, or nobody asks any more.
fn write_requests(mut stdin: ChildStdin, requests: &Receiver<String>) {
    for request in requests {
        if stdin
            .write_all(request.as_bytes())
            .and_then(|()| stdin.write_all(b"\n"))
            .and_then(|()| stdin.flush())
            .is_err()
        {
            return;
        }
    }
}

/// Ends when the program says no more, or nobody listens any more.
fn read_answers(stdout: ChildStdout, answers: &Sender<Result<String, Trouble>>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let read = stdout.by_ref().take(LINE_LEN_MAX).read_until(b'\n', &mut line);
        let answer = match read {
            Ok(0) | Err(_) => return,
            Ok(_) => String::from_utf8(line).map_err(|_| Trouble::Garbage { what: "not UTF-8".to_owned() }),
        };
        if answers.send(answer).is_err() {
            return;
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn key() -> Request {
        Request::DecodeKey { bytes: vec![1].into() }
    }

    fn ask(command: &str) -> Result<Answer, Trouble> {
        let timeout = Duration::from_millis(300);
        Process::new(command, timeout).expect("there is a temporary folder").ask(&key(), None)
    }

    #[test]
    fn a_program_that_answers_is_understood() {
        let answer = ask(r#"read line; echo '{"id":1,"value":{"$numberInt":"1"}}'"#);
        assert!(matches!(answer, Ok(Answer::Value(_))), "{answer:?}");
    }

    #[test]
    fn a_program_that_dies_hangs_or_babbles_is_told_apart() {
        assert_eq!(ask("exit 3").expect_err("it died"), Trouble::Died);
        assert_eq!(ask("exec sleep 60").expect_err("it hangs"), Trouble::TimedOut { seconds: 0 });
        for babble in ["echo hello; exec sleep 60", r#"printf '\377\n'; exec sleep 60"#] {
            let trouble = ask(babble).expect_err("that is no answer");
            assert!(matches!(trouble, Trouble::Garbage { .. }), "{trouble:?}");
        }
    }

    #[test]
    fn a_program_that_died_is_started_anew_for_the_next_case() {
        // Its ids go on, so the second life answers to the second request.
        let command = r#"read line; case $line in *'"id":1'*) exit 1;; esac; echo '{"id":2,"none":true}'"#;
        let mut subject = Process::new(command, Duration::from_secs(5)).expect("there is a temporary folder");
        assert_eq!(subject.ask(&key(), None).expect_err("it died"), Trouble::Died);
        assert!(matches!(subject.ask(&key(), None), Ok(Answer::None)));
    }

    #[test]
    fn what_a_program_has_started_ends_with_it() {
        let folder = tempfile::tempdir().expect("there is a temporary folder");
        let mark = folder.path().join("mark");
        let command = format!("(sleep 1; echo late > '{}') & wait", mark.display());
        assert_eq!(ask(&command).expect_err("it hangs"), Trouble::TimedOut { seconds: 0 });
        thread::sleep(Duration::from_millis(1500));
        assert!(!mark.exists(), "it went on");
    }

    #[test]
    fn a_program_that_never_answers_is_given_up() {
        let mut subject =
            Process::new("exit 1", Duration::from_secs(5)).expect("there is a temporary folder");
        let troubles: Vec<_> = (0..12).map(|_| subject.ask(&key(), None).expect_err("it dies")).collect();
        assert_eq!(troubles.iter().filter(|trouble| **trouble == Trouble::Died).count(), 10);
        assert_eq!(troubles.last(), Some(&Trouble::GivenUp { times: 10 }));
    }

    #[test]
    fn what_a_program_does_to_its_file_is_seen() {
        let command =
            r#"read line; f=${line#*'"file":"'}; f=${f%%'"'*}; printf x > "$f"; echo '{"id":1,"none":true}'"#;
        let mut subject = Process::new(command, Duration::from_secs(5)).expect("there is a temporary folder");
        let file = File { base: None, length: None, patch: Vec::new() };
        let mut bytes = b"before".to_vec();
        subject.ask(&Request::Open { file }, Some(&mut bytes)).expect("it answers");
        assert_eq!(bytes, b"x");
    }
}
