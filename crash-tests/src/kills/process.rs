//! A worker as its parent sees it: started, listened to, and killed.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::thread;
use std::time::{Duration, Instant};

use super::assignment::Assignment;
use super::line::Line;

/// Nothing that a worker does takes so long, but for waiting for ever.
const SILENCE_MAX: Duration = Duration::from_secs(120);

/// A process that is being started has, until its program is loaded, every file that this one has open, and the locks on them with it. So none is
/// started while a store is open here that is opened again.
static STARTS: RwLock<()> = RwLock::new(());

/// No worker is started before this is let go.
pub(super) fn hold_back_starts() -> RwLockReadGuard<'static, ()> {
    STARTS.read().unwrap_or_else(PoisonError::into_inner)
}

/// The program that carries out assignments: it calls [`work`](super::work()) with what stands behind `args` on its command line.
#[derive(Debug, Clone)]
pub struct Worker {
    program: PathBuf,
    args: Vec<OsString>,
}

/// When a worker is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// After so many lines: 1 is before the store is open.
    pub(super) lines: usize,
    /// And then so long.
    pub(super) delay: Duration,
}

/// What a command said, and how it ended.
#[derive(Debug, Default)]
pub(super) struct Answered {
    /// Its exit code; none where it was killed.
    pub(super) code: Option<i32>,
    /// From its start to its end, or to the kill.
    pub(super) took: Duration,
    pub(super) out: String,
    pub(super) err: String,
}

/// What became of a worker.
#[derive(Debug)]
pub(super) struct Heard {
    /// All that it said.
    pub(super) lines: Vec<Line>,
    /// Whether it was killed, and did not come to its end before.
    pub(super) is_killed: bool,
}

impl Worker {
    /// A program, and what stands on its command line in front of an assignment.
    pub fn new(program: impl Into<PathBuf>, args: impl IntoIterator<Item = impl Into<OsString>>) -> Worker {
        Worker { program: program.into(), args: args.into_iter().map(Into::into).collect() }
    }

    /// The program that this is, where it is the `holotype` command.
    ///
    /// # Errors
    /// That it cannot be found out which program this is.
    pub fn this_program() -> Result<Worker, String> {
        let program = std::env::current_exe().map_err(|error| format!("which program this is: {error}"))?;
        Ok(Worker::new(program, [super::COMMAND]))
    }

    fn start(&self, assignment: &Assignment) -> Result<Child, String> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).args(assignment.to_args());
        self.spawn(command)
    }

    fn spawn(&self, mut command: Command) -> Result<Child, String> {
        let _no_store_is_open = STARTS.write().unwrap_or_else(PoisonError::into_inner);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|error| format!("starting {}: {error}", self.program.display()))
    }

    /// Runs the program itself with these words, and kills it after `delay`, unless it has come to its end by then.
    pub(super) fn answer(
        &self,
        directory: &Path,
        words: &[String],
        delay: Option<Duration>,
    ) -> Result<Answered, String> {
        let mut command = Command::new(&self.program);
        command.args(words).current_dir(directory);
        let started = Instant::now();
        let mut child = self.spawn(command)?;
        let out = read(child.stdout.take().expect("it is a pipe"));
        let err = read(child.stderr.take().expect("it is a pipe"));
        // The pipe is closed when the process ends.
        let whole = out.recv_timeout(delay.unwrap_or(SILENCE_MAX));
        let took = started.elapsed();
        if whole.is_err() {
            let _ = child.kill();
        }
        let status = wait(&mut child)?;
        if delay.is_none() && status.code().is_none() {
            return Err(format!("`holotype {}` does not come to its end", words.join(" ")));
        }
        let out = whole.or_else(|_| out.recv()).unwrap_or_default();
        Ok(Answered { code: status.code(), took, out, err: err.recv().unwrap_or_default() })
    }

    /// Has a worker live one life, and kills it at `moment`, unless it has come to its end by then.
    pub(super) fn live(&self, assignment: &Assignment, moment: Moment) -> Result<Heard, String> {
        let mut child = self.start(assignment)?;
        let said = listen(child.stdout.take().expect("it is a pipe"));
        let complaint = read(child.stderr.take().expect("it is a pipe"));
        let mut lines = Vec::new();
        let waited = hear(&said, moment.lines, &mut lines);
        if waited.is_ok() {
            thread::sleep(moment.delay);
        }
        // It may have come to its end by itself; then this says nothing.
        let _ = child.kill();
        let status = wait(&mut child)?;
        let rest = hear(&said, usize::MAX, &mut lines);
        let complaint = complaint.recv().unwrap_or_default();
        waited.and(rest).map_err(|what| with(&what, &lines, &complaint))?;
        // What it had no time to say is no failure of its own; neither is an end that came just before the kill.
        let is_killed = status.code().is_none() && !lines.contains(&Line::Closed);
        match lines.last() {
            Some(Line::Failed(what)) => Err(with(what, &lines[..lines.len() - 1], &complaint)),
            last if !is_killed && last != Some(&Line::Closed) => {
                Err(with(&format!("the worker ended by itself, with {status}"), &lines, &complaint))
            }
            _ => Ok(Heard { lines, is_killed }),
        }
    }
}

/// A line in the making is none.
fn listen(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        loop {
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(_) if line.ends_with('\n') => {
                    line.pop();
                    if sender.send(line).is_err() {
                        return;
                    }
                }
                _ => return,
            }
        }
    });
    receiver
}

/// All that a process writes to this pipe, sent once it closes the pipe.
fn read(mut stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut text = String::new();
        // Where it cannot be read, there is nothing to be shown.
        let _ = stream.read_to_string(&mut text);
        let _ = sender.send(text);
    });
    receiver
}

/// Takes lines until there are `count`, or the worker says no more.
fn hear(said: &Receiver<String>, count: usize, lines: &mut Vec<Line>) -> Result<(), String> {
    while lines.len() < count {
        match said.recv_timeout(SILENCE_MAX) {
            Ok(line) => lines.push(line.parse()?),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                return Err(format!("the worker has said nothing for {} seconds", SILENCE_MAX.as_secs()));
            }
        }
    }
    Ok(())
}

fn wait(child: &mut Child) -> Result<ExitStatus, String> {
    child.wait().map_err(|error| format!("waiting for a worker: {error}"))
}

fn with(what: &str, lines: &[Line], complaint: &str) -> String {
    let last = lines.last().map_or_else(|| "nothing".to_owned(), |line| format!("\"{line}\""));
    let mut text = format!("{what} (it said {} lines, last {last})", lines.len());
    if !complaint.trim().is_empty() {
        text.push_str("\n  ");
        text.push_str(complaint.trim());
    }
    text
}
