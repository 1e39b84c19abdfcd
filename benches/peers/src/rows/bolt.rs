//! bbolt, through a program in Go that does all steps of a trial by itself: a call across a pipe would take longer than a read. It gets
//! the steps in a file, with the documents' bytes, and says what each row took and came to, which is held to the same model as the
//! other stores are.
//!
//! It reads bytes only: rows that decode documents leave it out.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use holotype::Document;

use super::model::Model;
use super::run::{Figures, every_name};
use super::step::{Done, Form, Naming, Step, Work};
use crate::failure::{Failure, Of, Result, expect_equal};
use crate::stores::Commits;

pub const NAME: &str = "bbolt 1.4";

/// The source, which is built where Go is.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/bolt");

/// The built program, or why there is none. It lies beside this one.
pub fn program() -> std::result::Result<&'static Path, &'static str> {
    static PROGRAM: LazyLock<std::result::Result<PathBuf, String>> = LazyLock::new(build);
    PROGRAM.as_deref().map_err(String::as_str)
}

fn build() -> std::result::Result<PathBuf, String> {
    let beside = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = beside.with_extension("bolt");
    let output = Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(SOURCE).output();
    let output = output.map_err(|error| format!("Go is not here: {error}"))?;
    if !output.status.success() {
        return Err(format!("it does not build: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(program)
}

/// Does all steps that it can on a new store in `directory`, and holds them to the model.
pub fn run(program: &Path, directory: &Path, commits: Commits, steps: &[Step]) -> Result<Vec<Figures>> {
    let directory = super::files(directory)?;
    let asked: Vec<Ask<'_>> = steps.iter().filter(|step| reads_bytes(step)).map(Ask::Step).collect();
    let all = ask(program, directory.path(), commits, &asked, &mut Model::default())?;
    Ok(all.into_iter().filter(|figures| !figures.row.is_empty()).collect())
}

/// What one process of the program is asked for.
#[derive(Debug, Clone, Copy)]
pub enum Ask<'a> {
    Step(&'a Step),
    /// How long it took to open the store, in the beginning.
    Opened,
    /// The bytes of its memory, as the sum.
    Memory,
    /// Its file is synced; the bytes that it has handed down so far are the sum, and those that the disk of this account has written take
    /// the place of documents.
    Written(Option<&'a Path>),
}

/// Has one process do this on the store in `directory`, and holds it to the model: figures of each that is no closing or cleaning.
pub fn ask(
    program: &Path,
    directory: &Path,
    commits: Commits,
    asked: &[Ask<'_>],
    model: &mut Model,
) -> Result<Vec<Figures>> {
    // Beside the store, so that nothing but it lies in its directory.
    let beside = super::files(directory.parent().unwrap_or(directory))?;
    let job = beside.path().join("job");
    std::fs::write(&job, encoded(commits, asked)).of(NAME, "writing down what to do")?;
    let mut command = Command::new(program);
    command.arg(&job).arg(directory.join("store.bolt")).stderr(Stdio::inherit());
    let output = command.output().of(NAME, "starting its program")?;
    if !output.status.success() {
        return Err(Failure::new(NAME, "doing what it was asked for", output.status.to_string()));
    }
    let told: Vec<serde_json::Value> =
        serde_json::from_slice(&output.stdout).of(NAME, "reading its figures")?;

    let mut told = told.iter();
    let mut all = Vec::new();
    for one in asked {
        match one {
            Ask::Step(Step::Do(row, works)) => {
                let mut expected = Done::default();
                works.iter().for_each(|work| expected.add(model.after(work)));
                let figures = figures(row, told.next())?;
                expect_equal(NAME, "what a row came to", &(row, expected), &(row, figures.done))?;
                all.push(figures);
            }
            Ask::Step(Step::Reopen | Step::Clean) => {}
            Ask::Opened | Ask::Memory | Ask::Written(_) => all.push(figures("", told.next())?),
        }
    }
    // Behind the steps it tells what it holds when opened again.
    let held = figures("", told.next())?;
    let scan = Work::Scan(Form::Raw, 1);
    let mut expected = model.after(&scan);
    expected.add(model.after(&every_name()));
    expect_equal(NAME, "what it holds when opened again", &expected, &held.done)?;
    Ok(all)
}

fn figures(row: &str, told: Option<&serde_json::Value>) -> Result<Figures> {
    let refused = || Failure::new(NAME, "reading its figures", format!("{told:?} is no row"));
    let told = told.ok_or_else(refused)?;
    let number = |name: &str| told[name].as_u64().ok_or_else(refused);
    let done = Done { documents: number("documents")?, sum: number("sum")? };
    let p99_micros = told["p99_micros"].as_f64();
    Ok(Figures { row: row.to_owned(), nanos: number("nanos")?.max(1) as f64, p99_micros, done })
}

pub fn reads_bytes(step: &Step) -> bool {
    let Step::Do(_, works) = step else { return true };
    works.iter().all(|work| match work {
        Work::Get(_, form)
        | Work::GetNamed(_, _, form)
        | Work::Scan(form, _)
        | Work::RangesNamed(_, _, form) => matches!(form, Form::Raw | Form::Unread),
        _ => true,
    })
}

/// The steps as the program reads them: numbers little-endian, texts with their lengths before them.
fn encoded(commits: Commits, asked: &[Ask<'_>]) -> Vec<u8> {
    let mut out = Out(vec![u8::from(commits == Commits::Unsynced)]);
    out.len(asked.len());
    for one in asked {
        match one {
            Ask::Step(Step::Do(_, works)) => {
                out.0.push(b'D');
                out.len(works.len());
                works.iter().for_each(|work| out.work(work));
            }
            Ask::Step(Step::Reopen) => out.0.push(b'R'),
            Ask::Step(Step::Clean) => out.0.push(b'C'),
            Ask::Opened => out.0.push(b'O'),
            Ask::Memory => out.0.push(b'M'),
            Ask::Written(disk) => {
                out.0.push(b'W');
                out.bytes(disk.map_or(&[][..], |disk| disk.as_os_str().as_bytes()));
            }
        }
    }
    out.0
}

struct Out(Vec<u8>);

impl Out {
    fn len(&mut self, len: usize) {
        let len = u32::try_from(len).expect("lists are short");
        self.0.extend(len.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.len(bytes.len());
        self.0.extend(bytes);
    }

    fn ids(&mut self, kind: u8, ids: &[u64]) {
        self.0.push(kind);
        self.len(ids.len());
        ids.iter().for_each(|id| self.bytes(&id.to_be_bytes()));
    }

    fn names(&mut self, kind: u8, names: impl ExactSizeIterator<Item = String>) {
        self.0.push(kind);
        self.len(names.len());
        names.for_each(|name| self.bytes(name.as_bytes()));
    }

    fn puts(&mut self, commits: &[Vec<u64>], entry: impl Fn(u64) -> (Vec<u8>, Document)) {
        self.0.push(b'p');
        self.len(commits.len());
        for commit in commits {
            self.len(commit.len());
            for id in commit {
                let (key, document) = entry(*id);
                self.bytes(&key);
                self.bytes(&document.encode());
            }
        }
    }

    fn work(&mut self, work: &Work) {
        match work {
            Work::Put(commits, make) => {
                self.puts(commits, |id| (id.to_be_bytes().to_vec(), make.document(id)))
            }
            Work::PutNamed(commits, naming) => {
                self.puts(commits, |id| (naming.name(id).into_bytes(), naming.document(id)));
            }
            Work::Delete(ids) => self.ids(b'd', ids),
            Work::DeleteNamed(commits, naming) => {
                self.0.push(b'e');
                self.len(commits.len());
                for commit in commits {
                    self.len(commit.len());
                    commit.iter().for_each(|id| self.bytes(naming.name(*id).as_bytes()));
                }
            }
            Work::Get(ids, _) => self.ids(b'g', ids),
            Work::Miss(ids) => self.ids(b'm', ids),
            Work::GetNamed(ids, naming, _) => self.names(b'g', ids.iter().map(|id| naming.name(*id))),
            Work::MissNamed(ids) => self.names(b'm', ids.iter().map(|id| Naming::User.name(*id))),
            // Names and ids are keys of one bucket, and no store has both.
            Work::Count(times) | Work::CountNamed(times) => {
                self.0.push(b'n');
                self.len(*times);
            }
            Work::Scan(form, times) => {
                self.0.push(if *form == Form::Unread { b'u' } else { b's' });
                self.len(*times);
            }
            Work::Ranges(from, count) => {
                self.ids(b'r', from);
                self.len(*count);
            }
            Work::RangesNamed(from, count, _) => {
                self.names(b'r', from.iter().cloned());
                self.len(*count);
            }
            Work::Prefixes(prefixes) => self.names(b'x', prefixes.iter().cloned()),
        }
    }
}
